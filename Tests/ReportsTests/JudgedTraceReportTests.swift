import Assertions
import SessionTrace
import Testing

@testable import Reports

/// What reports say of a trace besides its rules: words that need a legend, a recording that stopped, what had to happen.
@Suite struct JudgedTraceReportTests {
    private static func trace(_ verdict: Verdict, _ severity: Severity) -> JudgedTrace {
        var summary = TraceSummary()
        summary.packets = 1
        return JudgedTrace(
            path: "a.pcap",
            verdict: TraceVerdict(
                rules: [JUnitVerdictTests.result(verdict, severity)], matrix: [:], attributes: [:], summary: summary,
                gate: [], exercisedAnything: true))
    }

    private static func table(_ trace: JudgedTrace, outcome: Outcome = .conforming, isVerbose: Bool = false) -> String {
        trace.verdict.map {
            VerdictTable(trace, $0, outcome: outcome, style: .plain).text(isVerbose: isVerbose)
        } ?? ""
    }

    @Test(arguments: [false, true])
    func aWordOfTheTableHasItsLegend(isVerbose: Bool) {
        let warning = Self.table(Self.trace(.fail, .warning), isVerbose: isVerbose)
        #expect(
            warning.contains("FAIL (W)  ") && warning.contains("FAIL (W): of severity warning; counts under --strict"))
        let info = Self.table(Self.trace(.fail, .info), isVerbose: isVerbose)
        #expect(info.contains("FAIL (I): for information") && !info.contains("FAIL (W)"))
        for other in [Self.trace(.fail, .error), Self.trace(.pass, .warning)] {
            #expect(!Self.table(other, isVerbose: isVerbose).contains("FAIL ("))
        }
    }

    /// A recording that stopped before its time ends with status 3, and every report says why.
    @Test func aRecordingThatStoppedIsSaid() throws {
        var trace = Self.trace(.pass, .error)
        #expect(SetVerdict(traces: [trace], options: SetOptions()).outcome == .conforming)
        trace.stopped = "recording stopped before the end: the disk is full"
        let set = SetVerdict(traces: [trace], options: SetOptions())
        #expect(set.outcome == .unreadable)
        let text = Self.table(trace, outcome: set.outcome(of: trace)) + SetSummary(set: set, style: .plain).text
        #expect(text.contains("a.pcap  STOPPED EARLY") && text.contains("  recording stopped before the end: the disk"))
        #expect(text.contains("UNREADABLE: recording stopped before the end: the disk is full"))
        let json = try JSONValue.parse(JSONReport(set: set, version: "1", digests: [:]).text)
        #expect(json["verdict"]?.stringValue == "unreadable")
        #expect(json["traces"]?.elements?.first?["stopped"]?.stringValue == trace.stopped)
        #expect(JUnitReport(set: set).text.contains("<error type=\"unreadable\" message=\"recording stopped"))
    }

    /// A fault that never fired ends a recording with status 4.
    @Test func whatElseHadToHappenIsSaid() throws {
        var options = SetOptions()
        options.missing = ["the fault 'POST /x: 503 once' never fired"]
        let set = SetVerdict(traces: [Self.trace(.pass, .error)], options: options)
        #expect(set.outcome == .inconclusive && set.notExercised == options.missing)
        #expect(SetSummary(set: set, style: .plain).text.contains("✗ the fault 'POST /x: 503 once' never fired"))
        let xml = JUnitReport(set: set).text
        #expect(xml.contains("<testsuite name=\"all traces\" tests=\"1\" failures=\"1\""), "\(xml)")
        #expect(xml.contains("<failure type=\"not-shown\" message=\"the fault 'POST /x: 503 once' never fired\"/>"))
    }

    /// Only an error, or under --strict a warning, decides.
    @Test(arguments: [
        (Verdict.fail, Severity.error, false, true), (.fail, .error, true, true), (.fail, .warning, false, false),
        (.fail, .warning, true, true), (.fail, .info, true, false), (.pass, .error, true, false),
        (.inconclusive, .error, true, false),
    ])
    func whatCountsAsViolated(verdict: Verdict, severity: Severity, strict: Bool, counts: Bool) {
        var options = SetOptions()
        options.strict = strict
        #expect(options.countsAsViolated(JUnitVerdictTests.result(verdict, severity)) == counts)
    }

    @Test func aRunThatWasAskedForWronglyIsNoUnreadableTrace() {
        let trace = JudgedTrace(path: "a.pcap", error: "--profile takes full", obstacle: .usage)
        let set = SetVerdict(traces: [trace], options: SetOptions())
        #expect(set.outcome == .misused)
        #expect(unjudgedText(trace, style: .plain) == "a.pcap  NOT JUDGED\n  --profile takes full\n")
        let input = JudgedTrace(path: "a.pcap", error: "No such file")
        #expect(unjudgedText(input, style: .plain) == "a.pcap  NOT READ\n  No such file\n")
        let xml = JUnitReport(set: set).text
        #expect(
            xml.contains("name=\"usage\"") && xml.contains("<error type=\"wrong-usage\" message=\"--profile"), "\(xml)")
    }

    @Test func theWorstOfAllIsWrongUsage() {
        let bad = JudgedTrace(path: "b.pcap", error: "handoff.yml:1:1: no policy", obstacle: .policy)
        let set = SetVerdict(traces: [Self.trace(.fail, .error), bad], options: SetOptions())
        #expect(set.outcome == .misused)
        #expect(set.outcome(of: bad) == .misused && set.outcome(of: set.traces[0]) == .violation)
        let order: [Outcome] = [.misused, .violation, .unreadable, .inconclusive, .conforming]
        for (place, one) in order.enumerated() {
            for other in order[place...] { #expect(one.worse(other) == one && other.worse(one) == one) }
        }
        #expect(unjudgedText(bad, style: .plain) == "b.pcap  NOT JUDGED\n  handoff.yml:1:1: no policy\n")
    }
}
