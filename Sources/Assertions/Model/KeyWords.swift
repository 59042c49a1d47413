/// A member's name as its words, so that `order_status`, `orderStatus` and `ORDER-STATUS` are one.
struct KeyWords: Hashable, Sendable {
    let words: [String]

    init(_ name: some StringProtocol) {
        var words: [String] = []
        var word = ""
        var wasLower = false
        for character in name.prefix(120) {
            guard character.isLetter || character.isNumber else {
                if !word.isEmpty { words.append(word) }
                word = ""
                wasLower = false
                continue
            }
            if character.isUppercase, wasLower, !word.isEmpty {
                words.append(word)
                word = ""
            }
            word += character.lowercased()
            wasLower = !character.isUppercase
        }
        if !word.isEmpty { words.append(word) }
        self.words = words
    }

    /// Whether a name is this one, or goes on after it with another word (`prescription_id` for `prescription`).
    func begins(_ name: KeyWords) -> Bool {
        !words.isEmpty && (name.words.starts(with: words) || name.words.joined() == words.joined())
    }
}

/// Names that must not stand in what the app receives, sorted into what names them.
struct ForbiddenKeys: Sendable {
    /// Why a name is one.
    enum Reason: Hashable, Sendable {
        /// `forbidden: {response-keys}`.
        case listed(String)
        /// `forbidden: {catalog-keys}`.
        case catalog(String)
        /// A word that often tells a status or money.
        case likely(String)
    }

    /// Words that tell a status or money when they stand beside a handoff (HR-60).
    static let likelyWords = [
        "eligibility_result", "payment", "payout", "commission", "refund", "diagnosis", "fulfillment", "fulfilment",
        "intake_status", "order_status", "prescription",
    ]

    private let entries: [(words: KeyWords, reason: Reason)]

    init(_ forbidden: Policy.Forbidden) {
        entries =
            forbidden.catalogKeys.map { (KeyWords($0), .catalog($0)) }
            + forbidden.responseKeys.map { (KeyWords($0), .listed($0)) }
            + Self.likelyWords.map { (KeyWords($0), .likely($0)) }
    }

    /// Why a name must not stand there; nil for one that may.
    func reason(for name: some StringProtocol) -> Reason? {
        // The text in which a decision says who pays whom must be there.
        guard name != "compensationDisclosure" else { return nil }
        let name = KeyWords(name)
        return entries.first { $0.words.begins(name) }?.reason
    }
}
