/// What a frame or tunnel carries, once its link headers are taken off. Pointers lead into the frame.
public enum LinkPayload {
    /// An IPv4 or IPv6 packet (the first nibble says which) and whatever padding follows it.
    case ip(UnsafeRawBufferPointer)
    /// 802.11 A-MSDU: several frames in one; `WirelessFrame.nextSubframe` takes them apart.
    case aggregate(UnsafeRawBufferPointer)
    /// A protocol other than IP (ARP, LLDP, a link's own control packets): nothing to read here.
    case notIP
    /// 802.11 data that is encrypted on the air.
    case encrypted
    /// A link type that is not read.
    case unsupported
    /// The captured bytes end inside the link headers.
    case cutShort
}

/// EtherType numbers, and the walk over the headers that may stand between an EtherType and an IP packet:
/// 802.1Q and QinQ tags, MPLS label stacks, PPPoE sessions. Enters: a type and the bytes after it; leaves: the IP packet.
public enum EtherType {
    static let ipv4: UInt16 = 0x0800
    static let ipv6: UInt16 = 0x86DD
    static let vlan: UInt16 = 0x8100
    static let providerBridging: UInt16 = 0x88A8
    static let oldQinQ: UInt16 = 0x9100
    /// MPLS, unicast: a label stack.
    public static let mpls: UInt16 = 0x8847
    static let mplsMulticast: UInt16 = 0x8848
    static let pppoeSession: UInt16 = 0x8864
    static let ppp: UInt16 = 0x880B
    /// Ethernet inside GRE.
    static let transparentEthernet: UInt16 = 0x6558
    static let erspan: UInt16 = 0x88BE
    static let erspanIII: UInt16 = 0x22EB

    /// Most tags and labels taken off one frame; real frames have at most a handful.
    public static let maximumTags = 32

    /// Whether the walk knows the type (a 802.3 length counts as known).
    static func isKnown(_ type: UInt16) -> Bool {
        switch type {
        case 0...1500, ipv4, ipv6, vlan, providerBridging, oldQinQ, mpls, mplsMulticast, pppoeSession: true
        case 0x0806, 0x8035, 0x8863, 0x888E, 0x88CC, 0x88E5, 0x88F7, 0x8809, 0x8899, 0x893A: true
        default: false
        }
    }

    /// Follows `type` through tags down to an IP packet.
    public static func payload(
        of bytes: UnsafeRawBufferPointer, type: UInt16, budget: Int = maximumTags
    ) -> LinkPayload {
        var type = type
        var rest = bytes
        var budget = budget
        while budget > 0 {
            budget -= 1
            switch type {
            case ipv4, ipv6:
                return rest.isEmpty ? .cutShort : .ip(rest)
            case vlan, providerBridging, oldQinQ:
                guard rest.count >= 4 else { return .cutShort }
                type = rest.field16(2)
                rest = rest.after(4)
            case mpls, mplsMulticast:
                return mplsPayload(rest, budget: budget)
            case pppoeSession:
                // RFC 2516 §4: version and type, code 0, session id, length; then a PPP protocol field.
                guard rest.count >= 8 else { return .cutShort }
                guard rest[1] == 0 else { return .notIP }
                return PPPFrame.payload(of: rest.after(6).first(Int(rest.field16(4))))
            case ppp:
                return PPPFrame.payload(of: rest)
            case transparentEthernet:
                return EthernetFrame.payload(of: rest, budget: budget)
            case 0...1500:
                return LogicalLinkControl.payload(of: rest, budget: budget)
            default:
                return .notIP
            }
        }
        return .notIP
    }

    /// RFC 3032 §2.1: labels of four bytes down to the one with the bottom-of-stack bit. What follows has no type of its
    /// own: a nibble 4 or 6 is IP, a nibble 0 a pseudowire control word (RFC 4385) before an Ethernet frame.
    private static func mplsPayload(_ bytes: UnsafeRawBufferPointer, budget: Int) -> LinkPayload {
        var rest = bytes
        var budget = budget
        while budget > 0 {
            budget -= 1
            guard rest.count >= 5 else { return .cutShort }
            let isBottom = rest[2] & 1 == 1
            rest = rest.after(4)
            guard isBottom else { continue }
            switch rest[0] >> 4 {
            case 4, 6: return .ip(rest)
            case 0 where rest.count >= 4: return EthernetFrame.payload(of: rest.after(4), budget: budget)
            default: return .notIP
            }
        }
        return .notIP
    }
}

/// IEEE 802.2 logical link control, as far as it carries an EtherType (SNAP).
enum LogicalLinkControl {
    /// `AA AA 03`, an organisation, an EtherType.
    static func payload(of bytes: UnsafeRawBufferPointer, budget: Int) -> LinkPayload {
        guard bytes.count >= 3 else { return .cutShort }
        guard bytes[0] == 0xAA, bytes[1] == 0xAA, bytes[2] == 0x03 else { return .notIP }
        guard bytes.count >= 8 else { return .cutShort }
        let organisation = bytes.field32(2) & 0xFFFFFF
        // RFC 1042, and 802.1H's bridge tunnel for the same types.
        guard organisation == 0 || organisation == 0x0000F8 else { return .notIP }
        let type = bytes.field16(6)
        return type > 1500 ? EtherType.payload(of: bytes.after(8), type: type, budget: budget) : .notIP
    }
}

/// Ethernet (DIX or 802.3): two addresses and a type.
public enum EthernetFrame {
    /// Takes an Ethernet header off.
    public static func payload(
        of bytes: UnsafeRawBufferPointer, budget: Int = EtherType.maximumTags
    ) -> LinkPayload {
        guard bytes.count >= 14 else { return .cutShort }
        return EtherType.payload(of: bytes.after(14), type: bytes.field16(12), budget: budget)
    }

    /// Whether a frame that calls itself Ethernet is an IP packet without any link header, as Apple's remote virtual
    /// interface writes them.
    ///
    /// The first bytes are believed before the link type only when they prove themselves: an IPv4 header whose checksum
    /// is right and whose length is the frame's, or an IPv6 header whose length is the frame's; with a type field that
    /// is none. A MAC address gets past this by less than one chance in 2³².
    static func isBareIP(_ bytes: UnsafeRawBufferPointer, wireLength: Int) -> Bool {
        switch bytes.first.map({ $0 >> 4 }) {
        case 4:
            guard bytes.count >= 20, bytes[0] & 0xF >= 5 else { return false }
            let headerLength = Int(bytes[0] & 0xF) * 4
            let length = Int(bytes.field16(2))
            guard bytes.count >= headerLength, length >= headerLength, length <= wireLength else { return false }
            let checksumIsRight = InternetChecksum.isRight(bytes.first(headerLength))
            return checksumIsRight && (length == wireLength || !EtherType.isKnown(bytes.field16(12)))
        case 6:
            guard bytes.count >= 40, Int(bytes.field16(4)) + 40 == wireLength else { return false }
            guard !EtherType.isKnown(bytes.field16(12)) || bytes[0] == 0x60 && bytes[1] & 0xF0 == 0 else {
                return false
            }
            switch bytes[6] {
            case 0, 6, 17, 43, 44, 58, 60: return true
            default: return false
            }
        default:
            return false
        }
    }
}

/// RFC 1071.
enum InternetChecksum {
    /// Whether the ones' complement sum over `header`, its checksum field included, is all ones.
    static func isRight(_ header: UnsafeRawBufferPointer) -> Bool {
        var sum: UInt32 = 0
        var index = 0
        while index + 1 < header.count {
            sum &+= UInt32(header.field16(index))
            index += 2
        }
        while sum > 0xFFFF { sum = sum & 0xFFFF + sum >> 16 }
        return sum == 0xFFFF
    }
}
