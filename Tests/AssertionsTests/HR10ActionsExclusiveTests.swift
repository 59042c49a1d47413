import Assertions
import SessionTrace
import Testing

@Suite struct HR10ActionsMutuallyExclusiveTests {
    /// A share tap at 4 s, its request from 4.1 to 6.1 s.
    private func judge(
        share: Mark.Target? = .share, status: Int = 201, fate: ScriptedSession.Fate = .answered,
        hasProjections: Bool = true,
        _ build: (inout ScriptedSession) -> Void
    ) throws -> RuleResult {
        var session = hasProjections ? ScriptedSession.upToTap() : ScriptedSession()
        session.tap(share, at: 4)
        session.share(at: 4.1, status: status, took: 2, fate: fate)
        build(&session)
        session.mark(.end, at: 200)
        return try session.judge()["HR-10"]
    }

    @Test func nothingElseMeanwhilePasses() throws {
        let result = try judge { $0.browse(ScriptedSession.url, at: 6.5) }
        #expect(result.verdict == .pass)
        #expect(result.sentence == "1 session request, in flight for 2 s at most, and nothing else meanwhile")
    }

    @Test(arguments: [(4.099, true), (4.101, false), (6.099, false), (6.1, true), (6.101, true)])
    func aNavigationToTheNeutralURLMeanwhile(time: Double, passes: Bool) throws {
        let result = try judge { $0.browse(ScriptedSession.neutral, at: time) }
        #expect((result.verdict == .pass) == passes, "\(result.sentence)")
        if !passes { #expect(result.findings.map(\.kind) == ["neutral-while-sharing"]) }
    }

    @Test func whatAPageOfChiaOrAReloadDoesIsNotTheApps() throws {
        for headers in [
            [("sec-fetch-site", "same-origin")], [("sec-fetch-site", "same-site")],
            [("referer", "https://www.chia.health/x")],
        ] {
            let result = try judge { $0.browse(ScriptedSession.neutral, at: 5, headers: headers) }
            #expect(result.verdict == .pass, "\(headers)")
        }
        #expect(
            try judge {
                $0.mark(.reload, at: 4.9)
                $0.browse(ScriptedSession.neutral, at: 5)
            }.verdict == .pass)
        #expect(
            try judge { $0.exchange(.app, "GET", ScriptedSession.neutral, at: 5, isNavigation: true) }.verdict == .pass,
            "HR-05's matter")
        #expect(
            try judge { $0.exchange(.browser, "GET", ScriptedSession.neutral, at: 5) }.verdict == .pass, "no page")
    }

    /// Tapped before the request, the neutral action had its effect by right, late as it is.
    @Test func aNeutralTapBeforeTheRequest() throws {
        func tapped(at time: Double, opened: Double = 4.6) throws -> RuleResult {
            var session = ScriptedSession.upToTap()
            session.tap(.neutral, at: time)
            session.tap(.share, at: 4)
            session.share(at: 4.1, took: 20)
            session.browse(ScriptedSession.neutral, at: opened)
            session.mark(.end, at: 200)
            return try session.judge()["HR-10"]
        }
        #expect(try tapped(at: 3.9).verdict == .pass)
        #expect(try tapped(at: 3.9, opened: 13.9).verdict == .pass)
        #expect(try tapped(at: 3.9, opened: 13.901).verdict == .fail)
    }

    @Test func aSecondOperationMeanwhile() throws {
        let result = try judge { $0.share(at: 5, key: ScriptedSession.key2, url: ScriptedSession.otherURL) }
        #expect(result.findings.map(\.kind) == ["second-operation"])
        #expect(result.sentence.contains("attempt 2 with another key began 1.1 s before attempt 1 had ended"))
        #expect(try judge { $0.share(at: 5) }.verdict == .pass, "one key is HR-08's matter")
        #expect(
            try judge { $0.share(at: 6.1, key: ScriptedSession.key2, url: ScriptedSession.otherURL) }.verdict == .pass)
        #expect(
            try judge {
                $0.clientAddress = IPAddress(ipv4: 0x0A00_0009)
                $0.share(at: 5, key: ScriptedSession.key2, url: ScriptedSession.otherURL)
            }.verdict == .pass)
    }

    /// A client that fails over sends the same request again, with the same key.
    @Test func aFailoverIsNoSecondOperation() throws {
        #expect(try judge(fate: .reset) { $0.share(at: 5.2) }.verdict == .pass)
        #expect(try judge(fate: .reset) { $0.share(at: 5.2, key: ScriptedSession.key2) }.verdict == .fail)
    }

    /// A request for the neutral URL of which nothing tells the sender may be its opening.
    @Test(arguments: [
        (4.099, false), (4.1, true), (6.099, true), (6.1, false),
    ]) func aNeutralRequestOfAnUnknownSenderLeavesItOpen(time: Double, isOpen: Bool) throws {
        let result = try judge { $0.exchange(.nobody, "GET", ScriptedSession.neutral, at: time) }
        #expect(result.violations == [], "\(result)")
        #expect((result.reason?.code == "actor-unknown") == isOpen, "\(result)")
        let other = try judge { $0.exchange(.nobody, "GET", ScriptedSession.url, at: time) }
        #expect(other.reason == nil, "\(other)")
    }

    /// A neutral tap while the request is on its way, whose page comes after its end.
    @Test(arguments: [(4.09, true), (4.1, false), (6.1, false), (6.11, true)])
    func aNeutralTapMeanwhileHasNoLateEffect(tap: Double, passes: Bool) throws {
        let result = try judge(status: 503) {
            $0.tap(.neutral, at: tap)
            $0.browse(ScriptedSession.neutral, at: 6.6)
        }
        #expect((result.verdict == .pass) == passes, "\(result.sentence)")
        if !passes { #expect(result.findings.map(\.kind) == ["neutral-tap-had-effect"]) }
    }

    @Test func aNeutralTapWithoutEffectPasses() throws {
        #expect(try judge { $0.tap(.neutral, at: 5) }.verdict == .pass)
        // The person taps again once the share has failed: that one works by right.
        #expect(
            try judge(status: 422) {
                $0.tap(.neutral, at: 5)
                $0.tap(.neutral, at: 8)
                $0.browse(ScriptedSession.neutral, at: 8.4)
            }.verdict == .pass)
        #expect(
            try judge(status: 422) {
                $0.tap(.neutral, at: 5)
                $0.browse(ScriptedSession.neutral, at: 15.001)
            }.verdict == .pass, "too late to be that tap's")
    }

    /// The mark of the tap after it may be late, if that one opens the neutral page.
    @Test(
        arguments: [
            (Mark.Target.share, 8.0, ["neutral-tap-had-effect"]), (.policy, 8, ["neutral-tap-had-effect"]),
            (.neutral, 8, []),
            (nil, 8, []), (.neutral, 9.6, []), (.neutral, 9.601, ["neutral-tap-had-effect"]),
        ] as [(Mark.Target?, Double, [String])]) func theNextTapsMarkMayBeLate(
            target: Mark.Target?, press: Double, kinds: [String]
        ) throws
    {
        let result = try judge(status: 422) {
            $0.tap(.neutral, at: 5)
            $0.browse(ScriptedSession.neutral, at: 6.6)
            $0.mark(.tap, target, at: press, by: .person)
        }
        #expect(result.violations == kinds, "\(result)")
        #expect(!kinds.isEmpty || result.reason?.code == "late-mark", "\(result)")
    }

    @Test func theClockOfATapMayLeaveItOpen() throws {
        func tapped(_ time: Double) throws -> RuleResult {
            try judge(status: 422) {
                $0.mark(.tap, .neutral, at: time, onTraceClock: false)
                $0.browse(ScriptedSession.neutral, at: 6.6)
            }
        }
        #expect(try tapped(6.06).reason?.code == "clock-bound")
        #expect(try tapped(6.04).verdict == .fail)
        #expect(try tapped(4.14).reason?.code == "clock-bound")
        #expect(try tapped(4.16).verdict == .fail)
    }

    @Test func aTapWithoutATargetIsAWarning() throws {
        func tapped(_ time: Double) throws -> RuleResult {
            try judge(share: nil, status: 422) {
                $0.tap(nil, at: time)
                $0.browse(ScriptedSession.neutral, at: 6.6)
            }
        }
        let result = try tapped(5)
        #expect(result.verdict == .fail)
        #expect(result.severity == .warning)
        #expect(result.sentence.contains("a tap without a target 900 ms after"))
        #expect(try tapped(6.2).verdict == .pass)
        // The only tap is the one that made the request.
        #expect(
            try judge(share: nil, status: 422) { $0.browse(ScriptedSession.neutral, at: 6.6) }.verdict == .pass)
        #expect(
            try judge(share: nil, status: 422) { $0.browse(ScriptedSession.neutral, at: 6) }.verdict == .fail)
    }

    @Test func anUnseenEndLeavesItOpen() throws {
        #expect(
            try judge(fate: .notSeen) { $0.browse(ScriptedSession.neutral, at: 5) }.reason?.code == "outcome-not-seen")
        #expect(
            try judge(fate: .notSeen) { $0.share(at: 5, key: ScriptedSession.key2) }.reason?.code
                == "outcome-not-seen")
    }

    @Test func whatWasNotSeenLeavesItOpen() throws {
        #expect(try judge(hasProjections: false) { _ in }.reason?.code == "neutral-url-unknown")
        let dark = try judge { $0.dark(.browser, "chia.health", at: 5, lastData: 5.5) }
        #expect(dark.reason?.code == "no-keys")
        #expect(dark.sentence.contains("navigation-candidate"))
        #expect(
            try judge { $0.dark(.app, "api.partner.example", at: 5, lastData: 5.5) }.reason?.code == "no-keys")
        #expect(
            try judge { $0.dark(.browser, "www.chia.health", at: 5, lastData: 5.5) }.verdict == .pass,
            "the neutral URL is on another host")
        var early = ScriptedSession.upToTap()
        early.dark(.browser, "chia.health", at: 2, lastData: 3)
        early.tap(.share, at: 4)
        early.share(at: 4.1)
        #expect(try early.judge()["HR-10"].verdict == .pass, "that was before")
    }

    @Test func withoutARequestThereIsNothingToJudge() throws {
        #expect(try ScriptedSession.upToTap().judge()["HR-10"].verdict == .notApplicable)
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.mark(.end, at: 60)
        #expect(try session.judge()["HR-10"].reason?.code == "policy-mismatch")
    }
}
