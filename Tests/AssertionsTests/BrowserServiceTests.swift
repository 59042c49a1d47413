import SessionTrace
import Testing

@testable import Assertions

/// HR-46, HR-47 and HR-49: what the browser tells its own services is not the app's, and what only looks like it is.
@Suite struct BrowserServiceTests {
    private static let address = "https://api.mixpanel.com/track?u=\(ScriptedSession.token)"
    private static let chromeSync =
        "Chrome ANDROID-PHONE 140.0.7339.51 (1c2e8b0f-refs/branch-heads/7339@{#1}) channel(stable)"

    private func judge(_ change: (inout ScriptedSession) -> Void) throws -> TraceVerdict {
        var session = ScriptedSession.conformingShare()
        change(&session)
        return try session.judge()
    }

    private func sync(
        _ address: String, agent: String?, _ who: ScriptedSession.Who = .app, headers: [(String, String)] = [],
        _ change: (inout ScriptedSession) -> Void = { _ in }
    ) throws -> TraceVerdict {
        try judge {
            change(&$0)
            $0.exchange(
                who, "POST", address, at: 10, headers: headers + (agent.map { [("user-agent", $0)] } ?? []),
                body: "tab=\(ScriptedSession.url)")
        }
    }

    @Test(arguments: [
        ("https://clients4.google.com/chrome-sync/command/?client=Google+Chrome", chromeSync),
        ("https://clients4.google.com/chrome-sync/command/", "Chrome ANDROID-TABLET 140.0.7339.51 channel(beta)"),
        ("https://clients4.google.com/chrome-sync/command/", "Chrome IOS-PHONE 140.0.7339.51 channel(stable)"),
        ("https://edge.microsoft.com/sync/v1/feeds/me/syncEntities/command/", chromeSync),
        ("https://sync-1-us-west1-g.sync.services.mozilla.com/1.5/7/storage/tabs", "Firefox-iOS-Sync/140.0b1 (iPhone)"),
        ("https://nav-edge.smartscreen.microsoft.com/api/browser/edge/navigate/3", ScriptedSession.firefox),
    ]) func whatABrowserSyncsIsNotTheApps(address: String, agent: String) throws {
        let verdict = try sync(address, agent: agent)
        let result = verdict["HR-47"]
        #expect(result.verdict == .pass, "\(verdict.story)")
        #expect(result.assumptions.contains { $0.code == "browser-service" })
        #expect(result.findings.contains { $0.kind == "not-the-app" })
        #expect(verdict["HR-46"].verdict == .pass)
    }

    @Test func aProcessNeedsNoAssumption() throws {
        let address = "https://clients4.google.com/chrome-sync/command/"
        let chrome = ProcessIdentity(source: .pcapdroid, name: "com.android.chrome", userID: 10_100)
        let verdict = try sync(address, agent: Self.chromeSync) { $0.processes[.app] = chrome }
        #expect(verdict["HR-47"].verdict == .pass, "\(verdict.story)")
        #expect(!verdict["HR-47"].assumptions.contains { $0.code == "browser-service" })
        let shop = ProcessIdentity(source: .pcapdroid, name: "com.partner.shop", userID: 10_234)
        let app = try sync(address, agent: Self.chromeSync) { $0.processes[.app] = shop }
        #expect(app["HR-47"].verdict == .fail, "\(app.story)")
    }

    /// The name of a browser's sync excuses nothing elsewhere, nor its host any other sender.
    @Test func hostAndNameBelongTogether() throws {
        #expect(try sync("https://api.mixpanel.com/track", agent: Self.chromeSync)["HR-46"].verdict == .fail)
        #expect(try sync("https://api.partner.example/log", agent: Self.chromeSync)["HR-47"].verdict == .fail)
        let elsewhere = try sync("https://sync.vendor.example/", agent: Self.chromeSync)
        #expect(elsewhere["HR-47"].reason?.code == "actor-unknown", "\(elsewhere.story)")
        let sync = "https://clients4.google.com/chrome-sync/command/"
        #expect(try self.sync(sync, agent: nil)["HR-47"].verdict == .fail, "the app's own name")
        let other = try self.sync("https://clients4.google.com/chrome-synced", agent: nil)
        #expect(other["HR-47"].verdict == .fail)
    }

    @Test func iCloudCarriesWhatSafariAndWhatAppsKeep() throws {
        func cloud(_ bundle: String?) throws -> RuleResult {
            try sync(
                "https://p31-ckdatabase.icloud.com/api/client/record/save", agent: "CloudKit/2130.25 (21F90)",
                headers: bundle.map { [("x-cloudkit-bundleid", $0)] } ?? [])["HR-47"]
        }
        #expect(try cloud("com.apple.SafariBookmarksSyncAgent").verdict == .pass)
        #expect(try cloud("com.partner.shop").verdict == .fail)
        #expect(try cloud(nil).verdict == .fail)
    }

    // A service of the system, by a browser's User-Agent alone.

    @Test func aBareBrowserToTheSystemsServiceIsAnAssumption() throws {
        let verdict = try sync("https://optimizationguide-pa.googleapis.com/v1:GetHints", agent: nil, .disguised)
        #expect(verdict["HR-47"].verdict == .pass, "\(verdict.story)")
        #expect(verdict["HR-47"].assumptions.contains { $0.code == "browser-service" })
        let strict = try sync("https://optimizationguide-pa.googleapis.com/v1:GetHints", agent: nil, .disguised) {
            $0.options.strict = true
        }
        #expect(strict["HR-47"].reason?.code == "browser-service", "\(strict.story)")
    }

    // Sec-Fetch-Site: none.

    private func ofNoPage(
        _ destination: String, mode: String = "no-cors", to address: String = address, headers: [(String, String)] = [],
        process: ProcessIdentity? = nil
    ) throws -> RuleResult {
        try judge {
            $0.processes[.browser] = process
            $0.exchange(
                .browser, "GET", address, at: 10,
                headers: [("sec-fetch-site", "none"), ("sec-fetch-mode", mode), ("sec-fetch-dest", destination)]
                    + headers)
        }["HR-47"]
    }

    @Test(arguments: ["image", "script", "iframe", "video", "beacon"]) func aPartOfNoPageIsNotTheBrowsersOwn(
        destination: String
    ) throws {
        #expect(try ofNoPage(destination).verdict == .fail)
        let elsewhere = "https://cdn.vendor.example/p?u=\(ScriptedSession.token)"
        #expect(try ofNoPage(destination, to: elsewhere).reason?.code == "actor-unknown")
        let chrome = ProcessIdentity(source: .pcapdroid, name: "com.android.chrome", userID: 10_100)
        #expect(try ofNoPage(destination, process: chrome).verdict == .pass)
    }

    @Test func noBrowserReportsToACollectorByItself() throws {
        #expect(try ofNoPage("empty").reason?.code == "actor-unknown")
        #expect(
            try ofNoPage("empty", to: "https://api.partner.example/l?u=\(ScriptedSession.token)").reason?.code
                == "actor-unknown")
        let suggestion = "https://suggest.vendor.example/?q=\(ScriptedSession.token)"
        #expect(try ofNoPage("empty", to: suggestion).verdict == .pass)
    }

    @Test func anAddressThatIsOpenedWasGivenBySomeone() throws {
        let elsewhere = "https://go.vendor.example/?q=\(ScriptedSession.token)"
        #expect(try ofNoPage("document", mode: "navigate").verdict == .fail)
        #expect(try ofNoPage("document", mode: "navigate", to: elsewhere).verdict == .fail)
        let ahead = try ofNoPage(
            "document", mode: "navigate", to: elsewhere, headers: [("sec-purpose", "prefetch;prerender")])
        #expect(ahead.reason?.code == "actor-unknown")
        let posted = try judge {
            $0.exchange(
                .browser, "POST", elsewhere, at: 10,
                headers: [("sec-fetch-site", "none"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")],
                body: "a=b")
        }
        #expect(posted["HR-47"].verdict == .fail, "\(posted.story)")
    }

    // Pages that are none of the web's.

    private func posted(
        by origin: String, _ who: ScriptedSession.Who = .browser, to address: String = "https://api.mixpanel.com/track",
        process: ProcessIdentity? = nil
    ) throws -> TraceVerdict {
        try judge {
            $0.processes[who] = process
            $0.exchange(
                who, "POST", address, at: 10, headers: [("origin", origin)], body: "u=\(ScriptedSession.url)")
        }
    }

    @Test(arguments: [
        "https://localhost", "http://localhost", "http://localhost:8100", "https://tauri.localhost",
        "capacitor://localhost", "ionic://localhost", "file://", "app://com.partner.shop", "http://127.0.0.1:3000",
    ]) func aPageInsideTheAppIsTheApp(origin: String) throws {
        for who in [ScriptedSession.Who.browser, .disguised] {
            let verdict = try posted(by: origin, who)
            #expect(verdict["HR-46"].verdict == .fail, "\(verdict.story)")
            #expect(verdict["HR-47"].verdict == .fail)
            #expect(verdict["HR-46"].sentence.contains("inside an app"))
        }
        let elsewhere = try posted(by: origin, to: "https://logs.vendor.example/")
        #expect(elsewhere["HR-47"].verdict == .fail, "\(elsewhere.story)")
    }

    @Test func aPageThatDoesNotNameItselfIsNotDecided() throws {
        let verdict = try posted(by: "null")
        #expect(verdict["HR-46"].reason?.code == "actor-unknown", "\(verdict.story)")
        #expect(verdict["HR-47"].reason?.code == "actor-unknown")
        #expect(verdict["HR-47"].sentence.contains("Origin: null"))
    }

    @Test func anExtensionIsThePersons() throws {
        let verdict = try posted(by: "moz-extension://0f1e2d3c", to: "https://check.vendor.example/")
        #expect(verdict["HR-47"].verdict == .pass, "\(verdict.story)")
    }

    @Test func theRefererOfAPageInsideTheAppCountsToo() throws {
        let verdict = try judge {
            $0.exchange(.browser, "GET", Self.address, at: 10, headers: [("referer", "https://localhost/")])
        }
        #expect(verdict["HR-46"].verdict == .fail, "\(verdict.story)")
    }

    @Test func theHeadsAloneSayTheSame() throws {
        func withheld(_ headers: [(String, String)], agent: String? = nil) throws -> TraceVerdict {
            var session = ScriptedSession.conformingShare()
            session.exchange(
                .browser, "POST", "https://api.mixpanel.com/track", at: 10,
                headers: headers + (agent.map { [("user-agent", $0)] } ?? []), body: "u=1")
            return try session.judgeWithheld()
        }
        for headers in [
            [("origin", "null")],
            [("sec-fetch-site", "none"), ("sec-fetch-mode", "no-cors"), ("sec-fetch-dest", "empty")],
        ] {
            let verdict = try withheld(headers)
            #expect(verdict["HR-47"].reason?.code == "withheld", "\(verdict.story)")
        }
        let page = try withheld([])
        #expect(page["HR-47"].verdict == .pass, "\(page.story)")
    }

    @Test func aSyncOfWhichTheHeadsAloneWereRecordedIsTheBrowsers() throws {
        func withheld(_ host: String, _ agent: String) throws -> RuleResult {
            var session = ScriptedSession.conformingShare()
            session.exchange(
                .app, "POST", "https://\(host)/chrome-sync/command/", at: 10, headers: [("user-agent", agent)],
                body: "tab=\(ScriptedSession.url)")
            return try session.judgeWithheld()["HR-47"]
        }
        let sync = try withheld("clients4.google.com", Self.chromeSync)
        #expect(sync.verdict == .pass && sync.assumptions.contains { $0.code == "browser-service" }, "\(sync)")
        #expect(try withheld("sync.vendor.example", Self.chromeSync).reason?.code == "withheld")
        let app = try withheld("clients4.google.com", "okhttp/4.12.0")
        #expect(app.verdict == .fail, "recorded, since it is the app's")
    }
}

@Suite struct PageOriginTests {
    @Test(
        arguments: [
            ("https://chia.health", nil), ("http://shop.example:8080", nil), ("https://localhost.example", nil),
            ("", nil),
            ("://", nil), ("android-app://com.shop", nil), ("https://[::1]:8100", .app), ("HTTPS://LOCALHOST/", .app),
            ("file:///android_asset/www/", .app), ("null", .hidden), ("chrome-extension://abc", .browserExtension),
        ] as [(String, PageOrigin?)]) func whatAnOriginSays(value: String, expected: PageOrigin?)
    {
        #expect(PageOrigin(value) == expected)
    }

    @Test func aRecordingGivesTheSameBack() {
        for origin in [PageOrigin.app, .browserExtension, .hidden] { #expect(PageOrigin(origin.example) == origin) }
    }
}
