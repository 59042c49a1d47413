public import SessionTrace

/// One IP packet, version 4 or 6: addresses, the transport's protocol number and bytes, and its place in a fragmented
/// datagram. Enters: bytes from the version nibble on; leaves: this value. RFC 791, RFC 8200.
public struct IPHeader {
    /// A packet's place in the datagram that it is a fragment of.
    public struct Fragment: Hashable, Sendable {
        /// The datagram's identification (16 bits in IPv4, 32 in IPv6).
        public var identification: UInt32
        /// Where these bytes belong, in bytes from the start of the fragmentable part.
        public var offset: Int
        /// Whether more fragments follow this one.
        public var hasMore: Bool

        /// Makes a fragment's place.
        public init(identification: UInt32, offset: Int, hasMore: Bool) {
            self.identification = identification
            self.offset = offset
            self.hasMore = hasMore
        }
    }

    /// Why bytes are no readable IP packet.
    public enum Fault: Error, Hashable, Sendable {
        /// The captured bytes end inside the headers.
        case cutShort
        /// Version, header length or total length contradict each other.
        case malformed
    }

    /// Most IPv6 extension headers followed.
    public static let maximumExtensionHeaders = 24

    /// The sender.
    public var source: IPAddress
    /// The receiver.
    public var destination: IPAddress
    /// What the payload is: 6 TCP, 17 UDP, 4 and 41 IP, 47 GRE … For a fragment beyond the first one in IPv6: as the
    /// fragment header says, extension headers included.
    public var protocolNumber: UInt8
    /// The payload as far as it was captured; padding after the packet is not in it.
    public var payload: UnsafeRawBufferPointer
    /// The payload's length on the wire in bytes, as the header says; not less than `payload.count`.
    public var payloadLength: Int
    /// Its place in a fragmented datagram; nil for whole ones (an IPv6 atomic fragment, RFC 6946, is whole).
    public var fragment: Fragment?
    /// Whether an IPv4 header has the "more fragments" bit.
    public var hasMoreFragmentsBit: Bool

    /// Makes a packet from its parts.
    public init(
        source: IPAddress, destination: IPAddress, protocolNumber: UInt8, payload: UnsafeRawBufferPointer,
        payloadLength: Int, fragment: Fragment? = nil, hasMoreFragmentsBit: Bool = false
    ) {
        self.source = source
        self.destination = destination
        self.protocolNumber = protocolNumber
        self.payload = payload
        self.payloadLength = payloadLength
        self.fragment = fragment
        self.hasMoreFragmentsBit = hasMoreFragmentsBit
    }

    /// Reads a packet.
    ///
    /// - Parameters:
    ///   - wireLength: bytes on the wire from the version nibble to the frame's end; it stands in for the length where
    ///     the sender's network card had yet to fill it in (length 0: segmentation offload).
    ///   - isBounded: whether an outer header (PPPoE, a tunnel) says that the packet is no longer than `bytes`: a
    ///     longer length is then wrong, and not the sign of a packet cut short.
    public static func read(
        _ bytes: UnsafeRawBufferPointer, wireLength: Int, isBounded: Bool = false
    ) throws(Fault) -> IPHeader {
        guard let first = bytes.first else { throw .cutShort }
        var packet: IPHeader
        switch first >> 4 {
        case 4: packet = try readVersion4(bytes, wireLength: wireLength)
        case 6: packet = try readVersion6(bytes, wireLength: wireLength)
        default: throw .malformed
        }
        if isBounded { packet.payloadLength = packet.payload.count }
        return packet
    }

    private static func readVersion4(
        _ bytes: UnsafeRawBufferPointer, wireLength: Int
    ) throws(Fault) -> IPHeader {
        guard bytes.count >= 20 else { throw .cutShort }
        let headerLength = Int(bytes[0] & 0xF) * 4
        guard headerLength >= 20 else { throw .malformed }
        guard bytes.count >= headerLength else { throw .cutShort }
        var totalLength = Int(bytes.field16(2))
        if totalLength == 0 { totalLength = max(wireLength, bytes.count) }
        guard totalLength >= headerLength else { throw .malformed }
        let flags = bytes.field16(6)
        let offset = Int(flags & 0x1FFF) * 8
        let hasMore = flags & 0x2000 != 0
        let payloadLength = totalLength - headerLength
        return IPHeader(
            source: IPAddress(ipv4: bytes.field32(12)), destination: IPAddress(ipv4: bytes.field32(16)),
            protocolNumber: bytes[9], payload: bytes.after(headerLength).first(payloadLength),
            payloadLength: payloadLength,
            fragment: hasMore || offset > 0
                ? Fragment(identification: UInt32(bytes.field16(4)), offset: offset, hasMore: hasMore) : nil,
            hasMoreFragmentsBit: hasMore)
    }

    private static func readVersion6(
        _ bytes: UnsafeRawBufferPointer, wireLength: Int
    ) throws(Fault) -> IPHeader {
        guard bytes.count >= 40 else { throw .cutShort }
        var payloadLength = Int(bytes.field16(4))
        let isLengthUnknown = payloadLength == 0
        if isLengthUnknown { payloadLength = max(wireLength, bytes.count) - 40 }
        var packet = IPHeader(
            source: IPAddress(ipv6High: bytes.field64(8), low: bytes.field64(16)),
            destination: IPAddress(ipv6High: bytes.field64(24), low: bytes.field64(32)),
            protocolNumber: bytes[6], payload: bytes.after(40).first(payloadLength), payloadLength: payloadLength)
        try packet.takeExtensionHeaders(isLengthUnknown: isLengthUnknown)
        return packet
    }

    /// RFC 8200 §4: takes extension headers off the front of the payload until a transport (or a fragment) is reached.
    /// Also for the payload of a datagram put together again, whose first fragment may start with such headers.
    public mutating func takeExtensionHeaders(isLengthUnknown: Bool = false) throws(Fault) {
        for _ in 0..<Self.maximumExtensionHeaders {
            let length: Int
            switch protocolNumber {
            case 0, 43, 60, 135, 139, 140:
                guard payload.count >= 8 else { throw .cutShort }
                length = (Int(payload[1]) + 1) * 8
                if protocolNumber == 0, isLengthUnknown, let jumbo = jumboLength(headerLength: length) {
                    payloadLength = jumbo
                    payload = payload.first(jumbo)
                }
            case 51:
                guard payload.count >= 8 else { throw .cutShort }
                length = (Int(payload[1]) + 2) * 4
            case 44:
                guard payload.count >= 8 else { throw .cutShort }
                let offset = Int(payload.field16(2) & 0xFFF8)
                let hasMore = payload[3] & 1 == 1
                if hasMore || offset > 0 {
                    fragment = Fragment(identification: payload.field32(4), offset: offset, hasMore: hasMore)
                }
                length = 8
            default:
                return
            }
            guard payloadLength >= length else { throw .malformed }
            guard payload.count >= length else { throw .cutShort }
            protocolNumber = payload[0]
            payload = payload.after(length)
            payloadLength -= length
            if fragment != nil { return }
        }
        throw .malformed
    }

    /// RFC 2675 §2: option 0xC2 of the hop-by-hop header at the payload's start holds the true payload length.
    private func jumboLength(headerLength: Int) -> Int? {
        var index = 2
        let end = min(headerLength, payload.count)
        while index + 1 < end {
            if payload[index] == 0 {
                index += 1
                continue
            }
            if payload[index] == 0xC2, payload[index + 1] == 4, index + 6 <= end {
                let length = Int(payload.field32(index + 2))
                return length > 0xFFFF ? length : nil
            }
            index += 2 + Int(payload[index + 1])
        }
        return nil
    }
}
