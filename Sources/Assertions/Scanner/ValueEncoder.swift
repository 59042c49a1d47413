/// Writers of the encodings that patterns are made with. Each writes what usual software writes.
enum ValueEncoder {
    /// Percent-encoding of everything but the unreserved characters (RFC 3986 §2.3), with upper- or lower-case digits.
    static func percent(_ bytes: [UInt8], isLower: Bool = false) -> [UInt8] {
        spread(bytes, by: 3) { byte, output in
            if TokenShape.isTokenByte(byte) || byte == 0x2E || byte == 0x7E {
                output.append(byte)
            } else {
                appendEscape(0x25, byte, isLower: isLower, to: &output)
            }
        }
    }

    /// Percent-encoding of every byte.
    static func percentAll(_ bytes: [UInt8], isLower: Bool = false) -> [UInt8] {
        spread(bytes, by: 3) { byte, output in appendEscape(0x25, byte, isLower: isLower, to: &output) }
    }

    /// Hex, lower case.
    static func hex(_ bytes: [UInt8]) -> [UInt8] {
        spread(bytes, by: 2) { byte, output in appendHex(byte, to: &output) }
    }

    /// Hex, upper case.
    static func upperHex(_ bytes: [UInt8]) -> [UInt8] { hex(bytes).map(upper) }

    /// Hex with `separator` between the bytes.
    static func hex(_ bytes: [UInt8], separator: UInt8) -> [UInt8] {
        Array(
            spread(bytes, by: 3) { byte, output in
                output.append(separator)
                appendHex(byte, to: &output)
            }.dropFirst())
    }

    /// `\xHH` for every byte.
    static func escapedHex(_ bytes: [UInt8]) -> [UInt8] {
        spread(bytes, by: 4) { byte, output in
            output.append(0x5C)
            output.append(0x78)
            appendHex(byte, to: &output)
        }
    }

    /// `\u00HH` for every byte.
    static func escapedUnits(_ bytes: [UInt8]) -> [UInt8] {
        spread(bytes, by: 6) { byte, output in
            output.append(contentsOf: [0x5C, 0x75, 0x30, 0x30])
            appendHex(byte, to: &output)
        }
    }

    /// `\u00HH` for what is no letter, digit or one of `-.~`.
    static func escapedSpecials(_ bytes: [UInt8]) -> [UInt8] {
        spread(bytes, by: 2) { byte, output in
            if ByteClass.isAlphanumeric(byte) || byte == 0x2D || byte == 0x2E || byte == 0x7E {
                output.append(byte)
            } else {
                output.append(contentsOf: [0x5C, 0x75, 0x30, 0x30])
                appendHex(byte, to: &output)
            }
        }
    }

    /// Decimal (`&#112;`) or hexadecimal (`&#x70;`) character references for every byte.
    static func characterReferences(_ bytes: [UInt8], isHex: Bool) -> [UInt8] {
        spread(bytes, by: 6) { byte, output in
            output.append(contentsOf: [0x26, 0x23])
            if isHex {
                output.append(0x78)
                appendHex(byte, to: &output)
            } else {
                if byte >= 100 { output.append(0x30 &+ byte / 100) }
                if byte >= 10 { output.append(0x30 &+ byte / 10 % 10) }
                output.append(0x30 &+ byte % 10)
            }
            output.append(0x3B)
        }
    }

    /// References for the characters that mean something in HTML, as its escaping functions write them.
    static func markupEscaped(_ bytes: [UInt8]) -> [UInt8] {
        spread(bytes, by: 1) { byte, output in
            switch byte {
            case 0x26: output.append(contentsOf: Array("&amp;".utf8))
            case 0x3C: output.append(contentsOf: Array("&lt;".utf8))
            case 0x3E: output.append(contentsOf: Array("&gt;".utf8))
            case 0x22: output.append(contentsOf: Array("&quot;".utf8))
            default: output.append(byte)
            }
        }
    }

    /// Quoted-printable (RFC 2045 §6.7) of bytes that need it, without line breaks.
    static func quotedPrintable(_ bytes: [UInt8]) -> [UInt8] {
        spread(bytes, by: 1) { byte, output in
            if byte == 0x3D || !(0x20...0x7E).contains(byte) {
                appendEscape(0x3D, byte, isLower: false, to: &output)
            } else {
                output.append(byte)
            }
        }
    }

    /// Quoted-printable of every byte.
    static func quotedPrintableAll(_ bytes: [UInt8]) -> [UInt8] {
        spread(bytes, by: 3) { byte, output in appendEscape(0x3D, byte, isLower: false, to: &output) }
    }

    /// UTF-16 of bytes taken as characters.
    static func utf16(_ bytes: [UInt8], isBigEndian: Bool) -> [UInt8] {
        spread(bytes, by: 2) { byte, output in
            output.append(isBigEndian ? 0 : byte)
            output.append(isBigEndian ? byte : 0)
        }
    }

    /// ASCII letters moved by 13 places.
    static func rot13(_ bytes: [UInt8]) -> [UInt8] { bytes.map(rot13) }

    static func rot13(_ byte: UInt8) -> UInt8 {
        switch byte {
        case 0x41...0x4D, 0x61...0x6D: byte &+ 13
        case 0x4E...0x5A, 0x6E...0x7A: byte &- 13
        default: byte
        }
    }

    /// What base64 makes of `bytes` when `alignment` (0, 1 or 2) bytes, modulo 3, stand before them, without the
    /// characters that neighbours take part in (the idea is YARA's `base64` modifier).
    static func base64(_ bytes: [UInt8], alignment: Int, isURL: Bool) -> [UInt8] {
        inBits(bytes, of: 6, alignment: alignment, alphabet: isURL ? urlAlphabet : standardAlphabet)
    }

    /// Whole base64 with its padding, as one value alone is written.
    static func wholeBase64(_ bytes: [UInt8]) -> [UInt8] {
        var result = inBits(bytes, of: 6, alignment: 0, alphabet: standardAlphabet, isWhole: true)
        while result.count % 4 != 0 { result.append(0x3D) }
        return result
    }

    /// What base32 makes of `bytes` when `alignment` (0 to 4) bytes, modulo 5, stand before them, without the characters
    /// that neighbours take part in; upper case.
    static func base32(_ bytes: [UInt8], alignment: Int, isHex: Bool) -> [UInt8] {
        inBits(bytes, of: 5, alignment: alignment, alphabet: isHex ? base32HexAlphabet : base32Alphabet)
    }

    /// Characters of `width` bits each.
    private static func inBits(
        _ bytes: [UInt8], of width: UInt32, alignment: Int, alphabet: [UInt8], isWhole: Bool = false
    ) -> [UInt8] {
        // Bits of the first character that the bytes before take part in.
        let foreign = UInt32(alignment) &* 8 % width
        var skipped = foreign == 0 ? 0 : width &- foreign
        var bits: UInt32 = 0
        var count: UInt32 = 0
        return [UInt8](unsafeUninitializedCapacity: bytes.count * 8 / Int(width) + 1) { output, produced in
            alphabet.withUnsafeBufferPointer { alphabet in
                // Each byte adds eight bits and each character takes `width`, so `output` can't be overrun.
                for byte in bytes {
                    bits = (bits &<< 8 | UInt32(byte)) & 0xFFFF
                    count &+= 8
                    if skipped > 0, count >= skipped {
                        count &-= skipped
                        skipped = 0
                    }
                    while skipped == 0, count >= width {
                        count &-= width
                        output[produced] = alphabet[Int(bits &>> count & (1 &<< width &- 1))]
                        produced &+= 1
                    }
                }
                if isWhole, count > 0 {
                    output[produced] = alphabet[Int(bits &<< (width &- count) & (1 &<< width &- 1))]
                    produced &+= 1
                }
            }
        }
    }

    static func replacing(_ byte: UInt8, with text: [UInt8], in bytes: [UInt8]) -> [UInt8] {
        spread(bytes, by: 1) { original, output in
            if original == byte { output.append(contentsOf: text) } else { output.append(original) }
        }
    }

    private static func spread(_ bytes: [UInt8], by factor: Int, _ body: (UInt8, inout [UInt8]) -> Void) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count * factor)
        for byte in bytes { body(byte, &output) }
        return output
    }

    @inline(__always)
    private static func appendHex(_ byte: UInt8, to output: inout [UInt8]) {
        output.append(Hex.digit(byte &>> 4))
        output.append(Hex.digit(byte & 15))
    }

    @inline(__always)
    private static func appendEscape(_ mark: UInt8, _ byte: UInt8, isLower: Bool, to output: inout [UInt8]) {
        output.append(mark)
        output.append(isLower ? Hex.digit(byte &>> 4) : upper(Hex.digit(byte &>> 4)))
        output.append(isLower ? Hex.digit(byte & 15) : upper(Hex.digit(byte & 15)))
    }

    private static func upper(_ digit: UInt8) -> UInt8 { digit >= 0x61 ? digit &- 0x20 : digit }

    private static let standardAlphabet =
        Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let urlAlphabet =
        Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    private static let base32Alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)
    private static let base32HexAlphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUV".utf8)
}
