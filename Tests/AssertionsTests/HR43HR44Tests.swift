import Assertions
import SessionTrace
import Testing

@Suite struct HR43NoOutcomeInferenceTests {
    private func judge(
        policy: String = ScriptedSession.returnPolicy, end: Double = 100, _ story: (inout ScriptedSession) -> Void
    ) throws -> RuleResult {
        var session = ScriptedSession.inTheBrowser()
        session.policyText = policy
        return try ScriptedSession.result("HR-43", session, end: end) {
            $0.mark(.foreground, at: 50)
            $0.projection(at: 50.2)
            story(&$0)
        }
    }

    @Test func projectionAndImagesPass() throws {
        let result = try judge {
            $0.exchange(.app, "GET", "https://img.partner.example/a1b2", at: 50.4)
            $0.exchange(
                .app, "GET", "https://api.partner.example/pictures/a1b2", at: 50.5, response: "x",
                responseHeaders: [("content-type", "image/webp")])
            $0.exchange(.app, "GET", "https://cdn.example/card.PNG", at: 50.6)
            $0.exchange(.app, "GET", "https://api.partner.example/home", at: 51)
        }
        #expect(result.verdict == .pass, "\(result)")
        #expect(result.sentence.hasPrefix("5 requests") && result.assumptions.map(\.code) == [], "\(result)")
    }

    @Test(arguments: [
        #"{"item":"item-4711-abcdef","elapsed_ms":48211}"#,
        #"{"events":[{"name":"x"},{"props":{"outcome":"unknown"},"ref":"item-4711-abcdef"}]}"#,
        #"{"catalogId":"another-item","sessionResult":"closed"}"#,
        #"{"dwell-time":12,"deep":{"id":["item-4711-abcdef"]}}"#,
        "{\"a\":1}\n{\"handoffReturned\":true,\"product_id\":7}",
    ]) func outcomeWordsBesideAnItemAreAnError(body: String) throws {
        let result = try judge { $0.exchange(.app, "POST", "https://api.partner.example/events", at: 52, body: body) }
        #expect(result.verdict == .fail && result.severity == .error, "\(result)")
        #expect(result.violations == ["outcome-words"], "\(result)")
        #expect(!result.sentence.contains("item-4711-abcdef"))
    }

    @Test func outcomeWordsInAQueryOrFormCountToo() throws {
        #expect(
            try judge {
                $0.exchange(
                    .app, "GET", "https://api.partner.example/ping?ref=item-4711-abcdef&duration=46", at: 52)
            }.violations == ["outcome-words"])
        #expect(
            try judge {
                $0.exchange(
                    .app, "GET", "https://api.partner.example/items/item-4711-abcdef/seen?converted=1", at: 52)
            }.violations == ["outcome-words"])
        #expect(
            try judge {
                $0.exchange(
                    .app, "POST", "https://api.partner.example/ping", at: 52,
                    headers: [("content-type", "application/x-www-form-urlencoded")],
                    body: "ref=item-4711-abcdef&isCompleted=1")
            }.violations == ["outcome-words"])
    }

    /// Two batches as alike as can be: the word and the id in one event, or in two.
    @Test func anIdInAnotherEventOfTheBatchIsNotBeside() throws {
        let apart = #"[{"name":"view","ref":"item-4711-abcdef"},{"name":"app","duration":5}]"#
        let together = #"[{"name":"view"},{"name":"app","duration":5,"ref":"item-4711-abcdef"}]"#
        #expect(
            try judge { $0.exchange(.app, "POST", "https://api.partner.example/e", at: 52, body: apart) }.violations
                == ["unlisted-request"])
        #expect(
            try judge { $0.exchange(.app, "POST", "https://api.partner.example/e", at: 52, body: together) }.violations
                == ["outcome-words"])
    }

    @Test func otherWordsAndOtherItemsAreNone() throws {
        for body in [
            #"{"item":"item-4711-abcdef","locale":"en"}"#, #"{"duration":5,"item":"shoes"}"#,
            #"{"outcomes_page":1,"ref":"item-4711-abcdef"}"#,
        ] {
            let result = try judge { $0.exchange(.app, "POST", "https://api.partner.example/e", at: 52, body: body) }
            #expect(result.violations == ["unlisted-request"] && result.severity == .warning, "\(body): \(result)")
        }
    }

    @Test func aGenericEventIsAWarningThatThePolicySilences() throws {
        let story = { (session: inout ScriptedSession) -> Void in
            session.exchange(.app, "POST", "https://app-measurement.com/a", at: 55, body: #"{"name":"app_foreground"}"#)
        }
        let result = try judge(story)
        #expect(result.verdict == .fail && result.severity == .warning, "\(result)")
        #expect(result.sentence.contains("foreground-allow"))
        let allowed = ScriptedSession.returnPolicy + "\n  foreground-allow: [\"POST /a\"]"
        #expect(try judge(policy: allowed, story).verdict == .pass)
    }

    @Test func anExceptionSilencesItToo() throws {
        let story = { (session: inout ScriptedSession) -> Void in
            session.exchange(.app, "POST", "https://app-measurement.com/a", at: 55, body: "{}")
        }
        let policy =
            ScriptedSession.returnPolicy
            + "\nexceptions: [{rule: HR-43, scope: unlisted-request, reason: sdk, owner: ana, expires: 2026-12-31}]"
        let result = try judge(policy: policy, story)
        #expect(result.verdict == .pass && result.acceptedViolations == 1, "\(result)")
    }

    @Test func thirtySecondsAreLookedAtUntilTheNextTap() throws {
        let event = { (session: inout ScriptedSession, time: Double) -> Void in
            session.exchange(.app, "POST", "https://api.partner.example/e", at: time, body: "{}")
        }
        #expect(try judge { event(&$0, 79.999) }.violations == ["unlisted-request"])
        #expect(try judge { event(&$0, 80.001) }.verdict == .pass)
        #expect(
            try judge {
                $0.tap(.cta, at: 60)
                event(&$0, 60.1)
            }.verdict == .pass)
        #expect(
            try judge {
                $0.mark(.background, at: 60)
                event(&$0, 60.1)
            }.verdict == .pass)
    }

    @Test func thePolicySaysHowLong() throws {
        let policy = ScriptedSession.returnPolicy + "\ntiming: {after-return: 2s}"
        let event = { (session: inout ScriptedSession, time: Double) -> Void in
            session.exchange(.app, "POST", "https://api.partner.example/e", at: time, body: "{}")
        }
        #expect(try judge(policy: policy, end: 60) { event(&$0, 52.1) }.verdict == .pass)
        #expect(try judge(policy: policy, end: 60) { event(&$0, 51.9) }.verdict == .fail)
    }

    @Test func aShortTraceIsAnAssumption() throws {
        let result = try judge(end: 60) { _ in }
        #expect(result.verdict == .pass && result.assumptions.map(\.code) == ["observed-only"], "\(result)")
    }

    @Test func whatBrowserAndSystemSendIsNotTheApps() throws {
        let result = try judge {
            $0.exchange(
                .browser, "POST", "https://analytics.example/e", at: 52,
                body: #"{"item":"item-4711-abcdef","duration":1}"#)
            $0.exchange(.app, "GET", "https://captive.apple.com/hotspot-detect.html", at: 53)
        }
        #expect(result.verdict == .pass, "\(result)")
    }

    @Test func anUnknownSenderIsADoubt() throws {
        #expect(
            try judge { $0.exchange(.nobody, "POST", "https://api.partner.example/e", at: 52, body: "{}") }.reason?.code
                == "actor-unknown")
        #expect(
            try judge {
                $0.exchange(
                    .nobody, "POST", "https://api.partner.example/e", at: 52,
                    body: #"{"item":"item-4711-abcdef","duration":1}"#)
            }.reason?.code == "actor-unknown")
    }

    @Test func unreadTrafficIsADoubt() throws {
        #expect(
            try judge { $0.dark(.app, "collect.example", at: 51, lastData: 52) }.reason?.code == "no-keys")
        #expect(try judge { $0.dark(.app, "collect.example", at: 10, lastData: 20) }.verdict == .pass)
        #expect(try judge { $0.dark(.app, "collect.example", at: 81, lastData: 82) }.verdict == .pass)
        #expect(
            try judge { $0.dark(.app, "app-measurement.com", at: 51, lastData: 52) }.reason?.code
                == "opaque-telemetry")
    }

    @Test func beforeAnyHandoffThereIsNothingToInfer() throws {
        var session = ScriptedSession()
        session.policyText = ScriptedSession.returnPolicy
        session.mark(.launch, at: 0)
        session.projection(at: 1)
        let result = try ScriptedSession.result("HR-43", session) {
            $0.mark(.foreground, at: 50)
            $0.exchange(.app, "POST", "https://api.partner.example/e", at: 52, body: "{}")
        }
        #expect(result.verdict == .notApplicable, "\(result)")
    }
}

@Suite struct HR44NoBackgroundObservationTests {
    private func judge(
        _ session: ScriptedSession = .inTheBrowser(), _ story: (inout ScriptedSession) -> Void
    ) throws -> RuleResult {
        try ScriptedSession.result("HR-44", session, story)
    }

    private static func poll(
        _ session: inout ScriptedSession, at times: [Double], _ who: ScriptedSession.Who = .app,
        url: String = "https://api.partner.example/account"
    ) {
        for time in times { session.exchange(who, "GET", url, at: time) }
    }

    @Test func silencePasses() throws {
        let result = try judge { $0.mark(.foreground, at: 50) }
        #expect(result.verdict == .pass && result.assumptions.isEmpty, "\(result)")
        #expect(result.sentence.contains("0 requests"))
    }

    @Test func aPollIsAWarning() throws {
        let result = try judge {
            Self.poll(&$0, at: [10, 20, 30, 40])
            $0.mark(.foreground, at: 50)
        }
        #expect(
            result.verdict == .fail && result.severity == .warning && result.violations == ["periodic"], "\(result)")
        #expect(result.sentence.contains("4 times") && result.sentence.contains("10 s apart"), "\(result.sentence)")
        #expect(result.sentence.contains("deviation 0.00"))
    }

    @Test func threeMakeAPeriodAndTwoDoNot() throws {
        #expect(try judge { Self.poll(&$0, at: [10, 20, 30]) }.verdict == .fail)
        #expect(try judge { Self.poll(&$0, at: [10, 20]) }.verdict == .pass)
    }

    /// Distances 7 and 13 deviate by 0.30 of their mean, 7.1 and 12.9 by 0.29.
    @Test func evenDistancesMakeAPeriod() throws {
        #expect(try judge { Self.poll(&$0, at: [10, 17, 30]) }.verdict == .pass)
        #expect(try judge { Self.poll(&$0, at: [10, 17.1, 30]) }.verdict == .fail)
    }

    @Test func aScreenThatLoadsIsNoPoll() throws {
        #expect(try judge { Self.poll(&$0, at: [10, 10.2, 10.4]) }.verdict == .pass)
        #expect(try judge { Self.poll(&$0, at: [10, 10.3, 10.6]) }.verdict == .fail)
    }

    @Test func idsInThePathAreOneTemplateAndHostsAreTwo() throws {
        #expect(
            try judge {
                for (number, time) in [10.0, 20, 30].enumerated() {
                    Self.poll(&$0, at: [time], url: "https://api.partner.example/sessions/48210\(number)77")
                }
            }.verdict == .fail)
        #expect(
            try judge {
                Self.poll(&$0, at: [10, 30], url: "https://a.example/x")
                Self.poll(&$0, at: [20], url: "https://b.example/x")
            }.verdict == .pass)
    }

    @Test func whatHappensInTheForegroundIsNotLookedAt() throws {
        let result = try judge {
            $0.mark(.foreground, at: 50)
            Self.poll(&$0, at: [55, 60, 65, 70])
        }
        #expect(result.verdict == .pass, "\(result)")
        #expect(
            try judge {
                Self.poll(&$0, at: [30, 40])
                $0.mark(.foreground, at: 45)
                Self.poll(&$0, at: [50, 60])
            }.verdict == .pass)
    }

    @Test func pushAndTheBrowserAreNotTheApp() throws {
        let result = try judge {
            Self.poll(&$0, at: [10, 20, 30], url: "https://1-courier.push.apple.com/x")
            Self.poll(&$0, at: [10, 20, 30], .browser, url: "https://chia.health/poll")
        }
        #expect(result.verdict == .pass, "\(result)")
    }

    @Test func anUnknownPollerIsADoubt() throws {
        #expect(try judge { Self.poll(&$0, at: [10, 20, 30], .nobody) }.reason?.code == "actor-unknown")
    }

    @Test func unreadTrafficIsADoubt() throws {
        #expect(
            try judge {
                $0.dark(.app, "collect.example", at: 10, lastData: 30)
                $0.mark(.foreground, at: 50)
            }.reason?.code == "no-keys")
        #expect(
            try judge {
                $0.mark(.foreground, at: 50)
                $0.dark(.app, "collect.example", at: 51, lastData: 60)
            }.verdict == .pass)
    }

    @Test func aShortAbsenceIsAnAssumption() throws {
        let result = try judge { $0.mark(.foreground, at: 20) }
        #expect(result.assumptions.map(\.code) == ["observed-only"], "\(result)")
    }

    @Test func withoutMarksTheBrowsersPageBeginsTheAbsence() throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        session.browse(ScriptedSession.url, at: 4.5)
        let result = try judge(session) { Self.poll(&$0, at: [10, 20, 30]) }
        #expect(result.verdict == .fail, "\(result)")
        #expect(try judge(session) { _ in }.assumptions.map(\.code).contains("background-by-navigation"))
    }

    @Test func whoNeverLeftTheAppObservesNothing() throws {
        #expect(try judge(.upToTap()) { Self.poll(&$0, at: [10, 20, 30]) }.verdict == .notApplicable)
    }
}
