extension Redactor {
    /// Text with handoff tokens masked and nothing else, for output whose form others set. The prefix alone is the name of
    /// the thing, and stays.
    public static func withoutTokens(_ text: String) -> String {
        let prefix = String(decoding: TokenShape.prefix, as: UTF8.self)
        guard text.lowercased().contains(prefix) else { return text }
        var result = ""
        var word = ""
        for character in text + "\n" {
            if character.isASCII, character.isLetter || character.isNumber || "_-%".contains(character) {
                word.append(character)
            } else {
                result += word.lowercased().contains(prefix) && word != prefix ? "‹token›" : word
                result.append(character)
                word = ""
            }
        }
        return String(result.dropLast())
    }
}
