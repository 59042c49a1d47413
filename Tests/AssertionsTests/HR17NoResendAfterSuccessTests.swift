import Assertions
import SessionTrace
import Testing

@Suite struct HR17NoResendAfterSuccessTests {
    private func judge(
        tap: Mark.Target? = .share, by: Mark.Maker = .script, fate: ScriptedSession.Fate = .answered,
        isTapped: Bool = true,
        end: Double = 200, _ next: (inout ScriptedSession) -> Void
    ) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        if isTapped { session.mark(.tap, tap, at: 4, by: by) }
        session.share(at: 4.1, fate: fate)
        next(&session)
        session.mark(.end, at: end)
        return try session.judge()["HR-17"]
    }

    private static func anew(_ session: inout ScriptedSession, at time: Double) {
        session.share(at: time, key: ScriptedSession.key2, url: ScriptedSession.otherURL)
    }

    @Test func aSingleSuccessPasses() throws {
        let result = try judge { $0.browse(ScriptedSession.url, at: 4.5) }
        #expect(result.verdict == .pass)
        #expect(result.sentence == "1 success, none sent again in the 3.3 min that the trace goes on")
        #expect(result.assumptions.isEmpty)
        #expect(try judge(end: 20) { _ in }.assumptions.map(\.code) == ["observed-only"])
    }

    @Test func theSameKeyAgainFails() throws {
        let result = try judge { $0.share(at: 7.2) }
        #expect(result.findings.map(\.kind) == ["resend-after-success"])
        #expect(result.findings[0].severity == .error)
        #expect(result.sentence.contains("attempt 2 has the key of attempt 1, whose success came 3 s before"))
        // A further tap does not make it right.
        #expect(
            try judge {
                $0.tap(.share, at: 7)
                $0.share(at: 7.2)
            }.verdict == .fail)
    }

    @Test func anAnswerThatDidNotArriveMayBeAskedForAgain() throws {
        let lost = try judge(fate: .lost) { $0.share(at: 7.2) }
        #expect(lost.verdict == .pass)
        #expect(lost.sentence.hasPrefix("1 success,"))
        #expect(try judge(fate: .deliveryUnknown) { $0.share(at: 7.2) }.reason?.code == "delivery-unknown")
    }

    @Test func whatWasUnderWayIsNotAfter() throws {
        #expect(try judge { $0.share(at: 4.15, took: 0.2) }.verdict == .pass, "HR-08's matter")
        #expect(try judge { $0.share(at: 4.2, took: 0.2) }.verdict == .fail)
    }

    /// Killed within two seconds of the answer, it may not have read it.
    @Test(arguments: [(4.3, true), (6.2, true), (6.3, false), (4.15, true), (4.1, true), (3.9, false)])
    func anAppThatWasKilledMayNotHaveReadIt(kill: Double, isExcused: Bool) throws {
        let result = try judge {
            $0.mark(.kill, at: kill)
            $0.mark(.launch, at: 8)
            $0.share(at: 9)
        }
        #expect(result.verdict == .fail)
        #expect(result.severity == (isExcused ? .warning : .error))
        #expect(result.sentence.contains("may not have read it") == isExcused)
    }

    @Test func aKillAfterTheResendExcusesNothing() throws {
        let result = try judge {
            $0.share(at: 4.6)
            $0.mark(.kill, at: 5)
        }
        #expect(result.severity == .error)
    }

    @Test func aNewOperationNeedsATap() throws {
        let result = try judge {
            $0.browse(ScriptedSession.url, at: 4.5)
            $0.mark(.foreground, at: 50)
            Self.anew(&$0, at: 51)
        }
        #expect(result.findings.map(\.kind) == ["operation-without-tap"])
        #expect(result.sentence.contains("46.8 s after the success of attempt 1, without a share tap between"))
        #expect(
            try judge {
                $0.browse(ScriptedSession.url, at: 4.5)
                $0.tap(.share, at: 50)
                Self.anew(&$0, at: 51)
            }.verdict == .pass)
        // A tap on another action is none.
        #expect(
            try judge {
                $0.tap(.neutral, at: 50)
                Self.anew(&$0, at: 51)
            }.verdict == .fail)
    }

    @Test func aTapInsideTheBurstIsAnotherRulesMatter() throws {
        let result = try judge {
            $0.tap(.share, at: 4.15)
            Self.anew(&$0, at: 4.3)
        }
        #expect(result.verdict == .pass, "HR-07's matter")
        #expect(
            try judge { Self.anew(&$0, at: 4.3) }.verdict == .fail, "the tap at 4 s was the first operation's")
    }

    /// What had begun before the success is no new operation.
    @Test func anOperationThatWasUnderWayIsNotNew() throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, key: ScriptedSession.key2, body: ScriptedSession.shareBody(item: "b"), status: 503)
        session.tap(.share, at: 6)
        session.share(at: 6.1)
        session.share(
            at: 9, key: ScriptedSession.key2, body: ScriptedSession.shareBody(item: "b"), url: ScriptedSession.otherURL)
        session.mark(.end, at: 200)
        #expect(try session.judge()["HR-17"].verdict == .pass)
    }

    @Test func withoutTapMarksItIsNotDecided() throws {
        let result = try judge(isTapped: false) { Self.anew(&$0, at: 51) }
        #expect(result.reason?.code == "no-tap-mark")
        #expect(try judge(isTapped: false) { $0.share(at: 51) }.verdict == .fail, "the key needs no mark")
    }

    @Test func aForgottenMarkByHandIsNoViolation() throws {
        #expect(try judge(by: .person) { Self.anew(&$0, at: 51) }.reason?.code == "tap-not-marked")
    }

    @Test func theNextTapMayBeTheOneWithinItsClock() throws {
        let result = try judge {
            $0.browse(ScriptedSession.url, at: 4.5)
            Self.anew(&$0, at: 51)
            $0.mark(.tap, .share, at: 51.04, onTraceClock: false)
        }
        #expect(result.reason?.code == "clock-bound")
        #expect(
            try judge {
                $0.browse(ScriptedSession.url, at: 4.5)
                Self.anew(&$0, at: 51)
                $0.mark(.tap, .share, at: 51.06, onTraceClock: false)
            }.verdict == .fail)
    }

    @Test func anotherDeviceBeginsItsOwn() throws {
        let result = try judge {
            $0.clientAddress = IPAddress(ipv4: 0x0A00_0009)
            Self.anew(&$0, at: 51)
        }
        #expect(result.verdict == .pass)
    }

    @Test func nothingSucceeded() throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, status: 503)
        session.share(at: 7)
        #expect(try session.judge()["HR-17"].verdict == .pass)
        session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, status: 503)
        #expect(try session.judge()["HR-17"].verdict == .notApplicable)
        #expect(try ScriptedSession.upToTap().judge()["HR-17"].verdict == .notApplicable)
    }

    @Test func unreadSessionTrafficMayHoldIt() throws {
        let result = try judge { $0.dark(.app, "api.partner.example", at: 70, lastData: 71) }
        #expect(result.reason?.code == "no-keys")
    }
}
