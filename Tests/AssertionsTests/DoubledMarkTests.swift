import SessionTrace
import Testing

@testable import Assertions

/// Marks that say one thing twice, by two sources, and marks made by hand that come late.
@Suite struct DoubledMarkTests {
    // MARK: one tap of two sources

    /// A raw touch around a named tap is that tap, and leaves no doubt of its own.
    @Test(
        arguments: [
            (19.9, 20.1, nil), (20, 20, nil), (19, 19.999, "generic-tap-mark"), (20.001, 20.05, "generic-tap-mark"),
        ] as [(Double, Double, String?)])
    func aTouchAroundANamedTapIsIt(from: Double, until: Double, code: String?) throws {
        var session = ScriptedSession.upToTap()
        session.tap(.neutral, at: 5)
        session.tap(.other, at: 20)
        session.mark(.tap, at: from, until: until)
        session.share(at: 20.5)
        session.mark(.end, at: 90)
        let result = try session.judge()["HR-02"]
        // Before the named tap it was another one, and the named one was the last.
        let isOpen = code != nil && from > 20
        #expect(result.reason?.code == (isOpen ? code : nil), "\(result)")
        #expect(result.violations == (isOpen ? [] : ["session-before-tap"]), "\(result)")
    }

    @Test func aTouchOnAnotherClockAroundANamedTapIsItToo() throws {
        func judge(_ touch: Double) throws -> RuleResult {
            var session = ScriptedSession.upToTap()
            session.tap(.neutral, at: 5)
            session.tap(.other, at: 20)
            session.mark(.tap, at: touch, onTraceClock: false)
            session.share(at: 20.5)
            session.mark(.end, at: 90)
            return try session.judge()["HR-02"]
        }
        #expect(try judge(20.05).violations == ["session-before-tap"])
        #expect(try judge(20.051).reason?.code == "generic-tap-mark")
    }

    private func isDoubleTap(_ build: (inout ScriptedSession) -> Void) throws -> Bool {
        var session = ScriptedSession.upToTap()
        build(&session)
        session.share(at: 5)
        session.mark(.end, at: 90)
        return try session.judge().exercised.contains("double-tap")
    }

    @Test func oneTapOfTwoSourcesIsNoDoubleTap() throws {
        let otherClock = try isDoubleTap {
            $0.tap(.share, at: 4)
            $0.mark(.tap, .share, at: 4.2, onTraceClock: false)
        }
        #expect(!otherClock)
        for (moment, isDouble) in [(4.2, false), (4.3, false), (4.301, true)] {
            let within = try isDoubleTap {
                $0.mark(.tap, .share, at: 4, until: 4.3)
                $0.tap(.share, at: moment)
            }
            #expect(within == isDouble, "\(moment)")
        }
        #expect(try isDoubleTap { $0.mark(.tap, .share, at: 4, until: 4.3, count: 2) })
        #expect(try isDoubleTap { for time in [4, 4.2] { $0.mark(.tap, .share, at: time, by: .person) } })
    }

    // MARK: one coming back that is marked twice

    private func refreshed(_ build: (inout ScriptedSession) -> Void) throws -> RuleResult {
        var session = ScriptedSession()
        session.mark(.launch, at: 0)
        session.fetch(at: 0.5)
        session.mark(.foreground, at: 60)
        session.fetch(at: 60.2)
        build(&session)
        session.mark(.end, at: 200)
        return try session.judge()["HR-42"]
    }

    @Test(arguments: [(62.0, true), (62.001, false)]) func aSecondWordOfOneComingBackAsksForNothing(
        time: Double, isSame: Bool
    ) throws {
        for kind in [Mark.Kind.foreground, .restore] {
            let result = try refreshed { $0.mark(kind, at: time) }
            #expect(result.violations == (isSame ? [] : ["no-refresh"]), "\(kind): \(result)")
        }
    }

    @Test func whatWasLeftInBetweenIsAnotherComingBack() throws {
        for kind in [Mark.Kind.background, .tap, .kill] {
            let result = try refreshed {
                $0.mark(kind, kind == .tap ? .other : nil, at: 61)
                $0.mark(.foreground, at: 61.5)
            }
            #expect(result.violations == (kind == .kill ? [] : ["no-refresh"]), "\(kind): \(result)")
        }
        let named = try refreshed { $0.mark(.restore, at: 61, attributes: ["item": "item-4711-abcdef"]) }
        #expect(named.violations == ["no-refresh"], "what says more counts: \(named)")
        let screen = try refreshed { $0.mark(.restore, at: 61, attributes: ["screen": "item"]) }
        #expect(screen.violations == ["no-refresh"], "\(screen)")
    }

    @Test func aViewThatIsRestoredSaysMoreThanAScreenThatIsUnknown() throws {
        var session = ScriptedSession()
        session.mark(.launch, at: 50)
        session.mark(.foreground, at: 60)
        session.mark(.restore, at: 60.5)
        session.mark(.end, at: 200)
        session.policyText += "requests: {projection: {path: \"/catalog/{id}/handoff\"}}\n"
        #expect(try session.judge()["HR-42"].violations == ["no-refresh"])
    }

    /// The app was left, after something had been tapped.
    @Test(arguments: [(62.0, "left-again"), (65, nil)] as [(Double, String?)])
    func leavingAfterATapIsLeavingToo(time: Double, code: String?) throws {
        var session = ScriptedSession()
        session.mark(.launch, at: 0)
        session.fetch(at: 0.5)
        session.mark(.foreground, at: 60)
        session.tap(.other, at: 61)
        session.mark(.background, at: time)
        session.fetch(at: 63 + time - 62)
        session.mark(.end, at: 200)
        let result = try session.judge()["HR-42"]
        #expect(result.reason?.code == code && result.violations == (code == nil ? ["no-refresh"] : []), "\(result)")
    }

    // MARK: what follows a link on a foreign host

    @Test(
        arguments: [
            (.tap, .cta, 63, "window-cut-short"), (.tap, .cta, 65, nil), (.linkOpened, nil, 63, "window-cut-short"),
            (.tap, .other, 63, nil), (.tap, nil, 63, nil),
        ] as [(Mark.Kind, Mark.Target?, Double, String?)])
    func whatIsDoneNextEndsTheTimeAfterALink(
        kind: Mark.Kind, target: Mark.Target?, time: Double, code: String?
    ) throws {
        func judge(_ request: Double?) throws -> RuleResult {
            try ScriptedSession.result("HR-66", end: 200) {
                $0.mark(.linkOpened, at: 60, attributes: ["host": "evil.example"])
                $0.mark(kind, target, at: time)
                if let request { $0.exchange(.app, "GET", "https://api.partner.example/home", at: request) }
            }
        }
        #expect(try judge(nil).reason?.code == code)
        #expect(try judge(time - 0.001).violations == ["foreign-link"])
        let after = try judge(time)
        let isOpen = code != nil || time == 65
        #expect(after.violations == (isOpen ? [] : ["foreign-link"]) && after.reason?.code == code, "\(after)")
    }

    // MARK: reloads by hand

    @Test(arguments: [(6.0, true), (5.999, false)]) func aReloadMayBeMarkedLate(time: Double, isDoubt: Bool) throws {
        for rule in ["HR-09", "HR-26"] {
            func judge(_ maker: Mark.Maker) throws -> RuleResult {
                var session = ScriptedSession.upToTap()
                session.tap(.share, at: 4)
                session.share(at: 4.1)
                session.browse(ScriptedSession.url, at: 4.5)
                session.browse(ScriptedSession.url, at: time)
                session.mark(.reload, at: 9, by: maker)
                session.mark(.end, at: 90)
                return try session.judge()[rule]
            }
            let byHand = try judge(.person)
            #expect((byHand.reason?.code == "perhaps-reload") == isDoubt, "\(rule): \(byHand)")
            #expect(byHand.violations.isEmpty == isDoubt, "\(rule): \(byHand)")
            #expect(try judge(.script).verdict == .fail, "\(rule)")
        }
    }

    @Test func aReloadBeforeItsMarkIsSaid() throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        session.browse(ScriptedSession.url, at: 4.5)
        session.browse(ScriptedSession.url, at: 9)
        session.mark(.reload, at: 9, by: .person)
        session.mark(.end, at: 90)
        #expect(try session.judge()["HR-09"].verdict == .pass, "what follows the mark is the reload")
    }

    // MARK: handovers by hand

    /// The page's connection is opened two seconds ahead of the mark at most, which may be three late.
    @Test(
        arguments: [
            (5.0, .script, true, ["warmup"], nil), (7, .script, true, [], nil), (6.999, .script, true, ["warmup"], nil),
            (6.999, .person, true, [], "late-mark"), (4, .person, true, [], "late-mark"),
            (3.999, .person, true, ["warmup"], nil), (7, .person, true, [], nil),
            (6.951, .script, false, [], "clock-bound"), (6.949, .script, false, ["warmup"], nil),
        ] as [(Double, Mark.Maker, Bool, [String], String?)])
    func aHandoverMayBeMarkedLate(
        time: Double, maker: Mark.Maker, onTraceClock: Bool, kinds: [String], code: String?
    ) throws {
        var session = ScriptedSession.upToTap()
        session.processes[.browser] = ProcessIdentity(source: .pcapdroid, name: "Chrome", userID: 10_100)
        session.tap(.share, at: 3)
        session.connect(.browser, "chia.health", at: time)
        session.share(at: 8.5)
        session.mark(.opened, at: 9, by: maker, onTraceClock: onTraceClock)
        let own = session.connect(.browser, "chia.health", at: 9.5)
        session.exchange(.browser, "GET", ScriptedSession.url, at: 9.5, isNavigation: true, on: own)
        session.mark(.end, at: 90)
        let result = try session.judge()["HR-34"]
        #expect(result.violations == kinds && result.reason?.code == code, "\(result)")
    }
}

/// HR-44 where a person pressed a key for leaving or for coming back.
@Suite struct LateAbsenceTests {
    private func judge(
        from: Double = 10, until: Double = 100, page: Double? = nil, leaves: Mark.Maker = .person,
        returns: Mark.Maker = .person, _ times: [Double]
    ) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        session.mark(.background, at: from, by: leaves)
        for time in times { session.exchange(.app, "GET", "https://api.partner.example/account", at: time, took: 0.01) }
        if let page { session.browse(ScriptedSession.neutral, at: page) }
        session.mark(.foreground, at: until, by: returns)
        session.mark(.end, at: 190)
        return try session.judge()["HR-44"]
    }

    /// The key was pressed at 10; the app was left by 25 at the latest, or when a page was opened.
    @Test(
        arguments: [
            ([25, 30, 35], nil, ["periodic"], nil), ([24.999, 30, 35], nil, [], "late-mark"),
            ([12, 17, 22], nil, [], "late-mark"), ([12, 17, 22], 12, ["periodic"], nil),
            ([11.999, 17, 22], 12, [], "late-mark"), ([30, 35], nil, [], nil), ([12, 17], nil, [], nil),
        ] as [([Double], Double?, [String], String?)])
    func whoPressesMayLeaveLater(times: [Double], page: Double?, kinds: [String], code: String?) throws {
        let result = try judge(page: page, times)
        #expect(result.violations == kinds && result.reason?.code == code, "\(result)")
    }

    /// Back at 100 by the key, or up to three seconds before.
    @Test(
        arguments: [
            ([90, 93, 96.999], .person, ["periodic"], nil), ([91, 94, 97], .person, [], "late-mark"),
            ([91, 94, 97], .script, ["periodic"], nil),
        ] as [([Double], Mark.Maker, [String], String?)])
    func whoPressesMayBeBackBefore(times: [Double], maker: Mark.Maker, kinds: [String], code: String?) throws {
        let result = try judge(leaves: .script, returns: maker, times)
        #expect(result.violations == kinds && result.reason?.code == code, "\(result)")
        let byHand = try judge(returns: maker, times)
        #expect(byHand.violations == kinds && byHand.reason?.code == code, "\(byHand)")
    }

    /// Distances of 6 and 7.5 seconds are alike; a little more is not.
    @Test(arguments: [(7.5, ["periodic"]), (7.501, [])] as [(Double, [String])])
    func aRowIsEvenToAQuarter(gap: Double, kinds: [String]) throws {
        let start = [20, 26, 32, 32 + gap]
        let result = try judge(leaves: .script, returns: .script, start + [85, 88])
        #expect(result.violations == kinds, "\(result)")
        #expect(kinds.isEmpty || result.sentence.contains("4 times"), "\(result)")
        let shrinking = try judge(leaves: .script, returns: .script, [20, 20 + gap, 26 + gap, 32 + gap, 85, 88])
        #expect(shrinking.violations == kinds, "\(shrinking)")
    }

    /// What breaks a row begins the next.
    @Test func aRowMayComeLast() throws {
        let result = try judge(leaves: .script, returns: .script, [20, 21, 50, 56, 62, 68])
        #expect(result.violations == ["periodic"] && result.sentence.contains("6 s apart"), "\(result)")
    }
}
