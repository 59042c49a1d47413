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

/// A burst that brought no URL, and what the browser opened after it.
@Suite struct HR09OneExternalNavigationPerBurstWithoutURLBoundaryTests {
    /// A share from 4.1 that is answered after `took`, a tap at 20 and what came of it; the URL is opened at 21. The app
    /// was left before that tap, so that it begins a burst.
    private func isHeldAgainstIt(
        took: Double = 0.1, opened: Double? = 4.5, _ build: (inout ScriptedSession) -> Void
    ) throws -> Bool {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, took: took)
        if let opened { session.browse(ScriptedSession.url, at: opened) }
        session.mark(.background, at: 8)
        session.mark(.foreground, at: 15)
        build(&session)
        session.tap(.share, at: 20)
        session.browse(ScriptedSession.url, at: 21)
        session.mark(.end, at: 90)
        return try session.judge()["HR-09"].violations.contains("navigation-without-url")
    }

    private static func share(
        _ session: inout ScriptedSession, at time: Double, took: Double = 0.1, fate: ScriptedSession.Fate = .answered
    ) {
        session.share(
            at: time, key: ScriptedSession.key2, took: took, url: ScriptedSession.otherURL, fate: fate)
    }

    /// An attempt in the tap's own moment is the burst's; one in the next burst's is not.
    @Test func anEndThatWasNotSeenMayHaveBroughtOne() throws {
        #expect(try isHeldAgainstIt { _ in })
        #expect(try !isHeldAgainstIt { Self.share(&$0, at: 20, fate: .notSeen) })
        #expect(
            try isHeldAgainstIt {
                $0.tap(.share, at: 30)
                Self.share(&$0, at: 30, fate: .notSeen)
            })
    }

    /// What an operation before brought in the tap's own moment is opened late; what comes with the next burst is not it.
    @Test func aURLThatCameLateIsItsOwnOperations() throws {
        #expect(try !isHeldAgainstIt(took: 15.9, opened: nil) { _ in })
        #expect(
            try isHeldAgainstIt {
                Self.share(&$0, at: 19.9, took: 10.1)
                $0.tap(.neutral, at: 30)
            })
        #expect(
            try !isHeldAgainstIt {
                Self.share(&$0, at: 19.9, took: 10.099)
                $0.tap(.neutral, at: 30)
            })
    }

    /// The first opening is late, whatever else of the browser's asked for the URL before.
    @Test func theFirstOpeningIsLate() throws {
        #expect(try !isHeldAgainstIt(opened: nil) { _ in })
        #expect(try !isHeldAgainstIt(opened: nil) { $0.exchange(.browser, "HEAD", ScriptedSession.url, at: 10) })
    }
}
