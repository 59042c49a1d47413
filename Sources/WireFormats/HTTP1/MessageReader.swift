package import SessionTrace

/// Reads the messages of one direction of an HTTP/1 connection (RFC 9112): bytes in, heads and ends of messages out.
///
/// ```
///            ┌───────────────────────── whole ◄───────────────────────┐
///            ▼                                                        │
/// head ──head found──► framing asked for ──begin──► length │ chunked │ untilClose
///   │                                                    │ broken, hole
///   └──no head, hole──► searching ◄──────────────────────┘
///            (a start line is found ──► head)
/// ```
package struct MessageReader {
    private enum State {
        case head
        /// A head was handed out; `begin` has to be called.
        case framingAskedFor
        case length(remaining: Int)
        case chunked(ChunkedReader)
        case untilClose
        case searching(MessageSearch)
    }

    /// What a call of `read` came to.
    package enum Step {
        case needsInput
        /// A head is whole; `begin` or `endAtHead` must follow. With the packet of its first byte.
        case head(MessageHead, started: PacketReference)
        /// The message is whole.
        case ended(MessageEnd)
        /// The message's framing is broken: why. What was read of it is given; a search follows.
        case broken(MessageEnd, String)
        /// A head is longer than the limit; what was read of it is given, if it has a start line. A search follows.
        case headOverLimit(MessageHead?, started: PacketReference)
        /// Bytes that begin no message, before anything else was read on this side: `gathered` holds them.
        case noMessage
        /// A search has found the next message.
        case resumed(MessageSearch)
    }

    /// What a hole did.
    enum HoleEffect {
        /// It lies inside a body, and the framing is intact.
        case inside
        /// It ended the message, and ends with it.
        case ended(MessageEnd)
        /// It ended the message, and hides something after it too.
        case endedAndMore(MessageEnd)
        /// It hides where the message ends.
        case cutBody(MessageEnd)
        /// It hides the rest of a head; what was read of it is given, if it has a start line.
        case cutHead(MessageHead?, started: PacketReference)
        /// It hides whole messages, maybe.
        case between
    }

    private let side: Side
    private let limits: ConversationLimits
    private var state: State
    private var collector: HeadCollector
    private var body: BodyCollector
    /// A hole of unknown length lies in the body.
    private var bodyHasUnknownHole = false
    /// Whether a message's head was ever read on this side.
    private(set) var hasReadAHead = false

    /// `startSeen`: the first byte given is the first of the connection.
    package init(side: Side, limits: ConversationLimits, startSeen: Bool) {
        self.side = side
        self.limits = limits
        state = startSeen ? .head : .searching(MessageSearch(side: side))
        collector = HeadCollector(limit: limits.head, side: side)
        body = BodyCollector(limit: side == .client ? limits.body : limits.responseBody)
    }

    /// Whether it stands between two messages and knows it.
    var isBetweenMessages: Bool {
        switch state {
        case .head: collector.gathered.isEmpty
        case .framingAskedFor, .length, .chunked, .untilClose, .searching: false
        }
    }

    /// Bytes that were passed over by a search that is still going on.
    var search: MessageSearch? {
        if case .searching(let search) = state { return search }
        return nil
    }

    /// Reads from `offset` on, to the next step.
    package mutating func read(_ input: UnsafeRawBufferPointer, from offset: inout Int, at packet: PacketReference)
        -> Step
    {
        switch state {
        case .head:
            return readHead(input, from: &offset, at: packet)
        case .framingAskedFor:
            return .needsInput
        case .length(let remaining):
            let count = min(remaining, input.count &- offset)
            body.append(input.slice(offset..<offset &+ count))
            offset &+= count
            state = .length(remaining: remaining &- count)
            return remaining == count ? .ended(end(at: packet, isComplete: true)) : .needsInput
        case .chunked(var chunked):
            state = .framingAskedFor
            let result = chunked.read(input, from: &offset, at: packet, into: &body)
            state = .chunked(chunked)
            switch result {
            case .needsInput:
                return .needsInput
            case .ended:
                return .ended(end(at: packet, isComplete: true))
            case .broken(let reason):
                let message = end(at: packet, isComplete: false)
                state = .searching(MessageSearch(side: side))
                return .broken(message, reason)
            }
        case .untilClose:
            body.append(input.slice(offset..<input.count))
            offset = input.count
            return .needsInput
        case .searching(var search):
            state = .framingAskedFor
            guard let found = search.read(input, from: &offset, at: packet) else {
                state = .searching(search)
                return .needsInput
            }
            state = .head
            collector.reset()
            found.line.withUnsafeBytes { bytes in
                var at = 0
                _ = collector.read(bytes, from: &at, at: found.started) { _, _ in }
            }
            return .resumed(search)
        }
    }

    private mutating func readHead(
        _ input: UnsafeRawBufferPointer, from offset: inout Int, at packet: PacketReference
    ) -> Step {
        var head: MessageHead?
        var started = packet
        let side = side
        let fieldLimit = limits.fields
        let result = collector.read(input, from: &offset, at: packet) { bytes, first in
            head = MessageHead(bytes, from: side, fieldLimit: fieldLimit)
            started = first
        }
        switch result {
        case .needsInput:
            return .needsInput
        case .whole:
            guard let head else {
                startSearch()
                return read(input, from: &offset, at: packet)
            }
            hasReadAHead = true
            state = .framingAskedFor
            return .head(head, started: started)
        case .overLimit:
            let (partial, first) = takePartialHead(at: packet)
            state = .searching(MessageSearch(side: side))
            return .headOverLimit(partial, started: first)
        case .notAHead:
            if !hasReadAHead { return .noMessage }
            startSearch()
            return read(input, from: &offset, at: packet)
        }
    }

    /// Goes over to searching, with the bytes that were gathered for a head: less than a line, so nothing is found in them.
    private mutating func startSearch() {
        var search = MessageSearch(side: side)
        let (unread, first) = takeGathered()
        if let first {
            var at = 0
            _ = unread.withUnsafeBytes { search.read($0, from: &at, at: first) }
        }
        state = .searching(search)
    }

    /// Bytes gathered for a head that has not been recognised (`noMessage`), with the packet of the first.
    mutating func takeGathered() -> ([UInt8], PacketReference?) {
        let gathered = (collector.gathered, collector.started)
        collector.reset()
        return gathered
    }

    /// Says how the content of the message ends whose head was handed out.
    package mutating func begin(_ framing: BodyFraming) {
        switch framing {
        case .none: state = .length(remaining: 0)
        case .length(let count):
            body.expect(count)
            state = .length(remaining: count)
        case .chunked: state = .chunked(ChunkedReader(limits: limits))
        case .untilClose: state = .untilClose
        }
    }

    /// The message whose head was handed out has no content.
    package mutating func endAtHead(_ packet: PacketReference) -> MessageEnd {
        end(at: packet, isComplete: true)
    }

    /// Goes over to a search for the next message: what follows can't be framed.
    mutating func lose() {
        startSearch()
    }

    private mutating func end(at packet: PacketReference, isComplete: Bool) -> MessageEnd {
        var end = MessageEnd(ended: packet)
        if case .chunked(let chunked) = state {
            end.trailers = chunked.trailers
            end.anomalies = chunked.anomalies
        }
        end.dropped = body.droppedCount
        end.body = body.take(isComplete: isComplete && !bodyHasUnknownHole)
        bodyHasUnknownHole = false
        state = .head
        return end
    }

    private mutating func takePartialHead(at packet: PacketReference) -> (MessageHead?, PacketReference) {
        let started = collector.started ?? packet
        let bytes = collector.gathered
        collector.reset()
        // Only whole lines count, since the last one may be cut anywhere; of a start line that is cut, what there is.
        guard let lastLine = bytes.lastIndex(of: 0x0A) else {
            return (bytes.withUnsafeBytes { MessageHead(cutLine: $0, from: side) }, started)
        }
        let head = bytes.withUnsafeBytes {
            MessageHead($0.slice(0..<lastLine + 1), from: side, fieldLimit: limits.fields)
        }
        return (head, started)
    }

    /// Bytes are missing from the capture: `length` of them, or nobody knows how many.
    mutating func hole(length: Int?, at packet: PacketReference) -> HoleEffect {
        switch state {
        case .head, .framingAskedFor:
            let isBetween = collector.gathered.isEmpty
            let (partial, started) = takePartialHead(at: packet)
            state = .searching(MessageSearch(side: side))
            return isBetween ? .between : .cutHead(partial, started: started)
        case .length(let remaining):
            guard let length else { return cutBody(missing: remaining, at: packet) }
            body.skip(min(length, remaining))
            guard length >= remaining else {
                state = .length(remaining: remaining &- length)
                return .inside
            }
            let message = end(at: packet, isComplete: true)
            guard length > remaining else { return .ended(message) }
            state = .searching(MessageSearch(side: side))
            return .endedAndMore(message)
        case .chunked(var chunked):
            let remaining = chunked.remainingInChunk
            guard let length, length <= remaining else { return cutBody(missing: remaining, at: packet) }
            body.skip(length)
            chunked.skip(length)
            state = .chunked(chunked)
            return .inside
        case .untilClose:
            if let length { body.skip(length) } else { bodyHasUnknownHole = true }
            return .inside
        case .searching(var search):
            let cut = search.interrupt()
            state = .searching(search)
            return cut.map { .cutHead($0.head, started: $0.started) } ?? .between
        }
    }

    private mutating func cutBody(missing: Int, at packet: PacketReference) -> HoleEffect {
        body.skip(missing)
        let message = end(at: packet, isComplete: false)
        state = .searching(MessageSearch(side: side))
        return .cutBody(message)
    }

    /// What a message comes to when its side sends no more.
    enum Finish {
        /// No message was open.
        case nothing
        /// A message that runs until close is whole.
        case ended(MessageEnd)
        /// The message is not whole.
        case cutBody(MessageEnd)
        /// A head is not whole; what was read of it is given, if it has a start line.
        case cutHead(MessageHead?, started: PacketReference)
    }

    /// The side sends no more (`inOrder`: it said so with a FIN).
    mutating func finish(inOrder: Bool, at packet: PacketReference) -> Finish {
        switch state {
        case .head, .framingAskedFor:
            guard !collector.gathered.isEmpty else { return .nothing }
            let (partial, started) = takePartialHead(at: packet)
            return .cutHead(partial, started: started)
        case .length, .chunked:
            return .cutBody(end(at: packet, isComplete: false))
        case .untilClose:
            let message = end(at: packet, isComplete: inOrder)
            return inOrder ? .ended(message) : .cutBody(message)
        case .searching(var search):
            let cut = search.interrupt()
            state = .searching(search)
            return cut.map { .cutHead($0.head, started: $0.started) } ?? .nothing
        }
    }
}

/// The end of a message: its content and what came after it.
package struct MessageEnd {
    package var body = Body.empty
    package var trailers = FieldSection()
    package var anomalies: [Anomaly] = []
    /// Content bytes beyond the limit.
    package var dropped = 0
    /// The packet with the last byte.
    package var ended: PacketReference
}
