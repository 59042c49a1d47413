import Assertions
import SessionTrace
import Testing

/// The ends of the window in which an affirmation may lie, to the last digit of its stamp.
@Suite struct HR23AffirmativeTimestampPlausibleBoundaryTests {
    /// A stamp of whole milliseconds: it is right by one of them either way.
    private static func stamp(_ seconds: Double) -> String {
        "\"\(ScriptedSession.instant(seconds).rfc3339.prefix(23))Z\""
    }

    /// A share tap at `tap` and its request at 42; by the sample the device's clock is −30 … 20 ms ahead.
    private func judge(
        _ seconds: Double, tap: Double = 40, isTold: Bool = true, _ more: (inout ScriptedSession) -> Void = { _ in }
    ) throws -> RuleResult {
        var session = ScriptedSession()
        session.fetch(at: 0.5)
        if isTold {
            session.mark(
                .note, at: 10, until: 10.05, attributes: ["deviceTime": ScriptedSession.instant(10.02).rfc3339])
        }
        session.tap(.share, at: tap)
        session.share(at: 42, body: ScriptedSession.shareBody(affirmedAt: Self.stamp(seconds)))
        more(&session)
        session.mark(.end, at: 200)
        return try session.judge()["HR-23"]
    }

    @Test(
        arguments: [
            (37.968, ["affirmed-too-early"]), (37.969, []), (42.021, []), (42.022, ["affirmed-too-late"]),
        ] as [(Double, [String])]) func theEndsOfTheWindowAreInIt(seconds: Double, kinds: [String]) throws
    {
        #expect(try judge(seconds).violations == kinds)
    }

    /// A tap in the request's own moment made it, and a disclosure in the tap's own moment was shown before it.
    @Test func whatHappensInOneMomentIsInOrder() throws {
        #expect(try judge(39.5, tap: 42).violations == ["affirmed-too-early"])
        #expect(try judge(39.5, tap: 42.001).verdict == .pass, "a tap after the request is another one's")
        #expect(try judge(38.5) { $0.mark(.jitShown, at: 40) }.violations == ["affirmed-too-early"])
        #expect(try judge(38.5) { $0.mark(.jitShown, at: 40.001) }.verdict == .pass)
    }

    @Test(
        arguments: [
            (37.998, "device-clock-unknown"), (37.999, nil), (42.001, nil), (42.002, "device-clock-unknown"),
        ] as [(Double, String?)]) func withoutASampleTheEndsFitTheTracesClock(seconds: Double, code: String?) throws
    {
        let result = try judge(seconds, isTold: false)
        #expect(result.reason?.code == code, "\(result)")
        #expect(result.assumptions.map(\.code) == (code == nil ? ["device-clock"] : []))
    }

    /// The first stamp fits a clock that is −1.001 … 3.001 s ahead.
    @Test(
        arguments: [
            (96.997, ["affirmed-apart"]), (96.998, []), (105.002, []), (105.003, ["affirmed-apart"]),
        ] as [(Double, [String])]) func oneClockMayBeRightForTwoStampsInOneMomentAlone(
            seconds: Double, kinds: [String]
        ) throws
    {
        let result = try judge(41, isTold: false) {
            $0.mark(.foreground, at: 90)
            $0.tap(.share, at: 100)
            $0.share(
                at: 102, key: ScriptedSession.key2, body: ScriptedSession.shareBody(affirmedAt: Self.stamp(seconds)),
                url: ScriptedSession.otherURL)
        }
        #expect(result.violations == kinds, "\(result)")
    }
}
