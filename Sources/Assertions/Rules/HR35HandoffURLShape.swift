internal import SessionTrace

/// **HR-35 handoff-url-shape.** A handoff URL is an opaque reference on Chia's web host, one for each operation.
///
/// The contract (CONTRACT.md, "Forbidden": sensitive routing context; "The tap sequence" 5: short-lived) makes it a
/// reference and nothing more: https, on a Chia host that is neither API nor asset, one `phs_` token of 64 bits or more
/// by its length and alphabet, no credentials, no query key that a person could read something from, 2,048 bytes at most.
/// Two operations have two URLs; a replay of one operation brings the same. Chia and the partner's backend make it, so
/// all of this is a warning.
///
/// Inconclusive: the URL is on a host that the policy does not name as Chia's; session traffic that could not be read.
enum HandoffURLShape: Rule {
    static let description = RuleDescription(
        id: "HR-35", name: "handoff-url-shape", severity: .warning,
        sentence: "A handoff URL is opaque, on Chia's web host, and belongs to one operation.",
        heading: "The tap sequence",
        inconclusiveWhen:
            "the URL's host is not named as Chia's in the policy, an answer holds no handoff URL, or session traffic stayed unread or went around the proxy",
        options: ["hosts: {chia, chia-api, chia-assets}"],
        example:
            "The URL carries ?product=… beside its token. Warning: the handoff URL has a query key that says something (product)."
    )

    /// Bits that a token must have, at least.
    static let leastBits = 64
    /// Bytes of a URL, at most.
    static let longest = 2_048
    /// Words of query keys that tell what the URL is about.
    private static let telling: Set<String> = [
        "email", "mail", "name", "firstname", "lastname", "phone", "dob", "birthdate", "address", "zip", "product",
        "item",
        "sku", "catalog", "treatment", "condition", "diagnosis", "medication", "drug", "dose", "patient", "user",
        "account", "price",
    ]

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no handoff URL came back"
        var bits: [Int] = []
        for url in session.urls {
            judgement.looked(at: url.evidence)
            bits.append(Self.bits(of: url.token))
            judge(url, session, &judgement)
        }
        judgeOperations(session, &judgement)
        for attempt in session.attempts where attempt.last.answer.hasURLWithoutToken {
            judgement.violation(
                "no-token",
                "the answer to attempt \(attempt.number) names a URL on a host of Chia's, and no \(Token.prefix) token is in it",
                evidence: [attempt.evidence("session response")])
        }
        judgement.passSentence =
            "\(counted(session.urls.count, "handoff URL")), each with one token of at least \(bits.min() ?? 0) bits"
        session.doubtUnnamedAnswer(&judgement)
        session.doubtChiaHost(&judgement)
        session.doubtSessionTraffic(&judgement)
        session.doubtSessionBypass(&judgement)
    }

    private static func judge(_ url: HandoffURL, _ session: Session, _ judgement: inout Judgement) {
        func violation(_ kind: String, _ why: String, _ place: String = "") {
            judgement.violation(
                kind, "the handoff URL \(url.label) \(why)", place: [place], evidence: [url.evidence])
        }
        guard let address = url.address else {
            return violation("no-address", "is no address that a browser could open")
        }
        let role = session.roles.role(of: address.host)
        if role == .chiaAPI || role == .chiaAssets {
            violation("host", "is on \(address.host), which is no web host (\(role.rawValue))", role.rawValue)
        }
        let count = tokens(in: url.text)
        if count != 1 { violation("tokens", "holds \(counted(count, "token")), not one") }
        let bits = Self.bits(of: url.token)
        if bits < leastBits {
            violation("short-token", "has a token of about \(bits) bits, less than \(leastBits)")
        }
        let authority = url.text.dropFirst("https://".count).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        if authority.contains("@") { violation("credentials", "carries credentials before its host") }
        if url.text.utf8.count > longest {
            violation("long", "is \(url.text.utf8.count) bytes long, more than \(longest)")
        }
        for key in tellingKeys(in: address.query ?? "") {
            violation("readable-query", "has a query key that says something (\(key))", key)
        }
    }

    private static func judgeOperations(_ session: Session, _ judgement: inout Judgement) {
        var owner: [String: Attempt] = [:]
        var brought: [String: Attempt] = [:]
        for attempt in session.attempts {
            guard let url = attempt.last.answer.url, let key = attempt.key else { continue }
            if let other = owner[url], other.key != key {
                judgement.violation(
                    "shared-url",
                    "attempts \(other.number) and \(attempt.number) have different keys and brought the same handoff URL",
                    evidence: [other.evidence("session response"), attempt.evidence("session response")])
            }
            if let other = brought[key], other.last.answer.url != url {
                judgement.violation(
                    "replay-differs",
                    "attempts \(other.number) and \(attempt.number) have one key and brought different handoff URLs",
                    evidence: [other.evidence("session response"), attempt.evidence("session response")])
            }
            if owner[url] == nil { owner[url] = attempt }
            if brought[key] == nil { brought[key] = attempt }
        }
    }

    // MARK: tokens

    private static func tokens(in text: String) -> Int {
        var count = 0
        var rest = text[...]
        while let place = rest.firstRange(of: Token.prefix) {
            count += 1
            rest = rest[place.upperBound...]
        }
        return count
    }

    /// Bits that a token may hold: its length times the bits of its alphabet, or of the characters that it has where
    /// these are suspiciously few.
    static func bits(of token: String) -> Int {
        let body = Array(token.utf8.dropFirst(Token.prefix.utf8.count))
        let distinct = Set(body).count
        let alphabet =
            body.allSatisfy { (0x30...0x39).contains($0) }
            ? 10
            : body.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0 | 0x20) }
                ? 16
                : body.contains { $0 == 0x2D || $0 == 0x5F } || hasBothCases(body) ? 62 : 36
        let size = distinct * 4 < min(body.count, alphabet) ? distinct : alphabet
        return body.count * tenthBits(size) / 10
    }

    private static func hasBothCases(_ bytes: [UInt8]) -> Bool {
        bytes.contains { (0x41...0x5A).contains($0) } && bytes.contains { (0x61...0x7A).contains($0) }
    }

    /// Tenths of the binary logarithm, rounded down.
    private static func tenthBits(_ size: Int) -> Int {
        switch size {
        case ...1: 0
        case 10: 33
        case 36: 51
        case 62...: 59
        default: 10 * (Int.bitWidth - 1 - size.leadingZeroBitCount)
        }
    }

    // MARK: query

    /// Keys of a query that hold a telling word, whole or between `_`, `-`, `.` and capitals.
    static func tellingKeys(in query: String) -> [String] {
        query.split(separator: "&").compactMap { pair in
            let key = String(pair.prefix { $0 != "=" })
            let words = Self.words(of: key)
            return words.contains { telling.contains($0) } || telling.contains(words.joined())
                ? words.joined(separator: "-") : nil
        }
    }

    private static func words(of key: String) -> [String] {
        var words: [String] = []
        var word = ""
        for character in key {
            if character == "_" || character == "-" || character == "." || character.isUppercase {
                if !word.isEmpty { words.append(word) }
                word = character.isUppercase ? character.lowercased() : ""
            } else {
                word.append(character)
            }
        }
        return word.isEmpty ? words : words + [word]
    }
}
