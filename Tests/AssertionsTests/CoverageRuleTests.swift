import Assertions
import SessionTrace
import Testing

@Suite struct CoverageRuleTests {
    private func judge(_ change: (inout ScriptedSession) -> Void) throws -> TraceVerdict {
        var session = ScriptedSession.conformingShare()
        change(&session)
        return try session.judge()
    }

    @Test func unreadConnectionsAreCountedByRole() throws {
        let result = try judge { $0.dark(.app, "sdk.vendor.example", at: 20, lastData: 21) }["HC-01"]
        #expect(result.reason?.code == "no-keys")
        #expect(result.sentence.contains("third-party: 1 of 1"))
        let system = try judge { $0.dark(.nobody, "play.googleapis.com", at: 20, lastData: 21) }["HC-01"]
        #expect(system.verdict == .pass)
        #expect(system.assumptions.contains { $0.code == "os-services" })
    }

    @Test func aRefusedCertificateIsFirstClass() throws {
        let result = try judge { $0.dark(.app, "api.partner.example", at: 20, lastData: 21, reason: .leafRefused) }[
            "HC-01"]
        #expect(result.verdict == .inconclusive)
    }

    @Test func quicIsABypass() throws {
        let result = try judge {
            let id = $0.connect(.app, "sdk.vendor.example", at: 20)
            $0.blindSpot(.quic, from: nil, at: 20, until: 21, on: id)
        }["HC-02"]
        #expect(result.reason?.code == "quic")
    }

    @Test func anUnwatchedBypassIsAssumed() throws {
        #expect(
            try judge { $0.watchedForBypass = false }["HC-02"].assumptions.contains { $0.code == "bypass-not-watched" })
    }

    @Test func aMarkThatCanNotBeReadIsTold() throws {
        let result = try judge { $0.unreadableMarks = ["packet 12: a mark that can't be read"] }["HC-04"]
        #expect(result.reason?.code == "unreadable-mark")
    }

    @Test func marksOfAForeignClockAreBounded() throws {
        let result = try judge { $0.mark(.tap, .other, at: 70, onTraceClock: false) }["HC-03"]
        #expect(result.sentence.contains("±50 ms"))
        let wide = try judge {
            $0.policyText += "timing: {clock-error: 2s}\n"
            $0.mark(.tap, .other, at: 70, onTraceClock: false)
        }["HC-03"]
        #expect(wide.reason?.code == "clock-bound")
    }

    @Test func equalMarksAreOneAndDifferentOnesContradict() throws {
        let same = try judge {
            for offset in [0.0, 0.01, 0.02] { $0.mark(.tap, .other, at: 70 + offset, id: "x") }
        }
        #expect(same["HC-04"].verdict == .pass)
        #expect(same["HC-03"].sentence.contains("3 taps"), "two of the conforming session, and one sent three times")
        let different = try judge {
            $0.mark(.tap, .other, at: 70, id: "x")
            $0.mark(.tap, .share, at: 70, id: "x")
        }
        #expect(different["HC-04"].reason?.code == "marks-inconsistent")
        #expect(different["HR-02"].reason?.code == "marks-inconsistent")
    }

    @Test func aWithdrawnMarkDidNotHappen() throws {
        let verdict = try judge {
            $0.mark(.tap, .share, at: 60, id: "oops")
            $0.mark(.withdraw, at: 61, attributes: ["id": "oops"])
        }
        #expect(verdict["HR-07"].sentence == "1 session request for 1 tap", "\(verdict.story)")
    }

    @Test func aHalfWithoutTheOtherContradicts() throws {
        #expect(try judge { $0.mark(.tap, .other, at: 70, id: "x", phase: .pre) }["HC-04"].verdict == .inconclusive)
    }

    @Test func aTapInAKilledAppContradicts() throws {
        let result = try judge {
            $0.mark(.kill, at: 60)
            $0.mark(.tap, .other, at: 61)
        }["HC-04"]
        #expect(result.reason?.code == "marks-inconsistent")
    }

    @Test func unknownKindsAreKeptWithAWord() throws {
        let result = try judge { $0.mark(.other("shake"), at: 60) }["HC-04"]
        #expect(result.verdict == .pass)
        #expect(result.findings.contains { $0.message.contains("shake") })
    }

    @Test func unknownSendersAreSaid() throws {
        #expect(
            try judge { $0.dark(.nobody, "www.chia.health", at: 60, lastData: 61) }["HC-05"].reason?.code
                == "actor-unknown")
    }

    @Test func whatIsMissingIsSaid() throws {
        #expect(try judge { $0.dropped = 5 }["HC-06"].reason?.code == "capture-drops")
        #expect(try judge { $0.isComplete = false }["HC-06"].reason?.code == "file-cut-short")
        let id = try judge {
            let id = $0.connect(.app, "x.example", at: 60)
            $0.blindSpot(.truncatedPacket, from: .client, at: 60, until: 61, on: id)
        }["HC-06"]
        #expect(id.reason?.code == "truncated-packet")
    }

    @Test func nothingExercisedIsNeverAPass() throws {
        var session = ScriptedSession()
        session.exchange(.app, "GET", "https://api.partner.example/home", at: 1)
        let verdict = try session.judge()
        #expect(verdict["HC-08"].reason?.code == "nothing-exercised")
        #expect(!verdict.exercisedAnything)
        #expect(
            SetVerdict(traces: [JudgedTrace(path: "a", verdict: verdict)], options: SetOptions()).outcome
                == .inconclusive)
    }

    @Test func aFullTableIsABlindSpot() throws {
        let verdict = try judge {
            $0.options.limits.attempts = 0
        }
        #expect(verdict["HC-06"].reason?.code == "state-given-up", "\(verdict.story)")
        #expect(verdict["HR-07"].verdict == .inconclusive)
        #expect(verdict["HR-01"].verdict == .inconclusive)
    }

    @Test(arguments: [
        "contacts", "chiaRequests", "projections", "openConnections", "marks", "names", "darkHosts", "blindSpots",
        "namelessConnections",
    ])
    func eachLimitIsCrossedAloud(limit: String) throws {
        let verdict = try judge {
            switch limit {
            case "contacts": $0.options.limits.contacts = 0
            case "chiaRequests": $0.options.limits.chiaRequests = 0
            case "projections": $0.options.limits.projections = 0
            case "openConnections": $0.options.limits.openConnections = 1
            case "marks": $0.options.limits.marks = 1
            case "names": $0.options.limits.names = 1
            case "darkHosts":
                $0.options.limits.darkHosts = 0
            case "blindSpots":
                $0.options.limits.blindSpots = 0
                let id = $0.connect(.app, "x.example", at: 60)
                $0.blindSpot(.tcpHole, from: .server, at: 60, until: 61, on: id)
            default:
                $0.options.limits.namelessConnections = 0
                $0.connect(.app, "203.0.113.7", at: 60, hello: false)
            }
        }
        #expect(verdict["HC-06"].reason?.code == "state-given-up", "\(verdict.story)")
    }
}
