import SessionTrace

/// The classic pcap format (draft-ietf-opsawg-pcap): one header, then packets with 16-byte headers (24 in the `modified`
/// format), all in the byte order of the magic number.
struct ClassicCapture {
    private enum State {
        case header, packets
    }

    private static let headerLength = 24
    /// Most captured bytes of a packet in a file whose header names a smaller snapshot length: what tools agreed on.
    private static let agreedPacketLength = 262_144

    private var state = State.header
    private var isSwapped = false
    private var packetHeaderLength = 16
    private var nanosecondsPerUnit: Int64 = 1_000
    private var lengthOrder = LengthOrder.capturedFirst
    private var maximumPacketLength = 0
    private var linkType = LinkType.ethernet
    private var resolution = TimestampResolution.microseconds

    /// Old versions wrote the two lengths the other way round (2.0 to 2.2), or some writers of them did (2.3).
    private enum LengthOrder {
        case capturedFirst, originalFirst, smallerIsCaptured
    }

    /// Takes the format from the magic number as it lies in the file, read in the host's order; false if it is none.
    mutating func recognise(magic: UInt32) -> Bool {
        for swapped in [false, true] {
            switch swapped ? magic.byteSwapped : magic {
            case 0xA1B2_C3D4: break
            case 0xA1B2_3C4D:
                nanosecondsPerUnit = 1
                resolution = .nanoseconds
            case 0xA1B2_CD34: packetHeaderLength = 24
            default: continue
            }
            isSwapped = swapped
            return true
        }
        return false
    }

    mutating func step(
        _ window: UnsafeRawBufferPointer, isFinal: Bool, progress: inout CaptureProgress
    ) -> CaptureParser.Step {
        switch state {
        case .header: return header(window, isFinal: isFinal, progress: &progress)
        case .packets: return packet(window, isFinal: isFinal, progress: &progress)
        }
    }

    private mutating func header(
        _ window: UnsafeRawBufferPointer, isFinal: Bool, progress: inout CaptureProgress
    ) -> CaptureParser.Step {
        guard window.count >= Self.headerLength else {
            if !isFinal { return .needsMore(atLeast: Self.headerLength) }
            progress.cut(inside: "the file header", present: window.count, needed: Self.headerLength)
            return .end
        }
        state = .packets
        let major = window.loadInteger(UInt16.self, at: 4, swapped: isSwapped)
        let minor = window.loadInteger(UInt16.self, at: 6, swapped: isSwapped)
        if major != 2 { progress.note(at: 4, "version \(major).\(minor); read as 2.4") }
        if major == 2, minor < 3 { lengthOrder = .originalFirst }
        if major == 2, minor == 3 { lengthOrder = .smallerIsCaptured }
        let snapLength = window.loadInteger(UInt32.self, at: 16, swapped: isSwapped)
        let network = window.loadInteger(UInt32.self, at: 20, swapped: isSwapped)
        linkType = LinkType(rawValue: network & 0xFFFF)
        maximumPacketLength = min(
            max(Int(clamping: snapLength), Self.agreedPacketLength), progress.limits.block - packetHeaderLength)
        // Bit 26 says that the top four bits count 16-bit units of checksum at the end of each packet.
        let checksum = network & 0x0400_0000 != 0 ? Int(network >> 28) * 2 : nil
        progress.interfaces = 1
        let interface = CaptureInterface(
            index: 0, linkType: linkType, snapLength: Int(clamping: snapLength), resolution: resolution,
            frameCheckSequenceLength: checksum)
        return .record(.interface(interface), length: Self.headerLength)
    }

    private mutating func packet(
        _ window: UnsafeRawBufferPointer, isFinal: Bool, progress: inout CaptureProgress
    ) -> CaptureParser.Step {
        guard window.count >= packetHeaderLength else {
            if !isFinal { return .needsMore(atLeast: packetHeaderLength) }
            if window.isEmpty { return .end }
            progress.cut(inside: "a packet header", present: window.count, needed: packetHeaderLength)
            return .end
        }
        let seconds = window.loadInteger(UInt32.self, at: 0, swapped: isSwapped)
        let fraction = window.loadInteger(UInt32.self, at: 4, swapped: isSwapped)
        var captured = Int(window.loadInteger(UInt32.self, at: 8, swapped: isSwapped))
        var original = Int(window.loadInteger(UInt32.self, at: 12, swapped: isSwapped))
        switch lengthOrder {
        case .capturedFirst: break
        case .originalFirst: swap(&captured, &original)
        case .smallerIsCaptured: if captured > original { swap(&captured, &original) }
        }
        guard captured <= maximumPacketLength else {
            progress.damage(
                at: progress.offset,
                "a packet claims \(captured) captured bytes, more than \(maximumPacketLength); nothing after it can be read"
            )
            return .end
        }
        let length = packetHeaderLength + captured
        guard window.count >= length else {
            if !isFinal { return .needsMore(atLeast: length) }
            progress.cut(inside: "packet \(progress.packets + 1)", present: window.count, needed: length)
            return .end
        }
        progress.packets += 1
        // No overflow: both factors are below 2^32 and the product with 10^9 below 2^62; the sum stays below 2^63.
        let time = Instant(
            nanoseconds: Int64(seconds) &* 1_000_000_000 &+ Int64(fraction) &* nanosecondsPerUnit)
        progress.lastTime = time
        let packet = CapturedPacket(
            reference: PacketReference(number: progress.packets, time: time), linkType: linkType,
            originalLength: max(original, captured),
            bytes: UnsafeRawBufferPointer(rebasing: window[packetHeaderLength..<length]))
        return .record(.packet(packet), length: length)
    }
}

extension UnsafeRawBufferPointer {
    /// The integer at `offset` in the host's byte order, or in the other one. The caller has checked the bounds.
    @inline(__always)
    func loadInteger<Value: FixedWidthInteger & BitwiseCopyable>(
        _ type: Value.Type, at offset: Int, swapped: Bool
    ) -> Value {
        let value = loadUnaligned(fromByteOffset: offset, as: type)
        return swapped ? value.byteSwapped : value
    }
}
