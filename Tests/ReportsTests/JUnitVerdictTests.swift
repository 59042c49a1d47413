import Assertions
import SessionTrace
import Testing

@testable import Reports

/// Verdicts that no recording has: warnings, and text that XML can't hold.
@Suite struct JUnitVerdictTests {
    static func report(
        _ rule: RuleResult, gate: Set<String> = [], isStrict: Bool = false, counts: Bool = true
    ) -> String {
        var summary = TraceSummary()
        summary.packets = 1
        let verdict = TraceVerdict(
            rules: [rule], matrix: [:], attributes: [:], summary: summary, gate: gate, exercisedAnything: true)
        var options = SetOptions()
        options.strict = isStrict
        options.inconclusiveCounts = counts
        return JUnitReport(
            set: SetVerdict(traces: [JudgedTrace(path: "a<b>.pcap", verdict: verdict)], options: options)
        ).text
    }

    static func result(_ verdict: Verdict, _ severity: Severity, sentence: String = "one thing") -> RuleResult {
        let finding = Finding(
            kind: "thing", severity: severity, message: sentence,
            evidence: [Evidence(label: "request", packets: [3], span: TimeSpan(.distantPast), subject: "GET x")],
            fingerprint: "0123456789abcdef")
        return RuleResult(
            id: "HR-48", name: "a-rule", severity: severity, verdict: verdict, sentence: sentence,
            reason: verdict == .inconclusive ? InconclusiveReason(code: "why", sentence: "s", remedy: "r") : nil,
            findings: verdict == .fail ? [finding] : [])
    }

    @Test func aWarningIsAFailureOnlyWhenStrict() {
        let lax = Self.report(Self.result(.fail, .warning))
        #expect(lax.contains("failures=\"0\"") && !lax.contains("<failure") && lax.contains("<system-out>"))
        let strict = Self.report(Self.result(.fail, .warning), isStrict: true)
        #expect(strict.contains("failures=\"1\"") && strict.contains("<failure type=\"thing\""))
        let info = Self.report(Self.result(.fail, .info), isStrict: true)
        #expect(!info.contains("<failure"))
    }

    @Test func anInconclusiveRuleIsAnErrorOnlyWhenGated() {
        #expect(Self.report(Self.result(.inconclusive, .error)).contains("<skipped message=\"s\"/>"))
        #expect(Self.report(Self.result(.inconclusive, .error), gate: ["HR-48"]).contains("<error type=\"why\""))
    }

    /// What is in doubt beside a warning leaves a gated rule open.
    @Test func aWarningBesideADoubtIsAnErrorOnlyWhenGated() {
        var result = Self.result(.fail, .warning)
        result.doubt = InconclusiveReason(code: "why", sentence: "s", remedy: "r")
        #expect(Self.report(result).contains("<system-out>"))
        #expect(Self.report(result, gate: ["HR-48"]).contains("<error type=\"why\" message=\"s\""))
        #expect(Self.report(result, gate: ["HR-48"], isStrict: true).contains("<failure type=\"thing\""))
    }

    /// What is not to count is told, and fails nothing.
    @Test func whatDoesNotCountIsNoError() {
        let gate: Set = ["HR-48"]
        let open = Self.report(Self.result(.inconclusive, .error), gate: gate, counts: false)
        #expect(open.contains("<skipped message=\"s\"/>") && !open.contains("<error"))
        var warning = Self.result(.fail, .warning)
        warning.doubt = InconclusiveReason(code: "why", sentence: "s", remedy: "r")
        let doubt = Self.report(warning, gate: gate, counts: false)
        #expect(doubt.contains("<system-out>") && doubt.contains("[why] s") && !doubt.contains("<error"))
        #expect(Self.report(Self.result(.fail, .error), gate: gate, counts: false).contains("<failure"))
    }

    @Test func textIsMadeSafe() {
        let text = Self.report(Self.result(.fail, .error, sentence: "a<b & \"c\" \u{1}\u{FFFE}"))
        #expect(text.contains("a&lt;b &amp; &quot;c&quot; \u{FFFD}\u{FFFD}"))
        #expect(text.contains("testsuite name=\"a&lt;b&gt;.pcap\""))
    }
}
