import SessionTrace
import Testing

@testable import Assertions

@Suite struct HR48NoSelectionInTelemetryBoundaryTests {
    private static let analytics = "https://app-measurement.com/a"

    private static func tell(_ session: inout ScriptedSession, at time: Double, _ text: String = "item-4711-abcdef") {
        session.exchange(.app, "POST", analytics, at: time, body: #"{"p":"\#(text)"}"#)
    }

    /// A neutral way from the call to action at 2 to the end at 90.
    private func judge(_ build: (inout ScriptedSession) -> Void) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        session.tap(.neutral, at: 4)
        session.browse(ScriptedSession.neutral, at: 4.5)
        build(&session)
        session.mark(.end, at: 90)
        session.mark(.note, at: 95)
        return try session.judge()["HR-48"]
    }

    @Test(
        arguments: [(1.999, []), (2.0, ["selection-sent"]), (90, ["selection-sent"]), (90.001, [])]
            as [(Double, [String])]) func theFlowIsFromTheCallToTheEnd(time: Double, kinds: [String]) throws
    {
        let result = try judge { Self.tell(&$0, at: time) }
        #expect(result.violations == kinds, "\(result)")
        if time < 2 {
            #expect(result.sentence == "no id of an item in telemetry within 88 s of the flow (1 before it)")
        } else if kinds.isEmpty {
            #expect(result.sentence == "no id of an item in telemetry within 88 s of the flow")
        }
    }

    @Test func theSentenceSaysWhatWasSent() throws {
        #expect(try judge { Self.tell(&$0, at: 5) }.sentence.hasPrefix("the item's id was sent to"))
        let version = try ScriptedSession.shared {
            $0.exchange(.app, "POST", Self.analytics, at: 5, body: #"{"disclosureVersion":"2026-03"}"#)
        }.judge()["HR-48"]
        #expect(version.sentence.hasPrefix("the disclosure version was sent to"), "\(version)")
    }

    @Test func aSessionRequestIsShown() throws {
        let result = try ScriptedSession.shared { _ in }.judge()["HR-48"]
        #expect(result.lookedAt.map(\.label) == ["session request"])
        #expect(try judge { _ in }.verdict == .pass, "and the neutral way is judged without one")
    }

    @Test func aFlowWithoutAnyItemTellsNothing() throws {
        func judge(_ target: Mark.Target) throws -> RuleResult {
            var session = ScriptedSession()
            session.mark(.launch, at: 0)
            session.tap(target, at: 4)
            session.exchange(.app, "GET", "https://api.partner.example/x", at: 5)
            session.mark(.end, at: 90)
            return try session.judge()["HR-48"]
        }
        let neutral = try judge(.neutral)
        #expect(neutral.verdict == .notApplicable && neutral.sentence == "no item's id is known", "\(neutral)")
        #expect(try judge(.share).reason?.code == "policy-mismatch")
    }

    @Test func aSenderThatCouldNotBeReadIsNotDecided() throws {
        let session = ScriptedSession.shared {
            $0.exchange(.nobody, "POST", Self.analytics, at: 6, body: #"{"p":"item-4711-abcdef"}"#)
        }
        #expect(try session.judge()["HR-48"].violations == ["selection-sent"])
        let events = session.events().map { event in
            guard case .exchange(var exchange) = event, exchange.request?.authority == "app-measurement.com" else {
                return event
            }
            exchange.request?.fields.append(name: "user-agent".utf8, value: "".utf8, isKnown: false)
            return .exchange(exchange)
        }
        #expect(try session.judge(events)["HR-48"].reason?.code == "header-table-unknown")
    }

    /// A book that is full may have left out what matters.
    @Test func moreThanIsKeptIsNotDecided() throws {
        var session = ScriptedSession.upToTap()
        let fields = (0..<1_500).map { "\"f\($0)\":\"item-4711-abcdef\"" }
        for (place, part) in [fields[..<500], fields[500..<1_000], fields[1_000...]].enumerated() {
            for host in ["a", "b", "c"] {
                session.exchange(
                    .app, "POST", "https://\(host).shop.example/t", at: 1 + Double(place) / 10,
                    body: "{\(part.joined(separator: ","))}")
            }
        }
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        session.mark(.end, at: 90)
        let result = try session.judge()["HR-48"]
        #expect(result.reason?.code == "state-given-up" && result.sentence.contains("4000"), "\(result)")
    }
}

@Suite struct HR49NoDeferredLeakBoundaryTests {
    private static let sentry = "https://o4507.ingest.sentry.io/api/1/envelope/"

    /// A share that is answered at 4.2, and what comes then.
    private func judge(
        background: Double = 10, kill: Double? = 20, launch: Double = 25, end: Double = 100,
        _ build: (inout ScriptedSession) -> Void = { _ in }
    ) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        session.browse(ScriptedSession.url, at: 4.5)
        session.mark(.background, at: background)
        if let kill {
            session.mark(.kill, at: kill)
            session.mark(.launch, at: launch)
        }
        build(&session)
        session.mark(.end, at: end)
        return try session.judge()["HR-49"]
    }

    private static func report(_ session: inout ScriptedSession, at time: Double, _ text: String) {
        session.exchange(.app, "POST", sentry, at: time, body: #"{"crumb":"\#(text)"}"#)
    }

    @Test(arguments: [(25.0, ["deferred-leak"]), (24.999, [])] as [(Double, [String])])
    func whatLeavesInTheLaunchsOwnMomentWasQueued(time: Double, kinds: [String]) throws {
        #expect(try judge { Self.report(&$0, at: time, ScriptedSession.url) }.violations == kinds)
    }

    @Test func aMinuteIsEnoughToHaveWatched() throws {
        #expect(try judge(end: 85).assumptions.map(\.code).contains("observed-only") == false)
        #expect(try judge(end: 84.999).assumptions.map(\.code).contains("observed-only"))
    }

    /// The window may begin in the moment in which the URL came, and its marks may have one moment.
    @Test func marksInOneMomentAreInOrder() throws {
        #expect(try judge(background: 4.2, kill: 4.2, launch: 4.2).verdict == .pass)
        #expect(try judge(background: 4.199).verdict == .notApplicable, "no background since")
        #expect(try judge(kill: 4.199).verdict == .notApplicable, "no kill since")
        #expect(try judge(launch: 19.999).verdict == .notApplicable, "no launch after the kill")
    }

    /// A page of an earlier session that the browser opens is a URL that is known.
    @Test func aRelaunchAfterAForeignOpeningIsJudged() throws {
        var session = ScriptedSession()
        session.mark(.launch, at: 0)
        session.browse(ScriptedSession.url, at: 4.5)
        session.mark(.background, at: 10)
        session.mark(.kill, at: 20)
        session.mark(.launch, at: 25)
        session.mark(.end, at: 100)
        #expect(try session.judge()["HR-49"].verdict == .pass)
    }

    // MARK: whose token it is

    @Test(arguments: [
        ScriptedSession.url, ScriptedSession.token, String(ScriptedSession.token.dropLast(4)),
    ]) func whatIsOfThisSessionIsNotOfAnEarlierOne(text: String) throws {
        let result = try judge(kill: nil) { Self.report(&$0, at: 6, text) }
        #expect(result.violations == [], "it was sent at once, and is HR-46's: \(result)")
    }

    @Test func aTokenThatTheBrowserOpenedIsNotTheAppsOfBefore() throws {
        let other = String(ScriptedSession.otherURL.suffix(28))
        let opened = try judge(kill: nil) {
            $0.browse(ScriptedSession.otherURL, at: 5)
            Self.report(&$0, at: 6, other)
        }
        #expect(opened.violations == [], "\(opened)")
        let stored = try judge(kill: nil) { Self.report(&$0, at: 6, other) }
        #expect(stored.violations == ["deferred-leak"], "\(stored)")
    }

    @Test func aPageThatMayBeChiasIsAnAssumption() throws {
        let result = try judge {
            $0.exchange(.browser, "POST", Self.sentry, at: 30, body: #"{"crumb":"\#(ScriptedSession.url)"}"#)
        }
        #expect(result.verdict == .pass && result.assumptions.map(\.code).contains("chia-page-by-time"), "\(result)")
    }
}

@Suite struct HR47TokenOnlyToChiaByBrowserBoundaryTests {
    @Test func aPreviewServiceIsNamed() throws {
        let result = try ScriptedSession.conformingShareWith {
            $0.exchange(.nobody, "GET", ScriptedSession.url, at: 20, headers: [("user-agent", "WhatsApp/2.24.1 A")])
        }.judge()["HR-47"]
        #expect(
            result.violations == ["token-sent"] && result.sentence.contains("the link preview service WhatsApp"),
            "\(result)")
    }
}

extension ScriptedSession {
    /// A conforming share, and what `build` adds.
    static func conformingShareWith(_ build: (inout ScriptedSession) -> Void) -> ScriptedSession {
        var session = conformingShare()
        build(&session)
        return session
    }
}
