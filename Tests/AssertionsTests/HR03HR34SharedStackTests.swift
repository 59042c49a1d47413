import SessionTrace
import Testing

@testable import Assertions

/// HR-03, 04, 05 and 34 where the app's TLS stack is the browser's, or a recorded process tells what a stack does not.
@Suite struct HR03HR34SharedStackTests {
    private static let shared = "t13d2014h2_a09f3c656075_14788d8d241b"

    /// A connection to a host of Chia's on which nothing is asked, beside the opening of the page.
    private func judge(
        _ rule: String, to host: String = "chia.health", at time: Double = 4.45, ja4: String? = nil
    ) throws -> RuleResult {
        var session = ScriptedSession.conformingShare()
        session.connect(.browser, host, at: time)
        return try session.judge(ja4.map { session.events(ja4: $0) })[rule]
    }

    /// Browsers open spare connections as they navigate; that one may be an app's with the same stack is an assumption.
    @Test(arguments: ["chia.health", "static.chia.health"]) func anUnusedConnectionIsToldByItsTime(host: String) throws
    {
        for ja4 in [nil, Self.shared] {
            let result = try judge("HR-03", to: host, ja4: ja4)
            #expect(result.verdict == .pass, "\(result)")
            #expect(result.assumptions.contains { $0.code == "spare-connections" })
        }
    }

    @Test func aProcessTellsWhatTheStackDoesNot() throws {
        var session = ScriptedSession.conformingShare()
        session.processes[.browser] = ProcessIdentity(source: .pktap, name: "MobileSafari")
        session.connect(.browser, "chia.health", at: 4.45)
        #expect(try session.judge(session.events(ja4: Self.shared))["HR-03"].verdict == .pass)
    }

    /// A connection before the tap that may be the browser's as well as the app's is not passed over.
    @Test func aSharedStackMayBeTheBrowsersWarmup() throws {
        #expect(try judge("HR-34", at: 3).violations == ["warmup"])
        let shared = try judge("HR-34", at: 3, ja4: Self.shared)
        #expect(shared.reason?.code == "actor-unknown" && shared.violations.isEmpty, "\(shared)")
    }

    // HR-34: connections without a name.

    private func nameless(
        at time: Double, _ process: String? = nil, ja4: String? = nil,
        _ change: (inout ScriptedSession) -> Void = { _ in }
    ) throws -> TraceVerdict {
        var session = ScriptedSession.conformingShare()
        change(&session)
        session.processes[.nobody] = process.map { ProcessIdentity(source: .pktap, name: $0) }
        session.dark(.nobody, "203.0.113.9", at: time, lastData: time + 0.5, hello: ja4 != nil)
        let events = session.events().map { event in
            guard let ja4, case .clientHello(var hello) = event, hello.serverName?.text == "203.0.113.9" else {
                return event
            }
            hello.serverName = nil
            hello.ja4 = ja4
            return .clientHello(hello)
        }
        return try session.judge(events)
    }

    @Test func aConnectionWithoutANameMayWarmUpTheBrowser() throws {
        let unknown = try nameless(at: 3)["HR-34"]
        #expect(
            unknown.reason?.code == "host-unknown" && unknown.sentence.contains("before the app acted"), "\(unknown)")
        let browser = try nameless(at: 3, "Chrome")
        #expect(browser["HR-34"].reason?.code == "host-unknown", "\(browser.story)")
        #expect(browser["HR-01"].verdict == .pass, "\(browser.story)")
        #expect(try nameless(at: 4.25)["HR-34"].reason?.code == "host-unknown", "before the app hands the URL over")
    }

    @Test func theAppsTheSystemsAndALaterOneDoNot() throws {
        for process in ["PartnerShop", "apsd"] {
            let result = try nameless(at: 3, process)["HR-34"]
            #expect(result.verdict == .pass, "\(process): \(result)")
        }
        #expect(try nameless(at: 4.35)["HR-34"].verdict == .pass)
        #expect(try nameless(at: 3, ja4: "t13d1011h2_app")["HR-34"].verdict == .pass, "the app's stack")
        #expect(try nameless(at: 3, ja4: "t13d1516h2_browser")["HR-34"].reason?.code == "host-unknown")
    }

    // HR-05: Safari's connections.

    private func unread(_ process: ProcessIdentity?, _ change: (inout ScriptedSession) -> Void = { _ in }) throws
        -> TraceVerdict
    {
        var session = ScriptedSession.conformingShare()
        session.processes[.nobody] = process
        session.dark(.nobody, "www.chia.health", at: 6, lastData: 7)
        change(&session)
        return try session.judge()
    }

    @Test(arguments: [
        ProcessIdentity(source: .pktap, name: "MobileSafari"),
        ProcessIdentity(source: .pcapd, name: "Safari"),
        ProcessIdentity(source: .pktap, name: "com.apple.WebKit.Networking", effectiveName: "MobileSafari"),
    ]) func whatIsSafarisIsNoProbe(process: ProcessIdentity) throws {
        let verdict = try unread(process)
        let result = verdict["HR-05"]
        #expect(result.verdict == .pass, "\(result)")
        #expect(
            result.assumptions.map(\.code) == ["safari-unread"] && result.assumptions[0].sentence.hasPrefix("1 conn"))
        #expect(verdict["HR-09"].reason?.code == "no-keys", "it may hold a second navigation")
    }

    @Test func anotherBrowserCanBeMadeToPrefetch() throws {
        for process in [
            ProcessIdentity(source: .pcapdroid, name: "com.android.chrome"),
            ProcessIdentity(source: .pktap, name: "SafariViewService"),
            ProcessIdentity(source: .pktap, name: "PartnerShop"),
            ProcessIdentity(source: .listener, name: "browser"), nil,
        ] {
            let result = try unread(process)["HR-05"]
            #expect(result.reason?.code == "no-keys", "\(process?.name ?? "nobody"): \(result)")
        }
    }

    @Test func anotherUnreadConnectionIsADoubtAllTheSame() throws {
        let result = try unread(ProcessIdentity(source: .pktap, name: "MobileSafari")) {
            $0.dark(.app, "www.chia.health", at: 8, lastData: 9)
        }["HR-05"]
        #expect(result.reason?.code == "no-keys", "\(result)")
    }
}
