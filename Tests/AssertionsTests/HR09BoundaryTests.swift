import Assertions
import SessionTrace
import Testing

/// Navigations that are missing, and taps that lead to none by right.
@Suite struct HR09OneExternalNavigationPerBurstBoundaryTests {
    private func judge(end: Double = 90, _ build: (inout ScriptedSession) -> Void) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, took: 0.4)
        build(&session)
        session.mark(.end, at: end)
        return try session.judge()["HR-09"]
    }

    /// The session request is under way from 4.1 to 4.5.
    @Test(arguments: [
        (4.099, Verdict.fail), (4.1, .pass), (4.3, .pass), (4.5, .pass), (4.501, .fail), (20, .fail),
    ]) func aNeutralTapWhileARequestIsUnderWayLeadsToNothing(time: Double, verdict: Verdict) throws {
        let result = try judge {
            $0.tap(.neutral, at: time)
            $0.browse(ScriptedSession.url, at: 4.8)
        }
        #expect(result.verdict == verdict, "\(result)")
        #expect(result.violations == (verdict == .fail ? ["no-navigation"] : []))
    }

    /// The URL came at 4.5; what could not be read since then may be its opening.
    @Test(arguments: [
        ("chia.health", 4.5, "no-keys"), ("chia.health", 4.499, "browser-not-seen"),
        ("www.vendor.example", 6, "browser-not-seen"),
    ]) func unreadTrafficMayBeTheNavigation(host: String, lastData: Double, code: String) throws {
        let result = try judge { $0.dark(.nobody, host, at: 4.2, lastData: lastData) }
        #expect(result.reason?.code == code, "\(result)")
    }

    @Test(arguments: [("chia.health", "dial-failed"), ("sdk.vendor.example", "browser-not-seen")])
    func aHostThatCouldNotBeReachedExcusesIt(host: String, code: String) throws {
        let result = try judge { $0.unreachable(.nobody, host, at: 5) }
        #expect(result.reason?.code == code, "\(result)")
    }

    @Test(arguments: [(14.499, "trace-ended"), (14.5, "browser-not-seen")])
    func itHasTenSecondsToCome(end: Double, code: String) throws {
        #expect(try judge(end: end) { _ in }.reason?.code == code)
    }

    /// A share tap opens the handoff URL, and not the neutral one too. The answer came at 4.5.
    @Test(
        arguments: [
            (4.6, [], ["neutral-beside"], nil), (4.499, [], [], nil), (6, [("sec-fetch-site", "same-origin")], [], nil),
            (6, [("sec-fetch-site", "cross-site")], [], "initiator-unknown"),
        ] as [(Double, [(String, String)], [String], String?)])
    func theNeutralURLBesideTheHandoffURL(time: Double, headers: [(String, String)], kinds: [String], code: String?)
        throws
    {
        let result = try judge {
            $0.browse(ScriptedSession.url, at: 4.8)
            $0.browse(ScriptedSession.neutral, at: time, headers: headers)
        }
        #expect(result.violations == kinds && result.reason?.code == code, "\(result)")
    }

    /// What the next tap opens is that tap's; a page that was opened before may be the browser's own return to it.
    @Test func theNeutralURLMayBeAnothersTapOrAReturn() throws {
        let tapped = try judge {
            $0.browse(ScriptedSession.url, at: 4.8)
            $0.tap(.neutral, at: 20)
            $0.browse(ScriptedSession.neutral, at: 20.3)
        }
        #expect(tapped.verdict == .pass, "\(tapped)")
        var session = ScriptedSession.upToTap()
        session.tap(.neutral, at: 3)
        session.browse(ScriptedSession.neutral, at: 3.2)
        session.tap(.share, at: 4)
        session.share(at: 4.1, took: 0.4)
        session.browse(ScriptedSession.url, at: 4.8)
        session.mark(.background, at: 6)
        session.browse(ScriptedSession.neutral, at: 50, headers: [("cache-control", "max-age=0")])
        session.mark(.end, at: 90)
        #expect(try session.judge()["HR-09"].reason?.code == "perhaps-back")
    }

    /// Between two openings the app came to act again: the second is no repeat of the first one, which failed.
    @Test(arguments: [(Mark.Kind?.none, true), (.foreground, false), (.launch, false), (.background, true)])
    func aRetryEndsWhereTheAppMayActAgain(kind: Mark.Kind?, isOne: Bool) throws {
        let result = try judge {
            $0.browse(ScriptedSession.url, at: 4.8, fate: .reset)
            if let kind { $0.mark(kind, at: 5) }
            $0.browse(ScriptedSession.url, at: 5.2)
        }
        #expect((result.verdict == .pass) == isOne, "\(result)")
    }

    @Test func reloadsAndReturnsAreNoSecondNavigation() throws {
        let reload = try judge {
            $0.browse(ScriptedSession.url, at: 5)
            $0.browse(ScriptedSession.url, at: 8, headers: [("cache-control", "max-age=0")])
        }
        #expect(reload.reason?.code == "perhaps-reload", "\(reload)")
        let back = try judge {
            $0.browse(ScriptedSession.url, at: 5)
            $0.mark(.background, at: 6)
            $0.mark(.foreground, at: 30)
            $0.mark(.background, at: 40)
            $0.browse(ScriptedSession.url, at: 50)
        }
        #expect(back.reason?.code == "perhaps-back", "\(back)")
    }
}
