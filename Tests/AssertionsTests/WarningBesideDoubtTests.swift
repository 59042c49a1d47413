import SessionTrace
import Testing

@testable import Assertions

/// The law of warnings: what was seen is a violation, whatever was not; and the doubt beside it stays open for a gate.
@Suite struct WarningBesideDoubtTests {
    /// An answer that names a URL of Chia's without a token.
    private func withoutToken(_ change: (inout ScriptedSession) -> Void = { _ in }) -> ScriptedSession {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, url: "https://chia.health/h/abc")
        change(&session)
        session.mark(.end, at: 90)
        return session
    }

    @Test func aSeenWarningFailsBesideADoubt() throws {
        let result = try withoutToken { $0.dropped = 5 }.judge()["HR-35"]
        #expect(result.verdict == .fail && result.severity == .warning, "\(result)")
        #expect(result.reason == nil && result.doubt != nil && result.isOpen)
        #expect(result.sentence.contains("no phs_ token") && result.sentence.contains("in doubt"))
    }

    @Test func anErrorBesideADoubtIsNotOpen() throws {
        let result = try withoutToken {
            $0.dropped = 5
            $0.share(at: 10, key: "not-a-uuid")
        }.judge()["HR-11"]
        #expect(result.verdict == .fail && result.severity == .error && result.doubt == nil, "\(result)")
        #expect(!result.isOpen)
    }

    @Test func aGateTakesItForOpen() throws {
        func outcome(gate: String, _ change: (inout SetOptions) -> Void = { _ in }) throws -> Outcome {
            var verdict = try withoutToken { $0.dropped = 5 }.judge()
            verdict.rules = [verdict["HR-35"]]
            verdict.gate = [gate]
            var options = SetOptions()
            change(&options)
            return SetVerdict(traces: [JudgedTrace(path: "a", verdict: verdict)], options: options).outcome
        }
        #expect(try outcome(gate: "HR-35") == .inconclusive)
        #expect(try outcome(gate: "HR-40") == .conforming)
        #expect(try outcome(gate: "HR-35") { $0.inconclusiveCounts = false } == .conforming)
        #expect(try outcome(gate: "HR-35") { $0.strict = true } == .violation)
    }

    @Test func theCauseIsSummedUp() throws {
        var session = withoutToken { $0.dropped = 5 }
        session.options.profile = .full
        let set = SetVerdict(traces: [JudgedTrace(path: "a", verdict: try session.judge())], options: SetOptions())
        let code = try session.judge()["HR-35"].doubt?.code
        #expect(set.causes.contains { $0.code == code && $0.rules.contains("HR-35") })
    }
}

/// A pass that speaks of every session request needs all of them seen.
@Suite struct SessionBypassTests {
    private static let rules = [
        "HR-11", "HR-12", "HR-13", "HR-14", "HR-15", "HR-16", "HR-17", "HR-18", "HR-19", "HR-20", "HR-21", "HR-22",
        "HR-23", "HR-24", "HR-35",
    ]

    /// The others are in the table of doubts (`DoubtTableTests`).
    @Test func aBypassLeavesTheURLsShapeOpen() throws {
        var session = ScriptedSession.conformingShare()
        session.blindSpot(.bypass, from: nil, at: 20, until: 21, on: nil)
        #expect(try session.judge()["HR-35"].reason?.code == "bypass")
        var unwatched = ScriptedSession.conformingShare()
        unwatched.watchedForBypass = false
        let assumed = try unwatched.judge()["HR-35"]
        #expect(assumed.verdict == .pass && assumed.assumptions.contains { $0.code == "bypass-not-watched" })
    }

    @Test func aSessionWithoutSharingIsNotConcerned() throws {
        var session = ScriptedSession.goneNeutral { $0.browse(ScriptedSession.neutral, at: 4.2) }
        session.blindSpot(.bypass, from: nil, at: 20, until: 21, on: nil)
        for rule in Self.rules {
            #expect(try session.judge()[rule].reason?.code != "bypass", "\(rule)")
        }
    }

    @Test func whatWasSeenStillFails() throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, key: "not-a-uuid")
        session.blindSpot(.bypass, from: nil, at: 20, until: 21, on: nil)
        #expect(try session.judge()["HR-11"].verdict == .fail)
    }
}
