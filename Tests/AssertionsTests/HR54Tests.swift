import Assertions
import SessionTrace
import Testing

@Suite struct HR54NoKeyInTelemetryTests {
    private func judge(
        _ session: ScriptedSession = .inTheBrowser(), _ story: (inout ScriptedSession) -> Void
    ) throws -> RuleResult {
        try ScriptedSession.result("HR-54", session, story)
    }

    @Test func aKeyInTelemetryIsInformation() throws {
        let result = try judge {
            $0.exchange(
                .app, "POST", "https://o1.ingest.sentry.io/api", at: 60, body: #"{"h":"\#(ScriptedSession.key1)"}"#)
        }
        #expect(result.verdict == .pass && result.information == ["key-in-telemetry"], "\(result)")
        #expect(result.sentence == "1 key, found in 1 message to telemetry")
        #expect(result.findings.first?.message.contains("Sentry") == true)
    }

    @Test func elsewhereItIsAnotherRulesMatter() throws {
        let result = try judge {
            $0.exchange(
                .app, "POST", "https://api.partner.example/x", at: 60, body: #"{"h":"\#(ScriptedSession.key1)"}"#)
            $0.exchange(
                .browser, "POST", "https://o1.ingest.sentry.io/api", at: 60, body: #"{"h":"\#(ScriptedSession.key1)"}"#)
            $0.exchange(
                .app, "POST", "https://o1.ingest.sentry.io/api", at: 61, body: #"{"h":"\#(ScriptedSession.key2)"}"#)
        }
        #expect(result.verdict == .pass && result.findings.isEmpty, "\(result)")
    }

    @Test func unreadTelemetryIsADoubt() throws {
        #expect(
            try judge { $0.dark(.app, "o1.ingest.sentry.io", at: 60, lastData: 61) }.reason?.code == "opaque-telemetry")
        #expect(try judge { $0.dark(.app, "o1.ingest.sentry.io", at: 1, lastData: 2) }.verdict == .pass)
        #expect(try judge { $0.dark(.app, "cdn.example", at: 60, lastData: 61) }.verdict == .pass)
    }

    @Test func withoutAKeyItDoesNotApply() throws {
        #expect(try judge(.upToTap()) { _ in }.verdict == .notApplicable)
        #expect(
            try judge(.upToTap()) { $0.tap(.share, at: 4) }.reason?.code == "policy-mismatch",
            "a share tap without a session request")
    }
}
