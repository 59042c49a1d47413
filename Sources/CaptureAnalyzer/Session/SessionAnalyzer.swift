internal import SessionTrace
internal import WireFormats

/// Turns what the transport layer gives into session events: one stack of protocols a connection, one reader a UDP
/// conversation.
struct SessionAnalyzer {
    /// What is shared by all connections.
    var state: SessionState
    /// The connection that the packet being read belongs to, for comments on it.
    private(set) var current: ConnectionID?
    private var streams: [ConnectionID: StreamConnection] = [:]
    /// The stream that was used last: packets of one connection come in runs, and a look-up costs a hash.
    private var latest: (id: ConnectionID, stream: StreamConnection)?
    private var conversations: [ConnectionID: DatagramConversation] = [:]

    /// A TCP connection: its stack, and what the device acknowledged of it.
    private final class StreamConnection {
        let stack: ConnectionStack
        var deliveries = DeliveryTracker()

        init(stack: ConnectionStack) {
            self.stack = stack
        }
    }

    init(state: SessionState) {
        self.state = state
    }

    /// Forgets which connection was current; called before each packet.
    mutating func beginPacket() {
        current = nil
    }

    /// The connection that words about `id` are about: the inside of the tunnel that it has become, if it has.
    func innermost(of id: ConnectionID?) -> ConnectionID? {
        id.map { streams[$0]?.stack.innermost ?? $0 }
    }

    private mutating func stream(_ id: ConnectionID) -> StreamConnection? {
        if let latest, latest.id == id { return latest.stream }
        guard let stream = streams[id] else { return nil }
        latest = (id, stream)
        return stream
    }

    /// Runs `body` on a connection's stack and settles which responses it completed.
    private mutating func onStream(
        _ id: ConnectionID, at packet: PacketReference,
        _ body: (ConnectionStack, inout SessionState) -> Void
    ) {
        current = id
        guard let stream = stream(id) else { return }
        let before = state.events.count
        body(stream.stack, &state)
        guard state.events.count > before else { return }
        for index in before..<state.events.count {
            guard case .exchange(let exchange) = state.events[index], exchange.response != nil else { continue }
            if let event = stream.deliveries.responded(exchange.id, at: packet) { state.emit(event) }
        }
    }
}

extension SessionAnalyzer: StreamSink {
    mutating func nextConnectionID() -> ConnectionID {
        state.nextConnection()
    }

    mutating func opened(_ connection: Connection) {
        current = connection.id
        state.proxy.opened(connection, proxyInterface: TraceWriter.interfaceName)
        state.emit(.connectionOpened(connection))
        if connection.transport == .tcp {
            streams[connection.id] = StreamConnection(stack: ConnectionStack(connection: connection))
        } else {
            conversations[connection.id] = DatagramConversation(connection: connection)
        }
    }

    mutating func received(
        _ bytes: UnsafeRawBufferPointer, from side: Side, endOffset: UInt64, at packet: PacketReference,
        on id: ConnectionID
    ) {
        if side == .server { stream(id)?.deliveries.received(upTo: endOffset) }
        onStream(id, at: packet) { stack, state in stack.receive(bytes, from: side, at: packet, in: &state) }
    }

    mutating func hole(
        length: Int?, from side: Side, endOffset: UInt64, noticed: PacketReference, span: TimeSpan, cause: HoleCause,
        on id: ConnectionID
    ) {
        if side == .server { stream(id)?.deliveries.received(upTo: endOffset) }
        let reason: BlindSpot.Reason =
            switch cause {
            case .notCaptured: .tcpHole
            case .truncatedPacket: .truncatedPacket
            case .stateGivenUp: .stateGivenUp
            }
        state.emit(
            .blindSpot(
                BlindSpot(reason: reason, connection: id, from: side, span: span, bytes: length, noticed: noticed)))
        onStream(id, at: noticed) { stack, state in stack.hole(length: length, from: side, at: noticed, in: &state) }
    }

    mutating func acknowledged(by side: Side, upTo offset: UInt64, at packet: PacketReference, on id: ConnectionID) {
        current = id
        guard side == .client, let stream = stream(id) else { return }
        for event in stream.deliveries.acknowledged(upTo: offset, at: packet) { state.emit(event) }
    }

    mutating func overlapConflict(from side: Side, at packet: PacketReference, on id: ConnectionID) {
        current = id
        state.facts.malformed += 1
        state.emit(
            .blindSpot(
                BlindSpot(
                    reason: .conflictingBytes, connection: id, from: side, span: TimeSpan(packet.time),
                    noticed: packet, detail: "the bytes that came first were read")))
    }

    mutating func finished(side: Side, at packet: PacketReference, on id: ConnectionID) {
        onStream(id, at: packet) { stack, state in stack.finished(side: side, at: packet, in: &state) }
    }

    mutating func closed(_ end: ConnectionEnd) {
        var end = end
        if var conversation = conversations.removeValue(forKey: end.id) {
            conversation.close(at: end.last, in: &state)
        } else if let stream = streams[end.id] {
            onStream(end.id, at: end.last) { stack, state in
                stack.close(end.cause, at: end.last, in: &state)
                end.clientFinished = stack.clientFinished
            }
            let told = stream.deliveries.closed(end, isPolled: state.proxy.isOwnRecording)
            for event in told { state.emit(event) }
            streams.removeValue(forKey: end.id)
            latest = nil
        }
        if let spot = state.proxy.closed(end) { state.emit(.blindSpot(spot)) }
        state.emit(.connectionClosed(end))
    }

    mutating func datagram(
        _ bytes: UnsafeRawBufferPointer, length: Int, from side: Side, at packet: PacketReference, on id: ConnectionID
    ) {
        current = id
        conversations[id]?.receive(bytes, length: length, from: side, at: packet, in: &state)
    }

    mutating func identified(_ process: ProcessIdentity, of id: ConnectionID) {
        conversations[id]?.connection.process = process
        state.emit(.processIdentified(id, process))
    }

    mutating func blind(_ spot: BlindSpot) {
        state.emit(.blindSpot(spot))
    }
}
