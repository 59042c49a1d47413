public import SessionTrace

/// How far the reference clock is ahead of another one, as bounds that hold at any time of the other clock.
///
/// A probe bounds the offset at its own time: HOST0 − DEVICE ≤ offset ≤ HOST1 − DEVICE. Two clocks drift apart by at most
/// 100 ppm, so at a distance d from the probe the bounds are wider by d/10,000. The offset lies within the bounds of all
/// probes; if they have no value in common, a clock was set or stood still between them (RULES 4.2).
///
/// Lines with a time of receipt give the upper bound alone, as a line is not received before it is written. The lower
/// bound is then the upper one less the spread of the delays: what the fastest line cost is not known, so that such marks
/// stay marks of a foreign clock. A fast line bounds the slow ones around it too; where two differ by more than a quarter of
/// a second the clock may have been set between them, and each keeps its own bound.
public struct ClockOffset: Sendable {
    /// Drift between two clocks: one in this many.
    static let driftDivisor: Int64 = 10_000
    /// How far from all probes a time may lie: farther it is another clock's.
    public static let reach = Int64(86_400) * 1_000_000_000
    /// How far outside of the probes' time a mark is told of.
    static let margin = Int64(60) * 1_000_000_000
    /// Delays of all later lines that exceed those of all earlier ones by more show that the clock stood still.
    static let stepThreshold = Int64(1_000_000_000)
    /// Delays of two lines that differ by more may be a step of the clock: as much as marks of a log are known to (HC-03).
    static let jumpThreshold = Int64(250_000_000)

    private struct Point: Sendable {
        var device: Int64
        var least: Int64?
        var most: Int64
        var line: Int
        var leastLine: Int
        var mostLine: Int
    }

    private let points: [Point]
    /// The device's clock counts from boot.
    public let isMonotonic: Bool
    /// Both bounds come from probes.
    public let isTwoSided: Bool
    /// Spread of the delays of lines, nanoseconds; 0 with probes.
    public let jitterNanoseconds: Int64

    /// Intersects probes and times of receipt. Nil without any; throws if they contradict each other.
    public init?(probes: [ClockProbe], receipts: [ClockProbe] = []) throws(MarkError) {
        let all = probes + receipts
        guard let first = all.first else { return nil }
        if let other = all.first(where: { $0.isMonotonic != first.isMonotonic }) {
            throw MarkError(
                line: other.line, column: 1,
                reason: "times since boot and times of day in one: are probes and log of the same clock?")
        }
        var points = all.map {
            Point(
                device: $0.device, least: $0.least, most: $0.most, line: $0.line, leastLine: $0.line, mostLine: $0.line)
        }.sorted { ($0.device, $0.line) < ($1.device, $1.line) }
        if probes.isEmpty { try Self.refuseStep(points) }
        let isTwoSided = !probes.isEmpty
        for index in points.indices.dropFirst() where isTwoSided || !Self.isJump(points[index], points[index - 1]) {
            points[index] = Self.narrowed(points[index], by: points[index - 1])
        }
        for index in points.indices.dropLast().reversed()
        where isTwoSided || !Self.isJump(points[index], points[index + 1]) {
            points[index] = Self.narrowed(points[index], by: points[index + 1])
        }
        for point in points {
            if let least = point.least, least > point.most {
                throw MarkError(
                    line: max(point.leastLine, point.mostLine), column: 1,
                    reason:
                        "the clock stepped or stood still: lines \(min(point.leastLine, point.mostLine)) and "
                        + "\(max(point.leastLine, point.mostLine)) leave no offset in common (by "
                        + "\(Self.milliseconds(Self.difference(least, point.most))) ms beyond a drift of 100 ppm)")
            }
        }
        isMonotonic = first.isMonotonic
        self.isTwoSided = isTwoSided
        if probes.isEmpty {
            let delays = receipts.map(\.most)
            jitterNanoseconds = Self.difference(delays.max() ?? 0, delays.min() ?? 0)
            for index in points.indices { points[index].least = Self.sum(points[index].most, -jitterNanoseconds) }
        } else {
            jitterNanoseconds = 0
        }
        self.points = points
    }

    /// The reference time of something that the other clock saw within `span`.
    ///
    /// Throws, at `line`, if that lies so far from all probes that they can't be of the same clock.
    public func reference(_ span: TimeSpan, line: Int) throws(MarkError) -> TimeSpan {
        let from = span.earliest.nanoseconds
        let to = span.latest.nanoseconds
        guard let first = points.first?.device, let last = points.last?.device,
            Self.difference(first, to) <= Self.reach, Self.difference(from, last) <= Self.reach
        else {
            throw MarkError(
                line: line, column: 1,
                reason: "its time is more than a day from every probe: are probes and log of the same clock?")
        }
        return TimeSpan(
            span.earliest.advanced(byNanoseconds: bounds(at: from).least),
            span.latest.advanced(byNanoseconds: bounds(at: to).most))
    }

    /// Whether a time lies outside of the probes' by more than a minute, where a step of the clock would not be seen.
    public func isOutside(_ span: TimeSpan) -> Bool {
        guard let first = points.first?.device, let last = points.last?.device else { return true }
        return Self.difference(first, span.earliest.nanoseconds) > Self.margin
            || Self.difference(span.latest.nanoseconds, last) > Self.margin
    }

    /// The bounds of the offset at a time of the other clock, in nanoseconds.
    func bounds(at device: Int64) -> (least: Int64, most: Int64) {
        var low = 0
        var high = points.count
        while low < high {
            let middle = low + (high - low) / 2
            if points[middle].device <= device { low = middle + 1 } else { high = middle }
        }
        let beside = points[max(0, low - 1)...min(low, points.count - 1)]
        let bounds = beside.map { point in
            let drift = Self.drift(point.device, device)
            return (least: point.least.map { Self.sum($0, -drift) } ?? .min, most: Self.sum(point.most, drift))
        }
        if !isTwoSided, let one = beside.first, let other = beside.last, Self.isJump(one, other) {
            return (bounds.map(\.least).min() ?? .min, bounds.map(\.most).max() ?? .max)
        }
        return (bounds.map(\.least).max() ?? .min, bounds.map(\.most).min() ?? .max)
    }

    /// Whether the delays of two lines differ by so much that the clock may have been set between them.
    private static func isJump(_ one: Point, _ other: Point) -> Bool {
        let apart = max(difference(one.most, other.most), difference(other.most, one.most))
        return apart > sum(jumpThreshold, drift(one.device, other.device))
    }

    private static func narrowed(_ point: Point, by other: Point) -> Point {
        var point = point
        let drift = drift(point.device, other.device)
        if let least = other.least {
            let bound = sum(least, -drift)
            if point.least.map({ bound > $0 }) ?? true {
                point.least = bound
                point.leastLine = other.leastLine
            }
        }
        let bound = sum(other.most, drift)
        if bound < point.most {
            point.most = bound
            point.mostLine = other.mostLine
        }
        return point
    }

    /// Lines that are all received late from some line on: the device's clock stood still (in suspend) or was set back.
    private static func refuseStep(_ points: [Point]) throws(MarkError) {
        var laterMinima: [Int64] = []
        var minimum = Int64.max
        for point in points.reversed() {
            minimum = min(minimum, point.most)
            laterMinima.append(minimum)
        }
        laterMinima.reverse()
        var earlier = Int64.max
        for (index, point) in points.enumerated() {
            // The drift over the whole log is no step.
            let allowed = sum(stepThreshold, drift(points[0].device, point.device))
            if index > 0, difference(laterMinima[index], earlier) > allowed {
                throw MarkError(
                    line: point.line, column: 1,
                    reason:
                        "the clock stood still or was set back: from this line on all come at least "
                        + "\(milliseconds(difference(laterMinima[index], earlier))) ms later than before")
            }
            earlier = min(earlier, point.most)
        }
    }

    private static func drift(_ one: Int64, _ other: Int64) -> Int64 {
        let distance = max(difference(one, other), difference(other, one))
        return distance / driftDivisor + (distance == 0 ? 0 : 1)
    }

    private static func sum(_ one: Int64, _ other: Int64) -> Int64 {
        Instant(nanoseconds: one).advanced(byNanoseconds: other).nanoseconds
    }

    private static func difference(_ one: Int64, _ other: Int64) -> Int64 {
        Instant(nanoseconds: one).nanoseconds(since: Instant(nanoseconds: other))
    }

    private static func milliseconds(_ nanoseconds: Int64) -> Int64 {
        nanoseconds / 1_000_000
    }
}
