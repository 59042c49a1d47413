import SessionTrace

/// Builds Ethernet frames with IPv4 or IPv6 and TCP or UDP in them, with right lengths and checksums.
///
/// RFC 791, RFC 8200, RFC 9293, RFC 768, RFC 1071. Times, numbers and payload are the caller's.
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

    /// Locally administered MAC addresses: …:01 is the device, …:02 whoever it talks to.
    private static let deviceAddress: [UInt8] = [0x02, 0, 0, 0, 0, 0x01]
    private static let peerAddress: [UInt8] = [0x02, 0, 0, 0, 0, 0x02]
    /// On a SYN: largest segment 60,000 bytes; window counts in units of 2^14.
    private static let synOptions: [UInt8] = [2, 4, 0xEA, 0x60, 1, 3, 3, 14]
    private static let timeToLive: UInt8 = 64

    /// IPv4's identification, counted on over all frames.
    private var identification: UInt16 = 0

    /// A frame with a TCP segment.
    mutating func tcp(
        _ segment: Segment, payload: UnsafeRawBufferPointer, from source: Endpoint, to destination: Endpoint,
        byDevice: Bool
    ) -> [UInt8] {
        var header: [UInt8] = []
        header.append(bigEndian: source.port)
        header.append(bigEndian: destination.port)
        header.append(bigEndian: segment.sequence)
        header.append(bigEndian: segment.acknowledgement ?? 0)
        let options = segment.isSyn ? Self.synOptions : []
        header.append(UInt8((20 + options.count) / 4) << 4)
        var flags: UInt8 = 0
        if segment.isFin { flags |= 0x01 }
        if segment.isSyn { flags |= 0x02 }
        if segment.isReset { flags |= 0x04 }
        if segment.isPush { flags |= 0x08 }
        if segment.acknowledgement != nil { flags |= 0x10 }
        header.append(flags)
        header.append(bigEndian: segment.isReset ? 0 : UInt16.max)  // the window
        header.append(bigEndian: 0 as UInt16)  // checksum, filled in later
        header.append(bigEndian: 0 as UInt16)
        header += options
        return frame(
            6, header: header, checksumAt: 16, payload: payload, from: source, to: destination, byDevice: byDevice)
    }

    /// A frame with a UDP datagram.
    mutating func udp(
        payload: UnsafeRawBufferPointer, from source: Endpoint, to destination: Endpoint, byDevice: Bool
    ) -> [UInt8] {
        var header: [UInt8] = []
        header.append(bigEndian: source.port)
        header.append(bigEndian: destination.port)
        header.append(bigEndian: UInt16(clamping: 8 + payload.count))
        header.append(bigEndian: 0 as UInt16)
        return frame(
            17, header: header, checksumAt: 6, payload: payload, from: source, to: destination, byDevice: byDevice)
    }

    private mutating func frame(
        _ protocolNumber: UInt8, header: [UInt8], checksumAt: Int, payload: UnsafeRawBufferPointer,
        from source: Endpoint, to destination: Endpoint, byDevice: Bool
    ) -> [UInt8] {
        let isIPv4 = source.address.isIPv4 && destination.address.isIPv4
        let sourceBytes = Self.bytes(source.address, asIPv4: isIPv4)
        let destinationBytes = Self.bytes(destination.address, asIPv4: isIPv4)
        let length = header.count + payload.count

        var frame: [UInt8] = []
        frame.reserveCapacity(14 + 40 + length)
        frame += byDevice ? Self.peerAddress : Self.deviceAddress
        frame += byDevice ? Self.deviceAddress : Self.peerAddress
        if isIPv4 {
            frame.append(bigEndian: 0x0800 as UInt16)
            let start = frame.count
            frame += [0x45, 0]
            frame.append(bigEndian: UInt16(clamping: 20 + length))
            frame.append(bigEndian: identification)
            frame.append(bigEndian: 0x4000 as UInt16)  // don't fragment
            frame += [Self.timeToLive, protocolNumber, 0, 0]
            frame += sourceBytes + destinationBytes
            var sum = ChecksumSum()
            sum.add(frame[start...])
            frame.set(sum.value, at: start + 10)
            identification &+= 1
        } else {
            frame.append(bigEndian: 0x86DD as UInt16)
            frame += [0x60, 0, 0, 0]
            frame.append(bigEndian: UInt16(clamping: length))
            frame += [protocolNumber, Self.timeToLive]
            frame += sourceBytes + destinationBytes
        }
        let start = frame.count
        frame += header
        frame += payload

        var sum = ChecksumSum()
        sum.add(sourceBytes[...])
        sum.add(destinationBytes[...])
        sum.add(number: UInt32(protocolNumber))
        sum.add(number: UInt32(truncatingIfNeeded: length))
        sum.add(frame[start...])
        // A UDP checksum of 0 means none; its other form is written then (RFC 768).
        frame.set(sum.value == 0 && protocolNumber == 17 ? 0xFFFF : sum.value, at: start + checksumAt)
        return frame
    }

    /// The bytes of an address; IPv4 in its IPv6-mapped form (RFC 4291 §2.5.5.2) where the other end is IPv6.
    private static func bytes(_ address: IPAddress, asIPv4: Bool) -> [UInt8] {
        var bytes: [UInt8] = []
        if asIPv4 {
            bytes.append(bigEndian: UInt32(truncatingIfNeeded: address.low))
        } else {
            bytes.append(bigEndian: address.high)
            bytes.append(bigEndian: address.isIPv4 ? 0xFFFF_0000_0000 | address.low : address.low)
        }
        return bytes
    }
}

/// The Internet checksum (RFC 1071) over pieces of even length, the last of any length.
struct ChecksumSum {
    private var sum: UInt64 = 0

    mutating func add(_ bytes: ArraySlice<UInt8>) {
        bytes.withUnsafeBytes { raw in
            var index = 0
            // A sum of 64 bits takes 2^48 words of 16 bits before it could overflow.
            while index + 1 < raw.count {
                sum &+= UInt64(raw.loadUnaligned(fromByteOffset: index, as: UInt16.self).bigEndian)
                index += 2
            }
            if index < raw.count { sum &+= UInt64(raw[index]) << 8 }
        }
    }

    mutating func add(number: UInt32) {
        sum &+= UInt64(number >> 16) &+ UInt64(number & 0xFFFF)
    }

    /// The complement of the sum so far, as it is written into a header.
    var value: UInt16 {
        var folded = sum
        while folded >> 16 != 0 { folded = (folded & 0xFFFF) &+ (folded >> 16) }
        return ~UInt16(truncatingIfNeeded: folded)
    }
}

extension Array where Element == UInt8 {
    /// Appends an integer in network byte order.
    mutating func append<Value: FixedWidthInteger>(bigEndian value: Value) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }

    /// Writes 16 bits in network byte order over those at `index`.
    fileprivate mutating func set(_ value: UInt16, at index: Int) {
        self[index] = UInt8(truncatingIfNeeded: value >> 8)
        self[index + 1] = UInt8(truncatingIfNeeded: value)
    }
}
