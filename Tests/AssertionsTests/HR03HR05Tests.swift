import Assertions
import SessionTrace
import Testing

@Suite struct HR03AppNeverContactsChiaTests {
    private func judge(_ change: (inout ScriptedSession) -> Void) throws -> RuleResult {
        var session = ScriptedSession.conformingShare()
        change(&session)
        return try session.judge()["HR-03"]
    }

    @Test(arguments: [
        "okhttp/4.12.0", "PartnerShop/5.2 CFNetwork/1490 Darwin/23.2.0", "Dart/3.3 (dart:io)", "node", "curl/8.5",
        "Mozilla/5.0 (Linux; Android 15; Pixel 8; wv) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148",
    ]) func theAppsStackIsTheApp(agent: String) throws {
        let result = try judge {
            $0.exchange(.app, "GET", "https://chia.health/x", at: 6, headers: [("user-agent", agent)])
        }
        #expect(result.verdict == .fail, "\(agent)")
    }

    @Test func nodesSingleFetchFieldIsNoBrowser() throws {
        let result = try judge {
            $0.exchange(
                .app, "GET", "https://chia.health/x", at: 6,
                headers: [("user-agent", "node"), ("sec-fetch-mode", "cors")])
        }
        #expect(result.verdict == .fail)
    }

    @Test func whatContradictsItselfIsUnknown() throws {
        let result = try judge {
            let own = $0.connect(.app, "www.chia.health", at: 5.9)
            $0.exchange(
                .app, "GET", "https://www.chia.health/x", at: 6,
                headers: [
                    ("user-agent", "okhttp/4"), ("sec-fetch-site", "none"), ("sec-fetch-mode", "navigate"),
                    ("sec-fetch-dest", "document"),
                ], on: own)
        }
        #expect(result.reason?.code == "actor-unknown")
        #expect(result.sentence.contains("conflict"))
    }

    @Test func theProcessBeatsTheUserAgent() throws {
        let app = try judge {
            $0.processes[.browser] = ProcessIdentity(source: .pktap, name: "PartnerShop")
            $0.browse(ScriptedSession.neutral, at: 6)
        }
        #expect(app.verdict == .pass)  // The pool's connection was opened before the process was set.
        var session = ScriptedSession.upToTap()
        session.processes[.browser] = ProcessIdentity(source: .pktap, name: "PartnerShop")
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        session.browse(ScriptedSession.url, at: 4.5)
        #expect(try session.judge()["HR-03"].verdict == .fail)
        session = ScriptedSession.upToTap()
        session.processes[.browser] = ProcessIdentity(source: .pktap, name: "MobileSafari")
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        session.browse(ScriptedSession.url, at: 4.5)
        let safari = try session.judge()["HR-03"]
        #expect(safari.verdict == .pass)
        #expect(!safari.assumptions.contains { $0.code == "browser-by-headers" })
    }

    @Test func aWebViewsNetworkProcessActsForTheApp() throws {
        var session = ScriptedSession.upToTap()
        session.processes[.browser] = ProcessIdentity(
            source: .pktap, name: "com.apple.WebKit.Networking", effectiveName: "PartnerShop")
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        session.browse(ScriptedSession.url, at: 4.5)
        let result = try session.judge()["HR-03"]
        #expect(result.findings.contains { $0.kind == "web-view-contact" })
    }

    @Test func anUnreadFlowToChiaIsNotDecided() throws {
        let result = try judge { $0.dark(.nobody, "www.chia.health", at: 6, lastData: 7) }
        #expect(result.reason?.code == "actor-unknown")
    }

    @Test func aSpareConnectionBesideTheNavigationIsTheBrowsers() throws {
        let result = try judge { $0.connect(.browser, "chia.health", at: 4.48) }
        #expect(result.verdict == .pass)
        #expect(result.assumptions.contains { $0.code == "spare-connections" })
    }

    @Test func aLookupForACoalescedConnectionIsTheBrowsers() throws {
        let result = try judge {
            let shared = $0.connect(.browser, "www.chia.health", at: 4.6)
            $0.exchange(
                .browser, "GET", "https://www.chia.health/x", at: 4.7, headers: [("sec-fetch-site", "same-site")],
                on: shared)
            $0.lookup("api.chia.health", at: 4.8)
            $0.exchange(
                .browser, "GET", "https://api.chia.health/x", at: 4.9, headers: [("sec-fetch-site", "same-site")],
                on: shared)
        }
        #expect(result.verdict == .pass, "\(result.sentence)")
    }

    @Test func aLookupWithoutAConnectionIsNobodys() throws {
        #expect(try judge { $0.lookup("www.chia.health", at: 20) }.reason?.code == "actor-unknown")
    }

    @Test func aCloakedNameIsChias() throws {
        let result = try judge {
            $0.lookup("go.partner.example", at: 6, aliases: ["edge.chia.health"])
            $0.exchange(.app, "GET", "https://go.partner.example/x", at: 6.1)
        }
        #expect(result.verdict == .fail)
        #expect(result.findings.contains { $0.message.contains("an alias of edge.chia.health") })
    }
}

@Suite struct HR05NoProbeOfHandoffURLTests {
    private func judge(_ change: (inout ScriptedSession) -> Void) throws -> RuleResult {
        var session = ScriptedSession.conformingShare()
        change(&session)
        return try session.judge()["HR-05"]
    }

    @Test func theNavigationAlonePasses() throws {
        let result = try judge { _ in }
        #expect(result.verdict == .pass)
        #expect(result.lookedAt.contains { $0.label == "navigation" })
    }

    @Test(arguments: [
        ScriptedSession.url, ScriptedSession.url + "?utm=1", ScriptedSession.neutral, ScriptedSession.neutral + "/",
    ])
    func aHEADOfTheAppFails(address: String) throws {
        let result = try judge { $0.exchange(.app, "HEAD", address, at: 4.35) }
        #expect(result.findings.contains { $0.kind == "head" }, "\(address)")
    }

    @Test func aHEADOfNobodyFails() throws {
        #expect(try judge { $0.exchange(.nobody, "HEAD", ScriptedSession.url, at: 4.35) }.verdict == .fail)
    }

    @Test(arguments: [("sec-purpose", "prefetch;prerender"), ("purpose", "preview"), ("x-moz", "prefetch")])
    func speculationFails(header: (String, String)) throws {
        let result = try judge { session in
            session.exchange(
                .browser, "GET", ScriptedSession.url, at: 4.35,
                headers: [
                    header, ("sec-fetch-site", "none"), ("sec-fetch-dest", "document"), ("sec-fetch-mode", "navigate"),
                ])
        }
        #expect(result.findings.contains { $0.kind == "prefetch" })
    }

    @Test func previewServicesAndRangesFail() throws {
        let preview = try judge {
            $0.exchange(
                .app, "GET", ScriptedSession.url, at: 4.35,
                headers: [("user-agent", "facebookexternalhit/1.1 Facebot Twitterbot/1.0")])
        }
        #expect(preview.findings.contains { $0.kind == "preview" })
        let range = try judge {
            $0.exchange(
                .browser, "GET", ScriptedSession.url, at: 4.35,
                headers: [
                    ("range", "bytes=0-99"), ("sec-fetch-site", "none"), ("sec-fetch-dest", "document"),
                    ("sec-fetch-mode", "navigate"),
                ])
        }
        #expect(range.findings.contains { $0.kind == "range" })
    }

    @Test func whatChiasPageFetchesIsNotTheApps() throws {
        let result = try judge {
            $0.exchange(
                .browser, "GET", ScriptedSession.url, at: 5,
                headers: [
                    ("sec-fetch-site", "same-origin"), ("sec-fetch-dest", "empty"), ("referer", ScriptedSession.url),
                ])
        }
        #expect(result.verdict == .pass)
        #expect(result.findings.contains { $0.kind == "not-the-app" })
    }

    @Test func unreadConnectionsToChiaAreNotDecided() throws {
        #expect(try judge { $0.dark(.nobody, "chia.health", at: 5, lastData: 6) }.reason?.code == "no-keys")
    }

    @Test func aDisguisedClientIsNotDecided() throws {
        #expect(
            try judge { $0.exchange(.disguised, "GET", ScriptedSession.url, at: 5) }.reason?.code == "actor-unknown")
    }

    @Test func withoutAnyURLItIsNotApplicable() throws {
        var session = ScriptedSession()
        session.mark(.launch, at: 0)
        session.exchange(.app, "GET", "https://api.partner.example/home", at: 1)
        #expect(try session.judge()["HR-05"].verdict == .notApplicable)
    }
}
