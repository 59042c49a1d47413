public import SessionTrace

/// Watches the plaintext of one HTTP/2 connection and tells its exchanges (RFC 9113).
///
/// Enters: the bytes of both directions in any pieces, holes, FINs, the connection's end. Leaves: a `requestStarted` for
/// each request head, an `exchange` for each stream in the order in which they ended, messages of WebSockets inside
/// (RFC 8441), and blind spots for what could not be read.
///
/// Memory follows open streams: nothing but a number is kept of a stream that has ended. A direction that was not seen
/// from its start, or that lost bytes, is read with a header table of unknown content, and its frames are searched for.
public struct HTTP2Observer {
    private let connection: ConnectionID
    private let scheme: String
    private let limits: ConversationLimits
    private var client: HTTP2Direction
    private var server: HTTP2Direction
    private var streams: HTTP2StreamTable
    /// Highest stream id that the client opened, and that the server promised.
    private var highestRequested: UInt32 = 0
    private var highestPromised: UInt32 = 0
    /// The last stream that the server says it has processed or will process.
    private var lastProcessed: UInt32?
    private var firstFinished: Side?
    private var opened: PacketReference?
    /// Request heads that were read, pushed ones too.
    public private(set) var requestCount = 0
    /// Response heads that were read, interim ones too.
    public private(set) var responseCount = 0

    /// An observer of one connection.
    ///
    /// - Parameters:
    ///   - scheme: the scheme of requests whose `:scheme` is not known.
    ///   - startSeen: whether both directions are given from their first byte. When not, frames are searched for, and
    ///     header table entries from before stay unknown (a preface that shows up first still counts as the start).
    ///   - firstExchangeIndex: index of the first exchange, after those of an HTTP/1 start of the same connection.
    public init(
        connection: ConnectionID, scheme: String, startSeen: Bool, limits: ConversationLimits,
        firstExchangeIndex: Int
    ) {
        self.connection = connection
        self.scheme = scheme
        self.limits = limits
        client = HTTP2Direction(side: .client, startSeen: startSeen, limits: limits)
        server = HTTP2Direction(side: .server, startSeen: startSeen, limits: limits)
        streams = HTTP2StreamTable(connection: connection, limits: limits, firstIndex: firstExchangeIndex)
    }

    /// The index that the next exchange of the connection gets.
    public var nextExchangeIndex: Int { streams.nextIndex }

    /// Frames of WebSockets inside, whose heads were read.
    public var webSocketFrameCount: Int { streams.webSocketFrameCount }

    /// Streams that are open now.
    var openStreamCount: Int { streams.count }

    /// The connection was upgraded from HTTP/1.1 (`Upgrade: h2c`, RFC 7540 §3.2): `request` becomes stream 1, half-closed.
    ///
    /// - Parameters:
    ///   - informational: the 101 and whatever came before it.
    ///   - exchange: the id under which the request's `requestStarted` was given already; nil gives it the next index
    ///     and says `requestStarted` here.
    public mutating func adoptUpgrade(
        request: Request, informational: [Response] = [], exchange: ExchangeID? = nil, at packet: PacketReference,
        into output: inout [ConversationOutput]
    ) {
        note(packet)
        let id = exchange ?? streams.takeIndex()
        streams.make(1, as: id, at: packet, into: &output)
        streams[1]?.request = request
        streams[1]?.requestEnded = true
        streams[1]?.informational = informational
        highestRequested = 1
        if exchange == nil { output.append(.event(.requestStarted(id, .http2, request))) }
    }

    /// Takes bytes that `side` sent.
    public mutating func receive(
        _ bytes: UnsafeRawBufferPointer, from side: Side, at packet: PacketReference,
        into output: inout [ConversationOutput]
    ) {
        note(packet)
        streams.releaseCancelled(at: packet, into: &output)
        var input = bytes
        while true {
            let event = side == .client ? client.next(&input, at: packet) : server.next(&input, at: packet)
            if case .starved = event { return }
            handle(event, from: side, at: packet, into: &output)
        }
    }

    /// Takes a hole in what `side` sent: `length` bytes, or an unknown number.
    ///
    /// A hole within one DATA frame costs its bytes alone. Any other makes the header table of the direction unknown.
    public mutating func hole(
        length: Int?, from side: Side, at packet: PacketReference, into output: inout [ConversationOutput]
    ) {
        note(packet)
        settle(side, at: packet, into: &output)
        let events = side == .client ? client.hole(length: length, at: packet) : server.hole(length: length, at: packet)
        for event in events { handle(event, from: side, at: packet, into: &output) }
    }

    /// Takes the end (FIN) of what `side` sends.
    public mutating func finished(side: Side, at packet: PacketReference, into output: inout [ConversationOutput]) {
        note(packet)
        settle(side, at: packet, into: &output)
        firstFinished = firstFinished ?? side
    }

    /// Takes the end of the connection: every open stream becomes an exchange.
    public mutating func closed(
        cause: ConnectionEnd.Cause, at packet: PacketReference, into output: inout [ConversationOutput]
    ) {
        note(packet)
        for side in Side.allCases { settle(side, at: packet, into: &output) }
        for streamID in streams.streamIDs {
            guard let stream = streams[streamID] else { continue }
            streams.finish(streamID, end: end(of: stream, cause), at: packet, into: &output)
        }
        streams.closeWebSockets(at: packet, into: &output)
        for side in Side.allCases {
            let bytes = side == .client ? client.abandonedBytes : server.abandonedBytes
            guard bytes > 0 else { continue }
            spot(.unknownProtocol, side, bytes: bytes, detail: "bytes that are no HTTP/2 frames", packet, &output)
        }
    }

    private func end(of stream: HTTP2Stream, _ cause: ConnectionEnd.Cause) -> ExchangeEnd {
        if stream.isUnprocessed { return .unprocessed }
        if stream.responseEnded, stream.requestEnded || stream.requestMayMiss || stream.request == nil {
            return .complete
        }
        if stream.responseMayMiss || server.isAbandoned { return .notSeen }
        switch cause {
        case .finished: return .closed(by: firstFinished ?? .server)
        case .reset(let side): return .reset(by: side, code: nil)
        case .idle, .traceEnded: return .traceEnded
        }
    }

    private mutating func note(_ packet: PacketReference) {
        opened = opened ?? packet
    }

    /// Reads what a search holds although it is short, because nothing follows it directly.
    private mutating func settle(_ side: Side, at packet: PacketReference, into output: inout [ConversationOutput]) {
        guard let event = side == .client ? client.settle() : server.settle() else { return }
        handle(event, from: side, at: packet, into: &output)
    }

    // MARK: Frames

    private mutating func handle(
        _ event: FrameEvent, from side: Side, at packet: PacketReference, into output: inout [ConversationOutput]
    ) {
        switch event {
        case .starved: break
        case .headers(let block): receive(block, from: side, at: packet, into: &output)
        case .data(let streamID, let bytes):
            if streams.receive(streamID, bytes, from: side, at: packet) { return }
            if streams.isWebSocket(streamID) {
                streams.receiveWebSocket(streamID, bytes, from: side, at: packet, into: &output)
            } else if openContent(streamID, from: side, at: packet, into: &output) {
                _ = streams.receive(streamID, bytes, from: side, at: packet)
            }
        case .dataLost(let streamID, let count):
            if streams.isWebSocket(streamID) {
                streams.loseWebSocket(streamID, length: count, from: side, at: packet, into: &output)
            } else if openContent(streamID, from: side, at: packet, into: &output) {
                streams[streamID]?.lose(count, from: side)
            }
        case .dataEnded(let streamID):
            if streams.isWebSocket(streamID) {
                streams.endWebSocket(streamID, side, at: packet, into: &output)
            } else if openContent(streamID, from: side, at: packet, into: &output) {
                endSide(side, of: streamID, at: packet, into: &output)
            }
        case .reset(let streamID, let code): reset(streamID, code: code, by: side, at: packet, into: &output)
        case .goAway(let lastStreamID):
            if side == .server { stopProcessing(after: lastStreamID, at: packet, into: &output) }
        case .settings(let largestFrame):
            // What one side announces binds the other.
            if side == .client {
                server.allow(largestFrame: largestFrame)
            } else {
                client.allow(largestFrame: largestFrame)
            }
        case .malformed(let streamID, let text): streams.blame(streamID, .framingError(text))
        case .lostSynchronisation: loseSynchronisation(of: side, at: packet, into: &output)
        case .found(let replay, let dropped):
            if dropped > 0 {
                let detail = "HTTP/2 frames without their start"
                spot(.unreadableMessage, side, bytes: dropped, detail: detail, packet, &output)
            }
            replay.bytes.withUnsafeBytes { bytes in
                for (range, packet) in replay.pieces {
                    receive(UnsafeRawBufferPointer(rebasing: bytes[range]), from: side, at: packet, into: &output)
                }
            }
        case .abandoned(let why): spot(.unknownProtocol, side, bytes: nil, detail: why, packet, &output)
        }
    }

    private mutating func receive(
        _ block: FrameEvent.HeaderBlock, from side: Side, at packet: PacketReference,
        into output: inout [ConversationOutput]
    ) {
        let streamID = block.streamID
        if let promisedID = block.promisedID {
            promise(promisedID, block, from: side, at: packet, into: &output)
            return
        }
        if streams.isWebSocket(streamID) {
            if block.endsStream { streams.endWebSocket(streamID, side, at: packet, into: &output) }
            return
        }
        guard !streams.hasEnded(streamID, isCertain: isCertain(streamID)) else { return }
        switch side {
        case .client where streams[streamID]?.cancelled != nil: return
        case .client where streams[streamID]?.request != nil: takeTrailers(block, from: side, at: packet)
        case .client: startRequest(block, at: packet, into: &output)
        case .server:
            if streams[streamID] == nil { streams.make(streamID, at: packet, into: &output) }
            respond(block, at: packet)
        }
        if let complaint = block.complaint { streams.blame(streamID, .framingError(complaint)) }
        if side == .server, streams[streamID]?.isGrantedWebSocket == true, !block.endsStream {
            streams.becomeWebSocket(streamID, at: packet, into: &output)
        } else if block.endsStream {
            endSide(side, of: streamID, at: packet, into: &output)
        }
    }

    private mutating func startRequest(
        _ block: FrameEvent.HeaderBlock, at packet: PacketReference, into output: inout [ConversationOutput]
    ) {
        let streamID = block.streamID
        if streams[streamID] == nil { streams.make(streamID, at: packet, into: &output) }
        highestRequested = max(highestRequested, streamID)
        var request = HTTP2Messages.request(block, scheme: scheme, at: packet)
        if client.isUncertain, HTTP2Messages.areTrailers(block.fields, of: .client) {
            // The head itself was lost: these are the trailers of a request that was not seen to begin.
            request = HTTP2Messages.unseenRequest(scheme: scheme, at: block.started)
            request.trailers = block.fields
            request.ended = packet
            streams[streamID]?.requestMayMiss = true
        } else {
            requestCount += 1
            streams[streamID]?.anomalies += HeaderFieldRules.anomalies(of: block.fields, as: .request)
        }
        streams[streamID]?.request = request
        if let lastProcessed, streamID > lastProcessed, streamID & 1 == 1 { streams[streamID]?.isUnprocessed = true }
        if let id = streams[streamID]?.id { output.append(.event(.requestStarted(id, .http2, request))) }
        if request.method == "CONNECT", request.connectProtocol != "websocket" {
            streams[streamID]?.content = .tunnel(bytes: 0)
        }
    }

    private mutating func respond(_ block: FrameEvent.HeaderBlock, at packet: PacketReference) {
        let streamID = block.streamID
        if streams[streamID]?.response != nil {
            takeTrailers(block, from: .server, at: packet)
            return
        }
        if server.isUncertain, HTTP2Messages.areTrailers(block.fields, of: .server) {
            var response = HTTP2Messages.unseenResponse(at: block.started)
            response.trailers = block.fields
            response.ended = packet
            streams[streamID]?.response = response
            streams[streamID]?.responseMayMiss = true
            return
        }
        responseCount += 1
        streams[streamID]?.anomalies += HeaderFieldRules.anomalies(of: block.fields, as: .response)
        let response = HTTP2Messages.response(block, at: packet)
        streams[streamID]?.take(response, endsStream: block.endsStream, interimLimit: limits.interimResponses)
    }

    private mutating func takeTrailers(
        _ block: FrameEvent.HeaderBlock, from side: Side, at packet: PacketReference
    ) {
        if !block.endsStream {
            streams.blame(block.streamID, .malformedHead("HEADERS after the head that do not end the stream"))
        }
        streams[block.streamID]?.takeTrailers(block.fields, from: side, at: packet)
    }

    private mutating func promise(
        _ promisedID: UInt32, _ block: FrameEvent.HeaderBlock, from side: Side, at packet: PacketReference,
        into output: inout [ConversationOutput]
    ) {
        guard side == .server, promisedID & 1 == 0, promisedID > highestPromised, streams[promisedID] == nil else {
            streams.blame(block.streamID, .framingError("PUSH_PROMISE of stream \(promisedID)"))
            return
        }
        streams.make(promisedID, at: packet, into: &output)
        highestPromised = promisedID
        requestCount += 1
        streams[promisedID]?.isPushed = true
        streams[promisedID]?.request = HTTP2Messages.request(block, scheme: scheme, at: packet)
        streams[promisedID]?.request?.body.isComplete = true
        streams[promisedID]?.requestEnded = true
        streams[promisedID]?.anomalies += HeaderFieldRules.anomalies(of: block.fields, as: .request)
        if let complaint = block.complaint { streams.blame(promisedID, .framingError(complaint)) }
    }

    private mutating func reset(
        _ streamID: UInt32, code: UInt32, by side: Side, at packet: PacketReference,
        into output: inout [ConversationOutput]
    ) {
        streams.closeWebSocket(streamID, at: packet, into: &output)
        guard let stream = streams[streamID] else { return }
        let isRefused = stream.isUnprocessed || (side == .server && code == ErrorCode.refusedStream)
        if side == .client, !stream.responseEnded, !isRefused, !stream.isPushed {
            streams.cancel(streamID, code: code, at: packet, into: &output)
        } else {
            let end = isRefused ? ExchangeEnd.unprocessed : .reset(by: side, code: code)
            streams.finish(streamID, end: end, at: packet, into: &output)
        }
    }

    private mutating func stopProcessing(
        after lastStreamID: UInt32, at packet: PacketReference, into output: inout [ConversationOutput]
    ) {
        lastProcessed = min(lastProcessed ?? lastStreamID, lastStreamID)
        for streamID in streams.streamIDs where streamID > lastStreamID && streamID & 1 == 1 {
            streams[streamID]?.isUnprocessed = true
            // A request that is still being sent is kept until it ends, for the sake of its body.
            if streams[streamID]?.requestEnded == true {
                streams.finish(streamID, end: .unprocessed, at: packet, into: &output)
            }
        }
    }

    private mutating func loseSynchronisation(
        of side: Side, at packet: PacketReference, into output: inout [ConversationOutput]
    ) {
        streams.loseWebSocket(nil, length: nil, from: side, at: packet, into: &output)
        for streamID in streams.streamIDs { streams[streamID]?.mayMiss(from: side) }
    }

    // MARK: Streams

    /// Whether the stream is not above the highest one, and every stream up to there was seen.
    private func isCertain(_ streamID: UInt32) -> Bool {
        !client.isUncertain && !server.isUncertain
            && streamID <= (streamID & 1 == 1 ? highestRequested : highestPromised)
    }

    /// Sees to it that the stream is open and has a message for content of `side`; false when it has ended.
    private mutating func openContent(
        _ streamID: UInt32, from side: Side, at packet: PacketReference, into output: inout [ConversationOutput]
    ) -> Bool {
        guard !streams.hasEnded(streamID, isCertain: isCertain(streamID)) else { return false }
        if streams[streamID] == nil { streams.make(streamID, at: packet, into: &output) }
        // A message whose head was not seen: its fields are unknown, not absent.
        switch side {
        case .client where streams[streamID]?.cancelled != nil: return false
        case .client where streams[streamID]?.request == nil:
            streams[streamID]?.request = HTTP2Messages.unseenRequest(scheme: scheme, at: packet)
            streams[streamID]?.requestMayMiss = true
            if !client.isUncertain { streams.blame(streamID, .framingError("DATA before a request head")) }
        case .server where streams[streamID]?.response == nil:
            streams[streamID]?.response = HTTP2Messages.unseenResponse(at: packet)
            streams[streamID]?.responseMayMiss = true
            if !server.isUncertain { streams.blame(streamID, .framingError("DATA before a response head")) }
        case .client, .server: break
        }
        return true
    }

    private mutating func endSide(
        _ side: Side, of streamID: UInt32, at packet: PacketReference, into output: inout [ConversationOutput]
    ) {
        streams[streamID]?.end(side, at: packet)
        guard let stream = streams[streamID] else { return }
        if stream.isUnprocessed, stream.requestEnded {
            streams.finish(streamID, end: .unprocessed, at: packet, into: &output)
            return
        }
        let requestIsOver =
            stream.requestEnded || stream.requestMayMiss || stream.cancelled != nil
            || (stream.request == nil && client.isUncertain)
        guard stream.responseEnded, requestIsOver else { return }
        streams.finish(streamID, end: .complete, at: packet, into: &output)
    }

    private func spot(
        _ reason: BlindSpot.Reason, _ side: Side?, bytes: Int?, detail: String, _ packet: PacketReference,
        _ output: inout [ConversationOutput]
    ) {
        let span = TimeSpan((opened ?? packet).time, packet.time)
        let spot = BlindSpot(
            reason: reason, connection: connection, from: side, span: span, bytes: bytes, noticed: packet,
            detail: detail)
        output.append(.event(.blindSpot(spot)))
    }

    private enum ErrorCode {
        /// RFC 9113 §7.
        static let refusedStream: UInt32 = 7
    }
}
