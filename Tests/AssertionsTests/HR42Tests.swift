import Assertions
import SessionTrace
import Testing

@Suite struct HR42RefreshOnForegroundTests {
    private func judge(
        _ session: ScriptedSession = .inTheBrowser(), end: Double = 100, _ story: (inout ScriptedSession) -> Void
    ) throws -> RuleResult {
        try ScriptedSession.result("HR-42", session, end: end, story)
    }

    @Test func aProjectionAfterComingBackPasses() throws {
        let result = try judge {
            $0.mark(.foreground, at: 50)
            $0.projection(at: 50.2)
        }
        #expect(result.verdict == .pass, "\(result)")
        #expect(result.sentence.contains("1 time back") && result.sentence.contains("300 ms"), "\(result.sentence)")
    }

    /// The same session, with the request just inside and just outside the five seconds.
    @Test func fiveSecondsAreAllowed() throws {
        let inTime = try judge {
            $0.mark(.foreground, at: 50)
            $0.projection(at: 54.899)
        }
        #expect(inTime.verdict == .pass, "\(inTime)")
        let late = try judge {
            $0.mark(.foreground, at: 50)
            $0.projection(at: 55.001)
        }
        #expect(late.violations == ["no-refresh"], "\(late)")
        #expect(late.sentence.contains("5 s allowed") && late.findings[0].evidence.count == 2)
    }

    @Test func thePolicySaysHowSoon() throws {
        var session = ScriptedSession.inTheBrowser()
        session.policyText += "\ntiming: {refresh: 1s}"
        for (time, verdict) in [(50.85, Verdict.pass), (51.1, .fail)] {
            let result = try judge(session, end: 52) {
                $0.mark(.foreground, at: 50)
                $0.projection(at: time)
            }
            #expect(result.verdict == verdict, "\(time): \(result)")
        }
    }

    @Test func noProjectionFails() throws {
        let result = try judge { $0.mark(.foreground, at: 50) }
        #expect(
            result.verdict == .fail && result.severity == .error && result.violations == ["no-refresh"], "\(result)")
    }

    @Test func theRestoredViewOfARelaunchedAppMustRefreshToo() throws {
        let story = { (session: inout ScriptedSession) -> Void in
            session.mark(.kill, at: 40)
            session.mark(.launch, at: 49)
            session.mark(.restore, at: 50)
        }
        #expect(try judge { story(&$0) }.violations == ["no-refresh"])
        #expect(
            try judge {
                story(&$0)
                $0.projection(at: 51)
            }.verdict == .pass)
    }

    @Test func eachComingBackCounts() throws {
        let result = try judge {
            $0.mark(.foreground, at: 50)
            $0.projection(at: 50.2)
            $0.mark(.background, at: 60)
            $0.mark(.foreground, at: 70)
        }
        #expect(result.verdict == .fail, "\(result)")
    }

    @Test func aFreshCopyFromTheCacheIsCalledSo() throws {
        let story = { (session: inout ScriptedSession, age: String) -> Void in
            session.exchange(
                .app, "GET", "https://api.partner.example/catalog/item-4711-abcdef/handoff", at: 3,
                response: #"{"handoff":{"mode":"neutral_only","url":"https://chia.health/start"}}"#,
                responseHeaders: [("cache-control", "private, max-age=\(age)")])
            session.mark(.foreground, at: 50)
        }
        let cached = try judge { story(&$0, "600") }
        #expect(cached.violations == ["cached"] && cached.sentence.contains("10 min"), "\(cached)")
        #expect(try judge { story(&$0, "46") }.violations == ["no-refresh"])
    }

    @Test func notModifiedCounts() throws {
        let result = try judge {
            $0.mark(.foreground, at: 50)
            $0.exchange(
                .app, "GET", "https://api.partner.example/catalog/item-4711-abcdef/handoff", at: 50.2, status: 304)
        }
        #expect(result.verdict == .pass, "\(result)")
    }

    @Test func whatTheAppAskedForInVainIsNotItsFault() throws {
        for (fate, status) in [(ScriptedSession.Fate.reset, 200), (.answered, 503), (.notSeen, 200)] {
            let result = try judge {
                $0.mark(.foreground, at: 50)
                $0.exchange(
                    .app, "GET", "https://api.partner.example/catalog/item-4711-abcdef/handoff", at: 50.2,
                    status: status, fate: fate)
            }
            #expect(result.reason?.code == "refresh-unanswered", "\(fate): \(result)")
        }
        let slow = try judge {
            $0.mark(.foreground, at: 50)
            $0.exchange(
                .app, "GET", "https://api.partner.example/catalog/item-4711-abcdef/handoff", at: 52, took: 4)
        }
        #expect(slow.reason?.code == "refresh-unanswered", "\(slow)")
    }

    @Test func anotherItemsProjectionShowsNothing() throws {
        let result = try judge {
            $0.mark(.foreground, at: 50, attributes: ["item": "item-4711-abcdef"])
            $0.projection(at: 50.2, item: "item-9999-zyxwvu")
        }
        #expect(result.violations == ["no-refresh"], "\(result)")
        let own = try judge {
            $0.mark(.foreground, at: 50, attributes: ["item": "item-4711-abcdef"])
            $0.projection(at: 50.2)
        }
        #expect(own.verdict == .pass)
    }

    // MARK: no item on the screen

    @Test func theGenericReturnLeadsHome() throws {
        for distance in [-1.0, 1.0] {
            let result = try judge {
                $0.mark(.return, at: 50 + distance)
                $0.mark(.foreground, at: 50)
            }
            #expect(result.verdict == .notApplicable && result.sentence.contains("led home"), "\(distance): \(result)")
        }
        let later = try judge {
            $0.mark(.foreground, at: 50)
            $0.mark(.return, at: 53)
        }
        #expect(later.verdict != .notApplicable, "a return that came later led nowhere before")
    }

    @Test func theMarkSaysWhatIsOnTheScreen() throws {
        #expect(try judge { $0.mark(.foreground, at: 50, attributes: ["screen": "cart"]) }.verdict == .notApplicable)
        #expect(
            try judge {
                $0.mark(.return, at: 49)
                $0.mark(.foreground, at: 50, attributes: ["screen": "item"])
            }.verdict == .fail)
    }

    @Test func withoutAnItemThereIsNothingToRefresh() throws {
        var session = ScriptedSession()
        session.policyText = ScriptedSession.returnPolicy
        session.mark(.launch, at: 0)
        session.exchange(.app, "GET", "https://api.partner.example/home", at: 1)
        let result = try judge(session) {
            $0.mark(.background, at: 5)
            $0.mark(.foreground, at: 20)
        }
        #expect(result.verdict == .notApplicable, "\(result)")
    }

    @Test func aLaunchAheadOfTimeIsNoComingBack() throws {
        #expect(try judge { $0.mark(.launch, at: 50) }.verdict == .notApplicable)
        #expect(
            try judge { $0.mark(.foreground, at: 50, attributes: ["prewarm": "true"]) }.verdict == .notApplicable)
    }

    // MARK: what can't be told

    @Test func withoutNetworkNothingCanBeFetched() throws {
        #expect(
            try judge {
                $0.mark(.netOff, at: 40)
                $0.mark(.foreground, at: 50)
                $0.mark(.netOn, at: 70)
            }.reason?.code == "offline")
        #expect(
            try judge {
                $0.mark(.netOff, at: 40)
                $0.mark(.netOn, at: 45)
                $0.mark(.foreground, at: 50)
            }.verdict == .fail)
        #expect(
            try judge {
                $0.mark(.foreground, at: 50)
                $0.mark(.netOff, at: 56)
            }.verdict == .fail)
    }

    @Test func whoLeavesAgainHadNoTime() throws {
        #expect(
            try judge {
                $0.mark(.foreground, at: 50)
                $0.mark(.background, at: 51)
            }.reason?.code == "left-again")
        #expect(
            try judge {
                $0.mark(.foreground, at: 50)
                $0.mark(.background, at: 56)
            }.verdict == .fail)
        #expect(
            try judge {
                $0.mark(.foreground, at: 50)
                $0.tap(.cta, at: 51)
            }.verdict == .fail, "a tap does not leave the app")
    }

    @Test func theTraceMustGoOn() throws {
        #expect(try judge(end: 53) { $0.mark(.foreground, at: 50) }.reason?.code == "trace-ended")
        #expect(try judge(end: 56) { $0.mark(.foreground, at: 50) }.verdict == .fail)
    }

    @Test func aProjectionThatNobodyKnowsCantBeMissed() throws {
        var session = ScriptedSession()
        session.policyText = ScriptedSession.returnPolicy
        session.mark(.launch, at: 0)
        session.mark(.render, at: 1)
        session.exchange(.app, "GET", "https://api.partner.example/items/1", at: 1)
        let result = try judge(session) { $0.mark(.foreground, at: 50) }
        #expect(result.reason?.code == "policy-mismatch" && result.reason?.remedy.contains("projection") == true)
    }

    @Test func unreadTrafficOfThePartnerMayHoldIt() throws {
        #expect(
            try judge {
                $0.mark(.foreground, at: 50)
                $0.dark(.app, "api.partner.example", at: 49, lastData: 51)
            }.reason?.code == "no-keys")
        #expect(
            try judge {
                $0.mark(.foreground, at: 50)
                $0.dark(.app, "api.partner.example", at: 10, lastData: 12)
            }.verdict == .fail, "it was over before")
        #expect(
            try judge {
                $0.mark(.foreground, at: 50)
                $0.dark(.app, "cdn.example", at: 49, lastData: 51)
            }.verdict == .fail, "another host's")
    }

    @Test func aHandMadeMarkMayBeLate() throws {
        #expect(
            try judge {
                $0.projection(at: 49.2)
                $0.mark(.foreground, at: 50, by: .person)
            }.verdict == .pass, "within the three seconds before it")
        #expect(
            try judge {
                $0.mark(.foreground, at: 50, by: .person)
                $0.projection(at: 64)
            }.verdict == .pass, "the key is pressed before the act")
    }
}
