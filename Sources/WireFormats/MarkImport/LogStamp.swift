internal import SessionTrace

/// A time that a log prints: a count of seconds, or fields of a calendar of which some may be missing.
struct LogStamp: Hashable, Sendable {
    /// A time in nanoseconds as far as it is printed: it happened at or after `nanoseconds`, and before the next `unit`.
    struct Reading: Hashable, Sendable {
        /// Nanoseconds since 1970, or since boot on a monotonic clock.
        var nanoseconds: Int64
        /// Nanoseconds of the last digit.
        var unit: Int64
        /// Counted from boot: no time of day can be told from it.
        var isMonotonic: Bool

        /// From the first nanosecond to the last that the stamp can stand for.
        var span: TimeSpan {
            let start = Instant(nanoseconds: nanoseconds)
            return TimeSpan(start, start.advanced(byNanoseconds: unit - 1))
        }
    }

    /// Fields of a local time.
    struct Civil: Hashable, Sendable {
        var year: Int?
        var month: Int?
        var day: Int?
        var hour: Int
        var minute: Int
        var second: Int
        var nanoseconds: Int64
        var unit: Int64
        /// Seconds that the zone is ahead of UTC, if the line says so.
        var zoneSeconds: Int?
    }

    /// What is printed.
    enum Value: Hashable, Sendable {
        case seconds(Reading)
        case civil(Civil)
    }

    var value: Value

    /// Seconds below this (1,000,000,000: September 2001) count from boot, not from 1970; no device runs for 31 years.
    static let epochFloorSeconds: Int64 = 1_000_000_000
}

extension LineCursor {
    /// Takes `12345.678901`, `[   12345.678901]`'s inner part or `1701320400.123`: at most eleven digits, and a fraction.
    mutating func seconds(fractionIsOptional: Bool = false) -> LogStamp.Reading? {
        let start = index
        var whole: Int64 = 0
        var count = 0
        while let byte = next, (0x30...0x39).contains(byte) {
            count += 1
            guard count <= 10 else {
                index = start
                return nil
            }
            whole = whole * 10 + Int64(byte - 0x30)
            index += 1
        }
        let fraction = count == 0 ? nil : fraction(after: [UInt8(ascii: ".")])
        // Ten digits are more than the years that nanoseconds can count: 2262 is the last.
        guard count > 0, whole <= 9_200_000_000, fraction != nil || (fractionIsOptional && next != UInt8(ascii: "."))
        else {
            index = start
            return nil
        }
        return LogStamp.Reading(
            nanoseconds: whole * 1_000_000_000 + (fraction?.nanoseconds ?? 0), unit: fraction?.unit ?? 1_000_000_000,
            isMonotonic: whole < LogStamp.epochFloorSeconds)
    }

    /// Takes a local time: `2026-11-30 05:10:31.123456+0100` (or with `T`, a comma, a zone behind a space or none),
    /// `11-30 05:10:31.123`, `Nov 30 05:10:31` or `05:10:31.123`.
    mutating func civil() -> LogStamp.Civil? {
        let start = index
        if let stamp = wholeCivil() { return stamp }
        index = start
        return nil
    }

    private mutating func wholeCivil() -> LogStamp.Civil? {
        let start = index
        let dash = UInt8(ascii: "-")
        var date: (year: Int?, month: Int?, day: Int?) = (nil, nil, nil)
        if let year = digits(4), next == dash {
            index += 1
            guard let month = digits(2), next == dash else { return nil }
            index += 1
            guard let day = digits(2), next == 0x20 || next == UInt8(ascii: "T") else { return nil }
            index += 1
            date = (year, month, day)
        } else {
            index = start
            if let month = digits(2), next == dash {
                index += 1
                guard let day = digits(2), next == 0x20 else { return nil }
                index += 1
                date = (nil, month, day)
            } else {
                index = start
                if let month = monthName() {
                    guard next == 0x20 else { return nil }
                    skipSpaces()
                    guard let day = digits(2) ?? digits(1), next == 0x20 else { return nil }
                    index += 1
                    date = (nil, month, day)
                }
            }
        }
        let colon = UInt8(ascii: ":")
        guard let hour = digits(2), next == colon else { return nil }
        index += 1
        guard let minute = digits(2), next == colon else { return nil }
        index += 1
        guard let second = digits(2), hour < 24, minute < 60, second <= 60 else { return nil }
        if let month = date.month, let day = date.day {
            guard (1...12).contains(month), (1...31).contains(day) else { return nil }
        }
        // A colon before the fraction is how Appium writes milliseconds.
        let fraction = fraction(after: [UInt8(ascii: "."), UInt8(ascii: ","), colon])
        return LogStamp.Civil(
            year: date.year, month: date.month, day: date.day, hour: hour, minute: minute, second: second,
            nanoseconds: fraction?.nanoseconds ?? 0, unit: fraction?.unit ?? 1_000_000_000, zoneSeconds: zone())
    }

    private mutating func monthName() -> Int? {
        let names = "JanFebMarAprMayJunJulAugSepOctNovDec"
        let word = Array(rest.prefix(3))
        guard word.count == 3 else { return nil }
        let all = Array(names.utf8)
        for month in 0..<12 where Array(all[(month * 3)..<(month * 3 + 3)]) == word {
            index += 3
            return month + 1
        }
        return nil
    }

    /// Takes `Z`, `+0100`, `+01:00`, and the last two behind one space; nothing if none of them comes.
    mutating func zone() -> Int? {
        let start = index
        if take("Z") { return 0 }
        if next == 0x20 { index += 1 }
        if let sign = next, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") {
            index += 1
            if let hours = digits(2), hours < 24 {
                if next == UInt8(ascii: ":") { index += 1 }
                if let minutes = digits(2), minutes < 60, next.map({ !(0x30...0x39).contains($0) }) ?? true {
                    let seconds = hours * 3_600 + minutes * 60
                    return sign == UInt8(ascii: "-") ? -seconds : seconds
                }
            }
        }
        index = start
        return nil
    }

    /// Takes the time at which a host received the line, where it stands before the line: RFC 3339 with `T` and a zone,
    /// or seconds since 1970, and a space.
    mutating func receipt() -> LogStamp.Reading? {
        let start = index
        if let reading = seconds(), !reading.isMonotonic, next == 0x20 || next == 0x09 {
            skipSpaces()
            return reading
        }
        index = start
        guard bytes.count - index > 10, bytes[index + 10] == UInt8(ascii: "T"), let civil = civil(),
            civil.zoneSeconds != nil, next == 0x20 || next == 0x09,
            let reading = try? LogDating().reading(of: civil, line: 0)
        else {
            index = start
            return nil
        }
        skipSpaces()
        return reading
    }

    /// Takes a line's head with or without the time of receipt before it.
    mutating func received<Head>(_ head: (inout LineCursor) -> Head?) -> (receipt: LogStamp.Reading?, head: Head)? {
        let start = index
        if let receipt = receipt(), let found = head(&self) { return (receipt, found) }
        index = start
        guard let found = head(&self) else {
            index = start
            return nil
        }
        return (nil, found)
    }
}

/// Gives local times the year, date and zone that they leave out, and follows a log over midnight and New Year.
struct LogDating: Sendable {
    /// The year of the first line, where lines have none.
    var year: Int?
    /// The date of the first line, where lines have none.
    var date: (year: Int, month: Int, day: Int)?
    /// Seconds that the zone of the lines is ahead of UTC, where they do not say so.
    var zoneSeconds: Int?

    private var yearsPassed = 0
    private var daysPassed = 0
    private var lastMonth: Int?
    private var lastSecond: Int?

    /// Makes one; without any of these it knows nothing beyond what a line says.
    init(year: Int? = nil, date: (year: Int, month: Int, day: Int)? = nil, zoneSeconds: Int? = nil) {
        self.year = year
        self.date = date
        self.zoneSeconds = zoneSeconds
    }

    /// Follows a line's time, so that a later one is dated rightly.
    mutating func follow(_ civil: LogStamp.Civil) {
        if civil.year == nil, let month = civil.month {
            if let lastMonth {
                // December to January is a new year; back again is a line out of order.
                if lastMonth - month > 6 { yearsPassed += 1 }
                if month - lastMonth > 6, yearsPassed > 0 { yearsPassed -= 1 }
            }
            lastMonth = month
        }
        if civil.month == nil {
            let second = civil.hour * 3_600 + civil.minute * 60 + civil.second
            if let lastSecond {
                if lastSecond - second > 43_200 { daysPassed += 1 }
                if second - lastSecond > 43_200, daysPassed > 0 { daysPassed -= 1 }
            }
            lastSecond = second
        }
    }

    /// The time of a line whose time was followed.
    func reading(of civil: LogStamp.Civil, line: Int) throws(MarkError) -> LogStamp.Reading {
        func fault(_ reason: String) -> MarkError { MarkError(line: line, column: 1, reason: reason) }
        var year = civil.year
        var month = civil.month
        var day = civil.day
        var days = 0
        if month == nil {
            guard let date else { throw fault("the times have no date; give --date, as 2026-11-30") }
            (year, month, day) = (date.year, date.month, date.day)
            days = daysPassed
        } else if year == nil {
            guard let known = self.year ?? date?.year else { throw fault("the times have no year; give --year") }
            year = known + yearsPassed
        }
        guard let zone = civil.zoneSeconds ?? zoneSeconds else {
            throw fault("the times have no zone; give --zone, as +01:00 or Z")
        }
        func pad(_ value: Int, _ width: Int) -> String {
            let digits = String(value)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let text =
            "\(pad(year ?? 0, 4))-\(pad(month ?? 0, 2))-\(pad(day ?? 0, 2))T"
            + "\(pad(civil.hour, 2)):\(pad(civil.minute, 2)):\(pad(civil.second, 2))Z"
        guard let instant = Instant(rfc3339: text) else { throw fault("there is no such date: \(text.prefix(10))") }
        let shift = Int64(days) * 86_400 - Int64(zone)
        return LogStamp.Reading(
            nanoseconds: instant.advanced(byNanoseconds: shift * 1_000_000_000)
                .advanced(byNanoseconds: civil.nanoseconds).nanoseconds,
            unit: civil.unit, isMonotonic: false)
    }
}
