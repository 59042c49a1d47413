import SessionTrace
import Testing

@testable import Assertions

/// Whose answers may hold what HR-60 looks for: the partner's, under each of its names, to the app.
@Suite struct HR60NoStatusOrFinanceInResponseAnswerBoundaryTests {
    private func judge(_ build: (inout ScriptedSession) -> Void) throws -> RuleResult {
        var session = ScriptedSession.conformingShare()
        session.policyText = ScriptedSession.returnPolicy
        build(&session)
        return try session.judge()["HR-60"]
    }

    @Test(
        arguments: [
            ("api.partner.example", "no-keys"), ("img.partner.example", "no-keys"), ("www.partner.example", "no-keys"),
            ("sdk.vendor.example", nil), ("app-measurement.com", nil),
        ] as [(String, String?)]) func whatEachOfItsHostsAnsweredUnreadMayHoldOne(host: String, code: String?) throws
    {
        #expect(try judge { $0.dark(.app, host, at: 20, lastData: 21) }.reason?.code == code)
    }

    /// After a handoff, an answer that should have brought a URL and did not.
    @Test func anAnswerWithoutAURLIsADoubt() throws {
        let result = try judge {
            $0.tap(.share, at: 20)
            $0.share(at: 20.1, key: ScriptedSession.key2, url: "none")
        }
        #expect(result.reason?.code == "handoff-url-unknown", "\(result)")
    }

    @Test(
        arguments: [
            (.app, "api.partner.example", "undecodable-content"), (.app, "sdk.vendor.example", nil),
            (.browser, "api.partner.example", nil),
        ] as [(ScriptedSession.Who, String, String?)]) func whatCouldNotBeDecodedMayHoldOne(
            who: ScriptedSession.Who, host: String, code: String?
        ) throws
    {
        let result = try judge {
            $0.exchange(
                who, "GET", "https://\(host)/me", at: 20, response: "{}",
                responseHeaders: [("content-encoding", "x-own")])
        }
        #expect(result.reason?.code == code, "\(result)")
    }
}

/// An exception is applied up to 180 days before it ends, and to what it names alone.
@Suite struct ExceptionBookBoundaryTests {
    @Test(arguments: [(Int64(0), true), (-1, false)]) func itIsGivenForHalfAYear(shift: Int64, isAccepted: Bool) throws
    {
        var session = ScriptedSession.conformingShare()
        session.exchange(.app, "GET", ScriptedSession.neutral, at: 3)
        let fingerprint = try #require(try session.judge()["HR-05"].findings.first?.fingerprint)
        session.policyText +=
            "exceptions: [{rule: HR-05, fingerprint: \(fingerprint), reason: known, owner: ana, expires: 2027-01-31}]\n"
        let policy = try Policy.parse(yaml: session.policyText, file: "handoff.yml")
        session.options.now = policy.exceptions[0].expires.start.advanced(
            byNanoseconds: shift - Policy.longestException.count)
        let result = try session.judge()["HR-05"]
        #expect(result.verdict == (isAccepted ? .pass : .fail), "\(result)")
    }
}
