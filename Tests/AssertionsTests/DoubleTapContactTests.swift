import SessionTrace
import Testing

@testable import Assertions

/// The second tap of a double tap is no act of its own: what the browser did after the first one was asked for.
@Suite struct DoubleTapContactTests {
    /// A share tap at 4 that is answered 2 ms later, the browser's lookup and connection, a second tap, and the page.
    private func judge(
        lookup: Double = 4.006, connection: Double = 4.02, second: Double = 4.1, page: Double? = 4.15,
        target: Mark.Target? = .share, _ build: (inout ScriptedSession) -> Void = { _ in }
    ) throws -> TraceVerdict {
        var session = ScriptedSession.upToTap()
        session.processes[.browser] = ProcessIdentity(source: .pcapdroid, name: "Chrome", userID: 10_100)
        session.tap(target, at: 4)
        session.share(at: 4.001, took: 0.001)
        session.lookup("chia.health", at: lookup)
        let own = session.connect(.browser, "chia.health", at: connection)
        session.tap(target, at: second)
        if let page { session.exchange(.browser, "GET", ScriptedSession.url, at: page, isNavigation: true, on: own) }
        build(&session)
        session.mark(.end, at: 90)
        return try session.judge()
    }

    @Test(arguments: [Mark.Target.share, nil]) func whatFollowsTheFirstTapIsNotAhead(target: Mark.Target?) throws {
        let verdict = try judge(target: target)
        for rule in ["HR-04", "HR-34"] { #expect(verdict[rule].verdict == .pass, "\(verdict[rule])") }
        #expect(verdict.matrix["M-05"] != .violated)
    }

    @Test(arguments: [(4.0, []), (3.999, ["before-tap"])]) func whatPrecedesTheFirstTapIs(
        time: Double, kinds: [String]
    ) throws {
        let verdict = try judge(lookup: 4.01, connection: time)
        #expect(verdict["HR-04"].violations == kinds, "\(verdict["HR-04"])")
        #expect(verdict["HR-34"].violations == (kinds.isEmpty ? [] : ["warmup"]), "\(verdict["HR-34"])")
    }

    @Test(arguments: [(6.02, []), (6.021, ["early"])]) func theSecondTapGivesNoTime(
        opened: Double, kinds: [String]
    ) throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.001, took: 0.001)
        session.connect(.nobody, "chia.health", at: 4.02)
        session.tap(.share, at: 4.1)
        let own = session.connect(.browser, "chia.health", at: opened)
        session.exchange(
            .browser, "GET", ScriptedSession.url, at: opened + 0.01, isNavigation: true, on: own)
        session.mark(.end, at: 90)
        let result = try session.judge()["HR-04"]
        #expect(result.violations == kinds, "\(result)")
    }

    /// A tap on share while the request is under way joins it; one on another action, or afterwards, does not.
    @Test(
        arguments: [
            (Mark.Target.share, 9.1, []), (nil, 9.1, []), (.share, 9.101, ["before-tap"]),
            (.neutral, 9.1, ["before-tap"]),
        ] as [(Mark.Target?, Double, [String])]) func aTapMeanwhileBeginsNothing(
            target: Mark.Target?, second: Double, kinds: [String]
        ) throws
    {
        var session = ScriptedSession.upToTap()
        session.tap(target == nil ? nil : .share, at: 4)
        session.share(at: 4.1, took: 5)
        let own = session.connect(.browser, "chia.health", at: 8.5)
        session.tap(target, at: second)
        session.exchange(.browser, "GET", ScriptedSession.url, at: 9.2, isNavigation: true, on: own)
        session.mark(.end, at: 90)
        let result = try session.judge()["HR-04"]
        #expect(result.violations == kinds, "\(result)")
    }

    /// What was looked up between the taps of a double tap was looked up for the page.
    @Test(arguments: [
        (Mark.Target.share, 4.5, true), (.share, 4.501, false), (.neutral, 4.5, false),
    ]) func aLookupBetweenTheTapsIsThePages(target: Mark.Target, second: Double, isKnown: Bool) throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        session.lookup("chia.health", at: 4.3)
        session.tap(target, at: second)
        session.browse(ScriptedSession.url, at: 4.7)
        session.mark(.end, at: 90)
        let result = try session.judge()["HR-03"]
        #expect((result.reason?.code == "actor-unknown") != isKnown, "\(result)")
    }

    /// Without the page nothing tells what they were made for; a tap shortly before explains them.
    @Test(arguments: [(14.0, []), (14.001, ["before-tap"])]) func aTapShortlyBeforeExplainsThem(
        time: Double, kinds: [String]
    ) throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        session.connect(.nobody, "chia.health", at: time)
        session.tap(.share, at: 20)
        session.share(at: 20.1, key: ScriptedSession.key2, url: ScriptedSession.otherURL)
        session.mark(.end, at: 90)
        let result = try session.judge()["HR-04"]
        #expect(result.violations == kinds, "\(result)")
        #expect(!kinds.isEmpty || result.reason?.code == "navigation-not-seen", "\(result)")
    }
}
