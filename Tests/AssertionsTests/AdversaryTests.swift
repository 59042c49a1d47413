import Assertions
import SessionTrace
import Testing

/// Sessions that look like what they are not: a violation dressed up as conforming, and traffic that the app did not
/// cause dressed up as a violation. Each names the rule, the verdict that RULES asks for, and the reason code if any.
@Suite struct AdversaryTests {
    private static let other = ScriptedSession.body.replacing("item-4711-abcdef", with: "item-9999-zzzzzz")

    private func upToTap(_ build: (inout ScriptedSession) -> Void) throws -> TraceVerdict {
        var session = ScriptedSession.upToTap()
        build(&session)
        session.mark(.end, at: 120)
        return try session.judge()
    }

    private func conforming(_ change: (inout ScriptedSession) -> Void) throws -> TraceVerdict {
        var session = ScriptedSession.conformingShare()
        change(&session)
        return try session.judge()
    }

    private func share(_ session: inout ScriptedSession, nav: Double = 4.5) {
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        session.browse(ScriptedSession.url, at: nav)
    }

    // MARK: before the tap

    @Test func aBrowserWarmedUpBeforeTheTapIsNoOpeningOfThePage() throws {
        let verdict = try upToTap {
            let warm = $0.connect(.browser, "chia.health", at: 3)
            $0.tap(.neutral, at: 4)
            $0.exchange(.browser, "GET", ScriptedSession.neutral, at: 4.5, isNavigation: true, on: warm)
        }
        #expect(verdict["HR-01"].verdict == .fail, "\(verdict.story)")
    }

    @Test func aPreconnectBeforeTheTapIsNoSpareOfTheNavigation() throws {
        let verdict = try upToTap {
            $0.connect(.browser, "chia.health", at: 3.5)
            $0.tap(.neutral, at: 4)
            let own = $0.connect(.browser, "chia.health", at: 4.2)
            $0.exchange(.browser, "GET", ScriptedSession.neutral, at: 4.3, isNavigation: true, on: own)
        }
        #expect(verdict["HR-01"].verdict == .fail, "\(verdict.story)")
        #expect(verdict["HR-03"].reason?.code == "actor-unknown", "\(verdict.story)")
    }

    @Test func aLateLookupIsNotTheBrowsersOfAMinuteAgo() throws {
        let verdict = try conforming { $0.lookup("chia.health", at: 70) }
        #expect(verdict["HR-03"].reason?.code == "actor-unknown", "\(verdict.story)")
    }

    @Test func aTapOnAForeignClockDoesNotDecideWhatFollowsWithinItsBound() throws {
        let verdict = try upToTap {
            $0.mark(.tap, .neutral, at: 4, onTraceClock: false)
            $0.browse(ScriptedSession.neutral, at: 4.04)
        }
        #expect(verdict["HR-01"].reason?.code == "clock-bound", "\(verdict.story)")
    }

    @Test func anotherDevicesContactIsNotThisOnes() throws {
        let verdict = try conforming {
            $0.clientAddress = IPAddress(ipv4: 0x0A00_0009)
            $0.exchange(.app, "GET", "https://chia.health/news", at: 1.5)
        }
        #expect(verdict["HR-01"].reason?.code == "several-devices", "\(verdict.story)")
        #expect(verdict["HR-03"].reason?.code == "several-devices", "\(verdict.story)")
        #expect(verdict["HR-59"].reason?.code == "several-devices", "\(verdict.story)")
    }

    @Test func anUnreadConnectionWithoutANameMayBeToChia() throws {
        let verdict = try conforming { $0.dark(.nobody, "198.51.100.77", at: 20, lastData: 21, hello: false) }
        #expect(verdict["HR-03"].reason?.code == "host-unknown", "\(verdict.story)")
        #expect(verdict["HR-59"].verdict == .inconclusive, "\(verdict.story)")
        #expect(verdict["HR-07"].verdict == .inconclusive, "\(verdict.story)")
    }

    @Test(arguments: ["notchia.health", "chia.health.evil.example"]) func aNameThatOnlyLooksLikeChias(host: String)
        throws
    {
        let verdict = try conforming { $0.exchange(.app, "GET", "https://\(host)/x", at: 1) }
        #expect(verdict["HR-01"].verdict == .pass, "\(verdict.story)")
        #expect(verdict["HR-03"].verdict == .pass, "\(verdict.story)")
    }

    @Test(arguments: ["CHIA.health", "Chia.Health.", "chia.health:443", "www.chia.health.:8443"])
    func chiaIsChiaHoweverItIsWritten(host: String) throws {
        let verdict = try conforming { $0.exchange(.app, "GET", "https://\(host)/x", at: 1) }
        #expect(verdict["HR-01"].verdict == .fail, "\(verdict.story)")
        #expect(verdict["HR-03"].verdict == .fail, "\(verdict.story)")
    }

    // MARK: session requests

    @Test func anotherItemsTapAfterALongTimeIsNoDoubleTap() throws {
        let verdict = try upToTap {
            share(&$0)
            $0.tap(.share, at: 60)
            $0.share(at: 60.1, key: ScriptedSession.key2, body: Self.other, url: ScriptedSession.otherURL)
            $0.browse(ScriptedSession.otherURL, at: 60.5)
        }
        #expect(verdict["HR-07"].verdict == .pass, "\(verdict.story)")
        #expect(verdict["HR-09"].verdict == .pass, "\(verdict.story)")
    }

    @Test func aSecondTapLongAfterAnUnseenNavigationIsNotDecided() throws {
        let verdict = try upToTap {
            $0.watchedForBypass = false
            $0.tap(.share, at: 4)
            $0.share(at: 4.1)
            $0.tap(.share, at: 60)
            $0.share(at: 60.1, key: ScriptedSession.key2, url: ScriptedSession.otherURL)
        }
        #expect(verdict["HR-07"].reason?.code == "burst-end-not-seen", "\(verdict.story)")
    }

    @Test func aKeyInAnotherCaseIsTheSameKeyInAnotherForm() throws {
        let verdict = try upToTap {
            $0.tap(.share, at: 4)
            $0.share(at: 4.1, status: 503)
            $0.share(at: 5, key: ScriptedSession.key1.uppercased())
            $0.browse(ScriptedSession.url, at: 5.5)
        }
        #expect(verdict["HR-14"].verdict == .pass, "\(verdict.story)")
        #expect(verdict["HR-11"].findings.contains { $0.kind == "key-form-changed" }, "\(verdict.story)")
    }

    @Test(arguments: [[("Idempotency-Key", ScriptedSession.key1)], []]) func severalKeysAreSaidAsSuch(
        extra: [(String, String)]
    ) throws {
        let key =
            extra.isEmpty ? "\(ScriptedSession.key1), \(ScriptedSession.key1)" : ScriptedSession.key1
        let verdict = try upToTap {
            $0.tap(.share, at: 4)
            $0.share(at: 4.1, key: key, status: 503, headers: extra)
            $0.share(at: 5)
            $0.browse(ScriptedSession.url, at: 5.5)
        }
        #expect(verdict["HR-11"].findings.contains { $0.kind == "several-keys" }, "\(verdict.story)")
        #expect(verdict["HR-14"].verdict == .pass, "\(verdict.story)")
    }

    @Test func oneEscapedCharacterIsAnotherBody() throws {
        let verdict = try upToTap {
            $0.tap(.share, at: 4)
            $0.share(at: 4.1, status: 503)
            $0.share(at: 5, body: ScriptedSession.body.replacing("2026-03\"", with: #"2026\u002d03""#))
            $0.browse(ScriptedSession.url, at: 5.5)
        }
        #expect(verdict["HR-13"].verdict == .fail)
        #expect(verdict["HR-13"].sentence.contains("escap"), "\(verdict["HR-13"].sentence)")
    }

    @Test func aBrokenUploadHidesNoNewKey() throws {
        let verdict = try upToTap {
            $0.tap(.share, at: 4)
            $0.share(at: 4.1, body: String(ScriptedSession.body.prefix(10)), fate: .reset, bodyIsComplete: false)
            $0.share(at: 5, key: ScriptedSession.key2)
            $0.browse(ScriptedSession.url, at: 5.5)
        }
        #expect(verdict["HR-14"].verdict == .fail, "\(verdict.story)")
    }

    @Test func aNewKeyAfterABrokenUploadAndAnotherTapIsNotDecided() throws {
        let verdict = try upToTap {
            $0.tap(.share, at: 4)
            $0.share(at: 4.1, body: String(ScriptedSession.body.prefix(10)), fate: .reset, bodyIsComplete: false)
            $0.tap(.share, at: 9)
            $0.share(at: 9.1, key: ScriptedSession.key2, body: Self.other)
            $0.browse(ScriptedSession.url, at: 9.5)
        }
        #expect(verdict["HR-14"].reason?.code == "body-not-whole", "\(verdict.story)")
    }

    @Test func anUnacknowledgedAnswerWhoseURLIsOpenedWasDelivered() throws {
        let verdict = try upToTap {
            $0.tap(.share, at: 4)
            $0.share(at: 4.1, fate: .lost)
            $0.browse(ScriptedSession.url, at: 4.5)
        }
        #expect(verdict["HR-09"].verdict == .pass, "\(verdict.story)")
        #expect(verdict["HR-14"].verdict == .notApplicable, "\(verdict.story)")
    }

    @Test func aRetryThatMayHaveGoneUnreadIsNotApplicableOnlyWhenNothingIsUnread() throws {
        let verdict = try upToTap {
            $0.tap(.share, at: 4)
            $0.share(at: 4.1, status: 503)
            $0.dark(.app, "api.partner.example", at: 5, lastData: 5.5)
        }
        #expect(verdict["HR-14"].reason?.code == "no-keys", "\(verdict.story)")
        #expect(verdict["HR-13"].reason?.code == "no-keys", "\(verdict.story)")
    }

    @Test func whatChiasPagePostsIsNoSessionRequest() throws {
        let verdict = try conforming {
            $0.exchange(
                .browser, "POST", "https://chia.health/handoff-session", at: 6,
                headers: [
                    ("origin", "https://chia.health"), ("sec-fetch-site", "same-origin"), ("sec-fetch-mode", "cors"),
                    ("sec-fetch-dest", "empty"),
                ], body: #"{"affirmed":true}"#, response: "{}")
        }
        #expect(verdict["HR-07"].verdict == .pass, "\(verdict.story)")
        #expect(verdict["HR-11"].verdict == .pass, "\(verdict.story)")
    }

    @Test func aSuccessWithoutAURLThatIsKnownLeavesLeaksOpen() throws {
        let verdict = try upToTap {
            $0.tap(.share, at: 4)
            $0.share(at: 4.1, url: "https://chia.health/h/hst_Zk3Tq8WvX2mN7cYbR5dLpA9s")
            $0.browse("https://chia.health/h/hst_Zk3Tq8WvX2mN7cYbR5dLpA9s", at: 4.5)
        }
        for rule in ["HR-05", "HR-09", "HR-46", "HR-47", "HR-59"] {
            #expect(verdict[rule].reason?.code == "handoff-url-unknown", "\(rule) \(verdict.story)")
        }
    }

    @Test func aSchemeInCapitalsIsStillAURL() throws {
        let url = "HTTPS://" + ScriptedSession.url.dropFirst(8)
        let verdict = try upToTap {
            $0.tap(.share, at: 4)
            $0.share(at: 4.1, url: url)
            $0.browse(ScriptedSession.url, at: 4.5)
        }
        #expect(verdict["HR-09"].verdict == .pass, "\(verdict.story)")
        #expect(verdict["HR-46"].verdict == .pass, "\(verdict.story)")
    }

    // MARK: navigations

    @Test func chiasDetourBackToTheSameAddressIsOneNavigation() throws {
        let verdict = try upToTap {
            $0.tap(.share, at: 4)
            $0.share(at: 4.1)
            $0.browse(
                ScriptedSession.url, at: 4.5, status: 302, responseHeaders: [("location", "https://chia.health/cookie")]
            )
            $0.browse(
                "https://chia.health/cookie", at: 4.7, status: 302,
                responseHeaders: [("location", ScriptedSession.url)])
            $0.browse(ScriptedSession.url, at: 4.9)
        }
        #expect(verdict["HR-09"].verdict == .pass, "\(verdict.story)")
    }

    @Test func aReloadByItsHeadersIsNotDecided() throws {
        let verdict = try conforming {
            $0.browse(ScriptedSession.url, at: 30, headers: [("cache-control", "max-age=0")])
        }
        #expect(verdict["HR-09"].reason?.code == "perhaps-reload", "\(verdict.story)")
    }

    @Test func aTokenInTheQueryTellsTwoURLsApart() throws {
        let first = "https://chia.health/h?t=phs_Zk3Tq8WvX2mN7cYbR5dLpA9s"
        let verdict = try upToTap {
            $0.tap(.share, at: 4)
            $0.share(at: 4.1, url: first)
            $0.browse(first, at: 4.5)
            // Another tab's older handoff.
            $0.browse("https://chia.health/h?t=phs_AAAAq8WvX2mN7cYbR5dLpA9s", at: 30)
        }
        #expect(verdict["HR-09"].verdict == .pass, "\(verdict.story)")
    }

    @Test func aPrefetchOfTheNeutralURLWithoutAnyVisitIsNobodyElses() throws {
        let verdict = try upToTap {
            $0.tap(.share, at: 4)
            $0.share(at: 4.1, status: 422)
            $0.exchange(
                .browser, "GET", ScriptedSession.neutral, at: 4.4,
                headers: [
                    ("sec-purpose", "prefetch"), ("sec-fetch-site", "none"), ("sec-fetch-dest", "document"),
                    ("sec-fetch-mode", "navigate"),
                ])
        }
        #expect(
            verdict["HR-05"].findings.contains { $0.kind == "prefetch" && $0.severity == .error }, "\(verdict.story)")
    }

    // MARK: leaks

    @Test func aCloakedCollectorUnderThePartnersDomainIsTelemetry() throws {
        let verdict = try conforming {
            $0.policyText = "hosts:\n  partner: [partner.example]\n"
            $0.lookup("metrics.partner.example", at: 9.9, aliases: ["partner.sc.omtrdc.net"])
            $0.exchange(
                .app, "POST", "https://metrics.partner.example/c", at: 10, body: #"{"u":"\#(ScriptedSession.url)"}"#)
        }
        #expect(verdict["HR-46"].verdict == .fail, "\(verdict.story)")
        #expect(verdict["HR-47"].verdict == .fail)
    }

    @Test func aURLThatGoesThroughTelemetryIsNoHandoffHost() throws {
        let url = "https://app.adjust.com/h/phs_Zk3Tq8WvX2mN7cYbR5dLpA9s"
        let verdict = try upToTap {
            $0.tap(.share, at: 4)
            $0.share(at: 4.1, url: url)
            $0.browse(url, at: 4.5)
        }
        #expect(verdict["HR-46"].verdict == .fail, "\(verdict.story)")
        #expect(verdict["HR-47"].verdict == .fail, "\(verdict.story)")
    }

    @Test func aHoleBesideAnEarlierUnreadConnectionStillCounts() throws {
        let verdict = try conforming {
            $0.dark(.app, "collector.example", at: 1, lastData: 1.5)
            let second = $0.connect(.app, "collector.example", at: 20)
            $0.blindSpot(.tcpHole, from: .client, at: 20, until: 21, on: second)
        }
        #expect(verdict["HR-46"].reason?.code == "tcp-hole", "\(verdict.story)")
    }

    @Test func oneUnreadConnectionOfTheAppAmongManyOfTheBrowserCounts() throws {
        let verdict = try conforming { session in
            session.processes[.browser] = ProcessIdentity(source: .pktap, name: "MobileSafari")
            session.processes[.app] = ProcessIdentity(source: .pktap, name: "PartnerShop")
            for index in 0..<8 {
                let who: ScriptedSession.Who = index == 3 ? .app : .browser
                session.dark(who, "cdn.example", at: 10 + Double(index), lastData: 11 + Double(index))
            }
        }
        #expect(verdict["HR-47"].reason?.code == "no-keys", "\(verdict.story)")
    }

    @Test(arguments: [
        ("cookie", "a=1; last=phs_Zk3Tq8WvX2mN7cYbR5dLpA9s"), ("x-phs_zk3tq8wvx2mn7cybr5dlpa9s", "1"),
        ("referer", ScriptedSession.url), ("authorization", "Bearer phs_Zk3Tq8WvX2mN7cYbR5dLpA9s"),
    ]) func aTokenInAnyFieldOfATelemetryRequestFails(field: (String, String)) throws {
        let verdict = try conforming {
            $0.exchange(.app, "POST", "https://app-measurement.com/a", at: 20, headers: [field], body: "x=1")
        }
        #expect(verdict["HR-46"].verdict == .fail, "\(field.0) \(verdict.story)")
        #expect(verdict["HR-47"].verdict == .fail, "\(field.0)")
    }

    @Test func aTokenInALabelOfANameFails() throws {
        let verdict = try conforming {
            $0.lookup("phs-x.phs_zk3tq8wvx2mn7cybr5dlpa9s.t.app-measurement.com", at: 20)
        }
        #expect(verdict["HR-46"].verdict == .fail, "\(verdict.story)")
    }

    @Test func aTokenInAServerNameFails() throws {
        let verdict = try conforming { $0.connect(.app, "phs_zk3tq8wvx2mn7cybr5dlpa9s.collector.example", at: 20) }
        #expect(verdict["HR-47"].verdict == .fail, "\(verdict.story)")
    }

    @Test func aWebSocketOfTheAppToTelemetryFails() throws {
        let verdict = try conforming {
            let socket = $0.exchange(
                .app, "GET", "https://app.adjust.com/socket", at: 19, status: 101,
                headers: [("upgrade", "websocket")])
            $0.message(socket, Array(#"{"open":"\#(ScriptedSession.url)"}"#.utf8), at: 20)
        }
        #expect(verdict["HR-46"].verdict == .fail, "\(verdict.story)")
    }

    @Test func aMultipartFileWithTheURLFails() throws {
        let body =
            "--b\r\nContent-Disposition: form-data; name=\"log\"; filename=\"a.txt\"\r\n\r\nopened \(ScriptedSession.url)\r\n--b--\r\n"
        let verdict = try conforming {
            $0.exchange(
                .app, "POST", "https://api.partner.example/logs", at: 20,
                headers: [("content-type", "multipart/form-data; boundary=b")], body: body)
        }
        #expect(verdict["HR-47"].verdict == .fail, "\(verdict.story)")
    }

    @Test func aTelemetryBeaconOfTheBrowserBeforeAnyPageOfChiaFails() throws {
        let verdict = try upToTap {
            $0.tap(.share, at: 4)
            $0.share(at: 4.1)
            $0.browse("https://app.adjust.com/go?u=" + ScriptedSession.token, at: 4.3)
            $0.browse(ScriptedSession.url, at: 4.6)
        }
        #expect(verdict["HR-46"].verdict == .fail, "\(verdict.story)")
    }

    // MARK: status calls

    @Test func theProxysOtherLegIsNoStatusCall() throws {
        let verdict = try upToTap {
            $0.tap(.share, at: 4)
            $0.share(at: 4.05, took: 0.4)
            $0.clientAddress = IPAddress(ipv4: 0x0A00_0001)
            $0.share(at: 4.06, took: 0.3)
            $0.clientAddress = IPAddress(ipv4: 0x0A00_0002)
            $0.browse(ScriptedSession.url, at: 4.8)
        }
        #expect(verdict["HR-59"].verdict == .pass, "\(verdict.story)")
    }

    @Test func anIdThatTheAppUsedBeforeIsNotTheSessions() throws {
        let verdict = try upToTap {
            $0.exchange(.app, "GET", "https://api.partner.example/accounts/hs-91c2d0aa7766/cards", at: 1)
            share(&$0)
            $0.exchange(.app, "GET", "https://api.partner.example/accounts/hs-91c2d0aa7766/cards", at: 20)
        }
        #expect(verdict["HR-59"].verdict == .pass, "\(verdict.story)")
    }

    @Test(arguments: [
        ("GET", "/handoff-session/hs-91c2d0aa7766", ""), ("GET", "/poll?wait=30&s=hs-91c2d0aa7766", ""),
        ("POST", "/events", #"{"watch":{"id":"hs-91c2d0aa7766"}}"#),
        ("GET", "/poll/7b0f6f0e-4c1d-4f5a-9d55-0a2f8f1f3c11", ""),
    ]) func askingForTheSessionFails(method: String, target: String, body: String) throws {
        let verdict = try conforming {
            $0.exchange(.app, method, "https://api.partner.example\(target)", at: 20, body: body)
        }
        #expect(verdict["HR-59"].verdict == .fail, "\(verdict.story)")
    }

    // MARK: the laws

    @Test func aWarningHidesNoDoubt() throws {
        let verdict = try conforming {
            $0.dropped = 5
            $0.tap(.share, at: 60)
        }
        #expect(verdict["HR-07"].verdict == .inconclusive, "\(verdict.story)")
        #expect(verdict["HR-07"].findings.contains { $0.kind == "lost-tap" })
    }

    @Test func aMarkSeenTwiceByTwoInterfacesIsOneTap() throws {
        let verdict = try upToTap {
            $0.tap(.share, at: 4)
            $0.tap(.share, at: 4.0004)
            $0.share(at: 4.1)
            $0.browse(ScriptedSession.url, at: 4.5)
        }
        #expect(!verdict.exercised.contains("double-tap"), "\(verdict.story)")
        #expect(verdict.matrix["M-10"] != .proven)
    }

    // MARK: what real captures showed when they were altered

    @Test func tapsWithoutTargetsMayBeOnTheNeutralAction() throws {
        let verdict = try upToTap {
            $0.tap(nil, at: 3.6)
            $0.tap(nil, at: 4)
            $0.browse(ScriptedSession.neutral, at: 4.5)
        }
        #expect(verdict["HR-09"].verdict != .fail, "\(verdict.story)")
        #expect(!verdict.exercised.contains("double-tap"))
    }

    @Test func aTapWhileTheURLIsBeingOpenedLateLeadsToNoSecondPage() throws {
        let verdict = try upToTap {
            $0.tap(.share, at: 4)
            $0.share(at: 4.1)
            $0.mark(.opened, at: 4.3)
            $0.tap(.share, at: 5)
            $0.browse(ScriptedSession.url, at: 5.2)
        }
        #expect(verdict["HR-09"].verdict == .pass, "\(verdict.story)")
    }

    @Test func anAnswerWithoutItsQuestionBeganBeforeTheTrace() throws {
        var session = ScriptedSession()
        session.lookup("chia.health", at: 0.5)
        session.projection(at: 1)
        session.tap(.share, at: 4)
        share(&session)
        session.mark(.end, at: 120)
        let events = session.events().filter { event in
            if case .nameLookup(let lookup) = event { return lookup.isResponse }
            return true
        }
        #expect(try session.judge()["HR-01"].verdict == .fail)
        #expect(try session.judge(events)["HR-01"].reason?.code == "start-not-seen")
    }

    @Test func aTraceThatBeganMidwayMayLackATap() throws {
        func judge(midway: Bool, launched: Bool) throws -> RuleResult {
            var session = ScriptedSession()
            if launched { session.mark(.launch, at: 0.2) }
            session.connect(.app, "api.partner.example", at: 0.3)
            session.lookup("chia.health", at: 0.5)
            session.tap(.share, at: 4)
            share(&session)
            session.mark(.end, at: 120)
            let events = session.events().map { event in
                guard midway, case .connectionOpened(var connection) = event, connection.id == ConnectionID(0) else {
                    return event
                }
                connection.startSeen = false
                return .connectionOpened(connection)
            }
            return try session.judge(events)["HR-01"]
        }
        #expect(try judge(midway: false, launched: false).verdict == .fail)
        #expect(try judge(midway: true, launched: true).verdict == .fail)
        #expect(try judge(midway: true, launched: false).reason?.code == "start-not-seen")
    }

    @Test func aTokenInARequestWithoutAReadableHeadIsNotDecided() throws {
        let verdict = try conforming {
            $0.unreadableExchange("/h/\(ScriptedSession.token)", at: 20)
        }
        #expect(verdict["HR-47"].reason?.code == "header-table-unknown", "\(verdict.story)")
    }

    @Test func aRequestThatNoTapIsMarkedForIsNotDecided() throws {
        let verdict = try upToTap {
            share(&$0)
            $0.mark(.foreground, at: 30)
            $0.share(at: 40, key: ScriptedSession.key2, url: ScriptedSession.otherURL)
            $0.browse(ScriptedSession.otherURL, at: 40.5)
        }
        #expect(verdict["HR-07"].reason?.code == "tap-not-marked", "\(verdict.story)")
        #expect(verdict["HR-09"].verdict == .pass, "\(verdict.story)")
    }

    @Test func aHoleTowardsChiaMayHoldAProbe() throws {
        let verdict = try conforming {
            let own = $0.connect(.nobody, "chia.health", at: 20)
            $0.blindSpot(.tcpHole, from: .client, at: 20, until: 21, on: own)
        }
        for rule in ["HR-05", "HR-09", "HR-47", "HR-59"] {
            #expect(verdict[rule].reason?.code == "tcp-hole", "\(rule) \(verdict.story)")
        }
    }
}
