import SessionTrace
import Testing

@testable import Assertions

/// What the app would have sent to a host that the proxy could not reach was neither sent nor seen.
@Suite struct UnreachedHostTests {
    private func judge(_ change: (inout ScriptedSession) -> Void) throws -> TraceVerdict {
        var session = ScriptedSession.conformingShare()
        change(&session)
        return try session.judge()
    }

    private static let telemetry = "api.mixpanel.com"

    @Test(arguments: ["HR-46", "HR-47", "HC-01"]) func anUnreachableTelemetryHostHidesALeak(rule: String) throws {
        let dial = try judge { $0.unreachable(.app, Self.telemetry, at: 20) }
        #expect(dial[rule].reason?.code == "dial-failed", "\(dial.story)")
        #expect(dial[rule].sentence.contains(Self.telemetry))
        let tls = try judge { $0.withoutServer(.app, Self.telemetry, at: 20) }
        #expect(tls[rule].reason?.code == "upstream-tls-failed", "\(tls.story)")
        #expect(tls[rule].reason?.remedy.contains("--upstream-ca") == true)
    }

    @Test func beforeTheURLWasKnownNothingCouldLeak() throws {
        let verdict = try judge { $0.unreachable(.app, Self.telemetry, at: 1) }
        #expect(verdict["HR-46"].verdict == .pass, "\(verdict.story)")
        #expect(verdict["HR-47"].verdict == .pass)
        #expect(verdict["HC-01"].reason?.code == "dial-failed")
    }

    @Test func aLeakElsewhereFailsAllTheSame() throws {
        let verdict = try judge {
            $0.unreachable(.app, Self.telemetry, at: 20)
            $0.exchange(.app, "POST", "https://\(Self.telemetry)/t", at: 30, body: ScriptedSession.url)
        }
        #expect(verdict["HR-46"].verdict == .fail, "\(verdict.story)")
        #expect(verdict["HR-47"].verdict == .fail)
    }

    @Test func aHostWithoutServerIsNotCountedAsRead() throws {
        let verdict = try judge {
            $0.processes[.browser] = ProcessIdentity(source: .pktap, name: "MobileSafari")
            $0.withoutServer(.browser, Self.telemetry, at: 20)
        }
        #expect(verdict["HC-01"].verdict == .pass, "\(verdict.story)")
        #expect(verdict["HC-01"].sentence.contains("telemetry 1 of 2"), "\(verdict["HC-01"].sentence)")
    }

    @Test func whatTheSystemAndTheBrowserAskedForIsAnAssumption() throws {
        let system = try judge { $0.unreachable(.app, "play.googleapis.com", at: 20) }
        #expect(system["HR-47"].verdict == .pass, "\(system.story)")
        #expect(system["HR-47"].assumptions.contains { $0.code == "os-services-unreached" })
        let browser = try judge { $0.unreachable(.browser, "ads.vendor.example", at: 20) }
        #expect(browser["HR-47"].verdict == .pass, "\(browser.story)")
        #expect(browser["HR-47"].assumptions.contains { $0.code == "browser-unreached" })
        #expect(browser["HC-01"].verdict == .pass)
        let nobody = try judge { $0.unreachable(.nobody, "ads.vendor.example", at: 20) }
        #expect(nobody["HR-47"].reason?.code == "dial-failed", "\(nobody.story)")
    }

    @Test func aRequestInClearWasRead() throws {
        let clean = try judge { $0.unreachableInClear(.app, Self.telemetry, at: 20, body: "event=open") }
        #expect(clean["HR-46"].verdict == .pass, "\(clean.story)")
        let leak = try judge { $0.unreachableInClear(.app, Self.telemetry, at: 20, body: ScriptedSession.url) }
        #expect(leak["HR-46"].verdict == .fail)
    }

    /// A share tap, the partner out of reach, and a request after it.
    private func lost(at time: Double = 4.05, _ change: (inout ScriptedSession) -> Void = { _ in }) throws
        -> TraceVerdict
    {
        try judge {
            $0.unreachable(.app, "api.partner.example", at: time)
            change(&$0)
        }
    }

    @Test(arguments: ["HR-07", "HR-13", "HR-14"]) func anAttemptThatCouldNotBeSentWasNotSeen(rule: String) throws {
        let verdict = try lost()
        #expect(verdict[rule].reason?.code == "dial-failed", "\(verdict.story)")
        #expect(verdict[rule].sentence.contains("api.partner.example"))
        let before = try lost(at: 1)
        #expect(before[rule].reason == nil, "\(before.story)")
        let others = try judge { $0.unreachable(.browser, "api.partner.example", at: 4.05) }
        #expect(others[rule].reason == nil, "\(others.story)")
        let elsewhere = try judge { $0.unreachable(.app, "images.vendor.example", at: 4.05) }
        #expect(elsewhere[rule].reason == nil, "\(elsewhere.story)")
    }

    @Test func beforeTheTapItMayHaveBeenARequestTooSoon() throws {
        #expect(try lost(at: 1)["HR-02"].reason?.code == "dial-failed")
        #expect(try judge { _ in }["HR-02"].verdict == .pass)
    }

    @Test func afterTheURLItMayHaveBeenAStatusCall() throws {
        #expect(try lost(at: 20)["HR-59"].reason?.code == "dial-failed")
        #expect(try lost(at: 1)["HR-59"].verdict == .pass)
    }

    @Test func aSecondKeyThatWasSeenFailsAllTheSame() throws {
        let verdict = try lost {
            $0.tap(.share, at: 4.15)
            $0.share(at: 4.25, key: ScriptedSession.key2, url: ScriptedSession.otherURL)
        }
        #expect(verdict["HR-07"].verdict == .fail, "\(verdict.story)")
    }

    @Test func tooManyFailuresAreABlindSpot() throws {
        let verdict = try judge {
            for index in 0...ProxyFailure.limit {
                $0.proxyEvent(.dialFailed, on: nil, at: 1, ["host": "h\(index).vendor.example"])
            }
        }
        #expect(verdict["HC-06"].reason?.code == "state-given-up", "\(verdict.story)")
    }
}
