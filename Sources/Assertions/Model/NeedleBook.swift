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

/// The latest requests and messages, kept to be searched again when a value turns up that they may hold: events of
/// different connections come in the order in which they were finished, not begun.
struct Backlog: Sendable {
    /// One searched message, in memory of its own that goes with it.
    indirect enum Item: Sendable {
        case exchange(Exchange, Flow?)
        case message(Message, Flow?)
        /// A response, for the rules about what the app receives.
        case answer(Exchange, Flow?)

        /// Bytes of one without what its values point at.
        private static let ownSize = MemoryLayout<Exchange>.stride + MemoryLayout<Flow?>.stride

        var ended: Instant {
            switch self {
            case .exchange(let exchange, _): exchange.request?.ended.time ?? exchange.ended.time
            case .message(let message, _): message.ended.time
            case .answer(let exchange, _): exchange.ended.time
            }
        }

        /// Bytes that are searched, and kept beside the item itself.
        var content: Int {
            switch self {
            case .exchange(let exchange, _):
                exchange.request.map { $0.body.bytes.count + $0.fields.storage.count + $0.target.utf8.count } ?? 0
            case .message(let message, _): message.payload.bytes.count
            case .answer(let exchange, _):
                (exchange.response.map { $0.body.bytes.count + $0.fields.storage.count } ?? 0)
                    + (exchange.request.map { $0.fields.storage.count + $0.target.utf8.count } ?? 0)
            }
        }

        /// Bytes that it takes to keep it.
        var size: Int { Self.ownSize + content }
    }

    var limit = 8 << 20
    /// Bytes that may be searched again in one trace: what a new value costs must not grow with every other value.
    static let searchLimit = 64 << 20
    private var searched = 0
    /// From `head` on; those before are gone.
    private var items: [Item?] = []
    private var head = 0
    private var bytes = 0

    mutating func append(_ item: Item) {
        let size = item.size
        guard size <= limit else { return }
        items.append(item)
        bytes += size
        while bytes > limit, head < items.count {
            bytes -= items[head]?.size ?? 0
            items[head] = nil
            head += 1
        }
        if head > 1_024, head > items.count / 2 {
            items.removeFirst(head)
            head = 0
        }
    }

    /// The items that may hold something known since an instant; nil when so much was searched again that no more is.
    mutating func items(since instant: Instant?) -> [Item]? {
        guard searched <= Self.searchLimit else { return nil }
        let kept = items[head...].compactMap(\.self).filter { item in instant.map { item.ended >= $0 } ?? true }
        searched += kept.reduce(0) { $0 + 512 + $1.content }
        return kept
    }
}
