import Assertions
import SessionTrace
import Testing

/// What of the session response is the session's own, and what may have been a status call that nobody read. The answer
/// came at 4.2.
@Suite struct HR59NoStatusCallSessionBoundaryTests {
    private static let partner = "https://api.partner.example"

    /// A session whose answer has an id, and a request with it at 20.
    private func judge(id: String, _ before: (inout ScriptedSession) -> Void) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        before(&session)
        session.tap(.share, at: 4)
        session.exchange(
            .app, "POST", "\(Self.partner)/handoff-session", at: 4.1, status: 201,
            headers: [("idempotency-key", ScriptedSession.key1), ("content-type", "application/json")],
            body: ScriptedSession.body, response: #"{"url":"\#(ScriptedSession.url)","sessionId":"\#(id)"}"#)
        session.exchange(.app, "GET", "\(Self.partner)/x?v=\(id)", at: 20)
        session.mark(.end, at: 90)
        return try session.judge()["HR-59"]
    }

    /// Of a shop's many items not all are searched for; their ids are the app's own all the same.
    @Test(arguments: [("item-17-abcdef", []), ("item-77-abcdef", ["session-lookup"])] as [(String, [String])])
    func anItemOfALongListIsTheAppsOwn(id: String, kinds: [String]) throws {
        let items = (1...20).map {
            #"{"catalogId":"item-\#($0)-abcdef","handoff":\#(ScriptedSession.shareDecision)}"#
        }
        let result = try judge(id: id) {
            $0.exchange(
                .app, "GET", "\(Self.partner)/feed", at: 2.5,
                response: #"{"items":[\#(items.joined(separator: ","))]}"#)
        }
        #expect(result.violations == kinds, "\(result)")
    }

    /// An item that is shown after the session request is the app's own too, in a list or by itself.
    @Test(arguments: [
        ("/feed", #"{"items":[{"catalogId":"item-77-abcdef","handoff":DECISION}]}"#),
        ("/catalog/item-77-abcdef/handoff", #"{"catalogId":"item-77-abcdef","handoff":DECISION}"#),
    ]) func anItemThatIsShownLaterIsTheAppsOwn(path: String, answer: String) throws {
        func judge(_ isShown: Bool) throws -> RuleResult {
            var session = ScriptedSession.upToTap()
            session.tap(.share, at: 4)
            session.exchange(
                .app, "POST", "\(Self.partner)/handoff-session", at: 4.1, status: 201,
                headers: [("idempotency-key", ScriptedSession.key1), ("content-type", "application/json")],
                body: ScriptedSession.body,
                response: #"{"url":"\#(ScriptedSession.url)","sessionId":"item-77-abcdef"}"#)
            if isShown {
                let body = answer.split(separator: "DECISION").joined(separator: ScriptedSession.shareDecision)
                session.exchange(.app, "GET", Self.partner + path, at: 10, response: body)
            }
            session.exchange(.app, "GET", "\(Self.partner)/x?v=item-77-abcdef", at: 20)
            session.mark(.end, at: 90)
            return try session.judge()["HR-59"]
        }
        #expect(try judge(false).violations == ["session-lookup"])
        let shown = try judge(true)
        #expect(shown.violations == [], "\(shown)")
    }

    /// An account's id is one that was sent before any session request, not with it.
    @Test(arguments: [(4.1, ["session-lookup"]), (4.099, [])] as [(Double, [String])])
    func whatWasSentBeforeTheRequestIsTheAppsOwn(time: Double, kinds: [String]) throws {
        let result = try judge(id: "acct-5510-xyz12345") {
            $0.exchange(.app, "GET", "https://log.vendor.example/me?a=acct-5510-xyz12345", at: time)
        }
        #expect(result.violations == kinds, "\(result)")
    }

    /// The session request on a proxy's other side carries the key as its first side does.
    @Test func theOtherSideOfAProxyIsTheSameRequest() throws {
        let result = try ScriptedSession.shared { _ in }.judge()["HR-59"]
        #expect(result.verdict == .pass, "\(result)")
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, took: 0.5)
        session.clientAddress = IPAddress(ipv4: 0x0A00_0009)
        session.share(at: 4.2, took: 0.2)
        session.mark(.end, at: 90)
        let both = try session.judge()["HR-59"]
        #expect(both.violations == [], "\(both)")
    }

    /// A request on a connection that was withheld since the browser asked Chia on it at 2.6.
    @Test(
        arguments: [
            (.app, 4.2, "withheld"), (.app, 4.199, nil), (.browser, 4.2, nil), (.nobody, 4.2, "withheld"),
        ] as [(ScriptedSession.Who, Double, String?)]) func whatWasWithheldMayBeACall(
            who: ScriptedSession.Who, time: Double, code: String?
        ) throws
    {
        func judge(_ host: String) throws -> RuleResult {
            var session = ScriptedSession.upToTap()
            let id = session.connect(.browser, "www.chia.health", at: 2.5)
            session.exchange(.browser, "GET", "https://www.chia.health/style.css", at: 2.6, on: id)
            session.tap(.share, at: 4)
            session.share(at: 4.1)
            session.exchange(who, "POST", "https://\(host)/x", at: time, body: "s=1", on: id)
            session.mark(.end, at: 90)
            return try session.judgeWithheld()["HR-59"]
        }
        let result = try judge("api.partner.example")
        #expect(result.reason?.code == code, "\(result)")
        #expect(try judge("logs.vendor.example").reason?.code == nil)
    }
}
