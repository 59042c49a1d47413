import Assertions
import SessionTrace
import Testing

@Suite struct HC09InstrumentNeutralTests {
    private func judge(
        own: Bool = false, _ session: ScriptedSession = .inTheBrowser(), _ more: [ProxyEvent] = []
    ) throws -> RuleResult {
        var events = session.events()
        guard case .traceEnded(var summary) = events.removeLast() else { return try session.judge()["HC-09"] }
        summary.isOwnRecording = own
        return try session.judge(events + more.map { .proxyEvent($0) } + [.traceEnded(summary)])["HC-09"]
    }

    @Test func aPassiveCaptureChangesNothing() throws {
        let result = try judge()
        #expect(result.verdict == .pass && result.sentence.contains("passively") && result.assumptions.isEmpty)
    }

    @Test func ourRelayNamesTheFaultsThatItInjected() throws {
        let fault = ProxyEvent(
            kind: .fault, at: ScriptedSession.instant(4), attributes: ["rule": "POST /handoff-session: 503 once"])
        let missed = ProxyEvent(
            kind: .fault, at: ScriptedSession.instant(5), attributes: ["detail": "fault-not-injected: h2", "rule": "x"])
        let result = try judge(own: true, .inTheBrowser(), [fault, missed])
        #expect(result.verdict == .pass && result.sentence.contains("1 fault injected"), "\(result)")
        #expect(result.information == ["fault-injected"])
        #expect(result.findings[0].message.contains("503 once"))
    }

    @Test func whatItCouldNotRelayIsADoubt() throws {
        func failure(_ kind: ProxyEvent.Kind, _ host: String) -> ProxyEvent {
            ProxyEvent(kind: kind, at: ScriptedSession.instant(4), attributes: ["host": host])
        }
        let session = ScriptedSession.inTheBrowser()
        #expect(
            try judge(own: true, session, [failure(.dialFailed, "api.partner.example")]).reason?.code == "dial-failed")
        #expect(try judge(own: true, session, [failure(.dialFailed, "cdn.example")]).verdict == .pass)
        #expect(try judge(own: true, session, [failure(.leafRefused, "api.partner.example")]).verdict == .pass)
    }

    @Test func anotherProgramsProxyIsAnAssumption() throws {
        var session = ScriptedSession.inTheBrowser()
        session.exchange(.app, "CONNECT", "https://cdn.example", at: 2)
        let result = try judge(own: false, session)
        #expect(result.verdict == .pass && result.assumptions.map(\.code) == ["foreign-proxy"], "\(result)")
        #expect(try judge(own: true, session).assumptions.isEmpty)
    }
}

@Suite struct HC10CleanStartTests {
    private func judge(_ story: (inout ScriptedSession) -> Void) throws -> RuleResult {
        var session = ScriptedSession()
        story(&session)
        return try session.judge()["HC-10"]
    }

    @Test func launchCleanBrowserAndAQuietWhilePass() throws {
        let result = try judge {
            $0.mark(.launch, at: 0)
            $0.mark(.browserClean, at: 1)
            $0.tap(.share, at: 10)
        }
        #expect(result.verdict == .pass && result.assumptions.isEmpty && result.sentence.contains("10 s"), "\(result)")
    }

    @Test func whatIsMissingIsAnAssumption() throws {
        let hasty = try judge {
            $0.mark(.launch, at: 0)
            $0.mark(.browserClean, at: 1)
            $0.tap(.share, at: 9.999)
        }
        #expect(hasty.verdict == .pass && hasty.assumptions.map(\.code) == ["start-not-quiet"], "\(hasty)")
        let warm = try judge {
            $0.mark(.browserClean, at: 1)
            $0.tap(.share, at: 20)
            $0.mark(.launch, at: 30)
        }
        #expect(warm.assumptions.map(\.code) == ["start-not-clean"], "\(warm)")
        let dirty = try judge {
            $0.mark(.launch, at: 0)
            $0.tap(.share, at: 20)
            $0.mark(.browserClean, at: 30)
        }
        #expect(dirty.assumptions.map(\.code) == ["browser-not-clean"], "\(dirty)")
        #expect(hasty.sentence == "launched 10 s before the first tap, with a clean browser")
        #expect(warm.sentence == "no launch and a clean browser marked before the first tap")
        #expect(dirty.sentence == "a launch and no clean browser marked before the first tap")
        let bare = try judge { $0.tap(.share, at: 20) }
        #expect(bare.assumptions.count == 2)
        #expect(bare.sentence == "no launch and no clean browser marked before the first tap")
    }

    @Test func marksOfTheTapsOwnMomentCount() throws {
        let result = try judge {
            $0.mark(.launch, at: 20)
            $0.mark(.browserClean, at: 20)
            $0.tap(.share, at: 20)
        }
        #expect(result.assumptions.map(\.code) == ["start-not-quiet"], "\(result)")
    }

    @Test func withoutATapThereIsNoStart() throws {
        #expect(try judge { $0.mark(.launch, at: 0) }.verdict == .notApplicable)
    }
}
