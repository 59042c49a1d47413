/// What a cipher suite's number means for its records (IANA "TLS Cipher Suites").
public import Crypto

/// How a suite protects records. Key exchange and authentication are of no concern to a reader who has the secrets.
public enum SuiteProtection: Hashable, Sendable {
    /// AEAD; the hash is that of the key schedule (TLS 1.3) or the PRF (TLS 1.2).
    case aead(AEADAlgorithm, HashFunction)
    /// CBC with HMAC; the PRF of TLS 1.2 is SHA-384's where the MAC is, else SHA-256's.
    case cbc(CBCAlgorithm, mac: HashFunction)
    /// RC4 with HMAC.
    case rc4(mac: HashFunction)
    /// HMAC alone: the data are in clear.
    case clear(mac: HashFunction)

    /// The protection of suite `number`; nil for suites that are not read (export, GOST, OCB, Kerberos with RC2, unknown).
    public init?(suite number: UInt16) {
        guard let protection = Self.protection(number) else { return nil }
        self = protection
    }

    /// The hash of the PRF in TLS 1.2, or of the key schedule in TLS 1.3.
    public var scheduleHash: HashFunction {
        switch self {
        case .aead(_, let hash): hash
        case .cbc(_, let mac), .rc4(let mac), .clear(let mac): mac == .sha384 ? .sha384 : .sha256
        }
    }

    // Generated from the registry's names: one case a protection.
    private static func protection(_ number: UInt16) -> SuiteProtection? {
        switch number {
        case 0x0001:
            .clear(mac: .md5)
        case 0x0002, 0x002C...0x002E, 0xC001, 0xC006, 0xC00B, 0xC010, 0xC015, 0xC039:
            .clear(mac: .sha1)
        case 0x0004, 0x0018, 0x0024:
            .rc4(mac: .md5)
        case 0x0005, 0x0020, 0x0066, 0x008A, 0x008E, 0x0092, 0xC002, 0xC007, 0xC00C, 0xC011, 0xC016,
            0xC033:
            .rc4(mac: .sha1)
        case 0x0007, 0x0021:
            .cbc(.idea, mac: .sha1)
        case 0x0009, 0x000C, 0x000F, 0x0012, 0x0015, 0x001A, 0x001E:
            .cbc(.des, mac: .sha1)
        case 0x000A, 0x000D, 0x0010, 0x0013, 0x0016, 0x001B, 0x001F, 0x008B, 0x008F, 0x0093, 0xC003,
            0xC008, 0xC00D, 0xC012, 0xC017, 0xC01A...0xC01C, 0xC034:
            .cbc(.tripleDES, mac: .sha1)
        case 0x0022:
            .cbc(.des, mac: .md5)
        case 0x0023:
            .cbc(.tripleDES, mac: .md5)
        case 0x0025:
            .cbc(.idea, mac: .md5)
        case 0x002F...0x0034, 0x008C, 0x0090, 0x0094, 0xC004, 0xC009, 0xC00E, 0xC013, 0xC018,
            0xC01D...0xC01F, 0xC035:
            .cbc(.aes128, mac: .sha1)
        case 0x0035...0x003A, 0x008D, 0x0091, 0x0095, 0xC005, 0xC00A, 0xC00F, 0xC014, 0xC019,
            0xC020...0xC022, 0xC036:
            .cbc(.aes256, mac: .sha1)
        case 0x003B, 0x00B0, 0x00B4, 0x00B8, 0xC03A:
            .clear(mac: .sha256)
        case 0x003C, 0x003E...0x0040, 0x0067, 0x006C, 0x00AE, 0x00B2, 0x00B6, 0xC023, 0xC025, 0xC027,
            0xC029, 0xC037:
            .cbc(.aes128, mac: .sha256)
        case 0x003D, 0x0068...0x006B, 0x006D:
            .cbc(.aes256, mac: .sha256)
        case 0x0041...0x0046:
            .cbc(.camellia128, mac: .sha1)
        case 0x0084...0x0089:
            .cbc(.camellia256, mac: .sha1)
        case 0x0096...0x009B:
            .cbc(.seed, mac: .sha1)
        case 0x009C, 0x009E, 0x00A0, 0x00A2, 0x00A4, 0x00A6, 0x00A8, 0x00AA, 0x00AC, 0x1301, 0xC02B,
            0xC02D, 0xC02F, 0xC031, 0xC0B0, 0xD001:
            .aead(.aes128GCM, .sha256)
        case 0x009D, 0x009F, 0x00A1, 0x00A3, 0x00A5, 0x00A7, 0x00A9, 0x00AB, 0x00AD, 0x1302, 0xC02C,
            0xC02E, 0xC030, 0xC032, 0xC0B1, 0xD002:
            .aead(.aes256GCM, .sha384)
        case 0x00AF, 0x00B3, 0x00B7, 0xC024, 0xC026, 0xC028, 0xC02A, 0xC038:
            .cbc(.aes256, mac: .sha384)
        case 0x00B1, 0x00B5, 0x00B9, 0xC03B:
            .clear(mac: .sha384)
        case 0x00BA...0x00BF, 0xC072, 0xC074, 0xC076, 0xC078, 0xC094, 0xC096, 0xC098, 0xC09A:
            .cbc(.camellia128, mac: .sha256)
        case 0x00C0...0x00C5:
            .cbc(.camellia256, mac: .sha256)
        case 0x1303, 0xCC13...0xCC15, 0xCCA8...0xCCAE:
            .aead(.chaCha20Poly1305, .sha256)
        case 0x1304, 0xC09C, 0xC09E, 0xC0A4, 0xC0A6, 0xC0AC, 0xC0B2, 0xD005:
            .aead(.aes128CCM, .sha256)
        case 0x1305, 0xC0A0, 0xC0A2, 0xC0A8, 0xC0AA, 0xC0AE, 0xC0FF, 0xD003:
            .aead(.aes128CCM8, .sha256)
        case 0xC03C, 0xC03E, 0xC040, 0xC042, 0xC044, 0xC046, 0xC048, 0xC04A, 0xC04C, 0xC04E, 0xC064,
            0xC066, 0xC068, 0xC070:
            .cbc(.aria128, mac: .sha256)
        case 0xC03D, 0xC03F, 0xC041, 0xC043, 0xC045, 0xC047, 0xC049, 0xC04B, 0xC04D, 0xC04F, 0xC065,
            0xC067, 0xC069, 0xC071:
            .cbc(.aria256, mac: .sha384)
        case 0xC050, 0xC052, 0xC054, 0xC056, 0xC058, 0xC05A, 0xC05C, 0xC05E, 0xC060, 0xC062, 0xC06A,
            0xC06C, 0xC06E:
            .aead(.aria128GCM, .sha256)
        case 0xC051, 0xC053, 0xC055, 0xC057, 0xC059, 0xC05B, 0xC05D, 0xC05F, 0xC061, 0xC063, 0xC06B,
            0xC06D, 0xC06F:
            .aead(.aria256GCM, .sha384)
        case 0xC073, 0xC075, 0xC077, 0xC079, 0xC095, 0xC097, 0xC099, 0xC09B:
            .cbc(.camellia256, mac: .sha384)
        case 0xC09D, 0xC09F, 0xC0A5, 0xC0A7, 0xC0AD:
            .aead(.aes256CCM, .sha256)
        case 0xC0A1, 0xC0A3, 0xC0A9, 0xC0AB, 0xC0AF:
            .aead(.aes256CCM8, .sha256)
        case 0xC0B3:
            .aead(.aes256CCM, .sha384)
        default:
            nil
        }
    }
}
