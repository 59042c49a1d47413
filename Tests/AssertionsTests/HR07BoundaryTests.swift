import Assertions
import SessionTrace
import Testing

/// Where a burst, its attempts and the pauses between them begin and end.
@Suite struct HR07OneSessionRequestPerTapBurstBoundaryTests {
    private static let other = ScriptedSession.body.replacing("item-4711-abcdef", with: "item-9999-zzzzzz")

    private func judge(_ build: (inout ScriptedSession) -> Void) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        build(&session)
        session.mark(.end, at: 90)
        return try session.judge()["HR-07"]
    }

    // Which attempts are a burst's.

    @Test func anAttemptInTheTapsOwnMomentIsTheBursts() throws {
        let result = try judge {
            $0.tap(.share, at: 4)
            $0.share(at: 4)
        }
        #expect(result.verdict == .pass && result.lookedAt.count == 2, "\(result)")
    }

    @Test func anAttemptInTheNextTapsMomentIsTheNextBursts() throws {
        let result = try judge {
            $0.tap(.share, at: 4)
            $0.share(at: 4.05)
            $0.mark(.opened, at: 4.3)
            $0.mark(.foreground, at: 20)
            $0.tap(.share, at: 25)
            $0.share(at: 25, key: ScriptedSession.key2, url: ScriptedSession.otherURL)
        }
        #expect(result.verdict == .pass, "\(result)")
    }

    /// A tap in the moment of the first attempt came before it, one in the moment of the second between the two.
    @Test(arguments: [(4.05, Verdict.pass), (4.051, .fail), (4.3, .fail), (4.301, .pass)])
    func aTapLiesBetweenTwoAttempts(time: Double, verdict: Verdict) throws {
        let result = try judge {
            $0.tap(.share, at: 4)
            $0.share(at: 4.05)
            $0.tap(.share, at: time)
            $0.share(at: 4.3)
        }
        #expect(result.verdict == verdict, "\(result)")
        #expect(result.violations == (verdict == .fail ? ["second-request"] : []))
    }

    @Test(arguments: [(4.15, Verdict.pass), (4.149, .fail)])
    func anAttemptThatBeginsAsTheOtherEndsDoesNotOverlap(time: Double, verdict: Verdict) throws {
        let result = try judge {
            $0.tap(.share, at: 4)
            $0.share(at: 4.05, status: 503)
            $0.share(at: time)
        }
        #expect(result.verdict == verdict, "\(result)")
        #expect(verdict == .pass || result.sentence.contains("overlap"))
    }

    @Test func aFailoverIsNoSecondRequest() throws {
        let result = try judge {
            $0.tap(.share, at: 4)
            $0.share(at: 4.05, took: 0.5, fate: .reset)
            $0.share(at: 4.5)
        }
        #expect(result.verdict == .pass, "\(result)")
        let other = try judge {
            $0.tap(.share, at: 4)
            $0.share(at: 4.05, took: 0.5, fate: .reset)
            $0.share(at: 4.5, key: ScriptedSession.key2)
        }
        #expect(other.violations == ["second-key"], "\(other)")
    }

    /// Whether the device had the rejection is not known, as HR-15 says too.
    @Test(
        arguments: [
            (ScriptedSession.key1, nil, "delivery-unknown"), (ScriptedSession.key2, nil, nil),
            (ScriptedSession.key1, 4.6, nil),
        ] as [(String, Double?, String?)]) func aRejectionThatPerhapsNeverCameMayBeRetried(
            key: String, tap: Double?, code: String?
        ) throws
    {
        let result = try judge {
            $0.tap(.share, at: 4)
            $0.share(at: 4.05, status: 422, fate: .deliveryUnknown)
            if let tap { $0.tap(.share, at: tap - 0.3) }
            $0.share(at: 5, key: key)
        }
        #expect(result.reason?.code == code, "\(result)")
        #expect((result.verdict == .fail) == (code == nil), "\(result)")
    }

    @Test(arguments: [(ScriptedSession.Fate.notSeen, "outcome-not-seen"), (.deliveryUnknown, "delivery-unknown")])
    func anEndThatIsNotKnownLeavesItOpen(fate: ScriptedSession.Fate, code: String) throws {
        let result = try judge {
            $0.tap(.share, at: 4)
            $0.share(at: 4.05, fate: fate)
            $0.share(at: 5)
        }
        #expect(result.reason?.code == code, "\(result)")
    }

    // What the sentence says of repeats.

    @Test(
        arguments: [
            (201, nil, 1, "; attempt 2 repeats attempt 1, a success, without"),
            (201, nil, 2, "; attempt 2 repeats attempt 1 (and 1 more), a success, without"), (503, nil, 1, nil),
            (201, 4.05, 1, "; attempt 2 repeats attempt 1, a success, without"), (201, 5, 1, nil), (201, 4.5, 1, nil),
        ] as [(Int, Double?, Int, String?)])
    func repeatsOfASuccessAreTold(status: Int, tap: Double?, repeats: Int, words: String?) throws {
        let result = try judge {
            $0.tap(.share, at: 4)
            $0.share(at: 4.05, status: status)
            if let tap { $0.tap(.other, at: tap) }
            for number in 0..<repeats { $0.share(at: 5 + Double(number)) }
        }
        #expect(result.verdict == .pass, "\(result)")
        #expect(result.sentence.hasPrefix("\(repeats + 1) session requests for 1 tap"))
        #expect(result.sentence.contains("repeats") == (words != nil), "\(result.sentence)")
        #expect(words.map { result.sentence.contains($0) } ?? true, "\(result.sentence)")
    }

    @Test func attemptsWithoutAKeyRepeatNothing() throws {
        let result = try judge {
            $0.tap(.share, at: 4)
            $0.share(at: 4.05, key: nil)
            $0.share(at: 5, key: nil)
        }
        #expect(!result.sentence.contains("repeats"), "\(result.sentence)")
    }

    // Two taps with a pause.

    /// Another item a while later is another choice; within a double tap it is not.
    @Test(arguments: [(4.5, Verdict.fail), (4.501, .pass)])
    func anotherItemAfterAPauseIsAnother(tap: Double, verdict: Verdict) throws {
        let result = try judge {
            $0.tap(.share, at: 4)
            $0.share(at: 4.05)
            $0.tap(.share, at: tap)
            $0.share(at: tap + 0.05, key: ScriptedSession.key2, body: Self.other)
        }
        #expect(result.verdict == verdict, "\(result)")
    }

    @Test(arguments: [([4, 4.05, 5], 5.05), ([4, 5], 5)] as [([Double], Double)])
    func thePauseIsThatBeforeTheTapBetweenThem(taps: [Double], second: Double) throws {
        let result = try judge { session in
            for tap in taps { session.tap(.share, at: tap) }
            session.share(at: 4.05)
            session.share(at: second, key: ScriptedSession.key2, body: Self.other)
        }
        #expect(result.verdict == .pass, "\(result)")
    }

    @Test func unnamedTapsOnTwoItemsAreTwoChoices() throws {
        let result = try judge {
            $0.tap(nil, at: 4)
            $0.share(at: 4.05)
            $0.tap(nil, at: 4.4)
            $0.share(at: 4.45, key: ScriptedSession.key2, body: Self.other)
        }
        #expect(result.violations.isEmpty, "\(result)")
    }

    @Test func oneLateMarkIsOneTap() throws {
        let result = try judge {
            $0.share(at: 8)
            $0.mark(.tap, nil, at: 10, by: .person)
            $0.share(at: 11, key: ScriptedSession.key2, body: Self.other)
        }
        #expect(result.violations == ["second-key"], "\(result)")
    }

    /// The app may have been left between two taps, where nobody saw whether the browser opened.
    @Test(arguments: [
        ("watched", "second-key"), ("unwatched", "burst-end-not-seen"), ("dark", "burst-end-not-seen"),
        ("dark as it ended", "burst-end-not-seen"), ("dark before", "second-key"), ("opened late", "second-key"),
        ("other opened late", "burst-end-not-seen"), ("fetched late", "burst-end-not-seen"),
        ("fetched by the app", "burst-end-not-seen"),
        ("another host dark", "second-key"),
    ]) func whoMayHaveLeftMayTapAgain(what: String, kind: String) throws {
        let result = try judge {
            $0.tap(.share, at: 4)
            $0.share(at: 4.05)
            $0.tap(.share, at: 5)
            $0.share(at: 5.05, key: ScriptedSession.key2, url: ScriptedSession.otherURL)
            switch what {
            case "dark": $0.dark(.browser, "www.chia.health", at: 4.6, lastData: 4.8)
            case "dark as it ended": $0.dark(.browser, "www.chia.health", at: 4.1, lastData: 4.15)
            case "dark before": $0.dark(.browser, "www.chia.health", at: 4.1, lastData: 4.149)
            case "another host dark": $0.dark(.browser, "www.vendor.example", at: 4.6, lastData: 4.8)
            case "watched": break
            default: $0.watchedForBypass = false
            }
            switch what {
            case "opened late": $0.browse(ScriptedSession.url, at: 6)
            case "other opened late": $0.browse(ScriptedSession.otherURL, at: 6)
            case "fetched late": $0.exchange(.browser, "GET", ScriptedSession.url, at: 6)
            case "fetched by the app":
                $0.exchange(.app, "GET", ScriptedSession.url, at: 6, headers: [("accept", "text/html")])
            default: break
            }
        }
        #expect((result.reason?.code ?? result.violations.first) == kind, "\(result)")
    }
}

/// A tap that no request followed.
@Suite struct HR07OneSessionRequestPerTapBurstSilenceTests {
    /// A share that was opened, and a further tap at 30 without any request of its own.
    private func judge(
        end: Double = 90, tap: Double = 30, took: Double = 0.1, _ change: (inout ScriptedSession) -> Void = { _ in }
    ) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.05, took: took)
        session.mark(.opened, at: 4.3)
        session.mark(.foreground, at: 20)
        session.tap(.share, at: tap)
        change(&session)
        session.mark(.end, at: end)
        return try session.judge()["HR-07"]
    }

    @Test(arguments: [(24.95, Verdict.fail), (25.95, .pass), (27, .pass)])
    func aTapMayJoinWhatIsStillUnderWay(took: Double, verdict: Verdict) throws {
        // The attempt begins at 4.05 and ends as long after.
        #expect(try judge(took: took + (verdict == .fail ? 0.999 : 0)).verdict == verdict)
    }

    @Test(arguments: [(39.999, "trace-ended"), (40, "lost-tap")])
    func theTraceHasToGoOn(end: Double, code: String) throws {
        let result = try judge(end: end)
        #expect((result.reason?.code ?? result.violations.first) == code, "\(result)")
    }

    @Test func anEarlyStopIsNamed() throws {
        let result = try judge(end: 32) { $0.blindSpot(.recordingStopped, from: nil, at: 32, until: 32, on: nil) }
        #expect(result.reason?.code == "recording-stopped", "\(result)")
    }

    @Test func whatCouldNotBeReachedExcusesTheTap() throws {
        let result = try judge { $0.unreachable(.app, "api.partner.example", at: 31) }
        #expect(result.reason?.code == "dial-failed", "\(result)")
        #expect(
            result.sentence.contains("on share, but no session request within 10 s, and the proxy could not reach"),
            "\(result)")
    }

    private static let empty = #"{"catalogId":"item-4711-abcdef","items":[]}"#

    @Test(arguments: [
        (29.9, "neutral_only", Verdict.pass), (29.899, "neutral_only", .fail), (39.9, "neutral_only", .pass),
        (39.901, "neutral_only", .fail), (30.1, "share_or_neutral", .fail),
    ]) func aProjectionThatWithdrawsSharingExcusesIt(time: Double, mode: String, verdict: Verdict) throws {
        let result = try judge { $0.projection(at: time, mode: mode) }
        #expect(result.verdict == verdict, "\(result)")
    }

    @Test func aProjectionWithoutADecisionExcusesNothing() throws {
        let result = try judge { $0.fetch(at: 30.1, body: Self.empty) }
        #expect(result.violations == ["lost-tap"], "\(result)")
    }
}

/// What order alone shows, without any tap mark.
@Suite struct HR07OneSessionRequestPerTapBurstUnmarkedTests {
    private func judge(
        first: (took: Double, status: Int, fate: ScriptedSession.Fate) = (0.1, 201, .answered), second: Double,
        key: String = ScriptedSession.key2, body: String = ScriptedSession.body, otherClient: Bool = false
    ) throws -> [String] {
        var session = ScriptedSession()
        session.share(at: 4, status: first.status, took: first.took, fate: first.fate)
        if otherClient { session.clientAddress = IPAddress(ipv4: 0x0A00_0003) }
        session.share(at: second, key: key, body: body, url: ScriptedSession.otherURL)
        return try session.judge()["HR-07"].violations
    }

    @Test func twoKeysWithinADoubleTapFail() throws {
        #expect(try judge(second: 4.5) == ["second-key"])
        #expect(try judge(second: 4.501) == [])
        #expect(try judge(second: 7) == [])
    }

    @Test func twoKeysThatOverlapFail() throws {
        #expect(try judge(first: (2, 201, .answered), second: 5) == ["second-key"])
        #expect(try judge(first: (1, 201, .answered), second: 5) == [])
        #expect(try judge(first: (1, 0, .reset), second: 4.9) == ["second-key"], "a failover keeps the key")
    }

    @Test func afterAnUncertainEndANewKeyIsAnotherRules() throws {
        #expect(try judge(first: (0.1, 503, .answered), second: 4.3) == [])
        #expect(try judge(first: (0.3, 503, .answered), second: 4.3) == [])
        #expect(try judge(first: (0.1, 201, .answered), second: 4.3) == ["second-key"])
    }

    @Test func oneKeyAnotherItemAndAnotherDeviceAreNotHeldAgainstIt() throws {
        let other = ScriptedSession.body.replacing("item-4711-abcdef", with: "item-9999-zzzzzz")
        #expect(try judge(second: 4.3, key: ScriptedSession.key1) == [])
        #expect(try judge(second: 4.3, body: other) == [])
        #expect(try judge(second: 4.3, otherClient: true) == [])
    }
}

/// The overlap that a failover makes, and what adjoins.
@Suite struct HR08NoOverlappingAttemptsBoundaryTests {
    private func judge(_ build: (inout ScriptedSession) -> Void) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        build(&session)
        session.mark(.end, at: 90)
        return try session.judge()["HR-08"]
    }

    @Test(arguments: [(2.0, Verdict.pass), (2.001, .fail)])
    func aCloseIsSeenWithinASecond(took: Double, verdict: Verdict) throws {
        let result = try judge {
            $0.share(at: 4, took: took, fate: .reset)
            $0.share(at: 5)
        }
        #expect(result.verdict == verdict, "\(result)")
    }

    @Test func anAttemptThatBeginsAsTheOtherEndsDoesNotOverlap() throws {
        let result = try judge {
            $0.share(at: 4.1, status: 503, took: 0.4)
            $0.share(at: 4.5)
        }
        #expect(result.verdict == .pass && result.sentence.contains("the closest two 0 s apart"), "\(result)")
    }

    @Test func anotherDevicesAttemptIsNotHeldAgainstIt() throws {
        let result = try judge {
            $0.share(at: 4.1, took: 0.4)
            $0.clientAddress = IPAddress(ipv4: 0x0A00_0003)
            $0.share(at: 4.2)
        }
        #expect(result.verdict == .pass, "\(result)")
    }
}
