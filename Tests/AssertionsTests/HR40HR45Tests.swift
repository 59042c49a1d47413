import Assertions
import SessionTrace
import Testing

@Suite struct HR40HiddenNeverSentTests {
    private static let home = "https://api.partner.example/home"

    private func judge(
        _ response: String, policy: String = "", who: ScriptedSession.Who = .app, address: String = home,
        status: Int = 200
    ) throws -> RuleResult {
        var story = ProjectionStory()
        story.session.policyText += policy
        story.answer(ScriptedSession.neutralDecision)
        story.session.exchange(who, "GET", address, at: 2, status: status, response: response)
        return try story.judge()["HR-40"]
    }

    @Test func noHiddenItemPasses() throws {
        let result = try judge(#"{"items":[{"catalogId":"a","visibility":"visible"}]}"#)
        #expect(result.verdict == .pass, "\(result)")
        #expect(result.sentence == "no hidden item in 2 answers to the app; 0 ids of hidden items known")
        #expect(result.assumptions.contains { $0.code == "hidden-ids-unknown" })
    }

    @Test(arguments: [
        (#"{"items":[{"catalogId":"a","visibility":"hidden"}]}"#, "/items/0/visibility"),
        (#"{"items":[{"itemId":"a","hidden":true}]}"#, "/items/0/hidden"),
        (#"{"a":{"catalog_id":"a","display":"Hidden"}}"#, "/a/display"),
        (#"{"handoff":{"mode":"hidden"}}"#, "/handoff/mode"),
        (#"{"x":{"mode":"hidden","policyUrls":{}}}"#, "/x/mode"),
        (#"{"x":{"visibility":"hidden","handoff":{}}}"#, "/x/visibility"),
    ]) func aHiddenStateFails(response: String, place: String) throws {
        let result = try judge(response)
        #expect(result.verdict == .fail, "\(result)")
        #expect(result.findings.map(\.kind) == ["hidden-item"])
        #expect(result.sentence.hasPrefix("\(place) says that its item is hidden"))
    }

    @Test(arguments: [
        #"{"banner":{"id":"b1","visibility":"hidden"}}"#, #"{"layout":{"hidden":true}}"#,
        #"{"items":[{"catalogId":"a","hidden":false}]}"#, #"{"items":[{"catalogId":"a","note":"hidden"}]}"#,
        #"{"items":[{"catalogId":"hidden"}]}"#,
    ]) func whatIsNoItemsStatePasses(response: String) throws {
        #expect(try judge(response).verdict == .pass)
    }

    @Test func inAProjectionAnItemNeedsOnlyAnId() throws {
        let result = try judge(#"{"related":[{"id":"a","hidden":true}]}"#, address: ProjectionStory.path)
        #expect(result.findings.map(\.kind) == ["hidden-item"], "\(result)")
        #expect(try judge(#"{"visibility":"hidden"}"#, address: ProjectionStory.path).verdict == .fail)
        #expect(try judge(#"{"related":{"hidden":true}}"#, address: ProjectionStory.path).verdict == .pass)
    }

    @Test(arguments: [
        #"{"ids":["sleep-77"]}"#, #"{"sleep-77":{}}"#, #"{"u":"/catalog/sleep-77/handoff"}"#, #"{"t":"see sleep-77."}"#,
    ]) func anIdOfThePolicyFails(response: String) throws {
        let policy = "fields: {hidden: [other-1, sleep-77]}\n"
        let result = try judge(response, policy: policy)
        #expect(result.findings.map(\.kind) == ["hidden-id"], "\(result)")
        #expect(result.sentence.contains("id 2 of the policy's hidden items"))
        #expect(try judge(response).verdict == .pass)
    }

    @Test(arguments: [#"{"ids":["sleep-770"]}"#, #"{"t":"asleep-77"}"#, #"{"ids":["sleep"]}"#])
    func anotherIdPasses(response: String) throws {
        let result = try judge(response, policy: "fields: {hidden: [sleep-77]}\n")
        #expect(result.verdict == .pass)
        #expect(result.assumptions.isEmpty)
    }

    @Test func aShortIdIsAWholeValue() throws {
        let policy = "fields: {hidden: [\"77\"]}\n"
        #expect(try judge(#"{"id":77}"#, policy: policy).verdict == .fail)
        #expect(try judge(#"{"t":"page 77 of 80"}"#, policy: policy).verdict == .pass)
    }

    @Test func anErrorSendsNoItem() throws {
        let policy = "fields: {hidden: [sleep-77]}\n"
        #expect(try judge(#"{"error":"no item sleep-77"}"#, policy: policy, status: 404).verdict == .pass)
        #expect(try judge(#"{"items":[{"catalogId":"a","hidden":true}]}"#, status: 404).verdict == .pass)
    }

    @Test func othersAnswersAreTheirOwn() throws {
        let response = #"{"items":[{"catalogId":"a","hidden":true}]}"#
        #expect(try judge(response, who: .browser).verdict == .pass)
        #expect(try judge(response, address: "https://api2.amplitude.com/x").verdict == .pass)
    }

    @Test func unreadAnswersAreNotDecided() throws {
        var story = ProjectionStory()
        story.answer(ScriptedSession.neutralDecision)
        story.session.exchange(.app, "GET", Self.home, at: 2, response: "{", fate: .notSeen)
        #expect(try story.judge()["HR-40"].reason?.code == "body-not-whole")
    }

    @Test func nothingIsNotApplicable() throws {
        #expect(try ProjectionStory().judge()["HR-40"].verdict == .notApplicable)
    }
}

@Suite struct HR45NeutralImageHostTests {
    private static let assets = "  partner-assets: [img.partner.example]\n"

    private func judge(
        _ image: String, policy: String = assets, title: String = "Programme",
        _ more: (inout ScriptedSession) -> Void = { _ in }
    ) throws -> RuleResult {
        var story = ProjectionStory()
        story.session.policyText += policy
        story.answer(ScriptedSession.shareDecision, item: #""title":"\#(title)","image":"\#(image)","#)
        more(&story.session)
        return try story.judge()["HR-45"]
    }

    @Test func thePartnersHostPasses() throws {
        let result = try judge("https://img.partner.example/i/7f3a91.png") {
            $0.exchange(.app, "GET", "https://img.partner.example/i/7f3a91.png", at: 2)
        }
        #expect(result.verdict == .pass, "\(result)")
        #expect(result.sentence == "1 card image, all on hosts of the partner's (1 fetched)")
        #expect(try judge("https://api.partner.example/i/1.png").verdict == .pass)
    }

    @Test(arguments: ["www.chia.health", "images.example", "api2.amplitude.com", "notimg.partner.example.evil.example"])
    func anotherHostFails(host: String) throws {
        let result = try judge("https://\(host)/i/1.png")
        #expect(result.verdict == .fail, "\(result)")
        #expect(result.findings.map(\.kind) == ["image-host"])
    }

    @Test func anUnnamedHostIsForThePolicyToName() throws {
        let result = try judge("https://images.example/i/1.png", policy: "")
        #expect(result.reason?.code == "policy-mismatch", "\(result)")
        #expect(result.reason?.remedy.contains("hosts: {partner-assets: [images.example]}") == true)
        #expect(try judge("https://www.chia.health/i/1.png", policy: "").verdict == .fail)
    }

    @Test func aRedirectToAnotherHostFails() throws {
        let result = try judge("https://img.partner.example/i/1.png") {
            $0.exchange(
                .app, "GET", "https://img.partner.example/i/1.png", at: 2, status: 302,
                responseHeaders: [("location", "https://images.example/i/1.png")])
            $0.exchange(.app, "GET", "https://images.example/i/1.png", at: 2.2)
        }
        #expect(result.findings.map(\.kind) == ["image-host"], "\(result)")
        #expect(result.sentence.contains("to which its address redirects"))
    }

    @Test(arguments: [
        ("https://www.chia.health/i/1.PNG", ScriptedSession.Who.app, true),
        ("https://www.chia.health/i/1", .app, false),
        ("https://www.chia.health/i/1.png", .browser, false), ("https://www.chia.health/i/1.png?w=2", .app, true),
        ("https://www.shop.example/i/1.png", .app, false),
    ]) func aPictureThatTheAppFetchesFromChiaFails(url: String, who: ScriptedSession.Who, isOne: Bool) throws {
        let result = try judge("https://img.partner.example/i/1.png") { $0.exchange(who, "GET", url, at: 2) }
        #expect(result.findings.map(\.kind) == (isOne ? ["image-host"] : []), "\(result)")
    }

    @Test func anUnreadProjectionIsNotDecided() throws {
        var session = ScriptedSession()
        session.tap(.share, at: 2)
        session.dark(.app, "api.partner.example", at: 1, lastData: 3)
        session.mark(.end, at: 80)
        let verdict = try session.judge()
        for rule in ["HR-37", "HR-38", "HR-39", "HR-40", "HR-41", "HR-45", "HR-55", "HR-56", "HR-57", "HR-58", "HR-60"]
        {
            #expect(verdict[rule].reason?.code == "no-keys", "\(rule) \(verdict.story)")
        }
    }

    @Test func aBrowsersFetchIsNotTheApps() throws {
        let result = try judge("https://img.partner.example/i/1.png") {
            $0.exchange(.browser, "GET", "https://img.partner.example/i/1.png", at: 2)
            $0.exchange(.browser, "GET", "https://www.chia.health/logo.png", at: 3)
        }
        #expect(result.sentence.hasSuffix("(0 fetched)"))
        #expect(result.verdict == .pass)
    }

    @Test func aPictureOfTheShopIsNoCardImage() throws {
        let result = try judge("https://img.partner.example/i/1.png") {
            $0.exchange(.app, "GET", "https://cdn.shop.example/weight-loss.png", at: 2)
        }
        #expect(result.verdict == .pass)
    }

    @Test(arguments: [
        ("/i/weight-loss.png", "Programme"), ("/i/WeightLoss.png", "Programme"), ("/semaglutide/1.png", "Programme"),
        ("/i/glp-1.png", "Programme"), ("/i/slumber-card.png", "Slumber programme"),
    ]) func aPathThatTellsIsAWarning(path: String, title: String) throws {
        let result = try judge("https://img.partner.example\(path)", title: title)
        #expect(result.findings.map(\.kind) == ["telling-path"], "\(result)")
        #expect(result.severity == .warning)
    }

    @Test(arguments: [
        ("/i/7f3a91.png", "Slumber programme"), ("/i/programme.png", "Slumber programme"), ("/i/weight.png", "x"),
    ])
    func aPathThatDoesNotPasses(path: String, title: String) throws {
        #expect(try judge("https://img.partner.example\(path)", title: title).verdict == .pass)
    }

    @Test func withoutAnImageThereIsNothingToJudge() throws {
        var story = ProjectionStory()
        story.answer(ScriptedSession.shareDecision)
        #expect(try story.judge()["HR-45"].verdict == .notApplicable)
    }

    @Test func aCutProjectionIsNotDecided() throws {
        let result = try judge("https://img.partner.example/i/1.png") {
            $0.exchange(.app, "GET", ProjectionStory.path, at: 2, response: "{", fate: .notSeen)
        }
        #expect(result.reason?.code == "body-not-whole")
    }
}
