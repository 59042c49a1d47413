internal import SessionTrace

/// What a response says of its age and of how long it may be used again (RFC 9111 §5.1, §5.2.2).
struct ResponseCaching: Hashable, Sendable {
    /// Seconds that it had spent in caches on the way; 0 when no cache said so.
    var age = 0
    /// Seconds for which it may be used without asking again; nil when it does not say.
    var maxAge: Int?

    /// Nothing said.
    static let none = ResponseCaching()

    init() {}

    init(_ fields: FieldSection) {
        age = fields.first("age").flatMap { Int($0) }.map { max(0, $0) } ?? 0
        for value in fields.values("cache-control") {
            for directive in value.lowercased().split(separator: ",") {
                let words = directive.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " && $0 != "\"" } }
                switch words.first {
                case "no-store", "no-cache": maxAge = 0
                case "max-age" where words.count == 2 && maxAge != 0: maxAge = Int(words[1]).map { max(0, $0) }
                default: continue
                }
            }
        }
    }

    /// How long it stays fresh after its delivery; nil when it does not say.
    var freshness: Nanoseconds? {
        maxAge.map { Nanoseconds.seconds(Int64(max(0, min($0, 315_360_000) - min(age, 315_360_000)))) }
    }
}
