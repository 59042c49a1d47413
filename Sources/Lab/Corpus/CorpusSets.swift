/// One set of sessions that are judged together, and what a rule over several traces must say of it: a line of
/// `corpus/sets.tsv`.
public struct CorpusSet: Hashable, Sendable {
    /// Its name.
    public var name: String
    /// The rule.
    public var rule: String
    /// `pass`, `fail`, `inconclusive` or `not-applicable`.
    public var verdict: String
    /// Whether it invites the rule to a wrong verdict.
    public var isTrap: Bool
    /// The stories whose recordings it is made of, in order.
    public var stories: [String]
    /// What it shows.
    public var about: String

    /// Reads the lines of a file: SET, RULE, VERDICT (`@` before it for a trap), STORIES with spaces between, and what it
    /// shows, by tabs.
    public static func read(_ text: String, file: String) throws(StoryError) -> [CorpusSet] {
        var sets: [CorpusSet] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.isEmpty || line.hasPrefix("#") { continue }
            let parts = line.split(separator: "\t").map(String.init)
            let place = "\(file):\(index + 1)"
            guard parts.count == 5 else {
                throw StoryError(
                    place: place, reason: "SET, RULE, VERDICT, STORIES and what it shows, with tabs between")
            }
            let isTrap = parts[2].hasPrefix("@")
            let verdict = isTrap ? String(parts[2].dropFirst()) : parts[2]
            guard ["pass", "fail", "inconclusive", "not-applicable"].contains(verdict) else {
                throw StoryError(place: place, reason: "\"\(verdict)\" is no verdict")
            }
            sets.append(
                CorpusSet(
                    name: parts[0], rule: parts[1], verdict: verdict, isTrap: isTrap,
                    stories: parts[3].split(separator: " ").map(String.init), about: parts[4]))
        }
        return sets
    }

    /// The kind under which it counts.
    public var kind: String { isTrap ? "trap" : verdict }
}

extension [CorpusSet] {
    /// `RULE has no set of kind KIND`, for each kind that a rule over several traces must have.
    public var gaps: [String] {
        Set(map(\.rule)).sorted().flatMap { rule in
            ["pass", "fail", "inconclusive", "trap"].filter { kind in
                !contains { $0.rule == rule && $0.kind == kind }
            }.map { "\(rule) over several traces has no set of kind \($0)" }
        }
    }
}
