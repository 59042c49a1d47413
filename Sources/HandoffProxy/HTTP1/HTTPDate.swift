internal import SessionTrace

/// The date of HTTP (RFC 9110 §5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HTTPDate {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// The instant as HTTP writes it, in whole seconds.
    static func text(_ instant: Instant) -> String {
        // 1970-01-01 was a Thursday; the remainder is made positive for times before it.
        let secondsADay: Int64 = 86_400
        let seconds = instant.nanoseconds / 1_000_000_000
        let day = seconds / secondsADay - (seconds % secondsADay < 0 ? 1 : 0)
        let weekday = Int(((day % 7) + 7) % 7)
        // `YYYY-MM-DDTHH:MM:SS…`
        let text = instant.rfc3339
        let parts = text.prefix { $0 != "T" }.split(separator: "-")
        guard parts.count == 3, let month = Int(parts[1]), (1...12).contains(month) else { return text }
        let time = text.drop { $0 != "T" }.dropFirst().prefix(8)
        return "\(days[weekday]), \(parts[2]) \(months[month - 1]) \(parts[0]) \(time) GMT"
    }
}
