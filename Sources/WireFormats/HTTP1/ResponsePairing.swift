internal import SessionTrace

/// Decides which request a response answers, when holes in the capture may hide either.
///
/// HTTP/1 has no names for messages; a response answers the oldest request without one (RFC 9112 §9.3.2). That holds while
/// nothing is hidden. After a hole, the order of events decides, because a client that does not pipeline sends a request
/// only when it has the response to the one before:
///
/// | hidden | open requests | next response answers |
/// |---|---|---|
/// | requests (a hole on the client's side), none seen since | none | a request that was not captured |
/// | requests, then request N was seen | N (after the gap) | N: the response to the hidden one came before N was sent |
/// | responses (a hole on the server's side) | …, N | N, the youngest; the responses to the older ones were in the hole |
/// | both, and no request seen since the hole | any | a request that was not captured, perhaps |
///
/// What one side sent behind a hole is told late, once it is known that the hole stays. So the youngest request is the
/// youngest one whose first packet came before the response's: none is answered before it was sent. A response for which no
/// request is there waits for the next one, which may be its own.
///
/// A client that has been seen to pipeline breaks this argument. Then no pair is made: the open requests end as not seen,
/// the response stands alone, and pairing starts again with the next request.
struct ResponsePairing {
    /// What a response is joined to.
    struct Answer {
        /// The exchange; nil: no request of it was seen.
        var exchange: OpenExchange?
        /// Open exchanges whose response must have been in a hole.
        var unseen: [OpenExchange] = []
    }

    /// Requests were seen to overtake responses on this connection.
    private var hasPipelined = false
    /// Responses may have been lost since the last response's head.
    private(set) var serverGap = false
    /// Requests may have been lost since the last request's head.
    private var clientGap = false

    /// A hole, or broken framing, may hide messages of `side`.
    mutating func gap(from side: Side) {
        switch side {
        case .client: clientGap = true
        case .server: serverGap = true
        }
    }

    /// A request's head was read; whether requests before it may be missing.
    mutating func requestFollowsGap() -> Bool {
        defer { clientGap = false }
        return clientGap
    }

    /// A response's head was read that began in a packet: which exchange it belongs to.
    mutating func answer(in queue: ExchangeQueue, began packet: PacketReference) -> Answer {
        guard let first = queue.firstAwaiting, let last = queue.lastAwaiting else {
            serverGap = false
            return Answer(exchange: nil)
        }
        if serverGap {
            serverGap = false
            let sent = queue.open.filter { $0.awaitsResponse && $0.isSent(before: packet) }
            guard let youngest = sent.last, !clientGap, sent.count == 1 || !hasPipelined else {
                return Answer(exchange: nil, unseen: sent)
            }
            return Answer(exchange: youngest, unseen: Array(sent.dropLast()))
        }
        guard first.followsGap else {
            // Within a moment the order of a capture's packets says nothing, and nothing is missing.
            if first !== last, last.isSent(before: packet) { hasPipelined = true }
            return Answer(exchange: first)
        }
        guard first.isSent(before: packet) else { return Answer(exchange: nil) }
        return hasPipelined
            ? Answer(exchange: nil, unseen: queue.open.filter(\.awaitsResponse)) : Answer(exchange: first)
    }
}
