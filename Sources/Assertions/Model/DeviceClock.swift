internal import SessionTrace

/// How far a device's wall clock may be ahead of the trace's, in nanoseconds (negative: behind).
///
/// Samples are marks with `attrs.deviceTime`, the device's own time when the mark was made: it lies between the two
/// ends of the mark, so the difference does too (RULES 4.2). A mark that knows one moment only, its arrival, is taken
/// to have been on its way for `transit` at most.
struct DeviceClock: Hashable, Sendable {
    /// Least and greatest possible difference; the first is greater when samples contradict each other.
    var least: Int64
    var greatest: Int64
    var samples: Int

    /// The longest way of a mark that tells its arrival alone.
    static let transit = Nanoseconds.seconds(1)

    /// Whether the clock was set between two samples.
    var isStepped: Bool { least > greatest }

    /// What marks tell of the clock; nil when none does.
    init?(_ marks: [Mark], _ timing: Policy.Timing) {
        least = .min
        greatest = .max
        samples = 0
        for mark in marks {
            guard let time = mark.attributes["deviceTime"].flatMap({ Instant(rfc3339: $0) }) else { continue }
            let bound = MarkBook.clockBound(mark, timing).count
            let way = mark.span.earliest == mark.span.latest ? Self.transit.count : 0
            least = max(least, time.nanoseconds(since: mark.span.latest.advanced(byNanoseconds: bound)))
            greatest = min(
                greatest, time.nanoseconds(since: mark.span.earliest.advanced(byNanoseconds: -bound - way)))
            samples += 1
        }
        if samples == 0 { return nil }
    }

    /// `ahead by 250 ms to 1 s`.
    var words: String { "the device's clock is \(Nanoseconds(least)) to \(Nanoseconds(greatest)) ahead" }
}
