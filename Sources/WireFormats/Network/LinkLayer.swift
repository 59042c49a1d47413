/// Link layers by LINKTYPE_ number (https://www.tcpdump.org/linktypes.html). Enters: a captured frame; leaves: where its
/// IP packet starts, and which process it names.
public struct LinkLayer {
    /// What the frame carries.
    public var payload: LinkPayload
    /// The process that the capturing system named in the frame.
    public var process: ProcessRecord

    init(_ payload: LinkPayload, process: ProcessRecord = .none) {
        self.payload = payload
        self.process = process
    }

    /// Link headers inside link headers (PKTAP in PKTAP) that are followed.
    private static let maximumNesting = 4

    /// Reads the link headers of `frame`.
    ///
    /// - Parameters:
    ///   - linkType: the LINKTYPE_ number that the capture file gives.
    ///   - wireLength: the frame's length on the wire in bytes; a trailer is only looked for in whole frames.
    public static func read(
        _ frame: UnsafeRawBufferPointer, linkType: UInt32, wireLength: Int
    ) -> LinkLayer {
        read(frame, linkType: linkType, wireLength: wireLength, nesting: maximumNesting)
    }

    private static func read(
        _ frame: UnsafeRawBufferPointer, linkType: UInt32, wireLength: Int, nesting: Int
    ) -> LinkLayer {
        guard nesting > 0 else { return LinkLayer(.notIP) }
        switch linkType {
        case 1:
            // PCAPdroid pads Ethernet header and IP packet together, so its trailer is found from the frame's end.
            let trailer = frame.count == wireLength ? PCAPdroidTrailer.find(in: frame) : nil
            let process = trailer.map(ProcessRecord.pcapdroid) ?? .none
            if EthernetFrame.isBareIP(frame, wireLength: wireLength) { return LinkLayer(.ip(frame), process: process) }
            return LinkLayer(EthernetFrame.payload(of: frame), process: process)
        case 12, 14, 101, 228, 229:
            let trailer = frame.count == wireLength ? PCAPdroidTrailer.find(in: frame) : nil
            return LinkLayer(bareIP(frame), process: trailer.map(ProcessRecord.pcapdroid) ?? .none)
        case 0, 108:
            return LinkLayer(addressFamilyPayload(of: frame))
        case 9, 166:
            // 166 puts a direction byte (0 in, 1 out) where the address byte would be.
            guard linkType == 166, frame.count >= 2, frame[0] <= 1, frame[1] == 0x03 else {
                return LinkLayer(PPPFrame.payload(of: frame))
            }
            return LinkLayer(PPPFrame.payload(of: frame.after(2)))
        case 50:
            return LinkLayer(PPPFrame.hdlcPayload(of: frame))
        case 51:
            return LinkLayer(EtherType.payload(of: frame, type: EtherType.pppoeSession))
        case 104:
            return LinkLayer(PPPFrame.hdlcPayload(of: frame))
        case 204:
            return LinkLayer(PPPFrame.payload(of: frame.after(1)))
        case 105:
            return LinkLayer(WirelessFrame.payload(of: frame, isPadded: false))
        case 119, 163:
            return LinkLayer(WirelessFrame.prismOrAVSPayload(of: frame))
        case 127:
            return LinkLayer(WirelessFrame.radiotapPayload(of: frame))
        case 113:
            guard frame.count >= 16 else { return LinkLayer(.cutShort) }
            return LinkLayer(cookedPayload(of: frame.after(16), type: frame.field16(14)))
        case 276:
            guard frame.count >= 20 else { return LinkLayer(.cutShort) }
            return LinkLayer(cookedPayload(of: frame.after(20), type: frame.field16(0)))
        case 239:
            return LinkLayer(netfilterLogPayload(of: frame))
        case 149, 258:
            guard let header = PacketTapHeader.read(frame) else {
                return LinkLayer(linkType == 149 ? .unsupported : .cutShort)
            }
            let inner = read(
                frame.after(header.length), linkType: number(ofDLT: header.dataLinkType),
                wireLength: wireLength - header.length, nesting: nesting - 1)
            return LinkLayer(
                inner.payload, process: .pktap(frame.first(header.length), isLittleEndian: header.isLittleEndian))
        default:
            return LinkLayer(.unsupported)
        }
    }

    /// DLT_ numbers of the system that wrote a PKTAP header equal LINKTYPE_ numbers, but for raw IP.
    private static func number(ofDLT number: UInt32) -> UInt32 {
        number == 12 || number == 14 ? 101 : number
    }

    private static func bareIP(_ frame: UnsafeRawBufferPointer) -> LinkPayload {
        guard let first = frame.first else { return .cutShort }
        return first >> 4 == 4 || first >> 4 == 6 ? .ip(frame) : .notIP
    }

    /// BSD loopback: an address family of four bytes in either byte order (of the host that captured, or network order).
    private static func addressFamilyPayload(of frame: UnsafeRawBufferPointer) -> LinkPayload {
        guard frame.count >= 5 else { return .cutShort }
        switch frame.field16(0) {
        // Some systems label PPP and Cisco HDLC so (as they come out of ISDN and serial drivers).
        case 0xFF03, 0x0F00, 0x8F00: return PPPFrame.hdlcPayload(of: frame)
        default: break
        }
        let little = frame.littleField32(0)
        let family = little <= 0xFFFF ? little : frame.field32(0)
        switch family {
        // AF_INET; AF_INET6 of Linux, Windows, NetBSD and OpenBSD, FreeBSD, macOS.
        case 2, 10, 23, 24, 28, 30: return bareIP(frame.after(4))
        default: return .notIP
        }
    }

    /// Linux cooked captures put an EtherType, or 1 and 4 for 802.3 and 802.2 frames, after their header.
    private static func cookedPayload(of rest: UnsafeRawBufferPointer, type: UInt16) -> LinkPayload {
        switch type {
        case 4: LogicalLinkControl.payload(of: rest, budget: EtherType.maximumTags)
        case 0...1500: .notIP
        default: EtherType.payload(of: rest, type: type)
        }
    }

    /// NFLOG: family, version, resource id, then type-length-value attributes in the capturing host's byte order, each
    /// padded to four bytes; attribute 9 is the packet.
    private static func netfilterLogPayload(of frame: UnsafeRawBufferPointer) -> LinkPayload {
        guard frame.count >= 8 else { return .cutShort }
        var rest = frame.after(4)
        while rest.count >= 4 {
            let little = Int(rest.littleField16(0))
            let isLittleEndian = little >= 4 && little <= rest.count && rest.littleField16(2) <= 0xFF
            let length = isLittleEndian ? little : Int(rest.field16(0))
            let kind = (isLittleEndian ? rest.littleField16(2) : rest.field16(2)) & 0x7FFF
            guard length >= 4 else { return .cutShort }
            if kind == 9 { return bareIP(rest.first(length).after(4)) }
            rest = rest.after((length + 3) / 4 * 4)
        }
        return .cutShort
    }
}
