import Assertions
import SessionTrace
import Testing

/// Which taps are a call to action, what came of them, and by when the projection is due, to the moment.
@Suite struct HR06FreshEligibilityAtCTABoundaryTests {
    private func judge(policy: String = "", _ build: (inout ScriptedSession) -> Void) throws -> RuleResult {
        var session = ScriptedSession()
        session.policyText += policy
        session.mark(.launch, at: 0)
        session.fetch(at: 0.5)
        build(&session)
        session.mark(.end, at: 200)
        return try session.judge()["HR-06"]
    }

    private static let one = "1 call to action, 1 with a projection before the action tap"

    // MARK: fresh, stored, old

    /// A person presses before touching: what came before the mark may have come after the touch.
    @Test(arguments: [(98.0, true), (97.999, false)]) func aHandMadeMarksOwnMomentIsAfterIt(
        start: Double, isFresh: Bool
    ) throws {
        let result = try judge {
            $0.mark(.tap, .cta, at: 98.1, by: .person)
            $0.fetch(at: start)
            $0.tap(.share, at: 104)
            $0.share(at: 104.5)
        }
        #expect((result.verdict == .pass) == isFresh && (result.reason?.code == "late-mark") != isFresh, "\(result)")
    }

    /// Delivered 4 s after the tap, and stored 4 to 5 s before that: perhaps after the tap.
    @Test(arguments: [(105.9, true), (105.899, false)]) func whatMayHaveBeenStoredAfterTheTapIsFresh(
        start: Double, isFresh: Bool
    ) throws {
        let result = try judge {
            $0.tap(.cta, at: 102)
            $0.fetch(at: start, responseHeaders: [("age", "5")])
            $0.tap(.share, at: 108)
            $0.share(at: 108.5)
        }
        #expect(result.violations == (isFresh ? [] : ["stored-projection"]), "\(result)")
    }

    /// The card came at 0.6, and a hundred seconds are allowed.
    @Test(arguments: [(100.6, []), (100.601, ["no-fresh-projection"])]) func theAgeAllowedIsSharp(
        tap: Double, kinds: [String]
    ) throws {
        let result = try judge(policy: "eligibility: local\ntiming: {projection-max-age: 100s}\n") {
            $0.tap(.cta, at: 98)
            $0.tap(.share, at: tap)
            $0.share(at: 104.5)
        }
        #expect(result.violations == kinds, "\(result)")
    }

    // MARK: what belongs to which call

    /// Half a second, and a millisecond more.
    @Test(arguments: [(100.5, true), (100.501, false)]) func aDoubleTapIsOneCall(second: Double, isOne: Bool) throws {
        let result = try judge {
            $0.tap(.cta, at: 100)
            $0.browse(ScriptedSession.neutral, at: 100.2)
            $0.tap(.cta, at: second)
            $0.fetch(at: 101)
            $0.tap(.share, at: 104)
            $0.share(at: 104.5)
        }
        #expect((result.verdict == .pass) == isOne, "\(result)")
        if isOne { #expect(result.sentence == Self.one) } else { #expect(result.violations == ["no-fresh-projection"]) }
    }

    @Test func nothingThatCameBeforeATapCameOfIt() throws {
        let result = try judge {
            $0.tap(.cta, at: 10)
            $0.fetch(at: 11)
            $0.tap(.share, at: 14)
            $0.share(at: 14.5)
            $0.browse(ScriptedSession.neutral, at: 20)
            $0.tap(.cta, at: 100)
        }
        #expect(result.verdict == .pass && result.sentence == Self.one, "\(result)")
    }

    @Test(arguments: [true, false]) func whatComesInTheTapsOwnMomentCameOfIt(isShare: Bool) throws {
        let result = try judge {
            $0.tap(.cta, at: 100)
            if isShare { $0.share(at: 100) } else { $0.browse(ScriptedSession.neutral, at: 100) }
        }
        #expect(result.violations == ["no-fresh-projection"], "\(result)")
        #expect(result.sentence.contains("and what followed 0 s later"))
    }

    @Test(arguments: [true, false]) func whatComesInTheNextTapsMomentCameOfThat(isShare: Bool) throws {
        let result = try judge {
            $0.tap(.cta, at: 10)
            $0.tap(.cta, at: 100)
            if isShare { $0.share(at: 100) } else { $0.browse(ScriptedSession.neutral, at: 100) }
            $0.fetch(at: 101)
            $0.tap(.neutral, at: 102)
        }
        #expect(result.verdict == .pass && result.sentence == Self.one, "\(result)")
    }

    // MARK: the tap on an action

    @Test func anActionInTheCallsOwnMomentIsNotAfterIt() throws {
        let result = try judge {
            $0.tap(.cta, at: 100)
            $0.tap(.share, at: 100)
            $0.fetch(at: 100.1)
            $0.share(at: 104)
        }
        #expect(result.verdict == .pass && result.sentence == Self.one, "\(result)")
    }

    @Test func anActionInTheNextCallsMomentIsNotTheFirstOnes() throws {
        let result = try judge {
            $0.tap(.cta, at: 100)
            $0.browse(ScriptedSession.neutral, at: 105)
            $0.fetch(at: 106)
            $0.tap(.cta, at: 110)
            $0.tap(.share, at: 110)
        }
        #expect(result.violations == ["no-fresh-projection"], "\(result)")
        #expect(result.sentence.contains("and what followed 5 s later"))
    }

    /// Where a tap without a target stands for the call, a named one is the action.
    @Test func theActionAfterANamelessCallIsTheNamedOne() throws {
        let result = try judge {
            $0.tap(nil, at: 100)
            $0.tap(.share, at: 104)
            $0.fetch(at: 104.05)
            $0.share(at: 105)
        }
        #expect(result.violations == ["no-fresh-projection"] && result.severity == .warning, "\(result)")
    }

    // MARK: what may have followed unread

    @Test func aCallThatNothingIsSeenToFollowMayHaveBeenFollowedUnread() throws {
        func judge(_ build: (inout ScriptedSession) -> Void) throws -> RuleResult {
            try self.judge {
                $0.fetch(at: 1, body: #"{"catalogId":"item-4711-abcdef","handoff":\#(ScriptedSession.shareDecision)}"#)
                $0.tap(.cta, at: 100)
                build(&$0)
            }
        }
        #expect(try judge { _ in }.verdict == .notApplicable)
        #expect(
            try judge { $0.dark(.app, "api.partner.example", at: 101, lastData: 103) }.reason?.code == "no-keys")
        let neutral = try judge { $0.dark(.nobody, "chia.health", at: 101, lastData: 103) }
        #expect(neutral.reason?.code == "no-keys" && neutral.sentence.contains("navigation-candidate"), "\(neutral)")
        #expect(try judge { $0.dark(.nobody, "chia.health", at: 50, lastData: 99) }.verdict == .notApplicable)
    }

    @Test func withoutACallWhatIsUnreadIsNoMatterOfThisRule() throws {
        let result = try judge { $0.dark(.app, "api.partner.example", at: 101, lastData: 103) }
        #expect(result.verdict == .notApplicable, "\(result)")
    }
}
