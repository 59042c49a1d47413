import Assertions
import SessionTrace
import Testing

@Suite struct HR60NoStatusOrFinanceInResponseTests {
    private static let home = "https://api.partner.example/home"

    /// An answer 52 s after a conforming handoff.
    private func judge(
        _ body: String, address: String = home, at time: Double = 56, policy: String = "",
        who: ScriptedSession.Who = .app
    ) throws -> RuleResult {
        var session = ScriptedSession.conformingShare()
        session.policyText += policy
        session.exchange(who, "GET", address, at: time, response: body)
        return try session.judge()["HR-60"]
    }

    @Test func noSuchNamePasses() throws {
        let result = try judge(#"{"items":[]}"#)
        #expect(result.verdict == .pass, "\(result)")
    }

    @Test(arguments: [
        ("order_status", "/order_status"), ("orderStatus", "/orderStatus"), ("prescription_id", "/prescription_id"),
        ("Prescription", "/Prescription"), ("order-status-code", "/order-status-code"),
    ]) func aNameOfTheListFails(name: String, place: String) throws {
        let result = try judge(#"{"\#(name)":"x"}"#)
        #expect(result.findings.map(\.kind) == ["status-key"], "\(result)")
        #expect(result.severity == .error)
        #expect(
            result.sentence.hasPrefix(
                "\(place) stands in the answer to GET api.partner.example/home, 51.9 s after the handoff"),
            "\(result.sentence)")
    }

    @Test(arguments: [
        #"{"status":"x"}"#, #"{"order":{"status":"x"}}"#, #"{"a":"order_status"}"#, #"{"requiresPrescription":true}"#,
        #"{"prescriptions":[]}"#, #"{"compensationDisclosure":"We may be paid"}"#, #"{"payment":1}"#,
    ]) func anotherNamePasses(body: String) throws {
        let result = try judge(body)
        #expect(result.verdict == .pass, "\(result)")
        #expect(result.findings.isEmpty)
    }

    @Test func beforeTheHandoffItIsTheShopsOwn() throws {
        #expect(try judge(#"{"order_status":"x"}"#, at: 1).verdict == .pass)
        #expect(try judge(#"{"order_status":"x"}"#, at: 4.3).verdict == .fail)
    }

    @Test func seenBeforeAndAfterItIsSeenAfter() throws {
        var session = ScriptedSession.conformingShare()
        for time in [1.0, 56] {
            session.exchange(.app, "GET", Self.home, at: time, response: #"{"order_status":"x"}"#)
        }
        let result = try session.judge()["HR-60"]
        #expect(result.verdict == .fail)
        #expect(result.sentence.hasSuffix("(2 times)"))
    }

    @Test func aNeutralHandoffCountsToo() throws {
        var session = ScriptedSession.upToTap()
        session.tap(.neutral, at: 4)
        session.browse(ScriptedSession.neutral, at: 4.2)
        session.exchange(.app, "GET", Self.home, at: 56, response: #"{"order_status":"x"}"#)
        session.mark(.end, at: 80)
        #expect(try session.judge()["HR-60"].verdict == .fail)
    }

    @Test func theShopsOwnOrdersAreOnlyMentioned() throws {
        let body = #"{"orders":[{"id":"1","order_status":"shipped"}]}"#
        let result = try judge(body, address: "https://api.partner.example/orders")
        #expect(result.verdict == .pass, "\(result)")
        #expect(result.findings.map(\.kind) == ["maybe-status"])
        // The same page, but it tells of the handoff's item.
        let own = #"{"orders":[{"item":"item-4711-abcdef","order_status":"shipped"}]}"#
        #expect(try judge(own, address: "https://api.partner.example/orders").findings.map(\.kind) == ["status-key"])
        // The same page, but the policy lists the name.
        let policy = "forbidden: {response-keys: [order_status]}\n"
        #expect(try judge(body, address: "https://api.partner.example/orders", policy: policy).verdict == .fail)
        // The same again, but the policy allows the request.
        let allowed = policy + "requests: {allow: [\"GET /orders\"]}\n"
        let result2 = try judge(body, address: "https://api.partner.example/orders", policy: allowed)
        #expect(result2.verdict == .pass)
        #expect(result2.findings.isEmpty)
    }

    @Test(arguments: ["payout", "commissionRate", "payment_state", "eligibility_result", "diagnosis"])
    func aLikelyNameIsAWarningBesideTheHandoff(name: String) throws {
        let result = try judge(#"{"items":[{"id":"item-4711-abcdef","\#(name)":1}]}"#)
        #expect(result.findings.map(\.kind) == ["likely-status-key"], "\(result)")
        #expect(result.severity == .warning)
        #expect(try judge(#"{"items":[{"id":"another-item-77","\#(name)":1}]}"#).findings.isEmpty)
        #expect(try judge(#"{"from":"Chia","\#(name)":1}"#).verdict == .fail)
        #expect(try judge(#"{"s":"hs-91c2d0aa7766","\#(name)":1}"#).verdict == .fail)
    }

    @Test func othersAnswersAreTheirOwn() throws {
        let body = #"{"order_status":"x"}"#
        #expect(try judge(body, who: .browser).verdict == .pass)
        #expect(try judge(body, address: "https://api2.amplitude.com/x").verdict == .pass)
        #expect(try judge(body, address: "https://chia.health/x", who: .browser).verdict == .pass)
        #expect(try judge(body, who: .disguised).reason?.code == "actor-unknown")
        #expect(try judge(body, who: .nobody).verdict == .fail)
    }

    @Test func unreadAnswersAfterTheHandoffAreNotDecided() throws {
        func result(_ last: Double) throws -> RuleResult {
            var session = ScriptedSession.conformingShare()
            session.dark(.app, "api.partner.example", at: 1, lastData: last)
            return try session.judge()["HR-60"]
        }
        #expect(try result(21).reason?.code == "no-keys")
        #expect(try judge("{}", who: .app).verdict == .pass)
    }

    @Test func withoutAHandoffThereIsNothingToJudge() throws {
        var session = ScriptedSession()
        session.exchange(.app, "GET", Self.home, at: 6, response: #"{"order_status":"x"}"#)
        #expect(try session.judge()["HR-60"].verdict == .notApplicable)
    }
}

@Suite struct HR53NoChiaCookieInAppTests {
    private static let sid = "s1d-77aaXX99kkLL"
    private static let credential = "tok-PPqq4455RRss"

    private func judge(_ change: (inout ScriptedSession) -> Void = { _ in }) throws -> RuleResult {
        var session = ScriptedSession.conformingShare()
        session.exchange(
            .browser, "GET", "https://chia.health/step", at: 5,
            responseHeaders: [("set-cookie", "sid=\(Self.sid); Path=/; Secure")])
        session.exchange(
            .app, "GET", "https://api.partner.example/me", at: 1,
            headers: [("authorization", "Bearer \(Self.credential)")],
            responseHeaders: [("set-cookie", "shop=aaBB77ccDD99; HttpOnly")])
        change(&session)
        let verdict = try session.judge()
        #expect(!verdict.story.contains(Self.sid))
        #expect(!verdict.story.contains(Self.credential))
        return verdict["HR-53"]
    }

    @Test func noneThatCrossedPasses() throws {
        let result = try judge()
        #expect(result.verdict == .pass, "\(result)")
        #expect(
            result.sentence
                == "1 cookie of Chia's, none among 1 that the app sent; 0 sent to Chia, none of the partner's")
    }

    @Test(arguments: ["https://api.partner.example/visit", "https://logs.vendor.example/x"])
    func aCookieOfChiasInTheAppFails(address: String) throws {
        let result = try judge {
            $0.exchange(.app, "POST", address, at: 60, headers: [("cookie", "a=1; back=\(Self.sid)")])
        }
        #expect(result.findings.map(\.kind) == ["chia-cookie"], "\(result)")
        #expect(result.sentence.hasPrefix("the cookie sid of chia.health is in POST"))
        #expect(result.findings[0].evidence.count == 2)
    }

    @Test func orderMakesNoDifference() throws {
        let result = try judge {
            $0.exchange(
                .app, "POST", "https://api.partner.example/visit", at: 4.8, headers: [("cookie", "back=\(Self.sid)")])
        }
        #expect(result.verdict == .fail)
    }

    @Test(arguments: ["s1d-77aaXX99kkLM", "s1d-77aaXX99kkLLx", ""]) func anotherValuePasses(value: String) throws {
        let result = try judge {
            $0.exchange(
                .app, "POST", "https://api.partner.example/visit", at: 60, headers: [("cookie", "sid=\(value)")])
        }
        #expect(result.verdict == .pass)
    }

    @Test func aShortValueIsNobodys() throws {
        let result = try judge {
            $0.exchange(.browser, "GET", "https://chia.health/l", at: 6, responseHeaders: [("set-cookie", "lang=en")])
            $0.exchange(.app, "POST", "https://api.partner.example/visit", at: 60, headers: [("cookie", "lang=en")])
        }
        #expect(result.verdict == .pass)
    }

    @Test func whatThePartnerGaveTooIsNotChiasAlone() throws {
        let result = try judge {
            $0.exchange(
                .app, "GET", "https://api.partner.example/x", at: 2, responseHeaders: [("set-cookie", "x=\(Self.sid)")])
            $0.exchange(
                .app, "POST", "https://api.partner.example/visit", at: 60, headers: [("cookie", "x=\(Self.sid)")])
        }
        #expect(result.verdict == .pass, "\(result)")
    }

    @Test func theBrowserSendsChiaItsOwnCookie() throws {
        let result = try judge {
            $0.exchange(.browser, "GET", "https://chia.health/next", at: 6, headers: [("cookie", "sid=\(Self.sid)")])
            $0.exchange(.nobody, "GET", "https://chia.health/next", at: 7, headers: [("cookie", "sid=\(Self.sid)")])
        }
        #expect(result.verdict == .pass, "\(result)")
        #expect(result.sentence.contains("1 sent to Chia"))
    }

    @Test func anUnknownSenderElsewhereIsTheApp() throws {
        #expect(
            try judge {
                $0.exchange(
                    .nobody, "GET", "https://api.partner.example/x", at: 6, headers: [("cookie", "sid=\(Self.sid)")])
            }.verdict == .fail)
        #expect(
            try judge {
                $0.exchange(
                    .disguised, "GET", "https://api.partner.example/x", at: 6, headers: [("cookie", "sid=\(Self.sid)")])
            }.reason?.code == "actor-unknown")
    }

    @Test(arguments: [
        ("authorization", "Bearer \(credential)"), ("x-auth-token", credential), ("cookie", "k=\(credential)"),
        ("cookie", "shop=aaBB77ccDD99"),
    ]) func aCredentialOfThePartnersAtChiaFails(name: String, value: String) throws {
        let app = try judge { $0.exchange(.app, "GET", "https://chia.health/x", at: 6, headers: [(name, value)]) }
        #expect(app.findings.map(\.kind) == ["partner-credential"], "\(app)")
        let browser = try judge {
            $0.exchange(.browser, "GET", "https://chia.health/x", at: 6, headers: [(name, value)])
        }
        #expect(browser.verdict == .fail)
        #expect(
            try judge { $0.exchange(.app, "GET", "https://api.partner.example/y", at: 6, headers: [(name, value)]) }
                .verdict
                == .pass)
    }

    @Test func anotherHostsCredentialAtChiaIsNotThePartners() throws {
        let result = try judge {
            $0.exchange(.app, "GET", "https://x.vendor.example/", at: 2, headers: [("x-api-key", "vendor-AA77bb99CC")])
            $0.exchange(.app, "GET", "https://chia.health/x", at: 6, headers: [("x-api-key", "vendor-AA77bb99CC")])
        }
        #expect(result.verdict == .pass, "\(result)")
    }

    @Test func unreadTrafficWithChiaIsNotDecided() throws {
        let result = try judge { $0.dark(.browser, "chia.health", at: 20, lastData: 21) }
        #expect(result.reason?.code == "no-keys")
        #expect(try judge { $0.dark(.app, "api.partner.example", at: 20, lastData: 21) }.reason?.code == "no-keys")
    }

    /// Where Chia set no cookie, what went around the proxy may still have given it the partner's.
    @Test func trafficAroundTheProxyIsADoubtWithoutACookieOfChias() throws {
        func result(_ change: (inout ScriptedSession) -> Void) throws -> RuleResult {
            var session = ScriptedSession.upToTap()
            session.exchange(
                .app, "GET", "https://api.partner.example/me", at: 1,
                headers: [("authorization", "Bearer \(Self.credential)")])
            session.browse("https://chia.health/start", at: 5, headers: [("cookie", "seen=aa77BB99cc22DD44")])
            change(&session)
            session.mark(.end, at: 80)
            return try session.judge()["HR-53"]
        }
        let seen = try result { _ in }
        #expect(seen.verdict == .pass, "\(seen)")
        #expect(try result { $0.blindSpot(.bypass, from: nil, at: 20, until: 21, on: nil) }.reason?.code == "bypass")
    }

    @Test func noCookieOfChiasIsNotApplicable() throws {
        var session = ScriptedSession.upToTap()
        session.mark(.end, at: 80)
        #expect(try session.judge()["HR-53"].verdict == .notApplicable)
    }

    // Withheld journeys: cookies as keyed digests.

    /// A conforming share of which the browser's connection to Chia was withheld.
    private func withheld(
        cookies: String? = nil, given: String? = nil, key: [UInt8] = [], _ change: (inout ScriptedSession) -> Void
    ) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        change(&session)
        let packet = session.timeline.compactMap { entry -> Int? in
            guard case .exchange(let exchange) = entry.event, exchange.request?.method == "POST" else { return nil }
            return exchange.request?.started.number
        }.first
        let id = session.connect(.browser, "chia.health", at: 4.4)
        let redactor = Redactor(installationKey: key)
        var attributes = [
            "index": "0", "method": "GET", "status": "200", "role": "chia", "end": "complete",
            "url": redactor.digest(ScriptedSession.url), "to-u": "equal", "u": String(packet ?? 0),
        ]
        attributes["cookies"] = cookies.map { "k=\(redactor.digest($0))" }
        attributes["set-cookies"] = given.map { "sid=\(redactor.digest($0))" }
        session.add(
            4.5,
            .proxyEvent(
                ProxyEvent(
                    kind: .exchange, at: ScriptedSession.instant(4.5), connection: id,
                    packet: session.reference(4.5), attributes: attributes)))
        session.mark(.end, at: 80)
        return try session.judge()["HR-53"]
    }

    @Test func withheldCookiesAreComparedByTheirDigests() throws {
        let crossed = try withheld(given: Self.sid) {
            $0.exchange(.app, "POST", "https://api.partner.example/v", at: 60, headers: [("cookie", "b=\(Self.sid)")])
        }
        #expect(crossed.findings.map(\.kind) == ["chia-cookie"], "\(crossed)")
        let other = try withheld(given: Self.sid) {
            $0.exchange(.app, "POST", "https://api.partner.example/v", at: 60, headers: [("cookie", "b=\(Self.sid)x")])
        }
        #expect(other.verdict == .pass, "\(other)")
        let sent = try withheld(cookies: Self.credential) {
            $0.exchange(
                .app, "GET", "https://api.partner.example/me", at: 1,
                headers: [("authorization", "Bearer \(Self.credential)")])
        }
        #expect(sent.findings.map(\.kind) == ["partner-credential"], "\(sent)")
    }

    @Test func digestsOfAnotherInstallationCantBeCompared() throws {
        let result = try withheld(given: Self.sid, key: [1, 2, 3]) {
            $0.exchange(.app, "POST", "https://api.partner.example/v", at: 60, headers: [("cookie", "b=\(Self.sid)")])
        }
        #expect(result.reason?.code == "withheld", "\(result)")
    }
}
