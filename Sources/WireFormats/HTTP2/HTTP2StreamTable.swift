internal import SessionTrace

/// The open streams of one HTTP/2 connection: opened in order, ended once, bounded in number.
///
/// ```
/// open ──both sides ended, RST_STREAM of the server, GOAWAY──► ended (an exchange)
///   │ RST_STREAM of the device ──► cancelled ──response ended, 2 s, too many──► ended
///   │ 2xx to an extended CONNECT (RFC 8441) ──► ended, and a WebSocket until both sides end
/// ```
struct HTTP2StreamTable {
    /// Ended streams remembered on an uncertain connection, so that late frames do not open them again.
    static let endedRemembered = 1_024
    /// How long a stream that the device has cancelled stays for a response that is under way, in packet time.
    static let cancelledWaitNanoseconds: Int64 = 2_000_000_000
    /// Cancelled streams that wait at once.
    static let cancelledLimit = 64
    /// Anomalies kept of one stream, and of the connection until an exchange takes them.
    static let anomalyLimit = 64

    private struct WebSocket {
        var observer: WebSocketObserver
        var endedSides: Set<Side> = []
    }

    private let connection: ConnectionID
    private let limits: ConversationLimits
    private var streams: [UInt32: HTTP2Stream] = [:]
    private var webSockets: [UInt32: WebSocket] = [:]
    private var ended = EndedStreams(capacity: Self.endedRemembered)
    /// Streams that the device has cancelled and that wait, oldest first.
    private var cancelled: [UInt32] = []
    /// What was wrong with the connection itself; goes with the next exchange that ends.
    private var connectionAnomalies: [Anomaly] = []
    private var webSocketFrames = 0
    /// The index that the next exchange gets.
    private(set) var nextIndex: Int

    init(connection: ConnectionID, limits: ConversationLimits, firstIndex: Int) {
        self.connection = connection
        self.limits = limits
        nextIndex = firstIndex
    }

    /// An open stream; nil when there is none of that id. Setting is for changing an open one in place.
    subscript(streamID: UInt32) -> HTTP2Stream? {
        _read { yield streams[streamID] }
        _modify { yield &streams[streamID] }
    }

    /// Open streams, WebSockets too.
    var count: Int { streams.count + webSockets.count }

    /// Ids of the open streams, ascending; WebSockets are left out.
    var streamIDs: [UInt32] { streams.keys.sorted() }

    /// Frames of all WebSockets, open and ended.
    var webSocketFrameCount: Int { webSockets.values.reduce(webSocketFrames) { $0 + $1.observer.frameCount } }

    /// Takes the next index.
    mutating func takeIndex() -> ExchangeID {
        defer { nextIndex += 1 }
        return ExchangeID(connection: connection, index: nextIndex)
    }

    // MARK: Opening and ending

    /// Opens a stream; the oldest one is given up when there are too many.
    mutating func make(
        _ streamID: UInt32, as id: ExchangeID? = nil, at packet: PacketReference,
        into output: inout [ConversationOutput]
    ) {
        if count >= limits.openExchanges { giveUpOldest(at: packet, into: &output) }
        streams[streamID] = HTTP2Stream(id: id ?? takeIndex(), streamID: streamID)
    }

    /// Gives content octets to an open stream whose message has begun, which is the common case: one look-up. False when
    /// the stream is not that far.
    mutating func receive(
        _ streamID: UInt32, _ bytes: UnsafeRawBufferPointer, from side: Side, at packet: PacketReference
    ) -> Bool {
        guard let index = streams.index(forKey: streamID) else { return false }
        return streams.values[index].receive(bytes, from: side, limits: limits, at: packet)
    }

    /// Whether the stream has ended; `isCertain` as in `EndedStreams`.
    func hasEnded(_ streamID: UInt32, isCertain: Bool) -> Bool {
        streams[streamID] == nil && ended.contains(streamID, isCertain: isCertain)
    }

    /// Ends a stream: its exchange and blind spots are told.
    mutating func finish(
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

    /// Records a fault of a stream, or of the connection (0, or a stream that is not open).
    mutating func blame(_ streamID: UInt32, _ anomaly: Anomaly) {
        if streams[streamID] == nil {
            if connectionAnomalies.count < Self.anomalyLimit { connectionAnomalies.append(anomaly) }
        } else if let count = streams[streamID]?.anomalies.count, count < Self.anomalyLimit {
            streams[streamID]?.anomalies.append(anomaly)
        }
    }

    private mutating func giveUpOldest(at packet: PacketReference, into output: inout [ConversationOutput]) {
        let oldest = streams.values.min { $0.id < $1.id }?.streamID
        guard let streamID = oldest ?? webSockets.keys.min() else { return }
        output.append(
            .event(
                .blindSpot(
                    BlindSpot(
                        reason: .stateGivenUp, connection: connection,
                        span: TimeSpan((streams[streamID]?.request?.started ?? packet).time, packet.time),
                        noticed: packet,
                        detail:
                            "more than \(limits.openExchanges) HTTP/2 streams open; stream \(streamID) was given up",
                        exchange: streams[streamID]?.id))))
        finish(streamID, end: .traceEnded, at: packet, into: &output)
        closeWebSocket(streamID, at: packet, into: &output)
    }

    // MARK: Cancelled streams

    /// The device has cancelled the stream. What the server had sent by then may still arrive, and what reaches the
    /// device counts whether it still wants it or not.
    mutating func cancel(
        _ streamID: UInt32, code: UInt32, at packet: PacketReference, into output: inout [ConversationOutput]
    ) {
        guard let stream = streams[streamID], stream.cancelled == nil else { return }
        streams[streamID]?.cancelled = (packet, code)
        cancelled.append(streamID)
        releaseCancelled(at: packet, into: &output)
    }

    /// Ends cancelled streams that have waited long enough, or that are too many.
    mutating func releaseCancelled(at packet: PacketReference, into output: inout [ConversationOutput]) {
        while let streamID = cancelled.first, let since = streams[streamID]?.cancelled?.at.time.nanoseconds {
            let (waited, overflow) = packet.time.nanoseconds.subtractingReportingOverflow(since)
            let isLong = overflow || waited > Self.cancelledWaitNanoseconds
            guard isLong || cancelled.count > Self.cancelledLimit else { return }
            finish(streamID, end: .complete, at: packet, into: &output)
        }
    }

    // MARK: WebSockets

    /// Whether the stream carries a WebSocket.
    func isWebSocket(_ streamID: UInt32) -> Bool { webSockets[streamID] != nil }

    /// The extended CONNECT of a stream was granted: its exchange ends here, and its DATA are WebSocket frames from now
    /// on. What the client sent before is read first.
    mutating func becomeWebSocket(
        _ streamID: UInt32, at packet: PacketReference, into output: inout [ConversationOutput]
    ) {
        guard let stream = streams[streamID] else { return }
        let early = stream.request?.body.bytes ?? []
        let earlyAt = stream.request?.ended ?? packet
        streams[streamID]?.request?.body = .empty
        streams[streamID]?.response?.body = .empty
        let extensions = stream.response?.fields.values("sec-websocket-extensions") ?? []
        finish(streamID, end: .complete, at: packet, into: &output)
        webSockets[streamID] = WebSocket(
            observer: WebSocketObserver(exchange: stream.id, extensions: extensions, limits: limits))
        early.withUnsafeBytes { webSockets[streamID]?.observer.receive($0, from: .client, at: earlyAt, into: &output) }
    }

    /// Gives DATA to a WebSocket.
    mutating func receiveWebSocket(
        _ streamID: UInt32, _ bytes: UnsafeRawBufferPointer, from side: Side, at packet: PacketReference,
        into output: inout [ConversationOutput]
    ) {
        webSockets[streamID]?.observer.receive(bytes, from: side, at: packet, into: &output)
    }

    /// Tells a WebSocket (or with nil every one) of bytes that are missing.
    mutating func loseWebSocket(
        _ streamID: UInt32?, length: Int?, from side: Side, at packet: PacketReference,
        into output: inout [ConversationOutput]
    ) {
        for id in webSockets.keys.sorted() where streamID == nil || streamID == id {
            webSockets[id]?.observer.hole(length: length, from: side, at: packet, into: &output)
        }
    }

    /// END_STREAM of one side of a WebSocket.
    mutating func endWebSocket(
        _ streamID: UInt32, _ side: Side, at packet: PacketReference, into output: inout [ConversationOutput]
    ) {
        webSockets[streamID]?.observer.finished(side: side, at: packet, into: &output)
        webSockets[streamID]?.endedSides.insert(side)
        if webSockets[streamID]?.endedSides.count == 2 { closeWebSocket(streamID, at: packet, into: &output) }
    }

    /// The end of a WebSocket's stream.
    mutating func closeWebSocket(
        _ streamID: UInt32, at packet: PacketReference, into output: inout [ConversationOutput]
    ) {
        guard var webSocket = webSockets.removeValue(forKey: streamID) else { return }
        webSocket.observer.closed(at: packet, into: &output)
        webSocketFrames += webSocket.observer.frameCount
    }

    /// The end of the connection for all of them.
    mutating func closeWebSockets(at packet: PacketReference, into output: inout [ConversationOutput]) {
        for streamID in webSockets.keys.sorted() { closeWebSocket(streamID, at: packet, into: &output) }
    }
}
