internal import SessionTrace

/// The latest requests and messages, kept to be searched again when a value turns up that they may hold: events of
/// different connections come in the order in which they were finished, not begun.
struct Backlog: Sendable {
    /// One searched message, in memory of its own that goes with it, and the connection that carried it.
    indirect enum Item: Sendable {
        case exchange(Exchange, KeptFlow?)
        case message(Message, KeptFlow?)
        /// A response, for the rules about what the app receives.
        case answer(Exchange, KeptFlow?)

        /// Bytes that one counts for beside its content: an exchange, and a connection, which others may share.
        static let ownSize = 944

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

    /// An item as it is kept: an exchange packed, where it can be.
    indirect enum Kept: Sendable {
        case whole(Item)
        case packed(PackedExchange, KeptFlow?, isAnswer: Bool, content: Int, ended: Instant)

        init(_ item: Item) {
            switch item {
            case .exchange(let exchange, let flow):
                guard let packed = PackedExchange(exchange) else { break }
                self = .packed(packed, flow, isAnswer: false, content: item.content, ended: item.ended)
                return
            case .answer(let exchange, let flow):
                guard let packed = PackedExchange(exchange) else { break }
                self = .packed(packed, flow, isAnswer: true, content: item.content, ended: item.ended)
                return
            case .message: break
            }
            self = .whole(item)
        }

        var item: Item {
            switch self {
            case .whole(let item): item
            case .packed(let packed, let flow, isAnswer: false, _, _): .exchange(packed.exchange, flow)
            case .packed(let packed, let flow, isAnswer: true, _, _): .answer(packed.exchange, flow)
            }
        }

        var content: Int {
            switch self {
            case .whole(let item): item.content
            case .packed(_, _, _, let content, _): content
            }
        }

        var ended: Instant {
            switch self {
            case .whole(let item): item.ended
            case .packed(_, _, _, _, let ended): ended
            }
        }

        var size: Int { Item.ownSize + content }
    }

    var limit = 4 << 20
    /// Bytes that may be searched again in one trace: what a new value costs must not grow with every other value.
    static let searchLimit = 64 << 20
    private var searched = 0
    /// The same of searches for what was known before, which take nothing from the others.
    private var searchedBefore = 0
    /// From `head` on; those before are gone.
    private var items: [Kept?] = []
    private var head = 0
    private var bytes = 0
    /// When the first and the latest of those that are not kept, or no more, ended.
    private var firstGone: Instant?
    private var lastGone: Instant?

    mutating func append(_ item: Item) {
        let size = item.size
        guard size <= limit else { return noteGone(item.ended) }
        items.append(Kept(item))
        bytes += size
        while bytes > limit, head < items.count {
            if let oldest = items[head] {
                bytes -= oldest.size
                noteGone(oldest.ended)
            }
            items[head] = nil
            head += 1
        }
        if head > 1_024, head > items.count / 2 {
            items.removeFirst(head)
            head = 0
        }
    }

    private mutating func noteGone(_ ended: Instant) {
        firstGone = firstGone.map { min($0, ended) } ?? ended
        lastGone = lastGone.map { max($0, ended) } ?? ended
    }

    /// Whether something that ended at an instant or later is not kept: it may hold what was known from then on.
    func lacksItems(since instant: Instant) -> Bool {
        lastGone.map { $0 >= instant } ?? false
    }

    /// Whether something that ended before an instant is not kept.
    func lacksItems(before instant: Instant) -> Bool {
        firstGone.map { $0 < instant } ?? false
    }

    /// The items that ended before an instant, in the order in which they came; nil when so much was searched so that no
    /// more is.
    mutating func items(before instant: Instant) -> LazyMapSequence<[Kept], Item>? {
        guard searchedBefore <= Self.searchLimit else { return nil }
        let kept = items[head...].compactMap(\.self).filter { $0.ended < instant }
        searchedBefore += kept.reduce(0) { $0 + 512 + $1.content }
        return kept.lazy.map(\.item)
    }

    /// The items that may hold something known since an instant, in the order in which they came; nil when so much was
    /// searched again that no more is.
    mutating func items(since instant: Instant?) -> LazyMapSequence<[Kept], Item>? {
        guard searched <= Self.searchLimit else { return nil }
        let kept = items[head...].compactMap(\.self).filter { item in instant.map { item.ended >= $0 } ?? true }
        searched += kept.reduce(0) { $0 + 512 + $1.content }
        // One at a time is whole again.
        return kept.lazy.map(\.item)
    }
}

/// A connection as it was when a message on it was searched: one for all messages that were searched while nothing changed
/// that a search asks for.
final class KeptFlow: Sendable {
    let flow: Flow

    init(_ flow: Flow) {
        self.flow = flow
    }

    /// Whether a search of what was sent on `flow` says what it says of the connection that is kept.
    func isStill(_ flow: Flow) -> Bool {
        let own = self.flow
        return own.connection == flow.connection && own.serverName == flow.serverName
            && own.authorities == flow.authorities && own.actor == flow.actor && own.word == flow.word
            && own.unreachedHost == flow.unreachedHost && own.hasConnect == flow.hasConnect
    }
}

extension SessionModel {
    /// A connection for the backlog, in the memory that earlier messages on it share.
    mutating func kept(_ flow: Flow?) -> KeptFlow? {
        guard var flow else { return nil }
        let id = flow.connection.id
        if let known = flows[id]?.kept, known.isStill(flow) { return known }
        flow.kept = nil
        let kept = KeptFlow(flow)
        flows[id]?.kept = kept
        return kept
    }
}
