internal import SessionTrace

/// Finds a word as a word of its own, and not inside a longer one: `chia` is in `Chia`, `x-chia` and `isChia`, but not in
/// `Chiara` or `psychiatry`.
enum WordSearch {
    /// How a word is compared.
    enum Style {
        /// As it is: ids.
        case exact
        /// In any case: hosts.
        case anyCase
        /// In any case, and as a part of a name in camel case: `fromChia`, `chiaOrder`.
        case name
    }

    /// Whether `word`, in small letters unless it is compared as it is, stands in `bytes`.
    static func holds(_ word: [UInt8], in bytes: UnsafeRawBufferPointer, _ style: Style) -> Bool {
        guard let head = word.first, bytes.count >= word.count else { return false }
        let fold: UInt8 = style != .exact && isLetter(head) ? 0x20 : 0
        for start in 0...bytes.count - word.count where bytes[start] | fold == head {
            let range = start..<start + word.count
            let isEqual = zip(bytes[range], word).allSatisfy { style == .exact ? $0 == $1 : ByteClass.lower($0) == $1 }
            if isEqual, isWhole(range, in: bytes, style) { return true }
        }
        return false
    }

    /// Whether no word goes on before or behind a range.
    static func isWhole(_ range: Range<Int>, in bytes: UnsafeRawBufferPointer, _ style: Style) -> Bool {
        begins(at: range.lowerBound, in: bytes, style) && ends(before: range.upperBound, in: bytes, style)
    }

    private static func begins(at start: Int, in bytes: UnsafeRawBufferPointer, _ style: Style) -> Bool {
        guard start > 0 else { return true }
        let before = bytes[start - 1]
        if before >= 0x80 {
            // The first byte of that character tells whether it is a letter.
            let lead = bytes[..<start].last { $0 >= 0xC0 } ?? 0
            return !isForeignLetter(lead)
        }
        guard isLetter(before) || isDigit(before) else { return true }
        if endsEscape(before: start, in: bytes) { return true }
        return style == .name && isCapital(bytes[start]) && !isCapital(before)
    }

    private static func ends(before end: Int, in bytes: UnsafeRawBufferPointer, _ style: Style) -> Bool {
        guard end < bytes.count else { return true }
        let next = bytes[end]
        if next >= 0x80 { return !isForeignLetter(next) }
        guard isLetter(next) || isDigit(next) else { return true }
        return style == .name && isCapital(next) && !isCapital(bytes[end - 1])
    }

    /// Whether the characters before a place are an escape, which stands for one that may be no letter: `%2F`, `\u0022`, `\n`.
    private static func endsEscape(before start: Int, in bytes: UnsafeRawBufferPointer) -> Bool {
        if start >= 3, bytes[start - 3] == 0x25, let value = Hex.byte(bytes[start - 2], bytes[start - 1]) {
            return !isLetter(value) && !isDigit(value)
        }
        if start >= 6, bytes[start - 6] == 0x5C, bytes[start - 5] == 0x75,
            let high = Hex.byte(bytes[start - 4], bytes[start - 3]),
            let low = Hex.byte(bytes[start - 2], bytes[start - 1])
        {
            return high == 0 && low < 0x80 && !isLetter(low) && !isDigit(low)
        }
        return start >= 2 && bytes[start - 2] == 0x5C && [0x6E, 0x72, 0x74, 0x62, 0x66].contains(bytes[start - 1])
    }

    private static func isCapital(_ byte: UInt8) -> Bool { byte &- 0x41 < 26 }
    private static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- 0x61 < 26 }
    private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }
    /// Whether a character of two bytes begins so: Latin letters with marks, Greek, Cyrillic and the like.
    private static func isForeignLetter(_ lead: UInt8) -> Bool { (0xC3...0xDF).contains(lead) }
}
