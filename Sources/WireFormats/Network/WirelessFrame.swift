/// IEEE 802.11 data frames, bare or after a radio header. Enters: a frame; leaves: the IP packet in its LLC/SNAP body.
public enum WirelessFrame {
    /// After a radiotap header (https://www.radiotap.org).
    static func radiotapPayload(of frame: UnsafeRawBufferPointer) -> LinkPayload {
        guard frame.count >= 8 else { return .cutShort }
        guard frame[0] == 0 else { return .notIP }
        let length = Int(frame.littleField16(2))
        guard length >= 8, frame.count > length else { return .cutShort }
        // The presence words go on while bit 31 is set; the fields follow, each aligned to its own size.
        var words = 1
        while frame.littleField32(4 * words) >> 31 == 1 {
            words += 1
            guard 4 * words + 4 <= length else { return .notIP }
        }
        let present = frame.littleField32(4)
        var offset = 4 + 4 * words
        if present & 1 == 1 { offset = (offset + 7) / 8 * 8 + 8 }  // TSFT
        let flags = present & 2 == 2 && offset < length ? frame[offset] : 0
        return payload(of: frame.after(length), isPadded: flags & 0x20 != 0)
    }

    /// After a Prism header (its length is the second word) or an AVS header (its length is the second word, big-endian).
    static func prismOrAVSPayload(of frame: UnsafeRawBufferPointer) -> LinkPayload {
        guard frame.count >= 8 else { return .cutShort }
        let isAVS = frame.field32(0) & 0xFFFF_F000 == 0x8021_1000
        let little = Int(frame.littleField32(4))
        let length = isAVS || little > 4096 ? Int(frame.field32(4)) : little
        guard length >= 8, frame.count > length else { return .cutShort }
        return payload(of: frame.after(length), isPadded: false)
    }

    /// A frame without radio header. `isPadded`: the header is padded to a multiple of four bytes (Atheros).
    static func payload(of frame: UnsafeRawBufferPointer, isPadded: Bool) -> LinkPayload {
        guard frame.count >= 2 else { return .cutShort }
        let isData = frame[0] & 0x0C == 0x08
        let hasNoBody = frame[0] & 0x40 != 0
        guard isData, !hasNoBody else { return .notIP }
        let flags = frame[1]
        let hasQoS = frame[0] & 0x80 != 0
        var headerLength = 24
        if flags & 0x03 == 0x03 { headerLength += 6 }  // a fourth address between two access points
        let qosOffset = headerLength
        if hasQoS {
            headerLength += 2
            if flags & 0x80 != 0 { headerLength += 4 }  // HT control
        }
        if isPadded { headerLength = (headerLength + 3) / 4 * 4 }
        guard frame.count > headerLength else { return .cutShort }
        let body = frame.after(headerLength)
        if flags & 0x40 != 0 {
            // Protected; some cards decrypt and leave the bit, so a body that starts with a SNAP header is believed.
            guard body.count >= 8, body[0] == 0xAA, body[1] == 0xAA, body[2] == 0x03 else { return .encrypted }
        }
        if hasQoS, frame[qosOffset] & 0x80 != 0 { return .aggregate(body) }
        return LogicalLinkControl.payload(of: body, budget: EtherType.maximumTags)
    }

    /// Takes the next subframe off an A-MSDU: two addresses, a length, an LLC body, padding to four bytes.
    /// Nil at the end, or where the rest is no subframe.
    public static func nextSubframe(_ rest: inout UnsafeRawBufferPointer) -> LinkPayload? {
        guard rest.count >= 14 else { return nil }
        let length = Int(rest.field16(12))
        guard length > 0 else { return nil }
        let body = rest.after(14).first(length)
        rest = rest.after((14 + length + 3) / 4 * 4)
        return LogicalLinkControl.payload(of: body, budget: EtherType.maximumTags)
    }
}
