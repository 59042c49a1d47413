internal import SessionTrace

/// Taps in Maestro's `maestro.log` (docs.maestro.dev "Debug output"; pattern `%d{HH:mm:ss.SSS} [%5level] %logger.%method:
/// %msg%n` of its `LogConfig.kt`), and in logs of older versions that begin with `[2026-11-30 05:10:31]`.
///
/// ```
/// 05:10:31.123 [ INFO] maestro.cli.runner.TestSuiteInteractor.invoke: Tap on "Share selection and continue" RUNNING
/// 05:10:32.456 [ INFO] maestro.cli.runner.TestSuiteInteractor.invoke: Tap on "Share selection and continue" COMPLETED
/// ```
///
/// A tap lasts from RUNNING to COMPLETED: Maestro looks for the element, taps and waits for the screen in between. Of one
/// that came out otherwise, or of which the log shows one end only, it is not known whether it was made: its mark is unsure
/// (`TapLabels.unsureTap`). One that was SKIPPED was not made.
struct MaestroLog: MarkLogReader {
    static let openLimit = 1_000

    private var open: [String: (start: LogStamp.Reading, line: Int)] = [:]
    /// The first and the last line's time, as far as a date is known for it.
    private var first: LogStamp.Reading?
    private var last: LogStamp.Reading?

    mutating func take(_ line: LogLine, _ log: inout MarkLog) throws(MarkError) {
        var cursor = LineCursor(line.bytes)
        guard let civil = Self.head(&cursor) else {
            log.leaveOut(line.number)
            return
        }
        log.dating.follow(civil)
        let step = Self.step(String(decoding: cursor.rest, as: UTF8.self))
        log.understand(isCertain: step != nil)
        last = (try? log.reading(of: .civil(civil), line: line.number)) ?? last
        first = first ?? last
        guard let (tap, state) = step else { return }
        guard Self.isTap(tap) else {
            if state != "RUNNING" { log.step(Self.name(of: tap)) }
            return
        }
        let stamp = try log.reading(of: .civil(civil), line: line.number)
        switch state {
        case "RUNNING":
            guard open.count < Self.openLimit else {
                log.remark("more than \(Self.openLimit) taps at once", line.number)
                return
            }
            if open[tap] == nil { open[tap] = (stamp, line.number) }
        case "COMPLETED":
            guard let begun = open.removeValue(forKey: tap) else {
                log.remark("the end of a tap without its beginning: a mark without target", line.number)
                return try addUnsure(from: first ?? stamp, to: stamp, line.number, &log)
            }
            let mark = log.labels.tap(
                on: Self.label(tap), TimeSpan(begun.start.span.earliest, stamp.span.latest), count: Self.count(tap))
            try log.add(mark, line: begun.line, isMonotonic: false)
        case "SKIPPED":
            open[tap] = nil
            log.remark("a tap that came out as SKIPPED; no mark", line.number)
        default:
            let begun = open.removeValue(forKey: tap)
            log.remark("a tap that came out as \(state), and perhaps was made: a mark without target", line.number)
            try addUnsure(from: begun?.start ?? first ?? stamp, to: stamp, begun?.line ?? line.number, &log)
        }
    }

    mutating func finish(_ log: inout MarkLog) throws(MarkError) {
        for begun in open.values {
            log.remark("a tap without its end, which perhaps was made: a mark without target", begun.line)
            try addUnsure(from: begun.start, to: last ?? begun.start, begun.line, &log)
        }
    }

    private func addUnsure(
        from start: LogStamp.Reading, to end: LogStamp.Reading, _ line: Int, _ log: inout MarkLog
    ) throws(MarkError) {
        let span = TimeSpan(start.span.earliest, max(start.span.latest, end.span.latest))
        try log.add(log.labels.unsureTap(span), line: line, isMonotonic: false)
    }

    private static func head(_ cursor: inout LineCursor) -> LogStamp.Civil? {
        let isBracketed = cursor.take("[")
        guard let civil = cursor.civil(), !isBracketed || cursor.take("]") else { return nil }
        cursor.skipSpaces()
        guard cursor.take("["), let end = cursor.find("]") else { return nil }
        cursor.index = end + 1
        cursor.skipSpaces()
        return civil
    }

    private static let states: Set<Substring> = ["RUNNING", "COMPLETED", "FAILED", "WARNED", "SKIPPED"]

    private static func isTap(_ step: String) -> Bool {
        step.hasPrefix("Tap on ") || step.hasPrefix("Tap x") || step.hasPrefix("Double tap on ")
    }

    /// What kind of step it is: its first two words, without what it was given.
    private static func name(of step: String) -> String {
        let words = step.prefix { $0 != "\"" && $0 != ":" }.split(separator: " ").prefix(2)
            .prefix { $0.allSatisfy(\.isLetter) }
        return words.isEmpty ? "step" : words.joined(separator: " ")
    }

    /// A step's description and what became of it.
    private static func step(_ message: String) -> (step: String, state: String)? {
        var text = message[...]
        // The logger's name stands before the message, with a colon or a dash.
        if let space = text.firstIndex(of: " ") {
            let word = text[..<space]
            let behind = text[text.index(after: space)...]
            if word.hasSuffix(":") {
                text = behind
            } else if behind.hasPrefix("- ") {
                text = behind.dropFirst(2)
            }
        }
        guard let space = text.lastIndex(of: " ") else { return nil }
        let state = text[text.index(after: space)...]
        return states.contains(state) ? (String(text[..<space]), String(state)) : nil
    }

    /// What is tapped: the quoted text, or what is said instead of one (`id: share`).
    private static func label(_ tap: String) -> String? {
        if let quoted = TapLabels.quoted(tap) { return quoted }
        guard let on = tap.firstRange(of: " on ") else { return nil }
        var rest = tap[on.upperBound...]
        if rest.hasPrefix("(Optional) ") { rest = rest.dropFirst(11) }
        return rest.isEmpty ? nil : String(rest)
    }

    private static func count(_ tap: String) -> Int {
        if tap.hasPrefix("Double") { return 2 }
        guard tap.hasPrefix("Tap x"), let count = Int(tap.dropFirst(5).prefix { $0.isNumber }) else { return 1 }
        return min(max(count, 1), 1_000)
    }
}
