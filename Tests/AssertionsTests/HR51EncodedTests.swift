import Assertions
import SessionTrace
import Testing

/// The neutral URL in whatever encoding at a service for links. A projection names it at 0.6, and again at 2.2.
@Suite struct HR51NoShortenerOrPreviewEncodedTests {
    private static let neutral = "https://chia.health/start-your-visit"
    private static let base64 = "aHR0cHM6Ly9jaGlhLmhlYWx0aC9zdGFydC15b3VyLXZpc2l0"

    private func judge(neutral: String = neutral, _ build: (inout ScriptedSession) -> Void) throws -> RuleResult {
        var session = ScriptedSession()
        let decision = ScriptedSession.shareDecision.replacing(ScriptedSession.neutral, with: neutral)
        for time in [0.5, 2.1] {
            session.exchange(
                .app, "GET", "https://api.partner.example/catalog/item-4711-abcdef/handoff", at: time,
                response: #"{"catalogId":"item-4711-abcdef","handoff":\#(decision)}"#)
        }
        session.tap(.cta, at: 2)
        session.tap(.neutral, at: 4)
        session.browse(neutral, at: 4.5)
        build(&session)
        session.mark(.end, at: 90)
        return try session.judge()["HR-51"]
    }

    @Test(arguments: [
        base64, "68747470733a2f2f636869612e6865616c74682f73746172742d796f75722d7669736974",
        "https%253A%252F%252Fchia.health%252Fstart-your-visit", "chia.health/start-your-visit",
    ]) func anyEncodingIsFound(text: String) throws {
        for time in [1.0, 60] {
            let result = try judge {
                $0.exchange(.app, "POST", "https://bit.ly/create", at: time, body: #"{"u":"\#(text)"}"#)
            }
            #expect(result.violations.contains("link-shortened"), "\(text): \(result)")
            #expect(result.violations.filter { $0 == "link-shortened" }.count == 1, "\(text): \(result)")
        }
    }

    @Test func theSentenceNamesIt() throws {
        let result = try judge { $0.exchange(.app, "POST", "https://bit.ly/create", at: 60, body: Self.base64) }
        #expect(result.sentence.contains("gives the neutral URL to a shortener"), "\(result)")
        let browser = try judge { $0.exchange(.browser, "POST", "https://bit.ly/create", at: 60, body: Self.base64) }
        #expect(browser.violations == [], "\(browser)")
    }

    /// The same words in a path of the service's own are no link of Chia's.
    @Test func aPathAloneIsNoLink() throws {
        let result = try judge { $0.exchange(.app, "GET", "https://bit.ly/start-your-visit", at: 1) }
        #expect(result.violations == [], "\(result)")
    }

    @Test(arguments: [(32, nil), (33, "state-given-up")] as [(Int, String?)])
    func moreThanAreLookedForIsNotDecided(count: Int, code: String?) throws {
        func result(contacts: Bool) throws -> RuleResult {
            try judge {
                for index in 1..<count {
                    let decision = ScriptedSession.neutralDecision.replacing(
                        ScriptedSession.neutral, with: "https://chia.health/start-\(index)")
                    $0.exchange(
                        .app, "GET", "https://api.partner.example/catalog/other-\(index)/handoff",
                        at: 5 + Double(index), response: #"{"catalogId":"other-\#(index)","handoff":\#(decision)}"#)
                }
                if contacts { $0.exchange(.browser, "GET", "https://bit.ly/x", at: 80) }
            }
        }
        #expect(try result(contacts: true).reason?.code == code)
        #expect(try result(contacts: false).reason?.code == nil)
    }

    /// The neutral URL is public: nowhere else is it a leak.
    @Test func elsewhereItIsNoLeak() throws {
        var session = ScriptedSession.conformingShare()
        session.exchange(.app, "POST", "https://app-measurement.com/a", at: 60, body: Self.base64)
        session.exchange(.app, "POST", "https://api.partner.example/x", at: 61, body: ScriptedSession.neutral)
        let verdict = try session.judge()
        for id in ["HR-46", "HR-47", "HR-51", "HR-59"] { #expect(verdict[id].verdict == .pass, "\(verdict[id])") }
    }
}
