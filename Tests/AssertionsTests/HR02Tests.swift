import Assertions
import SessionTrace
import Testing

@Suite struct HR02NoSessionBeforeShareTapTests {
    private func flow(_ build: (inout ScriptedSession) -> Void) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        build(&session)
        session.mark(.end, at: 90)
        return try session.judge()["HR-02"]
    }

    @Test func afterTheTapItPasses() throws {
        let result = try flow {
            $0.tap(.share, at: 4)
            $0.share(at: 4.1)
        }
        #expect(result.verdict == .pass)
        #expect(result.sentence.contains("100 ms after its tap"))
        #expect(!result.lookedAt.isEmpty)
    }

    @Test func beforeTheTapItFails() throws {
        let result = try flow {
            $0.share(at: 3.9)
            $0.tap(.share, at: 4)
        }
        #expect(result.verdict == .fail)
        #expect(result.findings[0].kind == "session-before-tap")
    }

    @Test func anUnreadableMarkMayBeTheTap() throws {
        let result = try flow {
            $0.tap(.neutral, at: 3)
            $0.share(at: 4.1)
            $0.unreadableMarks = ["packet 12: a mark that can't be read"]
        }
        #expect(result.verdict == .inconclusive)
        #expect(result.reason?.code == "unreadable-mark")
        #expect(result.sentence.contains("packet 12"))
    }

    /// A side file whose clock is an hour off: no pass may rest on it.
    @Test func aTapOutsideTheTraceDecidesNothing() throws {
        let result = try flow {
            $0.tap(.share, at: -3_600)
            $0.share(at: 4.1)
        }
        #expect(result.verdict == .inconclusive)
        #expect(result.reason?.code == "marks-inconsistent")
    }

    @Test func anotherTapIsNoShareTap() throws {
        let result = try flow {
            $0.tap(.neutral, at: 3)
            $0.share(at: 4.1)
        }
        #expect(result.verdict == .fail)
        #expect(result.sentence.contains("without any share tap"))
    }

    @Test func withoutMarksItIsNotDecided() throws {
        var session = ScriptedSession()
        session.share(at: 4)
        #expect(try session.judge()["HR-02"].reason?.code == "no-tap-mark")
    }

    @Test func unnamedTapsDoNotDecide() throws {
        #expect(
            try flow {
                $0.tap(nil, at: 4)
                $0.share(at: 4.1)
            }.reason?.code == "generic-tap-mark")
    }

    @Test func withinTheClocksBoundItIsNotDecided() throws {
        let result = try flow {
            $0.share(at: 3.97)
            $0.mark(.tap, .share, at: 4, onTraceClock: false)
        }
        #expect(result.verdict == .inconclusive)
        #expect(result.reason?.code == "clock-bound")
    }

    @Test func aLogsClockIsKnownLessWell() throws {
        let result = try flow {
            $0.share(at: 3.8)
            $0.mark(.tap, .share, at: 4, onTraceClock: false, clock: "logcat")
        }
        #expect(result.reason?.code == "clock-bound")
        #expect(result.sentence.contains("250 ms"))
    }

    @Test(arguments: [(8.0, "late-mark"), (6.5, "")]) func aHandMadeMarkMayBeLate(at time: Double, code: String) throws
    {
        let result = try flow {
            $0.share(at: time)
            $0.mark(.tap, .share, at: 10, by: .person)
        }
        #expect(result.verdict == (code.isEmpty ? .fail : .inconclusive))
        #expect(result.reason?.code ?? "" == code)
    }

    @Test func aPreflightIsNoAttempt() throws {
        let result = try flow {
            $0.exchange(.app, "OPTIONS", "https://api.partner.example/handoff-session", at: 3)
            $0.tap(.share, at: 4)
            $0.share(at: 4.1)
        }
        #expect(result.verdict == .pass)
    }

    @Test func aResendAfterRelaunchBelongsToTheEarlierTap() throws {
        let result = try flow {
            $0.tap(.share, at: 4)
            $0.share(at: 4.1, fate: .reset)
            $0.mark(.kill, at: 6)
            $0.mark(.launch, at: 8)
            $0.share(at: 9)
        }
        #expect(result.verdict == .pass)
    }

    @Test func aShareTapWithoutAttemptIsAPolicyMismatch() throws {
        let result = try flow {
            $0.tap(.share, at: 4)
            $0.exchange(.app, "POST", "https://api.partner.example/start", at: 4.1, body: "{}", response: "{}")
        }
        #expect(result.verdict == .inconclusive)
        #expect(result.reason?.code == "policy-mismatch")
        #expect(result.reason?.remedy.contains("requests: {session: {path:") == true)
    }

    @Test func anAttemptFoundByItsShapeIsAPolicyMismatch() throws {
        let result = try flow {
            $0.tap(.share, at: 4)
            $0.share(at: 4.1, path: "/api/start-handoff")
        }
        #expect(result.verdict == .inconclusive)
        #expect(result.reason?.code == "policy-mismatch")
        #expect(result.reason?.remedy.contains("/api/start-handoff") == true)
    }

    @Test func withoutKeysItIsNotDecided() throws {
        let result = try flow {
            $0.tap(.share, at: 4)
            $0.dark(.app, "api.partner.example", at: 4.05, lastData: 5)
        }
        #expect(result.reason?.code == "no-keys")
        #expect(result.reason?.remedy.contains("--keylog") == true)
    }

    @Test func withNothingItIsNotApplicable() throws {
        #expect(
            try flow {
                $0.tap(.neutral, at: 4)
                $0.browse(ScriptedSession.neutral, at: 4.2)
            }.verdict == .notApplicable)
    }
}
