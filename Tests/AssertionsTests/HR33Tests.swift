import Assertions
import SessionTrace
import Testing

@Suite struct HR33ExternalBrowserOnlyTests {
    private func judge(
        process: ProcessIdentity? = nil, headers: [(String, String)] = [], url: String = ScriptedSession.url
    ) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        if let process { session.processes[.browser] = process }
        session.browse(url, at: 4.5, headers: headers)
        session.mark(.end, at: 90)
        return try session.judge()["HR-33"]
    }

    private func judge(starting component: String, at time: Double = 4.4, host: String? = "chia.health") throws
        -> RuleResult
    {
        let session = ScriptedSession.shared { $0.browse(ScriptedSession.url, at: 4.5) }
        return try session.judge(session.events(starting: component, at: time, host: host))["HR-33"]
    }

    // MARK: pass

    @Test(arguments: [
        ProcessIdentity(source: .pktap, name: "MobileSafari"),
        ProcessIdentity(source: .pcapd, name: "com.apple.WebKit.Networking", effectiveName: "MobileSafari"),
    ]) func theBrowsersProcessOnIOSPasses(process: ProcessIdentity) throws {
        let result = try judge(process: process)
        #expect(result.verdict == .pass, "\(result.sentence)")
        #expect(result.sentence.contains("1 page opened"))
        #expect(result.lookedAt.contains { $0.place?.contains("MobileSafari") ?? false }, "the evidence is shown")
    }

    @Test func theBrowsersOwnActivityPasses() throws {
        let result = try judge(starting: "com.android.chrome/org.chromium.chrome.browser.ChromeTabbedActivity")
        #expect(result.verdict == .pass, "\(result.sentence)")
        #expect(result.sentence.contains("100 ms before (actors.jsonl:3)"))
    }

    @Test func aBrowserThatLendsNoViewsPassesWhenItsStackIsSeenElsewhere() throws {
        func verdict(elsewhere: Bool) throws -> RuleResult {
            let agent = [("user-agent", ScriptedSession.chromeOnIOS)]
            return try ScriptedSession.shared {
                if elsewhere { $0.browse("https://news.example/", at: 3, headers: agent) }
                $0.browse(ScriptedSession.url, at: 4.5, headers: agent)
            }.judge()["HR-33"]
        }
        let seen = try verdict(elsewhere: true)
        #expect(seen.verdict == .pass)
        #expect(seen.assumptions.contains { $0.code == "browser-by-headers" })
        #expect(try verdict(elsewhere: false).reason?.code == "embedded-browser-possible")
    }

    private static let chrome = "com.android.chrome/org.chromium.chrome.browser.ChromeTabbedActivity"

    /// Started from the home screen a browser shows anything; with an address, or to view one, it shows that.
    @Test(
        arguments: [
            ("android.intent.action.MAIN", String?.none, false), ("android.intent.action.VIEW", nil, true),
            (nil, "chia.health", true), ("android.intent.action.MAIN", "chia.health", true), (nil, nil, false),
        ] as [(String?, String?, Bool)])
    func aBrowserThatWasStartedWithoutAnAddress(action: String?, host: String?, tells: Bool) throws {
        let session = ScriptedSession.shared { $0.browse(ScriptedSession.url, at: 4.5) }
        let result = try session.judge(
            session.events(starting: Self.chrome, at: 4.4, action: action, host: host))["HR-33"]
        #expect((result.verdict == .pass) == tells, "\(result)")
    }

    /// An address that the browser was started with led elsewhere, unless what it led to can't be read.
    @Test func anAddressOfAHostThatStayedUnreadTellsNothing() throws {
        func result(isDark: Bool) throws -> RuleResult {
            let session = ScriptedSession.shared {
                if isDark { $0.dark(.browser, "go.vendor.example", at: 4.41, lastData: 4.45) }
                $0.browse(ScriptedSession.url, at: 4.5)
            }
            return try session.judge(
                session.events(
                    starting: "com.example.app/androidx.browser.customtabs.CustomTabActivity", at: 4.4,
                    host: "go.vendor.example"))["HR-33"]
        }
        #expect(try result(isDark: true).verdict == .inconclusive)
        #expect(try result(isDark: false).verdict == .inconclusive)
    }

    /// A view inside the app shows itself, whatever was started.
    @Test func aWebViewBesideAStartedBrowserFails() throws {
        let session = ScriptedSession.shared {
            $0.browse(ScriptedSession.url, at: 4.5, headers: [("user-agent", ScriptedSession.webView)])
        }
        let result = try session.judge(session.events(starting: Self.chrome, at: 4.4))["HR-33"]
        #expect(result.violations == ["web-view"], "\(result)")
    }

    // MARK: fail
    // MARK: fail

    @Test(arguments: [
        ScriptedSession.webView, ScriptedSession.iOSWebView, ScriptedSession.safari + " [FBAN/FBIOS;FBAV/500.0]",
        ScriptedSession.safari + " GSA/300.0", ScriptedSession.safari + " Line/14.0",
        ScriptedSession.safari + " Instagram 300.0",
    ]) func theUserAgentOfAViewFails(agent: String) throws {
        let result = try judge(headers: [("user-agent", agent)])
        #expect(result.findings.map(\.kind) == ["web-view"], "\(agent)")
    }

    @Test(arguments: [
        ("x-requested-with", "com.partner.shop"), ("sec-ch-ua", #""Android WebView";v="140", "Chromium";v="140""#),
    ]) func theHeadersOfAWebViewFail(header: (String, String)) throws {
        #expect(try judge(headers: [header]).findings.map(\.kind) == ["web-view"])
    }

    @Test(arguments: [
        ProcessIdentity(source: .pktap, name: "SafariViewService"),
        ProcessIdentity(source: .pcapd, name: "com.apple.WebKit.Networking", effectiveName: "SafariViewService"),
        ProcessIdentity(source: .pktap, name: "com.apple.WebKit.Networking", effectiveName: "PartnerShop"),
        ProcessIdentity(source: .pcapdroid, name: "Partner Shop", userID: 10_234),
    ]) func theProcessOfAViewFailsWhateverItCallsItself(process: ProcessIdentity) throws {
        let result = try judge(process: process, headers: [("user-agent", ScriptedSession.safari)])
        #expect(result.findings.map(\.kind) == ["web-view"], "\(result.sentence)")
    }

    @Test(arguments: [
        "com.android.chrome/org.chromium.chrome.browser.customtabs.CustomTabActivity",
        "org.mozilla.firefox/org.mozilla.fenix.customtabs.ExternalAppBrowserActivity",
    ]) func aCustomTabsActivityFails(component: String) throws {
        #expect(try judge(starting: component).findings.map(\.kind) == ["custom-tab"])
    }

    /// What was started for another address is neither the view that shows this one nor the proof of a window.
    @Test(arguments: [
        "com.android.chrome/org.chromium.chrome.browser.customtabs.CustomTabActivity",
        "com.android.chrome/org.chromium.chrome.browser.ChromeTabbedActivity",
    ]) func anActivityForAnotherAddressSaysNothing(component: String) throws {
        let result = try judge(starting: component, host: "news.example")
        #expect(result.verdict == .inconclusive, "\(result)")
        #expect(try judge(starting: component, host: nil).verdict != .inconclusive)
    }

    @Test func anActivityForTheAddressThatLedHereCounts() throws {
        let session = ScriptedSession.shared {
            $0.browse(
                "https://go.partner.example/1", at: 4.2, status: 302,
                responseHeaders: [("location", ScriptedSession.url)])
            $0.browse(ScriptedSession.url, at: 4.5)
        }
        let result = try session.judge(
            session.events(
                starting: "com.android.chrome/org.chromium.chrome.browser.customtabs.CustomTabActivity", at: 4.1,
                host: "go.partner.example"))["HR-33"]
        #expect(result.findings.map(\.kind) == ["custom-tab"], "\(result)")
    }

    @Test func anActivityThatTakesTheAddressItselfFails() throws {
        let component = "com.partner.shop/.WebActivity"
        #expect(try judge(starting: component).findings.map(\.kind) == ["other-app"])
        #expect(try judge(starting: component, host: "other.example").verdict == .inconclusive)
        #expect(try judge(starting: component, host: nil).verdict == .inconclusive)
    }

    @Test func theTLSStackOfAnHTTPLibraryFails() throws {
        let session = ScriptedSession.shared { $0.browse(ScriptedSession.url, at: 4.5) }
        let result = try session.judge(session.events(ja4: ScriptedSession.okHttpJA4, of: "chia.health"))["HR-33"]
        #expect(result.findings.map(\.kind) == ["app-stack"])
        #expect(result.sentence.contains("OkHttp on Android"))
    }

    @Test func anUnreadConnectionOfAViewFails() throws {
        var session = ScriptedSession.upToTap()
        session.processes[.nobody] = ProcessIdentity(source: .pktap, name: "SafariViewService")
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        session.dark(.nobody, "chia.health", at: 4.5, lastData: 6)
        session.mark(.end, at: 90)
        #expect(try session.judge()["HR-33"].findings.map(\.kind) == ["web-view"])
    }

    @Test func aPageThatIsNoHandoffFailsInAViewToo() throws {
        let headers = [("user-agent", ScriptedSession.webView)]
        #expect(try judge(headers: headers, url: "https://chia.health/privacy").verdict == .fail)
        #expect(try judge(url: "https://chia.health/privacy").verdict == .notApplicable, "the person's own visit")
    }

    // MARK: inconclusive

    @Test(arguments: [ScriptedSession.safari, ScriptedSession.firefox]) func aUserAgentAloneProvesNothing(
        agent: String
    ) throws {
        let result = try judge(headers: [("user-agent", agent)])
        #expect(result.reason?.code == "embedded-browser-possible")
        #expect(result.reason?.remedy.contains("--actors") ?? false, "the report says how to get evidence")
    }

    @Test func safariIsNotToBeToldFromItsViewNorChromeFromItsTab() throws {
        let safari = try judge(headers: [("user-agent", ScriptedSession.safari)])
        #expect(safari.sentence.contains("SFSafariViewController"))
        #expect(try judge().sentence.contains("a Custom Tab"))
    }

    /// Chrome's uid is a Custom Tab's too.
    @Test(arguments: [
        ProcessIdentity(source: .pcapdroid, name: "Chrome", userID: 10_100),
        ProcessIdentity(source: .socketTable, name: "com.android.chrome", userID: 10_100),
        ProcessIdentity(source: .listener, name: "browser"),
    ]) func whatOwnsACustomTabTooProvesNothing(process: ProcessIdentity) throws {
        let result = try judge(process: process)
        #expect(result.reason?.code == "embedded-browser-possible", "\(result.sentence)")
        #expect(result.sentence.contains("same process"))
    }

    @Test func theBrowsersEntryDecidesNothing() throws {
        let entry = "com.android.chrome/com.google.android.apps.chrome.IntentDispatcher"
        #expect(try judge(starting: entry).reason?.code == "embedded-browser-possible")
    }

    @Test func anActivityOfLongAgoOrLaterShowsAnotherPage() throws {
        let tab = "com.android.chrome/org.chromium.chrome.browser.customtabs.CustomTabActivity"
        #expect(try judge(starting: tab, at: -5.3).verdict == .inconclusive)
        #expect(try judge(starting: tab, at: -5.2).verdict == .fail)
        #expect(try judge(starting: tab, at: 4.75).verdict == .fail, "logs are known to 250 ms")
        #expect(try judge(starting: tab, at: 4.76).verdict == .inconclusive)
    }

    @Test func unreadConnectionsAreNotDecided() throws {
        let result = try ScriptedSession.shared { $0.dark(.nobody, "chia.health", at: 4.5, lastData: 6) }
            .judge()["HR-33"]
        #expect(result.reason?.code == "no-keys")
    }

    @Test func aDisguisedClientIsNobody() throws {
        let result = try ScriptedSession.shared {
            $0.exchange(.disguised, "GET", ScriptedSession.url, at: 4.5, headers: [("accept", "text/html")])
        }.judge()["HR-33"]
        #expect(result.reason?.code == "actor-unknown")
    }

    @Test func anotherDevicesViewIsNotThisSessions() throws {
        var session = ScriptedSession.shared { _ in }
        session.clientAddress = IPAddress(ipv4: 0x0A00_0009)
        session.browse(ScriptedSession.url, at: 4.5, headers: [("user-agent", ScriptedSession.webView)])
        #expect(try session.judge()["HR-33"].reason?.code == "several-devices")
    }

    // MARK: not applicable, traps

    @Test func withoutAnOpeningItIsNotApplicable() throws {
        #expect(try ScriptedSession.shared { _ in }.judge()["HR-33"].verdict == .notApplicable)
    }

    @Test func theAppsOwnLibraryIsAnotherRulesMatter() throws {
        let result = try ScriptedSession.shared {
            $0.exchange(.app, "GET", ScriptedSession.url, at: 4.5, headers: [("accept", "text/html")])
        }.judge()["HR-33"]
        #expect(result.verdict == .notApplicable)
    }

    /// DuckDuckGo's browser is made of Android's WebView.
    @Test func aBrowserMadeOfAWebViewNamesItself() throws {
        let own = try judge(headers: [("x-requested-with", "com.duckduckgo.mobile.android")])
        #expect(own.reason?.code == "embedded-browser-possible")
        #expect(try judge(headers: [("x-requested-with", "XMLHttpRequest")]).verdict == .inconclusive)
    }

    @Test func anUnknownTLSStackSaysNothing() throws {
        let session = ScriptedSession.shared { $0.browse(ScriptedSession.url, at: 4.5) }
        let result = try session.judge(session.events(ja4: "t13d1515h2_0123456789ab_ba9876543210"))["HR-33"]
        #expect(result.reason?.code == "embedded-browser-possible")
    }

    @Test func theAppsOwnJA4IsNoSignAgainstTheBrowser() throws {
        // Apple's URL loading and Safari share one.
        var session = ScriptedSession.upToTap()
        session.processes[.browser] = ProcessIdentity(source: .pktap, name: "MobileSafari")
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        session.browse(ScriptedSession.url, at: 4.5)
        session.mark(.end, at: 90)
        #expect(try session.judge(session.events(ja4: "t13d2014h2_shared_shared"))["HR-33"].verdict == .pass)
    }

    @Test func aPageThatAPageOfChiaOpensIsNotTheApps() throws {
        let result = try ScriptedSession.shared {
            $0.browse(
                "https://chia.health/next", at: 6,
                headers: [
                    ("sec-fetch-site", "same-origin"), ("referer", ScriptedSession.url),
                    ("user-agent", ScriptedSession.webView),
                ])
        }.judge()["HR-33"]
        #expect(result.verdict == .notApplicable)
    }

    // MARK: an adversarial pair

    /// One word of the User-Agent apart.
    @Test func oneWordTellsTheWebView() throws {
        let chrome = ScriptedSession.webView.replacing("; wv", with: "")
        #expect(try judge(headers: [("user-agent", chrome)]).verdict == .inconclusive)
        #expect(try judge(headers: [("user-agent", ScriptedSession.webView)]).verdict == .fail)
    }
}
