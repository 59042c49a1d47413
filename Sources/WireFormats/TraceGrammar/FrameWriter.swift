import SessionTrace

/// Builds the headers of Ethernet frames with IPv4 or IPv6 and TCP or UDP in them, with right lengths and checksums; the
/// payload itself is left where it is.
///
/// RFC 791, RFC 8200, RFC 9293, RFC 768. Times, numbers and payload are the caller's.
struct FrameWriter {
    /// The TCP part of a frame.
    struct Segment {
        var sequence: UInt32
        var acknowledgement: UInt32?
        var isSyn = false
        var isFin = false
        var isReset = false
        var isPush = false
    }

    /// Most bytes of headers: Ethernet, IPv6, TCP with the options of a SYN.
    static let headerLimit = 14 + 40 + 20 + 8
    /// Locally administered MAC addresses: …:01 is the device, …:02 whoever it talks to; their upper 32 bits.
    private static let hardwareAddressStart: UInt32 = 0x0200_0000
    private static let deviceAddressEnd: UInt16 = 1
    private static let peerAddressEnd: UInt16 = 2
    /// On a SYN: largest segment 60,000 bytes; window counts in units of 2^14.
    private static let synOptions: UInt64 = 0x0204_EA60_0103_030E
    private static let timeToLive: UInt8 = 64

    /// IPv4's identification, counted on over all frames.
    private var identification: UInt16 = 0

    /// Makes the headers of a frame with a TCP segment and gives them to `use`.
    mutating func tcp(
        _ segment: Segment, payload: UnsafeRawBufferPointer, from source: Endpoint, to destination: Endpoint,
        byDevice: Bool, _ use: (UnsafeRawBufferPointer) -> Void
    ) {
        withUnsafeTemporaryAllocation(byteCount: Self.headerLimit, alignment: 8) { space in
            var header = HeaderSpace(space)
            let length = (segment.isSyn ? 28 : 20) + payload.count
            var sum = network(
                6, length: length, from: source, to: destination, byDevice: byDevice, into: &header)
            let start = header.count
            header.append(source.port)
            header.append(destination.port)
            header.append(segment.sequence)
            header.append(segment.acknowledgement ?? 0)
            var flags: UInt16 = segment.isSyn ? 0x7000 : 0x5000  // the header's length in words of 32 bits
            if segment.isFin { flags |= 0x01 }
            if segment.isSyn { flags |= 0x02 }
            if segment.isReset { flags |= 0x04 }
            if segment.isPush { flags |= 0x08 }
            if segment.acknowledgement != nil { flags |= 0x10 }
            header.append(flags)
            header.append(segment.isReset ? 0 : UInt16.max)  // the window
            header.append(0 as UInt32)  // checksum, filled in below, and urgent pointer
            if segment.isSyn { header.append(Self.synOptions) }
            sum.add(header.bytes(from: start))
            sum.add(payload)
            header.set(sum.value, at: start + 16)
            use(header.bytes(from: 0))
        }
    }

    /// Makes the headers of a frame with a UDP datagram and gives them to `use`.
    mutating func udp(
        payload: UnsafeRawBufferPointer, from source: Endpoint, to destination: Endpoint, byDevice: Bool,
        _ use: (UnsafeRawBufferPointer) -> Void
    ) {
        withUnsafeTemporaryAllocation(byteCount: Self.headerLimit, alignment: 8) { space in
            var header = HeaderSpace(space)
            let length = 8 + payload.count
            var sum = network(
                17, length: length, from: source, to: destination, byDevice: byDevice, into: &header)
            let start = header.count
            header.append(source.port)
            header.append(destination.port)
            header.append(UInt16(clamping: length))
            header.append(0 as UInt16)
            sum.add(header.bytes(from: start))
            sum.add(payload)
            // A UDP checksum of 0 means none; its other form is written then (RFC 768).
            header.set(sum.value == 0 ? 0xFFFF : sum.value, at: start + 6)
            use(header.bytes(from: 0))
        }
    }

    /// Writes the Ethernet and IP headers; gives the sum of the pseudo header (RFC 9293 §3.1, RFC 8200 §8.1).
    private mutating func network(
        _ protocolNumber: UInt8, length: Int, from source: Endpoint, to destination: Endpoint, byDevice: Bool,
        into header: inout HeaderSpace
    ) -> ChecksumSum {
        let isIPv4 = source.address.isIPv4 && destination.address.isIPv4
        header.append(Self.hardwareAddressStart)
        header.append(byDevice ? Self.peerAddressEnd : Self.deviceAddressEnd)
        header.append(Self.hardwareAddressStart)
        header.append(byDevice ? Self.deviceAddressEnd : Self.peerAddressEnd)
        header.append(isIPv4 ? 0x0800 : 0x86DD as UInt16)
        let start = header.count
        let addresses: Int
        if isIPv4 {
            header.append(0x4500 as UInt16)
            header.append(UInt16(clamping: 20 + length))
            header.append(identification)
            header.append(0x4000 as UInt16)  // don't fragment
            header.append(UInt16(Self.timeToLive) << 8 | UInt16(protocolNumber))
            header.append(0 as UInt16)  // checksum, filled in below
            addresses = header.count
            header.append(UInt32(truncatingIfNeeded: source.address.low))
            header.append(UInt32(truncatingIfNeeded: destination.address.low))
            var sum = ChecksumSum()
            sum.add(header.bytes(from: start))
            header.set(sum.value, at: start + 10)
            identification &+= 1
        } else {
            header.append(0x6000_0000 as UInt32)
            header.append(UInt16(clamping: length))
            header.append(UInt16(protocolNumber) << 8 | UInt16(Self.timeToLive))
            addresses = header.count
            header.append(ipv6: source.address)
            header.append(ipv6: destination.address)
        }
        var sum = ChecksumSum()
        sum.add(header.bytes(from: addresses))
        sum.add(number: UInt32(protocolNumber))
        sum.add(number: UInt32(truncatingIfNeeded: length))
        return sum
    }
}

/// Space on the stack that header fields are appended to, in network byte order.
private struct HeaderSpace {
    private let space: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    init(_ space: UnsafeMutableRawBufferPointer) {
        self.space = space
    }

    mutating func append<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value) {
        space.storeBytes(of: value.bigEndian, toByteOffset: count, as: Value.self)
        count += MemoryLayout<Value>.size
    }

    /// An IPv6 address; IPv4 in its IPv6-mapped form (RFC 4291 §2.5.5.2) where only the other end is IPv6.
    mutating func append(ipv6 address: IPAddress) {
        append(address.high)
        append(address.isIPv4 ? 0xFFFF_0000_0000 | address.low : address.low)
    }

    /// Writes over the 16 bits at `index`.
    func set(_ value: UInt16, at index: Int) {
        space.storeBytes(of: value.bigEndian, toByteOffset: index, as: UInt16.self)
    }

    /// What has been appended since `start`.
    func bytes(from start: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: space[start..<count])
    }
}
