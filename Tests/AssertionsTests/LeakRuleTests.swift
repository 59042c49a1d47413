import SessionTrace
import Testing

@testable import Assertions

/// HR-46 and HR-47 over sessions; what the scanner finds in which encoding is its own suites' matter.
@Suite struct LeakRuleTests {
    private func judge(_ change: (inout ScriptedSession) -> Void) throws -> TraceVerdict {
        var session = ScriptedSession.conformingShare()
        change(&session)
        return try session.judge()
    }

    @Test func theAppsCrashReportFailsBoth() throws {
        let verdict = try judge {
            $0.exchange(
                .app, "POST", "https://o4507.ingest.sentry.io/api/1/envelope/", at: 10,
                body: #"{"crumb":"\#(ScriptedSession.url)"}"#)
        }
        #expect(verdict["HR-46"].verdict == .fail, "\(verdict.story)")
        #expect(verdict["HR-47"].verdict == .fail)
        #expect(verdict["HR-46"].sentence.contains("Sentry"))
        #expect(verdict["HR-46"].findings[0].evidence[0].place?.contains("/crumb") == true)
        #expect(!verdict.story.contains(ScriptedSession.token))
    }

    @Test func aThirdPartyFailsOnlyTheSecond() throws {
        let verdict = try judge {
            $0.exchange(
                .app, "GET", "https://images.shopcdn.example/a.png", at: 10, headers: [("referer", ScriptedSession.url)]
            )
        }
        #expect(verdict["HR-46"].verdict == .pass, "\(verdict.story)")
        #expect(verdict["HR-47"].verdict == .fail)
        #expect(verdict["HR-47"].sentence.contains("referer"))
    }

    @Test func thePartnersOwnLogFailsTheSecond() throws {
        let verdict = try judge {
            $0.exchange(.app, "POST", "https://api.partner.example/log", at: 10, body: "url=\(ScriptedSession.url)")
        }
        #expect(verdict["HR-47"].verdict == .fail)
        #expect(verdict["HR-59"].verdict == .fail)
    }

    @Test func theAppsOwnRequestToChiaFailsTheSecond() throws {
        let verdict = try judge { $0.exchange(.app, "HEAD", ScriptedSession.url, at: 4.35) }
        #expect(verdict["HR-47"].verdict == .fail)
    }

    @Test(arguments: ["referer", "origin", "redirect", "page"]) func whatAChiaPageStartsIsNotTheApps(kind: String)
        throws
    {
        let verdict = try judge { session in
            let address = "https://www.google-analytics.com/collect?dl=\(ScriptedSession.token)"
            switch kind {
            case "referer":
                session.exchange(.browser, "GET", address, at: 5, headers: [("referer", ScriptedSession.url)])
            case "origin":
                session.exchange(
                    .browser, "POST", address, at: 5, headers: [("origin", "https://chia.health")],
                    body: ScriptedSession.url)
            case "redirect":
                session.browse(
                    "https://chia.health/out", at: 4.9, status: 302, responseHeaders: [("location", address)])
                session.browse(address, at: 5)
            default: session.exchange(.browser, "GET", address, at: 5)
            }
        }
        #expect(verdict["HR-46"].verdict == .pass, "\(verdict.story)")
        #expect(verdict["HR-47"].verdict == .pass, "\(verdict.story)")
        #expect(verdict["HR-47"].findings.contains { $0.kind == "not-the-app" })
    }

    @Test func theBrowserOnNoPageOfChiaIsNoExcuse() throws {
        let verdict = try judge { $0.browse("https://go.example/r?u=\(ScriptedSession.token)", at: 4.35) }
        #expect(verdict["HR-47"].verdict == .fail, "\(verdict.story)")
    }

    @Test func anUnknownSenderToTelemetryFails() throws {
        let verdict = try judge {
            $0.exchange(.nobody, "POST", "https://api2.amplitude.com/2/httpapi", at: 10, body: ScriptedSession.token)
        }
        #expect(verdict["HR-46"].verdict == .fail)
    }

    @Test func anUnknownSenderToChiaIsNotDecided() throws {
        let verdict = try judge { $0.exchange(.disguised, "GET", ScriptedSession.url, at: 10) }
        #expect(verdict["HR-47"].reason?.code == "actor-unknown", "\(verdict.story)")
    }

    @Test func aCloakedCollectorIsTelemetry() throws {
        let verdict = try judge {
            $0.lookup("stats.partner.example", at: 9, aliases: ["api2.amplitude.com"])
            $0.exchange(.app, "POST", "https://stats.partner.example/e", at: 10, body: ScriptedSession.token)
        }
        #expect(verdict["HR-46"].verdict == .fail, "\(verdict.story)")
    }

    @Test func yesterdaysTokenFailsWithoutAnySession() throws {
        var session = ScriptedSession()
        session.mark(.launch, at: 0)
        session.exchange(
            .app, "POST", "https://o4507.ingest.sentry.io/api/1/envelope/", at: 1,
            body: "u=https://chia.health/h/phs_Aq1Bw2Ce3Dr4Et5Fy6Gu7")
        let verdict = try session.judge()
        #expect(verdict["HR-46"].verdict == .fail, "\(verdict.story)")
        #expect(verdict["HR-47"].verdict == .fail)
    }

    @Test func tokensOfOtherTracesAreNeedles() throws {
        var session = ScriptedSession()
        session.mark(.launch, at: 0)
        session.options.foreignTokens = [Secret("phs_Zk3Tq8WvX2")]
        session.exchange(
            .app, "POST", "https://o4507.ingest.sentry.io/api/1/envelope/", at: 1, body: "u=phs_Zk3Tq8WvX2")
        #expect(try session.judge()["HR-46"].verdict == .fail)
    }

    @Test func aTraceGivesItsTokensToTheOthers() throws {
        var judge = SessionJudge(policy: .defaults, options: JudgeOptions())
        for event in ScriptedSession.conformingShare().events() { judge.receive(event) }
        _ = judge.finish()
        #expect(judge.tokens == [Secret(ScriptedSession.token)])
    }

    @Test func aTokenInADNSNameFailsTheSecond() throws {
        let verdict = try judge { $0.lookup("\(ScriptedSession.token.lowercased()).x.example", at: 10) }
        #expect(verdict["HR-47"].verdict == .fail, "\(verdict.story)")
    }

    @Test func offeredProtocolsAreSearched() throws {
        func model(_ names: [String]) -> Session {
            var model = SessionModel(policy: .defaults, options: JudgeOptions())
            var session = ScriptedSession.conformingShare()
            let id = session.connect(.app, "tls.vendor.example", at: 20)
            for event in session.events() {
                if case .clientHello(var hello) = event, hello.connection == id {
                    hello.applicationProtocols = names
                    model.receive(.clientHello(hello))
                } else {
                    model.receive(event)
                }
            }
            return model.finish()
        }
        let hits = model(["h2", ScriptedSession.token]).leaks.flatMap(\.hits).filter {
            $0.location == "application-protocol"
        }
        #expect(hits.count == 1)
        #expect(
            model(["h2", "http/1.1", "some-protocol/2"]).leaks.flatMap(\.hits).allSatisfy {
                $0.location != "application-protocol"
            })
    }

    @Test func craftedValuesOfAReturnAreNeedles() throws {
        #expect(SessionModel.canaries(in: "paid-7f3a9c21") == ["paid-7f3a9c21"])
        #expect(
            SessionModel.canaries(in: "https://www.partner.example/?status=a%2Fb-1234567&n=2#frag-98765432")
                == ["a/b-1234567", "2", "frag-98765432"])
        var session = ScriptedSession.conformingShare()
        session.mark(.return, at: 60, attributes: ["status": "completed-canary-5f1e"])
        session.exchange(.app, "GET", "https://api.partner.example/home?from=completed-canary-5f1e", at: 61)
        var model = SessionModel(policy: .defaults, options: JudgeOptions())
        for event in session.events() { model.receive(event) }
        let hits = model.finish().leaks.flatMap(\.hits).filter { $0.needle?.kind == .canary }
        #expect(hits.map(\.place) == ["query:from"])
    }

    @Test func responsesCanBeSearched() throws {
        var model = SessionModel(policy: .defaults, options: JudgeOptions())
        for event in ScriptedSession.conformingShare().events() { model.receive(event) }
        var fields = FieldSection()
        fields.append("location", ScriptedSession.url)
        let at = PacketReference(number: 9, time: Instant(nanoseconds: 9))
        let response = Response(status: 302, reason: "", fields: fields, started: at, ended: at)
        #expect(model.found(in: response).hits.map(\.place) == ["header:location"])
    }

    @Test func aWebSocketMessageIsSearched() throws {
        let payload = Array(#"{"t":"\#(ScriptedSession.token)"}"#.utf8)
        let verdict = try {
            var session = ScriptedSession.conformingShare()
            let opened = session.exchange(.app, "GET", "https://logs.partner.example/ws", at: 9, status: 101)
            session.message(opened, payload, at: 10)
            session.policyText += "  telemetry: [builtin, logs.partner.example]\n"
            return try session.judge()
        }()
        #expect(verdict["HR-46"].verdict == .fail, "\(verdict.story)")
    }

    // What could hide a leak.

    @Test(arguments: [
        ("o4507.ingest.sentry.io", "opaque-telemetry"), ("api.partner.example", "no-keys"),
        ("unknown.example", "no-keys"),
    ]) func dataThatStayedUnreadAfterTheURLIsNotDecided(host: String, code: String) throws {
        let verdict = try judge { $0.dark(.app, host, at: 20, lastData: 21) }
        #expect(verdict["HR-46"].reason?.code == code, "\(verdict.story)")
        #expect(verdict["HR-47"].reason?.code == code)
    }

    @Test func dataBeforeTheURLDoesNotCount() throws {
        #expect(try judge { $0.dark(.app, "unknown.example", at: 1, lastData: 2) }["HR-46"].verdict == .pass)
    }

    @Test func unreadSystemServicesAreAnAssumption() throws {
        let verdict = try judge {
            $0.dark(.nobody, "12-courier.push.apple.com", at: 1, lastData: 60)
            $0.dark(.nobody, "play.googleapis.com", at: 1, lastData: 60)
        }
        #expect(verdict["HR-46"].verdict == .pass, "\(verdict.story)")
        #expect(verdict["HR-46"].assumptions.contains { $0.sentence == "OS services not inspected: 2 hosts" })
        var strict = ScriptedSession.conformingShare()
        strict.options.strict = true
        strict.dark(.nobody, "play.googleapis.com", at: 1, lastData: 60)
        #expect(try strict.judge()["HR-46"].reason?.code == "os-services")
    }

    @Test func thePolicyMayAllowAHostToStayDark() throws {
        func allowed(until day: String) throws -> RuleResult {
            try judge {
                $0.policyText += "  opaque-ok: [{host: \"*.vendor.example\", reason: pinned, expires: \(day)}]\n"
                $0.dark(.app, "sdk.vendor.example", at: 20, lastData: 21)
            }["HR-46"]
        }
        #expect(try allowed(until: "2030-01-01").verdict == .pass)
        #expect(try allowed(until: "2020-01-01").reason?.code == "no-keys")
    }

    @Test func aHoleInAnUploadIsNotDecided() throws {
        let verdict = try judge {
            let id = $0.connect(.app, "logs.partner.example", at: 20)
            $0.blindSpot(.tcpHole, from: .client, at: 20.1, until: 20.2, on: id)
        }
        #expect(verdict["HR-46"].reason?.code == "tcp-hole", "\(verdict.story)")
        #expect(verdict["HR-07"].verdict == .pass)
    }

    @Test func aShortWatchIsSaid() throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        session.browse(ScriptedSession.url, at: 4.5)
        session.mark(.note, at: 16.2)
        let result = try session.judge()["HR-46"]
        #expect(result.verdict == .pass)
        #expect(result.assumptions.contains { $0.code == "observed-only" && $0.sentence.contains("12 s") })
        session.mark(.background, at: 17)
        session.mark(.launch, at: 20)
        #expect(try session.judge()["HR-46"].assumptions.contains { $0.code == "observed-only" } == false)
    }

    @Test func withoutAnyURLItIsNotApplicable() throws {
        var session = ScriptedSession.upToTap()
        session.tap(.neutral, at: 4)
        session.browse(ScriptedSession.neutral, at: 4.2)
        let verdict = try session.judge()
        #expect(verdict["HR-46"].verdict == .notApplicable)
        #expect(verdict["HR-47"].verdict == .notApplicable)
    }

    @Test func fingerprintsDependOnNoValueAndNoTime() throws {
        func fingerprint(token: String, at time: Double) throws -> String? {
            var session = ScriptedSession.upToTap()
            session.tap(.share, at: 4)
            session.share(at: 4.1, url: "https://chia.health/h/\(token)")
            session.exchange(
                .app, "POST", "https://api2.amplitude.com/2/httpapi", at: time, body: #"{"events":[{"u":"\#(token)"}]}"#
            )
            return try session.judge()["HR-46"].findings.first?.fingerprint
        }
        let first = try fingerprint(token: ScriptedSession.token, at: 10)
        #expect(first?.count == 16)
        #expect(try first == fingerprint(token: "phs_Qw9eRt7yUi5oPaSd3fGhJk1l", at: 42))
    }
}

@Suite struct HR59NoStatusCallTests {
    private func judge(_ change: (inout ScriptedSession) -> Void) throws -> RuleResult {
        var session = ScriptedSession.conformingShare()
        change(&session)
        return try session.judge()["HR-59"]
    }

    @Test func pollingByTheSessionsIdFails() throws {
        let result = try judge {
            $0.exchange(.app, "GET", "https://api.partner.example/handoff-session/hs-91c2d0aa7766", at: 20)
        }
        #expect(
            result.findings.contains {
                $0.kind == "session-lookup" && $0.message.contains("an id of the session response")
            })
    }

    @Test func pollingByTheKeyFails() throws {
        let result = try judge {
            $0.exchange(.app, "GET", "https://api.partner.example/result?k=\(ScriptedSession.key1)", at: 20)
        }
        #expect(result.findings.contains { $0.message.contains("the idempotency key") })
    }

    @Test func theAppsRequestToChiaFails() throws {
        #expect(
            try judge { $0.exchange(.app, "GET", "https://api.chia.health/v2/x", at: 20) }.findings.contains {
                $0.kind == "chia-request"
            })
    }

    @Test func theCatalogIdIsTheAppsOwn() throws {
        #expect(try judge { $0.projection(at: 60) }.verdict == .pass)
    }

    @Test func theShopsOrdersAreOnlyMentioned() throws {
        let result = try judge {
            $0.exchange(.app, "GET", "https://api.partner.example/orders", at: 20)
            $0.exchange(.app, "GET", "https://api.partner.example/status", at: 21)
        }
        #expect(result.verdict == .pass)
        #expect(result.findings.filter { $0.kind == "maybe-status" && $0.severity == .info }.count == 2)
    }

    @Test func thePolicyNamesStatusCallsAndWhatIsNone() throws {
        func named(_ requests: String) throws -> RuleResult {
            try judge {
                $0.policyText += "requests: {\(requests)}\n"
                $0.exchange(.app, "GET", "https://api.partner.example/handoffs/77/state", at: 20)
                $0.exchange(.app, "GET", "https://api.partner.example/orders", at: 20)
            }
        }
        #expect(try named("status: [\"GET /handoffs/{id}/state\"]").findings.contains { $0.kind == "status-template" })
        #expect(try named("allow: [/orders]").findings.isEmpty)
    }

    @Test func aLongPollOverAWebSocketFails() throws {
        let result = try judge {
            let opened = $0.exchange(.app, "GET", "https://api.partner.example/ws", at: 20, status: 101)
            $0.message(opened, Array(#"{"subscribe":"hs-91c2d0aa7766"}"#.utf8), at: 21)
        }
        #expect(result.verdict == .fail)
    }

    @Test func anUnknownSenderToChiaIsNotDecided() throws {
        #expect(
            try judge { $0.exchange(.disguised, "GET", "https://www.chia.health/x", at: 20) }.reason?.code
                == "actor-unknown")
    }

    @Test func unreadPartnerTrafficIsNotDecided() throws {
        #expect(try judge { $0.dark(.app, "api.partner.example", at: 20, lastData: 40) }.reason?.code == "no-keys")
    }
}
