import SessionTrace
import Testing

@testable import Assertions

/// Whose act it was that a token was sent, and what may hide that one was: what HR-46 and HR-47 share.
@Suite struct HR46HR47BlameTests {
    private static let analytics = "https://app-measurement.com/a"
    private static let body = #"{"u":"\#(ScriptedSession.url)"}"#

    /// A share that is answered at 4.2; its page is opened at `page`.
    private func judge(
        page: Double? = 4.5, url: String = ScriptedSession.url, policy: String = "", end: Double = 90,
        _ build: (inout ScriptedSession) -> Void
    ) throws -> TraceVerdict {
        var session = ScriptedSession.upToTap()
        session.policyText += policy
        session.tap(.share, at: 4)
        session.share(at: 4.1, url: url)
        if let page { session.browse(url, at: page) }
        build(&session)
        session.mark(.end, at: end)
        return try session.judge()
    }

    // MARK: the receiver

    /// The host of the handoff URL is where it is to go, though the policy does not name it.
    @Test func theURLsOwnHostIsMeant() throws {
        let result = try judge(url: "https://chia.example/h/\(ScriptedSession.token)") { _ in }["HR-47"]
        #expect(result.violations == [] && result.reason?.code == "policy-mismatch", "\(result)")
        let other = try judge(url: "https://chia.example/h/\(ScriptedSession.token)") {
            $0.browse(
                "https://other.example/h/\(ScriptedSession.token)", at: 6, headers: [("sec-fetch-site", "cross-site")])
        }["HR-47"]
        #expect(other.violations == ["token-sent"], "\(other)")
    }

    @Test func whatThePolicyCallsTelemetryIsTelemetry() throws {
        let result = try judge(policy: "  telemetry: [builtin, logs.partner.example]\n") {
            $0.exchange(.app, "POST", "https://logs.partner.example/t", at: 6, body: Self.body)
        }["HR-46"]
        #expect(result.violations == ["telemetry-leak"], "\(result)")
    }

    // MARK: services of the browser

    @Test func aServiceOfTheBrowserIsItsOwn() throws {
        let host = "https://safebrowsing.googleapis.com/v4"
        let agents: [(ScriptedSession.Who, [(String, String)], Bool)] = [
            (.disguised, [], true), (.nobody, [("user-agent", "Chrome ANDROID-PHONE 140.0.0.0 (abc)")], true),
            (.nobody, [("user-agent", "curl/8.0")], false),
            (.nobody, [], false),
        ]
        for (who, headers, isBrowsers) in agents {
            let result = try judge { $0.exchange(who, "POST", host, at: 6, headers: headers, body: Self.body) }["HR-47"]
            #expect(result.violations == (isBrowsers ? [] : ["token-sent"]), "\(headers): \(result)")
        }
        let elsewhere = try judge {
            $0.exchange(
                .nobody, "POST", "https://sdk.vendor.example/t", at: 6,
                headers: [("user-agent", "Chrome ANDROID-PHONE 140.0.0.0 (abc)")], body: Self.body)
        }["HR-47"]
        #expect(elsewhere.reason?.code == "actor-unknown", "only its own hosts: \(elsewhere)")
        let early = try judge(page: nil) { $0.exchange(.browser, "POST", host, at: 6, body: Self.body) }["HR-47"]
        #expect(early.violations == [] && early.information == ["not-the-app"], "\(early)")
    }

    // MARK: senders without fetch metadata

    @Test func aBareBrowserOnChiasPageIsThatPage() throws {
        func sent(_ headers: [(String, String)]) throws -> [String] {
            try judge { $0.exchange(.disguised, "POST", Self.analytics, at: 6, headers: headers, body: Self.body) }[
                "HR-46"
            ]
            .violations
        }
        #expect(try sent([("origin", "https://chia.health")]) == [])
        #expect(try sent([("origin", "https://news.example")]) == ["telemetry-leak"])
    }

    /// A browser's report about pages tells of Chia's once that is open.
    @Test(arguments: [(6.0, 4.5, true), (6, 6, true), (6, 6.001, false)]) func aReportIsOfAPageThatIsOpen(
        report: Double, page: Double, isBrowsers: Bool
    ) throws {
        let result = try judge(page: page) {
            $0.exchange(
                .disguised, "POST", Self.analytics, at: report, headers: [("content-type", "application/reports+json")],
                body: Self.body)
        }["HR-46"]
        #expect(result.violations == (isBrowsers ? [] : ["telemetry-leak"]), "\(result)")
    }

    @Test func aReportWithoutAPageIsNobodys() throws {
        let result = try judge(page: nil) {
            $0.exchange(.browser, "GET", "https://chia.health/app.js", at: 5)
            $0.exchange(
                .disguised, "POST", Self.analytics, at: 6, headers: [("content-type", "application/reports+json")],
                body: Self.body)
        }["HR-46"]
        #expect(result.violations == ["telemetry-leak"], "\(result)")
    }

    @Test func whatCouldNotBeReadOfTheHeadIsNotDecided() throws {
        let unnamed = try judge { $0.unreadableExchange("/t?u=\(ScriptedSession.token)", at: 6) }["HR-47"]
        #expect(unnamed.reason?.code == "header-table-unknown", "\(unnamed)")
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        session.exchange(.nobody, "POST", Self.analytics, at: 6, body: Self.body)
        session.mark(.end, at: 90)
        #expect(try session.judge()["HR-46"].violations == ["telemetry-leak"])
        let events = session.events().map { event in
            guard case .exchange(var exchange) = event, exchange.request?.authority == "app-measurement.com" else {
                return event
            }
            exchange.request?.fields.append(name: "user-agent".utf8, value: "".utf8, isKnown: false)
            return .exchange(exchange)
        }
        #expect(try session.judge(events)["HR-46"].reason?.code == "header-table-unknown")
    }

    // MARK: the browser, on no page that is known

    @Test(arguments: [(4.5, true), (6, true), (6.001, false)]) func chiasPageMustHaveBeenOpen(
        page: Double, isLikely: Bool
    ) throws {
        let result = try judge(page: page) { $0.exchange(.browser, "POST", Self.analytics, at: 6, body: Self.body) }[
            "HR-46"]
        #expect(result.violations == (isLikely ? [] : ["telemetry-leak"]), "\(result)")
        #expect(result.assumptions.contains { $0.code == "chia-page-by-time" } == isLikely)
    }

    @Test func aScriptOfChiasIsNoPage() throws {
        let result = try judge(page: nil) {
            $0.exchange(.browser, "GET", "https://chia.health/app.js", at: 5)
            $0.exchange(.browser, "POST", Self.analytics, at: 6, body: Self.body)
        }["HR-46"]
        #expect(result.violations == ["telemetry-leak"], "\(result)")
    }

    @Test func aPrefetchIsNoNavigation() throws {
        let result = try judge {
            $0.browse(
                Self.analytics + "?u=\(ScriptedSession.token)", at: 6,
                headers: [("sec-purpose", "prefetch"), ("sec-fetch-site", "cross-site")])
        }["HR-46"]
        #expect(result.violations == [] && result.assumptions.contains { $0.code == "chia-page-by-time" }, "\(result)")
    }

    /// However many redirects led there, they are Chia's only where Chia's answer was one of them.
    @Test(arguments: [
        ("https://chia.health/leave", 1, true), ("https://t.example/x", 1, false), ("https://t.example/x", 12, false),
    ])
    func aRedirectOfChiasIsChias(first: String, count: Int, isChias: Bool) throws {
        let target = Self.analytics + "?u=\(ScriptedSession.token)"
        let result = try judge {
            let hops = [first] + (1..<count).map { "https://t\($0).example/x" } + [target]
            for (index, hop) in hops.enumerated() {
                let next = index + 1 < hops.count ? hops[index + 1] : nil
                $0.browse(
                    hop, at: 6 + Double(index) / 100, status: next == nil ? 200 : 302,
                    headers: [("sec-fetch-site", "cross-site")], responseHeaders: next.map { [("location", $0)] } ?? [])
            }
        }["HR-46"]
        #expect(result.violations == (isChias ? [] : ["telemetry-leak"]), "\(result)")
    }
}

/// What may have carried a leak unread since the URL came at 4.2.
@Suite struct HR46UnreadBoundaryTests {
    private func judge(
        policy: String = "", end: Double = 90, _ build: (inout ScriptedSession) -> Void
    ) throws -> RuleResult {
        try ScriptedSession.leakResult(policy: policy, end: end, build)
    }

    @Test(arguments: [(4.2, "no-keys"), (4.199, nil)] as [(Double, String?)]) func dataInTheURLsMomentMayHoldIt(
        last: Double, code: String?
    ) throws {
        #expect(
            try judge { $0.dark(.app, "sdk.vendor.example", at: 3, lastData: last) }.reason?.code == code)
        #expect(
            try judge { $0.dark(.nobody, "203.0.113.9", at: 3, lastData: last, hello: false) }.reason?.code == code)
    }

    @Test func theBrowsersAndChiasConnectionsAreNotTheApps() throws {
        let browser = try judge {
            $0.processes[.disguised] = ProcessIdentity(source: .pktap, name: "MobileSafari")
            $0.dark(.disguised, "sdk.vendor.example", at: 6, lastData: 7)
        }
        #expect(browser.verdict == .pass, "\(browser)")
        #expect(try judge { $0.dark(.nobody, "www.chia.health", at: 6, lastData: 7) }.verdict == .pass)
    }

    @Test func whatThePolicyAllowsIsAnAssumption() throws {
        let policy = "  opaque-ok: [{host: sdk.vendor.example, reason: pinned}]\n"
        let dark = try judge(policy: policy) { $0.dark(.app, "sdk.vendor.example", at: 6, lastData: 7) }
        #expect(dark.verdict == .pass && dark.assumptions.map(\.code).contains("opaque-ok"), "\(dark)")
        let unsent = try judge(policy: policy) { $0.unreachable(.app, "sdk.vendor.example", at: 6) }
        #expect(unsent.verdict == .pass && unsent.assumptions.map(\.code).contains("opaque-ok"), "\(unsent)")
    }

    /// A connection without a name is the system's by its process alone.
    @Test(arguments: [("apsd", true), ("PartnerShop", false)]) func theProcessTellsWhoseANamelessConnectionIs(
        process: String, isOfSystem: Bool
    ) throws {
        let result = try judge {
            $0.processes[.nobody] = ProcessIdentity(source: .pktap, name: process)
            $0.dark(.nobody, "203.0.113.9", at: 6, lastData: 7, hello: false)
        }
        #expect(result.reason?.code == (isOfSystem ? nil : "no-keys"), "\(result)")
        #expect(result.assumptions.map(\.code).contains("os-services") == isOfSystem)
    }

    @Test(arguments: [(64.2, false), (64.199, true)]) func aMinuteIsEnoughToHaveWatched(end: Double, isAssumed: Bool)
        throws
    {
        let result = try judge(end: end) { _ in }
        #expect(result.assumptions.map(\.code).contains("observed-only") == isAssumed, "\(result)")
    }

    @Test(arguments: [(4.2, "dial-failed"), (4.199, nil)] as [(Double, String?)])
    func whatCouldNotBeSentSinceMayHaveHeldIt(
        time: Double, code: String?
    ) throws {
        #expect(try judge { $0.unreachable(.app, "sdk.vendor.example", at: time) }.reason?.code == code)
    }

    /// What the system or the browser could not reach is not the app's, and each is counted once.
    @Test func whoseTheUnsentIsDecides() throws {
        let system = try judge { $0.unreachable(.app, "17.courier.push.apple.com", at: 6) }
        #expect(
            system.verdict == .pass && system.assumptions.map(\.code).contains("os-services-unreached"), "\(system)")
        let process = try judge {
            $0.processes[.nobody] = ProcessIdentity(source: .pktap, name: "apsd")
            $0.unreachable(.nobody, "sdk.vendor.example", at: 6)
        }
        #expect(process.assumptions.map(\.code).contains("os-services-unreached"), "\(process)")
        let chia = try judge { $0.unreachable(.app, "www.chia.health", at: 6) }
        #expect(chia.verdict == .pass, "\(chia)")
    }
}
