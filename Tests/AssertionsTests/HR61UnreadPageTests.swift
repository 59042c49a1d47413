import SessionTrace
import Testing

@testable import Assertions

/// One link back that was seen does not stand for those in what could not be read.
@Suite struct HR61UnreadPageTests {
    private func judge(policy: String? = nil, _ story: (inout ScriptedSession) -> Void) throws -> RuleResult {
        var session = ScriptedSession.inTheBrowser()
        if let policy { session.policyText = policy }
        session.browse(
            "https://chia.health/back", at: 30, status: 302,
            responseHeaders: [("location", "https://www.partner.example/")])
        return try ScriptedSession.result("HR-61", session, story)
    }

    private static func page(
        _ session: inout ScriptedSession, _ html: String, coding: String? = nil, type: String = "text/html"
    ) {
        session.exchange(
            .browser, "GET", "https://chia.health/done", at: 40, response: html,
            responseHeaders: [("content-type", type)] + (coding.map { [("content-encoding", $0)] } ?? []),
            isNavigation: true)
    }

    @Test func whatWasReadPasses() throws {
        #expect(try judge { Self.page(&$0, "<a href='https://www.partner.example/'>x</a>") }.verdict == .pass)
        #expect(try judge { Self.page(&$0, "{}", coding: "exotic", type: "application/json") }.verdict == .pass)
    }

    @Test func aPageInACodingIsNotDecided() throws {
        #expect(try judge { Self.page(&$0, "abcdef", coding: "exotic") }.reason?.code == "undecodable-content")
        let none = try judge(policy: "hosts: {partner: [api.partner.example]}") {
            Self.page(&$0, "abcdef", coding: "exotic")
        }
        #expect(none.reason == nil, "\(none)")
    }

    /// A link back is on a page of Chia's in the browser, not in what the app loads, nor on other pages.
    @Test(arguments: [(.app, "chia.health"), (.browser, "shop.example")] as [(ScriptedSession.Who, String)])
    func whatIsNoPageOfChiasHoldsNoLink(who: ScriptedSession.Who, host: String) throws {
        let result = try judge {
            $0.exchange(
                who, "GET", "https://\(host)/done", at: 40, response: "abcdef",
                responseHeaders: [("content-type", "text/html"), ("content-encoding", "exotic")],
                isNavigation: who == .browser)
        }
        #expect(result.verdict == .pass, "\(result)")
    }

    @Test(arguments: [(0, nil), (1, "decode-budget")] as [(Int, String?)]) func aLongPageIsNotDecided(
        over: Int, code: String?
    ) throws {
        let result = try judge { Self.page(&$0, String(repeating: "x", count: ReturnLink.pageLength + over)) }
        #expect(result.reason?.code == code, "\(result)")
    }

    @Test func unreadTrafficIsNotDecidedThoughALinkWasSeen() throws {
        #expect(try judge { $0.dark(.browser, "chia.health", at: 20, lastData: 30) }.reason?.code == "no-keys")
    }
}
