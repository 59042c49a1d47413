import SessionTrace
import Testing

@testable import Assertions

/// What is kept of projections and contents is bounded, and what was left out leaves no pass; and whose messages count.
@Suite struct ContentLimitsTests {
    private static let config = "https://api.partner.example/config"

    private func judge(policy: String = "", _ change: (inout ScriptedSession) -> Void) throws -> TraceVerdict {
        var session = ScriptedSession.conformingShare()
        session.policyText += policy
        change(&session)
        return try session.judge()
    }

    @Test func moreURLsThanAreKeptAreADoubt() throws {
        let items = (0..<30).map { #""x\#($0)":"https://a.example/\#($0)","# }.joined()
        let verdict = try ProjectionStory.verdict(ScriptedSession.shareDecision, item: items)
        #expect(verdict["HR-38"].verdict == .fail)
        #expect(verdict["HR-37"].reason?.code == "state-given-up", "\(verdict["HR-37"])")
    }

    @Test(arguments: [(200, Verdict.pass), (201, .inconclusive)]) func decisionsAreKeptUpToALimit(
        count: Int, verdict: Verdict
    ) throws {
        var story = ProjectionStory()
        let items = (0..<count).map { #"{"id":"i\#($0)","handoff":\#(ScriptedSession.neutralDecision)}"# }
        story.session.exchange(
            .app, "GET", ProjectionStory.path, at: 1, response: #"{"items":[\#(items.joined(separator: ","))]}"#)
        #expect(try story.judge()["HR-39"].verdict == verdict)
    }

    @Test func fullTablesOfFindingsLeaveNoPass() throws {
        let verdict = try judge(policy: "forbidden: {catalog-keys: [aaa_code, bbb_code]}\n") {
            $0.options.limits.contentFindings = 0
            $0.exchange(.app, "GET", Self.config, at: 6, response: #"{"aaa_code":1}"#)
        }
        #expect(verdict["HR-58"].reason?.code == "state-given-up", "\(verdict["HR-58"])")
        #expect(verdict["HR-36"].reason?.code == "state-given-up")
    }

    @Test func moreCookiesThanAreKeptAreADoubt() throws {
        // Without digits: of those fewer are looked for.
        func word(_ number: Int) -> String {
            "cookie-of-chias-" + String(String(number).map { Character(UnicodeScalar(($0.asciiValue ?? 0x30) + 0x31)) })
        }
        func verdict(_ answers: Int) throws -> RuleResult {
            try judge { session in
                for answer in 0..<answers {
                    session.exchange(
                        .browser, "GET", "https://chia.health/step", at: 5 + Double(answer) / 100,
                        responseHeaders: (0..<100).map { ("set-cookie", "c\($0)=\(word(answer * 100 + $0)); Path=/") })
                }
            }["HR-53"]
        }
        #expect(try verdict(20).verdict == .pass)
        #expect(try verdict(21).reason?.code == "state-given-up")
    }

    @Test func theSearchForHashesIsBounded() {
        var forbidden = Policy.Forbidden()
        forbidden.hashes = [SecretHash(of: Array("not there at all".utf8), salt: "a1b2c3d4")]
        let search = SecretSearch(forbidden)
        #expect(search.search([UInt8](repeating: 0x2E, count: 1_000)[...]).isWhole)
        #expect(!search.search([UInt8](repeating: 0x2E, count: SecretSearch.windowLimit + 16)[...]).isWhole)
        #expect(search.search(Array("short".utf8)[...]).isWhole)
        #expect(search.search([]).hits.isEmpty)
    }

    @Test func hitsOfOneTextAreBounded() {
        let text = (0..<40).map { "whsec_0123456789ab\($0 + 10)" }.joined(separator: " ")
        #expect(SecretSearch(Policy.Forbidden()).search(Array(text.utf8)[...]).hits.count == SecretSearch.hitLimit)
    }

    // Whose message it was.

    @Test func anotherDevicesMessagesAreNotHeldAgainstThisOne() throws {
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        let verdict = try {
            var session = ScriptedSession.conformingShare()
            session.policyText +=
                "  chia-api: [api.chia.health]\n  chia-assets: [assets.chia.health]\nforbidden: {catalog-keys: [aaa_code]}\n"
            session.clientAddress = IPAddress(ipv4: 0x0A00_0009)
            session.exchange(
                .app, "GET", Self.config, at: 6,
                headers: [("user-agent", "chiahealth/1")],
                response:
                    #"{"aaa_code":"\#(secret)","catalogId":"a","hidden":true,"u":"\#(ScriptedSession.url)","order_status":1}"#
            )
            session.exchange(.app, "GET", "https://api.chia.health/x", at: 7)
            session.exchange(.app, "GET", "https://assets.chia.health/1.png", at: 8)
            return try session.judge()
        }()
        for rule in ["HR-36", "HR-40", "HR-55", "HR-56", "HR-57", "HR-58", "HR-60"] {
            #expect(verdict[rule].reason?.code == "several-devices", "\(rule) \(verdict[rule])")
            #expect(!verdict[rule].findings.contains { $0.severity != .info }, "\(rule) \(verdict[rule])")
        }
        #expect(!verdict["HR-45"].findings.contains { $0.severity == .error })
    }

    @Test func aFetchOfAssociationsIsTheSystems() throws {
        let verdict = try judge(policy: "  chia-api: [api.chia.health]\n  chia-assets: [assets.chia.health]\n") {
            for host in ["api", "assets"] {
                $0.exchange(
                    .nobody, "GET", "https://\(host).chia.health/.well-known/apple-app-site-association", at: 6,
                    headers: [("user-agent", "swcd (unknown version) CFNetwork/1490 Darwin/23.2.0")])
            }
        }
        for rule in ["HR-56", "HR-57"] {
            #expect(verdict[rule].reason == nil && verdict[rule].verdict == .pass, "\(verdict[rule])")
        }
    }

    @Test func anAllowanceThatIsOverAllowsNothing() throws {
        func verdict(_ expires: String) throws -> RuleResult {
            try judge(policy: "  opaque-ok: [{host: config.vendor.example, reason: pinned, expires: \(expires)}]\n") {
                $0.dark(.app, "config.vendor.example", at: 20, lastData: 21)
            }["HR-36"]
        }
        #expect(try verdict("2026-01-31").reason?.code == "no-keys")
        #expect(try verdict("2036-01-31").verdict == .pass)
    }

    @Test func anUnreadConnectionWithoutANameMayHoldAnything() throws {
        let verdict = try judge { $0.dark(.app, "198.51.100.77", at: 20, lastData: 21, hello: false) }
        for rule in ["HR-36", "HR-37", "HR-58"] {
            #expect(verdict[rule].reason?.code == "no-keys", "\(rule) \(verdict[rule])")
        }
    }

    @Test func aRecordedBrowsersUnreadTrafficIsItsOwn() throws {
        let verdict = try judge {
            $0.processes[.browser] = ProcessIdentity(source: .pktap, name: "MobileSafari")
            $0.dark(.browser, "www.somewhere.example", at: 20, lastData: 21)
        }
        #expect(verdict["HR-36"].verdict == .pass, "\(verdict["HR-36"])")
    }

    // Names and places.

    @Test(arguments: [
        ("order_status", ["order", "status"]), ("orderStatus", ["order", "status"]),
        ("ORDER-STATUS", ["order", "status"]),
        ("order.status2", ["order", "status2"]), ("", []), ("__", []), ("aURL", ["a", "url"]),
    ]) func namesAreWords(name: String, words: [String]) {
        #expect(KeyWords(name).words == words)
    }

    @Test func placesAreShownWithoutValues() {
        let place = JSONPlace.root.member("items").element(3).member("a/b~c").member("phs_Zk3Tq8WvX2mN7cYbR5dLpA9s")
        #expect(place.shown == "/items/3/a~1b~0c/‹token›")
        #expect(place.template == "/items/*/a~1b~0c/‹token›")
        #expect(place.text == "/items/3/a~1b~0c/phs_Zk3Tq8WvX2mN7cYbR5dLpA9s")
        #expect(JSONPlace.root.shown == "(root)")
        #expect(JSONPlace.root.following(pointer: "/a~1b~0c/x") == JSONPlace.root.member("a/b~c").member("x"))
        #expect(JSONPlace.root.following(pointer: "a") == nil)
        #expect(JSONPlace.root.following(pointer: "") == .root)
        #expect(JSONPlace.root.member("a").member("b").isWithin(JSONPlace.root.member("a")))
        #expect(!JSONPlace.root.member("a").isWithin(JSONPlace.root.member("a").member("b")))
    }

    @Test(arguments: [
        ("https://a.example/x", ["https://a.example/x"], true), ("//a.example/x", ["https://a.example/x"], true),
        ("see https://a.example/x, http://b.example", ["https://a.example/x,", "http://b.example"], false),
        ("//x", [], false), ("app://open", ["app://open"], true), ("://x", [], false), ("a b://c", [], false),
        ("https://", [], false),
    ]) func urlsAreFoundInTexts(text: String, urls: [String], isWhole: Bool) {
        let found = URLText.all(in: text)
        #expect(found.map(\.text) == urls)
        #expect(found.allSatisfy { $0.isWhole == isWhole })
    }

    // Evidence by item.

    @Test func whatConcernsAllItemsConcernsEach() throws {
        func verdict(_ order: [Bool]) throws -> RuleResult {
            var story = ProjectionStory()
            story.session.policyText += "requests: {projection: {path: /handoffs}}\n"
            let path = "https://api.partner.example/handoffs"
            for (index, isGood) in order.enumerated() {
                story.session.exchange(
                    .app, "GET", path, at: 1 + Double(index), status: isGood ? 200 : 500,
                    response: isGood
                        ? #"{"items":[{"id":"item-4711-abcdef","handoff":\#(ScriptedSession.shareDecision)}]}"# : "")
            }
            story.session.tap(.share, at: 4)
            story.session.share(at: 4.1)
            return try story.judge()["HR-41"]
        }
        #expect(try verdict([true, false]).verdict == .fail)
        #expect(try verdict([false, true]).verdict == .pass)
        #expect(try verdict([true, true]).verdict == .notApplicable)
    }

    @Test func aRequestThatNamesNoItemMeetsTheLatestWord() throws {
        func verdict(_ order: [Bool]) throws -> RuleResult {
            var story = ProjectionStory()
            for (index, isGood) in order.enumerated() {
                if isGood {
                    story.answer(ScriptedSession.shareDecision, at: 1 + Double(index))
                } else {
                    story.session.exchange(
                        .app, "GET", ProjectionStory.path, at: 1 + Double(index), status: 500)
                }
            }
            story.session.tap(.share, at: 4)
            story.session.share(at: 4.1, body: #"{"affirmed":true}"#)
            return try story.judge()["HR-41"]
        }
        #expect(try verdict([true, false]).verdict == .fail)
        #expect(try verdict([false, true]).verdict == .pass)
    }
}
