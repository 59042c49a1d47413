/// Reading and writing of RFC 3339 timestamps without a calendar library (civil-day arithmetic, proleptic Gregorian).
extension Instant {
    /// Reads an RFC 3339 timestamp with a zone (`2026-11-29T12:00:00.123456Z`, `…+01:00`).
    ///
    /// Digits of the fraction beyond nanoseconds are dropped. Returns nil for anything else, a missing zone included:
    /// a local time without a zone is not an instant.
    public init?(rfc3339 text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20,
            bytes[4] == 0x2D, bytes[7] == 0x2D, bytes[10] == 0x54 || bytes[10] == 0x74 || bytes[10] == 0x20,
            bytes[13] == 0x3A, bytes[16] == 0x3A,
            let year = Self.decimal(bytes, 0..<4), let month = Self.decimal(bytes, 5..<7),
            let day = Self.decimal(bytes, 8..<10), let hour = Self.decimal(bytes, 11..<13),
            let minute = Self.decimal(bytes, 14..<16), let second = Self.decimal(bytes, 17..<19),
            (1...12).contains(month), (1...Self.days(inMonth: month, of: year)).contains(day),
            hour < 24, minute < 60, second <= 60
        else { return nil }

        var index = 19
        var fraction: Int64 = 0
        if bytes[index] == 0x2E {
            index += 1
            let start = index
            var scale: Int64 = 100_000_000
            while index < bytes.count, (0x30...0x39).contains(bytes[index]) {
                fraction += Int64(bytes[index] - 0x30) * scale
                scale /= 10
                index += 1
            }
            guard index > start else { return nil }
        }
        guard index < bytes.count, let zone = Self.zoneSeconds(bytes[index...]) else { return nil }

        let days = Self.daysSinceEpoch(year: year, month: month, day: day)
        let seconds = days * 86_400 + Int64(hour * 3_600 + minute * 60 + second) - zone
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return nil }
        self.init(nanoseconds: Instant(nanoseconds: whole).advanced(byNanoseconds: fraction).nanoseconds)
    }

    /// RFC 3339 in UTC with nine digits of fraction: `2026-11-29T12:00:00.123456000Z`.
    public var rfc3339: String {
        let (date, time) = utcFields
        return "\(Self.pad(date.year, 4))-\(Self.pad(date.month, 2))-\(Self.pad(date.day, 2))T\(time)Z"
    }

    /// The time of day in UTC with microseconds, for timelines: `12:00:00.123456`.
    public var timeOfDay: String {
        String(utcFields.time.dropLast(3))
    }

    private var utcFields: (date: (year: Int, month: Int, day: Int), time: String) {
        // Rounded down without a sum that the earliest instant would overflow.
        let (quotient, remainder) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let secondsFloor = remainder < 0 ? quotient - 1 : quotient
        let fraction = remainder < 0 ? remainder + 1_000_000_000 : remainder
        let days = secondsFloor >= 0 ? secondsFloor / 86_400 : (secondsFloor - 86_399) / 86_400
        let rest = Int(secondsFloor - days * 86_400)
        let time = "\(Self.pad(rest / 3_600, 2)):\(Self.pad(rest / 60 % 60, 2)):\(Self.pad(rest % 60, 2))"
        return (Self.civil(fromDays: days), "\(time).\(Self.pad(Int(fraction), 9))")
    }

    private static func decimal(_ bytes: [UInt8], _ range: Range<Int>) -> Int? {
        var value = 0
        for byte in bytes[range] {
            guard (0x30...0x39).contains(byte) else { return nil }
            value = value * 10 + Int(byte - 0x30)
        }
        return value
    }

    private static func zoneSeconds(_ bytes: ArraySlice<UInt8>) -> Int64? {
        let zone = Array(bytes)
        if zone == [0x5A] || zone == [0x7A] { return 0 }
        guard zone.count == 6, zone[0] == 0x2B || zone[0] == 0x2D, zone[3] == 0x3A,
            let hours = decimal(zone, 1..<3), let minutes = decimal(zone, 4..<6), hours < 24, minutes < 60
        else { return nil }
        let seconds = Int64(hours * 3_600 + minutes * 60)
        return zone[0] == 0x2D ? -seconds : seconds
    }

    private static func days(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days from 1970-01-01, by counting from 0000-03-01 in eras of 400 years.
    private static func daysSinceEpoch(year: Int, month: Int, day: Int) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return Int64(era * 146_097 + dayOfEra - 719_468)
    }

    private static func civil(fromDays days: Int64) -> (year: Int, month: Int, day: Int) {
        let shifted = Int(days) + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    private static func pad(_ value: Int, _ width: Int) -> String {
        let digits = String(value)
        return digits.count >= width ? digits : String(repeating: "0", count: width - digits.count) + digits
    }
}
