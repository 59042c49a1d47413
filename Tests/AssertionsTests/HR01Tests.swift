import Assertions
import SessionTrace
import Testing

@Suite struct HR01NoChiaBeforeActionTests {
    private func judge(_ change: (inout ScriptedSession) -> Void) throws -> RuleResult {
        var session = ScriptedSession.conformingShare()
        change(&session)
        return try session.judge()["HR-01"]
    }

    @Test(arguments: ["lookup", "connection", "request"])
    func aContactBeforeTheTapFails(kind: String) throws {
        let result = try judge { session in
            switch kind {
            case "lookup": session.lookup("www.chia.health", at: 3)
            case "connection": session.connect(.app, "chia.health", at: 3)
            default: session.exchange(.app, "GET", ScriptedSession.neutral, at: 3)
            }
        }
        #expect(result.verdict == .fail)
        #expect(result.findings.contains { $0.kind == kind && !$0.evidence.isEmpty && $0.evidence[0].packets != [] })
        #expect(result.sentence.contains("before the tap"))
    }

    @Test func aLookupBeforeTheTapIsNotTheLaterNavigations() throws {
        var session = ScriptedSession()
        session.mark(.launch, at: 0)
        session.projection(at: 0.5)
        session.lookup("chia.health", at: 3)
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        session.browse(ScriptedSession.url, at: 4.5)
        session.mark(.end, at: 90)
        #expect(try session.judge()["HR-01"].verdict == .fail)
    }

    @Test func aConnectTargetIsAContact() throws {
        let result = try judge { session in
            let proxy = session.connect(.app, "10.0.0.1", at: 2.9, hello: false)
            session.exchange(.app, "CONNECT", "https://chia.health:443", at: 3, on: proxy)
        }
        #expect(result.verdict == .fail)
    }

    @Test func aNameThatOnlyContainsChiaIsNone() throws {
        let result = try judge { session in
            session.lookup("notchia.health", at: 3)
            session.connect(.app, "notchia.health", at: 3.1)
            session.exchange(
                .app, "GET", "https://app-site-association.cdn-apple.com/a/v1/chia.health", at: 3.2)
        }
        #expect(result.verdict == .pass)
    }

    @Test func anAliasOfChiaIsChia() throws {
        let result = try judge { session in
            session.lookup("go.partner.example", at: 2.9, aliases: ["edge.chia.health"])
            session.connect(.app, "go.partner.example", at: 3)
        }
        #expect(result.verdict == .fail)
    }

    @Test func aConnectionWithoutANameIsNamedByTheOneAnswer() throws {
        let named = try judge { session in
            session.lookup("www.chia.health", at: 3)
            session.connect(.app, "www.chia.health", at: 3.1, hello: false)
        }
        #expect(named.findings.contains { $0.kind == "connection" })
    }

    @Test func aSecondCardsPrefetchFails() throws {
        let result = try judge { session in
            session.exchange(.app, "HEAD", ScriptedSession.neutral, at: 60)
        }
        #expect(result.verdict == .fail)
        #expect(result.sentence.contains("without any tap"))
    }

    @Test func theTapsTimeDecidesWithinItsBound() throws {
        var session = ScriptedSession.upToTap()
        session.mark(.tap, .share, at: 4, onTraceClock: false)
        session.lookup("chia.health", at: 3.988)
        session.share(at: 4.1)
        session.browse(ScriptedSession.url, at: 4.5)
        session.mark(.end, at: 80)
        let result = try session.judge()["HR-01"]
        #expect(result.verdict == .inconclusive)
        #expect(result.reason?.code == "clock-bound")
        #expect(result.sentence.contains("12 ms before the tap, clock bound ±50 ms"))
    }

    @Test func onTheTracesOwnClockOrderDecides() throws {
        var session = ScriptedSession.upToTap()
        session.lookup("chia.health", at: 3.999)
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        session.browse(ScriptedSession.url, at: 4.5)
        #expect(try session.judge()["HR-01"].verdict == .fail)
    }

    @Test func beyondTheBoundItFails() throws {
        var session = ScriptedSession.upToTap()
        session.mark(.tap, .share, at: 4, onTraceClock: false)
        session.lookup("chia.health", at: 3.9)
        session.share(at: 4.1)
        #expect(try session.judge()["HR-01"].verdict == .fail)
    }

    @Test func contactWithinTheTapsSpanPassesWithAnAssumption() throws {
        var session = ScriptedSession.upToTap()
        session.mark(.tap, .share, at: 4, id: "a", phase: .pre)
        session.mark(.tap, .share, at: 4.8, id: "a", phase: .post)
        session.share(at: 4.1)
        session.browse(ScriptedSession.url, at: 4.5)
        session.mark(.end, at: 80)
        let result = try session.judge()["HR-01"]
        #expect(result.verdict == .pass)
        #expect(result.assumptions.contains { $0.code == "tap-window" && $0.sentence.contains("800 ms") })
    }

    @Test func aHandMadeMarkMayBeLate() throws {
        func session(contact: Double) throws -> RuleResult {
            var session = ScriptedSession.upToTap()
            session.mark(.tap, .share, at: 10, by: .person)
            session.lookup("www.chia.health", at: contact)
            session.share(at: 12)
            session.browse(ScriptedSession.url, at: 12.5)
            session.mark(.end, at: 100)
            return try session.judge()["HR-01"]
        }
        let late = try session(contact: 8)
        #expect(late.verdict == .inconclusive)
        #expect(late.reason?.code == "late-mark")
        #expect(try session(contact: 6).verdict == .fail)
    }

    @Test func anUnnamedTapWeighsLess() throws {
        var session = ScriptedSession.upToTap()
        session.lookup("www.chia.health", at: 3)
        session.tap(nil, at: 4)
        session.share(at: 4.1)
        let result = try session.judge()["HR-01"]
        #expect(result.verdict == .fail)
        #expect(result.findings.allSatisfy { $0.severity == .warning })
        #expect(result.severity == .warning)
    }

    @Test func thePolicyTapAllowsThePageLoadItStarts() throws {
        func judged(nextMarkAt: Double?) throws -> RuleResult {
            var session = ScriptedSession.upToTap()
            session.tap(.policy, at: 2.5)
            session.browse("https://chia.health/privacy", at: 2.7)
            if let nextMarkAt { session.mark(.tap, .cta, at: nextMarkAt) }
            session.exchange(.nobody, "GET", "https://www.chia.health/late", at: 3)
            session.tap(.share, at: 4)
            session.share(at: 4.1)
            session.browse(ScriptedSession.url, at: 4.5)
            return try session.judge()["HR-01"]
        }
        #expect(try judged(nextMarkAt: nil).verdict == .pass)
        #expect(try judged(nextMarkAt: 2.9).verdict == .inconclusive)
    }

    @Test func aBrowserThatWasNotCleanIsNotDecided() throws {
        var session = ScriptedSession()
        session.mark(.launch, at: 0)
        session.projection(at: 0.5)
        session.exchange(
            .browser, "GET", "https://chia.health/poll", at: 1, headers: [("sec-fetch-site", "same-origin")])
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        session.browse(ScriptedSession.url, at: 4.5)
        let result = try session.judge()["HR-01"]
        #expect(result.verdict == .inconclusive)
        #expect(result.reason?.code == "browser-not-clean")
    }

    @Test func aCleanBrowserThatPrefetchesFails() throws {
        let result = try judge { session in
            session.exchange(
                .browser, "GET", ScriptedSession.neutral, at: 3,
                headers: [("sec-purpose", "prefetch"), ("sec-fetch-dest", "document"), ("sec-fetch-mode", "navigate")])
        }
        #expect(result.verdict == .fail)
    }

    @Test func whatAnOpenChiaPageDoesLaterIsNotTheApps() throws {
        let result = try judge { session in
            session.exchange(
                .browser, "GET", "https://chia.health/poll", at: 60,
                headers: [
                    ("sec-fetch-site", "same-origin"), ("sec-fetch-dest", "empty"), ("referer", ScriptedSession.url),
                ])
        }
        #expect(result.verdict == .pass)
        #expect(result.findings.contains { $0.kind == "not-the-app" && $0.severity == .info })
    }

    @Test func whoSentItLaterCantBeToldByTLSAlone() throws {
        let result = try judge { session in
            session.dark(.nobody, "www.chia.health", at: 60, lastData: 61)
        }
        #expect(result.verdict == .inconclusive)
        #expect(result.reason?.code == "actor-unknown")
    }

    @Test func theSystemsFetchOfAssociationsIsExempt() throws {
        let result = try judge { session in
            session.exchange(
                .app, "GET", "https://chia.health/.well-known/apple-app-site-association", at: 1,
                headers: [("user-agent", "swcd/1.0 CFNetwork/1490")])
        }
        #expect(result.verdict == .pass)
        #expect(result.findings.contains { $0.kind == "not-the-app" })
    }

    @Test func withoutMarksOrderStillProves() throws {
        var session = ScriptedSession()
        session.projection(at: 0.5)
        session.share(at: 4.1)
        session.lookup("chia.health", at: 4.4)
        session.browse(ScriptedSession.url, at: 4.5)
        session.mark(.note, at: 80)
        let result = try session.judge()["HR-01"]
        #expect(result.verdict == .pass)
        #expect(result.assumptions.contains { $0.code == "tap-assumed" })

        var early = session
        early.exchange(.app, "GET", ScriptedSession.neutral, at: 2)
        #expect(try early.judge()["HR-01"].verdict == .fail)

        var meanwhile = session
        meanwhile.connect(.app, "www.chia.health", at: 4.15)
        #expect(try meanwhile.judge()["HR-01"].verdict == .fail)
    }

    @Test func withoutMarksAndAttemptsNothingIsDecided() throws {
        var session = ScriptedSession()
        session.projection(at: 0.5)
        session.browse(ScriptedSession.neutral, at: 4.5)
        #expect(try session.judge()["HR-01"].reason?.code == "no-tap-mark")
    }

    @Test func anUnnamedDarkConnectionBeforeTheTapIsNotDecided() throws {
        let result = try judge { session in
            session.dark(.app, "203.0.113.9", at: 1, lastData: 1.5, hello: false)
        }
        #expect(result.verdict == .inconclusive)
        #expect(result.reason?.code == "host-unknown")
    }

    @Test func aBypassIsNotDecidedAndAnUnwatchedOneAssumed() throws {
        let seen = try judge { $0.blindSpot(.bypass, from: nil, at: 1, until: 2, on: nil) }
        #expect(seen.reason?.code == "bypass")
        let unwatched = try judge { $0.watchedForBypass = false }
        #expect(unwatched.verdict == .pass)
        #expect(unwatched.assumptions.contains { $0.code == "bypass-not-watched" })
        let strict = try judge {
            $0.watchedForBypass = false
            $0.options.strict = true
        }
        #expect(strict.verdict == .inconclusive)
        #expect(strict.reason?.code == "bypass-not-watched")
    }

    @Test func privateRelayHidesContacts() throws {
        let result = try judge { $0.dark(.nobody, "mask.icloud.com", at: 1, lastData: 60) }
        #expect(result.reason?.code == "private-relay")
    }

    @Test func droppedPacketsMayHideContacts() throws {
        #expect(try judge { $0.dropped = 3 }.reason?.code == "capture-drops")
    }

    @Test func aCutTraceProvesNothingButStillViolates() throws {
        let cut = try judge { $0.isComplete = false }
        #expect(cut.verdict == .inconclusive)
        #expect(cut.reason?.code == "file-cut-short")
        let violating = try judge {
            $0.isComplete = false
            $0.lookup("chia.health", at: 3)
        }
        #expect(violating.verdict == .fail)
        #expect(violating.sentence.contains("cut short"))
    }
}
