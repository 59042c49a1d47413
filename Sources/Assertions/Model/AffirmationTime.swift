internal import SessionTrace

/// The time of the affirmation as a session request writes it: RFC 3339, or seconds, milliseconds, microseconds or
/// nanoseconds since 1970.
enum AffirmationTime: Hashable, Sendable {
    /// An instant by the device's clock, and how coarse its last digit is.
    case instant(Instant, resolution: Nanoseconds)
    /// A local time without a zone: no instant.
    case zoneless
    /// Nothing that is read as a time; why, in words.
    case unreadable(String)

    init(_ value: JSONValue) {
        switch value {
        case .string(let text): self.init(text)
        case .number(let text): self.init(epoch: text)
        case .null, .bool, .array, .object: self = .unreadable("a value of type \(value.kindName)")
        }
    }

    private init(_ text: String) {
        if let instant = Instant(rfc3339: text) {
            self = .instant(instant, resolution: Self.resolution(fractionOf: text))
        } else if Instant(rfc3339: text + "Z") != nil {
            self = .zoneless
        } else if text.utf8.first.map({ (0x30...0x39).contains($0) }) ?? false,
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E })
        {
            self.init(epoch: text)
        } else {
            self = .unreadable("a text that is no RFC 3339 time")
        }
    }

    /// Plain digits with at most one fraction; the number's size tells its unit.
    private init(epoch text: String) {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let fraction = parts.count == 2 ? parts[1].prefix(9) : ""
        guard let whole = Int64(parts[0]), whole >= 0, fraction.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            self = .unreadable("a number that is no time")
            return
        }
        let unit: Int64
        switch whole {
        case ..<100_000_000_000: unit = 1_000_000_000
        case ..<100_000_000_000_000: unit = 1_000_000
        case ..<100_000_000_000_000_000: unit = 1_000
        default: unit = 1
        }
        var resolution = unit
        var part: Int64 = 0
        for digit in fraction.utf8 where resolution > 1 {
            resolution /= 10
            part += Int64(digit - 0x30) * resolution
        }
        let (scaled, overflow) = whole.multipliedReportingOverflow(by: unit)
        guard !overflow else {
            self = .unreadable("a number that is no time")
            return
        }
        self = .instant(
            Instant(nanoseconds: scaled).advanced(byNanoseconds: part), resolution: Nanoseconds(resolution))
    }

    private static func resolution(fractionOf text: String) -> Nanoseconds {
        let digits = text.drop { $0 != "." }.dropFirst().prefix { $0.isASCII && $0.isNumber }.utf8.count
        var resolution: Int64 = 1_000_000_000
        for _ in 0..<min(digits, 9) { resolution /= 10 }
        return Nanoseconds(resolution)
    }
}
