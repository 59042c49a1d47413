import Assertions
import SessionTrace
import Testing

@Suite struct HR20SessionBodyClosedTests {
    private static let named =
        "fields: {catalog-id: /catalogId, disclosure-version: /disclosureVersion, affirmed: /affirmed, affirmed-at: /affirmedAt}\n"

    private func judge(_ body: String, policy: String = named, headers: [(String, String)] = [], isWhole: Bool = true)
        throws -> RuleResult
    {
        var session = ScriptedSession.upToTap()
        session.policyText += policy
        session.tap(.share, at: 4)
        session.share(at: 4.1, body: body, headers: headers, bodyIsComplete: isWhole)
        session.mark(.end, at: 200)
        return try session.judge()["HR-20"]
    }

    @Test func theFourFieldsPass() throws {
        let result = try judge(ScriptedSession.body)
        #expect(result.verdict == .pass)
        #expect(
            result.sentence
                == "1 body with exactly the fields /affirmed, /affirmedAt, /catalogId, /disclosureVersion")
    }

    @Test(arguments: [#","deviceId":"a1""#, #","x":null"#, #","x":{}"#, #","x":[]"#, #","location":{"lat":1}"#])
    func aFurtherFieldFails(more: String) throws {
        let result = try judge(ScriptedSession.shareBody(more: more))
        #expect(result.verdict == .fail)
        #expect(result.severity == .error)
        #expect(result.findings.map(\.kind) == ["extra-field"])
        #expect(!result.sentence.contains("a1"))
    }

    @Test func thePlaceOfAFurtherFieldIsTold() throws {
        #expect(
            try judge(ScriptedSession.shareBody(more: #","location":{"lat":1}"#)).sentence.contains(
                "holds /location/lat, which is none of its fields"))
        let inside = try judge(ScriptedSession.body.replacing(#""item-4711-abcdef""#, with: #"{"id":"x"}"#))
        #expect(inside.findings.map(\.kind) == ["extra-field"], "a due field holds others")
        // A name with a slash is not the path that it looks like.
        let slash = try judge(
            #"{"catalogId":"i","disclosureVersion":"v","affirmed":true,"affirmedAt":"t","a/b":1}"#,
            policy: "fields: {catalog-id: /catalogId, affirmed-at: /affirmedAt}\n")
        #expect(slash.findings.map(\.kind) == ["extra-field"])
    }

    @Test(arguments: ["catalogId", "disclosureVersion", "affirmed", "affirmedAt"]) func aMissingFieldFails(name: String)
        throws
    {
        let body = ScriptedSession.body.replacing("\"\(name)\"", with: "\"other\"")
        let result = try judge(body)
        #expect(result.findings.map(\.kind) == ["extra-field", "missing-field"])
        #expect(result.findings[1].message.contains("has nothing at /\(name)"))
    }

    @Test func withoutNamedFieldsItIsAWarning() throws {
        let result = try judge(ScriptedSession.shareBody(more: #","deviceId":"a1""#), policy: "")
        #expect(result.verdict == .fail)
        #expect(result.severity == .warning)
        #expect(result.sentence.contains("the policy names no fields"))
        #expect(try judge(ScriptedSession.body, policy: "").verdict == .pass)
        #expect(try judge("no json", policy: "").severity == .warning)
    }

    @Test func fieldsMayBeElsewhere() throws {
        let policy =
            "fields: {catalog-id: /s/item, disclosure-version: /s/v, affirmed: /affirmed, affirmed-at: /a~1t}\n"
        let body = #"{"s":{"item":"i","v":"7"},"affirmed":true,"a/t":1}"#
        #expect(try judge(body, policy: policy).verdict == .pass)
        #expect(try judge(body.replacing("a/t", with: "a~t"), policy: policy).verdict == .fail)
        #expect(
            try judge(body.replacing("a/t", with: "a~t"), policy: policy.replacing("~1", with: "~0")).verdict == .pass)
    }

    @Test func theKeyMayBeInTheBody() throws {
        let more = #","key":"\#(ScriptedSession.key1)""#
        #expect(
            try judge(
                ScriptedSession.shareBody(more: more),
                policy: Self.named + "requests: {session: {key: body /key}}\n"
            ).verdict == .pass)
        #expect(try judge(ScriptedSession.shareBody(more: more)).verdict == .fail)
    }

    @Test func aNameThatComesTwice() throws {
        let result = try judge(ScriptedSession.shareBody(more: #","affirmed":true"#))
        #expect(result.findings.map(\.kind) == ["duplicate-field"])
    }

    @Test(arguments: ["", "affirmed=true", #"{"affirmed":true"#, "[]", "7"]) func whatIsNoObjectFails(body: String)
        throws
    {
        let result = try judge(body)
        #expect(result.verdict == .fail)
        #expect(result.severity == .error)
        #expect(result.findings[0].kind == (["[]", "7"].contains(body) ? "extra-field" : "not-json"))
    }

    @Test func whatIsNotWholeIsNotJudged() throws {
        #expect(try judge(#"{"catalogId":"#, isWhole: false).reason?.code == "body-not-whole")
        #expect(
            try judge("\u{1}\u{2}", headers: [("content-encoding", "br")]).reason?.code == "undecodable-content")
        // Broken off and sent again whole, it is judged there.
        func retried(_ key: String, isWhole: Bool = true) throws -> RuleResult {
            var session = ScriptedSession.upToTap()
            session.tap(.share, at: 4)
            session.share(at: 4.1, body: #"{"catalogId":"#, fate: .reset, bodyIsComplete: false)
            session.share(at: 6, key: key, bodyIsComplete: isWhole)
            session.mark(.end, at: 200)
            return try session.judge()["HR-20"]
        }
        #expect(try retried(ScriptedSession.key1).verdict == .pass)
        #expect(try retried(ScriptedSession.key2).reason?.code == "body-not-whole")
        #expect(try retried(ScriptedSession.key1, isWhole: false).reason?.code == "body-not-whole")
    }

    @Test func oneBodyIsToldOnce() throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        let body = ScriptedSession.shareBody(more: #","x":1"#)
        session.share(at: 4.1, body: body, status: 503)
        session.share(at: 6, body: body)
        #expect(try session.judge()["HR-20"].findings.count == 1)
    }

    @Test func withoutARequest() throws {
        #expect(try ScriptedSession.upToTap().judge()["HR-20"].verdict == .notApplicable)
    }
}

@Suite struct HR21AffirmedIsTrueTests {
    private func judge(_ body: String, policy: String = "", isWhole: Bool = true) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        session.policyText += policy
        session.tap(.share, at: 4)
        session.share(at: 4.1, body: body, bodyIsComplete: isWhole)
        session.mark(.end, at: 200)
        return try session.judge()["HR-21"]
    }

    @Test func trueIsTrue() throws {
        let result = try judge(ScriptedSession.body)
        #expect(result.verdict == .pass)
        #expect(result.sentence == "1 session request, each with true at /affirmed")
    }

    @Test(arguments: [
        (#""true""#, "a value of type string"), ("1", "a value of type number"), (#""yes""#, "a value of type string"),
        ("null", "a value of type null"), ("false", "has false"), ("[true]", "a value of type array"),
    ]) func anythingElseIsNot(value: String, words: String) throws {
        let result = try judge(ScriptedSession.shareBody(affirmed: value))
        #expect(result.findings.map(\.kind) == ["not-true"])
        #expect(result.sentence.contains(words))
    }

    @Test func aMissingOneAffirmsNothing() throws {
        #expect(
            try judge(ScriptedSession.body.replacing("\"affirmed\"", with: "\"ok\"")).findings.map(\.kind)
                == ["affirmed-missing"])
        #expect(try judge("affirmed=true").findings.map(\.kind) == ["affirmed-missing"])
    }

    @Test func ofTwoBothAreTrue() throws {
        #expect(try judge(ScriptedSession.shareBody(more: #","affirmed":true"#)).verdict == .pass)
        #expect(try judge(ScriptedSession.shareBody(more: #","affirmed":false"#)).verdict == .fail)
        #expect(try judge(ScriptedSession.shareBody(affirmed: "false", more: #","affirmed":true"#)).verdict == .fail)
    }

    @Test func thePolicySaysWhereItIs() throws {
        let policy = "fields: {affirmed: /consent/0/given}\n"
        let body = #"{"catalogId":"item-4711-abcdef","affirmed":false,"consent":[{"given":true}]}"#
        #expect(try judge(body, policy: policy).verdict == .pass)
        #expect(try judge(body.replacing("true", with: "1"), policy: policy).verdict == .fail)
    }

    @Test func whatIsNotWholeIsNotJudged() throws {
        #expect(try judge(#"{"affirmed":"#, isWhole: false).reason?.code == "body-not-whole")
        #expect(try ScriptedSession.upToTap().judge()["HR-21"].verdict == .notApplicable)
        var session = ScriptedSession.conformingShare()
        session.dark(.app, "api.partner.example", at: 60, lastData: 61)
        #expect(try session.judge()["HR-21"].reason?.code == "no-keys")
    }

    @Test func everyAttemptIsLookedAt() throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, status: 422)
        session.share(at: 6, key: ScriptedSession.key2, body: ScriptedSession.shareBody(affirmed: "1"))
        #expect(try session.judge()["HR-21"].sentence.contains("attempt 2 has a value of type number"))
    }
}
