import Assertions
import SessionTrace
import Testing

@Suite struct HR61ReturnURLPlainBoundaryTests {
    private func judge(_ story: (inout ScriptedSession) -> Void) throws -> RuleResult {
        try ScriptedSession.result("HR-61") { story(&$0) }
    }

    private static let ofChia = [("referer", "https://chia.health/"), ("sec-fetch-site", "cross-site")]

    /// A picture of the partner's on Chia's page, and a page of somebody else's that it links to.
    @Test func onlyAPageOfAReturnHostIsAReturn() throws {
        let result = try judge {
            $0.exchange(
                .browser, "GET", "https://www.partner.example/logo.png?v=2", at: 20,
                headers: Self.ofChia + [("sec-fetch-dest", "image")])
            $0.browse("https://news.example/?v=2", at: 30, headers: Self.ofChia)
        }
        #expect(result.verdict == .notApplicable && result.findings.isEmpty, "\(result)")
    }

    private static func chain(_ hops: [String], at start: Double, _ session: inout ScriptedSession) {
        for (index, hop) in hops.enumerated() {
            let next = index + 1 < hops.count ? hops[index + 1] : nil
            session.browse(
                hop, at: start + Double(index) / 10, status: next == nil ? 200 : 302,
                responseHeaders: next.map { [("location", $0)] } ?? [])
        }
    }

    @Test func aRedirectOfChiasLeadsBack() throws {
        func judge(_ hops: [String]) throws -> Int {
            try self.judge { Self.chain(hops, at: 20, &$0) }.findings.filter {
                $0.message.hasPrefix("the browser's navigation from Chia's page")
            }.count
        }
        let back = "https://www.partner.example/home?v=2"
        #expect(try judge(["https://chia.health/leave", back]) == 1)
        #expect(try judge(["https://chia.health/leave", "https://t.example/x", back]) == 1)
        #expect(try judge(["https://t.example/x", back]) == 0)
        #expect(try judge((0..<12).map { "https://t\($0).example/x" } + [back]) == 0, "however many there are")
    }
}

/// A return with crafted values at 60.
@Suite struct HR63CraftedReturnIgnoredBoundaryTests {
    private func judge(_ story: (inout ScriptedSession) -> Void) throws -> RuleResult {
        try ScriptedSession.result("HR-63") {
            $0.mark(.return, at: 60, attributes: ["url": "https://www.partner.example/home?ref=canary-81c2f0aa"])
            story(&$0)
        }
    }

    @Test func whatIsSentInTheReturnsOwnMomentFollowsIt() throws {
        func sent(at time: Double) throws -> RuleResult {
            try judge {
                $0.exchange(.app, "GET", "https://api.partner.example/home?r=canary-81c2f0aa", at: time)
            }
        }
        #expect(try sent(at: 60).violations == ["crafted-value-sent"])
        #expect(try sent(at: 59.999).reason?.code == "crafted-value-not-new")
    }

    @Test func aBodyThatCouldNotBeSearchedIsNotDecided() throws {
        func sent(_ who: ScriptedSession.Who, at time: Double) throws -> RuleResult {
            try judge {
                $0.exchange(
                    who, "POST", "https://sdk.vendor.example/t", at: time, headers: [("content-encoding", "aes128gcm")],
                    body: "\u{1}\u{2}\u{3}")
            }
        }
        #expect(try sent(.app, at: 70).reason?.code == "undecodable-content")
        #expect(try sent(.app, at: 60).reason?.code == "undecodable-content")
        #expect(try sent(.app, at: 59.999).verdict == .pass)
        #expect(try sent(.browser, at: 70).verdict == .pass)
    }
}

@Suite struct HR64ReturnGoesHomeBoundaryTests {
    /// Where returns are marked, the tap on the link in the browser is not the app's return.
    @Test func aTapOnTheLinkIsNoReturnWhereReturnsAreMarked() throws {
        func judge(isMarked: Bool) throws -> RuleResult {
            try ScriptedSession.result("HR-64") {
                $0.tap(.return, at: 60)
                $0.exchange(.app, "GET", "https://api.partner.example/orders/1", at: 60.5)
                if isMarked { $0.mark(.return, at: 61) }
                $0.exchange(.app, "GET", "https://api.partner.example/home", at: 62)
            }
        }
        #expect(try judge(isMarked: true).verdict == .pass)
        #expect(try judge(isMarked: false).violations == ["not-home"])
    }
}

@Suite struct HR65NoPartnerCallbackBoundaryTests {
    private func judge(_ story: (inout ScriptedSession) -> Void) throws -> RuleResult {
        try ScriptedSession.result("HR-65") { story(&$0) }
    }

    private static let back = "https://www.partner.example/home"
    private static let ofChia = [("referer", "https://chia.health/"), ("sec-fetch-site", "cross-site")]

    @Test func onlyAPageOfChiasCounts() throws {
        var session = ScriptedSession.upToTap()
        session.policyText = ScriptedSession.returnPolicy
        session.exchange(.browser, "GET", "https://chia.health/app.js", at: 5)
        session.mark(.end, at: 90)
        #expect(try session.judge()["HR-65"].verdict == .notApplicable)
    }

    @Test func withoutAPartnerThereIsNobodyToCall() throws {
        var session = ScriptedSession()
        session.policyText = "version: 1\n"
        session.browse(ScriptedSession.neutral, at: 5)
        session.mark(.end, at: 90)
        #expect(try session.judge()["HR-65"].reason?.code == "policy-mismatch")
    }

    @Test func thePersonsReturnIsCountedAndShown() throws {
        let tapped = try judge {
            $0.tap(.return, at: 60)
            $0.browse(Self.back, at: 60.2, headers: Self.ofChia)
        }
        #expect(tapped.sentence == "1 page of Chia opened, 1 return by the person, no callback", "\(tapped)")
        #expect(tapped.lookedAt.map(\.label) == ["page of Chia", "return in the browser"])
        let unmarked = try judge {
            $0.browse(Self.back, at: 60.2, headers: Self.ofChia + [("sec-fetch-user", "?1")])
        }
        #expect(unmarked.sentence == "1 page of Chia opened, 1 return by the person, no callback", "\(unmarked)")
        #expect(unmarked.assumptions.map(\.code).contains("return-by-user"))
    }

    /// A tap comes up to ten seconds before its page.
    @Test(arguments: [(60.0, true), (59.999, false), (70, true), (70.001, false)])
    func theTapBesideTheReturnIsThePersons(time: Double, isOfPerson: Bool) throws {
        let result = try judge {
            $0.tap(.return, at: time)
            $0.browse(Self.back, at: 70, headers: Self.ofChia)
        }
        #expect(result.violations == (isOfPerson ? [] : ["automatic-return"]), "\(result)")
    }

    /// That the app came back says nothing of who brought it back: two seconds before the page, up to ten after it.
    @Test(arguments: [
        (68.0, true), (67.999, false), (80, true), (80.001, false),
    ]) func theAppsWordIsNoTap(time: Double, isDoubt: Bool) throws {
        let result = try judge {
            $0.browse("https://chia.health/start", at: 6, headers: [("sec-fetch-user", "?1")])
            $0.mark(.return, at: time)
            $0.browse(Self.back, at: 70, headers: Self.ofChia)
        }
        #expect(result.reason?.code == (isDoubt ? "no-tap-mark" : nil), "\(result)")
        #expect(result.violations == (isDoubt ? [] : ["automatic-return"]), "\(result)")
        let byUser = try judge {
            $0.browse(Self.back, at: 70, headers: Self.ofChia + [("sec-fetch-user", "?1")])
            $0.mark(.return, at: time)
        }
        #expect(byUser.verdict == .pass && byUser.assumptions.map(\.code).contains("return-by-user"), "\(byUser)")
    }

    /// Safari has no Sec-Fetch-User: that it is not there tells something only of a browser that sends it.
    @Test(arguments: ["elsewhere", "to another site", "on a subresource", "never"])
    func withoutTheFieldNothingTellsOfAPerson(sent: String) throws {
        let result = try judge {
            switch sent {
            case "elsewhere": $0.browse("https://chia.health/start", at: 6, headers: [("sec-fetch-user", "?1")])
            case "to another site": $0.browse("https://news.example/", at: 6, headers: [("sec-fetch-user", "?1")])
            case "on a subresource":
                $0.exchange(.app, "GET", "https://news.example/", at: 6, headers: [("sec-fetch-user", "?1")])
            default: break
            }
            $0.browse(Self.back, at: 70, headers: Self.ofChia)
        }
        let isKnown = sent == "elsewhere" || sent == "to another site"
        #expect(result.violations == (isKnown ? ["automatic-return"] : []), "\(sent): \(result)")
        #expect(result.reason?.code == (isKnown ? nil : "no-tap-mark"), "\(sent): \(result)")
    }

    /// The page that the app had opened sends the browser on: nobody has tapped anything on it.
    @Test(arguments: [("none", true), ("same-origin", false)]) func aRedirectOfTheOpeningIsAutomatic(
        site: String, isAutomatic: Bool
    ) throws {
        let result = try judge {
            $0.browse(
                "https://chia.health/expired", at: 40, status: 302, headers: [("sec-fetch-site", site)],
                responseHeaders: [("location", "https://www.partner.example/callback")])
            $0.browse("https://www.partner.example/callback", at: 40.2, headers: [("sec-fetch-site", site)])
        }
        #expect(result.violations == (isAutomatic ? ["automatic-return"] : []), "\(result)")
    }

    /// That a person opened the first page says nothing of who left it.
    @Test(arguments: [nil, "https://chia.health/"]) func aRedirectOfTheOpeningIsNoPersons(referer: String?) throws {
        let result = try judge {
            $0.browse(
                "https://chia.health/expired", at: 40, status: 302, headers: [("sec-fetch-user", "?1")],
                responseHeaders: [("location", Self.back)])
            $0.browse(
                Self.back, at: 40.2, headers: [("sec-fetch-user", "?1")] + (referer.map { [("referer", $0)] } ?? []))
        }
        #expect(result.violations == (referer == nil ? ["automatic-return"] : []), "\(result)")
    }

    @Test func anotherProgramIsNoPageOfChias() throws {
        let result = try judge {
            $0.browse(
                "https://www.partner.example/callback?o=1", at: 60,
                headers: [("sec-fetch-site", "cross-site"), ("referer", "android-app://health.example.shop/")])
        }
        #expect(result.verdict == .pass, "\(result)")
    }

    /// A page that hides its address sends the browser to the partner.
    @Test(
        arguments: [
            (["sec-fetch-site": "cross-site"], "initiator-unknown"), ([:], nil),
            (["sec-fetch-site": "same-origin"], nil), (["sec-fetch-site": "same-site"], nil),
            (["sec-fetch-site": "cross-site", "sec-fetch-user": "?1"], nil),
            (["sec-fetch-site": "cross-site", "referer": "https://search.example/"], nil),
            (["sec-fetch-site": "cross-site", "origin": "https://search.example"], nil),
        ] as [([String: String], String?)]) func aNavigationOfNobodyKnowsWhom(
            headers: [String: String], code: String?
        ) throws
    {
        let result = try judge {
            $0.browse(
                "https://www.partner.example/callback?o=1", at: 60, headers: headers.sorted { $0.key < $1.key })
        }
        #expect(result.reason?.code == code && result.violations == [], "\(headers): \(result)")
    }

    @Test func aBrowserThatTellsNothingOfTheSite() throws {
        let result = try judge {
            $0.exchange(
                .nobody, "GET", "https://www.partner.example/callback?o=1", at: 60,
                headers: [
                    ("user-agent", ScriptedSession.safari), ("accept", "text/html"), ("accept-language", "en"),
                    ("accept-encoding", "gzip"),
                ])
        }
        #expect(result.reason?.code == "initiator-unknown", "\(result)")
    }

    @Test func theTapMakesItThePersonsToo() throws {
        let result = try judge {
            $0.tap(.return, at: 59)
            $0.browse(
                "https://www.partner.example/callback?o=1", at: 60, headers: [("sec-fetch-site", "cross-site")])
        }
        #expect(result.verdict == .pass && result.sentence.contains("1 return by the person"), "\(result)")
    }

    /// A document that no page asked for, and that is no page: a HEAD of the browser's own.
    @Test(
        arguments: [
            ("none", "document", nil), ("none", "empty", "initiator-unknown"),
            ("cross-site", "document", "initiator-unknown"),
        ] as [(String, String, String?)]) func whatThePersonAskedForHasNoPage(
            site: String, destination: String, code: String?
        ) throws
    {
        let result = try judge {
            $0.exchange(
                .browser, "HEAD", Self.back, at: 60,
                headers: [("sec-fetch-site", site), ("sec-fetch-dest", destination)])
        }
        #expect(result.reason?.code == code && result.violations == [], "\(result)")
    }

    /// What the browser fetches ahead by itself, of no page, is no callback; and a HEAD for a picture is a picture.
    @Test func whatNoPageStartedIsNoCallback() throws {
        let ahead = try judge {
            $0.browse(Self.back, at: 60, headers: [("sec-purpose", "prefetch"), ("sec-fetch-site", "none")])
        }
        #expect(ahead.verdict == .pass, "\(ahead)")
        let picture = try judge {
            $0.exchange(
                .browser, "HEAD", "https://www.partner.example/logo.png", at: 60,
                headers: Self.ofChia + [("sec-fetch-dest", "image")])
        }
        #expect(picture.violations == [], "\(picture)")
        let script = try judge {
            $0.exchange(
                .browser, "GET", "https://www.partner.example/x", at: 60,
                headers: [("sec-fetch-site", "none"), ("sec-fetch-dest", "empty")])
        }
        #expect(script.reason?.code == "initiator-unknown", "\(script)")
    }

    @Test(arguments: [(4.5, "no-keys"), (4.499, nil)] as [(Double, String?)]) func whatIsUnreadSinceThePageIsNotDecided(
        last: Double, code: String?
    ) throws {
        let result = try judge { $0.dark(.nobody, "www.partner.example", at: 4.45, lastData: last) }
        #expect(result.reason?.code == code, "\(result)")
    }
}

@Suite struct HR66ReturnHostRegisteredBoundaryTests {
    private func judge(
        _ link: String, end: Double = 100, _ story: (inout ScriptedSession) -> Void = { _ in }
    ) throws -> RuleResult {
        var session = ScriptedSession.inTheBrowser()
        session.policyText += "\nreturn-link: https://go.partner.example/home\n"
        return try ScriptedSession.result("HR-66", session, end: end) {
            $0.mark(.linkOpened, at: 60, attributes: [link.hasPrefix("https") ? "url" : "host": link])
            story(&$0)
        }
    }

    @Test(arguments: ["go.partner.example", "https://go.partner.example/other", "www.partner.example"])
    func theRegisteredLinksHostIsNotForeign(link: String) throws {
        #expect(try judge(link).verdict == .notApplicable)
    }

    @Test(arguments: ["go.partner.example.lookalike.example", "partner.example"]) func anyOtherHostIs(link: String)
        throws
    {
        #expect(try judge(link).verdict == .pass)
    }

    @Test(arguments: [(65.0, nil), (64.999, "trace-ended")] as [(Double, String?)]) func fiveSecondsAreWatched(
        end: Double, code: String?
    ) throws {
        let result = try judge("lookalike.example", end: end)
        #expect(result.reason?.code == code && (result.verdict == .pass) == (code == nil), "\(result)")
    }
}
