import Assertions
import SessionTrace
import Testing

/// Where the permission to contact Chia begins and ends.
@Suite struct HR01NoChiaBeforeActionBoundaryTests {
    /// Up to the call to action, then `build`.
    private func judge(_ build: (inout ScriptedSession) -> Void) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        build(&session)
        session.mark(.end, at: 90)
        return try session.judge()["HR-01"]
    }

    @Test func aConformingSessionNamesItsFirstContact() throws {
        let result = try ScriptedSession.conformingShare().judge()["HR-01"]
        #expect(result.sentence.hasPrefix("the first of ") && result.sentence.hasSuffix("400 ms after the tap"))
        #expect(result.lookedAt.count == 2, "the tap, and the contact")
    }

    @Test func contactInTheTapsOwnMomentFollowsIt() throws {
        let result = try judge {
            $0.tap(.share, at: 4)
            $0.query("chia.health", at: 4)
            $0.share(at: 4.1)
            $0.browse(ScriptedSession.url, at: 4.5)
        }
        #expect(result.verdict == .pass, "\(result)")
    }

    @Test(arguments: [(49.999, Verdict.pass), (50, .inconclusive)])
    func comingBackEndsThePermission(time: Double, verdict: Verdict) throws {
        let result = try judge {
            $0.tap(.share, at: 4)
            $0.share(at: 4.1)
            $0.browse(ScriptedSession.url, at: 4.5)
            $0.query("www.chia.health", at: time)
            $0.mark(.foreground, at: 50)
        }
        #expect(result.verdict == verdict, "\(result)")
    }

    @Test func comingBackInTheTapsOwnMomentEndsNothing() throws {
        let result = try judge {
            $0.mark(.foreground, at: 4)
            $0.tap(.share, at: 4)
            $0.share(at: 4.1)
            $0.query("www.chia.health", at: 4.4)
            $0.browse(ScriptedSession.url, at: 4.5)
        }
        #expect(result.verdict == .pass, "\(result)")
    }

    @Test(arguments: [(4.0, 4.2, Verdict.inconclusive), (4.4, 4.4, .pass), (4.4, 4.41, .inconclusive)])
    func aProjectionAfterTheVisitEndsThePermission(visit: Double, projection: Double, verdict: Verdict) throws {
        let result = try judge {
            $0.tap(.share, at: 4)
            $0.share(at: 4.05, took: 0.02)
            $0.query("chia.health", at: visit)
            $0.projection(at: projection)
            $0.query("www.chia.health", at: 5)
        }
        #expect(result.verdict == verdict, "\(result)")
        #expect(result.reason?.code == (verdict == .pass ? nil : "actor-unknown"))
    }

    @Test func theRemedyFitsTheMark() throws {
        let result = try judge {
            $0.mark(.tap, .share, at: 10, by: .person)
            $0.query("www.chia.health", at: 8)
            $0.share(at: 12)
        }
        #expect(result.reason?.code == "late-mark")
        #expect(result.reason?.remedy.contains("press the mark first") == true)
    }

    @Test func anotherDevicesContactIsNotHeldAgainstThisOne() throws {
        let result = try judge {
            $0.clientAddress = IPAddress(ipv4: 0x0A00_0009)
            $0.connect(.app, "chia.health", at: 3)
            $0.clientAddress = IPAddress(ipv4: 0x0A00_0002)
            $0.tap(.share, at: 4)
            $0.share(at: 4.1)
        }
        #expect(result.reason?.code == "several-devices", "\(result)")
    }

    @Test func theBrowserIsNamedWhereItWasTheOne() throws {
        func finding(_ who: ScriptedSession.Who) throws -> String {
            try judge {
                $0.exchange(
                    who, "GET", ScriptedSession.neutral, at: 3,
                    headers: who == .browser ? [("sec-purpose", "prefetch")] : [])
                $0.tap(.share, at: 4)
                $0.share(at: 4.1)
            }.findings.first { $0.kind == "request" }?.message ?? ""
        }
        #expect(try finding(.browser).hasSuffix("by the browser, which was clean"))
        #expect(try finding(.app).hasSuffix("before the tap"))
    }

    // A clock that is known to 50 ms.

    @Test(arguments: [(4.0, "clock-bound"), (4.049, "clock-bound"), (4.05, ""), (4.4, "")])
    func whatFollowsWithinTheBoundMayHaveComeFirst(time: Double, code: String) throws {
        let result = try judge {
            $0.mark(.tap, .share, at: 4, onTraceClock: false)
            $0.query("chia.health", at: time)
            $0.share(at: 4.5)
            $0.browse(ScriptedSession.url, at: 4.8)
        }
        #expect(result.reason?.code ?? "" == code, "\(result)")
    }

    @Test(arguments: [(10.0, "clock-bound"), (10.001, "")])
    func anEarlierTapsPermissionStillHolds(projection: Double, code: String) throws {
        let result = try judge {
            $0.tap(.neutral, at: 3)
            $0.browse(ScriptedSession.neutral, at: 3.5)
            $0.mark(.tap, .share, at: 9.99, onTraceClock: false)
            $0.query("chia.health", at: 10)
            $0.projection(at: projection)
            $0.share(at: 10.5)
        }
        #expect(result.reason?.code ?? "" == code, "\(result)")
    }
}

/// What a trace that began midway, or that marks no taps, can show.
@Suite struct HR01NoChiaBeforeActionWithoutStartTests {
    /// A contact at 3 in a trace that marks no launch, with the connection to the partner open since before the trace.
    private func midway(
        _ startSeen: Bool = false, partnerAt time: Double = 1, projection: Double? = nil, launch: Double? = nil
    ) throws -> RuleResult {
        var session = ScriptedSession()
        if let launch { session.mark(.launch, at: launch) }
        let partner = session.connect(.app, "api.partner.example", at: time)
        if let projection { session.projection(at: projection) }
        session.query("chia.health", at: 3)
        session.tap(.share, at: 4)
        session.share(at: 4.1, on: partner)
        session.mark(.end, at: 90)
        let events = session.events().map { event in
            guard case .connectionOpened(var connection) = event, connection.id == partner else { return event }
            connection.startSeen = startSeen
            return .connectionOpened(connection)
        }
        return try session.judge(events)["HR-01"]
    }

    @Test func aTraceThatBeganMidwayMayLackTheTap() throws {
        #expect(try midway().reason?.code == "start-not-seen")
        #expect(try midway(partnerAt: 3).reason?.code == "start-not-seen")
        #expect(try midway(true).verdict == .fail)
        #expect(try midway(partnerAt: 3.001).verdict == .fail)
    }

    @Test func aLaunchOrAProjectionBeforeItIsAStart() throws {
        #expect(try midway(launch: 2).verdict == .fail)
        #expect(try midway(launch: 3.5).reason?.code == "start-not-seen")
        #expect(try midway(projection: 3).verdict == .fail)
        #expect(try midway(projection: 3.001).reason?.code == "start-not-seen")
    }

    /// A session without tap marks.
    private func unmarked(_ build: (inout ScriptedSession) -> Void) throws -> RuleResult {
        var session = ScriptedSession()
        session.projection(at: 0.5)
        build(&session)
        session.share(at: 4.1)
        session.browse(ScriptedSession.url, at: 4.5)
        session.mark(.note, at: 80)
        return try session.judge()["HR-01"]
    }

    @Test func withoutTapsAnotherDeviceIsNotHeldAgainstThisOne() throws {
        let result = try unmarked {
            $0.clientAddress = IPAddress(ipv4: 0x0A00_0009)
            $0.connect(.app, "chia.health", at: 3)
            $0.clientAddress = IPAddress(ipv4: 0x0A00_0002)
        }
        #expect(result.reason?.code == "several-devices", "\(result)")
    }

    @Test(arguments: [
        ("chia.health", 2.0, "actor-unknown"), ("chia.health", 0.6, "actor-unknown"), ("chia.health", 0.55, ""),
        ("www.chia.health", 2, ""),
    ]) func withoutTapsAnUnreadConnectionMayBeTheNeutralOpening(host: String, time: Double, code: String) throws {
        let result = try unmarked { $0.dark(.nobody, host, at: time, lastData: 3) }
        #expect(result.reason?.code ?? "" == code, "\(result)")
        #expect(result.verdict == (code.isEmpty ? .fail : .inconclusive), "\(result)")
    }

    @Test func withoutTapsABrowserThatWasNotCleanIsNotDecided() throws {
        func poll(_ session: inout ScriptedSession) {
            session.exchange(
                .browser, "GET", "https://www.chia.health/poll", at: 2, headers: [("sec-fetch-site", "same-origin")])
        }
        #expect(try unmarked { poll(&$0) }.reason?.code == "browser-not-clean")
        let clean = try unmarked {
            $0.mark(.browserClean, at: 0.1)
            poll(&$0)
        }
        #expect(clean.verdict == .fail, "\(clean)")
    }

    @Test func aURLOnAnotherHostIsAPolicyMismatch() throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, url: "https://handoff.elsewhere.example/h/\(ScriptedSession.token)")
        session.mark(.end, at: 90)
        #expect(try session.judge()["HR-01"].reason?.code == "policy-mismatch")
    }
}
