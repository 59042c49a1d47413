/// PPP (RFC 1661, RFC 1662) and the framings that share its link types. Enters: a frame; leaves: its IP packet.
enum PPPFrame {
    /// A PPP frame with or without the HDLC address and control bytes, and with a protocol field of one or two bytes.
    static func payload(of frame: UnsafeRawBufferPointer) -> LinkPayload {
        var rest = frame
        if rest.count >= 2, rest[0] == 0xFF, rest[1] == 0x03 { rest = rest.after(2) }
        guard let first = rest.first else { return .cutShort }
        // RFC 1661 §6.5: a protocol number is odd in its last byte only, so an odd first byte is the whole field.
        if first & 1 == 1 { return payload(of: rest.after(1), protocolNumber: UInt16(first)) }
        guard rest.count >= 2 else { return .cutShort }
        return payload(of: rest.after(2), protocolNumber: rest.field16(0))
    }

    /// PPP in HDLC-like framing, or Cisco HDLC (address 0x0F or 0x8F), whose type is an EtherType.
    static func hdlcPayload(of frame: UnsafeRawBufferPointer) -> LinkPayload {
        guard frame.count >= 4 else { return .cutShort }
        if frame[0] == 0x0F || frame[0] == 0x8F {
            return EtherType.payload(of: frame.after(4), type: frame.field16(2))
        }
        return payload(of: frame)
    }

    private static func payload(of rest: UnsafeRawBufferPointer, protocolNumber: UInt16) -> LinkPayload {
        switch protocolNumber {
        case 0x0021, 0x0057: rest.isEmpty ? .cutShort : .ip(rest)
        case 0x0281: EtherType.payload(of: rest, type: EtherType.mpls)
        case 0x0283: EtherType.payload(of: rest, type: EtherType.mplsMulticast)
        default: .notIP
        }
    }
}
