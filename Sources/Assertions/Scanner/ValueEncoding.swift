/// How a value can be written: one layer. Digests are layers too, though nothing undoes them.
enum ValueEncoding: UInt8, Hashable, Sendable, CaseIterable {
    case percent = 1
    case base64, base64url, base32, base32hex, base58, hex
    /// JSON's (and most languages') backslash escapes.
    case escapes
    /// Character references of HTML and XML.
    case html
    case utf16LittleEndian, utf16BigEndian
    case quotedPrintable
    /// Last byte first.
    case reversed
    case rot13
    /// `+` for a space, as forms write it.
    case plus
    case md5, sha1, sha224, sha256, sha384, sha512, sha3, blake2b, murmur3, murmur3x86
    /// Digests of 32 bits, which chance can make.
    case murmur3With32Bits, crc32
    case hmacSHA256, hmacSHA1, hmacMD5

    /// The name in a chain.
    var name: String {
        switch self {
        case .percent: "percent"
        case .base64: "base64"
        case .base64url: "base64url"
        case .base32: "base32"
        case .base32hex: "base32hex"
        case .base58: "base58"
        case .hex: "hex"
        case .escapes: "escapes"
        case .html: "html"
        case .utf16LittleEndian: "utf-16le"
        case .utf16BigEndian: "utf-16be"
        case .quotedPrintable: "quoted-printable"
        case .reversed: "reversed"
        case .rot13: "rot13"
        case .plus: "plus"
        case .md5: "md5"
        case .sha1: "sha1"
        case .sha224: "sha224"
        case .sha256: "sha256"
        case .sha384: "sha384"
        case .sha512: "sha512"
        case .sha3: "sha3-256"
        case .blake2b: "blake2b"
        case .murmur3: "murmur3-128"
        case .murmur3x86: "murmur3-x86-128"
        case .murmur3With32Bits: "murmur3-32"
        case .crc32: "crc32"
        case .hmacSHA256: "hmac-sha256"
        case .hmacSHA1: "hmac-sha1"
        case .hmacMD5: "hmac-md5"
        }
    }
}

/// Up to four layers in one number, outermost first; 0 is none.
struct Layers: Hashable, Sendable {
    private var code: UInt32 = 0

    static let none = Layers()

    /// These layers with another one around them.
    func wrapped(in layer: ValueEncoding) -> Layers {
        var result = Layers()
        result.code = code &<< 8 | UInt32(layer.rawValue)
        return result
    }

    var isEmpty: Bool { code == 0 }

    /// Outermost first.
    var encodings: [ValueEncoding] {
        var result: [ValueEncoding] = []
        var rest = code
        while rest != 0, let layer = ValueEncoding(rawValue: UInt8(truncatingIfNeeded: rest)) {
            result.append(layer)
            rest &>>= 8
        }
        return result
    }
}
