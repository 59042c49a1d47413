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

    /// The instant of a timestamp in these units. Exact to the nanosecond (finer units are cut, not rounded); what
    /// lies beyond `Instant`'s range sticks to its end.
    public func instant(units: UInt64) -> Instant {
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
                nanoseconds =
                    shift == 0
                    ? (high, low)
                    : shift < 64 ? (high >> shift, high << (64 - shift) | low >> shift) : (0, high >> (shift - 64))
            }
        }
        guard nanoseconds.high == 0, let whole = Int64(exactly: nanoseconds.low) else { return .distantFuture }
        let instant = Instant(nanoseconds: whole)
        if offsetSeconds == 0 { return instant }
        let (offset, overflow) = offsetSeconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return offsetSeconds < 0 ? .distantPast : .distantFuture }
        return instant.advanced(byNanoseconds: offset)
    }

    /// 10^0 … 10^19: all powers of ten that fit.
    private static let powersOfTen: [UInt64] = (0..<20).map { exponent in
        (0..<exponent).reduce(1) { power, _ in power &* 10 }
    }
}
