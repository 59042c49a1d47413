import Assertions
import SessionTrace
import Testing

@testable import Reports

/// What a rule's entry of the JSON report says of what is open.
@Suite struct JSONVerdictTests {
    private static func rule(_ change: (inout RuleResult) -> Void) throws -> JSONValue {
        var result = JUnitVerdictTests.result(.fail, .warning)
        change(&result)
        let verdict = TraceVerdict(
            rules: [result], matrix: [:], attributes: [:], summary: TraceSummary(), gate: [], exercisedAnything: true)
        let set = SetVerdict(traces: [JudgedTrace(path: "a.pcap", verdict: verdict)], options: SetOptions())
        let report = try JSONValue.parse(JSONReport(set: set, version: "1", digests: [:]).text)
        return try #require(report["traces"]?.elements?.first?["rules"]?.elements?.first)
    }

    @Test func aDoubtBesideAWarningIsSaid() throws {
        let rule = try Self.rule {
            $0.doubt = InconclusiveReason(code: "no-keys", sentence: "unread", remedy: "give keys")
        }
        let doubt = try #require(rule["doubt"])
        #expect(["code", "sentence", "remedy"].map { doubt[$0]?.stringValue } == ["no-keys", "unread", "give keys"])
        #expect(rule["reason"] == nil)
        #expect(rule["verdict"]?.stringValue == "fail")
    }

    @Test func withoutOneItIsAbsent() throws {
        #expect(try Self.rule { _ in }["doubt"] == nil)
        let open = try Self.rule {
            $0.verdict = .inconclusive
            $0.reason = InconclusiveReason(code: "no-keys", sentence: "unread", remedy: "give keys")
        }
        #expect(open["doubt"] == nil)
        #expect(open["reason"]?["code"]?.stringValue == "no-keys")
    }
}
