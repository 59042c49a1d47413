import Assertions
import SessionTrace
import Testing

/// Crafted values that can't be searched for, and those that are something else as well. The return is at 50.
@Suite struct HR63CraftedReturnUnsearchedTests {
    private func judge(
        _ attributes: [String: String], _ story: (inout ScriptedSession) -> Void = { _ in }
    ) throws -> RuleResult {
        try ScriptedSession.result("HR-63", .inTheBrowser()) {
            $0.mark(.return, at: 50, attributes: attributes)
            story(&$0)
        }
    }

    @Test(arguments: ["approved", "123456789012", "paid", "aaaaaaaaaaaaaaaa"])
    func aValueThatIsNotSearchedIsNotDecided(value: String) throws {
        let result = try judge(["url": "https://www.partner.example/?status=\(value)"]) {
            $0.exchange(.app, "GET", "https://api.partner.example/home?s=\(value)", at: 51)
        }
        #expect(result.reason?.code == "crafted-value-too-short", "\(result)")
    }

    @Test func oneThatIsSearchedStandsForTheOthers() throws {
        let link = "https://www.partner.example/?status=paid&c=canary-81c2f0aa"
        let ignored = try judge(["url": link])
        #expect(ignored.verdict == .pass, "\(ignored)")
        #expect(ignored.assumptions.contains { $0.code == "crafted-value-not-searched" }, "\(ignored)")
        let sent = try judge(["url": link]) {
            $0.exchange(.app, "GET", "https://api.partner.example/home?c=canary-81c2f0aa", at: 51)
        }
        #expect(sent.violations == ["crafted-value-sent"], "\(sent)")
        let empty = try judge(["url": "https://www.partner.example/?flag=&c=canary-81c2f0aa"])
        #expect(empty.verdict == .pass && !empty.assumptions.contains { $0.code == "crafted-value-not-searched" })
    }

    /// An item that the app shows is sent before the return already.
    @Test func anItemsIdTellsNothing() throws {
        let result = try judge(["url": "https://www.partner.example/?item=item-4711-abcdef"]) {
            $0.exchange(.app, "GET", "https://api.partner.example/home?i=item-4711-abcdef", at: 51)
        }
        #expect(result.reason?.code == "crafted-value-not-new", "\(result)")
    }

    /// What a mark says of its own test is not searched for, and takes nothing from the rules that do search for it.
    @Test(arguments: [["item": "item-4711-abcdef"], ["ref": "item-4711-abcdef"], ["ref": "2026-03"]])
    func theItemIsStillLookedForInTelemetry(attributes: [String: String]) throws {
        var session = ScriptedSession()
        session.mark(.return, at: 0.2, attributes: attributes)
        session.projection(at: 0.5)
        session.tap(.cta, at: 2)
        session.exchange(
            .app, "POST", "https://app-measurement.com/a", at: 5,
            body: #"{"p":"item-4711-abcdef","disclosureVersion":"2026-03"}"#)
        session.mark(.end, at: 90)
        let result = try session.judge()["HR-48"]
        #expect(result.violations == ["selection-sent", "selection-sent"], "\(result)")
    }
}
