import SessionTrace
import Testing

@testable import Assertions

/// Connections that carry nothing to another host of Chia's than the one that was opened: a browser makes them beside its
/// navigation, and its TLS stack tells them from an app's.
@Suite struct HR04SisterHostTests {
    private func judge(_ who: ScriptedSession.Who, at time: Double) throws -> RuleResult {
        var session = ScriptedSession.conformingShare()
        session.connect(who, "www.chia.health", at: time)
        return try session.judge()["HR-04"]
    }

    /// When the browser opens the handoff URL in a conforming session.
    private func opening() throws -> Double {
        let session = ScriptedSession.conformingShare()
        for case .exchange(let exchange) in session.events() where exchange.request?.host?.text == "chia.health" {
            let started = try #require(exchange.request?.started.time)
            return Double(started.nanoseconds(since: ScriptedSession.instant(0))) / 1e9
        }
        return try #require(nil as Double?)
    }

    @Test(arguments: [-0.01, 0.05, 1])
    func whatTheBrowserOpensBesideItsNavigationIsItsOwn(offset: Double) throws {
        let result = try judge(.browser, at: try opening() + offset)
        #expect(result.verdict == .pass, "\(result)")
    }

    @Test func anotherProgramsConnectionIsNotExcused() throws {
        let result = try judge(.app, at: try opening() - 0.01)
        #expect(result.verdict == .inconclusive, "\(result)")
    }

    @Test func beforeTheTapItIsAheadWhoeverMadeIt() throws {
        for who in [ScriptedSession.Who.browser, .app] {
            #expect(try judge(who, at: 1.5).verdict == .fail)
        }
    }
}
