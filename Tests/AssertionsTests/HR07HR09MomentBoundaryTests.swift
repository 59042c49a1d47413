import Assertions
import SessionTrace
import Testing

/// Which tap a late request is held against, and which connection was begun in time.
@Suite struct HR07OneSessionRequestPerTapBurstLatenessBoundaryTests {
    /// A tap in the request's own moment made it, though the burst began before.
    @Test(arguments: [(4.4, []), (4.401, ["lost-tap"])] as [(Double, [String])]) func theLastTapBeforeTheRequestMadeIt(
        second: Double, kinds: [String]
    ) throws {
        var session = ScriptedSession.upToTap()
        session.policyText += "timing: {tap-to-request: 300ms}\n"
        session.tap(.share, at: 4)
        session.tap(.share, at: second)
        session.share(at: 4.4)
        session.browse(ScriptedSession.url, at: 4.8)
        session.mark(.end, at: 90)
        let result = try session.judge()["HR-07"]
        #expect(result.violations == kinds, "\(result)")
    }

    /// A connection that was opened in the tap's own moment was opened for it.
    @Test(arguments: [(4.0, []), (3.999, ["lost-tap"])] as [(Double, [String])])
    func whatTookLongToConnectWasBegunInTime(
        opened: Double, kinds: [String]
    ) throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        let id = session.connect(.app, "api.partner.example", at: opened)
        session.share(at: 30, on: id)
        session.browse(ScriptedSession.url, at: 30.5)
        session.mark(.end, at: 90)
        let result = try session.judge()["HR-07"]
        #expect(result.violations == kinds, "\(result)")
    }
}

/// An opening in a web view of the app that stands for the missing navigation.
@Suite struct HR09OneExternalNavigationPerBurstViewBoundaryTests {
    private static let view = [("user-agent", ScriptedSession.webView)]

    @Test(arguments: [(4.2, true), (4.199, false)]) func itIsOfTheURLsOwnMomentOrLater(time: Double, isNamed: Bool)
        throws
    {
        let result = try ScriptedSession.shared {
            $0.browse(ScriptedSession.url, at: time, headers: Self.view)
        }.judge()["HR-09"]
        #expect(result.sentence.contains("web view") == isNamed, "\(result)")
    }

    /// A neutral tap at 4, and the next burst at 20.
    @Test(arguments: [(3.999, false), (4, true), (19.999, true), (20, false)]) func itIsOfItsOwnBurst(
        time: Double, isNamed: Bool
    ) throws {
        let result = try ScriptedSession.goneNeutral {
            $0.browse(ScriptedSession.neutral, at: time, headers: Self.view)
            $0.tap(.share, at: 20)
            $0.share(at: 20.1)
            $0.browse(ScriptedSession.url, at: 20.5)
        }.judge()["HR-09"]
        #expect(result.findings.contains { $0.message.contains("web view") } == isNamed, "\(result)")
    }
}
