/// The kind of header that a captured packet starts with: a LINKTYPE_ number (https://www.tcpdump.org/linktypes.html).
public struct LinkType: RawRepresentable, Hashable, Sendable {
    /// The number as capture files hold it; for a few types libpcap's DLT_ number differs.
    public var rawValue: UInt32

    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// BSD loopback: the address family in the capturing host's byte order.
    public static let null = LinkType(rawValue: 0)
    /// Ethernet (DIX or 802.3).
    public static let ethernet = LinkType(rawValue: 1)
    /// PPP, with or without the address and control bytes.
    public static let ppp = LinkType(rawValue: 9)
    /// Raw IP under the number that some systems use for DLT_RAW and that strays into files.
    public static let rawDLT12 = LinkType(rawValue: 12)
    /// Raw IP under OpenBSD's number for DLT_RAW.
    public static let rawDLT14 = LinkType(rawValue: 14)
    /// PPP in HDLC-like framing.
    public static let pppHDLC = LinkType(rawValue: 50)
    /// PPP over Ethernet, without the Ethernet header.
    public static let pppoe = LinkType(rawValue: 51)
    /// Raw IP, version by the first nibble.
    public static let raw = LinkType(rawValue: 101)
    /// IEEE 802.11 without a radio header.
    public static let ieee80211 = LinkType(rawValue: 105)
    /// OpenBSD loopback: the address family in network byte order.
    public static let loop = LinkType(rawValue: 108)
    /// Linux cooked capture, version 1.
    public static let linuxCooked = LinkType(rawValue: 113)
    /// IEEE 802.11 after a Prism radio header.
    public static let ieee80211Prism = LinkType(rawValue: 119)
    /// IEEE 802.11 after a radiotap header.
    public static let ieee80211Radiotap = LinkType(rawValue: 127)
    /// PKTAP as files of Apple's tcpdump number it (DLT_USER2).
    public static let user2 = LinkType(rawValue: 149)
    /// IEEE 802.11 after an AVS radio header.
    public static let ieee80211AVS = LinkType(rawValue: 163)
    /// PPP after a direction byte.
    public static let pppWithDirection = LinkType(rawValue: 204)
    /// IPv4 only.
    public static let ipv4 = LinkType(rawValue: 228)
    /// IPv6 only.
    public static let ipv6 = LinkType(rawValue: 229)
    /// Linux netfilter log.
    public static let nflog = LinkType(rawValue: 239)
    /// Apple PKTAP: process name and id before the packet.
    public static let pktap = LinkType(rawValue: 258)
    /// Linux cooked capture, version 2.
    public static let linuxCooked2 = LinkType(rawValue: 276)

    /// The name without `LINKTYPE_` for the types above (`ETHERNET`), the number for the others.
    public var name: String {
        switch self {
        case .null: "NULL"
        case .ethernet: "ETHERNET"
        case .ppp: "PPP"
        case .rawDLT12, .rawDLT14, .raw: "RAW"
        case .pppHDLC: "PPP_HDLC"
        case .pppoe: "PPP_ETHER"
        case .ieee80211: "IEEE802_11"
        case .loop: "LOOP"
        case .linuxCooked: "LINUX_SLL"
        case .ieee80211Prism: "IEEE802_11_PRISM"
        case .ieee80211Radiotap: "IEEE802_11_RADIOTAP"
        case .user2: "USER2"
        case .ieee80211AVS: "IEEE802_11_AVS"
        case .pppWithDirection: "PPP_WITH_DIR"
        case .ipv4: "IPV4"
        case .ipv6: "IPV6"
        case .nflog: "NFLOG"
        case .pktap: "PKTAP"
        case .linuxCooked2: "LINUX_SLL2"
        default: "\(rawValue)"
        }
    }
}
