public import SessionTrace

/// Makes marks from the logs of other tools (RULES section 4.1): bytes in, in pieces of any size; marks out.
///
/// Every mark is an interval on the log's own clock, as wide as the tool leaves it open: a stamp of one second stands for
/// the whole second, a click for the time from the request to its answer. `ClockOffset` turns it into reference time.
public struct MarkImport: Sendable {
    /// What wrote the log.
    public enum Format: String, CaseIterable, Sendable {
        case getevent, logcat, iosSyslog = "ios-syslog", maestro, appium, xcuitest

        /// Whether the log was stamped by the host that runs the test, not by the device.
        public var isOfRunner: Bool {
            switch self {
            case .getevent, .logcat, .iosSyslog: false
            case .maestro, .appium, .xcuitest: true
            }
        }
    }

    /// What the log leaves out.
    public struct Settings: Sendable {
        /// What labels stand for.
        public var labels = TapLabels()
        /// The year of the first line, for times without one.
        public var year: Int?
        /// The date of the first line (midnight UTC), for times without one.
        public var date: Instant?
        /// Seconds that the times' zone is ahead of UTC, for times without one.
        public var zoneSeconds: Int?

        /// Nothing is left out.
        public init() {}
    }

    /// Something to tell of a log.
    public struct Remark: Hashable, Sendable {
        /// How many lines it is true of.
        public var count: Int
        /// The first of them.
        public var line: Int
        /// What.
        public var text: String
    }

    /// A mark on the log's clock.
    public struct ImportedMark: Hashable, Sendable {
        /// The mark; its span is on the log's clock.
        public var mark: Mark
        /// The line that it stands in.
        public var line: Int
        /// Counted from the device's boot: its span's zero is not 1970.
        public var isMonotonic: Bool
    }

    /// What a log holds.
    public struct Reading: Sendable {
        /// The marks in the order of their times.
        public var marks: [ImportedMark]
        /// What was left out or needs a look.
        public var remarks: [Remark]
        /// Lines read.
        public var lines: Int
        /// What the times of receipt before the lines say of the clocks; empty without them.
        public var receipts: [ClockProbe]
        /// Steps of the test that are no taps and made no mark: how many of each name, the most frequent first.
        public var otherSteps: [Step] = []
    }

    /// A kind of step, by its name in few words.
    public struct Step: Hashable, Sendable {
        /// What it is called: `Input text`, `value`.
        public var name: String
        /// How many there were.
        public var count: Int
    }

    private var lines = LogLines()
    private var log: MarkLog
    private var reader: any MarkLogReader
    /// What wrote the log.
    public let format: Format

    /// An import that has read nothing.
    public init(_ format: Format, settings: Settings = Settings()) {
        self.format = format
        var dating = LogDating(year: settings.year, zoneSeconds: settings.zoneSeconds)
        if let date = settings.date {
            var cursor = LineCursor(Array(date.rfc3339.utf8))
            if let civil = cursor.civil(), let year = civil.year, let month = civil.month, let day = civil.day {
                dating.date = (year, month, day)
            }
        }
        log = MarkLog(labels: settings.labels, dating: dating)
        switch format {
        case .getevent: reader = GeteventLog()
        case .logcat: reader = LogcatLog()
        case .iosSyslog: reader = IOSSyslog()
        case .maestro: reader = MaestroLog()
        case .appium:
            // Appium's stamps are UTC unless it was started with --local-timezone.
            reader = AppiumLog(zoneIsGiven: settings.zoneSeconds != nil)
            log.dating.zoneSeconds = settings.zoneSeconds ?? 0
        case .xcuitest: reader = XCUITestLog()
        }
    }

    /// Takes the next piece.
    public mutating func receive(_ piece: ArraySlice<UInt8>) throws(MarkError) {
        for (number, line) in lines.receive(piece) { try take(number, line) }
    }

    /// The log has ended. Throws if nothing in it was of the format.
    public mutating func finish() throws(MarkError) -> Reading {
        if let (number, line) = lines.finish() { try take(number, line) }
        try reader.finish(&log)
        if !log.isRecognised {
            throw MarkError(
                line: max(log.foreign.line, 1), column: 1,
                reason: lines.count == 0
                    ? "is empty: a log of \(format.rawValue) was to be here"
                    : "no line is one of \(format.rawValue); is it another format?")
        }
        var remarks = log.remarks.map { Remark(count: $0.value.count, line: $0.value.line, text: $0.key) }
        if log.foreign.count > 0 {
            remarks.append(
                Remark(count: log.foreign.count, line: log.foreign.line, text: "not a line of \(format.rawValue)"))
        }
        let marks = log.found.map { ImportedMark(mark: $0.mark, line: $0.line, isMonotonic: $0.isMonotonic) }
        return Reading(
            marks: marks.sorted { ($0.mark.span.earliest, $0.line) < ($1.mark.span.earliest, $1.line) },
            remarks: remarks.sorted { ($0.line, $0.text) < ($1.line, $1.text) }, lines: lines.count,
            receipts: log.receipts,
            otherSteps: log.steps.map { Step(name: $0.key, count: $0.value) }
                .sorted { ($1.count, $0.name) < ($0.count, $1.name) })
    }

    private mutating func take(_ number: Int, _ line: LogLine?) throws(MarkError) {
        guard let line else {
            log.remark("longer than \(LogLines.lineLimit) bytes", number)
            return
        }
        guard line.bytes.contains(where: { $0 != 0x20 && $0 != 0x09 }) else { return }
        try reader.take(line, &log)
    }
}
