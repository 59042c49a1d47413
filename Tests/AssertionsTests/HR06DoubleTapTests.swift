import Assertions
import SessionTrace
import Testing

/// A call to action that is tapped twice is asked about from its first tap on.
@Suite struct HR06DoubleTapTests {
    /// Calls to action at 100 and at `second`, a projection that is delivered at `delivered`, and a share tap at 104.
    private func judge(
        second: Double = 100.3, delivered: Double, items: (String?, String?) = (nil, nil),
        _ build: (inout ScriptedSession) -> Void = { _ in }
    ) throws -> RuleResult {
        var session = ScriptedSession()
        session.mark(.launch, at: 0)
        session.fetch(at: 0.5)
        for (time, item) in [(100, items.0), (second, items.1)] {
            session.mark(.tap, .cta, at: time, attributes: item.map { ["item": $0] } ?? [:])
        }
        session.fetch(at: delivered - 0.05, took: 0.05)
        session.tap(.share, at: 104)
        session.share(at: 104.5)
        build(&session)
        session.mark(.end, at: 200)
        return try session.judge()["HR-06"]
    }

    @Test(arguments: [(99.999, false), (100.001, true), (100.299, true), (100.4, true)])
    func theFirstTapIsTheLowerBound(delivered: Double, isFresh: Bool) throws {
        let result = try judge(delivered: delivered)
        #expect((result.verdict == .pass) == isFresh, "\(result)")
        #expect(result.sentence.contains("1 call to action") || !isFresh)
    }

    /// What else is tapped between makes two calls of what would be a double tap.
    @Test(arguments: [(100.1, false), (100.3, true), (99.9, true)]) func anotherTapBetweenEndsIt(
        time: Double, isOne: Bool
    )
        throws
    {
        let result = try judge(delivered: 100.2) { $0.tap(.other, at: time) }
        #expect((result.verdict == .pass) == isOne, "\(result)")
    }

    /// A third tap within the double-tap time of the second one belongs to them too.
    @Test func aTripleTapIsOneCall() throws {
        let result = try judge(delivered: 100.1) { $0.tap(.cta, at: 100.7) }
        #expect(result.verdict == .pass, "\(result)")
        #expect(result.sentence == "1 call to action, 1 with a projection before the action tap")
    }

    @Test(arguments: [(100.5, true), (100.501, false)]) func aLaterTapIsACallOfItsOwn(
        second: Double, isOne: Bool
    ) throws {
        let result = try judge(second: second, delivered: 100.2)
        #expect((result.verdict == .pass) == isOne, "\(result)")
    }

    @Test(
        arguments: [
            ("item-4711-abcdef", "item-4711-abcdef", true), ("item-0815-abcdef", "item-4711-abcdef", false),
            (nil, "item-4711-abcdef", true),
        ] as [(String?, String?, Bool)]) func tapsOnTwoItemsAreTwoCalls(first: String?, second: String?, isOne: Bool)
        throws
    {
        let result = try judge(delivered: 100.2, items: (first, second))
        #expect((result.verdict == .pass) == isOne, "\(result)")
    }

    /// By hand the next call's mark may be late, but not before what the action tap in between led to.
    @Test func aNextCallMarkedByHandTakesNothingAway() throws {
        var session = ScriptedSession()
        session.fetch(at: 0.5)
        session.mark(.tap, .cta, at: 100, by: .person)
        session.fetch(at: 100.5)
        session.mark(.tap, .share, at: 101, by: .person)
        session.share(at: 101.3)
        session.mark(.tap, .cta, at: 103, by: .person)
        session.mark(.end, at: 200)
        let result = try session.judge()["HR-06"]
        #expect(result.sentence == "1 call to action, 1 with a projection before the action tap", "\(result)")
    }

    /// A good call to action says nothing of what may have followed another one unread.
    @Test func unreadSessionTrafficLeavesItOpen() throws {
        let result = try judge(delivered: 100.2) {
            $0.tap(.cta, at: 120)
            $0.dark(.app, "api.partner.example", at: 121, lastData: 122)
        }
        #expect(result.verdict == .inconclusive && result.reason?.code == "no-keys", "\(result)")
    }
}
