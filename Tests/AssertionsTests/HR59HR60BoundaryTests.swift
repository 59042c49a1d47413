import Assertions
import SessionTrace
import Testing

/// What the app may ask its partner for after the session, and what is a status call. The answer came at 4.2 with the
/// session's id `hs-91c2d0aa7766`.
@Suite struct HR59NoStatusCallBoundaryTests {
    private static let partner = "https://api.partner.example"
    private static let id = "hs-91c2d0aa7766"

    private func judge(policy: String = "", _ build: (inout ScriptedSession) -> Void) throws -> RuleResult {
        var session = ScriptedSession.shared(build)
        session.policyText =
            "hosts:\n  partner: [api.partner.example]\n  partner-assets: [img.partner.example]\n" + policy
        return try session.judge()["HR-59"]
    }

    // MARK: what is judged

    @Test func aTapOrARequestAloneIsJudged() throws {
        func judge(_ build: (inout ScriptedSession) -> Void) throws -> Verdict {
            var session = ScriptedSession()
            session.mark(.launch, at: 0)
            build(&session)
            session.mark(.end, at: 90)
            return try session.judge()["HR-59"].verdict
        }
        #expect(try judge { _ in } == .notApplicable)
        #expect(try judge { $0.tap(.neutral, at: 4) } == .pass)
        #expect(try judge { $0.exchange(.app, "GET", "\(Self.partner)/x", at: 4) } == .pass)
    }

    @Test func anotherDevicesRequestToChiaIsNotDecided() throws {
        let result = try judge {
            $0.clientAddress = IPAddress(ipv4: 0x0A00_0009)
            $0.exchange(.app, "GET", "https://www.chia.health/x", at: 20)
        }
        #expect(result.reason?.code == "several-devices", "\(result)")
    }

    // MARK: what carries the session

    @Test(arguments: [
        ("GET", "https://api.partner.example/x?s=hs-91c2d0aa7766", true),
        ("GET", "https://img.partner.example/x?s=hs-91c2d0aa7766", true),
        ("GET", "https://sdk.vendor.example/x?s=hs-91c2d0aa7766", false),
        ("GET", "https://api.partner.example/handoff-session?s=hs-91c2d0aa7766", true),
        ("POST", "https://api.partner.example/x?s=hs-91c2d0aa7766", true),
    ]) func theSessionsIdInARequestToThePartnerIsAStatusCall(method: String, url: String, isCall: Bool) throws {
        let result = try judge { $0.exchange(.app, method, url, at: 20) }
        #expect(result.violations == (isCall ? ["session-lookup"] : []), "\(result)")
    }

    @Test func whatThePolicyAllowsIsNone() throws {
        let result = try judge(policy: "requests: {allow: [\"GET /resume\"]}\n") {
            $0.exchange(.app, "GET", "\(Self.partner)/resume?s=\(Self.id)", at: 20)
        }
        #expect(result.verdict == .pass, "\(result)")
    }

    /// What the answer repeats of items and accounts is the app's own; what it alone brought is the session's.
    @Test(
        arguments: [
            ("item-9999-zzzzzz", []), ("disclosure-2026-03-b", []), ("acct-5510-xyz12345", []),
            ("sess-5510-xyz12345", ["session-lookup"]),
        ] as [(String, [String])]) func whatTheAppKnewBeforeIsItsOwn(value: String, kinds: [String]) throws
    {
        var session = ScriptedSession.upToTap()
        session.fetch(at: 2.5, item: "item-9999-zzzzzz", version: #""disclosure-2026-03-b""#)
        session.exchange(.app, "GET", "\(Self.partner)/me?a=acct-5510-xyz12345", at: 3)
        session.tap(.share, at: 4)
        session.exchange(
            .app, "POST", "\(Self.partner)/handoff-session", at: 4.1, status: 201,
            headers: [("idempotency-key", ScriptedSession.key1), ("content-type", "application/json")],
            body: ScriptedSession.body, response: #"{"url":"\#(ScriptedSession.url)","sessionId":"\#(value)"}"#)
        session.exchange(.app, "GET", "\(Self.partner)/x?v=\(value)", at: 20)
        session.mark(.end, at: 90)
        let result = try session.judge()["HR-59"]
        #expect(result.violations == kinds, "\(result)")
    }

    // MARK: what stayed unread

    @Test(arguments: [(4.2, "no-keys"), (4.199, nil)] as [(Double, String?)]) func onlyWhatIsUnreadSinceMayBeACall(
        last: Double, code: String?
    ) throws {
        let result = try judge { $0.dark(.app, "api.partner.example", at: 3, lastData: last) }
        #expect(result.reason?.code == code, "\(result)")
        #expect(try judge { $0.dark(.app, "sdk.vendor.example", at: 6, lastData: 7) }.verdict == .pass)
    }

    @Test func aConnectionWithoutANameMayBeToChia() throws {
        let result = try judge { $0.dark(.nobody, "203.0.113.9", at: 20, lastData: 21, hello: false) }
        #expect(result.reason?.code == "host-unknown", "\(result)")
    }
}

@Suite struct HR60NoStatusOrFinanceInResponseBoundaryTests {
    private static let partner = "https://api.partner.example"

    @Test func aShareTapWithoutAnAttemptIsNotDecided() throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.mark(.end, at: 90)
        #expect(try session.judge()["HR-60"].reason?.code == "policy-mismatch")
    }

    /// What came in the URL's own moment came after it.
    @Test(arguments: [(4.2, ["status-key"]), (4.199, [])] as [(Double, [String])]) func theHandoffBeginsWithItsURL(
        end: Double, kinds: [String]
    ) throws {
        let result = try ScriptedSession.shared {
            $0.exchange(
                .app, "GET", "\(Self.partner)/me", at: 3, took: end - 3, response: #"{"order_status":"shipped"}"#)
        }.judge()["HR-60"]
        #expect(result.violations == kinds, "\(result)")
    }

    /// A neutral page begins it as well; what the browser fetches of Chia's beside does not.
    @Test func aNeutralPageBeginsItToo() throws {
        func judge(_ build: (inout ScriptedSession) -> Void) throws -> RuleResult {
            var session = ScriptedSession.upToTap()
            build(&session)
            session.exchange(.app, "GET", "\(Self.partner)/me", at: 20, response: #"{"order_status":"shipped"}"#)
            session.mark(.end, at: 90)
            return try session.judge()["HR-60"]
        }
        #expect(try judge { $0.browse(ScriptedSession.neutral, at: 5) }.violations == ["status-key"])
        #expect(try judge { $0.exchange(.browser, "GET", ScriptedSession.neutral, at: 5) }.verdict == .notApplicable)
        #expect(try judge { $0.exchange(.app, "GET", ScriptedSession.neutral, at: 5) }.verdict == .notApplicable)
    }

    @Test func withoutAnAnswerThereIsNothingToJudge() throws {
        var session = ScriptedSession()
        session.browse(ScriptedSession.url, at: 5)
        session.mark(.end, at: 90)
        #expect(try session.judge()["HR-60"].verdict == .notApplicable)
    }

    @Test(arguments: [(4.2, "no-keys"), (4.199, nil)] as [(Double, String?)]) func onlyWhatIsUnreadSinceMayHoldOne(
        last: Double, code: String?
    ) throws {
        let result = try ScriptedSession.shared { $0.dark(.app, "api.partner.example", at: 3, lastData: last) }
            .judge()["HR-60"]
        #expect(result.reason?.code == code, "\(result)")
    }
}

/// What an answer leaves unknown takes the pass from the rules that look for it.
@Suite struct HandoffURLDoubtTests {
    private static func open(_ url: String, code: String) throws -> Set<String> {
        let verdict = try LaterDoubtTableTests.session(url: url).judge()
        return Set(verdict.rules.filter { $0.reason?.code == code }.map(\.id))
    }

    @Test(arguments: [
        "HR-05", "HR-09", "HR-26", "HR-27", "HR-28", "HR-29", "HR-30", "HR-31", "HR-33", "HR-36", "HR-46", "HR-47",
        "HR-59",
    ]) func anAnswerWithoutATokenSaysNothingOfTheURL(rule: String) throws {
        #expect(try Self.open("https://chia.health/nothing", code: "handoff-url-unknown").contains(rule))
    }

    @Test(arguments: [
        "HR-01", "HR-03", "HR-04", "HR-05", "HR-26", "HR-27", "HR-28", "HR-29", "HR-30", "HR-31", "HR-35", "HR-47",
        "HR-59",
    ]) func aHostThatThePolicyDoesNotNameIsNotWatched(rule: String) throws {
        let url = "https://chia.example/h/\(ScriptedSession.token)"
        #expect(try Self.open(url, code: "policy-mismatch").contains(rule))
    }
}
