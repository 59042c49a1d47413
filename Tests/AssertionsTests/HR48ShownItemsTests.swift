import Assertions
import SessionTrace
import Testing

/// A shop shows more items than are looked for. The call to action is tapped at 30.
@Suite struct HR48NoSelectionInTelemetryShownItemsTests {
    private static func id(_ number: Int) -> String { "item-\(4_700 + number)-abcdef" }

    private func judge(
        shown: Int, refreshed: Double?, share: Bool = false, sent: Double = 31.5
    ) throws -> RuleResult {
        var session = ScriptedSession()
        for number in 0..<shown { session.fetch(at: 1 + Double(number), item: Self.id(number)) }
        let last = Self.id(shown - 1)
        session.tap(.cta, at: 30)
        if let refreshed { session.fetch(at: refreshed, took: 0.1, item: last) }
        session.exchange(
            .app, "POST", "https://app-measurement.com/a", at: sent, body: #"{"p":"\#(last)"}"#)
        if share {
            session.tap(.share, at: 34)
            session.share(at: 34.1, body: ScriptedSession.shareBody(item: last))
        }
        session.mark(.end, at: 120)
        return try session.judge()["HR-48"]
    }

    @Test func theFirstOnesAreLookedFor() throws {
        let result = try judge(shown: 16, refreshed: nil)
        #expect(result.violations == ["selection-sent"], "\(result)")
    }

    @Test func oneMoreIsNotDecided() throws {
        let result = try judge(shown: 17, refreshed: nil)
        #expect(result.violations == [] && result.reason?.code == "state-given-up", "\(result)")
    }

    @Test(arguments: [30.1, 39.9]) func whatIsShownAfterTheTapIsLookedFor(time: Double) throws {
        let result = try judge(shown: 17, refreshed: time)
        #expect(result.violations == ["selection-sent"], "\(result)")
    }

    @Test func muchLaterItIsAnItemAsOthersAre() throws {
        #expect(try judge(shown: 17, refreshed: 40.1).reason?.code == "state-given-up")
    }

    @Test func whatIsSharedIsLookedForInWhatWasSentBefore() throws {
        let result = try judge(shown: 17, refreshed: nil, share: true)
        #expect(result.violations == ["selection-sent"], "\(result)")
    }
}
