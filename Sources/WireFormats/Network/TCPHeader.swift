/// A TCP segment's header and payload. Enters: an IP payload; leaves: this value. RFC 9293 §3.1.
public struct TCPHeader {
    /// Control bits.
    public struct Flags: OptionSet, Hashable, Sendable {
        public let rawValue: UInt8

        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        public static let fin = Flags(rawValue: 0x01)
        public static let syn = Flags(rawValue: 0x02)
        public static let rst = Flags(rawValue: 0x04)
        public static let psh = Flags(rawValue: 0x08)
        public static let ack = Flags(rawValue: 0x10)
        public static let urg = Flags(rawValue: 0x20)
    }

    /// The sender's port.
    public var sourcePort: UInt16
    /// The receiver's port.
    public var destinationPort: UInt16
    /// Sequence number of the first payload byte, or of the SYN.
    public var sequence: UInt32
    /// The next byte that the sender waits for; meaningful with `.ack` only.
    public var acknowledgement: UInt32
    /// Control bits.
    public var flags: Flags
    /// The window field, not scaled.
    public var window: UInt16
    /// The options as bytes, as far as captured.
    public var options: UnsafeRawBufferPointer
    /// The payload as far as captured.
    public var payload: UnsafeRawBufferPointer
    /// The payload's length in bytes on the wire.
    public var payloadLength: Int

    /// Reads a segment from `bytes`, the captured part of an IP payload of `length` bytes. Nil when the header's fixed
    /// part was not captured, or its length is impossible.
    public static func read(_ bytes: UnsafeRawBufferPointer, length: Int) -> TCPHeader? {
        guard bytes.count >= 20 else { return nil }
        let headerLength = Int(bytes[12] >> 4) * 4
        guard headerLength >= 20, headerLength <= length else { return nil }
        return TCPHeader(
            sourcePort: bytes.field16(0), destinationPort: bytes.field16(2), sequence: bytes.field32(4),
            acknowledgement: bytes.field32(8), flags: Flags(rawValue: bytes[13] & 0x3F), window: bytes.field16(14),
            options: bytes.first(headerLength).after(20), payload: bytes.after(headerLength),
            payloadLength: length - headerLength)
    }
}

/// A UDP datagram's header and payload. Enters: an IP payload; leaves: this value. RFC 768.
public struct UDPHeader {
    /// The sender's port.
    public var sourcePort: UInt16
    /// The receiver's port.
    public var destinationPort: UInt16
    /// The payload as far as captured.
    public var payload: UnsafeRawBufferPointer
    /// The payload's length in bytes on the wire.
    public var payloadLength: Int

    /// Reads a datagram from `bytes`, the captured part of an IP payload of `length` bytes. Nil when the header was not
    /// captured. A length field of 0 (jumbograms, offload) or beyond the IP payload means all of the IP payload.
    public static func read(_ bytes: UnsafeRawBufferPointer, length: Int) -> UDPHeader? {
        guard bytes.count >= 8, length >= 8 else { return nil }
        let declared = Int(bytes.field16(4))
        guard declared == 0 || declared >= 8 else { return nil }
        let total = declared == 0 ? length : min(declared, length)
        return UDPHeader(
            sourcePort: bytes.field16(0), destinationPort: bytes.field16(2),
            payload: bytes.after(8).first(total - 8), payloadLength: total - 8)
    }
}
