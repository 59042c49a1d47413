internal import SessionTrace
internal import WireFormats

/// A conversation of two ends, whichever of them speaks.
struct FlowKey: Hashable, Sendable {
    private let lower: Endpoint
    private let upper: Endpoint
    private let protocolNumber: UInt8

    init(_ one: Endpoint, _ other: Endpoint, protocolNumber: UInt8) {
        let one = one.unmapped
        let other = other.unmapped
        let isOrdered =
            (one.address.high, one.address.low, one.port) <= (other.address.high, other.address.low, other.port)
        lower = isOrdered ? one : other
        upper = isOrdered ? other : one
        self.protocolNumber = protocolNumber
    }
}

/// The conversations that the proxy itself has or had, on either leg; the oldest are forgotten first.
struct ProxiedFlows {
    /// Most conversations remembered.
    static let limit = 32_768

    private var known: Set<FlowKey> = []
    private var order: [FlowKey] = []
    private var oldest = 0

    mutating func insert(_ flow: FlowKey) {
        guard known.insert(flow).inserted else { return }
        if order.count < Self.limit {
            order.append(flow)
        } else {
            known.remove(order[oldest])
            order[oldest] = flow
            oldest = (oldest + 1) % Self.limit
        }
    }

    func contains(_ flow: FlowKey) -> Bool { known.contains(flow) }
}

/// What is read of a captured packet: whose it is, not what it says.
struct PacketAddresses {
    var source: Endpoint
    var destination: Endpoint
    var protocolNumber: UInt8
    /// For TCP, the bytes behind its header.
    var payload: UnsafeRawBufferPointer
    /// Whether it is a later fragment, which has no ports.
    var isLaterFragment: Bool
    /// On an interface that sees both sides of this host: whether the packet was leaving it.
    var isLeaving: Bool

    var flow: FlowKey { FlowKey(source, destination, protocolNumber: protocolNumber) }

    /// Reads a packet; nil for anything but IP.
    init?(_ packet: UnsafeRawBufferPointer, linkType: LinkType, wireLength: Int) {
        let link = LinkLayer.read(packet, linkType: linkType.rawValue, wireLength: wireLength)
        guard case .ip(let bytes) = link.payload else { return nil }
        let ip: IPHeader
        do throws(IPHeader.Fault) {
            ip = try IPHeader.read(bytes, wireLength: max(bytes.count, wireLength - (packet.count - bytes.count)))
        } catch {
            return nil
        }
        protocolNumber = ip.protocolNumber
        isLaterFragment = (ip.fragment?.offset ?? 0) > 0
        var ports: (UInt16, UInt16) = (0, 0)
        payload = UnsafeRawBufferPointer(start: nil, count: 0)
        if !isLaterFragment, protocolNumber == 6 {
            guard let header = TCPHeader.read(ip.payload, length: ip.payloadLength) else { return nil }
            ports = (header.sourcePort, header.destinationPort)
            payload = header.payload
        } else if !isLaterFragment, protocolNumber == 17 {
            guard let header = UDPHeader.read(ip.payload, length: ip.payloadLength) else { return nil }
            ports = (header.sourcePort, header.destinationPort)
        }
        source = Endpoint(address: ip.source, port: ports.0)
        destination = Endpoint(address: ip.destination, port: ports.1)
        isLeaving = Self.isLeaving(packet, linkType: linkType)
    }

    /// Cooked captures say which way a packet went: 4 is "sent by us" (linux/if_packet.h).
    private static func isLeaving(_ packet: UnsafeRawBufferPointer, linkType: LinkType) -> Bool {
        switch linkType {
        case .linuxCooked: packet.count >= 2 && packet[0] == 0 && packet[1] == 4
        case .linuxCooked2: packet.count >= 11 && packet[10] == 4
        default: false
        }
    }

    /// The server's name in a ClientHello that a TCP segment begins with.
    var serverName: String? {
        guard protocolNumber == 6, payload.count > 9, payload[0] == 0x16, payload[1] == 3, payload[5] == 1 else {
            return nil
        }
        let body = UnsafeRawBufferPointer(rebasing: payload[9...])
        return ClientHelloMessage(body, allowingCut: true)?.serverName.map { "\($0)" }
    }
}
