import Assertions
import SessionTrace
import Testing

/// Many messages that name the item in one place and one stretch of ten seconds: the one in the flow counts, wherever it
/// comes. The call to action is tapped at 6, the trace's end is marked at 8.
@Suite struct HR48NoSelectionInTelemetryBookTests {
    private func judge(at times: [Double]) throws -> RuleResult {
        var session = ScriptedSession()
        session.projection(at: 0.5)
        for time in times {
            session.exchange(
                .app, "POST", "https://app-measurement.com/a", at: time, took: 0.01,
                body: #"{"item_id":"item-4711-abcdef"}"#)
        }
        session.tap(.cta, at: 6)
        session.mark(.end, at: 8)
        session.mark(.note, at: 9.5)
        return try session.judge()["HR-48"]
    }

    @Test(arguments: [4, 5, 9]) func theLastOneIsKept(before: Int) throws {
        let result = try judge(at: (0..<before).map { 1 + Double($0) / 10 } + [6.5])
        #expect(result.violations == ["selection-sent"], "\(result)")
    }

    @Test func theFirstOneIsKept() throws {
        let result = try judge(at: [6.5] + (0..<9).map { 8.1 + Double($0) / 10 })
        #expect(result.violations == ["selection-sent"], "\(result)")
    }

    @Test(
        arguments: [
            ([1, 2, 3, 4, 5], nil), ([8.1, 8.2, 8.3, 8.4, 8.5], nil), ([1, 8.2, 8.3, 8.4], nil),
            ([1, 2, 3, 8.2, 8.3], nil), ([1, 2, 3, 4, 8.2, 8.3], "state-given-up"),
        ] as [([Double], String?)]) func whatMayLieBetweenIsNotDecided(times: [Double], code: String?) throws
    {
        let result = try judge(at: times)
        #expect(result.violations == [] && result.reason?.code == code, "\(result)")
    }
}
