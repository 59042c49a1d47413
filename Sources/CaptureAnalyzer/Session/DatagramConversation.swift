internal import SessionTrace
internal import WireFormats

/// The datagrams of one UDP conversation: marks, DNS, QUIC, or bytes of a protocol that is not read.
struct DatagramConversation {
    /// The conversation; its process may become known later.
    var connection: Connection
    private var quic: QUICConnectionObserver?
    private var unread = OpaqueStream(isPreambleOnly: false)

    /// Ports of protocols by which a host keeps its own network going (DHCP, NTP, NetBIOS, SSDP, LLMNR, mDNS): they carry
    /// nothing of an app's, and are no blind spot.
    private static let housekeeping: Set<UInt16> = [67, 68, 123, 137, 138, 546, 547, 1900, 5353, 5355]
    /// Ports of DNS in the clear.
    private static let names: Set<UInt16> = [53, 5353]

    init(connection: Connection) {
        self.connection = connection
    }

    /// The next datagram.
    mutating func receive(
        _ bytes: UnsafeRawBufferPointer, length: Int, from side: Side, at packet: PacketReference,
        in session: inout SessionState
    ) {
        if session.takeMark(bytes, at: packet, on: connection.id) { return }
        if Self.names.contains(connection.server.port) || Self.names.contains(connection.client.port) {
            readNames(bytes, length: length, at: packet, in: &session)
            return
        }
        if quic == nil, QUICConnectionObserver.recognises(bytes) {
            quic = QUICConnectionObserver(connection: connection.id)
            session.facts.quicConnections += 1
        }
        if quic != nil {
            var output: [QUICOutput] = []
            quic?.receive(bytes, from: side, at: packet, into: &output)
            session.take(output)
        } else if isHousekeeping {
            session.proxy.isNoBypass(connection.id)
        } else {
            unread.count(length, from: side, at: packet)
        }
    }

    /// The conversation is over.
    mutating func close(at packet: PacketReference, in session: inout SessionState) {
        var output: [QUICOutput] = []
        quic?.finish(at: packet, into: &output)
        session.take(output)
        if let spot = unread.blindSpot(connection: connection.id, noticed: packet) { session.emit(.blindSpot(spot)) }
    }

    private var isHousekeeping: Bool {
        Self.housekeeping.contains(connection.server.port) || connection.server.address.isMulticast
    }

    private func readNames(
        _ bytes: UnsafeRawBufferPointer, length: Int, at packet: PacketReference, in session: inout SessionState
    ) {
        // Names are not what is meant by a bypass: rules look at them themselves.
        session.proxy.isNoBypass(connection.id)
        let isMulticast = connection.server.port == 5353 || connection.client.port == 5353
        if isMulticast { session.facts.multicastDNSPackets += 1 }
        guard let message = DNSMessage.parse(bytes) else {
            session.facts.malformed += 1
            return
        }
        if !message.isWhole { session.facts.malformed += 1 }
        session.emit(
            .nameLookup(
                message.lookup(
                    connection: connection.id, at: packet, isMulticast: isMulticast, process: connection.process)))
    }
}

extension SessionState {
    /// Passes on what QUIC gave.
    mutating func take(_ output: [QUICOutput]) {
        for item in output {
            switch item {
            case .event(let event): emit(event)
            case .clientRandom(let random): decryption.keys.claim(random)
            case .serverHello: facts.serverHellos += 1
            }
        }
    }
}
