import Assertions
import SessionTrace
import Testing

@Suite struct HR09OneExternalNavigationPerBurstTests {
    private func judge(
        _ build: (inout ScriptedSession) -> Void, then change: (inout ScriptedSession) -> Void = { _ in }
    ) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        build(&session)
        session.mark(.end, at: 90)
        change(&session)
        return try session.judge()["HR-09"]
    }

    @Test func oneNavigationPasses() throws {
        let result = try judge { $0.browse(ScriptedSession.url, at: 4.5) }
        #expect(result.verdict == .pass)
        #expect(result.sentence == "1 tap: 1 navigation to the handoff URL U#1")
    }

    @Test func twoNavigationsFail() throws {
        let result = try judge {
            $0.browse(ScriptedSession.url, at: 4.5)
            $0.browse(ScriptedSession.url, at: 4.7)
        }
        #expect(
            result.findings.contains { $0.kind == "second-navigation" && $0.message.contains("200 ms after the first") }
        )
    }

    @Test func theBrowsersOwnRetryCountsAsOne() throws {
        let result = try judge {
            $0.browse(ScriptedSession.url, at: 4.5, fate: .reset)
            $0.browse(ScriptedSession.url, at: 4.8)
        }
        #expect(result.verdict == .pass)
    }

    @Test func chiasRedirectIsNoSecondNavigation() throws {
        let result = try judge {
            $0.browse(
                ScriptedSession.url, at: 4.5, status: 308, responseHeaders: [("location", ScriptedSession.url + "/")])
            $0.browse(ScriptedSession.url + "/", at: 4.7)
        }
        #expect(result.verdict == .pass, "\(result.sentence)")
    }

    @Test func aMarkedReloadIsNotCounted() throws {
        let result = try judge {
            $0.browse(ScriptedSession.url, at: 4.5)
            $0.mark(.reload, at: 20)
            $0.browse(ScriptedSession.url, at: 20.2)
        }
        #expect(result.verdict == .pass)
    }

    @Test func whatAPageOfChiaOpensIsNotCounted() throws {
        let result = try judge {
            $0.browse(ScriptedSession.url, at: 4.5)
            $0.browse(
                ScriptedSession.url + "?step=2", at: 9,
                headers: [("sec-fetch-site", "same-origin"), ("referer", ScriptedSession.url)])
        }
        #expect(result.verdict == .pass)
    }

    @Test func noNavigationFailsOnlyWhenItWouldHaveBeenSeen() throws {
        let seen = try judge { $0.browse("https://news.example/", at: 1) }
        #expect(seen.findings.contains { $0.kind == "no-navigation" })
        #expect(try judge { _ in }.reason?.code == "browser-not-seen")
        #expect(try judge({ _ in }, then: { $0.watchedForBypass = false }).reason?.code == "bypass-not-watched")
        let dark = try judge { $0.dark(.nobody, "chia.health", at: 4.5, lastData: 5) }
        #expect(dark.reason?.code == "no-keys")
        #expect(dark.sentence.contains("navigation-candidate"))
    }

    @Test func theEndOfTheTraceExcusesIt() throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        session.mark(.end, at: 6)
        #expect(try session.judge()["HR-09"].reason?.code == "trace-ended")
    }

    @Test func aRejectedShareMustOpenNothing() throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, status: 422)
        session.browse(ScriptedSession.neutral, at: 4.5)
        session.mark(.end, at: 90)
        #expect(try session.judge()["HR-09"].findings.contains { $0.kind == "navigation-without-url" })
    }

    @Test func theNeutralWayAfterAFailedShareIsItsOwn() throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, status: 503)
        session.tap(.neutral, at: 8)
        session.browse(ScriptedSession.neutral, at: 8.3)
        session.mark(.end, at: 90)
        let verdict = try session.judge()
        #expect(verdict["HR-09"].verdict == .pass, "\(verdict.story)")
    }

    @Test func theNeutralActionOpensTheNeutralURLOnce() throws {
        func neutral(_ times: Int) throws -> RuleResult {
            var session = ScriptedSession.upToTap()
            session.browse("https://news.example/", at: 3)
            session.mark(.tap, .neutral, at: 4, count: 2)
            for index in 0..<times { session.browse(ScriptedSession.neutral, at: 4.3 + Double(index) * 0.3) }
            session.mark(.end, at: 90)
            return try session.judge()["HR-09"]
        }
        #expect(try neutral(1).verdict == .pass)
        #expect(try neutral(2).findings.contains { $0.kind == "second-navigation" })
        #expect(try neutral(0).findings.contains { $0.kind == "no-navigation" })
    }

    @Test func anUnknownNeutralURLIsNotDecided() throws {
        var session = ScriptedSession()
        session.tap(.neutral, at: 4)
        session.browse(ScriptedSession.neutral, at: 4.3)
        #expect(try session.judge()["HR-09"].reason?.code == "neutral-url-unknown")
    }

    @Test func withoutMarksOnlyTwoNavigationsAreDecided() throws {
        var session = ScriptedSession()
        session.projection(at: 1)
        session.share(at: 4)
        session.browse(ScriptedSession.url, at: 4.5)
        session.mark(.note, at: 80)
        #expect(try session.judge()["HR-09"].reason?.code == "no-tap-mark")
        session.browse(ScriptedSession.url, at: 4.8)
        #expect(try session.judge()["HR-09"].verdict == .fail)
    }

    @Test func whoAskedMayBeUnknown() throws {
        let result = try judge {
            $0.exchange(.disguised, "GET", ScriptedSession.url, at: 4.5, headers: [("accept", "text/html")])
        }
        #expect(result.verdict != .pass)
    }
}

@Suite struct HR11KeyPresentAndUUIDv4Tests {
    private func judge(
        key: String?, headers: [(String, String)] = [], retry: String? = nil, policy: String? = nil,
        body: String = ScriptedSession.body
    )
        throws -> RuleResult
    {
        var session = ScriptedSession.upToTap()
        if let policy { session.policyText += policy }
        session.tap(.share, at: 4)
        session.share(at: 4.1, key: key, body: body, status: retry == nil ? 201 : 503, headers: headers)
        if let retry { session.share(at: 5, key: retry, body: body) }
        return try session.judge()["HR-11"]
    }

    @Test(arguments: [
        ScriptedSession.key1, ScriptedSession.key1.uppercased(), "\"\(ScriptedSession.key1)\"",
    ]) func aRandomUUIDPasses(key: String) throws {
        #expect(try judge(key: key).verdict == .pass)
    }

    @Test(arguments: [
        ("00000000-0000-0000-0000-000000000000", "constant-uuid"),
        ("ffffffff-ffff-ffff-ffff-ffffffffffff", "constant-uuid"),
        ("7b0f6f0e-4c1d-1f5a-9d55-0a2f8f1f3c11", "not-version-4"),
        ("017f22e2-79b0-7cc3-98c4-dc0c0c07398f", "not-version-4"),
        ("7b0f6f0e-4c1d-4f5a-cd55-0a2f8f1f3c11", "not-rfc-variant"), ("{\(ScriptedSession.key1)}", "not-uuid"),
        ("urn:uuid:\(ScriptedSession.key1)", "not-uuid"), ("7b0f6f0e4c1d4f5a9d550a2f8f1f3c11", "not-uuid"),
        ("7b0f6f0e-4c1d-4f5a-9d55-0a2f8f1f3cxx", "not-uuid"), ("1", "not-uuid"),
    ]) func anythingElseFails(key: String, kind: String) throws {
        #expect(try judge(key: key).findings.contains { $0.kind == kind }, "\(key)")
    }

    @Test func noKeyFails() throws {
        #expect(try judge(key: nil).findings.contains { $0.kind == "no-key" })
    }

    @Test func twoKeysFail() throws {
        let result = try judge(key: ScriptedSession.key1, headers: [("Idempotency-Key", ScriptedSession.key2)])
        #expect(result.findings.contains { $0.kind == "several-keys" })
        #expect(!result.sentence.contains("all the same"), "\(result)")
        let same = try judge(key: ScriptedSession.key1, headers: [("Idempotency-Key", ScriptedSession.key1)])
        #expect(same.sentence.hasSuffix(", all the same"), "\(same)")
    }

    @Test func theFormMustStay() throws {
        let result = try judge(key: ScriptedSession.key1, retry: "\"\(ScriptedSession.key1)\"")
        #expect(result.findings.contains { $0.kind == "key-form-changed" })
    }

    @Test func theKeyMayBeInTheBody() throws {
        let policy = "requests: {session: {key: body /requestId}}\n"
        let body = ScriptedSession.body.replacing(
            "{\"catalogId\"", with: "{\"requestId\":\"\(ScriptedSession.key1)\",\"catalogId\"")
        #expect(try judge(key: nil, policy: policy, body: body).verdict == .pass)
        #expect(try judge(key: nil, policy: policy).findings.contains { $0.kind == "no-key" })
    }
}
