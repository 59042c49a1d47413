import SessionTrace
import Testing

@testable import Assertions

/// HR-41 at the moments where its order of events turns.
@Suite struct HR41BoundaryTests {
    private static let path = ProjectionStory.path

    /// A valid projection at 1 s, then what `build` adds, to `end`.
    private func judge(to end: Double = 90, _ build: (inout ScriptedSession) -> Void) throws -> RuleResult {
        var story = ProjectionStory()
        story.answer(ScriptedSession.shareDecision)
        build(&story.session)
        story.session.mark(.end, at: end)
        return try story.session.judge()["HR-41"]
    }

    /// A projection that is answered 500, whole at an instant.
    private static func unsafe(_ session: inout ScriptedSession, at ended: Double) {
        session.exchange(.app, "GET", path, at: ended - 0.1, took: 0.1, status: 500)
    }

    private func kinds(_ result: RuleResult) -> [String] { result.findings.map(\.kind) }

    // MARK: a request on another connection, near the answer

    private func crossing(_ gap: Double, _ tap: (Mark.Target?, Double)?) throws -> RuleResult {
        try judge {
            $0.tap(.share, at: 2.9)
            Self.unsafe(&$0, at: 3.1)
            if let tap { $0.tap(tap.0, at: tap.1) }
            let other = $0.connect(.app, "api.partner.example", at: 2.8)
            $0.share(at: 3.1 + gap, on: other)
        }
    }

    @Test func fiftyMillisecondsAreNoRace() throws {
        #expect(try crossing(0.05, nil).verdict == .fail)
        #expect(try crossing(0.049, nil).reason?.code == "projection-race")
    }

    @Test(
        arguments: [
            (.share, 3.1, .fail), (.share, 3.14, .fail), (nil, 3.12, .inconclusive), (.neutral, 3.12, .inconclusive),
            (.share, 3.099, .inconclusive), (.share, 3.141, .inconclusive),
        ] as [(Mark.Target?, Double, Verdict)])
    func onlyAShareTapBetweenTheTwoTellsThatItWasRead(target: Mark.Target?, at time: Double, verdict: Verdict) throws {
        let result = try crossing(0.04, (target, time))
        #expect(result.verdict == verdict, "\(result)")
    }

    // MARK: resends

    @Test func anOperationThatBeganAsTheAnswerCameIsTheSameShare() throws {
        let result = try judge {
            $0.tap(.share, at: 4)
            Self.unsafe(&$0, at: 5.1)
            $0.share(at: 5.1, status: 503)
            $0.share(at: 6)
        }
        #expect(kinds(result) == ["share-on-unsafe-evidence", "earlier-operation"], "\(result)")
    }

    // MARK: opening an older URL

    /// A share at 4.1 that brings the URL, an unsafe projection whole at 6.1, a tap and the opening.
    private func opening(
        tap: Double = 8, at opened: Double = 8.2, by who: ScriptedSession.Who = .browser,
        _ more: (inout ScriptedSession) -> Void = { _ in }
    ) throws -> RuleResult {
        try judge {
            $0.tap(.share, at: 4)
            $0.share(at: 4.1)
            Self.unsafe(&$0, at: 6.1)
            $0.tap(.share, at: tap)
            more(&$0)
            $0.exchange(who, "GET", ScriptedSession.url, at: opened, isNavigation: true)
        }
    }

    @Test(arguments: [(6.1, 0), (6.101, 1), (8.2, 1), (8.201, 0)]) func theTapLiesBetweenAnswerAndOpening(
        tap: Double, count: Int
    ) throws {
        let result = try opening(tap: tap)
        #expect(kinds(result) == Array(repeating: "opened-on-unsafe-evidence", count: count), "\(result)")
    }

    @Test func whatTheBrowserFetchesBeforeTheTapIsNoOpeningEither() throws {
        let result = try opening { $0.exchange(.browser, "HEAD", ScriptedSession.url, at: 7) }
        #expect(kinds(result) == ["opened-on-unsafe-evidence"], "\(result)")
    }

    @Test func whatTheAppFetchesIsNoOpening() throws {
        #expect(try !kinds(opening(by: .app)).contains("opened-on-unsafe-evidence"))
    }

    @Test(
        arguments: [
            (6.1, ["share-on-unsafe-evidence", "opened-on-unsafe-evidence"]), (6.101, ["share-on-unsafe-evidence"]),
            (8.2, ["share-on-unsafe-evidence"]),
        ] as [(Double, [String])])
    func anAttemptAfterTheAnswerIsWhatWasTapped(at time: Double, expected: [String]) throws {
        let result = try opening {
            $0.share(at: time, key: ScriptedSession.key2, status: 503)
        }
        #expect(kinds(result) == expected, "\(result)")
    }

    @Test func aURLOfARequestAtTheAnswersMomentIsNotAnOlderOne() throws {
        let result = try judge {
            $0.tap(.share, at: 4)
            Self.unsafe(&$0, at: 5.1)
            $0.share(at: 5.1)
            $0.tap(.share, at: 8)
            $0.browse(ScriptedSession.url, at: 8.2)
        }
        #expect(kinds(result) == ["share-on-unsafe-evidence"], "\(result)")
    }

    // MARK: the end of the trace, and what the policy says

    @Test func aTraceThatGoesOnForAsLongAsAShareMayTakeShowsThatNoneCame() throws {
        #expect(try judge(to: 13.1) { Self.unsafe(&$0, at: 3.1) }.verdict == .pass)
        #expect(try judge(to: 13) { Self.unsafe(&$0, at: 3.1) }.reason?.code == "trace-ended")
    }

    @Test func aRecorderThatStoppedMayHaveMissedTheShare() throws {
        let result = try judge(to: 8) {
            Self.unsafe(&$0, at: 3.1)
            $0.blindSpot(.recordingStopped, from: nil, at: 8, until: 8, on: nil)
        }
        #expect(result.reason?.code == BlindSpot.Reason.recordingStopped.rawValue, "\(result)")
    }

    @Test func aPartnerThatNoPolicyNamesIsAnAssumption() throws {
        func assumptions(policy: String) throws -> [String] {
            try judge {
                $0.policyText = policy
                $0.tap(.share, at: 2)
                $0.share(at: 2.1)
                Self.unsafe(&$0, at: 5.1)
            }.assumptions.map(\.code)
        }
        #expect(try assumptions(policy: "timing: {tap-to-request: 10s}\n") == ["partner-inferred"])
        #expect(try assumptions(policy: ScriptedSession().policyText) == [])
    }

    @Test func aResendAtTheAnswersMomentIsNoShareAfterIt() throws {
        let result = try judge(to: 8) {
            $0.tap(.share, at: 2)
            $0.share(at: 2.1, status: 503)
            Self.unsafe(&$0, at: 5.1)
            $0.share(at: 5.1, status: 503)
        }
        #expect(result.reason?.code == "trace-ended", "\(result)")
    }

    @Test func aShareOfAnotherPathLeavesItOpen() throws {
        let result = try judge {
            $0.tap(.share, at: 2)
            $0.share(at: 2.1, path: "/sessions")
            Self.unsafe(&$0, at: 5.1)
        }
        #expect(result.reason?.code == "policy-mismatch", "\(result)")
    }
}
