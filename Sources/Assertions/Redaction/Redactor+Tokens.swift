extension Redactor {
    /// Text with handoff tokens masked and nothing else, for output whose form others set. The prefix alone is the name of
    /// the thing, and stays.
    public static func withoutTokens(_ text: String) -> String {
        guard hasPrefix(text) else { return text }
        let prefix = String(decoding: TokenShape.prefix, as: UTF8.self)
        var result = ""
        var word = ""
        for character in text + "\n" {
            if character.isASCII, character.isLetter || character.isNumber || "_-%".contains(character) {
                word.append(character)
            } else {
                result += hasPrefix(word) && word != prefix ? "‹token›" : word
                result.append(character)
                word = ""
            }
        }
        return String(result.dropLast())
    }

    /// Whether the prefix of tokens is anywhere in `text`, in letters of either case.
    ///
    /// Byte by byte: a report asks it of each text in a verdict, of which a long session has some hundred thousand.
    private static func hasPrefix(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            let prefix = TokenShape.prefix
            guard bytes.count >= prefix.count else { return false }
            // A letter and its other case differ in one bit, which `_` shares with a control character alone.
            return (0...bytes.count - prefix.count).contains { start in
                prefix.indices.allSatisfy { bytes[start + $0] | 0x20 == prefix[$0] | 0x20 }
            }
        }
    }
}
