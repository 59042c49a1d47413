import Assertions
import SessionTrace
import Testing

/// A share tap whose request was rejected gives no reason to contact Chia from then on.
@Suite struct HR01RejectionTests {
    /// A share tap at 4 whose request ends at 4.2.
    private func judge(
        status: Int = 422, fate: ScriptedSession.Fate = .answered, target: Mark.Target? = .share,
        _ build: (inout ScriptedSession) -> Void
    ) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        session.tap(target, at: 4)
        session.share(at: 4.1, status: status, fate: fate)
        build(&session)
        session.mark(.end, at: 90)
        return try session.judge()["HR-01"]
    }

    private static func contact(_ session: inout ScriptedSession, at time: Double) {
        session.exchange(.app, "GET", "https://chia.health/x", at: time)
    }

    @Test(arguments: [(4.199, []), (4.2, ["request"])]) func whatTheAppSendsThenIsEarly(
        time: Double, kinds: [String]
    ) throws {
        let result = try judge { Self.contact(&$0, at: time) }
        #expect(result.violations == kinds, "\(result)")
    }

    @Test func whoeverMayOpenTheNeutralPageIsADoubt() throws {
        let unknown = try judge { $0.connect(.nobody, "chia.health", at: 5) }
        #expect(unknown.reason?.code == "tap-not-marked", "\(unknown)")
        let opened = try judge { $0.browse(ScriptedSession.neutral, at: 5) }
        #expect(opened.verdict == .pass, "\(opened)")
    }

    @Test func onlyARejectionThatTheDeviceHadEndsIt() throws {
        #expect(try judge(fate: .deliveryUnknown) { Self.contact(&$0, at: 5) }.violations == [])
        #expect(try judge(status: 503) { Self.contact(&$0, at: 5) }.violations == [])
        #expect(try judge(target: nil) { Self.contact(&$0, at: 5) }.violations == [], "perhaps a neutral tap")
    }

    /// A request that came of the same tap brought the URL; one of the next tap did not.
    @Test(arguments: [(nil, []), (20.0, ["connection", "request"]), (21.0, [])] as [(Double?, [String])])
    func aLaterRequestOfTheTapIsItsToo(tap: Double?, kinds: [String]) throws {
        let result = try judge {
            Self.contact(&$0, at: 19)
            if let tap { $0.tap(.share, at: tap) }
            $0.share(at: 20, key: ScriptedSession.key2)
            $0.browse(ScriptedSession.url, at: 21.5)
        }
        #expect(result.violations == kinds, "\(result)")
    }

    /// Up to the last rejection nothing is known to be over.
    @Test(arguments: [(20.099, []), (20.1, ["request"])]) func theLastRejectionCounts(
        time: Double, kinds: [String]
    ) throws {
        let result = try judge {
            $0.share(at: 20, key: ScriptedSession.key2, status: 400)
            Self.contact(&$0, at: time)
        }
        #expect(result.violations == kinds, "\(result)")
    }
}
