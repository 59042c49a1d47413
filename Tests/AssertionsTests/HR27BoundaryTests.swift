import Assertions
import SessionTrace
import Testing

/// Which answer, failure, launch and tap an opening is held against, to the moment. The session is tapped at 4, asked for
/// at 4.1 and answered at 4.2.
@Suite struct HR27OpensInitiatingResponseURLBoundaryTests {
    private func judge(_ build: (inout ScriptedSession) -> Void) throws -> RuleResult {
        try ScriptedSession.shared(build).judge()["HR-27"]
    }

    private static func share(
        _ session: inout ScriptedSession, at time: Double, took: Double = 0.1, status: Int = 201
    ) {
        session.share(
            at: time, key: ScriptedSession.key2, status: status, took: took, url: ScriptedSession.otherURL)
    }

    @Test func bothTheAnswerAndTheOpeningAreShown() throws {
        let result = try judge { $0.browse(ScriptedSession.url, at: 4.5) }
        #expect(result.lookedAt.map(\.label) == ["session response", "opening"])
        let stranger = try judge { $0.browse(ScriptedSession.otherURL, at: 60) }
        #expect(stranger.lookedAt.map(\.label) == ["opening"])
    }

    // MARK: answers

    @Test(arguments: [(4.1, []), (4.099, ["opened-before-request"])]) func theRequestsOwnMomentIsNotBeforeIt(
        time: Double, kinds: [String]
    ) throws {
        let result = try judge { $0.browse(ScriptedSession.url, at: time) }
        #expect(result.violations == kinds, "\(result)")
    }

    /// What came while the URL's own answer was under way is not newer than it.
    @Test func anAnswerThatCameBeforeItsOwnIsNotNewer() throws {
        let result = try judge {
            Self.share(&$0, at: 4.12, took: 0.05)
            $0.browse(ScriptedSession.url, at: 4.2)
        }
        #expect(result.violations == [], "\(result)")
    }

    @Test func anAnswerInTheSameMomentIsNotNewer() throws {
        let result = try judge {
            Self.share(&$0, at: 4.15, took: 0.05)
            $0.browse(ScriptedSession.url, at: 4.5)
        }
        #expect(result.violations == [], "\(result)")
    }

    @Test(arguments: [(22.2, ["older-url"]), (22.199, [])]) func anAnswerInTheOpeningsMomentHadCome(
        time: Double, kinds: [String]
    ) throws {
        let result = try judge {
            $0.tap(.share, at: 22)
            Self.share(&$0, at: 22.1)
            $0.browse(ScriptedSession.url, at: time)
        }
        #expect(result.violations == kinds, "\(result)")
    }

    @Test(arguments: [(22.2, ["after-failed-attempt"]), (22.199, [])]) func aFailureInTheOpeningsMomentHadCome(
        time: Double, kinds: [String]
    ) throws {
        let result = try judge {
            $0.tap(.share, at: 22)
            Self.share(&$0, at: 22.1, status: 422)
            $0.browse(ScriptedSession.url, at: time)
        }
        #expect(result.violations == kinds, "\(result)")
    }

    @Test(arguments: [(4.2, []), (4.201, ["after-failed-attempt"])]) func anAttemptInTheAnswersMomentIsNotLater(
        start: Double, kinds: [String]
    ) throws {
        let result = try judge {
            Self.share(&$0, at: start, status: 422)
            $0.browse(ScriptedSession.url, at: 4.5)
        }
        #expect(result.violations == kinds, "\(result)")
    }

    // MARK: launches

    @Test(
        arguments: [
            (4.15, 4.5, []), (4.2, 4.5, []), (4.201, 4.5, ["without-tap"]), (31, 31, []), (30.999, 31, ["without-tap"]),
            (60, 4.5, []),
        ] as [(Double, Double, [String])]) func onlyALaunchBetweenAnswerAndOpeningCounts(
            launch: Double, opening: Double, kinds: [String]
        ) throws
    {
        let result = try judge {
            $0.mark(.launch, at: launch)
            $0.browse(ScriptedSession.url, at: opening)
        }
        #expect(result.violations == kinds, "\(result)")
    }

    @Test(
        arguments: [(30.0, ["without-tap"]), (30.001, []), (31, []), (31.001, ["without-tap"])] as [(Double, [String])])
    func onlyATapBetweenLaunchAndOpeningExplains(tap: Double, kinds: [String]) throws {
        let result = try judge {
            $0.mark(.launch, at: 30)
            $0.tap(.share, at: tap)
            $0.browse(ScriptedSession.url, at: 31)
        }
        #expect(result.violations == kinds, "\(result)")
    }

    @Test func aLaunchNeedsNoTapMarksToTell() throws {
        var session = ScriptedSession()
        session.projection(at: 0.5)
        session.share(at: 4.1)
        session.mark(.launch, at: 30)
        session.browse(ScriptedSession.url, at: 31)
        session.mark(.end, at: 90)
        #expect(try session.judge()["HR-27"].violations == ["without-tap"])
    }

    /// An app that was killed opens nothing: the browser had the URL already. If nothing says that it was handed over
    /// before, the app may have been started again unmarked.
    @Test(
        arguments: [
            (4.25, nil), (4.3, nil), (4.301, "launch-not-marked"), (nil, "launch-not-marked"),
        ] as [(Double?, String?)]) func aKilledAppOpensNothing(opened: Double?, code: String?) throws
    {
        let result = try judge {
            if let opened { $0.mark(.opened, at: opened) }
            $0.mark(.kill, at: 4.3)
            $0.browse(ScriptedSession.url, at: 4.5)
        }
        #expect(result.violations == [], "\(result)")
        #expect(result.reason?.code == code, "\(result)")
    }

    /// A launch whose clock is known to 50 ms, close to the answer at 4.2 or to the opening at 5.
    @Test(
        arguments: [
            (4.25, "clock-bound"), (4.251, nil), (4.949, nil), (4.95, "clock-bound"),
        ] as [(Double, String?)]) func aLaunchOfAnotherClockMayHaveBeenElsewhere(launch: Double, code: String?) throws
    {
        let result = try judge {
            $0.mark(.launch, at: launch, onTraceClock: false)
            $0.browse(ScriptedSession.url, at: 5)
        }
        #expect(result.reason?.code == code, "\(result)")
        #expect(result.violations == (code == nil ? ["without-tap"] : []), "\(result)")
    }

    @Test func aTapAfterTheKillExplainsTheOpening() throws {
        let result = try judge {
            $0.mark(.kill, at: 30)
            $0.tap(.share, at: 30.5)
            $0.browse(ScriptedSession.url, at: 31)
        }
        #expect(result.verdict == .pass, "\(result)")
    }

    @Test func aLaunchAfterTheKillIsHeldAgainstTheApp() throws {
        let result = try judge {
            $0.mark(.opened, at: 4.3)
            $0.mark(.kill, at: 30)
            $0.mark(.launch, at: 30.5)
            $0.browse(ScriptedSession.url, at: 31)
        }
        #expect(result.violations == ["without-tap"], "\(result)")
    }

    // MARK: opened again

    /// A tap has had its page with the first opening, and what the app opens on coming back it had stored.
    private func again(
        _ time: Double, headers: [(String, String)] = [], _ build: (inout ScriptedSession) -> Void
    ) throws -> [String] {
        try judge {
            $0.browse(ScriptedSession.url, at: 4.5)
            build(&$0)
            $0.browse(ScriptedSession.url, at: time, headers: headers)
        }.violations
    }

    @Test(arguments: [(30.0, ["without-tap"]), (30.001, [])]) func openingItAgainOnComingBackNeedsATap(
        time: Double, kinds: [String]
    ) throws {
        #expect(try again(time) { $0.mark(.foreground, at: 20) } == kinds, "ten seconds after the act, at most")
        #expect(
            try again(time) {
                $0.mark(.foreground, at: 20)
                $0.tap(.share, at: 20.5)
            } == [])
    }

    @Test func comingBackInTheFirstOpeningsMomentExplainsNothing() throws {
        #expect(try again(6) { $0.mark(.foreground, at: 4.5) } == [])
        #expect(try again(6) { $0.mark(.foreground, at: 4.501) } == ["without-tap"])
    }

    @Test func aReloadOrTheBrowsersOwnReturnIsNotTheApps() throws {
        #expect(try again(21, headers: [("cache-control", "max-age=0")]) { $0.mark(.foreground, at: 20) } == [])
        #expect(
            try again(25) {
                $0.mark(.foreground, at: 20)
                $0.mark(.background, at: 22)
            } == [])
        #expect(
            try again(21) {
                $0.mark(.foreground, at: 20)
                $0.clientAddress = IPAddress(ipv4: 0x0A00_0009)
            } == [])
    }

    @Test func withoutTapMarksComingBackTellsNothing() throws {
        var session = ScriptedSession()
        session.projection(at: 0.5)
        session.share(at: 4.1)
        session.browse(ScriptedSession.url, at: 4.5)
        session.mark(.foreground, at: 20)
        session.browse(ScriptedSession.url, at: 21)
        session.mark(.end, at: 90)
        #expect(try session.judge()["HR-27"].violations == [])
    }
}

/// When an address that no answer brought was the app's doing.
@Suite struct HR27StrangerBoundaryTests {
    private func judge(
        isClean: Bool = true, share: Double? = 4.1, took: Double = 0.1, _ build: (inout ScriptedSession) -> Void
    ) throws -> RuleResult {
        let (session, events) = judging(isClean: isClean, share: share, took: took, build)
        return try session.judge(events)["HR-27"]
    }

    private func judging(
        isClean: Bool = true, share: Double? = 4.1, took: Double = 0.1, _ build: (inout ScriptedSession) -> Void
    ) -> (ScriptedSession, [SessionEvent]) {
        var session = ScriptedSession()
        session.mark(.launch, at: 0)
        if isClean { session.mark(.browserClean, at: 0.1) }
        session.projection(at: 0.5)
        session.tap(.share, at: 4)
        if let share { session.share(at: share, took: took) }
        build(&session)
        session.mark(.end, at: 90)
        return (session, session.events())
    }

    private static func open(_ session: inout ScriptedSession, at time: Double) {
        session.browse(ScriptedSession.otherURL, at: time)
    }

    @Test(arguments: [(14.0, true), (14.001, false)]) func tenSecondsAfterTheTapItIs(time: Double, isOfApp: Bool) throws
    {
        let result = try judge { Self.open(&$0, at: time) }
        #expect(result.violations == (isOfApp ? ["foreign-url"] : []), "\(result)")
        #expect(isOfApp || result.reason?.code == "url-of-another-session")
    }

    @Test(arguments: [(4.2, true), (4.199, false)]) func theAnswerMustHaveCome(time: Double, isOfApp: Bool) throws {
        let result = try judge { Self.open(&$0, at: time) }
        #expect(result.violations == (isOfApp ? ["foreign-url"] : []), "\(result)")
    }

    @Test func whatIsAskedInTheTapsMomentIsItsOwn() throws {
        #expect(try judge(share: 4) { Self.open(&$0, at: 4.5) }.violations == ["foreign-url"])
        #expect(try judge(share: 4, took: 0) { Self.open(&$0, at: 4) }.violations == ["foreign-url"])
    }

    @Test func anAnswerToAnEarlierTapExplainsNothingLater() throws {
        let result = try judge {
            $0.mark(.opened, at: 4.3)
            $0.tap(.share, at: 22)
            Self.open(&$0, at: 22.5)
        }
        #expect(result.violations == [] && result.reason?.code == "url-of-another-session", "\(result)")
    }

    @Test func anAnswerThatCouldNotBeReadMayHaveBroughtIt() throws {
        let unnamed = try judge(share: nil) {
            $0.share(at: 4.1, url: "https://chia.health/nothing")
            Self.open(&$0, at: 4.5)
        }
        #expect(unnamed.verdict == .inconclusive, "\(unnamed)")
        let unseen = try judge {
            $0.share(at: 4.3, fate: .notSeen)
            Self.open(&$0, at: 4.6)
        }
        #expect(unseen.verdict == .inconclusive, "\(unseen)")
        let other = try judge {
            $0.dark(.app, "sdk.vendor.example", at: 4.2, lastData: 4.3)
            Self.open(&$0, at: 4.5)
        }
        #expect(other.violations == ["foreign-url"], "another host brings none: \(other)")
    }

    /// An answer may be in a hole of the host's, or stand in the trace without its request.
    @Test(
        arguments: [
            ("api.partner.example", Side.server, false), ("api.partner.example", nil, false),
            ("api.partner.example", .client, true), ("sdk.vendor.example", .server, true),
        ] as [(String, Side?, Bool)]) func aHoleOfTheHostsMayHideTheAnswer(
            host: String, side: Side?, isOfApp: Bool
        ) throws
    {
        let result = try judge {
            let id = $0.connect(.app, host, at: 4.2)
            $0.blindSpot(.tcpHole, from: side, at: 4.3, until: 4.4, on: id)
            Self.open(&$0, at: 4.5)
        }
        #expect(result.violations == (isOfApp ? ["foreign-url"] : []), "\(result)")
    }

    @Test(arguments: [(ScriptedSession.otherURL, false), ("https://chia.health/nothing", true)])
    func anAnswerWithoutItsRequestMayHaveBroughtIt(url: String, isOfApp: Bool) throws {
        let result = try judge {
            let id = $0.connect(.app, "api.partner.example", at: 4.2)
            $0.strayAnswer(#"{"url":"\#(url)"}"#, on: id, at: 4.3, isPushed: false)
            Self.open(&$0, at: 4.5)
        }
        #expect(result.violations == (isOfApp ? ["foreign-url"] : []), "\(result)")
    }

    @Test func anAnswerThatAHoleCutMayHaveBroughtIt() throws {
        let events = judging {
            $0.share(at: 4.3, key: ScriptedSession.key2, status: 503)
            Self.open(&$0, at: 4.6)
        }
        #expect(try events.0.judge(events.1)["HR-27"].violations == ["foreign-url"])
        let cut = events.1.map { event in
            guard case .exchange(var exchange) = event, exchange.response?.status == 503 else { return event }
            exchange.end = .notSeen
            return .exchange(exchange)
        }
        #expect(try events.0.judge(cut)["HR-27"].violations == [])
    }

    /// A browser that had tabs brings them again when it starts, and it starts for the page of the tap.
    @Test func aBrowserThatWasNotCleanMayHaveRestoredIt() throws {
        func judge(isClean: Bool, page: Double?, at time: Double = 6) throws -> [String] {
            try self.judge(isClean: isClean) {
                if let page { $0.browse(ScriptedSession.url, at: page) }
                Self.open(&$0, at: time)
            }.violations
        }
        #expect(try judge(isClean: false, page: 4.5) == [])
        #expect(try judge(isClean: true, page: 4.5) == ["foreign-url"])
        #expect(try judge(isClean: false, page: nil) == ["foreign-url"])
        #expect(try judge(isClean: false, page: 6) == [], "in one moment")
        #expect(try judge(isClean: false, page: 7) == ["foreign-url"], "the page came later")
    }

    @Test(arguments: [(21.999, ["foreign-url"]), (22, [])] as [(Double, [String])])
    func aPageOfAnEarlierTapStartedNoBrowser(
        page: Double, kinds: [String]
    ) throws {
        let result = try judge(isClean: false) {
            $0.browse(ScriptedSession.url, at: page)
            $0.tap(.share, at: 22)
            $0.share(at: 22.1)
            Self.open(&$0, at: 22.5)
        }
        #expect(result.violations.filter { $0 == "foreign-url" } == kinds, "\(result)")
    }
}
