/// A count with its noun in the right number: `1 tap`, `2 taps`.
func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

/// The same for a noun whose plural takes more than an `s`.
func counted(_ count: Int, _ noun: String, _ plural: String) -> String { "\(count) \(count == 1 ? noun : plural)" }

/// A noun with its indefinite article: `a tap mark`, `an opened mark`, `an OPTIONS`.
func withArticle(_ noun: some StringProtocol) -> String {
    let isVowel = noun.first.map { "aeiouAEIOU".contains($0) } ?? false
    return "\(isVowel ? "an" : "a") \(noun)"
}
