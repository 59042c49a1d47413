import Assertions
import SessionTrace
import Testing

/// Two events in one and the same moment: to which side of a rule's bound they belong.
@Suite struct RuleMomentTests {
    /// What a tap's own moment sends is the tap's: its rejection ends the permission.
    @Test func anAttemptInTheTapsMomentIsTheTaps() throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4, status: 422)
        session.exchange(.app, "GET", "https://chia.health/x", at: 5)
        session.mark(.end, at: 90)
        let result = try session.judge()["HR-01"]
        #expect(result.violations == ["connection", "request"], "\(result)")
    }

    /// The attempt that begins with the end of the one before knew of that end.
    @Test(arguments: [(4.2, ["new-key"]), (4.199, [])] as [(Double, [String])])
    func anAttemptInTheMomentOfTheEndIsARetry(time: Double, kinds: [String]) throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, status: 503)
        session.share(at: time, key: ScriptedSession.key2)
        session.mark(.end, at: 90)
        let result = try session.judge()["HR-14"]
        #expect(result.violations == kinds, "\(result)")
    }

    /// A start of the app in the moment of the answer is not after it, and one in the moment of the opening not before.
    @Test(arguments: [(4.2, "pass"), (4.201, "fail"), (5.999, "fail"), (6, "pass")] as [(Double, String)])
    func aStartBetweenAnswerAndOpeningNeedsATap(time: Double, verdict: String) throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        session.mark(.launch, at: time)
        session.browse(ScriptedSession.url, at: 6)
        session.mark(.end, at: 90)
        let result = try session.judge()["HR-27"]
        #expect(result.verdict.rawValue == verdict, "\(result)")
    }

    /// What opens in the moment of the next tap is not the effect of the one before.
    @Test(arguments: [(5.0, []), (5.001, ["neutral-tap-had-effect"])] as [(Double, [String])])
    func anOpeningInTheMomentOfTheNextTap(next: Double, kinds: [String]) throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, took: 0.4)
        session.tap(.neutral, at: 4.3)
        session.browse(ScriptedSession.neutral, at: 5)
        session.tap(.share, at: next)
        session.mark(.end, at: 90)
        let result = try session.judge()["HR-10"]
        #expect(result.violations == kinds, "\(result)")
    }

    /// What Chia had set before, or in that very moment, is Chia's.
    @Test(arguments: [(0.999, true), (1, false), (1.5, false)])
    func aCookieIsWhoseItWasFirst(time: Double, isPartners: Bool) throws {
        let value = "s1d-77aaXX99kkLL"
        var session = ScriptedSession.upToTap()
        session.exchange(
            .browser, "GET", "https://chia.health/start", at: 1, responseHeaders: [("set-cookie", "k=\(value)")])
        session.exchange(
            .app, "GET", "https://api.partner.example/me", at: time, headers: [("cookie", "s=\(value)")])
        session.browse("https://chia.health/next", at: 6, headers: [("cookie", "k=\(value)")])
        session.mark(.end, at: 90)
        let result = try session.judge()["HR-53"]
        #expect(result.violations.contains("partner-credential") == isPartners, "\(result)")
    }
}
