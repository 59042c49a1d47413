import Assertions
import SessionTrace
import Testing

@Suite struct HR55NoChiaSecretOnDeviceTests {
    private static let partner = "https://api.partner.example"
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    private static let canary = "c4n4ry/9f31 77aa+xx"

    private func judge(
        policy: String = "", _ change: (inout ScriptedSession) -> Void = { _ in }
    ) throws -> RuleResult {
        var session = ScriptedSession.conformingShare()
        session.policyText += policy
        change(&session)
        let verdict = try session.judge()
        #expect(!verdict.story.contains("MfKQ9r8GKYqrTwjUPD8"))
        #expect(!verdict.story.contains("c4n4ry"))
        return verdict["HR-55"]
    }

    private static var hashes: String {
        "forbidden: {canaries: [\"\(SecretHash(of: Array(canary.utf8), salt: "a1b2c3d4").text)\"]}\n"
    }

    @Test func noSecretPasses() throws {
        let result = try judge()
        #expect(result.verdict == .pass, "\(result)")
        #expect(result.assumptions.contains { $0.code == "secrets-by-shape" })
        #expect(try judge(policy: Self.hashes).assumptions.allSatisfy { $0.code != "secrets-by-shape" })
    }

    @Test(arguments: [
        #"{"hook":"\#(secret)"}"#, "k=\(secret)&x=1", "hook=whsec%5FMfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        #"{"b":"d2hzZWNfTWZLUTlyOEdLWXFyVHdqVVBEOElMUFpJbzJMYUxhU3c="}"#,
    ]) func aShapeInAnAnswerFails(body: String) throws {
        let result = try judge { $0.exchange(.app, "GET", "\(Self.partner)/config", at: 6, response: body) }
        #expect(result.findings.map(\.kind) == ["secret"], "\(result)")
        #expect(
            result.sentence.hasPrefix(
                "a secret of the shape whsec_* stands in the answer to GET api.partner.example/config, body"))
    }

    @Test func aShapeInARequestFails() throws {
        let body = try judge { $0.exchange(.app, "POST", "https://logs.vendor.example/x", at: 6, body: Self.secret) }
        #expect(body.sentence.hasPrefix("a secret of the shape whsec_* stands in POST logs.vendor.example/x, body"))
        let header = try judge {
            $0.exchange(.app, "GET", "\(Self.partner)/x", at: 6, headers: [("x-hook", "a \(Self.secret)")])
        }
        #expect(header.sentence.hasSuffix("header:x-hook"))
        let query = try judge { $0.exchange(.app, "GET", "\(Self.partner)/x?k=\(Self.secret)", at: 6) }
        #expect(query.sentence.hasSuffix(", path"))
        let answer = try judge {
            $0.exchange(.app, "GET", "\(Self.partner)/x", at: 6, responseHeaders: [("x-hook", Self.secret)])
        }
        #expect(answer.sentence.hasSuffix("header:x-hook"))
    }

    @Test func aLargeRequestIsSearchedToItsEnd() throws {
        let body = String(repeating: "a", count: 3 << 20) + " " + Self.secret
        let result = try judge { $0.exchange(.app, "POST", "https://logs.vendor.example/x", at: 6, body: body) }
        #expect(result.findings.map(\.kind) == ["secret"], "\(result.sentence)")
    }

    /// What a search for hashes left out is a doubt of this rule's alone.
    @Test func aRequestWithTooManyWordsIsADoubt() throws {
        let words = String(repeating: "a.b-c_d:", count: 40_000)
        var session = ScriptedSession.conformingShare()
        session.policyText += Self.hashes
        session.exchange(.app, "POST", "https://logs.vendor.example/x", at: 6, body: words)
        let verdict = try session.judge()
        #expect(verdict["HR-55"].reason?.code == "decode-budget", "\(verdict["HR-55"])")
        #expect(verdict["HR-01"].verdict == .pass && verdict["HR-36"].verdict == .pass)
    }

    @Test func aRequestThatCannotBeLookedIntoIsADoubt() throws {
        func judged(_ coding: String, _ type: String, _ host: String = "logs.vendor.example") throws -> RuleResult {
            try judge {
                $0.exchange(
                    .app, "POST", "https://\(host)/x", at: 6,
                    headers: [("content-encoding", coding), ("content-type", type)], body: "no such coding")
            }
        }
        let result = try judged("br64", "application/json")
        #expect(result.reason?.code == "undecodable-content", "\(result)")
        #expect(result.sentence.hasPrefix("POST logs.vendor.example/x (packet "), "\(result.sentence)")
        #expect(try judged("br64", "image/png").verdict == .pass, "pictures are not searched")
        #expect(try judged("identity", "application/json").verdict == .pass)
    }

    @Test(arguments: ["whsec_*", "whsec_short", "mywhsec_MfKQ9r8GKYqrTwjUPD8ILPZ", "whsec MfKQ9r8GKYqrTwjUPD8ILPZI"])
    func whatHasNotTheShapePasses(text: String) throws {
        #expect(
            try judge { $0.exchange(.app, "GET", "\(Self.partner)/config", at: 6, response: text) }.verdict == .pass)
    }

    @Test func aShapeOfThePolicysOwn() throws {
        let policy = "forbidden: {secrets: [\"chk_*\"]}\n"
        let result = try judge(policy: policy) {
            $0.exchange(.app, "GET", "\(Self.partner)/x", at: 6, response: "chk_0123456789ab")
        }
        #expect(result.findings.map(\.kind) == ["secret"])
        #expect(
            try judge(policy: policy) {
                $0.exchange(.app, "GET", "\(Self.partner)/x", at: 6, response: "chk_0123456789a")
            }.verdict == .pass)
    }

    @Test func anotherServicesShapeIsAWarning() throws {
        let result = try judge {
            $0.exchange(.app, "GET", "\(Self.partner)/config", at: 6, response: "sk_live_51H8abcdEFGH")
        }
        #expect(result.findings.map(\.kind) == ["likely-secret"], "\(result)")
        #expect(result.severity == .warning)
        let own = try judge(policy: "forbidden: {secrets: [\"sk_live_*\"]}\n") {
            $0.exchange(.app, "GET", "\(Self.partner)/config", at: 6, response: "sk_live_51H8abcdEFGH")
        }
        #expect(own.findings.map(\.kind) == ["secret"])
    }

    @Test(arguments: [
        #"{"k":"\#(canary)"}"#, canary, "<\(canary)>", "k=c4n4ry%2F9f31%2077aa%2Bxx&z",
        #"{"k":"c4n4ry\/9f31 77aa+xx"}"#,
    ]) func aKnownSecretFails(body: String) throws {
        let result = try judge(policy: Self.hashes) {
            $0.exchange(.app, "GET", "\(Self.partner)/config", at: 6, response: body)
        }
        #expect(result.findings.map(\.kind) == ["known-secret"], "\(result)")
        #expect(
            try judge { $0.exchange(.app, "GET", "\(Self.partner)/config", at: 6, response: body) }.verdict == .pass)
    }

    @Test(arguments: [
        "c4n4ry/9f31 77aa+xy", "c4n4ry/9f31 77aa+xxx", "xc4n4ry/9f31 77aa+xx", "c4n4ry/9f31 77aa+x",
        "C4n4ry/9f31 77aa+xx",
    ]) func oneOtherCharacterIsAnotherValue(body: String) throws {
        let result = try judge(policy: Self.hashes) {
            $0.exchange(.app, "GET", "\(Self.partner)/config", at: 6, response: body)
        }
        #expect(result.verdict == .pass, "\(result)")
    }

    @Test(arguments: ["authorization", "x-api-key", "X-Chia-Key"]) func aCredentialForChiaFails(name: String) throws {
        let result = try judge {
            $0.exchange(.app, "GET", "https://chia.health/api/x", at: 6, headers: [(name, "abc")])
        }
        #expect(result.findings.map(\.kind) == ["chia-credential"], "\(result)")
        #expect(
            try judge { $0.exchange(.app, "GET", "\(Self.partner)/x", at: 6, headers: [(name, "abc")]) }.verdict
                == .pass)
        #expect(
            try judge { $0.exchange(.browser, "GET", "https://chia.health/api/x", at: 6, headers: [(name, "abc")]) }
                .verdict == .pass)
        #expect(
            try judge { $0.exchange(.nobody, "GET", "https://chia.health/api/x", at: 6, headers: [(name, "abc")]) }
                .reason?.code == "actor-unknown")
    }

    @Test(arguments: [
        ("x-chia-signature", "1", true), ("webhook-signature", "v1,abc", true), ("svix-signature", "v1,abc", true),
        ("webhook-signature", "abc", false), ("x-signature", "v1,abc", false),
    ]) func aWebhooksSignatureFails(name: String, value: String, isOne: Bool) throws {
        let result = try judge { $0.exchange(.app, "POST", "\(Self.partner)/x", at: 6, headers: [(name, value)]) }
        #expect(result.findings.map(\.kind) == (isOne ? ["webhook-signature"] : []), "\(result)")
        let answer = try judge {
            $0.exchange(.app, "GET", "\(Self.partner)/x", at: 6, responseHeaders: [(name, value)])
        }
        #expect(answer.verdict == (isOne ? .fail : .pass))
    }

    @Test func theBrowsersMessagesAreItsOwn() throws {
        let result = try judge {
            $0.exchange(.browser, "GET", "https://chia.health/x", at: 6, response: Self.secret)
        }
        #expect(result.verdict == .pass)
    }

    @Test func unreadTrafficOfTheAppIsNotDecided() throws {
        #expect(try judge { $0.dark(.app, "sdk.vendor.example", at: 20, lastData: 21) }.reason?.code == "no-keys")
        #expect(try judge { $0.dark(.app, "api.partner.example", at: 20, lastData: 21) }.reason?.code == "no-keys")
    }

    @Test func noTrafficIsNotApplicable() throws {
        #expect(try ScriptedSession().judge()["HR-55"].verdict == .notApplicable)
    }

    // The form of a hash.

    @Test func theFormOfAHashIsChecked() {
        let hash = SecretHash(of: Array("correct horse".utf8), salt: "0123456789abcdef")
        // printf '%s%s' 0123456789abcdef 'correct horse' | openssl dgst -sha256
        #expect(
            hash.text
                == "sha256:0123456789abcdef:13:8fdec59c819cf0201c30f3c0e774c324e15e619e01cea381a5e9b24e48263e7c")
        #expect(SecretHash(hash.text) == hash)
        #expect(hash.label == String(hash.text.suffix(64).prefix(8)))
        let digest = String(repeating: "a", count: 64)
        for text in [
            "", "sha256", "sha1:0123456789:13:\(digest)", "sha256:0123456:13:\(digest)", "sha256:01234567:7:\(digest)",
            "sha256:01234567:513:\(digest)", "sha256:01234567:13:\(digest)a",
            "sha256:01234567:13:\(digest.dropLast())g",
            "sha256:0123-567:13:\(digest)", "sha256:01234567:x:\(digest)", "sha256:01234567:13:\(digest):",
        ] { #expect(SecretHash(text) == nil, "\(text)") }
        #expect(SecretHash("sha256:01234567:8:\(digest)") != nil)
        #expect(SecretHash("sha256:01234567:512:\(digest.uppercased())") != nil)
    }

    @Test(arguments: [
        ("secrets: [hunter2hunter2]", "\"secrets\" must hold"), ("secrets: [\"ab*\"]", "\"secrets\" must hold"),
        ("canaries: [hunter2hunter2]", "\"canaries\" must hold"), ("canaries: [\"abcd*\"]", "\"canaries\" must hold"),
        ("secrets: [\"a*b*\"]", "\"secrets\" must hold"),
    ]) func aSecretItselfIsNoPolicy(yaml: String, words: String) {
        do throws(PolicyError) {
            _ = try Policy.parse(yaml: "forbidden: {\(yaml)}\n", file: "handoff.yml")
            Issue.record("accepted \(yaml)")
        } catch {
            #expect(error.description.contains(words), "\(error)")
            #expect(!error.description.contains("hunter2"), "the fault must not repeat what may be a secret")
        }
    }
}

@Suite struct HR56NoChiaSDKTests {
    private func judge(policy: String = "", _ change: (inout ScriptedSession) -> Void = { _ in }) throws -> RuleResult {
        var session = ScriptedSession.conformingShare()
        session.policyText += policy
        change(&session)
        return try session.judge()["HR-56"]
    }

    private static let api = "  chia-api: [api.chia.health]\n"

    @Test func noNamePasses() throws {
        let result = try judge()
        #expect(result.verdict == .pass, "\(result)")
    }

    @Test(arguments: [
        ("user-agent", "chiahealth-partner/2.1 okhttp/4.12"), ("user-agent", "ChiaHealth/1"),
        ("x-client", "@chiahealth/partner@1.2"), ("x-chiahealth-version", "2"), ("x-sdk", "a%40chiahealth%2Fpartner"),
    ]) func theNameInAFieldFails(name: String, value: String) throws {
        let result = try judge {
            $0.exchange(.app, "GET", "https://api.partner.example/x", at: 6, headers: [(name, value)])
        }
        #expect(result.findings.map(\.kind) == ["sdk-name"], "\(result)")
        #expect(
            result.sentence.contains(
                value.contains("artner") && !value.contains("-") ? "@chiahealth/partner" : "chiahealth"))
    }

    @Test func theNameInAPathFails() throws {
        let result = try judge { $0.exchange(.app, "GET", "https://cdn.example/@chiahealth/partner/i.js", at: 6) }
        #expect(result.findings.map(\.kind) == ["sdk-name"], "\(result)")
    }

    @Test(arguments: [
        ("user-agent", "notchiahealth/1"), ("user-agent", "chiahealthy/1"), ("referer", "https://x.example/chiahealth"),
        ("origin", "https://chiahealth.example"), ("cookie", "a=chiahealth"), ("x-client", "chia health"),
    ]) func whatOnlyLooksLikeItPasses(name: String, value: String) throws {
        let result = try judge {
            $0.exchange(.app, "GET", "https://api.partner.example/x", at: 6, headers: [(name, value)])
        }
        #expect(result.verdict == .pass, "\(result)")
    }

    @Test func aHostsNameIsNoSign() throws {
        #expect(try judge { $0.exchange(.app, "GET", "https://chiahealth.example/x", at: 6) }.verdict == .pass)
    }

    @Test func theAppsCallOfTheAPIFails() throws {
        let result = try judge(policy: Self.api) { $0.exchange(.app, "GET", "https://api.chia.health/v2/x", at: 6) }
        #expect(result.findings.contains { $0.kind == "api-contact" }, "\(result)")
        #expect(try judge { $0.exchange(.app, "GET", "https://api.chia.health/v2/x", at: 6) }.verdict == .pass)
        #expect(
            try judge(policy: Self.api) { $0.exchange(.app, "GET", "https://chia.health/x", at: 6) }.verdict == .pass)
    }

    @Test func aPageOfChiasCallsItsOwnAPI() throws {
        let result = try judge(policy: Self.api) {
            $0.exchange(
                .browser, "GET", "https://api.chia.health/v2/x", at: 6, headers: [("user-agent-hint", "chiahealth")])
        }
        #expect(result.verdict == .pass, "\(result)")
    }

    @Test func anUnknownCallerIsNotDecided() throws {
        let result = try judge(policy: Self.api) { $0.exchange(.nobody, "GET", "https://api.chia.health/v2/x", at: 6) }
        #expect(result.reason?.code == "actor-unknown")
    }

    @Test func unreadTrafficIsNotDecided() throws {
        #expect(try judge { $0.dark(.app, "api.partner.example", at: 20, lastData: 21) }.reason?.code == "no-keys")
    }

    @Test func noTrafficIsNotApplicable() throws {
        #expect(try ScriptedSession().judge()["HR-56"].verdict == .notApplicable)
    }
}

@Suite struct HR57NoAuthenticatedAssetTests {
    private static let assets = "  chia-assets: [assets.chia.health]\n"
    private static let config = "https://api.partner.example/config"

    private func judge(policy: String = assets, _ change: (inout ScriptedSession) -> Void = { _ in }) throws
        -> RuleResult
    {
        var session = ScriptedSession.conformingShare()
        session.policyText += policy
        change(&session)
        return try session.judge()["HR-57"]
    }

    @Test func noAssetPasses() throws {
        let result = try judge()
        #expect(result.verdict == .pass, "\(result)")
    }

    @Test(arguments: [
        #"{"u":"https://assets.chia.health/1.png"}"#, #"{"u":"https:\/\/assets.chia.health\/1.png"}"#,
        "<img src=//eu.assets.chia.health/1.png>",
    ]) func anAssetsURLInAnAnswerFails(body: String) throws {
        let result = try judge { $0.exchange(.app, "GET", Self.config, at: 6, response: body) }
        #expect(result.findings.map(\.kind) == ["asset-url"], "\(result)")
        #expect(result.sentence.contains("assets.chia.health (chia-assets) stands in the answer to GET"))
        #expect(try judge(policy: "") { $0.exchange(.app, "GET", Self.config, at: 6, response: body) }.verdict == .pass)
    }

    @Test func aRedirectToAnAssetFails() throws {
        let result = try judge {
            $0.exchange(
                .app, "GET", Self.config, at: 6, status: 302,
                responseHeaders: [("location", "https://assets.chia.health/1.png")])
        }
        #expect(result.sentence.hasSuffix("header:location"), "\(result)")
    }

    @Test(arguments: [
        ("https://www.chia.health/a.png?X-Amz-Signature=ab", true), ("https://www.chia.health/a.png?v=2", false),
        ("https://www.chia.health/a.png?a=1&amp;sig=ab&amp;se=1", true), ("https://notchia.health/a?sig=a&se=1", false),
        ("https://cdn.shop.example/a.png?X-Amz-Signature=ab", false),
        ("\(ScriptedSession.url)?sig=ab&se=1", false),
    ]) func aSignatureOnAChiaHostFails(url: String, isOne: Bool) throws {
        let result = try judge { $0.exchange(.app, "GET", Self.config, at: 6, response: "<a href=\"\(url)\">") }
        #expect(result.findings.map(\.kind) == (isOne ? ["asset-url"] : []), "\(result)")
    }

    @Test func theAppsFetchFails() throws {
        let asset = try judge { $0.exchange(.app, "GET", "https://assets.chia.health/1.png", at: 6) }
        #expect(asset.findings.contains { $0.kind == "asset-fetch" }, "\(asset)")
        let signed = try judge { $0.exchange(.app, "GET", "https://www.chia.health/1.png?sig=a&se=1", at: 6) }
        #expect(signed.findings.map(\.kind) == ["asset-fetch"], "\(signed)")
        #expect(try judge { $0.exchange(.app, "GET", "https://www.chia.health/1.png", at: 6) }.verdict == .pass)
    }

    @Test func aPageOfChiasLoadsItsAssets() throws {
        let result = try judge {
            $0.exchange(
                .browser, "GET", "https://assets.chia.health/1.png", at: 6,
                headers: [("referer", "https://chia.health/")],
                response: #"{"u":"https://assets.chia.health/2.png?sig=1&se=2"}"#)
        }
        #expect(result.verdict == .pass, "\(result)")
    }

    @Test func anUnknownFetcherIsNotDecided() throws {
        let result = try judge { $0.exchange(.nobody, "GET", "https://assets.chia.health/1.png", at: 6) }
        #expect(result.reason?.code == "actor-unknown")
    }

    @Test func aSignedURLInAProjectionIsAWarning() throws {
        func result(_ address: String) throws -> RuleResult {
            try judge {
                $0.exchange(
                    .app, "GET", address, at: 6,
                    response:
                        #"{"image":"https://img.partner.example/1.png?X-Amz-Signature=ab","handoff":\#(ScriptedSession.neutralDecision)}"#
                )
            }
        }
        let projection = try result(ProjectionStory.path)
        #expect(projection.findings.map(\.kind) == ["signed-url"], "\(projection)")
        #expect(projection.severity == .warning)
        #expect(try result("https://api.partner.example/home").verdict == .pass)
    }

    @Test func unreadAnswersAreNotDecided() throws {
        #expect(try judge { $0.dark(.app, "api.partner.example", at: 20, lastData: 21) }.reason?.code == "no-keys")
    }

    @Test func noTrafficIsNotApplicable() throws {
        #expect(try ScriptedSession().judge()["HR-57"].verdict == .notApplicable)
    }
}

@Suite struct HR58NoRawCatalogTests {
    private static let policy =
        "requests: {catalog: [\"GET /v2/catalog/{id}\"]}\nforbidden: {catalog-keys: [wholesale_code]}\n"
    private static let config = "https://api.partner.example/item"

    private func judge(policy: String = policy, _ change: (inout ScriptedSession) -> Void = { _ in }) throws
        -> RuleResult
    {
        var session = ScriptedSession.conformingShare()
        session.policyText += policy
        change(&session)
        return try session.judge()["HR-58"]
    }

    @Test func noneOfItPasses() throws {
        let result = try judge()
        #expect(result.verdict == .pass, "\(result)")
        #expect(result.sentence.hasPrefix("none of 1 name in "))
    }

    @Test func withNothingNamedOnlyCallsOfChiasAreLookedFor() throws {
        let result = try judge(policy: "") {
            $0.exchange(.app, "GET", Self.config, at: 6, response: #"{"wholesale_code":1}"#)
            $0.exchange(.app, "GET", "https://api.partner.example/v2/catalog/7", at: 7)
            $0.exchange(.browser, "GET", "https://chia.health/v2/catalog/7", at: 8)
            $0.exchange(.app, "GET", "https://chia.health/help/about/catalog", at: 9)
        }
        #expect(result.verdict == .pass, "\(result)")
        #expect(result.assumptions.map(\.code).contains("catalog-unnamed"))
        #expect(try judge().assumptions.map(\.code).contains("catalog-unnamed") == false)
        for path in ["v2/catalog/7", "catalogs"] {
            let call = try judge(policy: "") { $0.exchange(.app, "GET", "https://chia.health/\(path)", at: 6) }
            #expect(call.findings.map(\.kind) == ["catalog-call"], "\(call)")
        }
    }

    @Test func noTrafficIsNotApplicable() throws {
        #expect(try ScriptedSession().judge()["HR-58"].verdict == .notApplicable)
    }

    @Test(arguments: ["wholesale_code", "wholesaleCode", "WHOLESALE-CODE", "wholesaleCodeList", "wholesalecode"])
    func aNameOfItFails(name: String) throws {
        let result = try judge {
            $0.exchange(.app, "GET", Self.config, at: 6, response: #"{"items":[{"\#(name)":1}]}"#)
        }
        #expect(result.findings.map(\.kind) == ["catalog-key"], "\(result)")
        #expect(result.sentence.hasPrefix("/items/0/\(name) (wholesale_code) stands in the answer to GET"))
    }

    @Test(arguments: [
        #"{"code":1}"#, #"{"wholesale":1}"#, #"{"a":"wholesale_code"}"#, #"{"myWholesaleCode":1}"#,
        #"{"wholesale_codex":1}"#,
    ]) func anotherNamePasses(body: String) throws {
        #expect(try judge { $0.exchange(.app, "GET", Self.config, at: 6, response: body) }.verdict == .pass)
    }

    @Test func linesOfJSONAreReadToo() throws {
        let body = "{\"a\":1}\n{\"wholesale_code\":2}\n"
        #expect(try judge { $0.exchange(.app, "GET", Self.config, at: 6, response: body) }.verdict == .fail)
    }

    @Test func aCallOfTheCatalogFails() throws {
        let result = try judge { $0.exchange(.app, "GET", "https://api.partner.example/v2/catalog/7", at: 6) }
        #expect(result.findings.map(\.kind) == ["catalog-call"], "\(result)")
        #expect(
            try judge { $0.exchange(.app, "POST", "https://api.partner.example/v2/catalog/7", at: 6) }.verdict == .pass)
        #expect(
            try judge { $0.exchange(.browser, "GET", "https://chia.health/v2/catalog/7", at: 6) }.verdict == .pass)
        #expect(
            try judge { $0.exchange(.nobody, "GET", "https://chia.health/v2/catalog/7", at: 6) }.reason?.code
                == "actor-unknown")
    }

    @Test func oneOfTheTwoIsEnoughToJudge() throws {
        #expect(try judge(policy: "requests: {catalog: [\"GET /v2/catalog/{id}\"]}\n").verdict == .pass)
        #expect(try judge(policy: "forbidden: {catalog-keys: [wholesale_code]}\n").verdict == .pass)
    }

    @Test func theBrowsersAnswersAreItsOwn() throws {
        let result = try judge {
            $0.exchange(.browser, "GET", "https://www.partner.example/x", at: 6, response: #"{"wholesale_code":1}"#)
        }
        #expect(result.verdict == .pass)
    }

    @Test func unreadAnswersAreNotDecided() throws {
        #expect(try judge { $0.dark(.app, "api.partner.example", at: 20, lastData: 21) }.reason?.code == "no-keys")
    }
}
