internal import SessionTrace

/// The values that the scanner was taught, each once for each thing that it is: an item's id that a return link crafts is
/// still looked for as the item's.
struct NeedleBook: Sendable {
    private struct Entry: Hashable {
        var value: String
        var role: Needle.Kind
    }

    private var known: Set<Entry> = []
    private var taught = 0
    private var counts: [Needle.Kind: Int] = [:]
    private(set) var isFull = false

    /// Values taught.
    static let limit = 1_000

    /// A needle for a value that is new as what it is; nil for one that is known.
    mutating func add(_ kind: Needle.Kind, _ value: String) -> Needle? {
        let entry = Entry(value: value, role: Self.role(of: kind))
        guard !known.contains(entry) else { return nil }
        guard known.count < Self.limit else {
            isFull = true
            return nil
        }
        known.insert(entry)
        taught += 1
        counts[kind, default: 0] += 1
        let prefix =
            switch kind {
            case .handoffURL: "U"
            case .token: "token"
            case .idempotencyKey: "key"
            case .sessionIdentifier: "id"
            case .neutralURL, .catalogID, .disclosureVersion, .canary, .cookie, .secret: kind.rawValue
            }
        return Needle(number: taught, kind: kind, label: "\(prefix)#\(counts[kind] ?? 1)", value: value)
    }

    /// A value that is searched as part of another one of its kind.
    mutating func know(_ value: String, as kind: Needle.Kind) {
        if known.count < Self.limit { known.insert(Entry(value: value, role: Self.role(of: kind))) }
    }

    /// Values of a kind.
    func count(of kind: Needle.Kind) -> Int { counts[kind] ?? 0 }

    /// Whether a value was taught as one of some kinds.
    func contains(_ value: String, as kinds: [Needle.Kind]) -> Bool {
        kinds.contains { known.contains(Entry(value: value, role: Self.role(of: $0))) }
    }

    /// Kinds that are searched for the same rules stand for one another.
    private static func role(of kind: Needle.Kind) -> Needle.Kind {
        switch kind {
        case .handoffURL, .token: .token
        case .idempotencyKey, .sessionIdentifier: .idempotencyKey
        case .neutralURL, .catalogID, .disclosureVersion, .canary, .cookie, .secret: kind
        }
    }
}
