internal import SessionTrace

/// How long a session response says that its handoff URL lives: a number of seconds, or a moment held against the
/// response's own `Date`, so that no other clock matters.
struct SessionLifetime: Hashable, Sendable {
    var length: Nanoseconds
    /// The field that says so.
    var field: String

    private static let moments: Set<String> = [
        "expiresat", "expires", "expiry", "expiration", "validuntil", "expirationtime",
    ]
    private static let spans: Set<String> = ["expiresin", "ttl", "ttlseconds", "expiresinseconds", "lifetime"]

    /// Reads a response's JSON; nil when it says nothing of the kind, or says it in a way that is not known.
    init?(_ value: JSONValue, _ fields: FieldSection) {
        self.init(value, sent: fields.first("date").flatMap(Self.date), depth: 0)
    }

    private init?(_ value: JSONValue, sent: Instant?, depth: Int) {
        guard depth < 8, case .object(let members) = value else { return nil }
        for member in members {
            let name = member.name.lowercased().filter { $0 != "_" && $0 != "-" }
            if Self.spans.contains(name), case .number(let text) = member.value, let seconds = Self.seconds(text) {
                self.init(length: .seconds(seconds), field: member.name)
                return
            }
            if Self.moments.contains(name), let sent, let moment = Self.moment(member.value), moment >= sent {
                self.init(length: Nanoseconds(moment.nanoseconds(since: sent)), field: member.name)
                return
            }
        }
        for member in members {
            if let inner = Self(member.value, sent: sent, depth: depth + 1) {
                self = inner
                return
            }
        }
        return nil
    }

    private init(length: Nanoseconds, field: String) {
        self.length = length
        self.field = TextMask.word(field.prefix(64))
    }

    private static func moment(_ value: JSONValue) -> Instant? {
        switch value {
        case .string(let text): return Instant(rfc3339: text)
        case .number(let text):
            // Seconds or milliseconds since 1970.
            guard let number = Int64(text), number > 0 else { return nil }
            let milliseconds = number >= 100_000_000_000 ? number : number * 1_000
            let (nanoseconds, overflow) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
            return overflow ? nil : Instant(nanoseconds: nanoseconds)
        case .object, .array, .bool, .null: return nil
        }
    }

    private static func seconds(_ text: String) -> Int64? {
        guard let number = Int64(text), number > 0, number <= 315_360_000 else { return nil }
        return number
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// `Sun, 29 Nov 2026 12:00:04 GMT` (RFC 9110 §5.6.7, the form that is sent).
    static func date(_ text: String) -> Instant? {
        let words = text.split(separator: " ")
        guard words.count == 6, words[5] == "GMT", let month = months.firstIndex(of: String(words[2])) else {
            return nil
        }
        let day = words[1].utf8.count == 1 ? "0\(words[1])" : String(words[1])
        return Instant(rfc3339: "\(words[3])-\(month < 9 ? "0" : "")\(month + 1)-\(day)T\(words[4])Z")
    }
}
