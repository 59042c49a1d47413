import SessionTrace
import Testing

@testable import Assertions

/// Coming back at 60, the projection is due until 65.
@Suite struct HR42RefreshOnForegroundBoundaryTests {
    private func judge(
        policy: String = "", end: Double = 200, _ build: (inout ScriptedSession) -> Void
    ) throws -> RuleResult {
        var session = ScriptedSession()
        session.policyText += policy
        session.mark(.launch, at: 0)
        session.fetch(at: 0.5)
        session.mark(.foreground, at: 60)
        build(&session)
        session.mark(.end, at: end)
        return try session.judge()["HR-42"]
    }

    @Test func theMarkAndTheProjectionAreShown() throws {
        let result = try judge { $0.fetch(at: 61) }
        #expect(result.lookedAt.map(\.label) == ["foreground mark", "projection"])
    }

    @Test(arguments: [(60.0, true), (59.999, false)]) func aProjectionInTheMarksOwnMomentIsTheRefresh(
        time: Double, isRefresh: Bool
    ) throws {
        let result = try judge { $0.fetch(at: time) }
        #expect((result.verdict == .pass) == isRefresh, "\(result)")
    }

    /// What is asked for and answered until 65 is in time, what is asked for only is not answered, and what is asked for
    /// later is late.
    @Test(
        arguments: [
            (64.9, 0.1, nil, true), (64.901, 0.1, "refresh-unanswered", false), (65, 0, nil, true),
            (65, 0.1, "refresh-unanswered", false), (65.001, 0, nil, false),
        ] as [(Double, Double, String?, Bool)]) func theDeadlineIsSharp(
            time: Double, took: Double, code: String?, isInTime: Bool
        ) throws
    {
        let result = try judge { $0.fetch(at: time, took: took) }
        #expect(result.reason?.code == code && (result.verdict == .pass) == isInTime, "\(result)")
    }

    @Test func whatIsAskedAfterTheAppLeftAgainIsNoRefresh() throws {
        func judge(at time: Double) throws -> RuleResult {
            try self.judge {
                $0.mark(.background, at: 62)
                $0.fetch(at: time)
            }
        }
        #expect(try judge(at: 62).verdict == .pass)
        #expect(try judge(at: 62.001).reason?.code == "left-again")
        let tapped = try self.judge {
            $0.tap(.other, at: 61)
            $0.fetch(at: 62)
        }
        #expect(tapped.verdict == .pass, "a tap leaves nothing: \(tapped)")
    }

    /// What HR-06 asks for at a call to action, and what may be fetched when sharing, refreshes nothing.
    @Test(
        arguments: [
            (.cta, 62.001, "left-again"), (.cta, 62, "left-again"), (.cta, 61.999, nil), (.share, 62.2, "left-again"),
            (.neutral, 62.2, "left-again"), (nil, 62.2, "left-again"), (.policy, 62.2, nil), (.other, 62.2, nil),
        ] as [(Mark.Target?, Double, String?)]) func whatATapFetchesIsNoRefresh(
            target: Mark.Target?, time: Double, code: String?
        ) throws
    {
        let result = try judge {
            $0.tap(target, at: 62)
            $0.fetch(at: time)
        }
        #expect(result.reason?.code == code && result.violations == [], "\(result)")
        #expect((result.verdict == .pass) == (code == nil), "\(result)")
    }

    @Test func aTapBehindAnotherCountsToo() throws {
        let result = try judge {
            $0.tap(.other, at: 61)
            $0.tap(.cta, at: 62)
            $0.fetch(at: 62.2)
        }
        #expect(result.reason?.code == "left-again", "\(result)")
        #expect(result.sentence.contains("2 s after the foreground mark"), "\(result)")
    }

    /// A call to action in the mark's own moment may be what brought the app back; one before it fetched long ago.
    @Test(arguments: [(60.0, "left-again"), (59.999, nil)] as [(Double, String?)])
    func onlyTapsAfterComingBackCount(tap: Double, code: String?) throws {
        let result = try judge {
            $0.tap(.cta, at: tap)
            $0.fetch(at: 60.5)
        }
        #expect(result.reason?.code == code, "\(result)")
    }

    /// Nothing was fetched at all: neither for the tap nor for coming back.
    @Test(arguments: [(65.0, "left-again"), (65.001, nil)] as [(Double, String?)])
    func aTapIsNoExcuseForFetchingNothing(time: Double, code: String?) throws {
        let result = try judge {
            $0.tap(.cta, at: 62)
            $0.fetch(at: time, took: 0)
        }
        #expect(result.reason?.code == code && result.violations == (code == nil ? ["no-refresh"] : []), "\(result)")
    }

    /// The tap's mark may be late: what came before it may be the tap's. Where the tap has its own, it is the refresh.
    @Test(
        arguments: [
            (60.999, false, true, nil), (61, false, true, "left-again"), (64, false, true, "left-again"),
            (61, true, true, nil), (64.001, false, true, "left-again"), (63.949, false, false, nil),
            (63.95, false, false, "left-again"),
        ] as [(Double, Bool, Bool, String?)]) func theTapsMarkMayBeLate(
            time: Double, isFetchedAgain: Bool, isByHand: Bool, code: String?
        ) throws
    {
        let result = try judge {
            $0.fetch(at: time, took: 0)
            $0.mark(.tap, .cta, at: 64, by: isByHand ? .person : .script, onTraceClock: isByHand)
            if isFetchedAgain { $0.fetch(at: 64.2, took: 0) }
        }
        #expect(result.reason?.code == code && (result.verdict == .pass) == (code == nil), "\(result)")
    }

    @Test(arguments: [(64.999, "left-again"), (65, nil)]) func leavingAtTheDeadlineIsNoExcuse(
        time: Double, code: String?
    ) throws {
        let result = try judge { $0.mark(.background, at: time) }
        #expect(result.reason?.code == code && result.violations == (code == nil ? ["no-refresh"] : []), "\(result)")
    }

    @Test(arguments: [(64.999, "trace-ended"), (65, nil)]) func theTraceMustGoOnUntilTheDeadline(
        end: Double, code: String?
    ) throws {
        let result = try judge(end: end) { _ in }
        #expect(result.reason?.code == code && result.violations == (code == nil ? ["no-refresh"] : []), "\(result)")
    }

    @Test func aPartnerThatCouldNotBeReachedIsNotTheApps() throws {
        let result = try judge { $0.unreachable(.app, "api.partner.example", at: 61) }
        #expect(result.reason?.code == "dial-failed", "\(result)")
        #expect(result.sentence.hasPrefix("no projection after the foreground mark, but "), "\(result)")
        #expect(try judge { $0.unreachable(.app, "sdk.vendor.example", at: 61) }.violations == ["no-refresh"])
    }

    /// What serves projections counts, and the partner by the policy; any other host does not.
    @Test(arguments: [("cards.example", true), ("api.partner.example", true), ("sdk.vendor.example", false)])
    func whatMayHoldTheProjectionUnread(host: String, isDoubt: Bool) throws {
        var session = ScriptedSession()
        session.mark(.launch, at: 0)
        session.exchange(
            .app, "GET", "https://cards.example/catalog/item-4711-abcdef/handoff", at: 0.5,
            response: ScriptedSession.projectionBody())
        session.mark(.foreground, at: 60)
        session.dark(.app, host, at: 61, lastData: 62)
        session.mark(.end, at: 200)
        let result = try session.judge()["HR-42"]
        #expect((result.reason?.code == "no-keys") == isDoubt, "\(result)")
        #expect(result.violations == (isDoubt ? [] : ["no-refresh"]))
    }

    /// The card of 0.6 may be kept for 59.4 s: until the very moment of coming back.
    @Test(arguments: [(60, "cached"), (59, "no-refresh")]) func aCopyIsFreshUntilItsTimeIsOver(
        seconds: Int, kind: String
    ) throws {
        var session = ScriptedSession()
        session.mark(.launch, at: 0)
        session.fetch(at: 0.9, responseHeaders: [("cache-control", "max-age=\(seconds)")])
        session.mark(.foreground, at: 60)
        session.mark(.end, at: 200)
        #expect(try session.judge()["HR-42"].violations == [kind])
    }
}

@Suite struct HR43NoOutcomeInferenceBoundaryTests {
    @Test func marksThatContradictMatterOnlyWhereTheAppCameBack() throws {
        var session = ScriptedSession.upToTap()
        session.mark(.tap, .other, at: 70, id: "x", phase: .pre)
        session.mark(.end, at: 90)
        #expect(try session.judge()["HR-43"].verdict == .notApplicable)
    }

    /// A tap a second after coming back leaves the half minute unwatched.
    @Test(arguments: [(61.0, "observed only 1 s after coming back, not 30 s"), (90, nil)] as [(Double, String?)])
    func howLongWasWatchedIsSaid(tap: Double, words: String?) throws {
        let result = try ScriptedSession.result("HR-43", end: 200) {
            $0.mark(.foreground, at: 60)
            $0.tap(.other, at: tap)
        }
        #expect(
            result.verdict == .pass && result.assumptions.map(\.sentence) == [words].compactMap(\.self), "\(result)")
    }

    /// A picture of a collector's tells what its query says.
    @Test func aCollectorsPictureIsNoImage() throws {
        func sent(_ url: String) throws -> RuleResult {
            try ScriptedSession.result("HR-43", end: 200) {
                $0.mark(.foreground, at: 60)
                $0.exchange(.app, "GET", url, at: 61, responseHeaders: [("content-type", "image/gif")])
            }
        }
        #expect(
            try sent("https://api2.amplitude.com/p.gif?event=app_return&item=shoes").violations == ["unlisted-request"])
        #expect(try sent("https://cdn.example/p.gif?event=app_return&item=shoes").verdict == .pass)
    }

    /// Four characters are enough for an id, where it stands beside an outcome; three stand for too much else.
    @Test(arguments: [("4711", "outcome-words"), ("471", "unlisted-request")]) func aShortIdIsKnownToo(
        item: String, kind: String
    ) throws {
        var session = ScriptedSession()
        session.mark(.launch, at: 0)
        session.fetch(at: 0.5, item: item)
        session.tap(.share, at: 4)
        session.share(at: 4.1, body: ScriptedSession.shareBody(item: item))
        session.mark(.opened, at: 4.3)
        session.browse(ScriptedSession.url, at: 4.5)
        session.mark(.background, at: 4.9)
        session.mark(.foreground, at: 60)
        session.exchange(
            .app, "POST", "https://api.partner.example/log", at: 61, body: #"{"x":"\#(item)","elapsed_ms":48211}"#)
        session.mark(.end, at: 200)
        #expect(try session.judge()["HR-43"].violations == [kind])
    }
}

@Suite struct HR44NoBackgroundObservationBoundaryTests {
    private static func poll(_ session: inout ScriptedSession, _ times: [Double]) {
        for time in times { session.exchange(.app, "GET", "https://api.partner.example/account", at: time, took: 0.01) }
    }

    /// Half a minute is enough to have watched.
    @Test(arguments: [(44.3, false), (44.299, true)]) func howLongTheAppWasLeft(until: Double, isAssumed: Bool) throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        session.mark(.opened, at: 14.3)
        session.mark(.foreground, at: until)
        session.mark(.end, at: 90)
        let result = try session.judge()["HR-44"]
        #expect(result.assumptions.contains { $0.code == "observed-only" } == isAssumed, "\(result)")
    }

    @Test func anAppThatNeverComesBackIsWatchedToTheEnd() throws {
        var session = ScriptedSession.upToTap()
        session.mark(.background, at: 10)
        Self.poll(&session, [20, 30, 40])
        #expect(try session.judge()["HR-44"].violations == ["periodic"])
    }

    /// Without marks a page of Chia begins the time, and nothing else that the browser asks Chia for.
    @Test func onlyAPageBeginsTheTime() throws {
        func judge(page: Double) throws -> [String] {
            var session = ScriptedSession()
            session.fetch(at: 0.5)
            session.exchange(.browser, "GET", "https://chia.health/app.js", at: 5)
            Self.poll(&session, [10, 20, 30])
            session.browse(ScriptedSession.neutral, at: page)
            session.exchange(.app, "GET", "https://api.partner.example/x", at: 80)
            return try session.judge()["HR-44"].violations
        }
        #expect(try judge(page: 9) == ["periodic"])
        #expect(try judge(page: 40) == [])
    }

    @Test(arguments: [(30.0, ["periodic"]), (30.001, [])] as [(Double, [String])])
    func whatEndsTheTimeComesAfterThePage(mark: Double, kinds: [String]) throws {
        var session = ScriptedSession()
        session.fetch(at: 0.5)
        session.browse(ScriptedSession.neutral, at: 30)
        session.mark(.foreground, at: mark)
        Self.poll(&session, [35, 45, 55])
        session.mark(.end, at: 90)
        #expect(try session.judge()["HR-44"].violations == kinds)
    }

    /// A poll with one request more right after the first, one that begins late, and one with a pause; against a few
    /// requests of which some happen to be even.
    @Test(
        arguments: [
            ([20, 20.1, 26, 32, 38], ["periodic"]), ([20, 20.249, 26, 32, 38], ["periodic"]),
            ([20, 26, 32, 38, 85, 88], ["periodic"]), ([20, 26, 32, 40, 85, 88], []),
            ([20, 26, 32, 38, 85, 88, 89, 90], ["periodic"]), ([20, 26, 32, 38, 85, 88, 89, 90, 92], []),
            ([20, 26, 32, 80, 99], []), ([20, 20.1, 20.2, 60], []), ([20, 20.1, 40], []),
            ([20, 20.1, 40, 60], ["periodic"]),
        ] as [([Double], [String])]) func aPollAmongOtherRequestsIsOne(times: [Double], kinds: [String]) throws
    {
        var session = ScriptedSession.upToTap()
        session.mark(.background, at: 10)
        Self.poll(&session, times)
        session.mark(.end, at: 190)
        #expect(try session.judge()["HR-44"].violations == kinds)
    }

    /// A quarter of a second, and a millisecond less.
    @Test(arguments: [(0.25, ["periodic"]), (0.249, [])] as [(Double, [String])]) func whatLoadsAScreenIsNoPeriod(
        gap: Double, kinds: [String]
    ) throws {
        var session = ScriptedSession.upToTap()
        session.mark(.background, at: 10)
        Self.poll(&session, (0..<4).map { 20 + Double($0) * gap })
        session.mark(.end, at: 90)
        #expect(try session.judge()["HR-44"].violations == kinds)
    }
}
