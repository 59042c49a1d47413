import Assertions
import SessionTrace
import Testing

/// Sessions with far more of everything than a phone makes: judged in bounded time, and what was left out is said.
@Suite struct LargeSessionTests {
    @Test(.timeLimit(.minutes(1))) func manyMarksRequestsAndLookupsAreJudged() throws {
        var session = ScriptedSession()
        for number in 0..<150 {
            let time = Double(number) * 2
            session.mark(.tap, .share, at: time, id: "same", count: 1_000, phase: number % 2 == 0 ? .pre : .post)
            session.mark(.tap, .neutral, at: time + 0.5, id: "n\(number)", phase: .pre)
            session.mark(.tap, .neutral, at: time + 0.6, id: "n\(number)", phase: .post)
            session.lookup("h\(number % 7).chia.health", at: time + 0.7)
            session.browse("https://chia.health/h/phs_\(number)abcdefghijklmnopqr", at: time + 1)
        }
        let verdict = try session.judge()
        #expect(verdict["HR-01"].verdict != .notApplicable)
        #expect(verdict["HR-01"].verdict != .pass, "the marks contradict each other")
    }

    @Test func fullTablesLeaveNoPass() throws {
        var session = ScriptedSession.conformingShare()
        session.options.limits.chiaRequests = 1
        let verdict = try session.judge()
        #expect(verdict["HR-05"].verdict == .inconclusive)
        #expect(verdict["HR-05"].reason?.code == "state-given-up")
    }
}
