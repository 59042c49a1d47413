import Assertions
import SessionTrace
import Testing

@Suite struct HR26OpenedAtMostOnceTests {
    private func judge(_ build: (inout ScriptedSession) -> Void) throws -> RuleResult {
        try ScriptedSession.shared(build).judge()["HR-26"]
    }

    @Test func onceIsFine() throws {
        let result = try judge { $0.browse(ScriptedSession.url, at: 4.5) }
        #expect(result.verdict == .pass)
        #expect(result.sentence == "U#1 was opened 1 time")
    }

    @Test func theAppThatOpensItAgainAfterARelaunchFails() throws {
        let result = try judge {
            $0.browse(ScriptedSession.url, at: 4.5)
            $0.mark(.kill, at: 20)
            $0.mark(.launch, at: 30)
            $0.browse(ScriptedSession.url, at: 31)
        }
        #expect(result.findings.map(\.kind) == ["opened-again"])
        #expect(result.sentence.contains("2 times, the last one 26.5 s after the first, 1 s after the app's launch"))
    }

    @Test(arguments: [Mark.Kind.foreground, .restore]) func comingBackIsAnActOfTheApp(kind: Mark.Kind) throws {
        let result = try judge {
            $0.browse(ScriptedSession.url, at: 4.5)
            $0.mark(kind, at: 30)
            $0.browse(ScriptedSession.url, at: 40)
        }
        #expect(result.severity == .error && result.findings.map(\.kind) == ["opened-again"])
    }

    /// A stored URL of an earlier session counts like one of this trace's.
    @Test func anEarlierSessionsURLOpenedTwiceFails() throws {
        let old = "https://chia.health/h/phs_Yesterday0123456789abc"
        func opened(_ times: [Double]) throws -> RuleResult {
            try judge {
                $0.browse(ScriptedSession.url, at: 4.5)
                $0.mark(.launch, at: 20)
                for time in times { $0.browse(old, at: time) }
            }
        }
        let once = try opened([21])
        #expect(once.verdict == .inconclusive && once.reason?.code == "url-of-another-session")
        let twice = try opened([21, 24])
        #expect(twice.findings.map(\.kind) == ["opened-again"])
        #expect(twice.sentence.contains("a handoff URL of another session was opened 2 times, the last one 3 s after"))
    }

    @Test func aSecondOpeningRightAfterTheTapFailsWithoutMarks() throws {
        var session = ScriptedSession()
        session.projection(at: 0.5)
        session.share(at: 4.1)
        session.browse(ScriptedSession.url, at: 4.5)
        session.browse(ScriptedSession.url, at: 4.7)
        session.exchange(.app, "GET", "https://api.partner.example/x", at: 80)
        #expect(try session.judge()["HR-26"].findings.map(\.kind) == ["opened-again"])
    }

    /// A browser that restores its tabs: ten seconds without any act of the app tell.
    @Test func aBrowsersRestoreIsAWarning() throws {
        func again(at time: Double) throws -> RuleResult {
            try judge {
                $0.browse(ScriptedSession.url, at: 4.5)
                $0.tap(.other, at: 30)
                $0.browse(ScriptedSession.url, at: time)
            }
        }
        #expect(try again(at: 40).findings.map(\.kind) == ["opened-again"])
        let restored = try again(at: 40.001)
        #expect(restored.findings.map(\.kind) == ["browser-restore"])
        #expect(restored.severity == .warning && restored.verdict == .fail)
    }

    @Test func withoutMarksARestoreIsNotDecided() throws {
        var session = ScriptedSession()
        session.projection(at: 0.5)
        session.share(at: 4.1)
        session.browse(ScriptedSession.url, at: 4.5)
        session.browse(ScriptedSession.url, at: 40)
        session.exchange(.app, "GET", "https://api.partner.example/x", at: 80)
        #expect(try session.judge()["HR-26"].reason?.code == "no-tap-mark")
    }

    @Test func aViewThatOpensItAgainNeedsNoAct() throws {
        let result = try judge {
            $0.browse(ScriptedSession.url, at: 4.5)
            $0.browse(ScriptedSession.url, at: 40, headers: [("user-agent", ScriptedSession.webView)])
        }
        #expect(result.findings.map(\.kind) == ["opened-again"])
    }

    @Test func reloadsRetriesAndRedirectsAreNoSecondOpening() throws {
        #expect(
            try judge {
                $0.browse(ScriptedSession.url, at: 4.5)
                $0.mark(.reload, at: 20)
                $0.browse(ScriptedSession.url, at: 20.2)
            }.verdict == .pass)
        #expect(
            try judge {
                $0.browse(ScriptedSession.url, at: 4.5, fate: .reset)
                $0.browse(ScriptedSession.url, at: 4.8)
            }.verdict == .pass)
        #expect(
            try judge {
                $0.browse(
                    ScriptedSession.url, at: 4.5, status: 308,
                    responseHeaders: [("location", ScriptedSession.url + "/")])
                $0.browse(ScriptedSession.url + "/", at: 4.7)
            }.verdict == .pass)
        #expect(
            try judge {
                $0.browse(ScriptedSession.url, at: 4.5)
                $0.browse(ScriptedSession.url, at: 9, headers: [("sec-fetch-site", "same-origin")])
            }.verdict == .pass)
        let perhaps = try judge {
            $0.browse(ScriptedSession.url, at: 4.5)
            $0.browse(ScriptedSession.url, at: 9, headers: [("cache-control", "max-age=0")])
        }
        #expect(perhaps.reason?.code == "perhaps-reload")
    }

    /// A reload is what follows its mark, until the person taps or the app comes to act again.
    @Test(arguments: [
        (Mark.Kind?.none, true), (.background, true), (.foreground, false), (.restore, false), (.launch, false),
    ]) func aReloadEndsWhereTheAppMayActAgain(kind: Mark.Kind?, isReload: Bool) throws {
        let result = try judge {
            $0.browse(ScriptedSession.url, at: 4.5)
            $0.mark(.reload, at: 20)
            if let kind { $0.mark(kind, at: 21) }
            $0.browse(ScriptedSession.url, at: 22)
        }
        #expect((result.verdict == .pass) == isReload, "\(result)")
    }

    @Test func twoURLsAreOpenedOnceEach() throws {
        let result = try judge {
            $0.browse(ScriptedSession.url, at: 4.5)
            $0.mark(.foreground, at: 20)
            $0.tap(.share, at: 22)
            $0.share(at: 22.1, key: ScriptedSession.key2, url: ScriptedSession.otherURL)
            $0.browse(ScriptedSession.otherURL, at: 22.5)
        }
        #expect(result.verdict == .pass)
        #expect(result.sentence == "U#1 was opened 1 time; U#2 was opened 1 time")
    }

    @Test func anotherDeviceAndUnreadConnectionsAreNotDecided() throws {
        var session = ScriptedSession.shared { $0.browse(ScriptedSession.url, at: 4.5) }
        session.clientAddress = IPAddress(ipv4: 0x0A00_0009)
        session.browse(ScriptedSession.url, at: 6)
        #expect(try session.judge()["HR-26"].reason?.code == "several-devices")
        let dark = try judge {
            $0.browse(ScriptedSession.url, at: 4.5)
            $0.dark(.nobody, "chia.health", at: 30, lastData: 31)
        }
        #expect(dark.reason?.code == "no-keys")
    }

    @Test func withoutAnOpeningItIsNotApplicable() throws {
        #expect(try judge { _ in }.verdict == .notApplicable)
    }
}

@Suite struct HR27OpensInitiatingResponseURLTests {
    private func judge(_ build: (inout ScriptedSession) -> Void) throws -> RuleResult {
        try ScriptedSession.shared(build).judge()["HR-27"]
    }

    private static func second(
        _ session: inout ScriptedSession, status: Int = 201, fate: ScriptedSession.Fate = .answered
    ) {
        session.mark(.foreground, at: 20)
        session.tap(.share, at: 22)
        session.share(
            at: 22.1, key: ScriptedSession.key2, status: status, url: ScriptedSession.otherURL, fate: fate)
    }

    @Test func theURLThatCameBackPasses() throws {
        let result = try judge { $0.browse(ScriptedSession.url, at: 4.5) }
        #expect(result.verdict == .pass, "\(result.sentence)")
        #expect(result.sentence == "opened: U#1 300 ms after the answer to attempt 1")
        #expect(!result.assumptions.contains { $0.code == "tap-assumed" })
    }

    @Test func twoInTurnPass() throws {
        let result = try judge {
            $0.browse(ScriptedSession.url, at: 4.5)
            Self.second(&$0)
            $0.browse(ScriptedSession.otherURL, at: 22.5)
        }
        #expect(result.verdict == .pass, "\(result.sentence)")
    }

    /// The pair: which of two URLs is opened after the second share.
    @Test func anOlderURLFails() throws {
        let result = try judge {
            Self.second(&$0)
            $0.browse(ScriptedSession.url, at: 22.5)
        }
        #expect(result.findings.map(\.kind) == ["older-url"])
        #expect(result.sentence.contains("though U#2 had come 300 ms before"))
        #expect(
            try judge {
                Self.second(&$0)
                $0.browse(ScriptedSession.otherURL, at: 22.5)
            }.verdict == .pass)
    }

    @Test func whetherTheNewerOneCameMustBeKnown() throws {
        #expect(
            try judge {
                Self.second(&$0, fate: .deliveryUnknown)
                $0.browse(ScriptedSession.url, at: 22.5)
            }.reason?.code == "delivery-unknown")
        // A newer answer that was lost is a failed attempt.
        #expect(
            try judge {
                Self.second(&$0, fate: .lost)
                $0.browse(ScriptedSession.url, at: 22.5)
            }.findings.map(\.kind) == ["after-failed-attempt"])
    }

    @Test(arguments: [503, 422]) func aURLAfterAFailedAttemptFails(status: Int) throws {
        let result = try judge {
            Self.second(&$0, status: status)
            $0.browse(ScriptedSession.url, at: 22.5)
        }
        #expect(result.findings.map(\.kind) == ["after-failed-attempt"])
        #expect(result.sentence.contains("300 ms after attempt 2"))
    }

    @Test func aChallengeIsNoFailure() throws {
        let result = try judge {
            Self.second(&$0, status: 401)
            $0.browse(ScriptedSession.url, at: 22.5)
        }
        #expect(result.verdict == .pass, "\(result.sentence)")
    }

    @Test func aFailureBeforeTheAnswerIsAnHonestRetry() throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, status: 503)
        session.share(at: 6)
        session.browse(ScriptedSession.url, at: 6.5)
        session.mark(.end, at: 90)
        #expect(try session.judge()["HR-27"].verdict == .pass)
    }

    @Test func aStoredURLAfterARelaunchFails() throws {
        let result = try judge {
            $0.mark(.launch, at: 30)
            $0.browse(ScriptedSession.url, at: 31)
        }
        #expect(result.findings.map(\.kind) == ["without-tap"])
        #expect(
            try judge {
                $0.mark(.background, at: 30)
                $0.mark(.foreground, at: 40)
                $0.browse(ScriptedSession.url, at: 41)
            }.verdict == .pass, "an answer that came late is no stored one")
    }

    @Test func aTapAfterTheRelaunchExplainsIt() throws {
        let result = try judge {
            $0.mark(.launch, at: 30)
            $0.tap(.share, at: 32)
            $0.share(at: 32.1)
            $0.browse(ScriptedSession.url, at: 32.5)
        }
        #expect(result.verdict == .pass, "a replay of the same operation: \(result.sentence)")
    }

    @Test func aURLBeforeItsOwnRequestFails() throws {
        let result = try judge { $0.browse(ScriptedSession.url, at: 4.05) }
        #expect(result.findings.map(\.kind) == ["opened-before-request"])
        #expect(try judge { $0.browse(ScriptedSession.url, at: 4.15) }.verdict == .pass, "its last byte may come late")
    }

    // MARK: addresses that no answer brought

    @Test func aStrangersURLRightAfterTheAnswerFails() throws {
        let result = try judge { $0.browse(ScriptedSession.otherURL, at: 4.5) }
        #expect(result.findings.map(\.kind) == ["foreign-url"])
        #expect(result.sentence.contains("500 ms after the share tap"))
    }

    @Test func aStrangersURLThatNothingExplainsIsNotDecided() throws {
        #expect(try judge { $0.browse(ScriptedSession.otherURL, at: 14.1) }.reason?.code == "url-of-another-session")
        #expect(
            try judge {
                $0.mark(.linkOpened, at: 4.3)
                $0.browse(ScriptedSession.otherURL, at: 4.5)
            }.reason?.code == "url-of-another-session")
        #expect(
            try judge {
                $0.dark(.app, "api.partner.example", at: 4.2, lastData: 4.3)
                $0.browse(ScriptedSession.otherURL, at: 4.5)
            }.verdict == .inconclusive)
    }

    @Test func aStrangersURLThatChiaLinksToIsNotTheApps() throws {
        let result = try judge {
            $0.browse(ScriptedSession.url, at: 4.5)
            $0.browse(ScriptedSession.otherURL, at: 6, headers: [("sec-fetch-site", "same-origin")])
        }
        #expect(result.verdict == .pass, "\(result.sentence)")
    }

    // MARK: the rest

    @Test func withoutMarksThePassRestsOnAnAssumption() throws {
        var session = ScriptedSession()
        session.projection(at: 0.5)
        session.share(at: 4.1)
        session.browse(ScriptedSession.url, at: 4.5)
        session.exchange(.app, "GET", "https://api.partner.example/x", at: 80)
        let result = try session.judge()["HR-27"]
        #expect(result.verdict == .pass && result.assumptions.contains { $0.code == "tap-assumed" })
    }

    @Test func unreadTrafficIsNotDecided() throws {
        #expect(
            try judge {
                $0.dark(.app, "api.partner.example", at: 4.2, lastData: 4.3)
                $0.browse(ScriptedSession.url, at: 4.5)
            }.reason?.code == "no-keys")
        #expect(try judge { $0.dark(.nobody, "chia.health", at: 4.5, lastData: 6) }.reason?.code == "no-keys")
    }

    @Test func withoutAnOpeningItIsNotApplicable() throws {
        #expect(try judge { _ in }.verdict == .notApplicable)
    }
}

@Suite struct HR31OpenedBeforeExpiryTests {
    private func opened(
        at time: Double, lifetime: String = "", date: String? = "Sun, 29 Nov 2026 12:00:04 GMT",
        policy: String = ""
    ) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        session.policyText += policy
        session.tap(.share, at: 4)
        session.exchange(
            .app, "POST", "https://api.partner.example/handoff-session", at: 4, status: 201,
            headers: [("idempotency-key", ScriptedSession.key1), ("content-type", "application/json")],
            body: ScriptedSession.body, response: #"{"url":"\#(ScriptedSession.url)"\#(lifetime)}"#,
            responseHeaders: date.map { [("date", $0)] } ?? [])
        session.browse(ScriptedSession.url, at: time)
        session.mark(.end, at: time + 90)
        return try session.judge()["HR-31"]
    }

    @Test func atOnceIsFine() throws {
        let result = try opened(at: 4.5)
        #expect(result.verdict == .pass)
        #expect(result.sentence == "opened in time: U#1 400 ms after its answer, 15 min are allowed")
    }

    /// One millisecond either side of fifteen minutes, and of one.
    @Test func theBoundsAreSharp() throws {
        #expect(try opened(at: 904.1).findings.map(\.kind) == ["opened-slowly"])
        #expect(try opened(at: 904.101).findings.map(\.kind) == ["opened-late"])
        #expect(try opened(at: 64.1).verdict == .pass)
        let slow = try opened(at: 64.101)
        #expect(slow.findings.map(\.kind) == ["opened-slowly"] && slow.severity == .warning)
    }

    @Test func thePolicySetsTimeAndMargin() throws {
        let policy = "timing: {url-lifetime: 30s, url-margin: 5s}\n"
        #expect(try opened(at: 29.1, policy: policy).verdict == .pass)
        #expect(try opened(at: 29.2, policy: policy).findings.map(\.kind) == ["opened-late"])
    }

    @Test(arguments: [
        (#","expiresIn":20"#, "expiresIn"), (#","expires_at":"2026-11-29T12:00:24Z""#, "expires_at"),
        (#","meta":{"expiresAt":1796040024}"#, "expiresAt"), (#","expiresAt":1795953624000"#, "expiresAt"),
        (#","ttl":20"#, "ttl"),
    ]) func theAnswersOwnTimeCountsWhereItIsShorter(lifetime: String, field: String) throws {
        // 1795953624 is 2026-11-29T12:00:24Z; 1796040024 a day later, longer than the policy's time.
        let result = try opened(at: 30, lifetime: lifetime)
        if lifetime.contains("1796040024") {
            #expect(result.verdict == .pass)
        } else {
            #expect(result.findings.map(\.kind) == ["opened-late"], "\(lifetime): \(result.sentence)")
            #expect(result.sentence.contains("by the answer's \(field)"))
        }
    }

    @Test func aMomentWithoutADateSaysNothing() throws {
        let lifetime = #","expiresAt":"2026-11-29T12:00:24Z""#
        #expect(try opened(at: 30, lifetime: lifetime, date: nil).verdict == .pass)
        #expect(try opened(at: 30, lifetime: lifetime, date: "yesterday").verdict == .pass)
    }

    @Test func onlyTheFirstOpeningCounts() throws {
        let result = try ScriptedSession.shared {
            $0.browse(ScriptedSession.url, at: 4.5)
            $0.mark(.reload, at: 80)
            $0.browse(ScriptedSession.url, at: 80.1)
        }.judge()["HR-31"]
        #expect(result.verdict == .pass)
    }

    @Test func unreadConnectionsAreNotDecided() throws {
        let result = try ScriptedSession.shared { $0.dark(.nobody, "chia.health", at: 4.5, lastData: 6) }
            .judge()["HR-31"]
        #expect(result.reason?.code == "no-keys")
    }

    @Test func withoutAnOpeningItIsNotApplicable() throws {
        #expect(try ScriptedSession.shared { _ in }.judge()["HR-31"].verdict == .notApplicable)
    }
}
