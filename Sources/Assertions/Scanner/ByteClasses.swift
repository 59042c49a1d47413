/// Tables of byte classes that the scanner's inner loops look bytes up in.
enum ByteClass {
    /// Value of a base64 or base64url character (RFC 4648 §4, §5), 255 for any other byte.
    static let base64Value: [UInt8] = (0...255).map { byte -> UInt8 in
        switch UInt8(byte) {
        case 0x41...0x5A: UInt8(byte) - 0x41
        case 0x61...0x7A: UInt8(byte) - 0x61 + 26
        case 0x30...0x39: UInt8(byte) - 0x30 + 52
        case 0x2B, 0x2D: 62  // + -
        case 0x2F, 0x5F: 63  // / _
        default: 255
        }
    }

    /// Place of a letter or digit among them, 255 for any other byte.
    static let alphanumericValue: [UInt8] = base64Value.map { $0 < 62 ? $0 : 255 }

    /// Value of a hex digit, 255 for any other byte.
    static let hexValue: [UInt8] = (0...255).map { Hex.value(UInt8($0)) ?? 255 }

    /// Value of a base32 character (RFC 4648 §6), either case.
    @inline(__always)
    static func base32Value(_ byte: UInt8) -> UInt8? {
        let letter = lower(byte) &- 0x61
        if letter < 26 { return letter }
        return byte &- 0x32 < 6 ? byte &- 0x32 &+ 26 : nil
    }

    /// Value of a character of base32 with the extended hex alphabet (RFC 4648 §7), either case.
    @inline(__always)
    static func base32HexValue(_ byte: UInt8) -> UInt8? {
        if byte &- 0x30 < 10 { return byte &- 0x30 }
        let letter = lower(byte) &- 0x61
        return letter < 22 ? letter &+ 10 : nil
    }

    /// Alphabets that a character belongs to.
    struct Alphabets: OptionSet {
        var rawValue: UInt8
        static let hex = Alphabets(rawValue: 1)
        static let base32 = Alphabets(rawValue: 2)
        static let base32InLowerCase = Alphabets(rawValue: 4)
        static let base32Hex = Alphabets(rawValue: 8)
        static let base32HexInLowerCase = Alphabets(rawValue: 16)
        static let base58 = Alphabets(rawValue: 32)
    }

    /// The alphabets of each byte.
    static let alphabets: [UInt8] = (0...255).map { number -> UInt8 in
        let byte = UInt8(number)
        var result: Alphabets = []
        if Hex.value(byte) != nil { result.insert(.hex) }
        let isUpper = byte &- 0x41 < 26
        let isLower = byte &- 0x61 < 26
        if base32Value(byte) != nil {
            if !isLower { result.insert(.base32) }
            if !isUpper { result.insert(.base32InLowerCase) }
        }
        if base32HexValue(byte) != nil {
            if !isLower { result.insert(.base32Hex) }
            if !isUpper { result.insert(.base32HexInLowerCase) }
        }
        if Base58.values[number] != 255 { result.insert(.base58) }
        return result.rawValue
    }

    /// The alphabets that all of `bytes` belong to.
    static func alphabets(of bytes: UnsafeRawBufferPointer) -> Alphabets {
        alphabets.withUnsafeBufferPointer { table in
            var result: UInt8 = 255
            for byte in bytes {
                result &= table[Int(byte)]
                if result == 0 { break }
            }
            return Alphabets(rawValue: result)
        }
    }

    /// Whether the characters just before a place of a run, or just behind it, are all of one alphabet that is smaller than
    /// base58: any run of 15 such characters that holds the place has one of the two.
    static func isNarrow(around place: Int, in bytes: UnsafeRawBufferPointer, _ run: Range<Int>) -> Bool {
        alphabets.withUnsafeBufferPointer { table in
            let narrow = ~Alphabets.base58.rawValue & table[Int(bytes[place])]
            guard narrow != 0 else { return false }
            var before = place - run.lowerBound >= 6 ? narrow : 0
            var behind = run.upperBound - place > 6 ? narrow : 0
            for distance in 1...6 {
                if before != 0 { before &= table[Int(bytes[place &- distance])] }
                if behind != 0 { behind &= table[Int(bytes[place &+ distance])] }
                if before | behind == 0 { return false }
            }
            return true
        }
    }

    /// Printable ASCII, tab, line feed, carriage return.
    static func isPrintable(_ byte: UInt8) -> Bool {
        (0x20...0x7E).contains(byte) || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }

    /// ASCII lower case.
    @inline(__always)
    static func lower(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }

    @inline(__always)
    static func isAlphanumeric(_ byte: UInt8) -> Bool { lower(byte) &- 0x61 < 26 || byte &- 0x30 < 10 }

    /// Whether bytes that are no text stand close before or behind, one of which may read as a letter of what is there: a
    /// tag or a length.
    static func isGlued(_ range: Range<Int>, in bytes: UnsafeRawBufferPointer) -> Bool {
        isBehindBinary(range.lowerBound, in: bytes)
            || bytes[range.upperBound..<min(bytes.count, range.upperBound + 3)].contains(where: isBinary)
    }

    /// Whether a byte that is no text stands close before.
    static func isBehindBinary(_ place: Int, in bytes: UnsafeRawBufferPointer) -> Bool {
        bytes[max(0, place - 3)..<place].contains(where: isBinary)
    }

    private static func isBinary(_ byte: UInt8) -> Bool { !isPrintable(byte) && byte != MessageHead.separator }

    /// How many bytes from `start` on belong to an escape that begins before it (`%2F`, `\x2f`, `\u002f`, `\n`).
    static func escapeTail(before start: Int, in bytes: UnsafeRawBufferPointer) -> Int {
        guard start > 0 else { return 0 }
        func areDigits(_ range: Range<Int>) -> Bool {
            range.upperBound <= bytes.count && bytes[range].allSatisfy { hexValue[Int($0)] != 255 }
        }
        switch bytes[start - 1] {
        case 0x25: return areDigits(start..<start + 2) ? 2 : 0
        case 0x5C where start < bytes.count:
            switch bytes[start] {
            case 0x75: return areDigits(start + 1..<start + 5) ? 5 : 0
            case 0x78: return areDigits(start + 1..<start + 3) ? 3 : 0
            case 0x62, 0x66, 0x6E, 0x72, 0x74, 0x2F: return 1
            default: return 0
            }
        default: return 0
        }
    }

    /// The run of text around a place.
    static func textRun(around place: Int, in bytes: UnsafeRawBufferPointer) -> Range<Int> {
        var start = place
        while start > 0, isPrintable(bytes[start - 1]) { start -= 1 }
        var end = place
        while end < bytes.count, isPrintable(bytes[end]) { end += 1 }
        return start..<end
    }

    /// Whether the byte before or behind belongs to the same word.
    static func isInsideWord(_ range: Range<Int>, in bytes: UnsafeRawBufferPointer) -> Bool {
        (range.lowerBound > 0 && TokenShape.isTokenByte(bytes[range.lowerBound - 1])) || goesOn(after: range, in: bytes)
    }

    /// Whether the byte behind belongs to the same word.
    static func goesOn(after range: Range<Int>, in bytes: UnsafeRawBufferPointer) -> Bool {
        range.upperBound < bytes.count && TokenShape.isTokenByte(bytes[range.upperBound])
    }

    /// Whether there are three different bytes: a value has more, under any encoding. (A run of one digit is hex of a shorter one,
    /// and so on down; what only looks like a compressed stream often gives such a run.)
    static func isVaried(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let first = bytes.first, let second = bytes.first(where: { $0 != first }) else { return false }
        return bytes.contains { $0 != first && $0 != second }
    }

    /// Whether bytes look like text: of some 256 of them, spread evenly, 85 in 100 are printable ASCII (at least half) or
    /// part of UTF-8 beyond it. NUL and the separator of places count as text's own.
    static func looksLikeText(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard !bytes.isEmpty else { return false }
        // A step of whole bytes keeps the look at many short strings cheap.
        let step = max(1, bytes.count / 256)
        var samples = 0
        var printable = 0
        var other = 0
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            samples &+= 1
            if byte &- 0x20 < 0x5F || byte == 0x0A || byte == 0x0D || byte == 0x09 {
                printable &+= 1
            } else if byte == 0 || byte == MessageHead.separator || byte & 0xC0 == 0x80 || byte &- 0xC2 < 0x33 {
                other &+= 1
            }
            index &+= step
        }
        // Continuation and lead bytes make up nearly half of all bytes, so printable ones must be there too.
        return (printable + other) * 100 >= samples * 85 && printable * 100 >= samples * 50
    }
}
