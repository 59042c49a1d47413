import Assertions
import SessionTrace
import Testing

/// A person presses a key for each tap, some time before or, by mistake, up to three seconds after it. Two presses so
/// close leave open whose a request between them is; it is the first one's where that one can claim it.
@Suite struct HandMarkedBurstTests {
    /// A press at 4, a request at 4.3 that ends as `first` says, a press `gap` after the first one, and a request
    /// `wait` after that press.
    private func judge(
        gap: Double = 0.7, wait: Double = 0.3, first: (status: Int, took: Double) = (400, 0.1),
        key: String = ScriptedSession.key2, by maker: Mark.Maker = .person,
        _ build: (inout ScriptedSession) -> Void = { _ in }
    ) throws -> TraceVerdict {
        var session = ScriptedSession.upToTap()
        session.mark(.tap, .share, at: 4, by: maker)
        session.share(at: 4.3, status: first.status, took: first.took)
        session.projection(at: 4.42)
        session.mark(.tap, .share, at: 4 + gap, by: maker)
        session.share(at: 4 + gap + wait, key: key, url: ScriptedSession.otherURL)
        build(&session)
        session.browse(ScriptedSession.otherURL, at: 8.5)
        session.mark(.end, at: 90)
        return try session.judge()
    }

    @Test(arguments: [0.7, 1, 2.9, 3, 3.1]) func eachPressHasTheRequestAfterIt(gap: Double) throws {
        let result = try judge(gap: gap)["HR-07"]
        #expect(result.verdict == .pass, "\(result)")
        #expect(result.sentence == "2 session requests for 2 taps in 2 bursts, the largest of 1 tap")
    }

    /// The first press has had its request, and a new key needs a new tap: the second one is late.
    @Test(arguments: [-2.5, -0.2, 0]) func aRequestJustBeforeItsPressIsThatPressTaps(wait: Double) throws {
        let result = try judge(gap: 3.5, wait: wait)["HR-07"]
        #expect(result.verdict == .pass, "\(result)")
    }

    @Test func beyondLateMarkingItIsTheEarlierTaps() throws {
        let result = try judge(gap: 3.6, wait: -3.01)["HR-07"]
        #expect(result.violations.contains("second-key"), "\(result)")
    }

    /// The same key again is what the first tap began, and so is a second request that overlaps it.
    @Test func theFirstTapClaimsWhatIsItsOwn() throws {
        let same = try judge(gap: 3.5, wait: -0.2, key: ScriptedSession.key1)["HR-07"]
        #expect(same.violations.contains("second-request"), "\(same)")
        let overlapping = try judge(gap: 3.5, wait: -0.2, first: (400, 3.5))["HR-07"]
        #expect(overlapping.violations.contains("second-key"), "\(overlapping)")
        let retried = try judge(gap: 3.5, wait: -0.2, first: (503, 0.1), key: ScriptedSession.key1)["HR-07"]
        #expect(retried.verdict == .pass, "\(retried)")
    }

    /// A first tap of which nothing came claims what lies before the second press, and neither tap was lost.
    @Test func aTapWithoutARequestClaimsTheNextOne() throws {
        var session = ScriptedSession.upToTap()
        session.mark(.tap, .share, at: 4, by: .person)
        session.mark(.background, at: 4.1)
        session.mark(.tap, .share, at: 5, by: .person)
        session.share(at: 4.8)
        session.browse(ScriptedSession.url, at: 5.2)
        session.mark(.end, at: 90)
        let result = try session.judge()["HR-07"]
        #expect(result.verdict == .pass, "\(result)")
    }

    /// Both presses came before both requests: the second tap was perhaps made once the first request had ended.
    @Test(
        arguments: [
            (0.501, 5.4, 400, Mark.Maker.person, "late-mark"), (0.5, 5.4, 400, .person, nil),
            (0.7, 5.4, 400, .script, nil),
            (0.7, 5.4, 201, .person, nil), (0.7, 19.7, 400, .person, "late-mark"), (0.7, 19.701, 400, .person, nil),
            (0.7, 5.4, 302, .person, "late-mark"),
        ] as [(Double, Double, Int, Mark.Maker, String?)]) func aTapMayBeLaterThanItsPress(
            gap: Double, second: Double, status: Int, maker: Mark.Maker, code: String?
        ) throws
    {
        var session = ScriptedSession.upToTap()
        session.mark(.tap, .share, at: 4, by: maker)
        session.mark(.tap, .share, at: 4 + gap, by: maker)
        session.share(at: 4.9, status: status)
        session.share(at: second, key: ScriptedSession.key2, url: ScriptedSession.otherURL)
        session.browse(ScriptedSession.otherURL, at: second + 0.5)
        session.mark(.end, at: 90)
        let result = try session.judge()["HR-07"]
        #expect(result.reason?.code == code, "\(result)")
        #expect((result.violations == ["second-key"]) == (code == nil), "\(result)")
    }

    /// A request so long after a tap did not come of it.
    @Test(arguments: [(29.0, []), (29.001, ["lost-tap"])]) func aTapClaimsWhatComesInTime(
        time: Double, kinds: [String]
    ) throws {
        var session = ScriptedSession.upToTap()
        session.mark(.tap, .share, at: 4, by: .person)
        session.mark(.background, at: 4.1)
        session.mark(.tap, .share, at: 30.5, by: .person)
        session.share(at: time)
        session.browse(ScriptedSession.url, at: 31)
        session.mark(.end, at: 90)
        let result = try session.judge()["HR-07"]
        #expect(result.violations == kinds, "\(result)")
    }

    /// Of two presses and one request the second one is lost, unless it may be late.
    @Test(arguments: [(7.3, []), (7.301, ["lost-tap"])]) func aLatePressIsNotLost(press: Double, kinds: [String]) throws
    {
        var session = ScriptedSession.upToTap()
        session.mark(.tap, .share, at: 4, by: .person)
        session.share(at: 4.3, status: 400)
        session.mark(.tap, .share, at: press, by: .person)
        session.mark(.end, at: 90)
        let result = try session.judge()["HR-07"]
        #expect(result.violations == kinds, "\(result)")
    }

    /// A share tap's mark may be late, but it opens no neutral page.
    @Test func aNeutralPageIsTheNeutralTaps() throws {
        var session = ScriptedSession.upToTap()
        session.mark(.tap, .neutral, at: 4, by: .person)
        session.browse(ScriptedSession.neutral, at: 4.5)
        session.mark(.tap, .share, at: 6, by: .person)
        session.share(at: 6.2)
        session.browse(ScriptedSession.url, at: 6.5)
        session.mark(.end, at: 90)
        let verdict = try session.judge()
        #expect(verdict["HR-09"].violations == [], "\(verdict["HR-09"])")
        #expect(verdict["HR-25"].violations == [], "\(verdict["HR-25"])")
    }

    /// Each of two neutral taps has a page, the second one's before its late mark.
    @Test func ofTwoPagesEachTapHasOne() throws {
        var session = ScriptedSession.upToTap()
        session.mark(.tap, .neutral, at: 4, by: .person)
        session.browse(ScriptedSession.neutral, at: 4.5)
        session.mark(.tap, .neutral, at: 8, by: .person)
        session.browse(ScriptedSession.neutral, at: 7.5)
        session.mark(.end, at: 90)
        let result = try session.judge()["HR-09"]
        #expect(result.violations == [], "\(result)")
    }

    /// Marks of a script come with the tap, whatever their clock's bound.
    @Test func aScriptsMarksAreTakenAsTheyAre() throws {
        #expect(try judge(by: .script)["HR-07"].verdict == .pass)
    }
}
