internal import Assertions
internal import CaptureAnalyzer
internal import SessionTrace
internal import WireFormats

/// `handoff mark import`: makes a side file of marks from another tool's log.
struct MarkImportCommand {
    static let syntax = CommandSyntax(
        name: "mark import", operands: "LOG", operandCount: 1...1,
        summary: "Make marks from another tool's log: handoff mark import LOG --format=logcat > NAME.marks.jsonl.",
        options: [
            .value("format", "NAME", "what wrote the log: getevent, logcat, ios-syslog, maestro, appium or xcuitest"),
            .value(
                "probes", "FILE",
                "lines HOST0 DEVICE HOST1 that look at the capture's clock, the log's, and the capture's again"),
            .value(
                "target", "LABEL=WORD", repeats: true,
                "what a label is: cta, share, neutral, policy, return or other; for getevent X1,Y1-X2,Y2=WORD"),
            .value("clock", "NAME", "name of the log's clock; default device, device-monotonic or runner"),
            .flag("capture-clock", "the log's clock is the capture's own: the test ran on the host that recorded"),
            .value("year", "YYYY", "the year of the first line, where times have none"),
            .value("date", "YYYY-MM-DD", "the date of the first line, where times have none"),
            .value("zone", "ZONE", "the zone of times that have none: Z or +01:00"),
        ],
        notes: """
            Prints JSON Lines, for a file beside the trace or handoff check --marks. What was left out is counted on standard
            error. LOG may be - for standard input. Known labels: Share selection and continue (share), Continue without
            sharing and Continue to Chia (neutral).
            Exit status: 0 the log was read, 2 wrong usage, 3 log or probes can't be read or contradict each other.
            """)

    private let handoff: Handoff
    private let arguments: Arguments

    init(handoff: Handoff, arguments: Arguments) {
        self.handoff = handoff
        self.arguments = arguments
    }

    func run() throws -> ExitStatus {
        guard let format = try arguments.choice("format", MarkImport.Format.self) else {
            throw UsageError(message: "--format is missing: what wrote the log?")
        }
        guard !arguments.has("capture-clock") || (arguments.value("clock") ?? arguments.value("probes")) == nil else {
            throw UsageError(message: "--capture-clock goes with neither --clock nor --probes")
        }
        guard arguments.value("clock")?.isEmpty != true else { throw UsageError(message: "--clock needs a name") }
        let settings = try settings(format)
        let path = arguments.operands[0]
        let probesPath = arguments.value("probes")
        let probeBytes = try probesPath.map { try FileSystem.read($0, as: .probes) }
        let reading = try read(path, MarkImport(format, settings: settings))
        var place = path
        do throws(MarkError) {
            let reading = try reading.get()
            place = probesPath ?? path
            let probes = try probeBytes.map(ClockProbeFile.init)?.probes ?? []
            let offset = try ClockOffset(probes: probes, receipts: reading.receipts)
            place = path
            let lines = try lines(of: reading, offset, format)
            handoff.console.result(lines.map { "\($0)\n" }.joined())
            tell(reading, offset, format, path)
            return .conforming
        } catch {
            var error = error
            error.file = place
            handoff.console.complain("\(error)")
            return .unreadable
        }
    }

    /// Reads a log of any length up to the limit, a piece at a time.
    private func read(
        _ path: String, _ marks: consuming MarkImport
    ) throws(FileError) -> Result<MarkImport.Reading, MarkError> {
        var marks = marks
        var fault: MarkError?
        do throws(TextFileError) {
            try TextFile.read(path, as: .log) { piece in
                guard fault == nil else { return }
                do throws(MarkError) {
                    try marks.receive(piece)
                } catch {
                    fault = error
                }
            }
        } catch {
            throw FileError(path, error)
        }
        if let fault { return .failure(fault) }
        return Result { () throws(MarkError) -> MarkImport.Reading in try marks.finish() }
    }

    /// The marks as lines of a side file, on the reference clock if that is known.
    private func lines(
        of reading: MarkImport.Reading, _ offset: ClockOffset?, _ format: MarkImport.Format
    ) throws(MarkError) -> [Substring] {
        var lines: [Substring] = []
        for imported in reading.marks {
            var mark = imported.mark
            mark.clock = clock(offset, imported, format)
            if let offset {
                guard imported.isMonotonic == offset.isMonotonic else {
                    throw MarkError(
                        line: imported.line, column: 1,
                        reason: imported.isMonotonic
                            ? "its time counts from boot, and the probes' times do not: probe the same clock"
                            : "its time is a time of day, and the probes' count from boot: probe the same clock")
                }
                mark.span = try offset.reference(mark.span, line: imported.line)
            } else if imported.isMonotonic {
                throw MarkError(
                    line: imported.line, column: 1,
                    reason:
                        "its time counts from boot and says no time of day; give --probes, or log the time of receipt "
                        + "before each line")
            }
            lines.append(TraceText.text(of: mark).dropFirst(TraceText.markPrefix.count))
        }
        return lines
    }

    /// The clock that a mark names: none if its time is the capture's.
    private func clock(
        _ offset: ClockOffset?, _ mark: MarkImport.ImportedMark, _ format: MarkImport.Format
    ) -> String? {
        if arguments.has("capture-clock") || offset?.isTwoSided == true { return arguments.value("clock") }
        if let name = arguments.value("clock") { return name }
        return format.isOfRunner ? "runner" : mark.isMonotonic ? "device-monotonic" : "device"
    }

    /// What came of the log, on standard error.
    private func tell(
        _ reading: MarkImport.Reading, _ offset: ClockOffset?, _ format: MarkImport.Format, _ path: String
    ) {
        for remark in reading.remarks {
            handoff.console.complain("\(path):\(remark.line): \(remark.count) × \(remark.text)")
        }
        if let offset, offset.isTwoSided {
            let outside = reading.marks.filter { offset.isOutside($0.mark.span) }
            if let first = outside.first {
                handoff.console.complain(
                    "\(path):\(first.line): \(outside.count) × outside of the probes' time, where a step of the clock would not show"
                )
            }
        } else if let offset {
            handoff.console.complain(
                "the clock is known by times of receipt alone: intervals reach back by the spread of the delays, "
                    + "\(Nanoseconds(offset.jitterNanoseconds))")
        }
        let taps = reading.marks.filter { $0.mark.kind == .tap }
        let shares = taps.count { $0.mark.target == .share }
        let marks =
            "\(counted(reading.marks.count, "mark")) (\(counted(taps.count, "tap")), \(shares) of them share) from "
            + "\(counted(reading.lines, "line")) of \(format.rawValue)"
        handoff.console.complain("\(path): \(marks)\(Self.dropped(reading.otherSteps))")
    }

    /// Steps that made no mark, for the one line that sums up: `; 5 other steps made none: Input text ×4, Swipe up`.
    private static func dropped(_ steps: [MarkImport.Step]) -> String {
        guard !steps.isEmpty else { return "" }
        let count = steps.reduce(0) { $0 + $1.count }
        let names = steps.prefix(8).map { $0.count == 1 ? $0.name : "\($0.name) ×\($0.count)" }
        let rest = steps.count > 8 ? " and \(counted(steps.count - 8, "kind")) more" : ""
        return "; \(counted(count, "other step")) made none: \(names.joined(separator: ", "))\(rest)"
    }

    private func settings(_ format: MarkImport.Format) throws(UsageError) -> MarkImport.Settings {
        var settings = MarkImport.Settings()
        for text in arguments.all("target") where !settings.labels.add(text) {
            throw UsageError(
                message: "--target takes LABEL=WORD with cta, share, neutral, policy, return or other, not \(text)")
        }
        // A touch has no label: what is no region would say of no touch what it was on.
        if format == .getevent, let text = arguments.all("target").first(where: { !TapLabels.isRegion($0) }) {
            throw UsageError(message: "--target takes X1,Y1-X2,Y2=WORD with getevent, not \(text)")
        }
        if let text = arguments.value("year") {
            guard let year = Int(text), (1970...2261).contains(year) else {
                throw UsageError(message: "--year is a year from 1970 to 2261, not \(text)")
            }
            settings.year = year
        }
        if let text = arguments.value("date") {
            guard let date = Instant(rfc3339: "\(text)T00:00:00Z") else {
                throw UsageError(message: "--date is a date as 2026-11-30, not \(text)")
            }
            settings.date = date
        }
        if let text = arguments.value("zone") {
            // A zone reads as the end of a time: how far that is from the time in UTC.
            guard let utc = Instant(rfc3339: "2000-01-01T00:00:00Z"),
                let local = Instant(rfc3339: "2000-01-01T00:00:00\(text)")
            else { throw UsageError(message: "--zone is Z or a zone as +01:00, not \(text)") }
            settings.zoneSeconds = Int(utc.nanoseconds(since: local) / 1_000_000_000)
        }
        return settings
    }
}
