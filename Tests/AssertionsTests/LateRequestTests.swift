import SessionTrace
import Testing

@testable import Assertions

/// HR-07: how long after a tap a session request is still its answer.
@Suite struct LateRequestTests {
    /// A share that conforms, and later a second tap whose request comes `late` seconds after it.
    private func judge(
        late: Double, key: String = ScriptedSession.key2, _ change: (inout ScriptedSession) -> Void = { _ in }
    ) throws -> RuleResult {
        var session = ScriptedSession.conformingShare()
        session.tap(.share, at: 100)
        session.share(at: 100 + late, key: key, url: ScriptedSession.otherURL)
        session.browse(ScriptedSession.otherURL, at: 100.5 + late)
        change(&session)
        session.mark(.note, at: 200)
        return try session.judge()["HR-07"]
    }

    @Test(arguments: [(10.0, false), (10.001, true), (20, true)]) func aRequestThatComesTooLateIsALostTap(
        late: Double, isLost: Bool
    ) throws {
        let result = try judge(late: late)
        #expect(result.findings.contains { $0.kind == "lost-tap" } == isLost, "\(result)")
        #expect(result.verdict == (isLost ? .fail : .pass))
        if isLost { #expect(result.severity == .warning && result.sentence.contains("not within 10 s")) }
    }

    @Test func thePolicySaysHowLong() throws {
        #expect(try judge(late: 20) { $0.policyText += "timing: {tap-to-request: 30s}\n" }.verdict == .pass)
    }

    @Test(arguments: [(101.0, false), (110, false), (110.001, true), (99, true)])
    func aConnectionThatTookLongWasBegunInTime(opened: Double, isLost: Bool) throws {
        var session = ScriptedSession.conformingShare()
        session.tap(.share, at: 100)
        let connection = session.connect(.app, "api.partner.example", at: opened)
        session.share(at: 120, key: ScriptedSession.key2, url: ScriptedSession.otherURL, on: connection)
        session.browse(ScriptedSession.otherURL, at: 120.5)
        session.mark(.note, at: 200)
        let result = try session.judge()["HR-07"]
        #expect(result.findings.contains { $0.kind == "lost-tap" } == isLost, "\(result)")
    }

    @Test func aRepeatOfWhatWasUnderWayIsNoLostTap() throws {
        func repeated(_ key: String) throws -> RuleResult {
            var session = ScriptedSession.upToTap()
            session.tap(.share, at: 4)
            session.share(at: 4.1, status: 503)
            session.tap(.share, at: 10)
            session.share(at: 30, key: key)
            session.browse(ScriptedSession.url, at: 30.4)
            session.mark(.end, at: 90)
            return try session.judge()["HR-07"]
        }
        #expect(try !repeated(ScriptedSession.key1).findings.contains { $0.kind == "lost-tap" })
        #expect(try repeated(ScriptedSession.key2).findings.contains { $0.kind == "lost-tap" })
    }

    @Test func whereSharingWasWithdrawnNothingWasLost() throws {
        let result = try judge(late: 20) { $0.projection(at: 101, mode: "neutral_only") }
        #expect(!result.findings.contains { $0.kind == "lost-tap" }, "\(result)")
    }

    @Test func aNetworkThatWasCutLosesTheTap() throws {
        let result = try judge(late: 20) {
            $0.mark(.netOff, at: 99)
            $0.mark(.netOn, at: 118)
        }
        #expect(result.verdict == .pass, "\(result)")
        #expect(result.findings.contains { $0.kind == "offline-tap" && $0.severity == .info })
    }

    @Test func aDoubtUndoesAWarningThatRestsOnSilence() throws {
        let result = try judge(late: 20) { $0.dropped = 5 }
        #expect(result.verdict == .inconclusive && result.reason?.code == "capture-drops", "\(result)")
        #expect(result.findings.contains { $0.kind == "lost-tap" })
        let strict = try judge(late: 20) {
            $0.dropped = 5
            $0.options.strict = true
        }
        #expect(strict.verdict == .inconclusive, "\(strict)")
    }
}

/// Requests that say what the session request says, on a path that the policy does not name.
@Suite struct UnlistedRequestTests {
    private static let rules = ["HR-07", "HR-08", "HR-10", "HR-11", "HR-13", "HR-20", "HR-24"]

    private func judge(
        _ who: ScriptedSession.Who = .app, _ address: String = "https://api.partner.example/v2/share", key: Bool = true,
        body: String = ScriptedSession.body, policy: String = ""
    ) throws -> TraceVerdict {
        var session = ScriptedSession.conformingShare()
        session.policyText += policy
        session.exchange(
            who, "POST", address, at: 60, headers: key ? [("idempotency-key", ScriptedSession.key2)] : [], body: body,
            response: #"{"ok":true}"#)
        return try session.judge()
    }

    @Test(arguments: [true, false]) func itLeavesTheRulesAboutSessionRequestsOpen(key: Bool) throws {
        let verdict = try judge(key: key)
        for rule in Self.rules {
            #expect(verdict[rule].reason?.code == "policy-mismatch", "\(rule) \(verdict[rule])")
        }
        let remedy = try #require(verdict["HR-07"].reason?.remedy)
        #expect(remedy.contains("requests: {session: {path: /v2/share}}") && remedy.contains("allow"))
        #expect(!verdict.story.contains(ScriptedSession.key2))
    }

    @Test func aNeutralTapBesideItIsOpenToo() throws {
        var session = ScriptedSession.goneNeutral {
            $0.browse(ScriptedSession.neutral, at: 4.2)
            $0.exchange(
                .app, "POST", "https://api.partner.example/v2/share", at: 5, body: ScriptedSession.body)
        }
        session.mark(.note, at: 91)
        #expect(try session.judge()["HR-25"].reason?.code == "policy-mismatch")
    }

    @Test func thePolicyMaySayThatItIsNone() throws {
        let verdict = try judge(policy: "requests: {allow: [\"POST /v2/share\"]}\n")
        for rule in Self.rules { #expect(verdict[rule].reason?.code != "policy-mismatch", "\(rule)") }
    }

    @Test func whatSaysSomethingElseIsNone() throws {
        let key = try judge(body: #"{"cart":[1,2]}"#)
        let event = try judge(.app, "https://api2.amplitude.com/2/httpapi", key: false)
        let page = try judge(.browser)
        for verdict in [key, event, page] {
            #expect(verdict["HR-07"].verdict == .pass, "\(verdict["HR-07"])")
        }
        let keyed = try judge(.app, "https://api2.amplitude.com/2/httpapi")
        #expect(keyed["HR-07"].reason?.code == "policy-mismatch")
    }
}
