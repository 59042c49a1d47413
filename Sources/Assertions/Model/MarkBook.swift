internal import SessionTrace

/// The marks of a trace, put in order: taken back, repeated, halved and counted ones made into what happened.
struct MarkBook: Sendable {
    private var marks: [Mark] = []
    private(set) var isFull = false
    private let limit: Int

    /// Taps that all marks together stand for.
    static let tapLimit = 5_000
    /// Different marks with one id that are compared, kinds of marks that are not known, and conflicts that are told.
    static let variantLimit = 32

    init(limit: Int) {
        self.limit = limit
    }

    mutating func receive(_ mark: Mark) {
        guard marks.count < limit else {
            isFull = true
            return
        }
        marks.append(mark)
    }

    /// The moments of tap marks, as they were sent, in order, without those that only repeat one within `doubleTap`.
    func tapTimes(doubleTap: Nanoseconds) -> [Instant] {
        let taps = marks.filter { $0.kind == .tap }.sorted(by: Self.isEarlier)
        return taps.indices.filter { index in
            guard index > 0, taps[index].target == taps[index - 1].target else { return true }
            return taps[index].span.earliest.nanoseconds(since: taps[index - 1].span.earliest) > doubleTap.count
        }.map { taps[$0].span.earliest }
    }

    /// Marks by what they say, in order of time.
    struct Reading: Sendable {
        var marks: [Mark] = []
        /// Taps that were made.
        var taps: [Tap] = []
        /// Taps on what acts, in order of time; those that nothing names only where none is named.
        var actions: [Tap] = []
        /// Taps on the share action, in order of time; those that nothing names only where none is named so.
        var shares: [Tap] = []
        /// Taps that may have been on what acts, but permit nothing: they perhaps were not made, or nothing names them though
        /// others are named.
        var unsureTaps: [Tap] = []
        /// Sentences about marks that contradict each other (HC-04).
        var conflicts: [String] = []
        /// Taps that lie outside the time of the trace: a clock or a time zone is wrong, or it is another run's file.
        var strays: [String] = []
        /// Words of kinds that are not known.
        var unknownKinds: [String] = []
        /// Labels of `scenario` marks.
        var attributes: [String: String] = [:]

        fileprivate mutating func tellIfStray(_ mark: Mark, _ trace: TimeSpan) {
            let before = trace.earliest.nanoseconds(since: mark.span.latest)
            let after = mark.span.earliest.nanoseconds(since: trace.latest)
            guard max(before, after) > MarkBook.strayMargin.count else { return }
            let place =
                before > after
                ? "\(Nanoseconds(before)) before the trace begins" : "\(Nanoseconds(after)) after the trace ends"
            let stray = "a tap is marked \(place): is its clock or time zone right, and is it this trace's?"
            if strays.count < MarkBook.variantLimit { strays.append(stray) }
            tell(stray)
        }

        fileprivate mutating func tell(_ conflict: String) {
            if conflicts.count < MarkBook.variantLimit { conflicts.append(conflict) }
        }
    }

    /// How far outside the trace's time a tap may lie.
    static let strayMargin = Nanoseconds.seconds(10)

    /// What happened. `firstReaction` gives the first session or Chia event at or after an instant, which ends the span
    /// of a mark made by hand.
    func read(timing: Policy.Timing, trace: TimeSpan?, firstReaction: (Instant) -> Instant?) -> Reading {
        var reading = Reading()
        let withdrawn = Set(marks.filter { $0.kind == .withdraw }.compactMap { $0.attributes["id"] })
        var kept: [Mark] = []
        var byID: [String: [Mark]] = [:]
        /// Halves in `kept` that wait for the other one.
        var halves: [String: Int] = [:]
        for mark in marks.sorted(by: Self.isEarlier) {
            if case .other(let word) = mark.kind, reading.unknownKinds.count < Self.variantLimit,
                !reading.unknownKinds.contains(word)
            {
                reading.unknownKinds.append(word)
            }
            guard let id = mark.id else {
                if !kept.contains(where: { Self.isSameDatagram($0, mark) }) { kept.append(mark) }
                continue
            }
            if withdrawn.contains(id) { continue }
            let earlier = byID[id] ?? []
            if earlier.count < Self.variantLimit { byID[id, default: []].append(mark) }
            if let half = mark.phase {
                if earlier.contains(where: { $0.phase == half && !Self.isSame($0, mark) }) {
                    reading.tell(
                        "two marks called \"\(id)\" with phase \(half.rawValue) say different things")
                } else if let index = halves[id], kept[index].phase != half {
                    if kept[index].kind == mark.kind, kept[index].target == mark.target {
                        kept[index].span = TimeSpan(
                            min(kept[index].span.earliest, mark.span.earliest),
                            max(kept[index].span.latest, mark.span.latest))
                        kept[index].phase = nil
                        halves[id] = nil
                    } else {
                        reading.tell("the two halves of mark \"\(id)\" say different things")
                    }
                } else if !earlier.contains(where: { Self.isSame($0, mark) }) {
                    halves[id] = kept.count
                    kept.append(mark)
                }
            } else if let first = earlier.first {
                if !Self.isSame(first, mark) {
                    reading.tell("two marks called \"\(id)\" say different things")
                }
            } else {
                kept.append(mark)
            }
        }
        for mark in kept where mark.phase == .pre && mark.kind == .tap {
            reading.tell("mark \"\(mark.id ?? "?")\" has a \"pre\" but no \"post\"")
        }
        let uncertain = kept.filter(Self.isUncertain)
        reading.marks = kept.filter { $0.kind != .withdraw && !Self.isUncertain($0) }
        for mark in reading.marks where mark.kind == .scenario {
            reading.attributes.merge(mark.attributes) { _, new in new }
            if let name = mark.name { reading.attributes["scenario"] = name }
        }
        reading.taps = Self.taps(reading.marks, timing, firstReaction)
        let acting = reading.taps.filter(\.isAction).sorted { $0.span.earliest < $1.span.earliest }
        let named = acting.filter { $0.target != nil }
        reading.actions = named.isEmpty ? acting : named
        reading.shares = acting.filter { $0.target == .share }
        if reading.shares.isEmpty { reading.shares = acting.filter { $0.target == nil } }
        let known = reading.taps.filter { $0.target != nil }
        reading.unsureTaps = Self.taps(uncertain, timing, firstReaction)
        if !named.isEmpty {
            reading.unsureTaps += acting.filter { tap in
                tap.target == nil && !known.contains { Self.isSameTap(tap, $0) }
            }
        }
        if let trace {
            for mark in reading.marks + uncertain where mark.kind == .tap {
                reading.tellIfStray(mark, trace)
            }
        }
        return reading
    }

    /// Whether a mark says of a tap that it perhaps was not made: importers write so of what a log does not confirm.
    private static func isUncertain(_ mark: Mark) -> Bool {
        mark.kind == .tap && mark.attributes["uncertain"] == "true"
    }

    /// Whether a tap that nothing names is one that another source of marks names.
    private static func isSameTap(_ tap: Tap, _ named: Tap) -> Bool {
        !tap.isByHand && named.reach <= tap.last && tap.reach <= named.last
    }

    private static func isEarlier(_ left: Mark, _ right: Mark) -> Bool {
        (left.span.earliest, left.packet?.number ?? 0, left.id ?? "") < (
            right.span.earliest, right.packet?.number ?? 0, right.id ?? ""
        )
    }

    /// Equal id and content: a datagram sent three times is one mark. Without an `at` of its own a mark has its
    /// packet's time, so times within a second do not tell copies apart.
    private static func isSame(_ one: Mark, _ other: Mark) -> Bool {
        let apart = other.span.earliest.nanoseconds(since: one.span.earliest).magnitude
        return one.kind == other.kind && one.target == other.target && one.phase == other.phase
            && one.count == other.count && one.by == other.by && one.attributes == other.attributes
            && one.name == other.name && apart <= 1_000_000_000
    }

    /// One datagram captured on two interfaces; nobody taps twice within this time.
    private static func isSameDatagram(_ one: Mark, _ other: Mark) -> Bool {
        one.id == nil && one.source == .datagram && other.source == .datagram && isSame(one, other)
            && other.span.earliest.nanoseconds(since: one.span.earliest).magnitude <= duplicateWindow.count.magnitude
    }

    /// Copies of one packet are seen this close together (RULES 0.4).
    private static let duplicateWindow = Nanoseconds.milliseconds(5)

    private static func taps(
        _ marks: [Mark], _ timing: Policy.Timing, _ firstReaction: (Instant) -> Instant?
    ) -> [Tap] {
        var taps: [Tap] = []
        var account: String?
        for mark in marks {
            if mark.kind == .launch { account = mark.attributes["account"] ?? account }
            guard mark.kind == .tap else { continue }
            var span = mark.span
            let isByHand = mark.by == .person
            if isByHand {
                let last = span.earliest.advanced(byNanoseconds: timing.handMark.count)
                let end = firstReaction(span.earliest).map { min($0, last) } ?? last
                span = TimeSpan(span.earliest, max(end, span.earliest))
            }
            let target = mark.target.map { "tap:\($0.rawValue)" } ?? "tap"
            let tap = Tap(
                target: mark.target, span: span, clockBound: clockBound(mark, timing), isByHand: isByHand,
                isUncertain: isUncertain(mark),
                item: mark.attributes["item"] ?? mark.attributes["catalogId"], account: account,
                evidence: Evidence(
                    label: "\(target) mark", packets: mark.packet.map { [$0.number] } ?? [], span: span,
                    subject: isByHand ? "\(target), made by hand" : target))
            for _ in 0..<min(max(mark.count, 1), 100, max(tapLimit - taps.count, 1)) { taps.append(tap) }
        }
        return taps
    }

    /// Log importers name their clock and are known to 250 ms; other foreign marks to the policy's `clock-error`.
    static func clockBound(_ mark: Mark, _ timing: Policy.Timing) -> Nanoseconds {
        if mark.isOnTraceClock { return Nanoseconds(0) }
        return mark.clock == nil ? timing.clockError : max(timing.clockError, .milliseconds(250))
    }

    /// The earliest and the latest moment at which what a mark says can have happened: a person presses before acting,
    /// and sometimes after.
    static func reach(_ mark: Mark, _ timing: Policy.Timing) -> TimeSpan {
        let bound = clockBound(mark, timing).count
        let isByHand = mark.by == .person
        return TimeSpan(
            mark.span.earliest.advanced(byNanoseconds: -max(bound, isByHand ? Tap.lateMark.count : 0)),
            mark.span.latest.advanced(byNanoseconds: bound)
                .advanced(byNanoseconds: isByHand ? timing.handMark.count : 0))
    }
}
