import SessionTrace
import Testing

@testable import Assertions
@testable import Reports

/// What rules over several traces say stands in every report.
@Suite struct SetRulesReportTests {
    /// Two traces with one idempotency key.
    private static let set: SetVerdict = {
        let traces = [0, 1].map { number -> JudgedTrace in
            var facts = TraceFacts()
            facts.identity = "\(number)"
            let at = Instant(nanoseconds: Int64(number) * 60_000_000_000)
            facts.keys = [
                TraceFacts.KeyUse(
                    key: "ab12", body: "\(number)", paddedHigh: 1, paddedLow: 2, isRandomForm: true, at: at,
                    isOpenEnded: false, bodyIsWhole: true,
                    evidence: Evidence(
                        label: "session request", packets: [7], span: TimeSpan(at), subject: "POST /handoff-session"))
            ]
            var summary = TraceSummary()
            summary.packets = 9
            var verdict = TraceVerdict(
                rules: [], matrix: [:], attributes: [:], summary: summary, gate: [], exercisedAnything: true)
            verdict.facts = facts
            return JudgedTrace(path: "run<\(number)>.pcap", verdict: verdict)
        }
        return SetVerdict(traces: traces, options: SetOptions())
    }()

    @Test func theTextNamesTheTracesTogether() {
        let text = SetSummary(set: Self.set, style: TextStyle(usesColour: false, width: 200)).text
        #expect(text.contains("Over all traces"))
        #expect(
            text.contains("HR-12 key-unique-and-random, fail: run<0>.pcap and run<1>.pcap hold one key, 60 s apart"))
        #expect(!text.contains("HR-62"), "what does not apply is left out")
        #expect(text.contains("the traces together: violated HR-12"))
        #expect(text.contains("run<1>.pcap: POST /handoff-session"))
    }

    @Test func theJSONHasThemAll() throws {
        let text = JSONReport(set: Self.set, version: "1", digests: [:]).text
        let value = try JSONValue.parse(text)
        let rules = try #require(value["setRules"]?.elements)
        #expect(rules.map { $0["id"]?.stringValue } == ["HR-12", "HR-26", "HR-43", "HR-62"])
        #expect(rules[0]["verdict"]?.stringValue == "fail")
        #expect(rules[3]["verdict"]?.stringValue == "not-applicable")
        #expect(value["verdict"]?.stringValue == "violation")
        let one = SetVerdict(traces: Array(Self.set.traces.prefix(1)), options: SetOptions())
        let alone = try JSONValue.parse(JSONReport(set: one, version: "1", digests: [:]).text)
        #expect(alone["setRules"]?.elements?.isEmpty == true)
    }

    @Test func theyAreASuiteOfTheirOwn() {
        let text = JUnitReport(set: Self.set).text
        #expect(
            text.contains("<testsuite name=\"all traces\" tests=\"4\" failures=\"1\" errors=\"0\" skipped=\"3\""),
            "\(text)")
        #expect(text.contains("<failure type=\"key-in-two-traces\""))
        #expect(text.contains("classname=\"all traces\" name=\"HR-62 return-identical\""))
        let alone = SetVerdict(traces: Array(Self.set.traces.prefix(1)), options: SetOptions())
        #expect(!JUnitReport(set: alone).text.contains("all traces"))
    }
}
