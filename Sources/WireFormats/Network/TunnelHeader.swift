/// Tunnels that carry IP packets or Ethernet frames inside IP: GRE with all it may hold (IP, MPLS, PPP, Ethernet,
/// ERSPAN), and VXLAN. Enters: an IP or UDP payload; leaves: the inner packet.
public enum TunnelHeader {
    /// The UDP port of VXLAN, RFC 7348.
    public static let vxlanPort: UInt16 = 4789

    /// GRE: RFC 2784 and RFC 2890 (version 0), RFC 2637 (version 1, PPP).
    public static func grePayload(of bytes: UnsafeRawBufferPointer) -> LinkPayload {
        guard bytes.count >= 4 else { return .cutShort }
        let flags = bytes.field16(0)
        let type = bytes.field16(2)
        let version = flags & 7
        let hasSequence = flags & 0x1000 != 0
        var length = 4
        if flags & 0xC000 != 0 { length += 4 }  // checksum and offset
        if flags & 0x2000 != 0 { length += 4 }  // key
        if hasSequence { length += 4 }
        if version == 1, flags & 0x0080 != 0 { length += 4 }  // acknowledgement
        // Source routes (RFC 1701) are not followed.
        guard version <= 1, flags & 0x4000 == 0 else { return .notIP }
        guard bytes.count > length else { return bytes.count == length ? .notIP : .cutShort }
        let rest = bytes.after(length)
        switch type {
        case EtherType.erspan:
            // Type I has no header of its own (and no sequence number), type II has eight bytes with version 1.
            guard hasSequence else { return EthernetFrame.payload(of: rest) }
            guard rest.count >= 8 else { return .cutShort }
            return rest[0] >> 4 == 2 ? erspanIIIPayload(of: rest) : EthernetFrame.payload(of: rest.after(8))
        case EtherType.erspanIII:
            return erspanIIIPayload(of: rest)
        default:
            return EtherType.payload(of: rest, type: type)
        }
    }

    /// ERSPAN type III: twelve bytes, whose last bit announces eight more (draft-foschiano-erspan).
    private static func erspanIIIPayload(of bytes: UnsafeRawBufferPointer) -> LinkPayload {
        guard bytes.count >= 12 else { return .cutShort }
        // Frame type (bits 10 to 14 of the last half-word): 0 is Ethernet, 2 a bare IP packet.
        let last = bytes.field16(10)
        let rest = bytes.after(last & 1 == 1 ? 20 : 12)
        guard !rest.isEmpty else { return .cutShort }
        return last >> 10 & 0x1F == 2 ? .ip(rest) : EthernetFrame.payload(of: rest)
    }

    /// VXLAN, RFC 7348 §5: eight bytes whose "I" flag must be set, then an Ethernet frame. Nil when it is none.
    public static func vxlanPayload(of bytes: UnsafeRawBufferPointer) -> LinkPayload? {
        guard bytes.count >= 8, bytes[0] & 0x08 != 0, bytes[7] == 0 else { return nil }
        return EthernetFrame.payload(of: bytes.after(8))
    }
}
