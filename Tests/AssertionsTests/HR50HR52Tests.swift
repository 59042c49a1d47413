import SessionTrace
import Testing

@testable import Assertions

@Suite struct HR50NoCaptureUploadTests {
    private func judge(
        _ session: ScriptedSession = .inTheBrowser(), _ story: (inout ScriptedSession) -> Void
    ) throws -> RuleResult {
        try ScriptedSession.result("HR-50", session, story)
    }

    private static let large = String(repeating: "a", count: 8 << 10)

    private static func upload(
        _ session: inout ScriptedSession, _ host: String, at time: Double = 3, type: String = "application/json",
        body: String, _ who: ScriptedSession.Who = .app
    ) {
        session.exchange(who, "POST", "https://\(host)/up", at: time, headers: [("content-type", type)], body: body)
    }

    @Test func aHandoffWithoutUploadsPasses() throws {
        let result = try judge { Self.upload(&$0, "app-measurement.com", body: "{}") }
        #expect(result.verdict == .pass && result.sentence.hasPrefix("1 request"), "\(result)")
    }

    @Test func eightKiBToSessionReplayAreARecording() throws {
        let result = try judge { Self.upload(&$0, "rec.smartlook.com", type: "text/plain", body: Self.large) }
        #expect(result.verdict == .fail && result.severity == .warning, "\(result)")
        #expect(result.violations == ["capture-upload"] && result.sentence.contains("8192 bytes"), "\(result)")
        #expect(result.sentence.contains("Smartlook"))
        let settings = try judge {
            Self.upload(&$0, "rec.smartlook.com", type: "text/plain", body: String(Self.large.dropLast()))
        }
        #expect(settings.verdict == .pass)
    }

    @Test func picturesFilmsAndReplaysGoToNoTelemetry() throws {
        let stories: [(String, String)] = [
            ("image/png", "x"), ("video/mp4", "x"), ("application/json", #"{"event":"$snapshot","d":[]}"#),
        ]
        for (type, body) in stories {
            #expect(
                try judge { Self.upload(&$0, "o1.ingest.sentry.io", type: type, body: body) }.violations
                    == ["capture-upload"], "\(type)")
            #expect(
                try judge { Self.upload(&$0, "api.partner.example", type: type, body: body) }.verdict == .pass,
                "the app's own backend is no telemetry")
        }
        #expect(
            try judge { Self.upload(&$0, "o1.ingest.sentry.io", body: Self.large) }.verdict == .pass,
            "a large body to a crash service is no recording of the screen")
    }

    @Test func theTimeIsFromTheCallToActionToTheBackground() throws {
        for (time, verdict) in [(1.9, Verdict.pass), (2.1, .fail), (4.85, .fail), (5.0, .pass)] {
            let result = try judge { Self.upload(&$0, "app-measurement.com", at: time, type: "image/png", body: "x") }
            #expect(result.verdict == verdict, "\(time): \(result)")
        }
    }

    @Test func whatThePolicyCallsTelemetryIsTelemetry() throws {
        var session = ScriptedSession.inTheBrowser()
        session.policyText = "hosts: {partner: [api.partner.example], telemetry: [builtin, logs.partner.example]}"
        #expect(
            try judge(session) { Self.upload(&$0, "logs.partner.example", type: "image/png", body: "x") }.verdict
                == .fail)
    }

    @Test func aPageOfChiasRecordsItself() throws {
        let result = try judge {
            Self.upload(&$0, "rec.smartlook.com", at: 4.7, type: "text/plain", body: Self.large, .browser)
        }
        #expect(result.verdict == .pass && result.information == ["not-the-app"], "\(result)")
    }

    @Test func anUnknownSenderIsADoubt() throws {
        #expect(
            try judge { Self.upload(&$0, "rec.smartlook.com", type: "image/png", body: "x", .nobody) }.reason?.code
                == "actor-unknown")
    }

    @Test func unreadTelemetryIsADoubt() throws {
        #expect(
            try judge { $0.dark(.app, "app-measurement.com", at: 3, lastData: 3.5) }.reason?.code == "opaque-telemetry")
        #expect(try judge { $0.dark(.app, "app-measurement.com", at: 6, lastData: 7) }.verdict == .pass)
        #expect(try judge { $0.dark(.app, "cdn.example", at: 3, lastData: 3.5) }.verdict == .pass)
    }

    @Test func withoutATapThereIsNoHandoff() throws {
        var session = ScriptedSession()
        session.projection(at: 1)
        #expect(
            try judge(session) { Self.upload(&$0, "rec.smartlook.com", type: "image/png", body: "x") }.verdict
                == .notApplicable)
    }
}

@Suite struct HR51NoShortenerOrPreviewTests {
    private func judge(
        _ session: ScriptedSession = .inTheBrowser(), _ story: (inout ScriptedSession) -> Void
    ) throws -> RuleResult {
        try ScriptedSession.result("HR-51", session, story)
    }

    @Test func noContactPasses() throws {
        let result = try judge { _ in }
        #expect(result.verdict == .pass && result.sentence.hasPrefix("no contact"), "\(result)")
    }

    @Test(arguments: ["api-ssl.bitly.com", "href.li", "api.microlink.io"]) func aLinkGivenAwayIsAnError(host: String)
        throws
    {
        let own = try judge {
            $0.exchange(.app, "POST", "https://\(host)/v4", at: 4.35, body: #"{"long":"\#(ScriptedSession.url)"}"#)
        }
        #expect(own.violations == ["link-shortened"] && own.severity == .error, "\(own)")
        for body in [
            #"{"long":"https:\/\/chia.health\/start"}"#, #"{"long":"https://chia.health/start"}"#,
            "u=https%3A%2F%2Fchia.health%2Fstart",
        ] {
            let neutral = try judge { $0.exchange(.app, "POST", "https://\(host)/v4", at: 4.35, body: body) }
            #expect(neutral.violations == ["link-shortened"] && neutral.severity == .error, "\(body): \(neutral)")
        }
        let query = try judge {
            $0.exchange(.app, "GET", "https://\(host)/s?u=https%3a%2f%2fchia.health%2fstart", at: 60)
        }
        #expect(query.violations == ["link-shortened"], "\(query)")
    }

    @Test func aMereContactDuringTheHandoffIsAWarning() throws {
        let contact = try judge { $0.exchange(.app, "GET", "https://bit.ly/x", at: 3) }
        #expect(contact.violations == ["contact"] && contact.severity == .warning, "\(contact)")
        #expect(try judge { $0.exchange(.app, "GET", "https://bit.ly/x", at: 1.5) }.verdict == .pass, "before it")
        #expect(try judge { $0.exchange(.app, "GET", "https://notbit.ly/x", at: 3) }.verdict == .pass)
    }

    @Test func whatTheBrowserDoesIsNotTheApps() throws {
        let result = try judge { $0.browse("https://bit.ly/x", at: 6) }
        #expect(result.verdict == .pass && result.information == ["not-the-app"], "\(result)")
    }

    @Test func anUnknownSenderIsADoubt() throws {
        #expect(
            try judge { $0.exchange(.nobody, "GET", "https://bit.ly/x", at: 3) }.reason?.code == "actor-unknown")
    }

    @Test func anUnreadConnectionIsADoubtUnlessItIsTheBrowsers() throws {
        #expect(try judge { $0.dark(.nobody, "bit.ly", at: 3, lastData: 3.2) }.reason?.code == "no-keys")
        var session = ScriptedSession.inTheBrowser()
        let chrome = ProcessIdentity(source: .pcapdroid, name: "com.android.chrome")
        let app = ProcessIdentity(source: .pcapdroid, name: "com.partner.shop")
        session.processes = [.browser: chrome, .app: app]
        #expect(try judge(session) { $0.dark(.browser, "bit.ly", at: 3, lastData: 3.2) }.verdict == .pass)
        #expect(try judge(session) { $0.dark(.app, "bit.ly", at: 3, lastData: 3.2) }.violations == ["contact"])
    }

    @Test func aLookupAloneIsADoubtToo() throws {
        #expect(try judge { $0.lookup("bit.ly", at: 3) }.reason?.code == "actor-unknown")
        let app = ProcessIdentity(source: .pcapdroid, name: "com.partner.shop")
        #expect(try judge { $0.lookup("bit.ly", at: 3, process: app) }.violations == ["contact"])
    }

    @Test func aCloakedNameCounts() throws {
        let result = try judge {
            $0.lookup("go.partner.example", at: 1, aliases: ["custom.bl.ink"])
            $0.exchange(.app, "GET", "https://go.partner.example/x", at: 3)
        }
        #expect(result.violations == ["contact"], "\(result)")
    }

    @Test func withoutAHandoffItDoesNotApply() throws {
        var session = ScriptedSession()
        session.exchange(.app, "GET", "https://bit.ly/x", at: 3)
        #expect(try judge(session) { _ in }.verdict == .notApplicable)
    }
}

@Suite struct HR52NoClickAttributionTests {
    private func judge(
        _ session: ScriptedSession = .inTheBrowser(), _ story: (inout ScriptedSession) -> Void
    ) throws -> RuleResult {
        try ScriptedSession.result("HR-52", session, story)
    }

    private static func event(
        _ session: inout ScriptedSession, at time: Double, body: String = #"{"event":"open"}"#,
        _ who: ScriptedSession.Who = .app, target: String = "/v1/event"
    ) {
        session.exchange(who, body.isEmpty ? "GET" : "POST", "https://api2.branch.io\(target)", at: time, body: body)
    }

    @Test func theServicesStartAtLaunchPasses() throws {
        let result = try judge { Self.event(&$0, at: 0.3) }
        #expect(result.verdict == .pass && result.sentence.hasPrefix("1 request"), "\(result)")
    }

    /// From one second before the tap at 4 to five seconds after the page at 4.5.
    @Test func anEventAroundTheTapIsAWarning() throws {
        for (time, verdict) in [(2.99, Verdict.pass), (3.01, .fail), (9.49, .fail), (9.51, .pass)] {
            let result = try judge { Self.event(&$0, at: time) }
            #expect(result.verdict == verdict, "\(time): \(result)")
        }
        let result = try judge { Self.event(&$0, at: 4.3) }
        #expect(result.violations == ["click-event"] && result.severity == .warning, "\(result)")
        #expect(result.sentence.contains("Branch"))
    }

    @Test func aRequestWithoutAnEventIsNone() throws {
        #expect(try judge { Self.event(&$0, at: 4.3, body: "", target: "/config") }.verdict == .pass)
        #expect(try judge { Self.event(&$0, at: 4.3, body: "", target: "/c?event_name=go") }.verdict == .fail)
    }

    @Test func aSelectionInItIsAnErrorAtAnyTime() throws {
        for body in [
            #"{"url":"\#(ScriptedSession.url)"}"#, #"{"u":"https://chia.health/start"}"#, #"{"i":"item-4711-abcdef"}"#,
        ] {
            let result = try judge { Self.event(&$0, at: 40, body: body) }
            #expect(result.violations == ["attributed-selection"] && result.severity == .error, "\(body): \(result)")
        }
        #expect(try judge { Self.event(&$0, at: 40, body: #"{"i":"item-4711-abcdeg"}"#) }.verdict == .pass)
    }

    /// An exception for the one is none for the other.
    @Test func eventsAndSelectionsAreFoundApart() throws {
        func fingerprint(at time: Double, _ body: String) throws -> [String] {
            try judge { Self.event(&$0, at: time, body: body) }.findings.map(\.fingerprint)
        }
        let place = ["attribution", "POST /v1/event"]
        #expect(
            try fingerprint(at: 4.3, #"{"event":"open"}"#)
                == [Judgement.fingerprint(["HR-52", "click-event"] + place + ["event"])])
        #expect(
            try fingerprint(at: 40, #"{"i":"item-4711-abcdef"}"#)
                == [Judgement.fingerprint(["HR-52", "attributed-selection"] + place + ["selection"])])
    }

    @Test func onlyAttributionAndDeepLinksCount() throws {
        #expect(
            try judge {
                $0.exchange(.app, "POST", "https://api2.amplitude.com/2/httpapi", at: 4.3, body: #"{"event":"x"}"#)
            }.verdict == .pass)
        #expect(
            try judge { $0.exchange(.app, "POST", "https://shop.onelink.me/x", at: 4.3, body: #"{"event":"x"}"#) }
                .verdict == .fail)
    }

    @Test func theBrowsersDeepLinkIsNotTheApps() throws {
        let result = try judge { Self.event(&$0, at: 5, .browser) }
        #expect(result.verdict == .pass && result.information == ["not-the-app"], "\(result)")
    }

    @Test func anUnknownSenderAndAnUnreadConnectionAreDoubts() throws {
        #expect(try judge { Self.event(&$0, at: 4.3, .nobody) }.reason?.code == "actor-unknown")
        #expect(
            try judge { $0.dark(.app, "api2.branch.io", at: 4.2, lastData: 4.4) }.reason?.code == "opaque-telemetry")
        #expect(try judge { $0.dark(.app, "api2.branch.io", at: 0.2, lastData: 0.4) }.verdict == .pass)
    }

    @Test func withoutATapItDoesNotApply() throws {
        var session = ScriptedSession()
        session.projection(at: 1)
        #expect(try judge(session) { Self.event(&$0, at: 4.3) }.verdict == .notApplicable)
    }
}
