import Assertions
import SessionTrace
import Testing

@Suite struct HR64ReturnGoesHomeTests {
    private func judge(
        _ session: ScriptedSession = .inTheBrowser(), end: Double = 100, _ story: (inout ScriptedSession) -> Void
    ) throws -> RuleResult {
        try ScriptedSession.result("HR-64", session, end: end) {
            $0.mark(.return, at: 50)
            story(&$0)
        }
    }

    @Test func theHomeAndItsImagesPass() throws {
        let result = try judge {
            $0.exchange(.app, "GET", "https://api.partner.example/home", at: 50.2)
            $0.exchange(.app, "GET", "https://api.partner.example/home/deals", at: 50.3)
            $0.exchange(.app, "GET", "https://img.partner.example/1", at: 50.4)
        }
        #expect(result.verdict == .pass && result.assumptions.isEmpty, "\(result)")
        #expect(result.sentence.contains("3 requests") && result.sentence.contains("2 for the home"), "\(result)")
    }

    @Test func anythingElseOfThePartnersFails() throws {
        let result = try judge { $0.exchange(.app, "GET", "https://api.partner.example/orders/4711", at: 51) }
        #expect(result.violations == ["not-home"] && result.severity == .error, "\(result)")
        #expect(result.sentence.contains("1 s after the return"))
        let elsewhere = try judge { $0.exchange(.app, "GET", "https://maps.example/x", at: 51) }
        #expect(elsewhere.violations == ["not-home"] && elsewhere.severity == .warning, "\(elsewhere)")
        let method = try judge { $0.exchange(.app, "POST", "https://api.partner.example/home", at: 51, body: "{}") }
        #expect(method.violations == ["not-home"], "another method is another request: \(method)")
    }

    /// The projection of the item behind the home, and of one that the link may have named.
    @Test func anotherItemThanTheOneBeforeIsOpened() throws {
        let same = try judge {
            $0.exchange(.app, "GET", "https://api.partner.example/home", at: 50.2)
            $0.projection(at: 50.3)
        }
        #expect(same.verdict == .pass && same.information == ["refresh"], "\(same)")
        let other = try judge { $0.projection(at: 50.3, item: "item-4711-abcdee") }
        #expect(other.violations == ["item-opened"], "\(other)")
    }

    @Test func theNextTapEndsIt() throws {
        let result = try judge {
            $0.exchange(.app, "GET", "https://api.partner.example/home", at: 50.2)
            $0.mark(.tap, .other, at: 55)
            $0.exchange(.app, "GET", "https://api.partner.example/orders", at: 55.1)
        }
        #expect(result.verdict == .pass, "\(result)")
        #expect(
            try judge {
                $0.exchange(.app, "GET", "https://api.partner.example/orders", at: 54.9)
                $0.mark(.tap, .other, at: 55)
            }.verdict == .fail)
    }

    @Test func telemetryIsMentioned() throws {
        let result = try judge { $0.exchange(.app, "POST", "https://app-measurement.com/a", at: 51, body: "{}") }
        #expect(result.verdict == .pass && result.information == ["telemetry"], "\(result)")
        #expect(result.assumptions.map(\.code) == ["home-not-asked-for"])
    }

    @Test func withoutAHomeInThePolicyNothingIsHeldAgainstTheApp() throws {
        var session = ScriptedSession.inTheBrowser()
        session.policyText = "hosts: {partner: [api.partner.example]}"
        let result = try judge(session) { $0.exchange(.app, "GET", "https://api.partner.example/start", at: 51) }
        #expect(result.reason?.code == "policy-mismatch", "\(result)")
        #expect(result.reason?.remedy.contains(#"home: ["GET /start"]"#) == true, "\(result)")
    }

    @Test func aTapOnTheReturnLinkStandsForTheMark() throws {
        let result = try ScriptedSession.result("HR-64") {
            $0.mark(.tap, .return, at: 50)
            $0.exchange(.app, "GET", "https://api.partner.example/orders", at: 52)
        }
        #expect(result.verdict == .fail, "\(result)")
    }

    @Test func browserAndSystemAreNotTheApp() throws {
        let result = try judge {
            $0.browse("https://www.partner.example/orders", at: 50.1)
            $0.exchange(.app, "GET", "https://captive.apple.com/x", at: 51)
        }
        #expect(result.verdict == .pass, "\(result)")
    }

    @Test func unknownSendersAndUnreadTrafficAreDoubts() throws {
        #expect(
            try judge { $0.exchange(.nobody, "GET", "https://api.partner.example/orders", at: 51) }.reason?.code
                == "actor-unknown")
        #expect(try judge { $0.dark(.app, "api.partner.example", at: 51, lastData: 52) }.reason?.code == "no-keys")
        #expect(
            try judge {
                $0.mark(.tap, .other, at: 55)
                $0.dark(.app, "api.partner.example", at: 56, lastData: 57)
            }.verdict == .pass)
    }

    @Test func aShortTraceIsAnAssumption() throws {
        #expect(try judge(end: 60) { _ in }.assumptions.contains { $0.code == "observed-only" })
        #expect(
            try !judge(end: 60) { $0.tap(.cta, at: 55) }.assumptions.contains { $0.code == "observed-only" })
    }

    @Test func withoutAReturnItDoesNotApply() throws {
        #expect(
            try ScriptedSession.result("HR-64") { $0.mark(.foreground, at: 50) }.verdict == .notApplicable)
    }
}

@Suite struct HR65NoPartnerCallbackTests {
    private func judge(
        _ session: ScriptedSession = .inTheBrowser(), _ story: (inout ScriptedSession) -> Void
    ) throws -> RuleResult {
        try ScriptedSession.result("HR-65", session, story)
    }

    private static let fromChia = ("referer", "https://chia.health/h/x")

    private static func fetch(
        _ session: inout ScriptedSession, _ method: String = "GET", _ url: String, destination: String,
        _ more: [(String, String)] = [fromChia], status: Int = 200, type: String = ""
    ) {
        session.exchange(
            .browser, method, url, at: 20, status: status,
            headers: [
                ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors"), ("sec-fetch-dest", destination),
            ] + more, responseHeaders: type.isEmpty ? [] : [("content-type", type)])
    }

    @Test func aPageThatKeepsToItselfPasses() throws {
        let result = try judge { $0.exchange(.app, "GET", "https://api.partner.example/home", at: 20) }
        #expect(result.verdict == .pass && result.sentence.contains("0 returns"), "\(result)")
    }

    @Test func callsFromAPageOfChiasFail() throws {
        for (method, destination, kind) in [
            ("POST", "empty", "callback"), ("GET", "empty", "callback"), ("GET", "iframe", "frame"),
        ] {
            for host in ["api.partner.example", "www.partner.example"] {
                let result = try judge {
                    Self.fetch(&$0, method, "https://\(host)/cb", destination: destination)
                }
                #expect(result.violations == [kind] && result.severity == .error, "\(method) \(destination): \(result)")
            }
        }
        let origin = try judge {
            Self.fetch(
                &$0, "POST", "https://api.partner.example/cb", destination: "empty", [("origin", "https://chia.health")]
            )
        }
        #expect(origin.violations == ["callback"], "\(origin)")
    }

    @Test func theLogoOnACoBrandedPageIsNone() throws {
        for destination in ["image", "style", "script", "font"] {
            let result = try judge {
                Self.fetch(&$0, "GET", "https://www.partner.example/logo.svg", destination: destination)
            }
            #expect(result.verdict == .pass, "\(destination): \(result)")
        }
        let assets = try judge { Self.fetch(&$0, "GET", "https://img.partner.example/x", destination: "empty") }
        #expect(assets.verdict == .pass, "\(assets)")
        let pixel = try judge {
            Self.fetch(&$0, "GET", "https://www.partner.example/p.gif?status=paid", destination: "image")
        }
        #expect(pixel.violations == ["pixel"], "\(pixel)")
        let sized = try judge {
            Self.fetch(&$0, "GET", "https://www.partner.example/logo.svg?w=80", destination: "image")
        }
        #expect(sized.verdict == .pass, "\(sized)")
    }

    @Test func thePartnersOwnPagesAreNotChias() throws {
        let result = try judge {
            Self.fetch(
                &$0, "POST", "https://api.partner.example/cart", destination: "empty",
                [("origin", "https://www.partner.example")])
        }
        #expect(result.verdict == .pass, "\(result)")
        let untold = try judge { Self.fetch(&$0, "POST", "https://api.partner.example/cart", destination: "empty", []) }
        #expect(untold.reason?.code == "initiator-unknown", "\(untold)")
    }

    // MARK: navigations

    @Test func aReturnWithoutATapIsAutomatic() throws {
        let result = try judge {
            $0.browse("https://chia.health/start", at: 39, headers: [("sec-fetch-user", "?1")])
            $0.browse("https://www.partner.example/", at: 40, headers: [Self.fromChia])
        }
        #expect(result.violations == ["automatic-return"], "\(result)")
        let redirect = try judge {
            $0.browse(
                "https://chia.health/expired", at: 40, status: 302,
                responseHeaders: [("location", "https://api.partner.example/callback")])
            $0.browse("https://api.partner.example/callback", at: 40.2)
        }
        #expect(redirect.violations == ["automatic-return"], "\(redirect)")
    }

    /// A tap on the link ten seconds before the page, and a little more.
    @Test func theTapOnTheLinkMakesItThePersons() throws {
        for (tap, verdict) in [(30.1, Verdict.pass), (29.9, .fail), (40.1, .fail)] {
            let result = try judge {
                $0.mark(.tap, .return, at: tap)
                $0.browse("https://www.partner.example/", at: 40, headers: [Self.fromChia])
            }
            #expect(result.verdict == verdict, "\(tap): \(result)")
        }
    }

    @Test func theBrowserSaysThatAPersonDidIt() throws {
        let result = try judge {
            $0.browse("https://www.partner.example/", at: 40, headers: [Self.fromChia, ("sec-fetch-user", "?1")])
        }
        #expect(result.verdict == .pass && result.assumptions.map(\.code).contains("return-by-user"), "\(result)")
    }

    @Test func withoutTapMarksNothingTellsWhoseActItWas() throws {
        var session = ScriptedSession()
        session.policyText = ScriptedSession.returnPolicy
        session.share(at: 4.1)
        session.browse(ScriptedSession.url, at: 4.5)
        let result = try judge(session) { $0.browse("https://www.partner.example/", at: 40, headers: [Self.fromChia]) }
        #expect(result.reason?.code == "no-tap-mark", "\(result)")
    }

    @Test func whatTheTesterTypesIsNoReturn() throws {
        let result = try judge { $0.browse("https://www.partner.example/?ref=crafted", at: 40) }
        #expect(result.verdict == .pass && result.sentence.contains("0 returns"), "\(result)")
    }

    // MARK: what can't be told

    @Test func unreadTrafficOfTheBrowserIsADoubt() throws {
        #expect(try judge { $0.dark(.nobody, "www.partner.example", at: 20, lastData: 21) }.reason?.code == "no-keys")
        #expect(try judge { $0.dark(.nobody, "www.partner.example", at: 1, lastData: 2) }.verdict == .pass)
        var session = ScriptedSession()
        session.policyText = ScriptedSession.returnPolicy
        session.dark(.browser, "chia.health", at: 5, lastData: 6)
        #expect(try judge(session) { _ in }.reason?.code == "no-keys")
    }

    @Test func withoutAPageOfChiasItDoesNotApply() throws {
        #expect(try judge(.upToTap()) { _ in }.verdict == .notApplicable)
    }
}

@Suite struct HR66ReturnHostRegisteredTests {
    private func judge(
        _ session: ScriptedSession = .inTheBrowser(), attributes: [String: String] = ["host": "evil.example"],
        end: Double = 100, _ story: (inout ScriptedSession) -> Void
    ) throws -> RuleResult {
        try ScriptedSession.result("HR-66", session, end: end) {
            $0.mark(.linkOpened, at: 50, attributes: attributes)
            story(&$0)
        }
    }

    private static func home(_ session: inout ScriptedSession, at time: Double, _ who: ScriptedSession.Who = .app) {
        session.exchange(who, "GET", "https://api.partner.example/home", at: time)
    }

    @Test func silencePasses() throws {
        #expect(try judge { _ in }.verdict == .pass)
        #expect(try judge { Self.home(&$0, at: 55.1) }.verdict == .pass)
        #expect(try judge { Self.home(&$0, at: 49.9) }.verdict == .pass)
    }

    @Test func anAppThatComesToLifeIsAWarning() throws {
        for attributes in [
            ["host": "evil.example"], ["url": "https://www.partner.example.evil.example/x"], ["url": "shop://home"],
        ] {
            let result = try judge(attributes: attributes) { Self.home(&$0, at: 54.9) }
            #expect(result.violations == ["foreign-link"] && result.severity == .warning, "\(attributes): \(result)")
            #expect(result.sentence.contains("4.9 s after"))
        }
    }

    @Test func theRegisteredHostIsNoTest() throws {
        for attributes in [["host": "www.partner.example"], ["url": "https://www.partner.example/?x=1"], [:]] {
            let result = try judge(attributes: attributes) { Self.home(&$0, at: 50.5) }
            #expect(result.verdict == .notApplicable, "\(attributes): \(result)")
        }
        var session = ScriptedSession.inTheBrowser()
        session.policyText += "\nreturn-link: shop://home"
        #expect(
            try judge(session, attributes: ["url": "shop://other"]) { Self.home(&$0, at: 50.5) }.verdict
                == .notApplicable)
    }

    @Test func thePolicySaysHowLong() throws {
        var session = ScriptedSession.inTheBrowser()
        session.policyText += "\ntiming: {foreign-link: 1s}"
        #expect(try judge(session) { Self.home(&$0, at: 51.1) }.verdict == .pass)
        #expect(try judge(session) { Self.home(&$0, at: 50.9) }.verdict == .fail)
    }

    @Test func browserAndSystemAreNotTheApp() throws {
        let result = try judge {
            $0.browse("https://evil.example/", at: 50.1)
            $0.exchange(.app, "GET", "https://captive.apple.com/x", at: 51)
        }
        #expect(result.verdict == .pass, "\(result)")
        #expect(try judge { Self.home(&$0, at: 51, .nobody) }.reason?.code == "actor-unknown")
    }

    @Test func whatCantBeSeenIsADoubt() throws {
        #expect(try judge { $0.dark(.app, "collect.example", at: 51, lastData: 52) }.reason?.code == "no-keys")
        #expect(try judge(end: 53) { _ in }.reason?.code == "trace-ended")
        var offline = ScriptedSession.inTheBrowser()
        offline.mark(.netOff, at: 40)
        #expect(try judge(offline) { _ in }.reason?.code == "offline")
        var session = ScriptedSession.inTheBrowser()
        session.policyText = "hosts: {partner: [api.partner.example]}"
        #expect(try judge(session) { Self.home(&$0, at: 51) }.reason?.code == "policy-mismatch")
    }
}
