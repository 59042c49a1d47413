import Assertions
import SessionTrace
import Testing

@Suite struct HR61ReturnURLPlainTests {
    private func judge(
        _ session: ScriptedSession = .inTheBrowser(), link: String? = nil, _ story: (inout ScriptedSession) -> Void
    ) throws -> RuleResult {
        var session = session
        if let link { session.policyText += "\nreturn-link: \"\(link)\"" }
        return try ScriptedSession.result("HR-61", session, story)
    }

    private static func redirect(_ session: inout ScriptedSession, to location: String) {
        session.browse("https://chia.health/back", at: 40, status: 302, responseHeaders: [("location", location)])
    }

    private static func page(_ session: inout ScriptedSession, _ html: String) {
        session.exchange(
            .browser, "GET", "https://chia.health/done", at: 40, response: html,
            responseHeaders: [("content-type", "text/html; charset=utf-8")], isNavigation: true)
    }

    @Test func aPlainLinkPasses() throws {
        let redirect = try judge { Self.redirect(&$0, to: "https://www.partner.example/") }
        #expect(redirect.verdict == .pass && redirect.sentence.hasPrefix("1 link"), "\(redirect)")
        let page = try judge { Self.page(&$0, "<a href=\"https://www.partner.example/\">back</a><a href='/x?y=1'>") }
        #expect(page.verdict == .pass && page.sentence.hasPrefix("1 link"), "\(page)")
    }

    @Test func aLinkThatCarriesValuesIsInformation() throws {
        for location in ["https://www.partner.example/?status=done", "https://www.partner.example/#done"] {
            let result = try judge { Self.redirect(&$0, to: location) }
            #expect(result.verdict == .pass && result.information == ["carries-values"], "\(result)")
            #expect(!"\(result.findings)".contains("done"))
        }
        let page = try judge {
            Self.page(&$0, "<a href='https://www.partner.example/?a=1&amp;outcome=paid'>back</a>")
        }
        #expect(page.information == ["carries-values"] && page.findings[0].message.contains("a, outcome"), "\(page)")
    }

    @Test func whatIsRegisteredDecidesWhenThePolicySaysIt() throws {
        let link = "https://www.partner.example/?src=chia"
        #expect(try judge(link: link) { Self.redirect(&$0, to: link) }.verdict == .pass)
        #expect(try judge(link: link) { Self.redirect(&$0, to: "https://www.partner.example/") }.verdict == .pass)
        let other = try judge(link: link) { Self.redirect(&$0, to: link + "&s=1") }
        #expect(other.violations == ["carries-values"] && other.severity == .warning, "\(other)")
    }

    @Test func anAppsOwnSchemeIsReadToo() throws {
        let result = try judge(link: "shop://home") {
            Self.redirect(&$0, to: "shop://home?status=done")
            Self.page(&$0, "<a href=\"shop://order/5\">x</a>")
        }
        #expect(result.violations == ["carries-values"], "\(result)")
    }

    @Test func theBrowsersNavigationShowsItsQuery() throws {
        let fromChia = try judge {
            $0.browse("https://www.partner.example/?s=1", at: 40, headers: [("referer", "https://chia.health/")])
        }
        #expect(fromChia.information == ["carries-values"], "\(fromChia)")
        let typed = try judge { $0.browse("https://www.partner.example/?s=1", at: 40) }
        #expect(typed.verdict == .notApplicable, "a link that the tester typed is not Chia's: \(typed)")
        let registered = try judge(link: "https://www.partner.example/?src=chia#top") {
            $0.browse("https://www.partner.example/?src=chia", at: 40, headers: [("referer", "https://chia.health/")])
        }
        #expect(registered.verdict == .pass, "a fragment is not sent: \(registered)")
    }

    @Test func withoutALinkOrAHostItDoesNotApply() throws {
        #expect(try judge { _ in }.verdict == .notApplicable)
        var session = ScriptedSession.inTheBrowser()
        session.policyText = "hosts: {partner: [api.partner.example]}"
        let result = try judge(session) { Self.redirect(&$0, to: "https://www.partner.example/?s=1") }
        #expect(result.verdict == .notApplicable && result.sentence.contains("return hosts"), "\(result)")
    }

    @Test func unreadPagesOfChiasAreADoubt() throws {
        #expect(try judge { $0.dark(.browser, "chia.health", at: 20, lastData: 30) }.reason?.code == "no-keys")
    }

    @Test func aMalformedLinkIsAFaultOfThePolicy() {
        #expect(throws: PolicyError.self) { try Policy.parse(yaml: "return-link: home", file: "handoff.yml") }
        #expect(throws: PolicyError.self) { try Policy.parse(yaml: "return-link: \"://x\"", file: "handoff.yml") }
        #expect((try? Policy.parse(yaml: "return-link: shop://home", file: "x"))?.returnLink == "shop://home")
    }
}

@Suite struct HR63CraftedReturnIgnoredTests {
    private static let canary = "canary-81c2f0aa"

    private func judge(
        _ session: ScriptedSession = .inTheBrowser(), attributes: [String: String] = ["ref": canary],
        end: Double = 100, _ story: (inout ScriptedSession) -> Void
    ) throws -> RuleResult {
        try ScriptedSession.result("HR-63", session, end: end) {
            $0.mark(.return, at: 50, attributes: attributes)
            story(&$0)
        }
    }

    @Test func silencePasses() throws {
        let result = try judge { $0.exchange(.app, "GET", "https://api.partner.example/home", at: 51) }
        #expect(result.verdict == .pass && result.assumptions.isEmpty, "\(result)")
    }

    /// Everything that is sent is searched, so that a service of the system that nobody could read is an assumption, as it is
    /// for HR-47; what the system sent before the return is none.
    @Test func servicesOfTheSystemThatWereNotReadAreAnAssumption() throws {
        let unread = try judge { $0.dark(.nobody, "play.googleapis.com", at: 51, lastData: 52) }
        #expect(unread.verdict == .pass && unread.assumptions.map(\.code) == ["os-services"], "\(unread)")
        #expect(unread.assumptions.first?.sentence == "OS services not inspected: 1 host")
        let before = try judge { $0.dark(.nobody, "play.googleapis.com", at: 20, lastData: 21) }
        #expect(before.verdict == .pass && before.assumptions.isEmpty, "\(before)")
        let unreached = try judge { $0.unreachable(.nobody, "play.googleapis.com", at: 51) }
        #expect(unreached.assumptions.map(\.code) == ["os-services-unreached"], "\(unreached)")
    }

    @Test func aCraftedValueInARequestFails() throws {
        let base64 = "Y2FuYXJ5LTgxYzJmMGFh"
        for (target, body) in [
            ("/home?ref=\(Self.canary)", ""), ("/home", #"{"ref":"\#(Self.canary)"}"#), ("/home", "x=\(base64)"),
        ] {
            let result = try judge {
                $0.exchange(.app, "POST", "https://api.partner.example\(target)", at: 51, body: body)
            }
            #expect(
                result.violations == ["crafted-value-sent"] && result.severity == .error, "\(target) \(body): \(result)"
            )
            #expect(result.sentence.contains("1 s after the return") && !"\(result)".contains(Self.canary), "\(result)")
        }
    }

    @Test func valuesOfAWholeLinkAreCraftedToo() throws {
        let link = "https://www.partner.example/?order=4711-canary-one#done=canary-in-fragment"
        for value in ["4711-canary-one", "canary-in-fragment"] {
            let result = try judge(attributes: ["url": link]) {
                $0.exchange(.app, "POST", "https://app-measurement.com/a", at: 51, body: "v=\(value)")
            }
            #expect(result.verdict == .fail, "\(value): \(result)")
        }
        let address = try judge(attributes: ["url": link]) {
            $0.exchange(.app, "POST", "https://api.partner.example/x", at: 51, body: "u=https://www.partner.example/")
        }
        #expect(address.verdict == .pass, "the registered address is no crafted value: \(address)")
    }

    /// The same request before the return and after it.
    @Test func aValueThatWasThereBeforeTellsNothing() throws {
        let result = try judge {
            $0.exchange(.app, "POST", "https://api.partner.example/e", at: 49, body: "v=\(Self.canary)")
            $0.exchange(.app, "POST", "https://api.partner.example/e", at: 51, body: "v=\(Self.canary)")
        }
        #expect(result.reason?.code == "crafted-value-not-new", "\(result)")
    }

    @Test func theBrowserCarriesTheLink() throws {
        let result = try judge {
            $0.browse("https://www.partner.example/?ref=\(Self.canary)", at: 50.1)
            $0.exchange(.disguised, "GET", "https://cdn.example/x", at: 52)
        }
        #expect(result.verdict == .pass, "\(result)")
    }

    @Test func anUnknownSenderOutsideThePartnerIsADoubt() throws {
        #expect(
            try judge { $0.exchange(.nobody, "GET", "https://www.partner.example/?ref=\(Self.canary)", at: 51) }.reason?
                .code == "actor-unknown")
        #expect(
            try judge { $0.exchange(.nobody, "GET", "https://api.partner.example/?ref=\(Self.canary)", at: 51) }.verdict
                == .fail)
    }

    @Test func valuesMustBeLongEnough() throws {
        let short = try judge(attributes: ["status": "paid"]) { _ in }
        #expect(short.reason?.code == "crafted-value-too-short", "\(short)")
        #expect(try judge(attributes: ["status": "1234567"]) { _ in }.verdict == .inconclusive)
        #expect(try judge(attributes: ["status": "12345678"]) { _ in }.verdict == .inconclusive)
        #expect(try judge(attributes: ["status": "1234abcd"]) { _ in }.verdict == .pass)
    }

    @Test func whatTheTestSaysOfItselfIsNotCrafted() throws {
        #expect(try judge(attributes: ["screen": "home-screen-of-the-shop"]) { _ in }.verdict == .notApplicable)
        #expect(try judge(attributes: ["url": "https://www.partner.example/"]) { _ in }.verdict == .notApplicable)
        #expect(try judge(attributes: [:]) { _ in }.verdict == .notApplicable)
    }

    @Test func unreadTrafficAfterTheReturnIsADoubt() throws {
        #expect(try judge { $0.dark(.app, "collect.example", at: 51, lastData: 52) }.reason?.code == "no-keys")
        #expect(try judge { $0.dark(.app, "collect.example", at: 10, lastData: 20) }.verdict == .pass)
    }

    @Test func aShortTraceIsAnAssumption() throws {
        #expect(try judge(end: 60) { _ in }.assumptions.map(\.code) == ["observed-only"])
    }
}
