/// Decoders of the encodings that text is wrapped in. They never fail: what is not encoded stays as it is, or ends the
/// decoding.
enum TextDecoding {
    /// Decodes base64 or base64url (RFC 4648; mixed alphabets are read too) without padding. Line breaks are skipped;
    /// any other byte outside the alphabets ends it. A last group of one character is dropped.
    static func base64(_ bytes: UnsafeRawBufferPointer, into output: inout [UInt8]) {
        let decoded = [UInt8](unsafeUninitializedCapacity: bytes.count / 4 * 3 + 3) { output, produced in
            // Each four characters make three bytes, so `output` can't be overrun.
            ByteClass.base64Value.withUnsafeBufferPointer { values in
                var bits: UInt32 = 0
                var count = 0
                var index = 0
                while index < bytes.count {
                    // Whole groups first; a line break is passed by the byte.
                    while count == 0, index &+ 4 <= bytes.count {
                        let first = values[Int(bytes[index])]
                        let second = values[Int(bytes[index &+ 1])]
                        let third = values[Int(bytes[index &+ 2])]
                        let fourth = values[Int(bytes[index &+ 3])]
                        guard first | second | third | fourth < 64 else { break }
                        let group =
                            UInt32(first) &<< 18 | UInt32(second) &<< 12 | UInt32(third) &<< 6 | UInt32(fourth)
                        output[produced] = UInt8(truncatingIfNeeded: group &>> 16)
                        output[produced &+ 1] = UInt8(truncatingIfNeeded: group &>> 8)
                        output[produced &+ 2] = UInt8(truncatingIfNeeded: group)
                        produced &+= 3
                        index &+= 4
                    }
                    guard index < bytes.count else { break }
                    let byte = bytes[index]
                    index &+= 1
                    let value = values[Int(byte)]
                    if value == 255 {
                        if byte == 0x0A || byte == 0x0D { continue }
                        break
                    }
                    bits = bits &<< 6 | UInt32(value)
                    count &+= 1
                    if count == 4 {
                        output[produced] = UInt8(truncatingIfNeeded: bits &>> 16)
                        output[produced &+ 1] = UInt8(truncatingIfNeeded: bits &>> 8)
                        output[produced &+ 2] = UInt8(truncatingIfNeeded: bits)
                        produced &+= 3
                        bits = 0
                        count = 0
                    }
                }
                if count >= 2 {
                    // The bits of a cut group, from the left.
                    output[produced] = UInt8(truncatingIfNeeded: bits &>> (count == 2 ? 4 : 10))
                    produced &+= 1
                }
                if count == 3 {
                    output[produced] = UInt8(truncatingIfNeeded: bits &>> 2)
                    produced &+= 1
                }
            }
        }
        output = output.isEmpty ? decoded : output + decoded
    }

    /// Decodes pairs of hex digits up to the first byte that is none; an odd digit at the end is dropped.
    static func hex(_ bytes: UnsafeRawBufferPointer, into output: inout [UInt8]) {
        output.reserveCapacity(output.count + bytes.count / 2)
        ByteClass.hexValue.withUnsafeBufferPointer { values in
            var index = 0
            while index &+ 1 < bytes.count {
                let high = values[Int(bytes[index])]
                let low = values[Int(bytes[index &+ 1])]
                if high == 255 || low == 255 { return }
                output.append(high &<< 4 | low)
                index &+= 2
            }
        }
    }

    /// Undoes backslash escapes of JSON (RFC 8259 §7), JavaScript and C up to an unescaped quote `"` or separator: `\"`,
    /// `\\`, `\/`, `\b`, `\f`, `\n`, `\r`, `\t`, `\uXXXX` (surrogate pairs joined), `\xHH`. Other escapes stand for the character
    /// after the backslash. Returns how many bytes were used, the quote not counted.
    static func escapes(_ bytes: UnsafeRawBufferPointer, into output: inout [UInt8]) -> Int {
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if endsString(byte) { return index }
            guard byte == 0x5C, index &+ 1 < bytes.count else {
                output.append(byte)
                index &+= 1
                continue
            }
            let kind = bytes[index &+ 1]
            switch kind {
            case 0x75:  // u
                guard let unit = codeUnit(bytes, at: index &+ 2) else {
                    output.append(kind)
                    index &+= 2
                    continue
                }
                index &+= 6
                if unit & 0xFC00 == 0xD800, index &+ 5 < bytes.count, bytes[index] == 0x5C, bytes[index &+ 1] == 0x75,
                    let low = codeUnit(bytes, at: index &+ 2), low & 0xFC00 == 0xDC00
                {
                    append(0x1_0000 &+ ((unit & 0x3FF) &<< 10 | low & 0x3FF), to: &output)
                    index &+= 6
                } else {
                    append(unit, to: &output)
                }
            case 0x78:  // x
                guard index &+ 3 < bytes.count, let value = Hex.byte(bytes[index &+ 2], bytes[index &+ 3]) else {
                    output.append(kind)
                    index &+= 2
                    continue
                }
                output.append(value)
                index &+= 4
            default:
                output.append(single(kind))
                index &+= 2
            }
        }
        return index
    }

    /// Whether a string ends before this byte, unless it is escaped: a quote, NUL, or the separator of places.
    static func endsString(_ byte: UInt8) -> Bool { byte == 0x22 || byte == 0 || byte == MessageHead.separator }

    private static func single(_ kind: UInt8) -> UInt8 {
        switch kind {
        case 0x62: 0x08
        case 0x66: 0x0C
        case 0x6E: 0x0A
        case 0x72: 0x0D
        case 0x74: 0x09
        default: kind
        }
    }

    private static func codeUnit(_ bytes: UnsafeRawBufferPointer, at index: Int) -> UInt32? {
        guard index &+ 3 < bytes.count, let high = Hex.byte(bytes[index], bytes[index &+ 1]),
            let low = Hex.byte(bytes[index &+ 2], bytes[index &+ 3])
        else { return nil }
        return UInt32(high) << 8 | UInt32(low)
    }

    /// Appends a code point as UTF-8; a lone surrogate becomes the three bytes that it would have.
    static func append(_ point: UInt32, to output: inout [UInt8]) {
        func byte(_ value: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: value) }
        switch point {
        case 0..<0x80:
            output.append(byte(point))
        case 0x80..<0x800:
            output += [byte(0xC0 | point >> 6), byte(0x80 | point & 0x3F)]
        case 0x800..<0x1_0000:
            output += [byte(0xE0 | point >> 12), byte(0x80 | point >> 6 & 0x3F), byte(0x80 | point & 0x3F)]
        default:
            output += [
                byte(0xF0 | point >> 18), byte(0x80 | point >> 12 & 0x3F), byte(0x80 | point >> 6 & 0x3F),
                byte(0x80 | point & 0x3F),
            ]
        }
    }
}
