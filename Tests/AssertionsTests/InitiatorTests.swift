import SessionTrace
import Testing

@testable import Assertions

@Suite struct InitiatorTests {
    private func initiator(_ headers: [(String, String)]) -> Initiator {
        record(headers).ownInitiator
    }

    private func record(_ headers: [(String, String)]) -> RequestRecord {
        var fields = FieldSection()
        for (name, value) in [("accept", "text/html")] + headers { fields.append(name, value) }
        let packet = PacketReference(number: 1, time: Instant(nanoseconds: 0))
        let request = Request(
            method: "GET", target: "/h", scheme: "https", authority: "chia.health", fields: fields, started: packet,
            ended: packet)
        return RequestRecord(
            Exchange(
                id: ExchangeID(connection: ConnectionID(0), index: 0), version: .http2, request: request,
                end: .complete, ended: packet),
            request: request, flow: nil, host: request.host, actor: .nothing,
            redactor: Redactor(installationKey: []), keepsHead: true)
    }

    @Test func whatTheFieldsSay() throws {
        let chia = try #require(HostName("chia.health"))
        let shop = try #require(HostName("shop.example"))
        #expect(initiator([]) == .untold)
        #expect(initiator([("sec-fetch-site", "none")]) == .outside)
        #expect(initiator([("sec-fetch-site", "same-origin")]) == .page(chia))
        #expect(initiator([("sec-fetch-site", "same-site")]) == .page(chia))
        #expect(initiator([("sec-fetch-site", "cross-site")]) == .foreign)
        #expect(initiator([("sec-fetch-site", "odd")]) == .untold)
        #expect(initiator([("sec-fetch-site", "cross-site"), ("referer", "https://shop.example/x")]) == .page(shop))
        #expect(initiator([("origin", "https://shop.example"), ("referer", "https://chia.health/")]) == .page(shop))
        #expect(initiator([("origin", "null"), ("referer", "https://chia.health/")]) == .page(chia))
        #expect(
            initiator([("sec-fetch-site", "cross-site"), ("referer", "android-app://com.shop.app/")])
                == .program("com.shop.app"))
        #expect(initiator([("referer", "android-app://")]) == .untold)
    }

    @Test func wordsNameWhoStartedIt() throws {
        #expect(initiator([("sec-fetch-site", "same-origin")]).words == "started by a page of chia.health")
        #expect(initiator([("referer", "android-app://com.shop.app/")]).words == "handed over by com.shop.app")
        #expect(Initiator.redirect(try #require(HostName("go.example"))).words == "redirected by go.example")
        #expect(initiator([("referer", "android-app://phs_abcdefghijklmnop/")]).words == "handed over by ‹token›")
    }

    @Test func theHeadKeepsNamesAndNoValues() throws {
        let head = try #require(
            record([
                ("X-App", "secret-1"), ("cookie", "a=secret-2; b=secret-3"),
                ("sec-ch-ua", #""Google Chrome";v="140", "Not=A?Brand";v="8""#),
                ("sec-ch-ua-platform", "\"Android\""), ("sec-fetch-user", "?1"), ("authorization", "secret-4"),
            ]).head)
        #expect(
            head.fieldNames == [
                "accept", "x-app", "cookie", "sec-ch-ua", "sec-ch-ua-platform", "sec-fetch-user", "authorization",
            ])
        #expect(head.brands == ["Google Chrome", "Not=A?Brand"])
        #expect(head.platform == "Android" && head.isUserActivated)
        #expect(head.cookies.map { $0.prefix { $0 != "=" } } == ["a", "b"])
        #expect(!"\(head)".contains("secret"))
        #expect(!head.isCut)
        let many = try #require(record((0..<70).map { ("f\($0)", "1") }).head)
        #expect(many.isCut && many.fieldNames.count == RequestHead.nameLimit)
        let long = try #require(record([("user-agent", String(repeating: "a", count: 10_000))]).head)
        #expect(long.userAgent.utf8.count == RequestHead.textLimit)
    }

    @Test func onlyOpeningsKeepAHead() {
        #expect(record([("sec-fetch-dest", "image")]).head == nil)
        #expect(record([("sec-purpose", "prefetch")]).head == nil)
    }
}

/// What lies below a User-Agent: it speaks against a browser only where it can't be that browser's.
@Suite struct StackSignsTests {
    private func conflict(_ agent: String, _ headers: [(String, String)] = [], ja4: String? = nil) -> String? {
        var fields = FieldSection()
        for (name, value) in headers + [("user-agent", agent)] { fields.append(name, value) }
        let packet = PacketReference(number: 1, time: Instant(nanoseconds: 0))
        return StackSigns.conflict(
            Request(
                method: "GET", target: "/h", scheme: "https", authority: "chia.health", fields: fields,
                started: packet, ended: packet), ja4: ja4)
    }

    private static let chrome =
        "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36"

    private static func order(_ letters: String) -> [(String, String)] {
        letters.map { letter in
            (["m": ":method", "a": ":authority", "s": ":scheme", "p": ":path"][String(letter)] ?? ":x", "v")
        }
    }

    @Test func theOrderOfHTTP2sFields() {
        #expect(conflict(Self.chrome, Self.order("masp")) == nil)
        #expect(conflict(Self.chrome, Self.order("mpas"))?.contains("in the order of OkHttp") ?? false)
        #expect(conflict(Self.chrome, Self.order("amps"))?.contains("Go") ?? false)
        #expect(conflict(Self.chrome, Self.order("psam")) == nil, "nobody's order says nothing")
        #expect(conflict(ScriptedSession.firefox, Self.order("mpas")) == nil, "Firefox' own")
        #expect(conflict(ScriptedSession.safari, Self.order("mspa")) == nil)
        #expect(conflict(ScriptedSession.safari, Self.order("mpas")) != nil)
        #expect(conflict(ScriptedSession.chromeOnIOS, Self.order("mpas")) == nil, "its order is not known")
        #expect(conflict("okhttp/4.12.0", Self.order("mpas")) == nil, "no browser's word")
    }

    @Test func theTLSStack() {
        #expect(conflict(Self.chrome, ja4: ScriptedSession.okHttpJA4)?.contains("OkHttp on Android") ?? false)
        #expect(conflict(Self.chrome, ja4: "t13d1517h2_8daaf6152771_cb7bf5808d99") == nil, "Chromium's own")
        #expect(conflict(Self.chrome, ja4: "nonsense") == nil)
        #expect(AppStacks.name(ofJA4: "t12i0102h1_a33745022dd6_1f22a2ca17c4") == "Node")
        #expect(AppStacks.name(ofJA4: nil) == nil)
    }

    @Test func clientHints() {
        let hints = [("sec-ch-ua", #""Chromium";v="140""#)]
        #expect(conflict(ScriptedSession.firefox, hints)?.contains("client hints") ?? false)
        #expect(conflict(Self.chrome, hints) == nil)
        #expect(conflict(ScriptedSession.safari, hints) == nil)
    }

    /// A conflict makes the sender unknown, and the reason is said.
    @Test func aConflictMakesTheSenderUnknown() throws {
        let session = ScriptedSession.shared { $0.browse(ScriptedSession.url, at: 4.5) }
        let verdict = try session.judge(session.events(ja4: ScriptedSession.okHttpJA4, of: "chia.health"))
        #expect(verdict["HR-05"].reason?.code == "actor-unknown", "\(verdict.story)")
        #expect(verdict["HR-03"].sentence.contains("conflict: Chrome's User-Agent"))
    }

    @Test func aProcessBeatsTheStack() throws {
        var session = ScriptedSession.upToTap()
        session.processes[.browser] = ProcessIdentity(source: .pktap, name: "MobileSafari")
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        session.browse(ScriptedSession.url, at: 4.5)
        session.mark(.end, at: 90)
        let verdict = try session.judge(session.events(ja4: ScriptedSession.okHttpJA4, of: "chia.health"))
        #expect(verdict["HR-33"].verdict == .pass && verdict["HR-09"].verdict == .pass)
    }
}

@Suite struct ActorReadingTests {
    @Test func whatSourcesSay() {
        func actor(_ process: ProcessIdentity) -> Actor? { ActorReading(process: process)?.actor }
        #expect(actor(ProcessIdentity(source: .listener, name: "browser")) == .browser)
        #expect(actor(ProcessIdentity(source: .listener, name: "app")) == .app)
        #expect(actor(ProcessIdentity(source: .listener, name: "phone")) == nil)
        #expect(actor(ProcessIdentity(source: .socketTable, name: "com.partner.shop", userID: 10_234)) == .app)
        #expect(actor(ProcessIdentity(source: .socketTable, name: "com.android.chrome", userID: 10_100)) == .browser)
        #expect(actor(ProcessIdentity(source: .pcapdroid, name: "netd", userID: 1_051)) == nil, "acts for others")
        #expect(actor(ProcessIdentity(source: .pcapd, name: "nsurlsessiond", effectiveName: "PartnerShop")) == .app)
        #expect(actor(ProcessIdentity(source: .pcapd, name: "SafariViewService")) == .webview)
    }

    @Test func activitiesByComponent() {
        func kind(_ component: String) -> ActivityKind { ActivityKind(component: component) }
        #expect(kind("com.android.chrome/com.google.android.apps.chrome.Main") == .browser)
        #expect(kind("com.android.chrome/org.chromium.chrome.browser.ChromeTabbedActivity2") == .browser)
        #expect(
            kind("com.android.chrome/org.chromium.chrome.browser.customtabs.SeparateTaskCustomTabActivity")
                == .customTab)
        #expect(kind("com.android.chrome/org.chromium.chrome.browser.webapps.WebappActivity") == .customTab)
        #expect(kind("org.mozilla.fenix/.HomeActivity") == .browser)
        #expect(kind("com.sec.android.app.sbrowser/.SBrowserLauncherActivity") == .dispatcher)
        #expect(kind("com.partner.shop/.CustomTabActivity") == .other)
        #expect(kind("nonsense") == .other)
        #expect(kind("/") == .other)
    }
}
