internal import Assertions
internal import Crypto
internal import Reports
internal import SessionTrace

/// Shows the verdict over a set of traces and writes the reports that were asked for.
struct VerdictOutput {
    let handoff: Handoff
    let reports: [ReportRequest]
    /// Whether the text shows what passing rules looked at, and rules that do not apply.
    let isVerbose: Bool

    /// Shows `set` and writes the reports. Returns the exit status: of the verdict, or of a report that can't be written.
    func give(_ set: SetVerdict) -> ExitStatus {
        show(set, asText: !reports.contains { $0.path == "-" })
        var status = ExitStatus(set.outcome)
        for report in reports {
            do {
                try write(report, set)
            } catch {
                handoff.console.complain(
                    "\(error); the \(report.format.rawValue) report is not written, give another path")
                status = status.worse(.usage)
            }
        }
        return status
    }

    private func show(_ set: SetVerdict, asText: Bool) {
        let console = handoff.console
        let style = console.style(handoff.environment)
        // Who sees both outputs on one terminal reads each error once.
        let isSeenInText = asText && console.resultIsTerminal && console.talkIsTerminal
        var said: Set<String> = []
        func say(_ error: String) {
            // One policy may stand in the way of many traces.
            if !isSeenInText, said.insert(error).inserted { console.complain(error) }
        }
        for trace in set.traces {
            if let error = trace.error { say(error) }
            if let stopped = trace.stopped { say("\(trace.path): \(stopped)") }
            guard asText else { continue }
            if let verdict = trace.verdict {
                let table = VerdictTable(trace, verdict, outcome: set.outcome(of: trace), style: style)
                console.result(table.text(isVerbose: isVerbose) + "\n")
            } else {
                console.result(unjudgedText(trace, style: style) + "\n")
            }
        }
        for sentence in set.misuses + set.options.missing { say(sentence) }
        if asText { console.result(SetSummary(set: set, style: style).text) }
    }

    /// Writes one report.
    func write(_ report: ReportRequest, _ set: SetVerdict) throws(FileError) {
        let text: String
        switch report.format {
        case .json:
            var digests: [String: String] = [:]
            for trace in set.traces where trace.path != "-" && trace.verdict != nil && FileSystem.isFile(trace.path) {
                digests[trace.path] = try? FileSystem.withMapped(trace.path) { bytes in
                    HashFunction.sha256.digest(of: bytes).map { byte in
                        (byte < 16 ? "0" : "") + String(byte, radix: 16)
                    }.joined()
                }
            }
            text = JSONReport(set: set, version: handoffVersion, digests: digests).text
        case .junit:
            text = JUnitReport(set: set).text
        }
        if report.path == "-" {
            handoff.console.result(text)
        } else {
            try FileSystem.write(Array(FileName.shown(text).utf8), to: report.path)
        }
    }
}

/// The values of `--inconclusive`: whether a gated rule that is inconclusive counts.
enum Inconclusive: String, CaseIterable {
    case fail, warn
}

extension ExitStatus {
    /// The status of an outcome.
    init(_ outcome: Outcome) {
        switch outcome {
        case .conforming: self = .conforming
        case .inconclusive: self = .inconclusive
        case .unreadable: self = .unreadable
        case .violation: self = .violation
        case .misused: self = .usage
        }
    }
}
