public import SessionTrace

/// Watches the plaintext of one connection and tells what passes: HTTP/1, HTTP/2, WebSocket after an upgrade, a tunnel
/// after CONNECT.
///
/// Enters: the bytes of both directions in any pieces, holes, FINs, the connection's end. Leaves: `requestStarted` when a
/// request's head is whole, `exchange` when one has ended (in the order of ending), `message`, blind spots, and the bytes
/// of what lies inside a tunnel. The same bytes give the same events however they are split.
///
/// ```
/// undecided ──► http1 ──101 websocket──► webSocket
///     │           ├──101 h2c──► http2
///     │           └──CONNECT 2xx, other 101──► tunnel
///     ├──► http2
///     └──► unknown (counted, and said at the end)
/// ```
public struct ConversationObserver {
    private enum Stage {
        case undecided, http1, http2, webSocket, tunnel, unknown
    }

    private enum Piece {
        case bytes([UInt8], Side, PacketReference)
        case hole(Int?, Side, PacketReference)
        case finished(Side, PacketReference)
    }

    private let connection: ConnectionID
    private let isSecure: Bool
    private let applicationProtocol: String?
    private let limits: ConversationLimits
    private var startSeen: Bool
    private var stage = Stage.undecided
    // The observers lie beside the stage and not inside it, so that no packet has to move them.
    private var http1: HTTP1Observer?
    private var http2: HTTP2Observer?
    private var webSocket: WebSocketObserver?
    /// What came before the protocol was known.
    private var held: [Piece] = []
    private var heldClient: [UInt8] = []
    private var heldServer: [UInt8] = []
    private var traffic: [Side: Int] = [.client: 0, .server: 0]
    private var first: PacketReference?
    private var last: PacketReference?

    /// An observer of one connection.
    ///
    /// - Parameters:
    ///   - isSecure: whether the bytes came out of TLS.
    ///   - applicationProtocol: what ALPN agreed on, where known; `h2` decides, anything else is checked by the bytes.
    ///   - serverName: the name that TLS gave for the server; kept for callers, no request is completed with it.
    ///   - startSeen: whether the first bytes given are the connection's first.
    public init(
        connection: ConnectionID, isSecure: Bool, applicationProtocol: String?, serverName: HostName?,
        limits: ConversationLimits = ConversationLimits(), startSeen: Bool = true
    ) {
        self.connection = connection
        self.isSecure = isSecure
        self.applicationProtocol = applicationProtocol
        self.serverName = serverName
        self.limits = limits
        self.startSeen = startSeen
        if applicationProtocol == "h2" { becomeHTTP2() }
    }

    /// The name that TLS gave for the server.
    public let serverName: HostName?

    /// How many messages of which kind were read.
    public var counts: ConversationCounts {
        ConversationCounts(
            http1Requests: http1?.requestCount ?? 0, http1Responses: http1?.responseCount ?? 0,
            http2Requests: http2?.requestCount ?? 0, http2Responses: http2?.responseCount ?? 0,
            webSocketFrames: (webSocket?.frameCount ?? 0) + (http2?.webSocketFrameCount ?? 0))
    }

    /// Takes bytes that `side` sent.
    public mutating func receive(
        _ bytes: UnsafeRawBufferPointer, from side: Side, at packet: PacketReference,
        into output: inout [ConversationOutput]
    ) {
        guard !bytes.isEmpty else { return }
        first = first ?? packet
        last = packet
        switch stage {
        case .http1:
            receiveHTTP1(bytes, from: side, at: packet, into: &output)
        case .http2:
            http2?.receive(bytes, from: side, at: packet, into: &output)
        case .webSocket:
            webSocket?.receive(bytes, from: side, at: packet, into: &output)
        case .tunnel:
            output.append(.tunnelled(Array(bytes), side, packet))
        case .unknown:
            traffic[side, default: 0] &+= bytes.count
        case .undecided:
            holdUndecided(bytes, from: side, at: packet)
            decide(into: &output)
        }
    }

    /// Takes a hole in what `side` sent: `length` bytes, or an unknown number.
    public mutating func hole(
        length: Int?, from side: Side, at packet: PacketReference, into output: inout [ConversationOutput]
    ) {
        switch stage {
        case .http1: http1?.hole(length: length, from: side, at: packet, into: &output)
        case .http2: http2?.hole(length: length, from: side, at: packet, into: &output)
        case .webSocket: webSocket?.hole(length: length, from: side, at: packet, into: &output)
        case .tunnel: output.append(.tunnelHole(length: length, side, packet))
        case .unknown: break
        case .undecided:
            held.append(.hole(length, side, packet))
            // What follows is no start: it is judged as a stream joined in the middle.
            guard side == .client ? heldClient.isEmpty : heldServer.isEmpty else {
                let line = side == .client ? heldClient : heldServer
                if line.withUnsafeBytes({ MessageHead(cutLine: $0, from: side) }) != nil {
                    becomeHTTP1(&output)
                } else {
                    becomeUnknown(&output)
                }
                return
            }
            startSeen = false
        }
    }

    /// Takes the end (FIN) of what `side` sends.
    public mutating func finished(side: Side, at packet: PacketReference, into output: inout [ConversationOutput]) {
        switch stage {
        case .http1: http1?.finished(side: side, at: packet, into: &output)
        case .http2: http2?.finished(side: side, at: packet, into: &output)
        case .webSocket: webSocket?.finished(side: side, at: packet, into: &output)
        case .tunnel, .unknown: break
        case .undecided: held.append(.finished(side, packet))
        }
    }

    /// Takes the end of the connection: everything open ends, and what was not understood is said.
    public mutating func closed(
        cause: ConnectionEnd.Cause, at packet: PacketReference, into output: inout [ConversationOutput]
    ) {
        switch stage {
        case .http1: closeHTTP1(cause: cause, at: packet, into: &output)
        case .http2: http2?.closed(cause: cause, at: packet, into: &output)
        case .webSocket: webSocket?.closed(at: packet, into: &output)
        case .tunnel: break
        case .undecided, .unknown:
            traffic[.client, default: 0] &+= heldClient.count
            traffic[.server, default: 0] &+= heldServer.count
            sayUnknown(at: packet, into: &output)
        }
    }

    // MARK: HTTP/1 and what it turns into

    private mutating func receiveHTTP1(
        _ bytes: UnsafeRawBufferPointer, from side: Side, at packet: PacketReference,
        into output: inout [ConversationOutput]
    ) {
        if !startSeen { traffic[side, default: 0] &+= bytes.count }
        var offset = 0
        guard let change = http1?.receive(bytes, from: &offset, side: side, at: packet, into: &output) else { return }
        switch change.successor {
        case .tunnel(let target):
            stage = .tunnel
            output.append(.tunnelOpened(target))
        case .webSocket(let exchange, let extensions):
            webSocket = WebSocketObserver(exchange: exchange, extensions: extensions, limits: limits)
            stage = .webSocket
        case .http2(let request, let informational, let number):
            var observer = HTTP2Observer(
                connection: connection, scheme: isSecure ? "https" : "http", startSeen: true, limits: limits,
                firstExchangeIndex: number + 1)
            observer.adoptUpgrade(
                request: request, informational: informational,
                exchange: ExchangeID(connection: connection, index: number), at: packet, into: &output)
            http2 = observer
            stage = .http2
        }
        // What the client sent before the answer came first.
        for piece in change.held {
            switch piece {
            case .bytes(let bytes, let packet):
                bytes.withUnsafeBytes { receive($0, from: .client, at: packet, into: &output) }
            case .hole(let length, let packet):
                hole(length: length, from: .client, at: packet, into: &output)
            }
        }
        if let clientFinished = change.clientFinished { finished(side: .client, at: clientFinished, into: &output) }
        receive(bytes.slice(offset..<bytes.count), from: side, at: packet, into: &output)
    }

    private mutating func closeHTTP1(
        cause: ConnectionEnd.Cause, at packet: PacketReference, into output: inout [ConversationOutput]
    ) {
        let before = output.count
        http1?.closed(cause: cause, at: packet, into: &output)
        let counts = counts
        guard !startSeen, counts.http1Requests + counts.http1Responses == 0 else { return }
        // Nothing was found in a stream without a start: it was no HTTP, rather than HTTP that can't be read.
        output.removeSubrange(before...)
        sayUnknown(at: packet, into: &output)
    }

    private func sayUnknown(at packet: PacketReference, into output: inout [ConversationOutput]) {
        let client = traffic[.client] ?? 0
        let server = traffic[.server] ?? 0
        guard client + server > 0 else { return }
        let name = applicationProtocol.map { ", ALPN \($0)" } ?? ""
        output.append(
            .event(
                .blindSpot(
                    BlindSpot(
                        reason: .unknownProtocol, connection: connection,
                        span: TimeSpan(first?.time ?? packet.time, last?.time ?? packet.time), bytes: client + server,
                        noticed: first ?? packet,
                        detail: "\(client) bytes from the client, \(server) from the server\(name)"
                    ))))
    }

    // MARK: Which protocol it is

    private mutating func holdUndecided(_ bytes: UnsafeRawBufferPointer, from side: Side, at packet: PacketReference) {
        held.append(.bytes(Array(bytes), side, packet))
        switch side {
        case .client: heldClient.append(contentsOf: bytes)
        case .server: heldServer.append(contentsOf: bytes)
        }
    }

    private mutating func decide(into output: inout [ConversationOutput]) {
        guard startSeen else {
            let looksLikeFrames =
                heldClient.withUnsafeBytes { $0.isEmpty || ProtocolRecognition.areHTTP2Frames($0) }
                && heldServer.withUnsafeBytes { $0.isEmpty || ProtocolRecognition.areHTTP2Frames($0) }
            if looksLikeFrames {
                becomeHTTP2()
                replay(into: &output)
            } else {
                becomeHTTP1(&output)
            }
            return
        }
        var verdict = heldClient.withUnsafeBytes { ProtocolRecognition.client($0, lineLimit: limits.head) }
        if heldClient.isEmpty {
            verdict = heldServer.withUnsafeBytes { ProtocolRecognition.server($0) }
            // A server that speaks first may be waiting for an HTTP/2 client: its word alone rules nothing out.
            if verdict == .neither { verdict = heldServer.count > limits.heldBytes ? .neither : .needsMore }
        }
        switch verdict {
        case .needsMore: break
        case .http1: becomeHTTP1(&output)
        case .http2:
            becomeHTTP2()
            replay(into: &output)
        case .neither: becomeUnknown(&output)
        }
    }

    private mutating func becomeHTTP1(_ output: inout [ConversationOutput]) {
        http1 = HTTP1Observer(connection: connection, isSecure: isSecure, limits: limits, startSeen: startSeen)
        stage = .http1
        replay(into: &output)
    }

    private mutating func becomeUnknown(_ output: inout [ConversationOutput]) {
        stage = .unknown
        replay(into: &output)
    }

    private mutating func becomeHTTP2() {
        http2 = HTTP2Observer(
            connection: connection, scheme: isSecure ? "https" : "http", startSeen: startSeen, limits: limits,
            firstExchangeIndex: 0)
        stage = .http2
    }

    private mutating func replay(into output: inout [ConversationOutput]) {
        let pieces = held
        held = []
        heldClient = []
        heldServer = []
        for piece in pieces {
            switch piece {
            case .bytes(let bytes, let side, let packet):
                bytes.withUnsafeBytes { receive($0, from: side, at: packet, into: &output) }
            case .hole(let length, let side, let packet):
                hole(length: length, from: side, at: packet, into: &output)
            case .finished(let side, let packet):
                finished(side: side, at: packet, into: &output)
            }
        }
    }
}
