import SessionTrace
import Testing

@testable import Assertions

/// Recordings with heads alone: connections that were used, and requests that were withheld with others.
@Suite struct WithheldContentTests {
    private static let spare = "chia.health"

    private func conforming(_ change: (inout ScriptedSession) -> Void = { _ in }) -> ScriptedSession {
        var session = ScriptedSession.conformingShare()
        change(&session)
        return session
    }

    @Test func aSpareConnectionBesideAWithheldOneIsForgotten() throws {
        let session = conforming {
            $0.dark(.browser, Self.spare, at: 4.45, lastData: 4.47, reason: .leafSuspected)
        }
        for verdict in [try session.judge(), try session.judgeWithheld()] {
            for rule in ["HR-01", "HR-03", "HR-05", "HR-09", "HR-47", "HC-01"] {
                #expect(verdict[rule].verdict == .pass, "\(verdict.story)")
            }
        }
    }

    @Test func anotherProgramsSuspectedConnectionStays() throws {
        let session = conforming {
            $0.dark(.app, Self.spare, at: 4.45, lastData: 4.47, reason: .leafSuspected)
        }
        let verdict = try session.judgeWithheld()
        #expect(verdict["HR-05"].reason?.code == "leaf-suspected", "\(verdict.story)")
    }

    @Test func aHostThatTheAppNeverUsedStaysInDoubt() throws {
        let session = conforming {
            $0.dark(.app, "api.mixpanel.com", at: 10, lastData: 10.1, reason: .leafSuspected)
        }
        #expect(try session.judgeWithheld()["HR-46"].reason?.code == "leaf-suspected")
    }

    @Test(arguments: ["api.mixpanel.com", "static.chia.health"])
    func whatABrowserOpenedAheadIsNoPinning(host: String) throws {
        let session = conforming {
            $0.dark(.browser, host, at: 10, lastData: 10.1, reason: .leafSuspected)
        }
        for verdict in [try session.judge(), try session.judgeWithheld()] {
            #expect(verdict.rules.allSatisfy { $0.reason?.code != "leaf-suspected" }, "\(verdict.story)")
        }
    }

    @Test func aCertificateThatABrowserRefusedStaysInDoubt() throws {
        let session = conforming {
            $0.dark(.browser, "api.mixpanel.com", at: 10, lastData: 10.1, reason: .leafRefused)
        }
        #expect(try session.judgeWithheld()["HR-46"].reason?.code == "leaf-refused")
    }

    /// A proxy's own connection, on which the browser asked Chia first.
    private func shared(_ next: (inout ScriptedSession, ConnectionID) -> Void) -> ScriptedSession {
        conforming {
            let id = $0.connect(.browser, "www.chia.health", at: 6)
            $0.exchange(.browser, "GET", "https://www.chia.health/style.css", at: 6.1, on: id)
            next(&$0, id)
        }
    }

    @Test func theAppsRequestOnTheBrowsersConnectionIsNotDecided() throws {
        let session = shared { session, id in
            session.exchange(
                .app, "POST", "https://api.mixpanel.com/t", at: 10, body: ScriptedSession.url, on: id)
        }
        let heads = try session.judgeWithheld()
        #expect(heads["HR-46"].reason?.code == "withheld", "\(heads.story)")
        #expect(heads["HR-47"].reason?.code == "withheld")
        #expect(try session.judge()["HR-46"].verdict == .fail)
    }

    @Test func theBrowsersOwnOnItIsDecided() throws {
        let session = shared { session, id in
            session.exchange(
                .browser, "POST", "https://www.chia.health/api", at: 10, headers: [("origin", "https://chia.health")],
                body: "answers", on: id)
        }
        let verdict = try session.judgeWithheld()
        #expect(verdict["HR-46"].verdict == .pass, "\(verdict.story)")
        #expect(verdict["HR-47"].verdict == .pass)
    }

    @Test func aSessionRequestMayHideOnIt() throws {
        let session = shared { session, id in
            session.share(at: 10, key: ScriptedSession.key2, url: ScriptedSession.otherURL, on: id)
        }
        let verdict = try session.judgeWithheld()
        for rule in ["HR-07", "HR-59"] {
            #expect(verdict[rule].reason?.code == "withheld", "\(verdict.story)")
        }
        #expect(verdict["HR-07"].sentence.contains("session request"))
    }
}
