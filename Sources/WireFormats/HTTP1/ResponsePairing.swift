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

    /// A response's head was read: which exchange it belongs to.
    mutating func answer(in queue: ExchangeQueue) -> Answer {
        guard let first = queue.firstAwaiting, let last = queue.lastAwaiting else {
            serverGap = false
            return Answer(exchange: nil)
        }
        if serverGap {
            serverGap = false
            guard first !== last else { return Answer(exchange: first) }
            guard !hasPipelined else { return ambiguous(queue) }
            return Answer(exchange: last, unseen: queue.open.filter { $0.awaitsResponse && $0 !== last })
        }
        guard first.followsGap else {
            if first !== last { hasPipelined = true }
            return Answer(exchange: first)
        }
        return hasPipelined ? ambiguous(queue) : Answer(exchange: first)
    }

    private func ambiguous(_ queue: ExchangeQueue) -> Answer {
        Answer(exchange: nil, unseen: queue.open.filter(\.awaitsResponse))
    }
}
