/// A point in time on the trace's reference clock, in whole nanoseconds since 1970-01-01T00:00:00Z.
///
/// The reference clock is the one that stamped the device-facing packets (RULES "Marks and clocks").
public struct Instant: Hashable, Comparable, Sendable {
    /// Nanoseconds since the Unix epoch; negative before it. Range: years 1677 to 2262.
    public var nanoseconds: Int64

    /// Makes an instant from nanoseconds since the Unix epoch.
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// The earliest instant that can be written: before everything.
    public static let distantPast = Instant(nanoseconds: .min)
    /// The latest instant that can be written: after everything.
    public static let distantFuture = Instant(nanoseconds: .max)

    public static func < (lhs: Instant, rhs: Instant) -> Bool {
        lhs.nanoseconds < rhs.nanoseconds
    }

    /// The instant `nanoseconds` later (earlier when negative); sticks to the ends of the range instead of overflowing.
    public func advanced(byNanoseconds nanoseconds: Int64) -> Instant {
        let (sum, overflow) = self.nanoseconds.addingReportingOverflow(nanoseconds)
        guard overflow else { return Instant(nanoseconds: sum) }
        return nanoseconds < 0 ? .distantPast : .distantFuture
    }

    /// Nanoseconds from `earlier` to this instant; negative when this one is the earlier. Sticks to the range's ends.
    public func nanoseconds(since earlier: Instant) -> Int64 {
        let (difference, overflow) = nanoseconds.subtractingReportingOverflow(earlier.nanoseconds)
        guard overflow else { return difference }
        return self < earlier ? .min : .max
    }
}

/// When something happened, known no better than between two instants (both included).
public struct TimeSpan: Hashable, Sendable {
    /// The earliest instant at which it can have happened (`lo` in the rule catalogue).
    public var earliest: Instant
    /// The latest instant at which it can have happened (`hi` in the rule catalogue).
    public var latest: Instant

    /// Makes a span; the bounds are put in order if they are not.
    public init(_ one: Instant, _ other: Instant) {
        earliest = min(one, other)
        latest = max(one, other)
    }

    /// A span of no length: the instant is known exactly.
    public init(_ instant: Instant) {
        earliest = instant
        latest = instant
    }

    /// Certainly before `other`: even its latest instant comes first.
    public func isDefinitelyBefore(_ other: TimeSpan) -> Bool {
        latest < other.earliest
    }

    /// Whether the two spans have an instant in common.
    public func overlaps(_ other: TimeSpan) -> Bool {
        earliest <= other.latest && other.earliest <= latest
    }
}
