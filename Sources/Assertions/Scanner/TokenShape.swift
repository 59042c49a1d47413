/// The shape of a handoff token: `phs_` and 16 or more of `[A-Za-z0-9_-]`, not inside a longer identifier.
public enum TokenShape {
    /// `phs_`.
    static let prefix: [UInt8] = [0x70, 0x68, 0x73, 0x5F]
    /// Characters after the prefix, at least.
    static let minimumBody = 16
    /// Characters after the prefix that are taken, at most; the rest of a longer run is left out.
    static let maximumBody = 512

    /// The first token in `text`, prefix included.
    public static func first(in text: some StringProtocol) -> Secret? {
        first(in: Array(text.utf8))
    }

    /// The first token in `bytes`, prefix included.
    public static func first(in bytes: [UInt8]) -> Secret? {
        bytes.withUnsafeBytes { buffer in
            var index = 0
            while index + prefix.count + minimumBody <= buffer.count {
                if let range = token(at: index, in: buffer, foldCase: false) {
                    return Secret(Array(buffer[range]))
                }
                index += 1
            }
            return nil
        }
    }

    /// The token whose `p` is at `index`, or nil when what is there has not the shape or continues an identifier.
    static func token(at index: Int, in bytes: UnsafeRawBufferPointer, foldCase: Bool) -> Range<Int>? {
        guard index >= 0, index + prefix.count + minimumBody <= bytes.count else { return nil }
        let fold: UInt8 = foldCase ? 0x20 : 0
        guard bytes[index] | fold == 0x70, bytes[index + 1] | fold == 0x68, bytes[index + 2] | fold == 0x73,
            bytes[index + 3] == 0x5F, !continuesIdentifier(at: index, in: bytes)
        else { return nil }
        let start = index + prefix.count
        let limit = min(bytes.count, start + maximumBody)
        var end = start
        while end < limit, isTokenByte(bytes[end]) { end += 1 }
        return end - start >= minimumBody ? index..<end : nil
    }

    /// Whether something of the shape reads as a name that people gave (`phs_show_section_header_v2`): words of small
    /// letters, of capitals or with one capital ahead, each with at most three digits behind, and two of them of three letters or
    /// more. What a machine makes at random does not.
    static func readsAsName(_ token: [UInt8]) -> Bool {
        var words: [[UInt8]] = [[]]
        for byte in token.dropFirst(prefix.count) {
            if byte == 0x5F || byte == 0x2D {
                words.append([])
                continue
            }
            if isCapital(byte), let last = words[words.count - 1].last, !isCapital(last) { words.append([]) }
            words[words.count - 1].append(byte)
        }
        var long = 0
        for word in words {
            let letters = word.prefix { ($0 | 0x20) &- 0x61 < 26 }
            let digits = word.dropFirst(letters.count)
            let tail = letters.dropFirst()
            guard digits.count <= 3, digits.allSatisfy({ $0 &- 0x30 < 10 }),
                !tail.contains(where: isCapital) || letters.allSatisfy(isCapital)
            else { return false }
            if letters.count >= 3 { long += 1 }
        }
        return long >= 2
    }

    private static func isCapital(_ byte: UInt8) -> Bool { byte &- 0x41 < 26 }

    /// `[A-Za-z0-9_-]`.
    static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F, 0x2D: true
        default: false
        }
    }

    /// Whether the byte before `index` belongs to the same identifier. An escape before it (`%2F`, `\u002f`, `\n`)
    /// ends in a letter or digit too, but stands for one character, which is what counts.
    private static func continuesIdentifier(at index: Int, in bytes: UnsafeRawBufferPointer) -> Bool {
        guard index > 0, isTokenByte(bytes[index - 1]) else { return false }
        if index >= 3, bytes[index - 3] == 0x25, let value = Hex.byte(bytes[index - 2], bytes[index - 1]) {
            return isTokenByte(value)
        }
        if index >= 4, bytes[index - 4] == 0x5C, bytes[index - 3] == 0x78,
            let value = Hex.byte(bytes[index - 2], bytes[index - 1])
        {
            return isTokenByte(value)
        }
        if index >= 6, bytes[index - 6] == 0x5C, bytes[index - 5] == 0x75,
            let high = Hex.byte(bytes[index - 4], bytes[index - 3]),
            let low = Hex.byte(bytes[index - 2], bytes[index - 1])
        {
            return high == 0 && isTokenByte(low)
        }
        if index >= 2, bytes[index - 2] == 0x5C {
            switch bytes[index - 1] {
            case 0x6E, 0x72, 0x74, 0x62, 0x66: return false  // \n \r \t \b \f
            default: return true
            }
        }
        return true
    }
}
