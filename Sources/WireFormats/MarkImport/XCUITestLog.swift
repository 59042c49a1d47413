internal import SessionTrace

/// Taps in what `xcodebuild test` prints of UI tests (activities of XCTest, `t =` seconds since the test began).
///
/// ```
/// Test Suite 'HandoffUITests' started at 2026-11-30 05:10:27.474.
/// Test Case '-[UITests.HandoffUITests testShare]' started.
///     t =     0.00s Start Test at 2026-11-30 05:10:27.500
///     t =     3.98s Tap "Share selection and continue" Button
///     t =     3.98s     Wait for health.example.shop to idle
///     t =     4.05s     Synthesize event
///     t =     4.15s     Wait for health.example.shop to idle
///     t =     4.80s Checking existence of `"Done" Button`
/// Test Case '-[UITests.HandoffUITests testShare]' passed (5.123 seconds).
/// ```
///
/// A tap lasts from "Synthesize event" to what comes behind it, or, if such lines were filtered out, from the tap's line
/// to the next activity beside it. Seconds are rounded to hundredths: half a hundredth is added at both ends. A test
/// without "Start Test at" began between the stamps of suites before and behind it.
///
/// A tap that failed before its event was not made. One that failed behind it, or that the log cuts off, perhaps was: its
/// mark is unsure (`TapLabels.unsureTap`).
struct XCUITestLog: MarkLogReader {
    static let tapLimit = 10_000
    private static let rounding = Int64(5_000_000)

    private struct OpenTap: Sendable {
        var label: String?
        var count: Int
        var line: Int
        var indent: Int
        var start: Int64
        var synthesis: (start: Int64, end: Int64?, indent: Int)?
        /// Whether the log shows what happens within it.
        var showsWithin = false
        var failed = false
    }

    private struct DoneTap: Sendable {
        var label: String?
        var count: Int
        var line: Int
        var from: Int64
        var to: Int64
        /// Whether it perhaps was not made.
        var isUnsure = false
    }

    private var open: OpenTap?
    /// When the test began, if it says so.
    private var base: TimeSpan?
    /// The last stamp of a suite, and the one before the test that runs.
    private var stamp: Instant?
    private var stampBefore: Instant?
    /// Seconds at the last activity of the test.
    private var elapsed: Int64 = 0
    /// Taps of tests that did not say when they began: with the earliest beginning, and how long the test ran at least.
    private var undated: [(tap: DoneTap, after: Instant?, ran: Int64)] = []
    private var current: [DoneTap] = []

    mutating func take(_ line: LogLine, _ log: inout MarkLog) throws(MarkError) {
        var cursor = LineCursor(line.bytes)
        cursor.skipSpaces()
        if cursor.take("t =") {
            log.understand()
            try activity(&cursor, line.number, &log)
        } else if cursor.take("Test Suite '") {
            log.understand()
            try suite(&cursor, line.number, &log)
        } else if cursor.take("Test Case '") {
            log.understand()
            try testCase(String(decoding: cursor.rest, as: UTF8.self), line.number, &log)
        } else {
            if open != nil, cursor.find(": error: ") != nil { open?.failed = true }
            log.leaveOut(line.number)
        }
    }

    mutating func finish(_ log: inout MarkLog) throws(MarkError) {
        try end(at: nil, &log)
        for entry in undated { log.remark("a tap whose test does not say when it began; no mark", entry.tap.line) }
    }

    private mutating func activity(_ cursor: inout LineCursor, _ line: Int, _ log: inout MarkLog) throws(MarkError) {
        cursor.skipSpaces()
        // `t = nans` stands before a test's own time.
        guard let time = cursor.seconds()?.nanoseconds, cursor.take("s") else { return }
        let before = cursor.index
        cursor.skipSpaces()
        let indent = cursor.index - before
        elapsed = max(elapsed, time)
        if let tap = open {
            if indent > tap.indent { open?.showsWithin = true }
            if indent <= tap.indent {
                try close(at: time, &log)
            } else if let synthesis = tap.synthesis, synthesis.end == nil, indent <= synthesis.indent {
                open?.synthesis?.end = time
            }
        }
        let title = String(decoding: cursor.rest, as: UTF8.self)
        if title.hasPrefix("Start Test at ") {
            _ = cursor.take("Start Test at ")
            if let civil = cursor.civil(), civil.year != nil {
                base = try log.dating.reading(of: civil, line: line).span
            }
        } else if title.hasPrefix("Synthesize event"), open != nil {
            // A second attempt goes on from the first.
            let start = open?.synthesis?.start ?? time
            open?.synthesis = (start, nil, indent)
        } else if let count = Self.taps(title) {
            open = OpenTap(label: TapLabels.quoted(title), count: count, line: line, indent: indent, start: time)
        }
    }

    private static func taps(_ title: String) -> Int? {
        if title.hasPrefix("Tap ") { return 1 }
        return title.hasPrefix("Double tap ") || title.hasPrefix("Double-tap ") ? 2 : nil
    }

    private mutating func suite(_ cursor: inout LineCursor, _ line: Int, _ log: inout MarkLog) throws(MarkError) {
        guard let place = cursor.find("' ") else { return }
        cursor.index = place
        guard let at = cursor.find(" at ") else { return }
        cursor.index = at + 4
        guard let civil = cursor.civil(), civil.year != nil else { return }
        try end(at: nil, &log)
        let now = try log.dating.reading(of: civil, line: line).span
        for entry in undated {
            guard let after = entry.after else {
                log.remark("a tap whose test does not say when it began; no mark", entry.tap.line)
                continue
            }
            let latest = now.latest.advanced(byNanoseconds: Self.rounding - entry.ran)
            try add(entry.tap, TimeSpan(after, max(after, latest)), &log)
        }
        undated = []
        stamp = now.earliest
    }

    /// `-[Suite case]' started.` or `…' passed (5.123 seconds).`
    private mutating func testCase(_ text: String, _ line: Int, _ log: inout MarkLog) throws(MarkError) {
        if text.hasSuffix("' started.") {
            try end(at: nil, &log)
            base = nil
            elapsed = 0
            stampBefore = stamp
            return
        }
        guard let bracket = text.lastIndex(of: "(") else { return }
        var cursor = LineCursor(Array(text[text.index(after: bracket)...].utf8))
        try end(at: cursor.seconds()?.nanoseconds, &log)
    }

    /// The test has ended, perhaps at a time that it says.
    private mutating func end(at time: Int64?, _ log: inout MarkLog) throws(MarkError) {
        if let tap = open {
            if let time = time ?? tap.synthesis?.end {
                elapsed = max(elapsed, time)
                try close(at: time, &log)
            } else {
                open = nil
                log.remark("a tap without its end, which perhaps was made: a mark without target", tap.line)
                try keep(tap, until: elapsed, isUnsure: true, &log)
            }
        }
        elapsed = max(elapsed, time ?? 0)
        for tap in current {
            guard undated.count < Self.tapLimit else {
                log.remark("more than \(Self.tapLimit) taps in tests that do not say when they began", tap.line)
                break
            }
            undated.append((tap, stampBefore, elapsed))
        }
        current = []
    }

    private mutating func close(at time: Int64, _ log: inout MarkLog) throws(MarkError) {
        guard let tap = open else { return }
        open = nil
        guard tap.failed else { return try keep(tap, until: tap.synthesis?.end ?? time, isUnsure: false, &log) }
        if tap.showsWithin, tap.synthesis == nil {
            log.remark("a tap that failed; no mark", tap.line)
            return
        }
        log.remark("a tap that failed, and perhaps was made: a mark without target", tap.line)
        try keep(tap, until: time, isUnsure: true, &log)
    }

    private mutating func keep(
        _ tap: OpenTap, until end: Int64, isUnsure: Bool, _ log: inout MarkLog
    ) throws(MarkError) {
        let start = tap.synthesis?.start ?? tap.start
        let done = DoneTap(
            label: tap.label, count: tap.count, line: tap.line, from: start, to: max(start, end), isUnsure: isUnsure)
        if let base { return try add(done, base, &log) }
        if current.count < Self.tapLimit { current.append(done) }
    }

    /// A tap of a test that began within `base`.
    private func add(_ tap: DoneTap, _ base: TimeSpan, _ log: inout MarkLog) throws(MarkError) {
        if tap.label == nil, !tap.isUnsure { log.remark("a tap on something without a label", tap.line) }
        let span = TimeSpan(
            base.earliest.advanced(byNanoseconds: tap.from - Self.rounding),
            base.latest.advanced(byNanoseconds: tap.to + Self.rounding))
        let mark = tap.isUnsure ? log.labels.unsureTap(span) : log.labels.tap(on: tap.label, span, count: tap.count)
        try log.add(mark, line: tap.line, isMonotonic: false)
    }
}
