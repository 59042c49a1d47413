/// Decoders of base32 and of encodings of whole texts.
extension TextDecoding {
    /// Decodes base32 (RFC 4648 §6, §7) in either case, without padding, up to the first byte outside the alphabet; what a
    /// last group leaves over is dropped.
    static func base32(_ bytes: UnsafeRawBufferPointer, isHex: Bool, into output: inout [UInt8]) {
        output.reserveCapacity(output.count + bytes.count * 5 / 8 + 1)
        var bits: UInt32 = 0
        var count: UInt32 = 0
        for byte in bytes {
            guard let value = isHex ? ByteClass.base32HexValue(byte) : ByteClass.base32Value(byte) else { return }
            bits = (bits &<< 5 | UInt32(value)) & 0xFFFF
            count &+= 5
            if count >= 8 {
                count &-= 8
                output.append(UInt8(truncatingIfNeeded: bits &>> count))
            }
        }
    }

    /// Decodes pairs of hex digits with one byte, always the same, between them.
    static func spacedHex(_ bytes: UnsafeRawBufferPointer, into output: inout [UInt8]) {
        var index = 0
        while index &+ 1 < bytes.count, let byte = Hex.byte(bytes[index], bytes[index &+ 1]) {
            output.append(byte)
            guard index &+ 2 < bytes.count, bytes[index &+ 2] == bytes[2] else { return }
            index &+= 3
        }
    }

    /// An encoding that marks some characters of a text and leaves the others: how much each step takes and gives.
    enum Inline: Sendable {
        case percent, html, quotedPrintable

        /// The byte by which it may be known.
        var mark: UInt8 {
            switch self {
            case .percent: 0x25
            case .html: 0x26
            case .quotedPrintable: 0x3D
            }
        }

        /// Bytes used at `index`, at least one, and what they stand for: one byte, several (`wide`), or nothing.
        @inline(__always)
        func step(_ bytes: UnsafeRawBufferPointer, at index: Int) -> (used: Int, byte: UInt8?, wide: UInt32?) {
            let byte = bytes[index]
            guard byte == mark else { return (1, byte, nil) }
            switch self {
            case .percent:
                guard index &+ 2 < bytes.count, let value = Hex.byte(bytes[index &+ 1], bytes[index &+ 2]) else {
                    return (1, byte, nil)
                }
                return (3, value, nil)
            case .quotedPrintable:
                if index &+ 1 < bytes.count, bytes[index &+ 1] == 0x0A { return (2, nil, nil) }
                if index &+ 2 < bytes.count, bytes[index &+ 1] == 0x0D, bytes[index &+ 2] == 0x0A {
                    return (3, nil, nil)
                }
                guard index &+ 2 < bytes.count, let value = Hex.byte(bytes[index &+ 1], bytes[index &+ 2]) else {
                    return (1, byte, nil)
                }
                return (3, value, nil)
            case .html:
                guard let (used, point) = CharacterReference.read(bytes, at: index) else { return (1, byte, nil) }
                return point < 0x100 ? (used, UInt8(truncatingIfNeeded: point), nil) : (used, nil, point)
            }
        }
    }

    /// Undoes an inline encoding over a whole text. References beyond Latin-1 become UTF-8; those within become the byte,
    /// so that what was written byte by byte comes back.
    static func undo(_ inline: Inline, of bytes: UnsafeRawBufferPointer, into output: inout [UInt8]) {
        output.reserveCapacity(output.count + bytes.count)
        var index = 0
        while index < bytes.count {
            let (used, byte, wide) = inline.step(bytes, at: index)
            index &+= used
            if let byte {
                output.append(byte)
            } else if let wide {
                append(wide, to: &output)
            }
        }
    }

    /// How many bytes of `bytes` an undoing uses for its first `count` bytes of output.
    static func source(of count: Int, _ inline: Inline, in bytes: UnsafeRawBufferPointer) -> Int {
        var index = 0
        var produced = 0
        while index < bytes.count, produced < count {
            let (used, byte, wide) = inline.step(bytes, at: index)
            index &+= used
            produced &+= byte != nil ? 1 : wide.map(utf8Count) ?? 0
        }
        return index
    }

    /// How many bytes an undoing makes of the first `end` bytes.
    static func outputCount(_ inline: Inline, of bytes: UnsafeRawBufferPointer, upTo end: Int) -> Int {
        var index = 0
        var produced = 0
        while index < min(end, bytes.count) {
            let (used, byte, wide) = inline.step(bytes, at: index)
            index &+= used
            produced &+= byte != nil ? 1 : wide.map(utf8Count) ?? 0
        }
        return produced
    }

    private static func utf8Count(_ point: UInt32) -> Int {
        point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x1_0000 ? 3 : 4
    }
}

/// Character references of HTML and XML.
enum CharacterReference {
    private static let names: [(name: [UInt8], point: UInt32)] = [
        ("amp;", 0x26), ("lt;", 0x3C), ("gt;", 0x3E), ("quot;", 0x22), ("apos;", 0x27), ("sol;", 0x2F),
        ("colon;", 0x3A), ("lowbar;", 0x5F), ("equals;", 0x3D), ("quest;", 0x3F), ("num;", 0x23), ("percnt;", 0x25),
        ("period;", 0x2E), ("hyphen;", 0x2D), ("nbsp;", 0xA0),
    ].map { (Array($0.0.utf8), $0.1) }

    /// The reference whose `&` is at `index`: its length with the `;`, and its code point.
    static func read(_ bytes: UnsafeRawBufferPointer, at index: Int) -> (used: Int, point: UInt32)? {
        guard index + 3 < bytes.count else { return nil }
        guard bytes[index + 1] == 0x23 else {
            for (name, point) in names
            where index + name.count < bytes.count && bytes[(index + 1)...].starts(with: name) {
                return (name.count + 1, point)
            }
            return nil
        }
        let isHex = bytes[index + 2] | 0x20 == 0x78
        let start = index + (isHex ? 3 : 2)
        var end = start
        var point: UInt32 = 0
        while end < bytes.count, end - start < 8, let value = Hex.value(bytes[end]), isHex || value < 10 {
            point = point &* (isHex ? 16 : 10) &+ UInt32(value)
            end += 1
        }
        guard end > start, end < bytes.count, bytes[end] == 0x3B, point <= 0x10_FFFF else { return nil }
        return (end + 1 - index, point)
    }

    /// How many references `bytes` holds.
    static func count(in bytes: UnsafeRawBufferPointer) -> Int {
        var found = 0
        var next = 0
        while let place = ByteSearch.first(0x26, in: bytes, from: next) {
            if read(bytes, at: place) != nil { found &+= 1 }
            next = place &+ 1
        }
        return found
    }
}
