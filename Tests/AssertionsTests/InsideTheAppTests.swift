import SessionTrace
import Testing

@testable import Assertions

/// A page of Chia's that the app opened in a web view of its own.
@Suite struct InsideTheAppTests {
    private static let view = [("user-agent", ScriptedSession.webView)]

    private func session(_ change: (inout ScriptedSession) -> Void = { _ in }) throws -> TraceVerdict {
        var session = ScriptedSession.upToTap()
        session.policyText = ScriptedSession.returnPolicy
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        session.browse(ScriptedSession.url, at: 4.5, headers: Self.view)
        change(&session)
        session.mark(.end, at: 100)
        return try session.judge()
    }

    @Test func theMissingNavigationNamesTheView() throws {
        let verdict = try session()
        let result = verdict["HR-09"]
        #expect(result.violations == ["no-navigation"], "\(verdict.story)")
        #expect(result.sentence.contains("opened in a web view of the app"))
        #expect(!result.sentence.contains("was seen"))
        #expect(result.findings[0].evidence.contains { $0.label == "opening in a web view" })
        #expect(verdict["HR-33"].verdict == .fail)
        let neither = try ScriptedSession.shared {
            $0.exchange(.browser, "GET", "https://news.example/", at: 9)
        }.judge()["HR-09"]
        #expect(neither.violations == ["no-navigation"] && !neither.sentence.contains("web view"), "\(neither)")
    }

    @Test func theNeutralPageInAViewIsNamedToo() throws {
        let result = try ScriptedSession.goneNeutral {
            $0.browse(ScriptedSession.neutral, at: 4.2, headers: Self.view)
        }.judge()["HR-09"]
        #expect(result.violations == ["no-navigation"], "\(result)")
        #expect(result.sentence.contains("the neutral URL: it was opened in a web view"))
    }

    @Test func theBrowsersOpeningBesideItCounts() throws {
        let result = try session { $0.browse(ScriptedSession.url, at: 6) }["HR-09"]
        #expect(result.verdict != .fail, "\(result)")
    }

    // HR-65: such a page may call back like any other.

    private func call(_ headers: [(String, String)], status: Int = 200) throws -> RuleResult {
        try session {
            $0.exchange(
                .app, "POST", "https://api.partner.example/done", at: 20, status: status,
                headers: Self.view + headers, body: "{}")
        }["HR-65"]
    }

    @Test func aPageOfChiasInAViewIsJudged() throws {
        let result = try session()["HR-65"]
        #expect(result.verdict == .pass, "\(result)")
        #expect(result.sentence.contains("(1 in a web view of the app)"))
        #expect(try ScriptedSession.inTheBrowser().judge()["HR-65"].sentence.contains("web view") == false)
    }

    @Test func itsCallbackFails() throws {
        let result = try call([("origin", "https://chia.health")])
        #expect(result.violations == ["callback"] && result.sentence.contains("web view of the app"), "\(result)")
        let redirected = try session {
            $0.exchange(
                .app, "GET", "https://chia.health/out", at: 19, status: 302, headers: Self.view,
                responseHeaders: [("location", "https://api.partner.example/done")])
            $0.exchange(.app, "GET", "https://api.partner.example/done", at: 20, headers: Self.view)
        }["HR-65"]
        #expect(redirected.violations == ["callback"], "\(redirected)")
    }

    @Test func theAppsOwnPagesInAViewAreNoCallback() throws {
        #expect(try call([]).verdict == .pass)
        #expect(try call([("origin", "https://localhost")]).verdict == .pass)
        #expect(try call([("sec-fetch-site", "cross-site")]).reason?.code == "initiator-unknown")
    }
}

/// HR-49 looks at tokens in pieces too, and HR-18 says what to do about a host that the policy does not name.
@Suite struct LeakRemedyTests {
    private static let collector = "https://o4507.ingest.sentry.io/api/1/store/"

    private func pieces(at time: Double, token: String = ScriptedSession.token, foreign: Bool = false) throws
        -> RuleResult
    {
        var session = ScriptedSession.upToTap()
        if foreign { session.options.foreignTokens = [Secret(token)] }
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        session.browse(ScriptedSession.url, at: 4.5)
        session.mark(.background, at: 4.9)
        session.mark(.kill, at: 20)
        session.mark(.launch, at: 25)
        for (number, start) in stride(from: 0, to: token.count, by: 4).enumerated() {
            session.exchange(
                .app, "GET", "\(Self.collector)?n=\(number)&p=\(token.dropFirst(start).prefix(4))",
                at: time + Double(number) / 10)
        }
        session.mark(.end, at: 100)
        return try session.judge()["HR-49"]
    }

    @Test func aTokenInPiecesAfterTheLaunchIsADeferredLeak() throws {
        let late = try pieces(at: 26)
        #expect(late.verdict == .fail && late.violations == ["split-leak"], "\(late)")
        #expect(try pieces(at: 10).violations.isEmpty, "before the launch it is HR-46's matter")
        let earlier = try pieces(at: 10, token: "phs_Aq1Bw2Ce3Dr4Et5Fy6Gu7", foreign: true)
        #expect(earlier.violations == ["split-leak"], "\(earlier)")
    }

    @Test func anotherHostThanThePartnersHasARemedy() throws {
        var session = ScriptedSession.conformingShare()
        session.share(at: 60, key: ScriptedSession.key2, host: "gateway.partner2.example")
        let result = try session.judge()["HR-18"]
        #expect(result.violations == ["session-to-other-host"])
        #expect(
            result.sentence.contains(
                "add it in handoff.yml:  hosts: {partner: [api.partner.example, gateway.partner2.example]}"),
            "\(result.sentence)")
    }
}

/// Tokens of a set are taught once, and a trace says which of them it holds.
@Suite struct ForeignTokensTests {
    private static let yesterday = Secret("phs_Aq1Bw2Ce3Dr4Et5Fy6Gu7")
    private static let other = Secret("phs_Ks8Jd7Hf6Gg5Ha4Zs3Xd2")

    private func seen(_ change: (inout ScriptedSession) -> Void) throws -> [Secret] {
        var session = ScriptedSession.conformingShare()
        change(&session)
        var options = session.options
        options.foreign = ForeignTokens(
            [Self.yesterday, Self.other, Secret(ScriptedSession.token)], digestKeys: [], installationKey: [])
        var judge = SessionJudge(policy: .defaults, options: options)
        for event in session.events() { judge.receive(event) }
        _ = judge.finish()
        return judge.foreignTokensSeen.filter { $0 != Secret(ScriptedSession.token) }
    }

    private static let body = String(decoding: yesterday.bytes, as: UTF8.self)

    @Test func whatNoMessageHoldsIsNotSeen() throws {
        #expect(try seen { _ in } == [])
    }

    @Test(arguments: ["body", "query", "message", "lookup", "answer", "pieces"]) func eachPlaceIsSearched(place: String)
        throws
    {
        let token = Self.body
        let found = try seen { session in
            switch place {
            case "body": session.exchange(.app, "POST", "https://logs.vendor.example/", at: 20, body: "t=\(token)")
            case "query": session.exchange(.app, "GET", "https://logs.vendor.example/?t=\(token)", at: 20)
            case "message":
                let opened = session.exchange(.app, "GET", "https://logs.vendor.example/ws", at: 20, status: 101)
                session.message(opened, Array("{\"t\":\"\(token)\"}".utf8), at: 21)
            case "lookup": session.lookup("\(token.lowercased()).x.example", at: 20)
            case "answer":
                session.exchange(
                    .app, "GET", "https://api.partner.example/config", at: 20, response: #"{"t":"\#(token)"}"#)
            default:
                for (number, start) in stride(from: 0, to: token.count, by: 4).enumerated() {
                    session.exchange(
                        .app, "GET", "https://logs.vendor.example/?p=\(token.dropFirst(start).prefix(4))",
                        at: 20 + Double(number))
                }
            }
        }
        #expect(found == [Self.yesterday])
    }

    @Test func withoutASearchNothingIsSeen() {
        var judge = SessionJudge(policy: .defaults, options: JudgeOptions())
        for event in ScriptedSession.conformingShare().events() { judge.receive(event) }
        _ = judge.finish()
        #expect(judge.foreignTokensSeen.isEmpty)
    }

    /// The scanner that all traces share is not changed by what one of them learns.
    @Test func oneTraceLeavesNothingForTheNext() throws {
        var options = JudgeOptions()
        options.foreign = ForeignTokens([Self.other], digestKeys: [], installationKey: [])
        for _ in 0..<2 {
            var session = ScriptedSession.conformingShare()
            session.exchange(
                .app, "POST", "https://logs.vendor.example/", at: 20,
                body: "t=\(String(decoding: Self.other.bytes, as: UTF8.self))")
            var judge = SessionJudge(policy: .defaults, options: options)
            for event in session.events() { judge.receive(event) }
            _ = judge.finish()
            #expect(judge.foreignTokensSeen == [Self.other])
            #expect(options.foreign?.needles.count(of: .handoffURL) == 0)
        }
    }
}
