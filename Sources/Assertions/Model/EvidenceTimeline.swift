internal import SessionTrace

/// What the latest projection said of an item, at each session request and each opening of a handoff URL: whether a share
/// may rest on it (HR-41).
struct EvidenceTimeline {
    /// What an answer says of sharing.
    enum State {
        /// A decision that offers sharing.
        case safe
        /// No share may rest on it, and why.
        case unsafe(Projection, why: String)
        /// The answer is not whole in the trace.
        case unknown(Projection)
    }

    private struct Entry {
        var order: Int
        var state: State
    }

    private var items: [String: Entry] = [:]
    /// What concerns every item.
    private var general: Entry?
    private var latest: Entry?
    private var count = 0
    /// Why no share may rest on the projection added last; nil when one may.
    private(set) var reason: String?

    /// The state that an attempt or navigation for `item` meets.
    func state(for item: String?) -> State? {
        guard let item else { return latest?.state }
        guard let own = items[item] else { return general?.state }
        guard let general, general.order > own.order else { return own.state }
        return general.state
    }

    mutating func add(_ projection: Projection) {
        reason = nil
        for mark in projection.evidenceMarks {
            set(.unsafe(projection, why: "marked \(mark.word)"), for: mark.item ?? projection.item)
        }
        switch projection.answer {
        case .notModified, .redirected: return
        case .failed(let status): set(.unsafe(projection, why: "answered \(status)"), for: projection.item)
        case .unanswered: set(.unsafe(projection, why: "never answered in full"), for: projection.item)
        case .malformed(let why): set(.unsafe(projection, why: "no JSON (\(why))"), for: projection.item)
        case .notWhole: set(.unknown(projection), for: projection.item)
        case .read:
            if projection.matchesTemplate, projection.decisions(for: projection.item).isEmpty {
                set(.unsafe(projection, why: "without a decision"), for: projection.item)
            }
            for decision in projection.decisions {
                if let offence = decision.offences.first(where: { $0.kind.isUnsupported }) {
                    set(
                        .unsafe(projection, why: "unsupported: \(offence.place.shown) \(offence.words)"),
                        for: decision.item)
                } else if decision.offersSharing,
                    !projection.evidenceMarks.contains(where: { $0.item == nil || $0.item == decision.item })
                {
                    set(.safe, for: decision.item)
                }
            }
        }
    }

    private mutating func set(_ state: State, for item: String?) {
        count += 1
        if case .unsafe(_, let why) = state, reason == nil { reason = why }
        let entry = Entry(order: count, state: state)
        latest = entry
        if let item { items[item] = entry } else { general = entry }
    }
}
