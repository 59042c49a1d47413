public import SessionTrace

/// The unit and origin of an interface's timestamps (`if_tsresol`, `if_tsoffset`), and their exact way to nanoseconds.
public struct TimestampResolution: Hashable, Sendable {
    /// Units a second, as an exponent.
    public enum Unit: Hashable, Sendable {
        /// 10^−n seconds.
        case decimal(UInt8)
        /// 2^−n seconds.
        case binary(UInt8)
    }

    /// The unit.
    public let unit: Unit
    /// Seconds to add to every timestamp.
    public let offsetSeconds: Int64
    /// For decimal units down to nanoseconds: nanoseconds a unit; 0 for every other unit.
    private let nanosecondsPerUnit: UInt64

    /// 10^−6 s, pcapng's default.
    public static let microseconds = TimestampResolution(.decimal(6))
    /// 10^−9 s.
    public static let nanoseconds = TimestampResolution(.decimal(9))

    /// Makes a resolution; exponents run to 127.
    public init(_ unit: Unit, offsetSeconds: Int64 = 0) {
        self.unit = unit
        self.offsetSeconds = offsetSeconds
        if case .decimal(let exponent) = unit, exponent <= 9 {
            nanosecondsPerUnit = Self.powersOfTen[9 - Int(exponent)]
        } else {
            nanosecondsPerUnit = 0
        }
    }

    /// Reads the one byte of `if_tsresol`: the top bit chooses powers of two.
    public init(option byte: UInt8, offsetSeconds: Int64 = 0) {
        self.init(byte & 0x80 == 0 ? .decimal(byte) : .binary(byte & 0x7F), offsetSeconds: offsetSeconds)
    }

    /// The byte of `if_tsresol`.
    public var optionByte: UInt8 {
        switch unit {
        case .decimal(let exponent): exponent & 0x7F
        case .binary(let exponent): exponent | 0x80
        }
    }

    /// The instant of a timestamp in these units. Exact to the nanosecond (finer units are cut, not rounded).
    ///
    /// Timestamps are unsigned, but some writers store times before 1970 (or before their own clock's start) in two's
    /// complement: one that lies beyond `Instant`'s range and has its top bit set is read as negative, which keeps the
    /// differences between such packets. What still lies beyond the range sticks to its end.
    public func instant(units: UInt64) -> Instant {
        var instant: Instant
        if let whole = nanoseconds(units: units) {
            instant = Instant(nanoseconds: whole)
        } else if units >> 63 == 1, let whole = nanoseconds(units: ~units &+ 1) {
            instant = Instant(nanoseconds: -whole)
        } else {
            instant = .distantFuture
        }
        if offsetSeconds != 0 {
            let (offset, overflow) = offsetSeconds.multipliedReportingOverflow(by: 1_000_000_000)
            instant = instant.advanced(byNanoseconds: overflow ? (offsetSeconds < 0 ? .min : .max) : offset)
        }
        return instant
    }

    /// The timestamp of an instant in these units, cut to the unit at or before it; two's complement when negative.
    public func units(at instant: Instant) -> UInt64 {
        let (offset, overflow) = offsetSeconds.multipliedReportingOverflow(by: 1_000_000_000)
        let shift = overflow ? (offsetSeconds < 0 ? Int64.max : .min) : 0 &- offset
        let nanoseconds = instant.advanced(byNanoseconds: shift).nanoseconds
        let magnitude = nanoseconds.magnitude
        let units: UInt64
        switch unit {
        case .decimal(let exponent) where exponent <= 9:
            let (quotient, remainder) = magnitude.quotientAndRemainder(dividingBy: nanosecondsPerUnit)
            units = nanoseconds < 0 && remainder > 0 ? quotient &+ 1 : quotient
        case .decimal(let exponent):
            let power = Int(exponent) - 9
            units = power < Self.powersOfTen.count ? magnitude &* Self.powersOfTen[power] : 0
        case .binary(let exponent):
            // magnitude · 2^exponent / 10^9; the quotient's upper half is cut off, as there is no room for it.
            let shifted: (high: UInt64, low: UInt64) =
                exponent == 0
                ? (0, magnitude)
                : exponent < 64 ? (magnitude >> (64 - UInt64(exponent)), magnitude << UInt64(exponent)) : (0, 0)
            units = UInt64(1_000_000_000).dividingFullWidth((shifted.high % 1_000_000_000, shifted.low)).quotient
        }
        return nanoseconds < 0 ? 0 &- units : units
    }

    /// Nanoseconds of a count of units; nil beyond 2^63 − 1.
    private func nanoseconds(units: UInt64) -> Int64? {
        let nanoseconds: (high: UInt64, low: UInt64)
        if nanosecondsPerUnit != 0 {
            nanoseconds = units.multipliedFullWidth(by: nanosecondsPerUnit)
        } else {
            switch unit {
            case .decimal(let exponent):
                let power = Int(exponent) - 9
                nanoseconds = (0, power < Self.powersOfTen.count ? units / Self.powersOfTen[power] : 0)
            case .binary(let exponent):
                // units · 10^9 / 2^exponent, in 128 bits.
                let (high, low) = units.multipliedFullWidth(by: 1_000_000_000)
                let shift = UInt64(exponent)
                if shift == 0 {
                    nanoseconds = (high, low)
                } else if shift < 64 {
                    nanoseconds = (high >> shift, high << (64 - shift) | low >> shift)
                } else {
                    nanoseconds = (0, high >> (shift - 64))
                }
            }
        }
        return nanoseconds.high == 0 ? Int64(exactly: nanoseconds.low) : nil
    }

    /// 10^0 … 10^19: all powers of ten that fit.
    private static let powersOfTen: [UInt64] = (0..<20).map { exponent in
        (0..<exponent).reduce(1) { power, _ in power &* 10 }
    }
}
