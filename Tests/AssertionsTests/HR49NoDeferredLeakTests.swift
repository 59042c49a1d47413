import SessionTrace
import Testing

@testable import Assertions

@Suite struct HR49NoDeferredLeakTests {
    private static let sentry = "https://o4507.ingest.sentry.io/api/1/envelope/"

    /// A share, a background, and what a test does after it.
    private func judge(
        kill: Bool = true, launch: Bool = true, background: Bool = true,
        _ change: (inout ScriptedSession) -> Void = { _ in }
    ) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        session.mark(.opened, at: 4.3)
        session.browse(ScriptedSession.url, at: 4.5)
        if background { session.mark(.background, at: 4.9) }
        if kill { session.mark(.kill, at: 20) }
        if launch { session.mark(.launch, at: 25) }
        change(&session)
        session.mark(.end, at: 100)
        return try session.judge()["HR-49"]
    }

    @Test func aLaunchThatSendsNothingPasses() throws {
        let result = try judge { $0.exchange(.app, "POST", Self.sentry, at: 26, body: "{}") }
        #expect(result.verdict == .pass, "\(result.sentence)")
        #expect(result.sentence.contains("75 s") && result.sentence.contains("1 crash reporter"))
        #expect(result.assumptions.map(\.code).contains("crash-not-forced"))
    }

    @Test(arguments: [
        ("phs_show_section_header_v2", false), ("phs_Zq8vK2mT5xR1bN7cJ4wL9dF3", true),
    ]) func aNameThatReadsLikeAWordIsNoTokenOfAnotherSession(text: String, isToken: Bool) throws {
        let result = try judge { $0.exchange(.app, "POST", Self.sentry, at: 26, body: "{\"flag\":\"\(text)\"}") }
        #expect(result.violations.isEmpty != isToken, "\(result)")
    }

    @Test func aForcedCrashIsNoAssumption() throws {
        let result = try judge {
            $0.mark(.scenario, at: 0.05, attributes: ["run": "forced-crash"])
            $0.exchange(.app, "POST", Self.sentry, at: 26, body: "{}")
        }
        #expect(!result.assumptions.map(\.code).contains("crash-not-forced"))
    }

    @Test func theQueuedReportFails() throws {
        let result = try judge {
            $0.exchange(.app, "POST", Self.sentry, at: 26, body: #"{"crumb":"\#(ScriptedSession.url)"}"#)
        }
        #expect(result.verdict == .fail)
        #expect(result.findings.map(\.kind) == ["deferred-leak"])
        #expect(result.sentence.contains("1 s after the app was launched again"))
        #expect(result.sentence.contains("Sentry"))
    }

    /// Adversarial pair: the same report before the launch is HR-46's matter.
    @Test func theSameReportBeforeTheLaunchIsNotDeferred() throws {
        let result = try judge {
            $0.exchange(.app, "POST", Self.sentry, at: 24.9, body: #"{"crumb":"\#(ScriptedSession.url)"}"#)
        }
        #expect(result.verdict == .pass, "\(result.sentence)")
    }

    @Test func withoutAWindowACrashReporterLeavesItOpen() throws {
        for (kill, launch, background) in [(false, true, true), (true, false, true), (true, true, false)] {
            let result = try judge(kill: kill, launch: launch, background: background) {
                $0.exchange(.app, "POST", Self.sentry, at: 26, body: "{}")
            }
            #expect(result.reason?.code == "no-deferred-window", "\(result.sentence)")
            #expect(result.sentence.contains("Sentry"))
        }
    }

    @Test func withoutAWindowAndACrashReporterThereIsNothingToJudge() throws {
        #expect(try judge(kill: false, launch: false).verdict == .notApplicable)
    }

    @Test func aLaunchBeforeTheKillIsNoWindow() throws {
        let result = try judge(launch: false) {
            $0.mark(.launch, at: 10)
            $0.exchange(.app, "POST", Self.sentry, at: 26, body: "{}")
        }
        #expect(result.reason?.code == "no-deferred-window")
    }

    @Test func aTokenOfAnEarlierSessionIsDeferred() throws {
        let result = try judge(kill: false, launch: false) {
            $0.exchange(.app, "POST", Self.sentry, at: 0.4, body: "u=phs_Aq1Bw2Ce3Dr4Et5Fy6Gu7")
        }
        #expect(result.verdict == .fail, "\(result.sentence)")
        #expect(result.sentence.contains("no session of this trace"))
    }

    @Test func theBrowsersNavigationToAnOlderURLIsWhatURLsAreFor() throws {
        let result = try judge { $0.browse(ScriptedSession.otherURL, at: 30) }
        #expect(result.verdict == .pass, "\(result.sentence)")
    }

    @Test func aPageOfChiaIsNotTheApp() throws {
        let result = try judge {
            $0.exchange(
                .browser, "GET", "https://www.google-analytics.com/collect?dl=\(ScriptedSession.token)", at: 30,
                headers: [("referer", ScriptedSession.url)])
        }
        #expect(result.verdict == .pass, "\(result.sentence)")
        // Once in the query, once in the Referer.
        #expect(result.findings.map(\.kind) == ["not-the-app", "not-the-app"])
    }

    @Test func unreadTrafficAfterTheLaunchIsNotDecided() throws {
        #expect(
            try judge { $0.dark(.app, "o4507.ingest.sentry.io", at: 26, lastData: 27) }.reason?.code
                == "opaque-telemetry")
        #expect(try judge { $0.dark(.app, "o4507.ingest.sentry.io", at: 10, lastData: 11) }.verdict == .pass)
    }

    @Test func aShortWatchIsSaid() throws {
        let result = try judge(launch: false) { $0.mark(.launch, at: 50) }
        #expect(
            result.assumptions.contains { $0.code == "observed-only" && $0.sentence.contains("50 s after the launch") })
    }

    @Test func anUnknownSenderCountsAndToChiaIsNotDecided() throws {
        #expect(
            try judge { $0.exchange(.nobody, "POST", Self.sentry, at: 30, body: ScriptedSession.token) }.verdict
                == .fail)
        #expect(
            try judge { $0.exchange(.disguised, "GET", ScriptedSession.url, at: 30) }.reason?.code == "actor-unknown")
    }
}

/// Tokens that leave in pieces (HR-46, HR-47).
@Suite struct SplitLeakTests {
    private static let collector = "https://api2.amplitude.com/i"
    private static let body = String(ScriptedSession.token.dropFirst(4))

    private func judge(_ change: (inout ScriptedSession) -> Void) throws -> TraceVerdict {
        var session = ScriptedSession.conformingShare()
        change(&session)
        return try session.judge()
    }

    @Test func smallPiecesInTheQueriesOfOneReceiverAreOneLeak() throws {
        let token = ScriptedSession.token
        let parts = stride(from: 0, to: token.count, by: 4).map { start in
            String(token.dropFirst(start).prefix(4))
        }
        let verdict = try judge { session in
            for (number, part) in parts.enumerated() {
                session.exchange(.app, "GET", "\(Self.collector)?n=\(number)&p=\(part)", at: 10 + Double(number))
            }
        }
        #expect(verdict["HR-46"].findings.map(\.kind) == ["split-leak"], "\(verdict.story)")
        #expect(verdict["HR-46"].verdict == .fail && verdict["HR-46"].severity == .error)
        #expect(verdict["HR-47"].verdict == .fail)
        #expect(!verdict.story.contains(Self.body))
    }

    @Test func piecesFurtherApartThanAMinuteAreNone() throws {
        let verdict = try judge { session in
            session.exchange(.app, "GET", "\(Self.collector)?p=\(ScriptedSession.token.prefix(11))", at: 10)
            session.exchange(.app, "GET", "\(Self.collector)?p=\(ScriptedSession.token.dropFirst(11))", at: 70.1)
        }
        #expect(!verdict["HR-46"].findings.contains { $0.kind == "split-leak" }, "\(verdict.story)")
    }

    @Test func largePiecesInBodiesInOrderAreOneLeak() throws {
        func kinds(_ parts: [Substring]) throws -> [String] {
            try judge { session in
                for (number, part) in parts.enumerated() {
                    session.exchange(
                        .app, "POST", Self.collector, at: 10 + Double(number), body: #"{"k":"\#(part)"}"#)
                }
            }["HR-46"].findings.map(\.kind)
        }
        let first = Self.body.prefix(12)
        let second = Self.body.dropFirst(12)
        #expect(try kinds([first, second]) == ["split-leak"])
        #expect(try kinds([second, first]) == [], "not in order")
        #expect(try kinds([first]) == [])
    }

    @Test func oneTellingPieceIsAWarning() throws {
        let verdict = try judge { session in
            session.exchange(.app, "POST", Self.collector, at: 10, body: #"{"k":"x\#(Self.body.prefix(17))"}"#)
        }
        #expect(verdict["HR-46"].findings.map(\.kind) == ["partial-leak"], "\(verdict.story)")
        #expect(verdict["HR-46"].severity == .warning)
        let short = try judge { session in
            session.exchange(.app, "POST", Self.collector, at: 10, body: #"{"k":"x\#(Self.body.prefix(15))"}"#)
        }
        #expect(short["HR-46"].findings.isEmpty, "\(short.story)")
    }

    @Test func labelsOfSeveralNamesAreOneLeak() throws {
        let token = ScriptedSession.token.lowercased()
        let verdict = try judge { session in
            session.lookup("\(token.prefix(14)).drop.example", at: 10)
            session.lookup("\(token.dropFirst(14)).drop.example", at: 11)
        }
        #expect(verdict["HR-47"].findings.map(\.kind) == ["split-leak"], "\(verdict.story)")
    }

    @Test func piecesToChiaByTheBrowserAreNone() throws {
        let verdict = try judge { session in
            session.browse("https://chia.health/a?p=\(ScriptedSession.token.prefix(11))", at: 10)
            session.browse("https://chia.health/a?p=\(ScriptedSession.token.dropFirst(11))", at: 11)
        }
        #expect(verdict["HR-47"].verdict == .pass, "\(verdict.story)")
    }

    @Test func theOwnersOfNames() {
        #expect(SplitWatch.domain(of: HostName("a.b.example.com")) == "example.com")
        #expect(SplitWatch.domain(of: HostName("a.example.co.uk")) == "example.co.uk")
        #expect(SplitWatch.domain(of: HostName("example.com")) == "example.com")
        #expect(SplitWatch.domain(of: HostName("192.0.2.7")) == "192.0.2.7")
    }
}
