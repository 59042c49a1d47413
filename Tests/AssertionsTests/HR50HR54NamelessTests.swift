import SessionTrace
import Testing

@testable import Assertions

/// HR-50, 51, 52 and 54: a connection of which no name is known may have gone to a telemetry host, or to any other.
@Suite struct HR50HR54NamelessTests {
    private func judge(_ rule: String, _ change: (inout ScriptedSession) -> Void) throws -> RuleResult {
        try ScriptedSession.result(rule, .inTheBrowser(), change)
    }

    private static func nameless(
        _ session: inout ScriptedSession, at time: Double, _ reason: BlindSpot.Reason = .noKeys
    ) {
        session.dark(.app, "203.0.113.9", at: time, lastData: time + 0.3, hello: false, reason: reason)
    }

    /// A moment at which each of them asks what was sent, and one at which it does not.
    private static let watched: [(rule: String, at: Double, not: Double)] = [
        ("HR-50", 3, 6), ("HR-51", 1, 0.1), ("HR-52", 4.2, 20), ("HR-54", 20, 1),
    ]

    @Test(arguments: watched) func itIsADoubtWhileTheRuleAsks(rule: String, at time: Double, not: Double) throws {
        let result = try judge(rule) { Self.nameless(&$0, at: time) }
        #expect(result.reason?.code == "no-keys" && result.sentence.contains("without a name"), "\(result)")
        let other = try judge(rule) { Self.nameless(&$0, at: time, .unknownProtocol) }
        #expect(other.verdict == .inconclusive && other.sentence.contains("without a name"), "\(other)")
        #expect(try judge(rule) { Self.nameless(&$0, at: not) }.verdict == .pass)
    }

    @Test(arguments: watched) func ofTheBrowserOrTheSystemItIsNone(rule: String, at time: Double, not: Double) throws {
        for process in ["MobileSafari", "apsd"] {
            let result = try judge(rule) {
                $0.processes[.app] = ProcessIdentity(source: .pktap, name: process)
                Self.nameless(&$0, at: time)
            }
            #expect(result.verdict == .pass, "\(process): \(result)")
        }
    }

    @Test(arguments: watched) func aHoleInItIsADoubt(rule: String, at time: Double, not: Double) throws {
        let result = try judge(rule) {
            let id = $0.connect(.app, "203.0.113.9", at: time, hello: false)
            $0.blindSpot(.tcpHole, from: .client, at: time, until: time + 0.1, on: id)
        }
        #expect(result.reason?.code == "tcp-hole", "\(result)")
    }

    /// What else could be read of such a connection makes the hole in it no smaller.
    @Test(arguments: ["HR-44", "HR-46", "HR-47", "HR-48"]) func aHoleHidesALeakToo(rule: String) throws {
        func hole(_ process: String?) throws -> RuleResult {
            try judge(rule) {
                $0.processes[.app] = process.map { ProcessIdentity(source: .pktap, name: $0) }
                let id = $0.connect(.app, "203.0.113.9", at: 20, hello: false)
                $0.blindSpot(.tcpHole, from: .client, at: 20, until: 20.1, on: id)
            }
        }
        #expect(try hole(nil).reason?.code == "tcp-hole")
        let safari = try hole("MobileSafari")
        #expect(safari.verdict == .pass, "\(safari)")
    }

    /// Several names led to its address: one of the kind that the rule asks about is enough.
    @Test(arguments: [
        ("HR-50", "app-measurement.com"), ("HR-51", "bit.ly"), ("HR-52", "api2.branch.io"),
        ("HR-54", "app-measurement.com"),
    ]) func itsAddressMayTell(rule: String, host: String) throws {
        func shared(_ names: [String]) throws -> RuleResult {
            try judge(rule) { session in
                Self.nameless(&session, at: rule == "HR-50" ? 3 : 4.2)
                let address = session.timeline.compactMap { entry -> IPAddress? in
                    if case .connectionOpened(let connection) = entry.event { connection.server.address } else { nil }
                }.last
                for name in names { session.answer(name, is: address, at: 2.5) }
            }
        }
        #expect(try shared([host, "img.partner.example"]).verdict == .inconclusive)
        let elsewhere = try shared(["cdn.partner.example", "img.partner.example"])
        #expect(elsewhere.verdict == .pass, "\(elsewhere)")
    }

    /// What could not be reached is asked about with the same hosts.
    @Test(arguments: [
        ("HR-50", "app-measurement.com", 3.0, 6.0), ("HR-51", "bit.ly", 1.0, 0.1),
        ("HR-52", "api2.branch.io", 4.2, 20.0), ("HR-54", "app-measurement.com", 20.0, 1.0),
    ]) func anUnreachableHostOfTheKindIsADoubt(rule: String, host: String, at time: Double, not: Double) throws {
        #expect(try judge(rule) { $0.unreachable(.app, host, at: time) }.reason?.code == "dial-failed")
        #expect(try judge(rule) { $0.unreachable(.app, host, at: not) }.verdict == .pass)
        #expect(try judge(rule) { $0.unreachable(.app, "cdn.partner.example", at: time) }.verdict == .pass)
    }

    /// Before the first tap nothing may be given to a shortener either, once a projection has named the neutral URL.
    @Test func anUnreadShortenerBeforeTheTapIsADoubt() throws {
        #expect(
            try judge("HR-51") { $0.dark(.nobody, "bit.ly", at: 1, lastData: 1.2) }.reason?.code == "opaque-telemetry")
        #expect(try judge("HR-51") { $0.dark(.nobody, "bit.ly", at: 0.1, lastData: 0.3) }.verdict == .pass)
        #expect(try judge("HR-51") { $0.dark(.nobody, "cdn.example", at: 1, lastData: 1.2) }.verdict == .pass)
    }

    /// Eight KiB make a recording of the screen; less that stays unread is settings.
    @Test func aLittleUnreadToSessionReplayIsNone() throws {
        #expect(try judge("HR-50") { $0.dark(.app, "rec.smartlook.com", at: 3, lastData: 3.5) }.verdict == .pass)
        #expect(
            try judge("HR-50") { $0.unreachable(.app, "rec.smartlook.com", at: 3) }.reason?.code == "dial-failed")
    }
}

/// HR-65: a connection without a name may be the browser's to the partner, once a page of Chia is open.
@Suite struct HR65NamelessTests {
    private func judge(_ process: String?, lastData: Double = 60) throws -> RuleResult {
        try ScriptedSession.result("HR-65", .inTheBrowser()) {
            $0.processes[.nobody] = process.map { ProcessIdentity(source: .pktap, name: $0) }
            $0.dark(.nobody, "203.0.113.9", at: 1, lastData: lastData, hello: false)
        }
    }

    @Test func itIsADoubtUnlessItIsTheAppsOrTheSystems() throws {
        #expect(try judge(nil).reason?.code == "no-keys")
        #expect(try judge("MobileSafari").reason?.code == "no-keys")
        #expect(try judge("PartnerShop").verdict == .pass)
        #expect(try judge("apsd").verdict == .pass)
        #expect(try judge(nil, lastData: 4.3).verdict == .pass, "before the page was opened")
        #expect(try judge(nil, lastData: 4.499).verdict == .pass, "a millisecond before")
        #expect(try judge(nil, lastData: 4.5).reason?.code == "no-keys", "in the moment of the page")
    }
}

/// HR-53: once Chia has set a cookie, whatever host the app sends something to may get it.
@Suite struct HR53UnreadHostTests {
    private static let cookie = [("set-cookie", "cid=c0ffee81c2f0aa77; Path=/")]

    private func judge(
        headers: [(String, String)] = cookie, _ change: (inout ScriptedSession) -> Void
    ) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        session.policyText = ScriptedSession.returnPolicy
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        session.browse(ScriptedSession.url, at: 4.5, responseHeaders: headers)
        change(&session)
        session.mark(.end, at: 90)
        return try session.judge()["HR-53"]
    }

    @Test func anyUnreadHostIsADoubt() throws {
        #expect(try judge { _ in }.verdict == .pass)
        let vendor = try judge { $0.dark(.app, "sdk.vendor.example", at: 1, lastData: 60) }
        #expect(vendor.reason?.code == "no-keys" && vendor.sentence.contains("sdk.vendor.example"), "\(vendor)")
        let telemetry = try judge { $0.dark(.app, "app-measurement.com", at: 1, lastData: 60) }
        #expect(telemetry.reason?.code == "opaque-telemetry", "\(telemetry)")
        let nameless = try judge { $0.dark(.app, "203.0.113.9", at: 20, lastData: 60, hello: false) }
        #expect(nameless.reason?.code == "no-keys", "\(nameless)")
        let failed = try judge { $0.unreachable(.app, "sdk.vendor.example", at: 20) }
        #expect(failed.reason?.code == "dial-failed", "\(failed)")
    }

    @Test func beforeTheCookieNothingCouldHoldIt() throws {
        let result = try judge { $0.dark(.app, "sdk.vendor.example", at: 1, lastData: 4.4) }
        #expect(result.verdict == .pass, "\(result)")
    }

    @Test func whereChiaSetNoneThereIsNothingToFind() throws {
        let result = try judge(headers: []) { $0.dark(.app, "sdk.vendor.example", at: 1, lastData: 60) }
        #expect(result.verdict == .notApplicable, "\(result)")
    }

    @Test func whatIsNotTheAppsOrMayStayUnreadIsNone() throws {
        let safari = try judge {
            $0.processes[.browser] = ProcessIdentity(source: .pktap, name: "MobileSafari")
            $0.dark(.browser, "ads.vendor.example", at: 20, lastData: 60)
        }
        #expect(safari.verdict == .pass, "\(safari)")
        let allowed = try judge {
            $0.policyText.replace(
                "requests:", with: "  opaque-ok: [{host: sdk.vendor.example, reason: a map}]\nrequests:")
            $0.dark(.app, "sdk.vendor.example", at: 20, lastData: 60)
        }
        #expect(allowed.verdict == .pass && allowed.assumptions.contains { $0.code == "opaque-ok" }, "\(allowed)")
    }
}
