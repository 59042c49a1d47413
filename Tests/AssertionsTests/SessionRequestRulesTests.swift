import Assertions
import SessionTrace
import Testing

/// One session in which every rule about session requests has something to judge, and what takes their verdict away.
@Suite struct SessionRequestRulesTests {
    static let all = [
        "HR-06", "HR-10", "HR-12", "HR-15", "HR-16", "HR-17", "HR-18", "HR-19", "HR-20", "HR-21", "HR-22", "HR-23",
        "HR-24", "HR-25",
    ]
    /// Those that look at session requests alone.
    static let ofRequests = all.filter { $0 != "HR-06" && $0 != "HR-25" }

    /// A rejected share, a new one that succeeds and is opened, and later the neutral way.
    private func session(path: String = "/handoff-session") -> ScriptedSession {
        var session = ScriptedSession()
        session.policyText += "fields: {affirmed: /affirmed}\n"
        session.mark(.launch, at: 0)
        session.mark(.note, at: 0.1, until: 0.15, attributes: ["deviceTime": ScriptedSession.instant(0.12).rfc3339])
        session.fetch(at: 0.5)
        session.tap(.cta, at: 2)
        session.fetch(at: 2.1)
        session.tap(.share, at: 4)
        session.share(
            at: 4.1, body: ScriptedSession.shareBody(affirmedAt: ScriptedSession.stamp(4.05)), status: 422, path: path,
            headers: [("cookie", "sid=1")])
        session.fetch(at: 5)
        session.tap(.share, at: 8)
        session.share(
            at: 8.1, key: ScriptedSession.key2,
            body: ScriptedSession.shareBody(affirmedAt: ScriptedSession.stamp(8.05)), path: path,
            headers: [("cookie", "sid=1")])
        session.mark(.opened, at: 8.3)
        session.browse(ScriptedSession.url, at: 8.5)
        session.mark(.foreground, at: 60)
        session.fetch(at: 60.5)
        session.tap(.cta, at: 61)
        session.fetch(at: 61.2)
        session.tap(.neutral, at: 62)
        session.browse(ScriptedSession.neutral, at: 62.4)
        session.mark(.end, at: 200)
        return session
    }

    @Test(arguments: all) func allPass(id: String) throws {
        let verdict = try session().judge()
        #expect(verdict[id].verdict == .pass, "\(verdict.story)")
        #expect(verdict[id].assumptions.isEmpty, "\(verdict.story)")
        #expect(!verdict[id].lookedAt.isEmpty)
    }

    @Test(arguments: ofRequests + ["HR-25"]) func unreadSessionTrafficLeavesThemOpen(id: String) throws {
        var session = session()
        session.dark(.app, "api.partner.example", at: 100, lastData: 101)
        #expect(try session.judge()[id].reason?.code == "no-keys")
    }

    @Test(arguments: ofRequests) func aRequestFoundByItsShapeLeavesThemOpen(id: String) throws {
        #expect(try session(path: "/api/start").judge()[id].reason?.code == "policy-mismatch")
    }

    @Test(arguments: ofRequests) func aShareTapWithoutARequestLeavesThemOpen(id: String) throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.mark(.end, at: 60)
        #expect(try session.judge()[id].reason?.code == "policy-mismatch")
    }

    @Test(arguments: ofRequests + ["HR-06"]) func aPartnerThatWasInferredIsAnAssumption(id: String) throws {
        var session = session()
        session.policyText = ""
        let result = try session.judge()[id]
        #expect(result.assumptions.map(\.code) == ["partner-inferred"], "\(result.sentence)")
    }

    @Test(arguments: ["HR-06", "HR-10", "HR-22", "HR-23", "HR-25"]) func contradictingMarksLeaveThemOpen(id: String)
        throws
    {
        var session = session()
        session.mark(.background, at: 70, id: "x")
        session.mark(.foreground, at: 70, id: "x")
        #expect(try session.judge()[id].reason?.code == "marks-inconsistent")
    }

    @Test(arguments: ["HR-10", "HR-25"]) func trafficAroundTheProxyLeavesThemOpen(id: String) throws {
        var session = session()
        let connection = session.connect(.browser, "other.example", at: 100)
        session.blindSpot(.bypass, from: nil, at: 100, until: 101, on: connection)
        #expect(try session.judge()[id].reason?.code == "bypass")
    }

    @Test(arguments: ["HR-06", "HR-10", "HR-17", "HR-23", "HR-25"]) func whatAnUnreadableMarkSaysMayExcuse(id: String)
        throws
    {
        var session = ScriptedSession()
        session.unreadableMarks = ["packet 7"]
        session.fetch(at: 0.5)
        session.tap(.cta, at: 2)
        session.tap(.share, at: 4)
        session.share(
            at: 4.1, body: ScriptedSession.shareBody(affirmedAt: #""yesterday""#), took: 2)
        session.browse(ScriptedSession.neutral, at: 5)
        session.share(at: 30, key: ScriptedSession.key2, url: ScriptedSession.otherURL)
        session.tap(.neutral, at: 40)
        session.browse(ScriptedSession.neutral, at: 40.5)
        session.share(at: 41, key: "18d31f0a-92b7-4e06-a4cb-7749f00d52e8", url: ScriptedSession.otherURL + "x")
        session.mark(.end, at: 200)
        #expect(try session.judge()[id].reason?.code == "unreadable-mark")
        session.unreadableMarks = []
        #expect(try session.judge()[id].verdict == .fail)
    }
}
