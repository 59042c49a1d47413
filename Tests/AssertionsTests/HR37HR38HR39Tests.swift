import Assertions
import SessionTrace
import Testing

/// What the projection rules say of the answers to one projection request.
struct ProjectionStory {
    var session = ScriptedSession()
    static let path = "https://api.partner.example/catalog/item-4711-abcdef/handoff"

    init() {
        session.mark(.launch, at: 0)
    }

    /// A projection with this decision, and more members of the item.
    mutating func answer(
        _ decision: String, item: String = "", at time: Double = 1, status: Int = 200,
        fate: ScriptedSession.Fate = .answered,
        who: ScriptedSession.Who = .app, address: String = path, headers: [(String, String)] = []
    ) {
        session.exchange(
            who, "GET", address, at: time, status: status,
            response: #"{"catalogId":"item-4711-abcdef",\#(item)"handoff":\#(decision)}"#, responseHeaders: headers,
            fate: fate)
    }

    func judge() throws -> TraceVerdict {
        var session = session
        session.mark(.end, at: 90)
        return try session.judge()
    }

    static func verdict(_ decision: String, item: String = "", policy: String = "") throws -> TraceVerdict {
        var story = ProjectionStory()
        story.session.policyText += policy
        story.answer(decision, item: item)
        return try story.judge()
    }
}

@Suite struct HR37ProjectionClosedTests {
    private static let share = ScriptedSession.shareDecision
    private static let neutral = ScriptedSession.neutralDecision

    private func kinds(_ decision: String, item: String = "") throws -> [String] {
        try ProjectionStory.verdict(decision, item: item)["HR-37"].findings.map(\.kind)
    }

    @Test func bothDecisionsPassToTheLetter() throws {
        var story = ProjectionStory()
        story.answer(Self.share)
        story.answer(Self.neutral, at: 2)
        let result = try story.judge()["HR-37"]
        #expect(result.verdict == .pass, "\(result)")
        #expect(result.sentence == "2 decisions in 2 projections, each exactly of the union")
        #expect(result.lookedAt.count == 2)
    }

    @Test(arguments: [
        ("\"mode\":\"share_or_neutral\"", "\"mode\":\"share\"", "unknown-mode", "/handoff/mode"),
        ("\"mode\":\"share_or_neutral\",", "", "missing-member", "/handoff/mode"),
        ("\"mode\":\"share_or_neutral\"", "\"mode\":7", "wrong-type", "/handoff/mode"),
        ("\"purpose\":\"To start with your selection\",", "", "missing-member", "/handoff/purpose"),
        ("\"heading\":\"Continue with Chia\"", "\"heading\":null", "wrong-type", "/handoff/heading"),
        ("Share selection and continue", "Share and continue", "wrong-literal", "/handoff/primary/actionLabel"),
        ("Continue without sharing", "Continue without Sharing", "wrong-literal", "/handoff/secondary/actionLabel"),
        ("/v2/handoff-sessions", "/v2/handoff-sessions/", "wrong-literal", "/handoff/primary/sessionCreationPath"),
        ("[\"Selected programme\"]", "\"Selected programme\"", "wrong-type", "/handoff/dataShared"),
        ("[\"Selected programme\"]", "[\"Selected programme\",1]", "wrong-type", "/handoff/dataShared/1"),
        ("https://chia.health/privacy", "http://chia.health/privacy", "not-https", "/handoff/policyUrls/privacy"),
        ("\"https://chia.health/privacy\"", "false", "wrong-type", "/handoff/policyUrls/privacy"),
        ("{\"privacy\":\"https://chia.health/privacy\"}", "[]", "wrong-type", "/handoff/policyUrls"),
        ("\"legal_name\":\"Chia Health Inc.\",", "", "missing-member", "/handoff/recipient/legal_name"),
        ("\"privacy_contact\"", "\"phone\":\"1\",\"privacy_contact\"", "unknown-member", "/handoff/recipient/phone"),
        ("\"purpose\":", "\"priority\":1,\"purpose\":", "unknown-member", "/handoff/priority"),
        (
            "\"disclosureVersion\":\"2026-03\"", "\"disclosureVersion\":3", "wrong-type",
            "/handoff/primary/disclosureVersion"
        ),
        ("\"purpose\":", "\"purpose\":\"a\",\"purpose\":", "duplicate-key", "/handoff/purpose"),
        (
            "{\"privacy\"", "{\"privacy\":\"https://a.example/\",\"privacy\"", "duplicate-key",
            "/handoff/policyUrls/privacy"
        ),
    ]) func eachDifferenceIsTold(old: String, new: String, kind: String, place: String) throws {
        let decision = String(Self.share.split(separator: old, omittingEmptySubsequences: false).joined(separator: new))
        #expect(decision != Self.share)
        let result = try ProjectionStory.verdict(decision)["HR-37"]
        #expect(result.verdict == .fail, "\(result)")
        #expect(result.findings.map(\.kind) == [kind], "\(result.findings.map(\.message))")
        #expect(result.findings[0].message.hasPrefix("\(place) "), "\(result.findings[0].message)")
        #expect(result.findings[0].evidence[0].place == place)
    }

    @Test(arguments: [
        ("\"actionLabel\":\"Continue to Chia\"", "\"actionLabel\":\"Continue\"", "wrong-literal"),
        ("\"url\":\"\(ScriptedSession.neutral)\"", "\"url\":{}", "wrong-type"),
        ("\"body\":", "\"purpose\":\"\",\"body\":", "unknown-member"),
        ("\"mode\":\"neutral_only\"", "\"mode\":\"neutral-only\"", "unknown-mode"),
    ]) func theNeutralDecisionIsClosedToo(old: String, new: String, kind: String) throws {
        let decision = String(
            Self.neutral.split(separator: old, omittingEmptySubsequences: false).joined(separator: new))
        #expect(try kinds(decision) == [kind])
    }

    @Test func namesThatStandTwiceBesideTheDecisionCountToo() throws {
        #expect(try kinds(Self.neutral, item: #""handoff":{},"#) == ["duplicate-key"])
        #expect(try kinds(Self.neutral, item: #""title":"a","title":"a","#) == ["duplicate-key"])
        #expect(try kinds(Self.neutral, item: #""title":"a","Title":"a","#).isEmpty)
    }

    @Test func aLiteralMayBeEscaped() throws {
        let decision = Self.share.split(separator: "Share selection", omittingEmptySubsequences: false)
            .joined(separator: "Sh\\u0061re selection")
        #expect(try ProjectionStory.verdict(decision)["HR-37"].verdict == .pass)
        let slashes = Self.share.split(separator: "/v2/handoff-sessions", omittingEmptySubsequences: false)
            .joined(separator: #"\/v2\/handoff-sessions"#)
        #expect(try ProjectionStory.verdict(slashes)["HR-37"].verdict == .pass)
    }

    @Test func noValueOfAWrongMemberIsPrintedIfItMayBeASecret() throws {
        let decision = Self.share.split(separator: "Share selection and continue", omittingEmptySubsequences: false)
            .joined(separator: ScriptedSession.token)
        let verdict = try ProjectionStory.verdict(decision)
        #expect(verdict["HR-37"].verdict == .fail)
        #expect(!verdict.story.contains(ScriptedSession.token))
    }

    @Test func aDecisionElsewhereIsFoundByItsShape() throws {
        var story = ProjectionStory()
        story.answer(Self.neutral, address: "https://api.partner.example/v9/cards/4711")
        let result = try story.judge()["HR-37"]
        #expect(result.reason?.code == "policy-mismatch", "\(result)")
        #expect(result.reason?.remedy.contains("projection: {method: GET, path: /v9/cards/4711}") == true)
        story = ProjectionStory()
        story.answer(
            Self.neutral.split(separator: "\"body\":", omittingEmptySubsequences: false).joined(
                separator: "\"extra\":1,\"body\":"), address: "https://api.partner.example/v9/cards/4711")
        #expect(try story.judge()["HR-37"].findings.map(\.kind) == ["unknown-member"])
    }

    @Test func decisionsBesideANamedProjectionNeedNoPolicyLine() throws {
        var story = ProjectionStory()
        story.answer(Self.neutral)
        story.session.exchange(
            .app, "GET", "https://api.partner.example/home", at: 2,
            response: #"{"items":[{"id":"a","handoff":\#(Self.share)},{"id":"b","handoff":\#(Self.neutral)}]}"#)
        let result = try story.judge()["HR-37"]
        #expect(result.verdict == .pass, "\(result)")
        #expect(result.sentence.hasPrefix("3 decisions in 2 projections"))
    }

    @Test func anotherModeElsewhereIsNoDecision() throws {
        var story = ProjectionStory()
        story.answer(Self.neutral)
        story.session.exchange(
            .app, "GET", "https://api.partner.example/player", at: 2,
            response: #"{"mode":"dark","url":"https://x.example/","note":"neutral"}"#)
        #expect(try story.judge()["HR-37"].verdict == .pass)
    }

    @Test func aWordOfAnotherObjectInANamedAnswerIsNoDecision() throws {
        #expect(try kinds(Self.neutral, item: #""player":{"mode":"dark"},"#).isEmpty)
    }

    @Test func thePointerOfThePolicyFindsIt() throws {
        var story = ProjectionStory()
        story.session.policyText += "fields: {projection: /data/card}\n"
        story.session.exchange(
            .app, "GET", ProjectionStory.path, at: 1,
            response: #"{"data":{"card":{"heading":"x"},"more":{"mode":"a"}}}"#)
        let result = try story.judge()["HR-37"]
        #expect(result.findings.map(\.kind) == ["missing-member"], "\(result)")
        #expect(result.findings.first?.message.hasPrefix("/data/card/mode ") == true)
    }

    @Test func aPointerToAListFindsAllInIt() throws {
        var story = ProjectionStory()
        story.session.policyText += "fields: {projection: /cards}\n"
        story.session.exchange(
            .app, "GET", ProjectionStory.path, at: 1,
            response: #"{"cards":[{"id":"a","handoff":\#(Self.share)},{"id":"b","handoff":\#(Self.neutral)}]}"#)
        let result = try story.judge()["HR-37"]
        #expect(result.verdict == .pass, "\(result)")
        #expect(result.sentence.hasPrefix("2 decisions"))
    }

    @Test func whatABrowserFetchesIsNotTheApps() throws {
        var story = ProjectionStory()
        story.answer(#"{"mode":"neutral_only"}"#, who: .browser)
        #expect(try story.judge()["HR-37"].verdict == .notApplicable)
    }

    @Test func anErrorOrNoJSONIsNoDecision() throws {
        var story = ProjectionStory()
        story.session.exchange(.app, "GET", ProjectionStory.path, at: 1, status: 500, response: Self.share)
        story.session.exchange(.app, "GET", ProjectionStory.path, at: 2, response: "<html>")
        story.session.exchange(.app, "GET", ProjectionStory.path, at: 3, response: "{}")
        #expect(try story.judge()["HR-37"].verdict == .notApplicable)
    }

    // What could hide a difference.

    @Test func aShareWithoutAnyProjectionIsNotDecided() throws {
        var session = ScriptedSession()
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        session.mark(.end, at: 90)
        let result = try session.judge()["HR-37"]
        #expect(result.reason?.code == "policy-mismatch")
        #expect(result.reason?.remedy.contains("requests: {projection: {path: /…}}") == true)
    }

    @Test func nothingAtAllIsNotApplicable() throws {
        #expect(try ProjectionStory().judge()["HR-37"].verdict == .notApplicable)
    }

    @Test func anAnswerFromTheCacheIsNotDecided() throws {
        var story = ProjectionStory()
        story.session.exchange(.app, "GET", ProjectionStory.path, at: 1, status: 304)
        #expect(try story.judge()["HR-37"].reason?.code == "projection-cached")
        story.answer(Self.neutral, at: 2)
        #expect(try story.judge()["HR-37"].reason?.code == "projection-cached")
        story = ProjectionStory()
        story.answer(Self.neutral, at: 0.5)
        story.session.exchange(.app, "GET", ProjectionStory.path, at: 1, status: 304)
        #expect(try story.judge()["HR-37"].verdict == .pass)
    }

    @Test func aCutAnswerIsNotDecided() throws {
        var story = ProjectionStory()
        story.answer(Self.neutral)
        story.answer(Self.neutral, at: 2, fate: .notSeen)
        #expect(try story.judge()["HR-37"].reason?.code == "body-not-whole")
    }

    @Test func unreadTrafficOfThePartnerIsNotDecided() throws {
        var story = ProjectionStory()
        story.answer(Self.neutral)
        story.session.dark(.app, "api.partner.example", at: 5, lastData: 6)
        #expect(try story.judge()["HR-37"].reason?.code == "no-keys")
        story = ProjectionStory()
        story.answer(Self.neutral)
        story.session.dark(.app, "img.shopcdn.example", at: 5, lastData: 6)
        #expect(try story.judge()["HR-37"].verdict == .pass)
    }

    @Test(arguments: [(Side.server, Verdict.inconclusive), (Side.client, Verdict.pass)])
    func aHoleInAnAnswerIsNotDecided(
        from: Side, verdict: Verdict
    ) throws {
        var story = ProjectionStory()
        story.answer(Self.neutral)
        let id = story.session.connect(.app, "api.partner.example", at: 5)
        story.session.blindSpot(.tcpHole, from: from, at: 5, until: 6, on: id)
        #expect(try story.judge()["HR-37"].verdict == verdict)
    }

    @Test func aBodyThatCantBeDecodedIsNotDecided() throws {
        var story = ProjectionStory()
        story.answer(Self.neutral)
        story.answer(Self.neutral, at: 2, headers: [("content-encoding", "compress")])
        #expect(try story.judge()["HR-37"].reason?.code == "undecodable-content")
    }

    @Test func fingerprintsHoldNoPosition() throws {
        func fingerprint(_ prefix: String) throws -> String? {
            var story = ProjectionStory()
            story.session.exchange(
                .app, "GET", ProjectionStory.path, at: 1,
                response: #"{"items":[\#(prefix){"id":"b","handoff":{"mode":"neutral_only"}}]}"#)
            return try story.judge()["HR-37"].findings.first?.fingerprint
        }
        let first = try fingerprint("")
        #expect(first != nil)
        #expect(try fingerprint(#"{"id":"a"},"#) == first)
    }
}

@Suite struct HR38NoUnlistedURLTests {
    private static let share = ScriptedSession.shareDecision
    private static let neutral = ScriptedSession.neutralDecision
    private static let image = #""image":"https://img.partner.example/i/1.png","#

    private func verdict(_ decision: String = share, item: String = image, policy: String = "") throws -> RuleResult {
        try ProjectionStory.verdict(decision, item: item, policy: policy)["HR-38"]
    }

    @Test func theFourPlacesPass() throws {
        let result = try verdict()
        #expect(result.verdict == .pass, "\(result)")
        #expect(result.sentence == "3 URLs in 1 projection, each where it may stand")
        #expect(try verdict(Self.neutral).sentence.hasPrefix("2 URLs"))
    }

    @Test(arguments: [
        (#""banner":"https://img.partner.example/b.png","#, "/banner"),
        (#""banner":"//img.partner.example/b.png","#, "/banner"),
        (#""banner":"HTTPS://img.partner.example/b.png","#, "/banner"),
        (#""deep":"partnershop://open/1","#, "/deep"),
        (#""images":["https://img.partner.example/b.png"],"#, "/images/0"),
        (#""handoffUrl":"http://img.partner.example/b.png","#, "/handoffUrl"),
    ]) func anyOtherPlaceFails(item: String, place: String) throws {
        let result = try verdict(item: Self.image + item)
        #expect(result.verdict == .fail, "\(result)")
        #expect(result.findings.map(\.kind) == ["unlisted-url"])
        #expect(result.sentence.hasPrefix("\(place) holds a URL"))
    }

    @Test(arguments: [
        (#""purpose":"#, #""link":"https://chia.health/x","purpose":"#, "/handoff/link"),
        (#""primary":{"#, #""primary":{"url":"https://chia.health/x","#, "/handoff/primary/url"),
        (#""purpose":"#, #""url":"https://chia.health/x","purpose":"#, "/handoff/url"),
        ("[\"Selected programme\"]", "[\"https://chia.health/x\"]", "/handoff/dataShared/0"),
    ]) func insideADecisionOnlyItsOwnPlacesCount(old: String, new: String, place: String) throws {
        let decision = Self.share.split(separator: old, omittingEmptySubsequences: false).joined(separator: new)
        let result = try verdict(decision)
        #expect(result.findings.map(\.kind) == ["unlisted-url"], "\(result)")
        #expect(result.sentence.hasPrefix("\(place) "))
    }

    @Test(arguments: [
        #""text":"see https://chia.health/privacy","#, #""title":"a//b","#, #""title":"12:30","#,
        #""mail":"privacy@chia.health","#, #""icon":"data:image/png;base64,AAAA//8=","#, #""path":"/a//b/c","#,
    ]) func textIsNoURL(item: String) throws {
        #expect(try verdict(item: item).verdict == .pass)
    }

    @Test func theImageMayStandElsewhereIfThePolicySaysSo() throws {
        let item = #""media":{"card":"https://img.partner.example/i/1.png"},"#
        #expect(try verdict(item: item).verdict == .fail)
        #expect(try verdict(item: item, policy: "fields: {image: /media/card}\n").verdict == .pass)
        #expect(try verdict(item: item, policy: "fields: {image: /media}\n").verdict == .pass)
    }

    @Test func imagesOfSeveralItemsPass() throws {
        var story = ProjectionStory()
        story.session.exchange(
            .app, "GET", ProjectionStory.path, at: 1,
            response:
                #"{"items":[{"id":"a","image":"https://img.partner.example/a.png","handoff":\#(Self.share)},{"id":"b","image":"https://img.partner.example/b.png"}]}"#
        )
        #expect(try story.judge()["HR-38"].verdict == .pass)
    }

    @Test func aServerHostOfChiaFailsAnywhere() throws {
        let policy = "  chia-api: [api.chia.health]\n  chia-assets: [assets.chia.health]\n"
        let image = #""image":"https://assets.chia.health/1.png","#
        let result = try verdict(item: image, policy: policy)
        #expect(result.findings.map(\.kind) == ["server-url"], "\(result)")
        #expect(result.sentence.contains("chia-assets"))
        let text = #""text":"see https://api.chia.health/v2.","#
        #expect(try verdict(item: text, policy: policy).findings.map(\.kind) == ["server-url"])
        #expect(try verdict(item: text).verdict == .pass, "only named hosts are server hosts")
        #expect(
            try verdict(item: #""text":"see https://notapi.chia.health/v2.","#, policy: policy).verdict == .pass)
    }

    @Test(arguments: [
        "X-Amz-Signature=ab12", "x-goog-signature=ab12", "sig=ab12&se=2027", "Signature=ab12&Key-Pair-Id=K",
        "Expires=17000&Signature=ab", "Expires=17000&token=ab",
    ]) func aSignatureIsAWarningOnAnotherHostAndAnErrorOnChia(query: String) throws {
        let shop = try verdict(item: #""image":"https://img.partner.example/1.png?\#(query)","#)
        #expect(shop.verdict == .fail)
        #expect(shop.severity == .warning)
        #expect(shop.findings.map(\.kind) == ["signed-url"])
        let chia = try verdict(item: #""image":"https://www.chia.health/1.png?\#(query)","#)
        #expect(chia.severity == .error)
    }

    @Test func aSignedURLWhereNoneMayStandIsBoth() throws {
        let result = try verdict(item: #""banner":"https://cdn.example/1.png?X-Amz-Signature=ab","#)
        #expect(result.findings.map(\.kind) == ["signed-url", "unlisted-url"], "\(result)")
        #expect(result.severity == .error)
    }

    @Test(arguments: ["v=2", "expires=", "sig=", "sig=12", "Signature=1", "expires=17&v=2", "w=80&X-Amz-Signature"])
    func aQueryIsNoSignature(query: String) throws {
        #expect(try verdict(item: #""image":"https://img.partner.example/1.png?\#(query)","#).verdict == .pass)
    }

    @Test func linksOfTheShopBesideAFoundDecisionAreTheShops() throws {
        var story = ProjectionStory()
        story.answer(Self.neutral)
        story.session.exchange(
            .app, "GET", "https://api.partner.example/home", at: 2,
            response:
                #"{"self":"https://api.partner.example/home","items":[{"id":"a","page":"https://shop.partner.example/a","handoff":\#(Self.neutral)}]}"#
        )
        #expect(try story.judge()["HR-38"].verdict == .pass)
        story.session.exchange(
            .app, "GET", "https://api.partner.example/home", at: 3,
            response: #"{"handoff":{"mode":"neutral_only","page":"https://shop.partner.example/a"}}"#)
        #expect(try story.judge()["HR-38"].sentence.hasPrefix("/handoff/page "))
    }

    @Test func whatABrowserFetchesIsNotTheApps() throws {
        var story = ProjectionStory()
        story.answer(Self.neutral, item: #""x":"https://a.example/","#, who: .browser)
        #expect(try story.judge()["HR-38"].verdict == .notApplicable)
    }

    @Test func aCutAnswerIsNotDecided() throws {
        var story = ProjectionStory()
        story.answer(Self.neutral, fate: .notSeen)
        let result = try story.judge()["HR-38"]
        #expect(result.reason?.code == "body-not-whole")
    }

    @Test func noAddressIsPrinted() throws {
        let verdict = try ProjectionStory.verdict(
            Self.share, item: #""x":"https://u:secretpw@a.example/\#(ScriptedSession.token)?q=topsecret","#)
        #expect(verdict["HR-38"].verdict == .fail)
        #expect(!verdict.story.contains("topsecret"))
        #expect(!verdict.story.contains("secretpw"))
        #expect(!verdict.story.contains(ScriptedSession.token))
    }

    @Test func moreThanIsKeptIsNotDecided() throws {
        let items = (0..<30).map { #""x\#($0)":"https://a.example/\#($0)","# }.joined()
        let result = try verdict(item: items)
        #expect(result.verdict == .fail)
        #expect(result.findings.count == 20)
    }
}

@Suite struct HR39NeutralOnlyHasNoSessionActionTests {
    private static let neutral = ScriptedSession.neutralDecision

    private func result(adding member: String) throws -> RuleResult {
        let decision = Self.neutral.split(separator: "\"body\":", omittingEmptySubsequences: false).joined(
            separator: "\(member)\"body\":")
        return try ProjectionStory.verdict(decision)["HR-39"]
    }

    @Test func aBareNeutralDecisionPasses() throws {
        let result = try result(adding: "")
        #expect(result.verdict == .pass)
        #expect(result.sentence == "1 neutral_only decision, none with a session action")
    }

    @Test(arguments: [
        (#""primary":{"actionLabel":"x"},"#, "/handoff/primary"),
        (#""primary":null,"#, "/handoff/primary"),
        (#""sessionCreationPath":"/x","#, "/handoff/sessionCreationPath"),
        (#""disclosureVersion":"1","#, "/handoff/disclosureVersion"),
        (#""more":{"list":[{"disclosureVersion":"1"}]},"#, "/handoff/more/list/0/disclosureVersion"),
        (#""action":{"label":"Share selection and continue"},"#, "/handoff/action/label"),
        (#""to":"/v2/handoff-sessions","#, "/handoff/to"),
    ]) func aSessionActionFails(member: String, place: String) throws {
        let result = try result(adding: member)
        #expect(result.verdict == .fail)
        #expect(result.findings.map(\.kind) == ["session-action"])
        #expect(result.sentence == "\(place) stands in a neutral_only decision")
    }

    @Test(arguments: [#""Primary":1,"#, #""primaryColor":"red","#, #""label":"Share selection","#])
    func whatOnlyLooksLikeOnePasses(member: String) throws {
        #expect(try result(adding: member).verdict == .pass)
    }

    @Test func besideTheDecisionItIsNone() throws {
        #expect(
            try ProjectionStory.verdict(Self.neutral, item: #""disclosureVersion":"1","primary":1,"#)["HR-39"].verdict
                == .pass)
    }

    @Test func aShareDecisionIsNotJudged() throws {
        #expect(try ProjectionStory.verdict(ScriptedSession.shareDecision)["HR-39"].verdict == .notApplicable)
    }

    @Test func aCutAnswerIsNotDecided() throws {
        var story = ProjectionStory()
        story.answer(Self.neutral)
        story.answer(Self.neutral, at: 2, fate: .notSeen)
        #expect(try story.judge()["HR-39"].reason?.code == "body-not-whole")
    }

    @Test func whatABrowserFetchesIsNotTheApps() throws {
        var story = ProjectionStory()
        story.answer(#"{"mode":"neutral_only","primary":1}"#, who: .browser)
        #expect(try story.judge()["HR-39"].verdict == .notApplicable)
    }
}
