import Assertions
import SessionTrace
import Testing

@Suite struct HR31OpenedBeforeExpiryBoundaryTests {
    @Test func theAnswerAndTheOpeningAreShown() throws {
        let result = try ScriptedSession.shared { $0.browse(ScriptedSession.url, at: 4.5) }.judge()["HR-31"]
        #expect(result.lookedAt.map(\.label) == ["session response", "opening"])
    }

    /// Where both say the same, the policy is named; a second less, and it is the answer.
    @Test(arguments: [(30, "timing: url-lifetime"), (29, "by the answer's ttl")]) func theShorterTimeIsNamed(
        seconds: Int, source: String
    ) throws {
        var session = ScriptedSession.upToTap()
        session.policyText += "timing: {url-lifetime: 30s}\n"
        session.tap(.share, at: 4)
        session.exchange(
            .app, "POST", "https://api.partner.example/handoff-session", at: 4, status: 201,
            headers: [("idempotency-key", ScriptedSession.key1), ("content-type", "application/json")],
            body: ScriptedSession.body, response: #"{"url":"\#(ScriptedSession.url)","ttl":\#(seconds)}"#)
        session.browse(ScriptedSession.url, at: 60)
        session.mark(.end, at: 90)
        let result = try session.judge()["HR-31"]
        #expect(result.violations == ["opened-late"] && result.sentence.contains("(\(source))"), "\(result)")
    }
}

@Suite struct HR32HTTPSOnlyBoundaryTests {
    /// A connection to the partner over TLS is something to judge, without any URL.
    @Test func aConnectionAloneIsJudged() throws {
        var session = ScriptedSession()
        session.exchange(.app, "GET", "https://api.partner.example/me", at: 1)
        session.mark(.end, at: 90)
        let result = try session.judge()["HR-32"]
        #expect(
            result.verdict == .pass && result.sentence.hasPrefix("0 URLs, all https; 1 TLS connection "), "\(result)")
        session.dark(.app, "api.partner.example", at: 2, lastData: 3)
        #expect(try session.judge()["HR-32"].reason?.code == "no-keys", "the URLs may stand in what was not read")
    }

    @Test func withAHandoffURLTheRestMayStayUnread() throws {
        let result = try ScriptedSession.shared { $0.dark(.app, "api.partner.example", at: 6, lastData: 7) }
            .judge()["HR-32"]
        #expect(result.verdict == .pass, "\(result)")
    }

    @Test func projectionsAreShown() throws {
        let result = try ScriptedSession.shared { _ in }.judge()["HR-32"]
        #expect(result.lookedAt.map(\.label) == ["session response", "projection", "projection"])
    }

    /// A handshake of which the version was not seen tells nothing.
    @Test func anUnknownVersionIsNotOld() throws {
        let session = ScriptedSession.shared { $0.browse(ScriptedSession.url, at: 4.5) }
        let result = try session.judge(session.events(version: 0, of: "api.partner.example"))["HR-32"]
        #expect(result.verdict == .pass, "\(result)")
    }
}

@Suite struct HR33ExternalBrowserOnlyBoundaryTests {
    @Test func anOpeningThatIsNotDecidedIsShown() throws {
        let result = try ScriptedSession.shared { $0.browse(ScriptedSession.url, at: 4.5) }.judge()["HR-33"]
        #expect(result.reason?.code == "embedded-browser-possible")
        #expect(result.lookedAt.map(\.label) == ["opening"])
    }

    /// The handoff led to the neutral page as well; to Chia's other pages anybody may have gone.
    @Test(arguments: [(ScriptedSession.neutral, "embedded-browser-possible"), ("https://chia.health/about", nil)])
    func theNeutralURLIsOfTheHandoff(url: String, code: String?) throws {
        let result = try ScriptedSession.goneNeutral { $0.browse(url, at: 4.5) }.judge()["HR-33"]
        #expect(result.reason?.code == code, "\(result)")
    }
}
