import Assertions
import SessionTrace
import Testing

@Suite struct HR04NoPreconnectTests {
    private func judge(_ build: (inout ScriptedSession) -> Void) throws -> RuleResult {
        try ScriptedSession.shared(build).judge()["HR-04"]
    }

    @Test func theNavigationsOwnConnectionPasses() throws {
        let result = try ScriptedSession.conformingShare().judge()["HR-04"]
        #expect(result.verdict == .pass, "\(result.sentence)")
        #expect(result.sentence.contains("0 of them unused connections"))
    }

    @Test(arguments: [ScriptedSession.Who.nobody, .browser, .app]) func anUnusedConnectionBeforeTheTapFails(
        who: ScriptedSession.Who
    ) throws {
        let result = try judge {
            $0.connect(who, "chia.health", at: 3)
            let own = $0.connect(.browser, "chia.health", at: 4.4)
            $0.exchange(.browser, "GET", ScriptedSession.url, at: 4.5, isNavigation: true, on: own)
        }
        #expect(result.findings.map(\.kind) == ["before-tap"], "\(result.sentence)")
        #expect(result.sentence.contains("1 s before the tap"))
    }

    @Test func aLookupBeforeTheTapFails() throws {
        let result = try judge {
            $0.lookup("chia.health", at: 3)
            $0.browse(ScriptedSession.url, at: 4.5)
        }
        #expect(result.findings.map(\.kind) == ["before-tap"])
    }

    @Test func aConnectionThatIsUsedOnlyAfterTheTapFails() throws {
        func warm(asked: Double) throws -> RuleResult {
            try judge {
                let warm = $0.connect(.browser, "chia.health", at: 3)
                $0.exchange(.browser, "GET", ScriptedSession.url, at: asked, isNavigation: true, on: warm)
            }
        }
        #expect(try warm(asked: 4.5).findings.map(\.kind) == ["before-tap"])
        #expect(try warm(asked: 3.5).findings.isEmpty, "what was asked before the tap is HR-01's")
    }

    /// Android's resolver asks on behalf of others.
    @Test func theResolversLookupsAreItsClients() throws {
        let netd = ProcessIdentity(source: .pcapdroid, name: "netd", userID: 1_051)
        func looked(at time: Double) throws -> RuleResult {
            try judge {
                $0.lookup("chia.health", at: time, process: netd)
                let own = $0.connect(.browser, "chia.health", at: 4.4)
                $0.exchange(.browser, "GET", ScriptedSession.url, at: 4.5, isNavigation: true, on: own)
            }
        }
        #expect(try looked(at: 4.3).verdict == .pass)
        #expect(try looked(at: 3).findings.map(\.kind) == ["before-tap"])
    }

    @Test func aCutTraceClaimsNothingOfWhatWasOpen() throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        session.lookup("chia.health", at: 4.2, process: ProcessIdentity(source: .pktap, name: "PartnerShop"))
        session.isComplete = false
        #expect(try session.judge()["HR-04"].reason?.code == "file-cut-short")
        session.isComplete = true
        session.mark(.end, at: 90)
        #expect(try session.judge()["HR-04"].findings.map(\.kind) == ["app-owned"])
    }

    /// One millisecond either side of two seconds.
    @Test func twoSecondsAreTheBrowsersOwn() throws {
        func spare(at time: Double) throws -> RuleResult {
            try judge {
                $0.connect(.nobody, "chia.health", at: time)
                let own = $0.connect(.browser, "chia.health", at: 8)
                $0.exchange(.browser, "GET", ScriptedSession.url, at: 8.1, isNavigation: true, on: own)
            }
        }
        #expect(try spare(at: 6).verdict == .pass)
        let early = try spare(at: 5.999)
        #expect(early.findings.map(\.kind) == ["early"])
        #expect(early.sentence.contains("2 s before the navigation's own connection"))
        #expect(try spare(at: 8.2).verdict != .fail, "beside it")
    }

    @Test func anUnusedConnectionOfTheAppFailsAtAnyTime() throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        session.browse(ScriptedSession.url, at: 4.5)
        session.processes[.nobody] = ProcessIdentity(source: .pktap, name: "PartnerShop")
        session.connect(.nobody, "chia.health", at: 6)
        session.mark(.end, at: 90)
        #expect(try session.judge()["HR-04"].findings.map(\.kind) == ["app-owned"])
    }

    // MARK: lookups

    @Test func aSlowResolverIsNoPreconnect() throws {
        func looked(answer: Double) throws -> RuleResult {
            try judge {
                $0.query("chia.health", at: 4.2)
                $0.answer("chia.health", at: answer)
                let own = $0.connect(.browser, "chia.health", at: 8)
                $0.exchange(.browser, "GET", ScriptedSession.url, at: 8.1, isNavigation: true, on: own)
            }
        }
        #expect(try looked(answer: 7.9).verdict == .pass)
        #expect(try looked(answer: 6).verdict == .pass)
        #expect(try looked(answer: 5.9).findings.map(\.kind) == ["early"])
    }

    @Test func aLookupForASharedConnectionIsUsed() throws {
        let result = try judge {
            $0.lookup("chia.health", at: 4.4)
            let shared = $0.connect(.browser, "chia.health", at: 4.45)
            $0.exchange(.browser, "GET", ScriptedSession.url, at: 4.5, isNavigation: true, on: shared)
            $0.lookup("api.chia.health", at: 4.8)
            $0.exchange(
                .browser, "GET", "https://api.chia.health/x", at: 4.9, headers: [("sec-fetch-site", "same-site")],
                on: shared)
        }
        #expect(result.verdict == .pass, "\(result.sentence)")
    }

    // MARK: not the app's, not decided

    @Test func whatFollowsAPageOfChiaIsThatPages() throws {
        let result = try judge {
            $0.browse(ScriptedSession.url, at: 4.5)
            $0.connect(.browser, "www.chia.health", at: 20)
            let own = $0.connect(.browser, "www.chia.health", at: 21)
            $0.exchange(.browser, "GET", "https://www.chia.health/x", at: 21.1, on: own)
        }
        #expect(result.verdict == .pass && result.findings.map(\.kind) == ["not-the-app"], "\(result.sentence)")
        let nobody = try judge {
            $0.browse(ScriptedSession.url, at: 4.5)
            $0.connect(.nobody, "www.chia.health", at: 20)
        }
        #expect(nobody.reason?.code == "actor-unknown")
    }

    @Test func aBrowserThatWasNotCleanIsNotDecided() throws {
        func warm(clean: Bool) throws -> RuleResult {
            var session = ScriptedSession()
            if clean { session.mark(.browserClean, at: 0.1) }
            session.projection(at: 0.5)
            session.processes[.browser] = ProcessIdentity(source: .pktap, name: "MobileSafari")
            session.connect(.browser, "chia.health", at: 3)
            session.tap(.share, at: 4)
            session.share(at: 4.1)
            let own = session.connect(.browser, "chia.health", at: 4.4)
            session.exchange(.browser, "GET", ScriptedSession.url, at: 4.5, isNavigation: true, on: own)
            session.mark(.end, at: 90)
            return try session.judge()["HR-04"]
        }
        #expect(try warm(clean: false).reason?.code == "browser-not-clean")
        #expect(try warm(clean: true).findings.map(\.kind) == ["before-tap"])
    }

    /// One millisecond either side of the clock's bound of 50.
    @Test func theClocksBoundDecides() throws {
        func early(by time: Double) throws -> RuleResult {
            var session = ScriptedSession()
            session.projection(at: 0.5)
            session.connect(.nobody, "chia.health", at: 4 - time)
            session.mark(.tap, .share, at: 4, onTraceClock: false)
            session.share(at: 4.1)
            let own = session.connect(.browser, "chia.health", at: 4.4)
            session.exchange(.browser, "GET", ScriptedSession.url, at: 4.5, isNavigation: true, on: own)
            session.mark(.end, at: 90)
            return try session.judge()["HR-04"]
        }
        #expect(try early(by: 0.05).reason?.code == "clock-bound")
        #expect(try early(by: 0.051).findings.map(\.kind) == ["before-tap"])
    }

    @Test func withoutMarksTheSessionRequestTells() throws {
        var session = ScriptedSession()
        session.projection(at: 0.5)
        session.connect(.nobody, "chia.health", at: 3)
        session.share(at: 4.1)
        let own = session.connect(.browser, "chia.health", at: 4.4)
        session.exchange(.browser, "GET", ScriptedSession.url, at: 4.5, isNavigation: true, on: own)
        session.exchange(.app, "GET", "https://api.partner.example/x", at: 80)
        #expect(try session.judge()["HR-04"].findings.map(\.kind) == ["before-request"])
    }

    @Test func anUnusedConnectionWithoutANavigationIsNotDecided() throws {
        #expect(try judge { $0.connect(.nobody, "chia.health", at: 6) }.reason?.code == "navigation-not-seen")
    }

    @Test func anUnreadConnectionIsNotUnused() throws {
        let result = try judge { $0.dark(.nobody, "chia.health", at: 3, lastData: 3.5) }
        #expect(!result.findings.contains { $0.kind == "before-tap" })
    }

    @Test func theSystemsFetchIsNobodys() throws {
        var session = ScriptedSession.shared { $0.browse(ScriptedSession.url, at: 4.5) }
        session.processes[.nobody] = ProcessIdentity(source: .pktap, name: "swcd")
        session.connect(.nobody, "chia.health", at: 3)
        #expect(try session.judge()["HR-04"].verdict == .pass)
    }

    @Test func anotherDevicesConnectionIsNotDecided() throws {
        var session = ScriptedSession.shared { $0.browse(ScriptedSession.url, at: 4.5) }
        session.clientAddress = IPAddress(ipv4: 0x0A00_0009)
        session.connect(.nobody, "chia.health", at: 3)
        #expect(try session.judge()["HR-04"].reason?.code == "several-devices")
    }

    @Test func withoutAnythingItIsNotApplicable() throws {
        var session = ScriptedSession()
        session.exchange(.app, "GET", "https://other.example/", at: 1)
        #expect(try session.judge()["HR-04"].verdict == .notApplicable)
    }
}

@Suite struct HR34NoCustomTabWarmupTests {
    private func judge(
        events change: ((ScriptedSession) -> [SessionEvent])? = nil, _ build: (inout ScriptedSession) -> Void
    ) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        build(&session)
        session.mark(.end, at: 90)
        return try session.judge(change?(session))["HR-34"]
    }

    private static func open(_ session: inout ScriptedSession, at time: Double = 4.5) {
        let own = session.connect(.browser, "chia.health", at: time - 0.1)
        session.exchange(.browser, "GET", ScriptedSession.url, at: time, isNavigation: true, on: own)
    }

    @Test func anOpeningWithoutWarmupPasses() throws {
        let result = try judge {
            $0.tap(.share, at: 4)
            $0.share(at: 4.1)
            Self.open(&$0)
        }
        #expect(result.verdict == .pass, "\(result.sentence)")
    }

    @Test func aPrefetchBeforeTheTapIsAWarning() throws {
        let result = try judge {
            $0.exchange(
                .browser, "GET", ScriptedSession.neutral, at: 3, headers: [("sec-purpose", "prefetch")],
                isNavigation: true)
            $0.tap(.share, at: 4)
            $0.share(at: 4.1)
            Self.open(&$0)
        }
        #expect(result.findings.contains { $0.kind == "prefetch" && $0.message.contains("1 s before the tap") })
        #expect(result.severity == .warning)
    }

    @Test func aBrowsersConnectionBeforeTheTapIsAWarning() throws {
        let result = try judge {
            $0.processes[.browser] = ProcessIdentity(source: .pcapdroid, name: "Chrome", userID: 10_100)
            $0.connect(.browser, "chia.health", at: 3)
            $0.tap(.share, at: 4)
            $0.share(at: 4.1)
            Self.open(&$0)
        }
        #expect(result.findings.map(\.kind) == ["warmup"])
    }

    /// The TLS stack tells whose a nameless connection is.
    @Test func aConnectionIsTheBrowsersByItsStack() throws {
        func warm(_ who: ScriptedSession.Who) throws -> RuleResult {
            try judge {
                $0.connect(who, "chia.health", at: 3)
                $0.tap(.share, at: 4)
                $0.share(at: 4.1)
                Self.open(&$0)
            }
        }
        #expect(try warm(.browser).findings.map(\.kind) == ["warmup"], "the browser's JA4")
        #expect(try warm(.nobody).verdict == .pass, "the app's JA4: other rules see it")
        let unknown = try judge(events: { $0.events(ja4: "t13d_third_stack", at: 3) }) {
            $0.connect(.nobody, "chia.health", at: 3)
            $0.tap(.share, at: 4)
            $0.share(at: 4.1)
            Self.open(&$0)
        }
        #expect(unknown.reason?.code == "actor-unknown")
    }

    /// One millisecond either side of two seconds before the handover.
    @Test func aConnectionBeforeTheHandoverIsAWarning() throws {
        func warm(at time: Double) throws -> RuleResult {
            try judge {
                $0.processes[.browser] = ProcessIdentity(source: .pcapdroid, name: "Chrome", userID: 10_100)
                $0.tap(.share, at: 4)
                $0.connect(.browser, "chia.health", at: time)
                $0.share(at: 7.1)
                $0.mark(.opened, at: 7.3)
                Self.open(&$0, at: 7.5)
            }
        }
        #expect(try warm(at: 5.3).verdict == .pass)
        let early = try warm(at: 5.299)
        #expect(early.findings.map(\.kind) == ["warmup"])
        #expect(early.sentence.contains("before the app handed the URL over"))
    }

    @Test func aPolicyPageIsNoWarmup() throws {
        let result = try judge {
            $0.tap(.policy, at: 2.5)
            let own = $0.connect(.browser, "chia.health", at: 2.6)
            $0.exchange(.browser, "GET", "https://chia.health/privacy", at: 2.7, isNavigation: true, on: own)
            $0.connect(.browser, "chia.health", at: 2.9)
            $0.tap(.share, at: 4)
            $0.share(at: 4.1)
            Self.open(&$0)
        }
        #expect(result.verdict == .pass, "\(result.sentence)")
    }

    @Test func aBrowserThatWasNotCleanIsNotDecided() throws {
        var session = ScriptedSession()
        session.projection(at: 0.5)
        session.connect(.browser, "chia.health", at: 3)
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        Self.open(&session)
        session.mark(.end, at: 90)
        #expect(try session.judge()["HR-34"].reason?.code == "browser-not-clean")
    }

    @Test func theClocksBoundDecides() throws {
        func warm(by time: Double) throws -> RuleResult {
            try judge {
                $0.connect(.browser, "chia.health", at: 4 - time)
                $0.mark(.tap, .share, at: 4, onTraceClock: false)
                $0.share(at: 4.1)
                Self.open(&$0)
            }
        }
        #expect(try warm(by: 0.05).reason?.code == "clock-bound")
        #expect(try warm(by: 0.051).findings.map(\.kind) == ["warmup"])
    }

    @Test func withoutMarksItIsNotDecided() throws {
        var session = ScriptedSession()
        session.projection(at: 0.5)
        session.share(at: 4.1)
        Self.open(&session)
        session.exchange(.app, "GET", "https://api.partner.example/x", at: 80)
        #expect(try session.judge()["HR-34"].reason?.code == "no-tap-mark")
    }

    @Test func anotherDevicesBrowserIsNotDecided() throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        Self.open(&session)
        session.clientAddress = IPAddress(ipv4: 0x0A00_0009)
        session.connect(.browser, "chia.health", at: 3)
        session.mark(.end, at: 90)
        #expect(try session.judge()["HR-34"].reason?.code == "several-devices")
    }

    @Test func withoutTheBrowserItIsNotApplicable() throws {
        #expect(try judge { $0.tap(.share, at: 4) }.verdict == .notApplicable)
    }
}

@Suite struct HR35HandoffURLShapeTests {
    private func judge(_ url: String) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, url: url)
        session.mark(.end, at: 90)
        return try session.judge()["HR-35"]
    }

    @Test(arguments: [
        ScriptedSession.url, "https://go.chia.health/h?t=phs_0123456789abcdef",
        "https://chia.health/h/TOKEN?v=2&locale=de",
        "https://chia.health/h/TOKEN?username_hint", "https://chia.health/h/TOKEN#top",
    ]) func anOpaqueURLPasses(url: String) throws {
        let result = try judge(url.replacing("TOKEN", with: ScriptedSession.token))
        #expect(result.verdict == .pass, "\(url): \(result.sentence)")
    }

    @Test(arguments: [
        ("https://chia.health/h/phs_0123456789abcde", "short-token"),
        ("https://chia.health/h/phs_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "short-token"),
        ("https://chia.health/h/phs_012345678901234567", "short-token"),
        ("https://chia.health/h/phs_Zk3Tq8WvX2", "short-token"),
        ("https://chia.health/h/TOKEN/phs_Qw9eRt7yUi5oPaSd3fGhJk1l", "tokens"),
        ("https://user:pw@chia.health/h/TOKEN", "credentials"),
        ("https://chia.health/h/TOKEN?email=a", "readable-query"),
        ("https://chia.health/h/TOKEN?userName=a", "readable-query"),
        ("https://chia.health/h/TOKEN?first_name=a", "readable-query"),
        ("https://chia.health/h/TOKEN?v=1&product-id=a", "readable-query"),
        ("https://chia.health/h/TOKEN?x=" + String(repeating: "y", count: 2_000), "long"),
    ]) func whatSaysTooMuchOrTooLittleIsAWarning(url: String, kind: String) throws {
        let result = try judge(url.replacing("TOKEN", with: ScriptedSession.token))
        #expect(result.findings.map(\.kind) == [kind], "\(url): \(result.sentence)")
        #expect(result.severity == .warning && result.verdict == .fail)
        #expect(!result.sentence.contains("phs_"))
    }

    /// The pair: 2,048 bytes and one more.
    @Test func theLongestIsSharp() throws {
        func url(_ length: Int) -> String {
            let head = ScriptedSession.url + "?x="
            return head + String(repeating: "y", count: length - head.utf8.count)
        }
        #expect(try judge(url(2_048)).verdict == .pass)
        #expect(try judge(url(2_049)).findings.map(\.kind) == ["long"])
    }

    @Test(arguments: ["chia-api", "chia-assets"]) func aHostOfServersIsNoWebHost(role: String) throws {
        var session = ScriptedSession.upToTap()
        session.policyText += "  \(role): [api.chia.health]\n"
        session.tap(.share, at: 4)
        session.share(at: 4.1, url: "https://api.chia.health/h/\(ScriptedSession.token)")
        session.mark(.end, at: 90)
        #expect(try session.judge()["HR-35"].findings.map(\.kind) == ["host"])
    }

    @Test func aHostThatThePolicyDoesNotNameIsNotDecided() throws {
        #expect(try judge("https://notchia.health/h/\(ScriptedSession.token)").reason?.code == "policy-mismatch")
    }

    @Test func oneURLBelongsToOneOperation() throws {
        func second(key: String, url: String) throws -> RuleResult {
            var session = ScriptedSession.upToTap()
            session.tap(.share, at: 4)
            session.share(at: 4.1)
            session.share(at: 6, key: key, url: url)
            session.mark(.end, at: 90)
            return try session.judge()["HR-35"]
        }
        #expect(try second(key: ScriptedSession.key2, url: ScriptedSession.otherURL).verdict == .pass)
        #expect(try second(key: ScriptedSession.key1, url: ScriptedSession.url).verdict == .pass, "a replay")
        #expect(try second(key: ScriptedSession.key2, url: ScriptedSession.url).findings.map(\.kind) == ["shared-url"])
        #expect(
            try second(key: ScriptedSession.key1, url: ScriptedSession.otherURL).findings.map(\.kind)
                == ["replay-differs"])
    }

    @Test func unreadSessionTrafficIsNotDecided() throws {
        var session = ScriptedSession.shared { _ in }
        session.dark(.app, "api.partner.example", at: 6, lastData: 7)
        #expect(try session.judge()["HR-35"].reason?.code == "no-keys")
    }

    @Test func aURLWithoutATokenFailsWhateverElseIsInDoubt() throws {
        let result = try judge("https://chia.health/nothing")
        #expect(result.verdict == .fail && result.severity == .warning, "\(result)")
        #expect(result.findings.map(\.kind) == ["no-token"])
        #expect(result.doubt?.code == "handoff-url-unknown")
    }

    @Test func withoutAURLItIsNotApplicable() throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, status: 422)
        session.mark(.end, at: 90)
        #expect(try session.judge()["HR-35"].verdict == .notApplicable)
    }
}
