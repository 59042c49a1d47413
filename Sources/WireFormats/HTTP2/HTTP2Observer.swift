public import SessionTrace

/// Watches the plaintext of one HTTP/2 connection and tells its exchanges (RFC 9113).
///
/// Enters: the bytes of both directions in any pieces, holes, FINs, the connection's end. Leaves: a `requestStarted` for
/// each request head, an `exchange` for each stream in the order in which they ended, and blind spots for what could not
/// be read.
///
/// Memory follows open streams: nothing but a number is kept of a stream that has ended. A direction that was not seen
/// from its start, or that lost bytes, is read with a header table of unknown content, and its frames are searched for.
public struct HTTP2Observer {
    /// Ended streams remembered on an uncertain connection, so that late frames do not open them again.
    static let endedStreamsRemembered = 1_024

    /// How long a stream that the device has cancelled stays open for a response that is under way, in packet time.
    static let cancelledStreamsWaitNanoseconds: Int64 = 2_000_000_000
    /// Cancelled streams that wait at once.
    static let cancelledStreamsWaiting = 64

    private let connection: ConnectionID
    private let scheme: String
    private let limits: ConversationLimits
    private var client: HTTP2Direction
    private var server: HTTP2Direction
    private var streams: [UInt32: HTTP2Stream] = [:]
    private var ended = EndedStreams(capacity: Self.endedStreamsRemembered)
    private var nextIndex: Int
    /// Streams that the device has cancelled and that wait, oldest first.
    private var cancelled: [UInt32] = []
    /// Highest stream id that each side opened.
    private var highest: [Side: UInt32] = [:]
    /// The last stream that the server says it has processed or will process.
    private var lastProcessed: UInt32?
    private var firstFinished: Side?
    private var last: PacketReference?
    private var opened: PacketReference?
    /// What was wrong with the connection itself; goes with the next exchange that ends.
    private var connectionAnomalies: [Anomaly] = []

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
        nextIndex = firstExchangeIndex
    }

    /// The index that the next exchange of the connection gets.
    public var nextExchangeIndex: Int { nextIndex }

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
        let id = exchange ?? takeIndex()
        var stream = HTTP2Stream(id: id, streamID: 1)
        stream.request = request
        stream.requestEnded = true
        stream.informational = informational
        streams[1] = stream
        highest[.client] = 1
        if exchange == nil { output.append(.event(.requestStarted(id, .http2, request))) }
    }

    /// Takes bytes that `side` sent.
    public mutating func receive(
        _ bytes: UnsafeRawBufferPointer, from side: Side, at packet: PacketReference,
        into output: inout [ConversationOutput]
    ) {
        note(packet)
        if !cancelled.isEmpty { releaseCancelled(at: packet, into: &output) }
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
        for streamID in streams.keys.sorted() {
            guard let stream = streams[streamID] else { continue }
            finish(streamID, end: end(of: stream, cause), at: packet, into: &output)
        }
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
        last = packet
        opened = opened ?? packet
    }

    private mutating func takeIndex() -> ExchangeID {
        defer { nextIndex += 1 }
        return ExchangeID(connection: connection, index: nextIndex)
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
            guard openContent(streamID, from: side, at: packet, into: &output) else { return }
            streams[streamID]?.receive(bytes, from: side, limits: limits, at: packet)
        case .dataLost(let streamID, let count):
            guard openContent(streamID, from: side, at: packet, into: &output) else { return }
            streams[streamID]?.lose(count, from: side)
        case .dataEnded(let streamID):
            guard openContent(streamID, from: side, at: packet, into: &output) else { return }
            endSide(side, of: streamID, at: packet, into: &output)
        case .reset(let streamID, let code):
            reset(streamID, code: code, by: side, at: packet, into: &output)
        case .goAway(let lastStreamID, _):
            if side == .server { stopProcessing(after: lastStreamID, at: packet, into: &output) }
        case .settings(let largestFrame, _):
            // What one side announces binds the other.
            guard let largestFrame else { return }
            if side == .client {
                server.allow(largestFrame: largestFrame)
            } else {
                client.allow(largestFrame: largestFrame)
            }
        case .malformed(let streamID, let text): blame(streamID, .framingError(text))
        case .lostSynchronisation: loseSynchronisation(of: side)
        case .found(let replay, let dropped):
            if dropped > 0 {
                spot(
                    .unreadableMessage, side, bytes: dropped, detail: "HTTP/2 frames without their start", packet,
                    &output)
            }
            replay.bytes.withUnsafeBytes { bytes in
                for piece in replay.pieces {
                    receive(
                        UnsafeRawBufferPointer(rebasing: bytes[piece.range]), from: side, at: piece.at, into: &output)
                }
            }
            last = packet
        case .abandoned(let why):
            spot(.unknownProtocol, side, bytes: nil, detail: why, packet, &output)
        }
    }

    private mutating func receive(
        _ block: FrameEvent.HeaderBlock, from side: Side, at packet: PacketReference,
        into output: inout [ConversationOutput]
    ) {
        if let promisedID = block.promisedID {
            promise(promisedID, block, from: side, at: packet, into: &output)
            return
        }
        let streamID = block.streamID
        switch side {
        case .client:
            if let stream = streams[streamID], stream.request != nil {
                guard stream.cancelled == nil else { return }
                trailers(block, from: side, at: packet)
            } else if !ended.contains(streamID, isCertain: isCertain(streamID)) {
                startRequest(block, at: packet, into: &output)
            } else {
                return
            }
        case .server:
            guard open(streamID, at: packet, into: &output) else { return }
            respond(block, at: packet)
        }
        if let complaint = block.complaint { blame(streamID, .framingError(complaint)) }
        if block.endsStream { endSide(side, of: streamID, at: packet, into: &output) }
    }

    private mutating func startRequest(
        _ block: FrameEvent.HeaderBlock, at packet: PacketReference, into output: inout [ConversationOutput]
    ) {
        let streamID = block.streamID
        if streams[streamID] == nil { make(streamID, at: packet, into: &output) }
        highest[.client] = max(highest[.client] ?? 0, streamID)
        var request = HTTP2Messages.request(block, scheme: scheme, at: packet)
        if client.isUncertain, HTTP2Messages.areTrailers(block.fields, of: .client) {
            // The head itself was lost: these are the trailers of a request that was not seen to begin.
            request = HTTP2Messages.unseenRequest(scheme: scheme, at: block.started)
            request.trailers = block.fields
            request.ended = packet
            streams[streamID]?.requestMayMiss = true
        }
        streams[streamID]?.request = request
        streams[streamID]?.anomalies += HeaderFieldRules.anomalies(of: block.fields, as: .request)
        if let lastProcessed, streamID > lastProcessed, streamID & 1 == 1 { streams[streamID]?.isUnprocessed = true }
        if let id = streams[streamID]?.id { output.append(.event(.requestStarted(id, .http2, request))) }
        if request.method == "CONNECT", request.connectProtocol == nil {
            streams[streamID]?.content = .tunnel(bytes: 0)
        }
    }

    private mutating func respond(_ block: FrameEvent.HeaderBlock, at packet: PacketReference) {
        let streamID = block.streamID
        if streams[streamID]?.response != nil {
            trailers(block, from: .server, at: packet)
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
        let response = HTTP2Messages.response(block, at: packet)
        streams[streamID]?.anomalies += HeaderFieldRules.anomalies(of: block.fields, as: .response)
        if (100..<200).contains(response.status), !block.endsStream {
            if let count = streams[streamID]?.informational.count, count < limits.interimResponses {
                streams[streamID]?.informational.append(response)
            }
            return
        }
        streams[streamID]?.response = response
        if case .tunnel = streams[streamID]?.content, !(200..<300).contains(response.status) {
            // The tunnel was refused: what follows is an ordinary body.
            streams[streamID]?.content = .messages
        }
    }

    private mutating func trailers(_ block: FrameEvent.HeaderBlock, from side: Side, at packet: PacketReference) {
        let streamID = block.streamID
        if !block.endsStream {
            blame(streamID, .malformedHead("HEADERS after the head that do not end the stream"))
        }
        streams[streamID]?.anomalies += HeaderFieldRules.anomalies(of: block.fields, as: .trailers)
        switch side {
        case .client:
            streams[streamID]?.request?.trailers = block.fields
            streams[streamID]?.request?.ended = packet
        case .server:
            streams[streamID]?.response?.trailers = block.fields
            streams[streamID]?.response?.ended = packet
        }
    }

    private mutating func promise(
        _ promisedID: UInt32, _ block: FrameEvent.HeaderBlock, from side: Side, at packet: PacketReference,
        into output: inout [ConversationOutput]
    ) {
        guard side == .server, promisedID & 1 == 0, promisedID > (highest[.server] ?? 0), streams[promisedID] == nil
        else {
            blame(block.streamID, .framingError("PUSH_PROMISE of stream \(promisedID)"))
            return
        }
        make(promisedID, at: packet, into: &output)
        highest[.server] = promisedID
        streams[promisedID]?.isPushed = true
        streams[promisedID]?.request = HTTP2Messages.request(block, scheme: scheme, at: packet)
        streams[promisedID]?.request?.body.isComplete = true
        streams[promisedID]?.requestEnded = true
        streams[promisedID]?.anomalies += HeaderFieldRules.anomalies(of: block.fields, as: .request)
        if let complaint = block.complaint { blame(promisedID, .framingError(complaint)) }
    }

    private mutating func reset(
        _ streamID: UInt32, code: UInt32, by side: Side, at packet: PacketReference,
        into output: inout [ConversationOutput]
    ) {
        guard let stream = streams[streamID] else { return }
        switch side {
        case .server:
            let isRefused = code == ErrorCode.refusedStream && stream.cancelled == nil
            finish(streamID, end: isRefused ? .unprocessed : .reset(by: side, code: code), at: packet, into: &output)
        case .client where stream.responseEnded || stream.isUnprocessed || stream.isPushed:
            let end = stream.isUnprocessed ? ExchangeEnd.unprocessed : .reset(by: side, code: code)
            finish(streamID, end: end, at: packet, into: &output)
        case .client:
            // The response may be under way, and what reaches the device counts whether it still wants it or not.
            guard stream.cancelled == nil else { return }
            streams[streamID]?.cancelled = (packet, code)
            cancelled.append(streamID)
            releaseCancelled(at: packet, into: &output)
        }
    }

    /// Ends cancelled streams that have waited long enough, or that are too many.
    private mutating func releaseCancelled(at packet: PacketReference, into output: inout [ConversationOutput]) {
        while let streamID = cancelled.first {
            if let since = streams[streamID]?.cancelled?.at.time.nanoseconds {
                let (waited, overflow) = packet.time.nanoseconds.subtractingReportingOverflow(since)
                let isLong = overflow || waited > Self.cancelledStreamsWaitNanoseconds
                guard isLong || cancelled.count > Self.cancelledStreamsWaiting else { return }
                finish(streamID, end: .complete, at: packet, into: &output)
            }
            if cancelled.first == streamID { cancelled.removeFirst() }
        }
    }

    private mutating func stopProcessing(
        after lastStreamID: UInt32, at packet: PacketReference, into output: inout [ConversationOutput]
    ) {
        lastProcessed = min(lastProcessed ?? lastStreamID, lastStreamID)
        for streamID in streams.keys.sorted() where streamID > lastStreamID && streamID & 1 == 1 {
            streams[streamID]?.isUnprocessed = true
            // A request that is still being sent is kept until it ends, for the sake of its body.
            if streams[streamID]?.requestEnded == true {
                finish(streamID, end: .unprocessed, at: packet, into: &output)
            }
        }
    }

    private mutating func loseSynchronisation(of side: Side) {
        for streamID in streams.keys {
            guard streams[streamID]?.hasEnded(side) == false else { continue }
            if side == .client {
                streams[streamID]?.requestMayMiss = true
            } else {
                streams[streamID]?.responseMayMiss = true
            }
        }
    }

    // MARK: Streams

    /// Whether every stream that was opened is known to have been seen.
    private func isCertain(_ streamID: UInt32) -> Bool {
        !client.isUncertain && !server.isUncertain && streamID <= highest[streamID & 1 == 1 ? .client : .server] ?? 0
    }

    /// Sees to it that the stream is open; false when it has ended.
    private mutating func open(
        _ streamID: UInt32, at packet: PacketReference, into output: inout [ConversationOutput]
    ) -> Bool {
        if streams[streamID] != nil { return true }
        guard !ended.contains(streamID, isCertain: isCertain(streamID)) else { return false }
        make(streamID, at: packet, into: &output)
        return true
    }

    /// Sees to it that the stream is open and has a message for content of `side`; false when it has ended.
    private mutating func openContent(
        _ streamID: UInt32, from side: Side, at packet: PacketReference, into output: inout [ConversationOutput]
    ) -> Bool {
        guard open(streamID, at: packet, into: &output) else { return false }
        if side == .client, streams[streamID]?.cancelled != nil { return false }
        // A message whose head was not seen: its fields are unknown, not absent.
        switch side {
        case .client where streams[streamID]?.request == nil:
            streams[streamID]?.request = HTTP2Messages.unseenRequest(scheme: scheme, at: packet)
            streams[streamID]?.requestMayMiss = true
            if !client.isUncertain { blame(streamID, .framingError("DATA before a request head")) }
        case .server where streams[streamID]?.response == nil:
            streams[streamID]?.response = HTTP2Messages.unseenResponse(at: packet)
            streams[streamID]?.responseMayMiss = true
            if !server.isUncertain { blame(streamID, .framingError("DATA before a response head")) }
        case .client, .server: break
        }
        return true
    }

    private mutating func make(
        _ streamID: UInt32, at packet: PacketReference, into output: inout [ConversationOutput]
    ) {
        if streams.count >= limits.openExchanges, let oldest = streams.values.min(by: { $0.id < $1.id }) {
            spot(
                .stateGivenUp, nil, bytes: nil,
                detail: "more than \(limits.openExchanges) HTTP/2 streams open; stream \(oldest.streamID) was given up",
                packet, &output)
            finish(oldest.streamID, end: .traceEnded, at: packet, into: &output)
        }
        streams[streamID] = HTTP2Stream(id: takeIndex(), streamID: streamID)
    }

    private mutating func endSide(
        _ side: Side, of streamID: UInt32, at packet: PacketReference, into output: inout [ConversationOutput]
    ) {
        streams[streamID]?.end(side, at: packet)
        guard let stream = streams[streamID] else { return }
        if stream.isUnprocessed, stream.requestEnded {
            finish(streamID, end: .unprocessed, at: packet, into: &output)
            return
        }
        let requestIsOver =
            stream.requestEnded || stream.requestMayMiss || stream.cancelled != nil
            || (stream.request == nil && client.isUncertain)
        guard stream.responseEnded, requestIsOver else { return }
        finish(streamID, end: .complete, at: packet, into: &output)
    }

    private mutating func finish(
        _ streamID: UInt32, end: ExchangeEnd, at packet: PacketReference, into output: inout [ConversationOutput]
    ) {
        guard var stream = streams.removeValue(forKey: streamID) else { return }
        var end = end
        var packet = packet
        if let (at, code) = stream.cancelled {
            // It ended when the device cancelled it, whatever came after.
            end = .reset(by: .client, code: code)
            packet = at
            cancelled.removeAll { $0 == streamID }
        }
        // A stream whose request never showed may still get it late; all others are over.
        if stream.request != nil { ended.insert(streamID) }
        stream.anomalies += connectionAnomalies
        connectionAnomalies = []
        output.append(.event(.exchange(stream.exchange(end: end, at: packet))))
        for spot in stream.blindSpots(at: packet) { output.append(.event(.blindSpot(spot))) }
    }

    private mutating func blame(_ streamID: UInt32, _ anomaly: Anomaly) {
        if streams[streamID] == nil {
            if connectionAnomalies.count < 16 { connectionAnomalies.append(anomaly) }
        } else if let count = streams[streamID]?.anomalies.count, count < 64 {
            streams[streamID]?.anomalies.append(anomaly)
        }
    }

    private func spot(
        _ reason: BlindSpot.Reason, _ side: Side?, bytes: Int?, detail: String, _ packet: PacketReference,
        _ output: inout [ConversationOutput]
    ) {
        output.append(
            .event(
                .blindSpot(
                    BlindSpot(
                        reason: reason, connection: connection, from: side,
                        span: TimeSpan((opened ?? packet).time, packet.time), bytes: bytes, noticed: packet,
                        detail: detail))))
    }

    private enum ErrorCode {
        /// RFC 9113 §7.
        static let refusedStream: UInt32 = 7
    }
}
