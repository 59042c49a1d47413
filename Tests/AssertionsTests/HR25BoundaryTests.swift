import Assertions
import SessionTrace
import Testing

/// Which attempts and openings are a neutral tap's.
@Suite struct HR25NeutralPathDirectBoundaryTests {
    private func judge(_ build: (inout ScriptedSession) -> Void) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        session.tap(.neutral, at: 4)
        build(&session)
        session.mark(.end, at: 200)
        return try session.judge()["HR-25"]
    }

    @Test(arguments: [(6.0, []), (5.999, ["session-after-neutral"])])
    func anAttemptInTheMomentOfAShareTapIsItsOwn(time: Double, kinds: [String]) throws {
        let result = try judge {
            $0.browse(ScriptedSession.neutral, at: 4.5)
            $0.tap(.share, at: 6)
            $0.share(at: time)
        }
        #expect(result.violations == kinds, "\(result)")
    }

    /// Which of two taps in one moment came first can't be told. A tap on nothing in particular is the same tap, marked twice.
    @Test(
        arguments: [
            (4.0, .share, "clock-bound", []), (3.999, .share, nil, ["session-after-neutral"]),
            (4.0, nil, nil, ["session-after-neutral"]),
        ] as [(Double, Mark.Target?, String?, [String])])
    func aShareTapInTheNeutralTapsOwnMomentMayHaveMadeIt(
        time: Double, target: Mark.Target?, code: String?, kinds: [String]
    ) throws {
        let result = try judge {
            $0.tap(target, at: time)
            $0.share(at: 4.1)
            $0.browse(ScriptedSession.neutral, at: 4.5)
        }
        #expect(result.reason?.code == code && result.violations == kinds, "\(result)")
    }

    /// The mark's clock is known to 50 ms, and the request was over before the mark.
    @Test(arguments: [(3.95, "clock-bound"), (3.949, nil)] as [(Double, String?)])
    func aRequestAtTheEdgeOfWhatTheMarkIsKnownToMayBeEitherSide(time: Double, code: String?) throws {
        var session = ScriptedSession.upToTap()
        session.mark(.tap, .neutral, at: 4, onTraceClock: false)
        session.share(at: time, took: 0.01)
        session.browse(ScriptedSession.neutral, at: 4.5)
        session.mark(.end, at: 200)
        let result = try session.judge()["HR-25"]
        #expect(result.reason?.code == code && result.violations == [], "\(result)")
    }

    @Test func anOpeningInTheTapsOwnMomentIsItsOwn() throws {
        let result = try judge { $0.browse(ScriptedSession.neutral, at: 4) }
        #expect(result.verdict == .pass && result.sentence.hasSuffix("at most 0 s after"), "\(result)")
    }

    @Test(arguments: [(9.999, true), (10, false)]) func whatTheNextTapOpensIsNot(time: Double, isOwn: Bool) throws {
        let result = try judge {
            $0.tap(.share, at: 10)
            $0.share(at: 10.1)
            $0.browse(ScriptedSession.neutral, at: time)
        }
        #expect((result.verdict == .pass) == isOwn, "\(result)")
    }
}

@Suite struct HR36URLOnlyInSessionResponseBoundaryTests {
    @Test(
        arguments: [(nil, nil, true), (ScriptedSession.key1, ScriptedSession.key2, true)] as [(String?, String?, Bool)])
    func anOlderOperationsURLIsToldWithAndWithoutKeys(first: String?, second: String?, isFound: Bool) throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, key: first)
        session.tap(.share, at: 20)
        session.exchange(
            .app, "POST", "https://api.partner.example/handoff-session", at: 20.1, status: 201,
            headers: (second.map { [("idempotency-key", $0)] } ?? []) + [("content-type", "application/json")],
            body: ScriptedSession.body,
            response: #"{"url":"\#(ScriptedSession.otherURL)","previous":"\#(ScriptedSession.url)"}"#)
        session.mark(.end, at: 90)
        #expect(try session.judge()["HR-36"].violations.contains("older-url") == isFound)
    }
}

@Suite struct HR46NoHandoffURLInTelemetryBoundaryTests {
    @Test func whatTheSystemSendsIsNotTheApps() throws {
        func judge(_ process: String) throws -> RuleResult {
            var session = ScriptedSession.conformingShare()
            session.processes[.nobody] = ProcessIdentity(source: .pktap, name: process)
            session.exchange(
                .nobody, "POST", "https://o4507.ingest.sentry.io/api/1/envelope/", at: 60,
                body: #"{"crumb":"\#(ScriptedSession.url)"}"#)
            return try session.judge()["HR-46"]
        }
        let system = try judge("apsd")
        #expect(system.verdict == .pass && system.information == ["not-the-app"], "\(system)")
        #expect(try judge("PartnerShop").violations == ["telemetry-leak"])
    }
}
