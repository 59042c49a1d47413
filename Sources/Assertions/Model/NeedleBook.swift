internal import SessionTrace

/// The values that the scanner was taught, each once.
struct NeedleBook: Sendable {
    private var known: [String: Int] = [:]
    private var counts: [Needle.Kind: Int] = [:]
    private(set) var isFull = false

    /// Values taught.
    static let limit = 1_000

    /// A needle for a value that is new; nil for one that is known.
    mutating func add(_ kind: Needle.Kind, _ value: String) -> Needle? {
        guard known[value] == nil else { return nil }
        guard known.count < Self.limit else {
            isFull = true
            return nil
        }
        known[value] = known.count + 1
        counts[kind, default: 0] += 1
        let prefix =
            switch kind {
            case .handoffURL: "U"
            case .token: "token"
            case .idempotencyKey: "key"
            case .sessionIdentifier: "id"
            case .neutralURL, .catalogID, .disclosureVersion, .canary, .secret: kind.rawValue
            }
        return Needle(number: known.count, kind: kind, label: "\(prefix)#\(counts[kind] ?? 1)", value: value)
    }

    /// A value that is searched as part of another.
    mutating func know(_ value: String, as number: Int) {
        if known[value] == nil, known.count < Self.limit { known[value] = number }
    }

    /// Values of a kind.
    func count(of kind: Needle.Kind) -> Int { counts[kind] ?? 0 }

    /// Whether a value was taught.
    func contains(_ value: String) -> Bool { known[value] != nil }
}
