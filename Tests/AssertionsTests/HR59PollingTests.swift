import Assertions
import SessionTrace
import Testing

/// Polling with what the session response gave, wherever it goes, and what of that answer the app had been told before.
/// The attempt began at 4.1.
@Suite struct HR59NoStatusCallPollingTests {
    private static let partner = "https://api.partner.example"
    private static let account = "acct-77120-Zq"

    private func judge(_ build: (inout ScriptedSession) -> Void) throws -> RuleResult {
        try ScriptedSession.result("HR-59", .inTheBrowser(), build)
    }

    @Test(
        arguments: [
            ("www.partner.example", .app, ["session-lookup"], nil),
            ("img.partner.example", .app, ["session-lookup"], nil),
            ("status.elsewhere.example", .app, [], "policy-mismatch"),
            ("status.elsewhere.example", .nobody, [], "policy-mismatch"),
            ("status.elsewhere.example", .browser, [], nil), ("app-measurement.com", .app, [], nil),
            ("connectivitycheck.gstatic.com", .app, [], nil),
            // The browser that follows the return link is not always known for one.
            ("www.partner.example", .nobody, [], "actor-unknown"), ("www.partner.example", .browser, [], nil),
            ("api.partner.example", .nobody, ["session-lookup"], nil),
        ] as [(String, ScriptedSession.Who, [String], String?)])
    func whateverHostIsAsked(host: String, who: ScriptedSession.Who, kinds: [String], code: String?) throws {
        let result = try judge { $0.exchange(who, "GET", "https://\(host)/state/hs-91c2d0aa7766", at: 60) }
        #expect(result.violations == kinds && result.reason?.code == code, "\(result)")
    }

    @Test func theRemedyNamesTheHost() throws {
        let result = try judge {
            $0.exchange(.app, "GET", "https://status.elsewhere.example/s?k=\(ScriptedSession.key1)", at: 60)
        }
        #expect(result.sentence.contains("the idempotency key"), "\(result)")
        #expect(result.reason?.remedy.contains("status.elsewhere.example") ?? false, "\(result)")
    }

    /// A session whose answer repeats the account, which the app asks for after it.
    private func repeated(
        limit: Int? = nil, policy: String = "", _ before: (inout ScriptedSession) -> Void
    ) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        if let limit { session.options.limits.backlogBytes = limit }
        before(&session)
        session.tap(.share, at: 4)
        session.exchange(
            .app, "POST", "\(Self.partner)/handoff-session", at: 4.1, status: 201,
            headers: [("idempotency-key", ScriptedSession.key1), ("content-type", "application/json")],
            body: ScriptedSession.body,
            response: #"{"url":"\#(ScriptedSession.url)","accountId":"\#(Self.account)"}"#)
        session.exchange(.app, "GET", "\(Self.partner)/accounts/\(Self.account)/home", at: 20)
        session.mark(.end, at: 90)
        return try session.judge()["HR-59"]
    }

    private static func me(
        _ session: inout ScriptedSession, _ who: ScriptedSession.Who = .app, at time: Double = 1, took: Double = 0.1,
        account id: String = account
    ) {
        session.exchange(
            who, "GET", "\(partner)/me", at: time, took: took, response: #"{"accountId":"\#(id)"}"#)
    }

    @Test func whatTheAppWasAnsweredBeforeIsNoneOfTheSessions() throws {
        #expect(try repeated { Self.me(&$0) }.verdict == .pass)
        let other = try repeated { Self.me(&$0, account: "acct-77120-Zr") }
        #expect(other.violations == ["session-lookup"], "\(other)")
        let browser = try repeated { Self.me(&$0, .browser) }
        #expect(browser.violations == ["session-lookup"], "\(browser)")
        let other2 = try repeated {
            $0.clientAddress = IPAddress(ipv4: 0x0A00_0009)
            Self.me(&$0)
            $0.clientAddress = IPAddress(ipv4: 0x0A00_0002)
        }
        #expect(other2.violations == ["session-lookup"], "\(other2)")
    }

    @Test func aMessageOfTheServersTellsTheSame() throws {
        let result = try repeated {
            let upgrade = $0.exchange(.app, "GET", "\(Self.partner)/live", at: 1, status: 101)
            $0.serverMessage(upgrade, #"{"accountId":"\#(Self.account)"}"#, at: 1.5)
        }
        #expect(result.verdict == .pass, "\(result)")
    }

    @Test(arguments: [(4.099, []), (4.1, ["session-lookup"])] as [(Double, [String])])
    func itMustHaveEndedBeforeTheRequest(ended: Double, kinds: [String]) throws {
        let result = try repeated { Self.me(&$0, at: ended - 0.5, took: 0.5) }
        #expect(result.violations == kinds, "\(result)")
    }

    /// What the answer calls the session's id is that, whatever was said before.
    @Test(
        arguments: [
            ("sessionId", ["session-lookup"]), ("handoff_id", ["session-lookup"]), ("id", ["session-lookup"]),
            ("userId", []),
        ] as [(String, [String])]) func aSessionsIDIsItsOwn(name: String, kinds: [String]) throws
    {
        var session = ScriptedSession.upToTap()
        session.options.limits.backlogBytes = 4_000
        for index in 0..<8 { Self.me(&session, at: 2.2 + Double(index) / 10, account: "acct-other-\(index)-zz") }
        session.tap(.share, at: 4)
        session.exchange(
            .app, "POST", "\(Self.partner)/handoff-session", at: 4.1, status: 201,
            headers: [("idempotency-key", ScriptedSession.key1), ("content-type", "application/json")],
            body: ScriptedSession.body, response: #"{"url":"\#(ScriptedSession.url)","\#(name)":"\#(Self.account)"}"#)
        session.exchange(.app, "GET", "\(Self.partner)/x/\(Self.account)", at: 20)
        session.mark(.end, at: 90)
        #expect(try session.judge()["HR-59"].violations == kinds)
    }

    @Test func whatIsNotKeptAnyMoreMayHaveToldIt() throws {
        let result = try repeated(limit: 4_000) {
            Self.me(&$0)
            for index in 0..<8 { Self.me(&$0, at: 2.2 + Double(index) / 10, account: "acct-other-\(index)-zz") }
        }
        #expect(result.violations == [] && result.reason?.code == "state-given-up", "\(result)")
        #expect(result.sentence.contains("the app may have known it"), "\(result)")
        let sent = try repeated(limit: 4_000) {
            $0.exchange(.app, "GET", "\(Self.partner)/me?a=\(Self.account)", at: 1)
            for index in 0..<8 { $0.exchange(.app, "GET", "\(Self.partner)/x", at: 2.2 + Double(index) / 10) }
        }
        #expect(sent.violations == [], "\(sent)")
        let kept = try repeated(limit: 40_000) {
            for index in 0..<8 { Self.me(&$0, at: 2.2 + Double(index) / 10, account: "acct-other-\(index)-zz") }
        }
        #expect(kept.violations == ["session-lookup"], "\(kept)")
    }
}
