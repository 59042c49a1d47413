/// A version of QUIC and what its Initial packets are protected with.
public struct QUICVersion: RawRepresentable, Hashable, Sendable {
    /// The number on the wire.
    public var rawValue: UInt32

    /// Takes any number.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// RFC 9000.
    public static let one = QUICVersion(rawValue: 0x0000_0001)
    /// RFC 9369.
    public static let two = QUICVersion(rawValue: 0x6B33_43CF)
    /// What a version negotiation packet has in its place.
    public static let negotiation = QUICVersion(rawValue: 0)

    /// Whether servers ought to answer it with version negotiation: `0x?a?a?a?a` (RFC 9000 §15).
    public var isReserved: Bool { rawValue & 0x0F0F_0F0F == 0x0A0A_0A0A }

    /// Whether it is Google's, from before the IETF's (`Q043`, `Q050`, `T051`); recognised, not opened.
    public var isGoogles: Bool {
        [0x51, 0x54].contains(rawValue >> 24) && (0x30...0x39).contains(rawValue >> 16 & 0xFF)
    }

    /// Whether its packets are of a kind that is known here, opened or not.
    public var isKnown: Bool { initialSalt != nil || isReserved || isGoogles }

    /// The salt of its Initial secrets (RFC 9001 §5.2, RFC 9369 §3.3.1, and the drafts'); nil when its packets can't be
    /// opened.
    var initialSalt: [UInt8]? {
        switch rawValue {
        case Self.one.rawValue, 0xFF00_0021, 0xFF00_0022: Self.saltOfVersionOne
        case Self.two.rawValue: Self.saltOfVersionTwo
        case 0xFF00_001D...0xFF00_0020: Self.saltOfDraft29
        // Facebook's 0xfaceb002 is draft 27 by another name.
        case 0xFF00_0017...0xFF00_001C, 0xFACE_B002: Self.saltOfDraft23
        default: nil
        }
    }

    /// Labels of the keys: version 2 has its own (RFC 9369 §3.3.2).
    var labels: (key: String, vector: String, headerProtection: String) {
        self == .two ? ("quicv2 key", "quicv2 iv", "quicv2 hp") : ("quic key", "quic iv", "quic hp")
    }

    private static let saltOfVersionOne: [UInt8] = [
        0x38, 0x76, 0x2C, 0xF7, 0xF5, 0x59, 0x34, 0xB3, 0x4D, 0x17, 0x9A, 0xE6, 0xA4, 0xC8, 0x0C, 0xAD, 0xCC, 0xBB,
        0x7F, 0x0A,
    ]
    private static let saltOfVersionTwo: [UInt8] = [
        0x0D, 0xED, 0xE3, 0xDE, 0xF7, 0x00, 0xA6, 0xDB, 0x81, 0x93, 0x81, 0xBE, 0x6E, 0x26, 0x9D, 0xCB, 0xF9, 0xBD,
        0x2E, 0xD9,
    ]
    private static let saltOfDraft29: [UInt8] = [
        0xAF, 0xBF, 0xEC, 0x28, 0x99, 0x93, 0xD2, 0x4C, 0x9E, 0x97, 0x86, 0xF1, 0x9C, 0x61, 0x11, 0xE0, 0x43, 0x90,
        0xA8, 0x99,
    ]
    private static let saltOfDraft23: [UInt8] = [
        0xC3, 0xEE, 0xF7, 0x12, 0xC7, 0x2E, 0xBB, 0x5A, 0x11, 0xA7, 0xD2, 0x43, 0x2B, 0xB4, 0x63, 0x65, 0xBE, 0xF9,
        0xF5, 0x02,
    ]
}
