/// URLs in texts.
enum URLText {
    /// One URL, and whether the text is nothing else.
    struct Found: Hashable {
        var text: String
        var isWhole: Bool
    }

    /// URLs looked for in one text.
    static let limit = 50

    /// The URLs in a text: the text itself when it is one (of any scheme, or without one), or the http and https URLs in
    /// it.
    static func all(in text: String) -> [Found] {
        if isWhole(text) { return [Found(text: text.hasPrefix("//") ? "https:" + text : text, isWhole: true)] }
        var found: [Found] = []
        var rest = Substring(text)
        while found.count < limit, let separator = rest.firstRange(of: "://") {
            let scheme = rest[..<separator.lowerBound].reversed().prefix { $0.isASCII && $0.isLetter }
            let tail = rest[separator.upperBound...].prefix {
                !$0.isWhitespace && !"\"'<>()[]{}|\\^`".contains($0)
            }
            let word = String(scheme.reversed()).lowercased()
            if word == "http" || word == "https", !tail.isEmpty {
                found.append(Found(text: "\(word)://\(tail)", isWhole: false))
            }
            rest = rest[tail.endIndex...]
        }
        return found
    }

    /// Whether a text is a URL and nothing else. Inline data leads nowhere, and is none.
    private static func isWhole(_ text: String) -> Bool {
        guard !text.utf8.contains(where: { $0 <= 0x20 }) else { return false }
        if text.hasPrefix("//") { return text.dropFirst(2).prefix { $0 != "/" }.contains(".") }
        guard let separator = text.firstRange(of: "://"), separator.upperBound < text.endIndex else { return false }
        let scheme = text[..<separator.lowerBound]
        return scheme.first.map { $0.isASCII && $0.isLetter } ?? false
            && scheme.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+.-".contains($0)) }
    }
}
