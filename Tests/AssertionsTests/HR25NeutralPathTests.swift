import Assertions
import SessionTrace
import Testing

@Suite struct HR25NeutralPathDirectTests {
    private static let must = "must-exercise: [neutral]\n"

    /// A neutral tap at 4 s, and what `build` adds.
    private func judge(
        policy: String = "", hasProjections: Bool = true, tap: Mark.Target? = .neutral, by: Mark.Maker = .script,
        isOnTraceClock: Bool = true, end: Double = 200, _ build: (inout ScriptedSession) -> Void
    ) throws -> RuleResult {
        var session = hasProjections ? ScriptedSession.upToTap() : ScriptedSession()
        session.policyText += policy
        session.mark(.tap, tap, at: 4, by: by, onTraceClock: isOnTraceClock)
        build(&session)
        session.mark(.end, at: end)
        return try session.judge()["HR-25"]
    }

    @Test func theNeutralURLOpenedPasses() throws {
        let result = try judge { $0.browse(ScriptedSession.neutral, at: 4.5) }
        #expect(result.verdict == .pass)
        #expect(result.sentence == "1 neutral tap, the neutral URL opened directly, at most 500 ms after")
    }

    // MARK: session requests

    @Test func aSessionRequestAfterTheTapFails() throws {
        let result = try judge {
            $0.share(at: 4.3)
            $0.browse(ScriptedSession.neutral, at: 4.5)
        }
        #expect(result.findings.map(\.kind) == ["session-after-neutral"])
        #expect(result.sentence.contains("was sent 300 ms after a neutral tap"))
    }

    @Test func aRetryAfterTheTapFails() throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 3)
        session.share(at: 3.1, status: 503)
        session.tap(.neutral, at: 4)
        session.browse(ScriptedSession.neutral, at: 4.5)
        session.share(at: 5)
        session.mark(.end, at: 200)
        #expect(try session.judge()["HR-25"].findings.map(\.kind) == ["session-after-neutral"])
    }

    @Test func aLaterShareTapAllowsIt() throws {
        for target in [Mark.Target.share, nil] {
            #expect(
                try judge {
                    $0.browse(ScriptedSession.neutral, at: 4.5)
                    $0.tap(target, at: 60)
                    $0.share(at: 60.1)
                }.verdict == .pass)
        }
        #expect(
            try judge {
                $0.browse(ScriptedSession.neutral, at: 4.5)
                $0.share(at: 59.9)
                $0.tap(.share, at: 60)
            }.verdict == .fail)
        #expect(
            try judge {
                $0.browse(ScriptedSession.neutral, at: 4.5)
                $0.tap(.cta, at: 60)
                $0.share(at: 60.1)
            }.verdict == .fail)
    }

    @Test func theOrderMayNotBeKnown() throws {
        func foreign(_ time: Double) throws -> RuleResult {
            try judge(isOnTraceClock: false) {
                $0.share(at: time, took: 0.01)
                $0.browse(ScriptedSession.neutral, at: 6)
            }
        }
        #expect(try foreign(3.7).verdict == .pass, "over before the tap")
        #expect(try foreign(3.96).reason?.code == "clock-bound")
        let hand = try judge(by: .person) {
            $0.share(at: 5)
            $0.browse(ScriptedSession.neutral, at: 6)
        }
        #expect(hand.reason?.code == "clock-bound")
    }

    /// Tapped while a share request was on its way: HR-10's matter.
    @Test func aTapInFlightIsNotJudged() throws {
        func tapped(_ time: Double) throws -> RuleResult {
            var session = ScriptedSession.upToTap()
            session.tap(.share, at: 3)
            session.share(at: 3.5, status: 422, took: 1)
            session.tap(.neutral, at: time)
            session.mark(.end, at: 200)
            return try session.judge()["HR-25"]
        }
        #expect(try tapped(3.5).verdict == .notApplicable)
        #expect(try tapped(4).verdict == .notApplicable)
        #expect(try tapped(4.5).verdict == .notApplicable)
        #expect(try tapped(4.51).verdict != .notApplicable)
    }

    // MARK: the way

    private func hop(_ address: String, at time: Double = 4.2, headers: [(String, String)] = [], policy: String = "")
        throws
        -> RuleResult
    {
        try judge(policy: policy) {
            $0.browse(address, at: time, status: 302, responseHeaders: [("location", ScriptedSession.neutral)])
            $0.browse(ScriptedSession.neutral, at: time + 0.3, headers: headers)
        }
    }

    @Test(arguments: [
        ("https://api.partner.example/out", "partner"), ("https://go.short.example/x", "third-party"),
        ("https://app.adjust.com/x", "telemetry"),
    ]) func aRedirectOnTheWayFails(address: String, role: String) throws {
        let result = try hop(address)
        #expect(result.findings.map(\.kind) == ["redirect-hop"])
        #expect(result.sentence.contains("by a redirect (302) of"))
        #expect(result.sentence.contains("(\(role))"))
    }

    @Test func aRedirectFurtherBackFails() throws {
        let result = try judge {
            $0.browse(
                "https://api.partner.example/out", at: 4.1, status: 302,
                responseHeaders: [("location", "https://www.chia.health/go")])
            $0.browse(
                "https://www.chia.health/go", at: 4.3, status: 302,
                responseHeaders: [("location", ScriptedSession.neutral)])
            $0.browse(ScriptedSession.neutral, at: 4.5)
        }
        #expect(result.findings.map(\.kind) == ["redirect-hop"])
    }

    @Test func chiasOwnRedirectsAreChias() throws {
        #expect(try hop("https://www.chia.health/go").verdict == .pass)
        // Followed at the very moment at which it ends.
        let quick = try judge {
            $0.browse(
                "https://api.partner.example/out", at: 4.2, status: 302,
                responseHeaders: [("location", ScriptedSession.neutral)])
            $0.browse(ScriptedSession.neutral, at: 4.3)
        }
        #expect(quick.verdict == .fail)
        #expect(
            try judge {
                $0.browse(
                    ScriptedSession.neutral, at: 4.2, status: 308,
                    responseHeaders: [("location", ScriptedSession.neutral + "/")])
                $0.browse(ScriptedSession.neutral + "/", at: 4.4)
            }.verdict == .pass)
    }

    @Test func aRedirectBeforeTheTapIsAnothers() throws {
        #expect(try hop("https://api.partner.example/out", at: 3.95).verdict == .pass)
        #expect(try hop("https://api.partner.example/out", at: 4.001).verdict == .fail)
    }

    @Test func aPageOnTheWayFails() throws {
        func page(_ address: String, at time: Double = 4.2, headers: [(String, String)]) throws -> RuleResult {
            try judge {
                $0.browse(address, at: time)
                $0.browse(ScriptedSession.neutral, at: 4.8, headers: headers)
            }
        }
        let cross = [("sec-fetch-site", "cross-site")]
        let result = try page("https://api.partner.example/out", headers: cross)
        #expect(result.findings.map(\.kind) == ["page-between"])
        #expect(result.sentence.contains("opened a page of api.partner.example (partner), which led there"))
        // The browser says that nobody led it there: a tab that was opened anew beside it.
        #expect(try page("https://api.partner.example/out", headers: []).verdict == .pass)
        #expect(try page("https://api.partner.example/out", at: 3.9, headers: cross).verdict == .pass)
        #expect(try page("https://news.example/", headers: cross).verdict == .pass)
        #expect(
            try page("https://news.example/", headers: cross + [("referer", "https://news.example/a")]).verdict == .fail
        )
        #expect(
            try page("https://news.example/", headers: cross + [("referer", "https://other.example/a")]).verdict
                == .pass)
        #expect(try page("https://www.chia.health/", headers: cross).verdict == .pass)
        // A script's request is no page.
        let script = try judge {
            $0.exchange(.browser, "GET", "https://api.partner.example/x.js", at: 4.2)
            $0.browse(ScriptedSession.neutral, at: 4.8, headers: cross)
        }
        #expect(script.verdict == .pass)
        let app = try judge {
            $0.exchange(.app, "GET", "https://api.partner.example/x", at: 4.2, isNavigation: true)
            $0.browse(ScriptedSession.neutral, at: 4.8, headers: cross)
        }
        #expect(app.verdict == .pass)
    }

    @Test(arguments: [
        "https://chia.health/start?utm=1", "https://chia.health/start/",
    ]) func anotherFormOfTheURLFails(address: String) throws {
        let result = try judge { $0.browse(address, at: 4.5) }
        #expect(result.findings.map(\.kind) == ["neutral-url-changed"])
    }

    /// A browser escapes what may not stand in a URL.
    @Test func whatTheBrowserNormalisesIsTheSame() throws {
        var session = ScriptedSession()
        session.fetch(
            at: 0.5,
            body: #"{"catalogId":"i","handoff":{"mode":"neutral_only","url":"https://chia.health/a b/../start x?q=1"}}"#
        )
        session.tap(.neutral, at: 4)
        session.browse("https://chia.health/start%20x?q=1", at: 4.5)
        session.mark(.end, at: 60)
        #expect(try session.judge()["HR-25"].verdict != .fail)
    }

    // MARK: reaching it

    @Test func whatMustBeReachedIsReachedInFiveSeconds() throws {
        func opened(_ time: Double, policy: String) throws -> RuleResult {
            try judge(policy: policy) { $0.browse(ScriptedSession.neutral, at: time) }
        }
        #expect(try opened(9, policy: Self.must).verdict == .pass)
        #expect(try opened(9.001, policy: Self.must).findings.map(\.kind) == ["neutral-late"])
        #expect(try opened(9.001, policy: "").verdict == .pass)
        #expect(try opened(9.001, policy: "must-exercise: [HR-25]\n").verdict == .fail)
        #expect(try opened(9.001, policy: "must-exercise: [share]\n").verdict == .pass)
    }

    @Test func whatIsNotReached() throws {
        func nothing(_ policy: String) throws -> RuleResult {
            try judge(policy: policy) { $0.browse("https://news.example/", at: 20) }
        }
        #expect(try nothing(Self.must).findings.map(\.kind) == ["neutral-not-reached"])
        #expect(try nothing("").reason?.code == "navigation-not-seen")
    }

    /// Also after a share that failed.
    @Test func afterAFailedShareItWorksAgain() throws {
        func failed(_ opened: Bool) throws -> RuleResult {
            var session = ScriptedSession.upToTap()
            session.policyText += Self.must
            session.tap(.share, at: 3)
            session.share(at: 3.1, status: 422)
            session.browse("https://news.example/", at: 3.5)
            session.tap(.neutral, at: 8)
            if opened { session.browse(ScriptedSession.neutral, at: 8.5) }
            session.mark(.end, at: 200)
            return try session.judge()["HR-25"]
        }
        #expect(try failed(true).verdict == .pass)
        #expect(try failed(false).verdict == .fail)
    }

    @Test func theNextTapsNavigationIsItsOwn() throws {
        let result = try judge(policy: Self.must) {
            $0.mark(.foreground, at: 50)
            $0.tap(.neutral, at: 60)
            $0.browse(ScriptedSession.neutral, at: 60.5)
        }
        #expect(result.findings.map(\.kind) == ["neutral-not-reached"])
    }

    @Test func whatWasNotSeenIsNotMissing() throws {
        func unseen(_ build: (inout ScriptedSession) -> Void, end: Double = 200) throws -> String? {
            try judge(policy: Self.must, end: end, build).reason?.code
        }
        #expect(try unseen { $0.dark(.browser, "chia.health", at: 4.2, lastData: 5) } == "no-keys")
        #expect(try unseen { _ in } == "browser-not-seen")
        #expect(try unseen({ $0.browse("https://news.example/", at: 5) }, end: 8.9) == "trace-ended")
        #expect(
            try judge(policy: Self.must, end: 9) { $0.browse("https://news.example/", at: 5) }.verdict == .fail)
        #expect(
            try unseen(
                {
                    $0.browse("https://news.example/", at: 5)
                    $0.blindSpot(.recordingStopped, from: nil, at: 8, until: 8, on: nil)
                }, end: 8.9) == "recording-stopped")
        #expect(
            try unseen {
                $0.browse("https://news.example/", at: 5)
                $0.watchedForBypass = false
            } == "bypass-not-watched")
        // Unread before the tap, it was not this one.
        var early = ScriptedSession.upToTap()
        early.policyText += Self.must
        early.dark(.browser, "chia.health", at: 2, lastData: 3)
        early.tap(.neutral, at: 4)
        early.browse("https://news.example/", at: 5)
        early.mark(.end, at: 60)
        #expect(try early.judge()["HR-25"].verdict == .fail)
        #expect(try judge(hasProjections: false) { _ in }.reason?.code == "neutral-url-unknown")
        #expect(
            try judge {
                $0.browse(ScriptedSession.neutral, at: 4.5)
                $0.dark(.app, "api.partner.example", at: 10, lastData: 11)
            }.reason?.code == "no-keys")
    }

    @Test func aFailureBeyondTheProxyIsNotTheApps() throws {
        var session = ScriptedSession.upToTap()
        session.policyText += Self.must
        session.tap(.neutral, at: 4)
        session.browse("https://news.example/", at: 5)
        session.mark(.end, at: 60)
        let id = session.connect(.browser, "chia.health", at: 4.2)
        let failure = SessionEvent.proxyEvent(
            ProxyEvent(
                kind: .dialFailed, at: ScriptedSession.instant(4.3), connection: id,
                attributes: ["host": "chia.health", "reason": "refused"]))
        var events = session.events()
        events.insert(failure, at: events.count - 12)
        #expect(try session.judge(events)["HR-25"].reason?.code == "dial-failed")
    }

    @Test func withoutANeutralTapThereIsNothingToJudge() throws {
        #expect(try ScriptedSession.conformingShare().judge()["HR-25"].verdict == .notApplicable)
        #expect(try judge(tap: nil) { $0.browse(ScriptedSession.neutral, at: 4.5) }.verdict == .notApplicable)
    }
}
