import Assertions
import SessionTrace
import Testing

/// What exercises the rule, whose contact counts, and what may hide one.
@Suite struct HR03AppNeverContactsChiaBoundaryTests {
    private func judge(_ change: (inout ScriptedSession) -> Void) throws -> RuleResult {
        var session = ScriptedSession.conformingShare()
        change(&session)
        return try session.judge()["HR-03"]
    }

    @Test(arguments: [("app", Verdict.pass), ("tap", .pass), ("browser", .notApplicable)])
    func theAppHasToBeSeen(what: String, verdict: Verdict) throws {
        var session = ScriptedSession()
        switch what {
        case "app": session.exchange(.app, "GET", "https://cdn.vendor.example/a", at: 1)
        case "tap": session.tap(.cta, at: 1)
        default: session.exchange(.browser, "GET", "https://cdn.vendor.example/a", at: 1)
        }
        session.mark(.end, at: 20)
        let result = try session.judge()["HR-03"]
        #expect(result.verdict == verdict, "\(result)")
    }

    @Test func theSystemsFetchOfAssociationsIsTold() throws {
        let result = try judge {
            $0.exchange(
                .app, "GET", "https://chia.health/.well-known/apple-app-site-association", at: 1,
                headers: [("user-agent", "swcd/1.0 CFNetwork/1490")])
        }
        #expect(result.verdict == .pass && Set(result.information) == ["not-the-app"], "\(result)")
    }

    @Test func anotherDevicesAppIsNotThisOne() throws {
        let result = try judge {
            $0.clientAddress = IPAddress(ipv4: 0x0A00_0009)
            $0.exchange(.app, "GET", "https://chia.health/x", at: 60)
        }
        #expect(result.reason?.code == "several-devices", "\(result)")
    }

    @Test func aBrowserToldByItsHeadersIsAnAssumption() throws {
        let told = try judge { _ in }
        #expect(told.assumptions.map(\.code) == ["browser-by-headers"] && !told.lookedAt.isEmpty, "\(told)")
        var session = ScriptedSession.upToTap()
        session.processes[.browser] = ProcessIdentity(source: .pktap, name: "MobileSafari")
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        session.browse(ScriptedSession.url, at: 4.5)
        session.mark(.end, at: 80)
        let recorded = try session.judge()["HR-03"]
        #expect(recorded.verdict == .pass && recorded.assumptions.isEmpty, "\(recorded)")
    }

    @Test func whatWasNotSeenMayBeAContact() throws {
        #expect(
            try judge { $0.dark(.app, "203.0.113.9", at: 60, lastData: 61, hello: false) }.reason?.code
                == "host-unknown")
        #expect(try judge { $0.blindSpot(.bypass, from: nil, at: 1, until: 2, on: nil) }.reason?.code == "bypass")
        #expect(try judge { $0.dropped = 3 }.reason?.code == "capture-drops")
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, url: "https://handoff.elsewhere.example/h/\(ScriptedSession.token)")
        session.mark(.end, at: 90)
        #expect(try session.judge()["HR-03"].reason?.code == "policy-mismatch")
    }
}

/// Which requests are probes, and what may hide one.
@Suite struct HR05NoProbeOfHandoffURLBoundaryTests {
    private func judge(_ change: (inout ScriptedSession) -> Void) throws -> RuleResult {
        var session = ScriptedSession.conformingShare()
        change(&session)
        return try session.judge()["HR-05"]
    }

    @Test func eitherURLExercisesIt() throws {
        var neutral = ScriptedSession()
        neutral.projection(at: 0.5)
        neutral.mark(.end, at: 20)
        #expect(try neutral.judge()["HR-05"].verdict == .pass)
        var shared = ScriptedSession()
        shared.share(at: 1)
        shared.mark(.end, at: 20)
        #expect(try shared.judge()["HR-05"].verdict == .pass)
    }

    @Test func onlyNavigationsAreCounted() throws {
        let result = try judge {
            $0.exchange(
                .browser, "GET", ScriptedSession.url, at: 6,
                headers: [
                    ("sec-fetch-site", "same-origin"), ("sec-fetch-dest", "empty"), ("referer", ScriptedSession.url),
                ])
        }
        #expect(result.information == ["not-the-app"], "\(result)")
        #expect(result.sentence.hasPrefix("1 request for 1 handoff URL and 1 neutral URL"), "\(result)")
        let failed = try judge { $0.exchange(.app, "HEAD", ScriptedSession.url, at: 6) }
        #expect(failed.lookedAt.count == 1, "\(failed.lookedAt)")
    }

    @Test(arguments: [("", "HEAD of the handoff URL: "), ("?v=1", "HEAD of a variant of the handoff URL: ")])
    func whatWasAskedForIsNamed(query: String, words: String) throws {
        let result = try judge { $0.exchange(.app, "HEAD", ScriptedSession.url + query, at: 6) }
        #expect(result.violations == ["head"] && result.sentence.hasPrefix(words), "\(result)")
    }

    /// A page that sends no Referer names itself by its Origin; and what Chia redirects to is no probe.
    @Test(arguments: [true, false]) func whatChiaStartedOtherwiseThanByAPageItNamesIsNotTheApps(isRedirected: Bool)
        throws
    {
        func judge(host: String) throws -> RuleResult {
            try self.judge {
                if isRedirected {
                    $0.exchange(
                        .browser, "GET", "https://\(host)/go", at: 60, status: 302,
                        responseHeaders: [("location", ScriptedSession.neutral)])
                }
                $0.exchange(
                    .browser, "GET", ScriptedSession.neutral, at: 61,
                    headers: isRedirected ? [] : [("origin", "https://\(host)")])
            }
        }
        let own = try judge(host: "www.chia.health")
        #expect(own.verdict == .pass && own.information == ["not-the-app"], "\(own)")
        #expect(try judge(host: "www.vendor.example").violations == ["fetch"])
    }

    @Test func anotherSessionsURLIsLookedAtToo() throws {
        let fetched = try judge { $0.exchange(.app, "GET", ScriptedSession.otherURL, at: 6) }
        #expect(fetched.violations == ["fetch"])
        #expect(fetched.sentence.contains("a handoff URL of another session"))
        let other = try judge { $0.exchange(.app, "GET", "https://chia.health/about", at: 6) }
        #expect(other.verdict == .pass, "\(other)")
    }

    @Test(arguments: ["sec-fetch-dest", "sec-fetch-mode"]) func whatIsNoNavigationIsAFetch(field: String) throws {
        let result = try judge {
            $0.exchange(
                .browser, "GET", ScriptedSession.neutral, at: 60,
                headers: [
                    ("sec-fetch-site", "none"), ("sec-fetch-dest", field == "sec-fetch-dest" ? "empty" : "document"),
                    ("sec-fetch-mode", field == "sec-fetch-mode" ? "cors" : "navigate"),
                ])
        }
        #expect(result.violations == ["fetch"] && result.sentence.lowercased().contains(field), "\(result)")
    }

    @Test(arguments: [("HEAD", "head"), ("OPTIONS", "method")])
    func theMethodIsNamed(method: String, kind: String) throws {
        let result = try judge {
            $0.exchange(
                .browser, method, ScriptedSession.neutral, at: 60,
                headers: [("sec-fetch-site", "none"), ("sec-fetch-dest", "document"), ("sec-fetch-mode", "navigate")])
        }
        #expect(result.violations == [kind], "\(result)")
    }

    @Test func nobodysRequestIsOnlyADoubt() throws {
        let result = try judge { $0.exchange(.disguised, "GET", ScriptedSession.url, at: 60) }
        #expect(result.reason?.code == "actor-unknown", "\(result)")
        #expect(result.lookedAt.count == 1, "the navigation alone")
    }

    /// The browser fetches ahead what it opened at 4.5, or what it never opened.
    @Test(arguments: [
        (ScriptedSession.neutral, 60.0, "not-the-app"), (ScriptedSession.neutral, 45.1, "not-the-app"),
        (ScriptedSession.neutral, 45.05, "prefetch"), ("https://chia.health/other", 60, ""),
        (ScriptedSession.url, 60, "prefetch"),
    ]) func aPrefetchOfWhatWasOpenedBeforeIsTheBrowsers(address: String, time: Double, kind: String) throws {
        let result = try judge {
            $0.browse(ScriptedSession.neutral, at: 45)
            $0.browse("https://chia.health/privacy", at: 46)
            $0.exchange(
                .browser, "GET", address, at: time,
                headers: [
                    ("sec-fetch-site", "none"), ("sec-fetch-dest", "document"), ("sec-fetch-mode", "navigate"),
                    ("sec-purpose", "prefetch"),
                ])
        }
        #expect(result.findings.map(\.kind) == (kind.isEmpty ? [] : [kind]), "\(result)")
    }

    @Test func aPrefetchOpensNothingAndWhatTheAppFetchedNeither() throws {
        let ahead = [
            ("sec-fetch-site", "none"), ("sec-fetch-dest", "document"), ("sec-fetch-mode", "navigate"),
            ("sec-purpose", "prefetch"),
        ]
        let twice = try judge {
            $0.exchange(.browser, "GET", ScriptedSession.neutral, at: 60, headers: ahead)
            $0.exchange(.browser, "GET", ScriptedSession.neutral, at: 70, headers: ahead)
        }
        #expect(twice.findings.map(\.kind) == ["prefetch"], "\(twice)")
        let fetched = try judge {
            $0.exchange(.app, "GET", ScriptedSession.neutral, at: 60, headers: [("accept", "text/html")])
            $0.exchange(.browser, "GET", ScriptedSession.neutral, at: 70, headers: ahead)
        }
        #expect(fetched.findings.map(\.kind) == ["fetch", "prefetch"], "\(fetched)")
    }

    @Test func aPrefetchOfWhatOnlyTheAppOrAnotherPageOpenedIsOne() throws {
        let result = try judge {
            $0.browse("https://chia.health/privacy", at: 46)
            $0.exchange(
                .browser, "GET", ScriptedSession.neutral, at: 60,
                headers: [
                    ("sec-fetch-site", "none"), ("sec-fetch-dest", "document"), ("sec-fetch-mode", "navigate"),
                    ("sec-purpose", "prefetch"),
                ])
        }
        #expect(result.violations == ["prefetch"], "\(result)")
    }

    @Test func unreadTrafficToTheURLsHostsMayHoldAProbe() throws {
        #expect(try judge { $0.dark(.app, "chia.health", at: 60, lastData: 61) }.reason?.code == "no-keys")
        #expect(try judge { $0.dark(.app, "sdk.vendor.example", at: 60, lastData: 61) }.verdict == .pass)
        let elsewhere = try judge {
            $0.exchange(
                .app, "GET", "https://api.partner.example/catalog/other/handoff", at: 51,
                response: #"{"catalogId":"other","handoff":\#(ScriptedSession.neutralDecision)}"#
                    .replacing(ScriptedSession.neutral, with: "https://go.vendor.example/start"))
            $0.dark(.app, "go.vendor.example", at: 60, lastData: 61)
        }
        #expect(elsewhere.reason?.code == "no-keys", "\(elsewhere)")
    }

    @Test func whatWasNotSeenMayBeAProbe() throws {
        let hole = try judge {
            $0.blindSpot(
                .tcpHole, from: .client, at: 60, until: 61, on: $0.connect(.browser, "chia.health", at: 59))
        }
        #expect(hole.reason?.code == "tcp-hole")
        #expect(try judge { $0.blindSpot(.bypass, from: nil, at: 1, until: 2, on: nil) }.reason?.code == "bypass")
        #expect(try judge { $0.dropped = 3 }.reason?.code == "capture-drops")
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, url: "https://handoff.elsewhere.example/h/\(ScriptedSession.token)")
        session.mark(.end, at: 90)
        #expect(try session.judge()["HR-05"].reason?.code == "policy-mismatch")
    }

    @Test func aShareWithoutAURLLeavesItOpen() throws {
        var unnamed = ScriptedSession.upToTap()
        unnamed.tap(.share, at: 4)
        unnamed.share(at: 4.1, url: "https://chia.health/h/none")
        unnamed.mark(.end, at: 90)
        #expect(try unnamed.judge()["HR-05"].reason?.code == "handoff-url-unknown")
        var missing = ScriptedSession.upToTap()
        missing.tap(.share, at: 4)
        missing.mark(.end, at: 90)
        #expect(try missing.judge()["HR-05"].reason?.code == "policy-mismatch")
    }
}
