import Assertions
import SessionTrace
import Testing

@Suite struct HR18SessionGoesToPartnerOnlyTests {
    private func judge(policy: String? = nil, _ build: (inout ScriptedSession) -> Void) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        if let policy { session.policyText = policy }
        session.tap(.share, at: 4)
        build(&session)
        session.mark(.end, at: 200)
        return try session.judge()["HR-18"]
    }

    @Test func thePartnersBackendPasses() throws {
        let result = try judge { $0.share(at: 4.1) }
        #expect(result.verdict == .pass)
        #expect(result.sentence == "1 session request, all to api.partner.example over TLS")
        #expect(result.assumptions.isEmpty)
    }

    @Test func theNamedPartnerMayBeInferred() throws {
        let result = try judge(policy: "") { $0.share(at: 4.1) }
        #expect(result.verdict == .pass)
        #expect(result.assumptions.map(\.code) == ["partner-inferred"])
    }

    /// The path is Chia's own, the host is the partner's: the role decides.
    @Test func chiasPathOnThePartnersHost() throws {
        let policy =
            "hosts: {partner: [api.partner.example], chia-api: [api.chia.health]}\nrequests: {session: {path: /v2/handoff-sessions}}\n"
        #expect(try judge(policy: policy) { $0.share(at: 4.1, path: "/v2/handoff-sessions") }.verdict == .pass)
        let direct = try judge(policy: policy) {
            $0.share(at: 4.1, path: "/v2/handoff-sessions", host: "api.chia.health")
        }
        #expect(direct.findings.map(\.kind) == ["session-to-chia"])
        #expect(direct.sentence.contains("api.chia.health, a host of Chia"))
    }

    @Test(arguments: ["chia.health", "www.chia.health"]) func aHostOfChia(host: String) throws {
        #expect(try judge { $0.share(at: 4.1, host: host) }.findings.map(\.kind) == ["session-to-chia"])
        // Also where the partner is not named.
        #expect(try judge(policy: "") { $0.share(at: 4.1, host: host) }.findings.map(\.kind) == ["session-to-chia"])
    }

    @Test(arguments: ["notchia.health", "api.partner.example.evil.example"]) func anyOtherHost(host: String) throws {
        let result = try judge { $0.share(at: 4.1, host: host) }
        #expect(result.findings.map(\.kind) == ["session-to-other-host"])
        #expect(result.sentence.contains("third-party"))
        #expect(result.sentence.contains("the policy's partner is api.partner.example"))
    }

    @Test func aHostOfAnotherRoleIsNotDecidedWithoutAPartner() throws {
        let result = try judge(policy: "hosts: {return: [www.partner.example]}\n") {
            $0.share(at: 4.1, host: "www.partner.example")
        }
        #expect(result.reason?.code == "policy-mismatch")
        #expect(result.reason?.remedy.contains("hosts: {partner: [www.partner.example]}") == true)
    }

    @Test func withoutTLS() throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        let events = session.events().map { event -> SessionEvent in
            guard case .exchange(var exchange) = event, exchange.request?.method == "POST" else { return event }
            exchange.request?.scheme = "http"
            return .exchange(exchange)
        }
        let result = try session.judge(events)["HR-18"]
        #expect(result.findings.map(\.kind) == ["plain-http"])
    }

    // MARK: redirects

    private func redirected(_ status: Int, to location: String, isFollowed: Bool, host: String = "api.partner.example")
        throws -> RuleResult
    {
        try judge {
            $0.share(at: 4.1, status: status, responseHeaders: [("location", location)])
            if isFollowed { $0.share(at: 4.4, path: "/v2/share", host: host) }
        }
    }

    @Test(arguments: [307, 308]) func aRedirectInsideTheOriginIsAWarning(status: Int) throws {
        let result = try redirected(status, to: "/v2/share", isFollowed: true)
        #expect(result.verdict == .fail)
        #expect(result.severity == .warning)
        #expect(result.findings.map(\.kind) == ["redirect-same-origin"])
        #expect(result.sentence.contains("answered with \(status), to another path of its own origin"))
    }

    @Test(arguments: [307, 308]) func aRedirectToAnotherHostDisclosesTheBody(status: Int) throws {
        let result = try redirected(
            status, to: "https://eu.partner-cdn.example/v2/share", isFollowed: true, host: "eu.partner-cdn.example")
        #expect(result.findings.contains { $0.kind == "redirect-cross-origin" && $0.severity == .error })
        #expect(result.findings.contains { $0.kind == "session-to-other-host" })
        // Another port of the same host is another origin.
        let port = try redirected(status, to: "https://api.partner.example:8443/v2/share", isFollowed: false)
        #expect(port.findings.map(\.kind) == ["redirect-cross-origin"])
        #expect(port.severity == .warning, "not followed, nothing is disclosed")
    }

    @Test func aRedirectToChia() throws {
        let result = try redirected(307, to: "https://chia.health/v2/share", isFollowed: true, host: "chia.health")
        #expect(result.findings.contains { $0.kind == "session-to-chia" })
    }

    @Test(arguments: [301, 302, 303]) func aRedirectThatLosesTheBody(status: Int) throws {
        let result = try redirected(status, to: "/v2/share", isFollowed: false)
        #expect(result.findings.map(\.kind) == ["redirect-changes-method"])
        #expect(result.severity == .error)
    }

    @Test(arguments: [300, 304]) func otherStatusesAreNoRedirects(status: Int) throws {
        #expect(try redirected(status, to: "/v2/share", isFollowed: false).verdict == .pass)
    }

    @Test func aRequestFoundByItsShapeIsNotDecided() throws {
        let result = try judge { $0.share(at: 4.1, path: "/api/start-handoff") }
        #expect(result.reason?.code == "policy-mismatch")
        #expect(result.reason?.remedy.contains("path: /api/start-handoff") == true)
    }

    @Test func unreadTrafficAndNoTraffic() throws {
        #expect(
            try judge {
                $0.share(at: 4.1)
                $0.dark(.app, "api.partner.example", at: 70, lastData: 71)
            }.reason?.code == "no-keys")
        #expect(try ScriptedSession.upToTap().judge()["HR-18"].verdict == .notApplicable)
        #expect(try judge { _ in }.reason?.code == "policy-mismatch")
    }

    /// What Chia's page posts in the browser is Chia's.
    @Test func chiasOwnFormIsNoSessionRequest() throws {
        let result = try judge {
            $0.share(at: 4.1)
            $0.exchange(
                .browser, "POST", "https://chia.health/handoff-session", at: 6,
                headers: [("origin", "https://chia.health"), ("idempotency-key", ScriptedSession.key2)], body: "{}")
        }
        #expect(result.verdict == .pass)
    }
}

@Suite struct HR19SessionAuthenticatedTests {
    private func judge(
        _ headers: [(String, String)], status: Int = 201, policy: String = "",
        _ more: (inout ScriptedSession) -> Void = { _ in }
    ) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        session.policyText += policy
        session.tap(.share, at: 4)
        session.share(at: 4.1, status: status, headers: headers)
        more(&session)
        session.mark(.end, at: 200)
        return try session.judge()["HR-19"]
    }

    @Test(arguments: [("authorization", "Bearer eyJ"), ("authorization", "eyJ"), ("cookie", "sid=1")])
    func aCredentialPasses(name: String, value: String) throws {
        let result = try judge([(name, value)])
        #expect(result.verdict == .pass)
        #expect(result.sentence == "1 session request, each with a credential (cookie, header Authorization)")
    }

    @Test(arguments: [
        [], [("authorization", "")], [("authorization", "Bearer")], [("authorization", "Bearer null")],
        [("authorization", "undefined")], [("cookie", " ")], [("x-session", "abc")],
    ]) func nothingOrNothingBehindTheSchemeIsAWarning(headers: [(String, String)]) throws {
        let result = try judge(headers)
        #expect(result.verdict == .fail)
        #expect(result.severity == .warning)
        #expect(result.findings.map(\.kind) == ["no-credential"])
        #expect(result.sentence.contains("looked at: cookie, header Authorization"))
    }

    @Test func thePolicyNamesAnotherPlace() throws {
        let policy = "requests: {session: {credential: [header X-Session]}}\n"
        #expect(try judge([("x-session", "abc")], policy: policy).verdict == .pass)
        #expect(try judge([("authorization", "Bearer eyJ")], policy: policy).verdict == .fail)
        #expect(
            try judge([("cookie", "a=b")], policy: "requests: {session: {credential: [cookie]}}\n").verdict == .pass)
    }

    @Test func aClientCertificateIsNotSeen() throws {
        let policy = "requests: {session: {credential: [mtls, cookie]}}\n"
        #expect(try judge([], policy: policy).reason?.code == "credential-not-visible")
        #expect(try judge([("cookie", "a=b")], policy: policy).verdict == .pass)
    }

    @Test func anUnknownPlaceIsAFault() throws {
        #expect(throws: (any Error).self) {
            try judge([], policy: "requests: {session: {credential: [password]}}\n")
        }
    }

    /// A client that waits for the challenge sends its first request bare.
    @Test(arguments: [(401, true), (407, true), (403, false)]) func aChallengeComesFirst(status: Int, passes: Bool)
        throws
    {
        let result = try judge([], status: status) {
            $0.share(at: 5, headers: [("authorization", "Bearer eyJ")])
        }
        #expect((result.verdict == .pass) == passes)
        #expect(result.findings.map(\.kind) == [passes ? "waits-for-challenge" : "no-credential"])
    }

    @Test func fieldsThatCannotBeReadMayBeTheOne() throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        let events = session.events().map { event -> SessionEvent in
            guard case .exchange(var exchange) = event, exchange.request?.method == "POST" else { return event }
            exchange.request?.fields.append(name: [], value: [], isKnown: false)
            return .exchange(exchange)
        }
        #expect(try session.judge(events)["HR-19"].reason?.code == "header-table-unknown")
    }

    @Test func withoutARequest() throws {
        #expect(try ScriptedSession.upToTap().judge()["HR-19"].verdict == .notApplicable)
        #expect(
            try judge([("cookie", "a=b")]) { $0.dark(.app, "api.partner.example", at: 70, lastData: 71) }.reason?.code
                == "no-keys")
    }
}
