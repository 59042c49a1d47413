import Assertions
import SessionTrace
import Testing

/// The moment of the tap, and what may hide an attempt.
@Suite struct HR02NoSessionBeforeShareTapBoundaryTests {
    private func flow(_ build: (inout ScriptedSession) -> Void) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        build(&session)
        session.mark(.end, at: 90)
        return try session.judge()["HR-02"]
    }

    @Test(arguments: [(4.0, Verdict.pass), (3.999, .fail)])
    func anAttemptInTheTapsOwnMomentFollowsIt(time: Double, verdict: Verdict) throws {
        let result = try flow {
            $0.tap(.share, at: 4)
            $0.share(at: time)
        }
        #expect(result.verdict == verdict, "\(result)")
        #expect(verdict == .fail || result.lookedAt.count == 2, "the attempt, and its tap")
    }

    @Test func theEarlierOfTwoTapsIsNotTheOneMeant() throws {
        let result = try flow {
            $0.tap(.share, at: 4)
            $0.tap(.share, at: 4.2)
            $0.share(at: 4.5)
        }
        #expect(result.sentence == "1 session attempt and 2 share taps, the closest 300 ms after its tap")
    }

    @Test func aTapKnownToASpanIsAnAssumption() throws {
        func judge(_ maker: Mark.Maker) throws -> RuleResult {
            try flow {
                $0.mark(.tap, .share, at: 4, id: "a", phase: .pre, by: maker)
                $0.mark(.tap, .share, at: 4.8, id: "a", phase: .post, by: maker)
                $0.share(at: 4.1)
            }
        }
        let result = try judge(.script)
        #expect(result.verdict == .pass && result.assumptions.map(\.code) == ["tap-window"], "\(result)")
        #expect(result.assumptions.first?.sentence.contains("800 ms") == true)
        let after = try flow {
            $0.tap(.share, at: 4)
            $0.share(at: 4.1)
        }
        #expect(after.assumptions.isEmpty, "\(after)")
    }

    @Test func theSentenceFitsTheMark() throws {
        let late = try flow {
            $0.share(at: 8)
            $0.mark(.tap, .share, at: 10, by: .person)
        }
        #expect(late.sentence.contains("whose hand-made mark may be up to 3 s late"), "\(late)")
        let foreign = try flow {
            $0.share(at: 3.97)
            $0.mark(.tap, .share, at: 4, onTraceClock: false)
        }
        #expect(foreign.sentence.contains("before the tap, clock bound ±50 ms"), "\(foreign)")
    }

    @Test func withoutAnyActionTapNothingIsDecided() throws {
        #expect(try flow { $0.share(at: 4.1) }.reason?.code == "no-tap-mark")
        let unnamed = try flow {
            $0.tap(nil, at: 4)
            $0.share(at: 4.1)
        }
        #expect(unnamed.reason?.code == "generic-tap-mark")
    }

    @Test(arguments: [ScriptedSession.neutral, ""]) func unreadTrafficMayHoldAnAttempt(neutral: String) throws {
        let result = try flow {
            if neutral.isEmpty {
                $0.tap(.share, at: 4)
                $0.share(at: 4.1)
            } else {
                $0.tap(.neutral, at: 4)
                $0.browse(neutral, at: 4.5)
            }
            $0.dark(.app, "api.partner.example", at: 5, lastData: 6)
        }
        #expect(result.reason?.code == "no-keys", "\(result)")
    }

    @Test func anAttemptThatCouldNotBeSentMayHavePrecededTheTap() throws {
        let shared = try flow {
            $0.unreachable(.app, "api.partner.example", at: 1)
            $0.tap(.share, at: 4)
            $0.share(at: 4.1)
        }
        #expect(shared.reason?.code == "dial-failed", "\(shared)")
        let neutral = try flow {
            $0.unreachable(.app, "api.partner.example", at: 1)
            $0.tap(.neutral, at: 4)
            $0.browse(ScriptedSession.neutral, at: 4.5)
        }
        #expect(neutral.reason?.code == "dial-failed", "\(neutral)")
    }

    @Test func thePartnerIsAnAssumptionWhenNobodyNamesIt() throws {
        let result = try flow {
            $0.policyText = ""
            $0.tap(.share, at: 4)
            $0.share(at: 4.1)
        }
        #expect(result.verdict == .pass && result.assumptions.map(\.code) == ["partner-inferred"], "\(result)")
    }

    @Test func aBypassMayHoldAnAttempt() throws {
        let result = try flow {
            $0.tap(.share, at: 4)
            $0.share(at: 4.1)
            $0.blindSpot(.bypass, from: nil, at: 1, until: 2, on: nil)
        }
        #expect(result.reason?.code == "bypass", "\(result)")
    }
}
