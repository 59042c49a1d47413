/// The first product of a User-Agent as it may be shown, so that people see who was meant: names of programs are no
/// secrets, though they look random to a mask made for values (`com.apple.WebKit.Networking`,
/// `Google-Android-IntentFilterVerifier`); what is not written like a name is masked.
enum ProductName {
    /// Bytes that are looked at.
    static let limit = 80

    static func shown(_ agent: String) -> String {
        let product = agent.prefix { $0 != " " && $0 != "(" }.prefix(limit)
        let name = product.prefix { $0 != "/" }
        let version = product[name.endIndex...].dropFirst()
        let shownName = isName(name) ? String(name) : TextMask.word(name)
        guard !version.isEmpty else { return shownName }
        return "\(shownName)/\(isVersion(version) ? String(version) : TextMask.word(version))"
    }

    /// Words of letters, each of three or more on average, joined by `.`, `-` or `_`; three digits at most.
    private static func isName(_ name: Substring) -> Bool {
        guard !name.isEmpty, name.utf8.count <= 64, Token.first(in: name) == nil else { return false }
        var letters = 0
        var digits = 0
        var words = 0
        var wasLetter = false
        var wasLower = false
        for byte in name.utf8 {
            let isLower = (0x61...0x7A).contains(byte)
            let isLetter = isLower || (0x41...0x5A).contains(byte)
            switch byte {
            case 0x41...0x5A, 0x61...0x7A:
                letters += 1
                if !wasLetter || (wasLower && !isLower) { words += 1 }
            case 0x30...0x39: digits += 1
            case 0x2D, 0x2E, 0x5F: break
            default: return false
            }
            wasLetter = isLetter
            wasLower = isLower
        }
        return digits <= 3 && words > 0 && letters >= 3 * words
    }

    /// Dotted numbers of five digits at most, which name a build and no person.
    private static func isVersion(_ version: Substring) -> Bool {
        version.utf8.count <= 24
            && version.split(separator: ".").allSatisfy { part in
                part.utf8.count <= 5 && part.utf8.allSatisfy { (0x30...0x39).contains($0) }
            }
    }
}
