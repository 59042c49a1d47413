public import SessionTrace

/// Watches both directions of a WebSocket (RFC 6455, RFC 7692) and tells its messages.
///
/// Enters: the bytes after the 101 response, or the DATA of an extended CONNECT stream (RFC 8441). Leaves: one `message`
/// for each message or control frame, in the order in which they ended, and blind spots for what could not be read. A hole
/// inside a payload costs its bytes; any other ends the direction, for frames have no mark to find them by.
public struct WebSocketObserver {
    private var client: WebSocketDirection
    private var server: WebSocketDirection
    private let exchange: ExchangeID

    /// An observer of the WebSocket that `exchange` opened; `extensions` are the values of the response's
    /// `Sec-WebSocket-Extensions` fields.
    public init(exchange: ExchangeID, extensions: [String], limits: ConversationLimits) {
        self.exchange = exchange
        let agreed = WebSocketExtensions(extensions)
        client = WebSocketDirection(exchange: exchange, side: .client, extensions: agreed, limit: limits.message)
        server = WebSocketDirection(exchange: exchange, side: .server, extensions: agreed, limit: limits.message)
    }

    /// Frames of both directions whose heads were read.
    public var frameCount: Int { client.frameCount + server.frameCount }

    /// Takes bytes that `side` sent.
    public mutating func receive(
        _ bytes: UnsafeRawBufferPointer, from side: Side, at packet: PacketReference,
        into output: inout [ConversationOutput]
    ) {
        switch side {
        case .client: client.receive(bytes, at: packet, into: &output)
        case .server: server.receive(bytes, at: packet, into: &output)
        }
    }

    /// Takes a hole in what `side` sent: `length` bytes, or an unknown number.
    public mutating func hole(
        length: Int?, from side: Side, at packet: PacketReference, into output: inout [ConversationOutput]
    ) {
        switch side {
        case .client: client.hole(length: length, at: packet, into: &output)
        case .server: server.hole(length: length, at: packet, into: &output)
        }
    }

    /// Takes the end of what `side` sends.
    public mutating func finished(side: Side, at packet: PacketReference, into output: inout [ConversationOutput]) {
        switch side {
        case .client: client.finish(at: packet, into: &output)
        case .server: server.finish(at: packet, into: &output)
        }
    }

    /// Takes the end of the connection or stream: open messages are handed out, and lost bytes are counted.
    public mutating func closed(at packet: PacketReference, into output: inout [ConversationOutput]) {
        for side in Side.allCases {
            finished(side: side, at: packet, into: &output)
            let direction = side == .client ? client : server
            guard direction.lostBytes > 0 else { continue }
            output.append(
                .event(
                    .blindSpot(
                        BlindSpot(
                            reason: .unreadableMessage, connection: exchange.connection, from: side,
                            span: TimeSpan(
                                direction.lostSince?.time ?? packet.time, direction.lostLast?.time ?? packet.time),
                            bytes: direction.lostBytes, noticed: direction.lostLast ?? packet,
                            detail: "WebSocket frames after framing was lost"))))
        }
    }
}
