import Assertions
import SessionTrace
import Testing

/// Without any tap mark the first session request is what contacts are held against.
@Suite struct HR01NoChiaBeforeActionOrderTests {
    /// A session request from 4.1 to 4.2, its opening at 4.5, and what `build` adds.
    private func judge(_ build: (inout ScriptedSession) -> Void) throws -> RuleResult {
        var session = ScriptedSession()
        session.projection(at: 0.5)
        build(&session)
        session.share(at: 4.1)
        session.browse(ScriptedSession.url, at: 4.5)
        session.mark(.note, at: 80)
        return try session.judge()["HR-01"]
    }

    @Test(arguments: ["lookup", "connection", "request"]) func theKindOfContactIsNamed(kind: String) throws {
        let result = try judge {
            switch kind {
            case "lookup": $0.query("www.chia.health", at: 2)
            case "connection": $0.connect(.app, "www.chia.health", at: 2)
            default: $0.exchange(.app, "GET", "https://www.chia.health/x", at: 2)
            }
        }
        #expect(result.violations.contains(kind), "\(result)")
    }

    @Test(
        arguments: [
            (4.099, "1 ms before the first session request"), (4.1, "0 s after the session request, before its answer"),
            (4.199, "99 ms after the session request, before its answer"), (4.2, nil),
        ] as [(Double, String?)]) func contactUntilTheAnswerIsTooEarly(time: Double, words: String?) throws
    {
        let result = try judge { $0.query("www.chia.health", at: time) }
        #expect(result.verdict == (words == nil ? .pass : .fail), "\(result)")
        #expect(words.map { result.sentence.hasSuffix($0) } ?? true, "\(result.sentence)")
    }

    @Test func theSystemAndTheBrowsersOpeningAreExempt() throws {
        let system = try judge {
            $0.exchange(
                .app, "GET", "https://www.chia.health/.well-known/apple-app-site-association", at: 1,
                headers: [("user-agent", "swcd/1.0 CFNetwork/1490")])
        }
        #expect(system.verdict == .pass && system.information.contains("not-the-app"), "\(system)")
        let neutral = try judge { $0.browse(ScriptedSession.neutral, at: 2) }
        #expect(neutral.verdict == .pass && neutral.information.isEmpty, "\(neutral)")
    }

    /// A page that the browser opened loads what it needs, before any session request and after a rejected one.
    @Test(arguments: [(201, ScriptedSession.Who.browser), (422, .browser), (201, .nobody), (201, .app)])
    func whatAnOpenedPageLoadsIsNotTheApps(status: Int, who: ScriptedSession.Who) throws {
        var session = ScriptedSession()
        session.mark(.browserClean, at: 0.1)
        session.projection(at: 0.5)
        session.browse(ScriptedSession.neutral, at: 2)
        session.exchange(who, "GET", "https://www.chia.health/a.css", at: 2.3)
        session.share(at: 4.1, status: status)
        session.exchange(who, "GET", "https://www.chia.health/b.css", at: 6)
        session.mark(.note, at: 80)
        let result = try session.judge()["HR-01"]
        switch who {
        case .browser:
            #expect(result.verdict == .pass && result.information.contains("not-the-app"), "\(result)")
        case .nobody: #expect(result.reason?.code == "actor-unknown", "\(result)")
        default: #expect(result.violations.contains("request"), "\(result)")
        }
    }

    /// Before the page, or on another page than the neutral one, the browser has no reason to contact Chia.
    @Test(arguments: [1.9, 3.9]) func whatNoOpenedPageLoadedIsHeldAgainstTheApp(neutral: Double) throws {
        var session = ScriptedSession()
        session.mark(.browserClean, at: 0.1)
        session.projection(at: 0.5)
        session.exchange(.browser, "GET", "https://www.chia.health/a.css", at: 1.95)
        session.browse(ScriptedSession.neutral, at: neutral)
        session.share(at: 4.1)
        session.mark(.note, at: 80)
        let result = try session.judge()["HR-01"]
        #expect((result.verdict == .fail) == (neutral > 1.95), "\(result)")
    }

    /// Without tap marks, what an earlier handoff began may go on in a trace that began midway.
    @Test(arguments: [(true, nil), (false, "start-not-seen")] as [(Bool, String?)])
    func whatWasThereMayHaveFollowedATap(
        startSeen: Bool, code: String?
    ) throws {
        var session = ScriptedSession()
        let own = session.connect(.nobody, "chia.health", at: 1)
        session.share(at: 4.1)
        session.mark(.note, at: 80)
        let events = session.events().map { event in
            guard case .connectionOpened(var connection) = event, connection.id == own else { return event }
            connection.startSeen = startSeen
            return .connectionOpened(connection)
        }
        let result = try session.judge(events)["HR-01"]
        #expect(result.reason?.code == code, "\(result)")
        #expect((result.verdict == .fail) == (code == nil), "\(result)")
    }

    /// A process of the system asks for no association here: who it is suffices.
    @Test(arguments: [("apsd", Verdict.pass), ("PartnerShop", .fail)])
    func aRecordedProcessOfTheSystemIsExempt(process: String, verdict: Verdict) throws {
        var session = ScriptedSession.upToTap()
        session.processes[.nobody] = ProcessIdentity(source: .pktap, name: process)
        session.exchange(.nobody, "GET", "https://www.chia.health/x", at: 3)
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        session.mark(.end, at: 80)
        let judged = try session.judge()
        #expect(judged["HR-01"].verdict == verdict, "\(judged["HR-01"])")
        #expect(judged["HR-03"].verdict == verdict, "\(judged["HR-03"])")
    }
}
