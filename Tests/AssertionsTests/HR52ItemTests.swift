import SessionTrace
import Testing

@testable import Assertions

/// An item's id that a link service was told before the search knew it, and what only looks like a token.
@Suite struct HR52ItemTests {
    private func judge(item: String = "item-4711-abcdef", target: String = "", body: String = "") throws -> RuleResult {
        var session = ScriptedSession()
        session.options.limits.backlogBytes = 0
        session.mark(.launch, at: 0)
        session.exchange(.app, "POST", "https://api2.branch.io/v1/x\(target)", at: 0.2, body: body)
        session.projection(at: 0.5, item: item)
        session.tap(.cta, at: 20)
        session.tap(.neutral, at: 24)
        session.browse(ScriptedSession.neutral, at: 24.5)
        session.mark(.end, at: 90)
        return try session.judge()["HR-52"]
    }

    @Test(arguments: [("item4711", true), ("item471", false)]) func inTarget(item: String, isFound: Bool) throws {
        let result = try judge(item: item, target: "?i=\(item)")
        #expect(result.violations.isEmpty != isFound, "\(result)")
    }

    @Test(arguments: [("item4711", true), ("item471", false)]) func inBody(item: String, isFound: Bool) throws {
        let result = try judge(item: item, body: #"{"i":"\#(item)"}"#)
        #expect(result.violations.isEmpty != isFound, "\(result)")
    }

    @Test func elsewhere() throws {
        let result = try judge(target: "?i=other-item", body: #"{"i":"another-item"}"#)
        #expect(result.violations == [], "\(result)")
    }

    @Test func aNameIsNoToken() throws {
        let result = try judge(body: #"{"flag":"phs_show_section_header_v2"}"#)
        #expect(result.violations == [], "\(result)")
    }

    /// Of more neutral URLs than are looked for, one may have been told to a link service, if anything was.
    @Test(arguments: [(0, true, nil), (1, true, "state-given-up"), (1, false, nil)] as [(Int, Bool, String?)])
    func moreNeutralURLsThanAreLookedFor(over: Int, isAsked: Bool, code: String?) throws {
        var session = ScriptedSession()
        session.mark(.launch, at: 0)
        for number in 1...SessionModel.neutralURLs + over {
            let decision = ScriptedSession.neutralDecision.split(separator: ScriptedSession.neutral)
                .joined(separator: "\(ScriptedSession.neutral)/\(number)")
            session.exchange(
                .app, "GET", "https://api.partner.example/catalog/item-\(number)-abcdef/handoff",
                at: 0.5 + Double(number) / 100,
                response: #"{"catalogId":"item-\#(number)-abcdef","handoff":\#(decision)}"#)
        }
        if isAsked { session.exchange(.app, "POST", "https://api2.branch.io/v1/x", at: 10) }
        session.tap(.neutral, at: 24)
        session.browse("\(ScriptedSession.neutral)/1", at: 24.5)
        session.mark(.end, at: 90)
        let result = try session.judge()["HR-52"]
        #expect(result.reason?.code == code, "\(result)")
    }
}
