import Assertions
import SessionTrace
import Testing

@Suite struct HR29NoCustomHeaderTests {
    private func judge(
        _ headers: [(String, String)], url: String = ScriptedSession.url,
        before: (inout ScriptedSession) -> Void = { _ in }
    ) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        session.policyText = "hosts:\n  partner: [api.partner.example]\n  return: [www.partner.example]\n"
        before(&session)
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        session.browse(url, at: 4.5, headers: headers)
        session.mark(.end, at: 90)
        return try session.judge()["HR-29"]
    }

    @Test func aBrowsersOwnFieldsPass() throws {
        let result = try judge([
            ("sec-ch-ua", #""Chromium";v="140""#), ("sec-fetch-user", "?1"), ("dnt", "1"), ("sec-gpc", "1"),
            ("save-data", "on"), ("upgrade-insecure-requests", "1"), ("priority", "u=0, i"), ("cookie", "a=b"),
            ("if-none-match", "\"x\""), ("Device-Memory", "8"),
        ])
        #expect(result.verdict == .pass, "\(result.sentence)")
        #expect(result.sentence == "1 opening with a browser's header fields alone")
    }

    @Test(arguments: [
        ("x-partner-user", "custom-header"), ("X-Forwarded-For", "custom-header"), ("authorization", "credential"),
        ("proxy-authorization", "credential"),
    ]) func theAppsFieldsFail(name: String, kind: String) throws {
        let result = try judge([(name, "abc")])
        #expect(result.findings.map(\.kind) == [kind], "\(name)")
        #expect(result.severity == .error)
        #expect(!result.sentence.contains("abc"))
    }

    @Test func xRequestedWithIsAnotherRulesMatter() throws {
        #expect(try judge([("x-requested-with", "com.partner.shop")]).verdict == .pass)
    }

    // MARK: control visits

    @Test func anUnknownFieldWeighsByWhatIsKnown() throws {
        let unknown = try judge([("partner-hint", "1")])
        #expect(unknown.findings.map(\.kind) == ["unusual-header"] && unknown.severity == .warning)
        let learnt = try judge([("partner-hint", "1")]) { $0.browse("https://www.partner.example/", at: 3) }
        #expect(learnt.findings.map(\.kind) == ["custom-header"] && learnt.severity == .error)
        let same = try judge([("partner-hint", "1"), ("x-browser-id", "2")]) {
            $0.browse("https://www.partner.example/", at: 3, headers: [("partner-hint", "1"), ("x-browser-id", "7")])
        }
        #expect(same.verdict == .pass, "the browser sends it everywhere: \(same.sentence)")
        #expect(same.sentence.hasSuffix(", as on its control visit"))
    }

    @Test func theRecordersOwnPageIsAControlVisit() throws {
        let headers = [("partner-hint", "1")]
        let probe = try judge(headers) { $0.browse("https://mark.handoff.test/", at: 3, headers: headers) }
        #expect(probe.verdict == .pass)
    }

    @Test func anotherBrowsersVisitTeachesNothing() throws {
        let headers = [("partner-hint", "1")]
        let other = try judge(headers) {
            $0.browse(
                "https://www.partner.example/", at: 3, headers: headers + [("user-agent", ScriptedSession.firefox)])
        }
        #expect(other.findings.map(\.kind) == ["unusual-header"])
        let news = try judge(headers) { $0.browse("https://news.example/", at: 3, headers: headers) }
        #expect(news.findings.map(\.kind) == ["unusual-header"], "any page is no control visit")
    }

    @Test func credentialsAreNeverLearnt() throws {
        let headers = [("authorization", "Basic x")]
        let result = try judge(headers) { $0.browse("https://www.partner.example/", at: 3, headers: headers) }
        #expect(result.findings.map(\.kind) == ["credential"])
    }

    // MARK: cookies

    @Test func aCookieOfTheAppFails() throws {
        func opened(_ cookie: String) throws -> RuleResult {
            try judge([("cookie", "theme=dark; \(cookie)")]) {
                $0.exchange(
                    .app, "GET", "https://api.partner.example/me", at: 3, headers: [("cookie", "lang=en; sid=abc123")])
            }
        }
        let result = try opened("sid=abc123")
        #expect(result.findings.map(\.kind) == ["app-cookie"])
        #expect(result.sentence.contains("(sid)") && !result.sentence.contains("abc123"))
        #expect(try opened("sid=other").verdict == .pass, "a name alone is a coincidence")
    }

    // MARK: referrers

    @Test func aReferrerOfAndroidIsInformationUnlessItNamesTheApp() throws {
        let chrome = try judge([("referer", "android-app://com.google.android.gm/")])
        #expect(chrome.verdict == .pass && chrome.findings.map(\.kind) == ["program-referrer"])
        let own = try judge([("referer", "android-app://example.partner.shop/")])
        #expect(own.findings.map(\.kind) == ["names-app"] && own.severity == .warning)
    }

    @Test func aReferrerNamesTheAppByItsProcess() throws {
        var session = ScriptedSession()
        session.processes[.app] = ProcessIdentity(source: .socketTable, name: "com.shop.app")
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        session.browse(ScriptedSession.url, at: 4.5, headers: [("referer", "android-app://com.shop.app/")])
        session.mark(.end, at: 90)
        #expect(try session.judge()["HR-29"].findings.map(\.kind) == ["names-app"])
    }

    // MARK: the rest

    @Test func theNeutralURLIsLookedAtToo() throws {
        let result = try ScriptedSession.goneNeutral {
            $0.browse(ScriptedSession.neutral, at: 4.5, headers: [("x-app", "1")])
        }.judge()["HR-29"]
        #expect(result.findings.map(\.kind) == ["custom-header"])
    }

    @Test func aWithheldOpeningIsJudgedByTheNamesThatWereKept() throws {
        func judged(_ headers: [(String, String)]) throws -> RuleResult {
            let session = ScriptedSession.shared { $0.browse(ScriptedSession.url, at: 4.5, headers: headers) }
            return try session.judge(WithheldSession(session).events)["HR-29"]
        }
        #expect(try judged([("cookie", "a=b")]).verdict == .pass)
        #expect(try judged([("x-app", "1")]).findings.map(\.kind) == ["custom-header"])
        #expect(
            try judged([("referer", "android-app://com.google.android.gm/")]).findings.map(\.kind)
                == ["program-referrer"])
    }

    @Test func tooManyFieldsAreNotDecided() throws {
        let many = (0..<70).map { ("sec-x-\($0)", "1") }
        #expect(try judge(many).reason?.code == "header-table-unknown")
    }

    @Test func anotherDeviceAndUnreadConnectionsAreNotDecided() throws {
        var session = ScriptedSession.shared { _ in }
        session.clientAddress = IPAddress(ipv4: 0x0A00_0009)
        session.browse(ScriptedSession.url, at: 4.5, headers: [("x-app", "1")])
        #expect(try session.judge()["HR-29"].reason?.code == "several-devices")
        let dark = try ScriptedSession.shared { $0.dark(.nobody, "chia.health", at: 4.5, lastData: 6) }.judge()["HR-29"]
        #expect(dark.reason?.code == "no-keys")
    }

    @Test func withoutAnOpeningItIsNotApplicable() throws {
        #expect(try ScriptedSession.shared { _ in }.judge()["HR-29"].verdict == .notApplicable)
    }
}

@Suite struct HR30NoRedirectorTests {
    private func judge(
        _ policy: String = "hosts:\n  partner: [api.partner.example]\n  return: [www.partner.example]\n",
        _ build: (inout ScriptedSession) -> Void
    ) throws -> RuleResult {
        var session = ScriptedSession.shared(build)
        session.policyText = policy
        return try session.judge()["HR-30"]
    }

    @Test func straightToChiaPasses() throws {
        let result = try judge { $0.browse(ScriptedSession.url, at: 4.5) }
        #expect(result.verdict == .pass, "\(result.sentence)")
    }

    @Test(arguments: ["https://bit.ly/x", "https://app.adjust.com/x", "https://abc.app.link/x"])
    func aHostThatPassesURLsOnFails(hop: String) throws {
        let result = try judge {
            $0.browse(hop, at: 4.3)
            $0.browse(ScriptedSession.url, at: 4.5)
        }
        #expect(result.findings.map(\.kind) == ["redirector"], "\(hop): \(result.sentence)")
        #expect(result.sentence.contains("300 ms after the tap"))
    }

    @Test(arguments: ["https://api.partner.example/go", "https://www.partner.example/go"])
    func aPageOfThePartnersFails(hop: String) throws {
        let result = try judge {
            $0.browse(hop, at: 4.3)
            $0.browse(ScriptedSession.url, at: 4.5)
        }
        #expect(result.findings.map(\.kind) == ["redirector"])
    }

    @Test func aRedirectFromAnywhereFails() throws {
        let result = try judge {
            $0.browse(
                "https://a.example/1", at: 4.2, status: 302, responseHeaders: [("location", "https://b.example/2")])
            $0.browse(
                "https://b.example/2", at: 4.3, status: 302, responseHeaders: [("location", ScriptedSession.url)])
            $0.browse(ScriptedSession.url, at: 4.5)
        }
        #expect(result.findings.map(\.kind) == ["redirect", "redirect"], "\(result.sentence)")
    }

    @Test func aPageThatOpensItFails() throws {
        let result = try judge {
            $0.browse("https://links.example/x", at: 4.3)
            $0.browse(
                ScriptedSession.url, at: 4.5,
                headers: [("referer", "https://links.example/"), ("sec-fetch-site", "cross-site")])
        }
        #expect(result.findings.contains { $0.kind == "opened-by-page" })
    }

    /// Android's browsers call what another program hands over cross-site.
    @Test func crossSiteAloneIsNoPage() throws {
        let result = try judge {
            $0.browse(
                ScriptedSession.url, at: 4.5,
                headers: [("sec-fetch-site", "cross-site"), ("referer", "android-app://com.shop/")])
        }
        #expect(result.verdict == .pass, "\(result.sentence)")
    }

    @Test func theURLInsideAnotherOneFails() throws {
        let wrapped = "https://r.example/?u=https%3A%2F%2Fchia.health%2Fh%2F\(ScriptedSession.token)"
        let result = try judge { $0.browse(wrapped, at: 4.3) }
        #expect(result.findings.map(\.kind) == ["wrapped"])
        #expect(result.verdict == .fail)
    }

    @Test func anUnreadContactIsAWarning() throws {
        func contact(at time: Double) throws -> RuleResult {
            try judge {
                $0.dark(.nobody, "bit.ly", at: time, lastData: time + 0.1)
                $0.browse(ScriptedSession.url, at: 4.5)
            }
        }
        let result = try contact(at: 4.2)
        #expect(result.findings.map(\.kind) == ["redirector-contact"] && result.severity == .warning)
        #expect(try contact(at: 3.5).verdict == .pass, "before the tap")
        #expect(try contact(at: 5).verdict == .pass, "after the opening")
    }

    // MARK: traps

    @Test func parallelTabsAreThePersons() throws {
        let result = try judge {
            $0.browse("https://news.example/", at: 4.3)
            $0.browse(ScriptedSession.url, at: 4.5)
        }
        #expect(result.verdict == .pass && result.findings.map(\.kind) == ["not-the-app"])
    }

    @Test func whatLiesOutsideTheWindowIsNotLookedAt() throws {
        let result = try judge {
            $0.browse("https://bit.ly/x", at: 3.9)
            $0.browse(ScriptedSession.url, at: 4.5)
            $0.browse("https://bit.ly/y", at: 5)
        }
        #expect(result.verdict == .pass && result.findings.isEmpty, "\(result.sentence)")
    }

    @Test func chiasOwnRedirectsAreChias() throws {
        let result = try judge {
            $0.browse(
                "https://www.chia.health/go", at: 4.4, status: 302, responseHeaders: [("location", ScriptedSession.url)]
            )
            $0.browse(ScriptedSession.url, at: 4.5)
        }
        #expect(result.verdict == .pass, "\(result.sentence)")
    }

    @Test func aPageOfChiaThatLeavesIsChias() throws {
        let result = try judge {
            $0.browse(ScriptedSession.url, at: 4.5)
            $0.browse(
                "https://partner.example/?back=\(ScriptedSession.token)", at: 9,
                headers: [("referer", ScriptedSession.url), ("sec-fetch-site", "cross-site")])
        }
        #expect(result.verdict == .pass, "\(result.sentence)")
    }

    @Test func withoutMarksTheRequestBegins() throws {
        var session = ScriptedSession()
        session.projection(at: 0.5)
        session.browse("https://bit.ly/x", at: 4)
        session.share(at: 4.1)
        session.browse("https://bit.ly/x", at: 4.3)
        session.browse(ScriptedSession.url, at: 4.5)
        session.exchange(.app, "GET", "https://api.partner.example/x", at: 80)
        let result = try session.judge()["HR-30"]
        #expect(result.findings.map(\.kind) == ["redirector"])
        #expect(result.sentence.contains("200 ms after the session request"))
    }

    @Test func unreadConnectionsAreNotDecided() throws {
        #expect(try judge { $0.dark(.nobody, "chia.health", at: 4.5, lastData: 6) }.reason?.code == "no-keys")
    }

    @Test func withoutAnOpeningItIsNotApplicable() throws {
        #expect(try judge { $0.browse("https://bit.ly/x", at: 4.3) }.verdict == .notApplicable)
    }

    /// The pair: the same page, a link shortener's or a news site's.
    @Test func onlyTheHostTells() throws {
        func hop(_ host: String) throws -> Verdict {
            try judge {
                $0.browse("https://\(host)/x", at: 4.3)
                $0.browse(ScriptedSession.url, at: 4.5)
            }.verdict
        }
        #expect(try hop("bit.ly") == .fail)
        #expect(try hop("rabbit.ly.example") == .pass)
    }
}

@Suite struct HR32HTTPSOnlyTests {
    private func judge(_ build: (inout ScriptedSession) -> Void) throws -> RuleResult {
        try ScriptedSession.shared(build).judge()["HR-32"]
    }

    @Test func httpsPasses() throws {
        let result = try judge { $0.browse(ScriptedSession.url, at: 4.5) }
        #expect(result.verdict == .pass, "\(result.sentence)")
        #expect(result.sentence.hasPrefix("2 URLs, all https; 2 TLS connections"))
    }

    @Test func aPlainHandoffURLFails() throws {
        let result = try judge { session in
            session.share(at: 6, key: ScriptedSession.key2, url: "http://chia.health/h/\(ScriptedSession.token)")
        }
        #expect(result.findings.map(\.kind) == ["plain-handoff-url"])
    }

    @Test(arguments: [
        (#"{"mode":"neutral_only","url":"http://chia.health/start"}"#, "the neutral URL"),
        (
            #"{"mode":"neutral_only","url":"https://a.example/","policyUrls":{"privacy":"HTTP://chia.health/p"}}"#,
            "a policy URL"
        ),
    ]) func aPlainURLInAProjectionFails(decision: String, place: String) throws {
        let result = try judge {
            $0.exchange(
                .app, "GET", "https://api.partner.example/catalog/other/handoff", at: 6,
                response: #"{"catalogId":"other","handoff":\#(decision)}"#)
        }
        #expect(result.findings.map(\.kind) == ["plain-url"])
        #expect(result.sentence.hasPrefix(place))
    }

    @Test func whatTheAppSendsInTheClearFails() throws {
        let result = try judge { $0.clear(.app, "GET", "api.partner.example", "/ping", at: 6) }
        #expect(result.findings.map(\.kind) == ["cleartext"])
    }

    @Test func whoSentItDecides() throws {
        let browser = try judge { $0.clear(.browser, "GET", "chia.health", "/", at: 6) }
        #expect(browser.verdict == .pass && browser.findings.map(\.kind) == ["not-the-app"], "a typed address")
        let nobody = try judge { $0.clear(.nobody, "GET", "chia.health", "/", at: 6) }
        #expect(nobody.reason?.code == "actor-unknown")
        let led = try judge { $0.clear(.browser, "GET", "chia.health", "/h/\(ScriptedSession.token)", at: 6) }
        #expect(led.findings.map(\.kind) == ["cleartext"], "the handoff led there")
        let neutral = try judge { $0.clear(.browser, "GET", "chia.health", "/start", at: 6) }
        #expect(neutral.findings.map(\.kind) == ["cleartext"])
    }

    @Test func whatChiaLinksToIsNotTheApps() throws {
        let result = try judge {
            $0.browse(ScriptedSession.url, at: 4.5)
            $0.clear(
                .browser, "GET", "chia.health", "/start", at: 6, headers: [("referer", "https://chia.health/x")])
        }
        #expect(result.findings.map(\.kind) == ["not-the-app"])
    }

    @Test func otherHostsMayBeInTheClear() throws {
        let result = try judge {
            $0.clear(.app, "GET", "fonts.example", "/x", at: 6)
            $0.clear(.app, "GET", "captive.apple.com", "/", at: 7)
        }
        #expect(result.verdict == .pass && result.findings.isEmpty)
    }

    /// TLS 1.2 is enough, 1.1 is not.
    @Test func theVersionThatWasAgreedOnCounts() throws {
        func spoke(_ version: UInt16, _ who: ScriptedSession.Who, _ host: String) throws -> RuleResult {
            let session = ScriptedSession.shared {
                $0.browse(ScriptedSession.url, at: 4.5)
                $0.exchange(who, "GET", "https://\(host)/x", at: 6)
            }
            return try session.judge(session.events(version: version, of: host))["HR-32"]
        }
        #expect(try spoke(0x0303, .app, "v.partner.example").verdict == .pass)
        let partner = "api.partner.example"
        #expect(try spoke(0x0303, .app, partner).verdict == .pass)
        let old = try spoke(0x0302, .app, partner)
        #expect(old.findings.map(\.kind) == ["old-tls"] && old.sentence.contains("TLS 1.1"))
        #expect(try spoke(0x0301, .app, partner).sentence.contains("TLS 1.0"))
        #expect(try spoke(0x0302, .app, "other.example").verdict == .pass, "another host")
        #expect(try spoke(0x0302, .browser, "www.chia.health").findings.map(\.kind) == ["not-the-app"])
        #expect(try spoke(0x0302, .nobody, "www.chia.health").reason?.code == "actor-unknown")
    }

    @Test func anotherDevicesRequestIsNotDecided() throws {
        var session = ScriptedSession.shared { _ in }
        session.clientAddress = IPAddress(ipv4: 0x0A00_0009)
        session.clear(.app, "GET", "api.partner.example", "/ping", at: 6)
        #expect(try session.judge()["HR-32"].reason?.code == "several-devices")
    }

    @Test func anInferredPartnerIsSaid() throws {
        var session = ScriptedSession.shared { $0.browse(ScriptedSession.url, at: 4.5) }
        session.policyText = "version: 1\n"
        let result = try session.judge()["HR-32"]
        #expect(result.verdict == .pass && result.assumptions.contains { $0.code == "partner-inferred" })
        session.clear(.app, "GET", "api.partner.example", "/ping", at: 6)
        #expect(try session.judge()["HR-32"].verdict == .fail)
    }

    @Test func dropsLeaveItOpen() throws {
        var session = ScriptedSession.shared { $0.browse(ScriptedSession.url, at: 4.5) }
        session.dropped = 3
        #expect(try session.judge()["HR-32"].reason?.code == "capture-drops")
    }

    @Test func withoutAnythingItIsNotApplicable() throws {
        var session = ScriptedSession()
        session.exchange(.app, "GET", "https://other.example/", at: 1)
        #expect(try session.judge()["HR-32"].verdict == .notApplicable)
    }
}
