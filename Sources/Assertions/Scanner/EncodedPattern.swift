/// How a value can be written: one layer.
enum ValueEncoding: String, Hashable, Sendable {
    case percent, base64, base64url, hex
    /// JSON's (and most languages') backslash escapes.
    case escapes
}

/// A needle's form as it looks under zero, one or two encodings.
struct EncodedPattern: Hashable {
    /// What to look for.
    var bytes: [UInt8]
    /// False when upper and lower case mean the same under the encoding.
    var isCaseSensitive: Bool
    /// The encodings, outermost first.
    var layers: [ValueEncoding]

    /// Patterns shorter than this say too little, whatever they encode.
    static let shortest = 8

    /// The value under every encoding that is searched for directly: none and one layer; two layers when `isNested`.
    ///
    /// Two layers are a second net under the decoding of views, for values inside binary containers and long runs.
    static func all(of value: [UInt8], isNested: Bool) -> [EncodedPattern] {
        let plain = EncodedPattern(bytes: value, isCaseSensitive: false, layers: [])
        var patterns = [plain] + plain.encoded()
        if isNested {
            let inner = patterns.dropFirst()
            patterns += inner.flatMap { $0.encoded() }
        }
        var seen: Set<[UInt8]> = []
        return patterns.filter { $0.bytes.count >= shortest && seen.insert($0.bytes).inserted }
    }

    /// This pattern under one more layer.
    private func encoded() -> [EncodedPattern] {
        var result: [EncodedPattern] = []
        func add(_ bytes: [UInt8], _ layer: ValueEncoding, isCaseSensitive: Bool) {
            guard bytes != self.bytes else { return }
            result.append(
                EncodedPattern(
                    bytes: bytes, isCaseSensitive: isCaseSensitive, layers: [layer] + layers))
        }
        for text in Set([PatternEncoder.percent(bytes), PatternEncoder.percentAll(bytes)]) {
            add(text, .percent, isCaseSensitive: isCaseSensitive)
        }
        for alignment in 0..<3 {
            add(PatternEncoder.base64(bytes, alignment: alignment, url: false), .base64, isCaseSensitive: true)
            add(PatternEncoder.base64(bytes, alignment: alignment, url: true), .base64url, isCaseSensitive: true)
        }
        // Hex digits have no case, but what they spell has: the digits pin it down.
        add(PatternEncoder.hex(bytes), .hex, isCaseSensitive: false)
        for slash in [[0x5C, 0x2F], Array("\\u002f".utf8)] as [[UInt8]] {
            add(PatternEncoder.replacing(0x2F, with: slash, in: bytes), .escapes, isCaseSensitive: isCaseSensitive)
        }
        return result
    }
}

/// Writers of the encodings.
enum PatternEncoder {
    /// Percent-encoding of everything but the unreserved characters (RFC 3986 §2.3).
    static func percent(_ bytes: [UInt8]) -> [UInt8] {
        bytes.flatMap { byte -> [UInt8] in
            TokenShape.isTokenByte(byte) || byte == 0x2E || byte == 0x7E ? [byte] : escape(byte)
        }
    }

    /// Percent-encoding of every byte.
    static func percentAll(_ bytes: [UInt8]) -> [UInt8] { bytes.flatMap(escape) }

    /// Hex, lower case.
    static func hex(_ bytes: [UInt8]) -> [UInt8] { bytes.flatMap { [Hex.digit($0 >> 4), Hex.digit($0 & 15)] } }

    /// What base64 makes of `bytes` when `alignment` (0, 1 or 2) bytes, modulo 3, stand before them, without the
    /// characters that neighbours take part in (the idea is YARA's `base64` modifier).
    static func base64(_ bytes: [UInt8], alignment: Int, url: Bool) -> [UInt8] {
        let alphabet = url ? urlAlphabet : standardAlphabet
        let padded = [UInt8](repeating: 0, count: alignment) + bytes
        var result: [UInt8] = []
        var bits: UInt32 = 0
        var count: UInt32 = 0
        for byte in padded {
            bits = (bits << 8 | UInt32(byte)) & 0xFFFF
            count += 8
            while count >= 6 {
                count -= 6
                result.append(alphabet[Int(bits >> count & 63)])
            }
        }
        return Array(result.dropFirst(alignment == 0 ? 0 : alignment + 1))
    }

    static func replacing(_ byte: UInt8, with text: [UInt8], in bytes: [UInt8]) -> [UInt8] {
        bytes.flatMap { $0 == byte ? text : [$0] }
    }

    private static func escape(_ byte: UInt8) -> [UInt8] {
        [0x25, upper(Hex.digit(byte >> 4)), upper(Hex.digit(byte & 15))]
    }

    private static func upper(_ digit: UInt8) -> UInt8 { digit >= 0x61 ? digit - 0x20 : digit }

    private static let standardAlphabet =
        Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let urlAlphabet =
        Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
}
