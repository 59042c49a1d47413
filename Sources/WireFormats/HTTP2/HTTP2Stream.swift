internal import SessionTrace

/// One HTTP/2 stream as an observer sees it: header sections and content of both sides, in; one exchange, out.
///
/// ```
/// each side:  nothing ──HEADERS──► head ──DATA…──► (trailers) ──END_STREAM──► ended
/// ```
/// RST_STREAM, GOAWAY and the connection's end finish it from outside.
struct HTTP2Stream {
    /// What the DATA frames carry.
    enum Content {
        /// Message bodies.
        case messages
        /// The bytes of a CONNECT tunnel, counted only.
        case tunnel(bytes: Int)
    }

    let id: ExchangeID
    let streamID: UInt32
    var isPushed = false
    var request: Request?
    var informational: [Response] = []
    var response: Response?
    var requestEnded = false
    var responseEnded = false
    /// Octets may be missing from the request: its direction lost synchronisation while the stream was open.
    var requestMayMiss = false
    /// The same for the response.
    var responseMayMiss = false
    /// The server said that it does not process the request.
    var isUnprocessed = false
    /// The device has cancelled it, when and with which code; what the server had sent by then may still arrive.
    var cancelled: (at: PacketReference, code: UInt32)?
    var content = Content.messages
    var anomalies: [Anomaly] = []

    init(id: ExchangeID, streamID: UInt32) {
        self.id = id
        self.streamID = streamID
    }

    /// Whether the side's END_STREAM was seen.
    func hasEnded(_ side: Side) -> Bool { side == .client ? requestEnded : responseEnded }

    /// Whether it is a WebSocket whose extended CONNECT (RFC 8441) got a 2xx.
    var isGrantedWebSocket: Bool {
        guard let request, let response, request.connectProtocol == "websocket" else { return false }
        return request.method == "CONNECT" && (200..<300).contains(response.status)
    }

    // MARK: Heads and trailers

    /// Takes a response head: an interim one, or the final one.
    mutating func take(_ response: Response, endsStream: Bool, interimLimit: Int) {
        if (100..<200).contains(response.status), !endsStream {
            if informational.count < interimLimit { informational.append(response) }
            return
        }
        self.response = response
        // A tunnel that was refused: what follows is an ordinary body.
        if case .tunnel = content, !(200..<300).contains(response.status) { content = .messages }
    }

    /// Takes trailers.
    mutating func takeTrailers(_ fields: FieldSection, from side: Side, at packet: PacketReference) {
        anomalies += HeaderFieldRules.anomalies(of: fields, as: .trailers)
        switch side {
        case .client:
            request?.trailers = fields
            request?.ended = packet
        case .server:
            response?.trailers = fields
            response?.ended = packet
        }
    }

    /// The side lost synchronisation: unless it has ended already, frames of it may be missing.
    mutating func mayMiss(from side: Side) {
        guard !hasEnded(side) else { return }
        switch side {
        case .client: requestMayMiss = true
        case .server: responseMayMiss = true
        }
    }

    // MARK: DATA

    /// Keeps content octets up to the limit, and counts all. False when the side's message has not begun, or is over.
    mutating func receive(
        _ bytes: UnsafeRawBufferPointer, from side: Side, limits: ConversationLimits, at packet: PacketReference
    ) -> Bool {
        if case .tunnel(let count) = content {
            content = .tunnel(bytes: count &+ bytes.count)
            return true
        }
        switch side {
        case .client:
            guard cancelled == nil, request?.receive(bytes, limit: limits.body, at: packet) != nil else { return false }
        case .server:
            guard response?.receive(bytes, limit: limits.responseBody, at: packet) != nil else { return false }
        }
        return true
    }

    /// Counts content octets that were lost.
    mutating func lose(_ count: Int, from side: Side) {
        switch side {
        case .client: request?.body.missing += count
        case .server: response?.body.missing += count
        }
    }

    /// END_STREAM of one side.
    mutating func end(_ side: Side, at packet: PacketReference) {
        switch side {
        case .client:
            requestEnded = true
            request?.ended = packet
            guard let body = request?.body, case .messages = content else { return }
            let declared = declaredLength(request?.fields)
            request?.body.isComplete = !requestMayMiss || declared == body.length
            if !requestMayMiss { check(declared, body, "request") }
        case .server:
            responseEnded = true
            response?.ended = packet
            guard let body = response?.body, case .messages = content else { return }
            let declared = declaredLength(response?.fields)
            response?.body.isComplete = !responseMayMiss || declared == body.length
            let hasNoContent = request?.method == "HEAD" || response?.status == 304
            if !responseMayMiss, !hasNoContent, request != nil { check(declared, body, "response") }
        }
    }

    /// Compares Content-Length with what came (RFC 9113 §8.1.1).
    private mutating func check(_ declared: Int?, _ body: Body, _ what: String) {
        guard let declared, declared != body.length + body.missing else { return }
        anomalies.append(
            .ambiguousFraming("\(what): content-length is \(declared), DATA frames held \(body.length) bytes"))
    }

    private func declaredLength(_ fields: FieldSection?) -> Int? {
        guard let text = fields?.first("content-length"), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(text)
    }

    // MARK: The end

    /// Makes the exchange that this stream was.
    func exchange(end: ExchangeEnd, at packet: PacketReference) -> Exchange {
        Exchange(
            id: id, version: .http2, streamID: UInt64(streamID), request: request, informational: informational,
            response: response, end: end, ended: packet, isPushed: isPushed, anomalies: anomalies)
    }

    /// What of this stream could not be seen, apart from holes in the capture.
    func blindSpots(at packet: PacketReference) -> [BlindSpot] {
        var spots: [BlindSpot] = []
        if let request {
            spots += headerSpots([request.fields, request.trailers], .client, request.started, packet)
            if request.body.isCut { spots.append(cutSpot(request.body, .client, request.started, packet)) }
        }
        if let response {
            let sections = informational.map(\.fields) + [response.fields, response.trailers]
            spots += headerSpots(sections, .server, response.started, packet)
            if response.body.isCut { spots.append(cutSpot(response.body, .server, response.started, packet)) }
        }
        if case .tunnel(let bytes) = content, bytes > 0 {
            spots.append(
                BlindSpot(
                    reason: .unknownProtocol, connection: id.connection,
                    span: TimeSpan(request?.started.time ?? packet.time, packet.time), bytes: bytes, noticed: packet,
                    detail: "bytes tunnelled through HTTP/2 stream \(streamID)", exchange: id))
        }
        return spots
    }

    private func headerSpots(
        _ sections: [FieldSection], _ side: Side, _ started: PacketReference, _ packet: PacketReference
    ) -> [BlindSpot] {
        let count = sections.reduce(0) { $0 + $1.fields.count { !$0.isKnown } }
        guard count > 0 else { return [] }
        return [
            BlindSpot(
                reason: .headerTableUnknown, connection: id.connection, from: side,
                span: TimeSpan(started.time, packet.time), noticed: started,
                detail:
                    "\(count) header fields of HTTP/2 stream \(streamID) (\(side == .client ? "request" : "response"))",
                exchange: id)
        ]
    }

    private func cutSpot(
        _ body: Body, _ side: Side, _ started: PacketReference, _ packet: PacketReference
    ) -> BlindSpot {
        BlindSpot(
            reason: .bodyOverLimit, connection: id.connection, from: side, span: TimeSpan(started.time, packet.time),
            bytes: body.length - body.bytes.count, noticed: packet,
            detail: "kept \(body.bytes.count) of \(body.length) bytes", exchange: id)
    }
}

extension Request {
    /// Takes content octets.
    fileprivate mutating func receive(_ bytes: UnsafeRawBufferPointer, limit: Int, at packet: PacketReference) {
        body.keep(bytes, limit: limit)
        ended = packet
    }
}

extension Response {
    /// Takes content octets.
    fileprivate mutating func receive(_ bytes: UnsafeRawBufferPointer, limit: Int, at packet: PacketReference) {
        body.keep(bytes, limit: limit)
        ended = packet
    }
}

extension Body {
    /// Appends content octets up to `limit` kept ones; the rest is counted and the body marked as cut.
    mutating func keep(_ piece: UnsafeRawBufferPointer, limit: Int) {
        length += piece.count
        let room = max(0, limit - bytes.count)
        bytes.append(contentsOf: piece.prefix(room))
        if piece.count > room { isCut = true }
    }
}
