import SessionTrace
import Testing

@testable import Assertions

/// Taps of which nothing tells what they were on, or whether they were made at all, beside taps that are named.
@Suite struct HR01UnsureTapTests {
    private func judge(_ build: (inout ScriptedSession) -> Void) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        session.policyText += "requests: {home: [\"GET /home\"]}\n"
        build(&session)
        session.mark(.end, at: 90)
        return try session.judge()["HR-01"]
    }

    private static func shared(_ session: inout ScriptedSession) {
        session.tap(.share, at: 22)
        session.share(at: 22.1)
        session.browse(ScriptedSession.url, at: 22.5)
    }

    /// A touch on nobody knows what, a contact two seconds later, and the share tap that is named.
    @Test(arguments: [(10.0, "generic-tap-mark"), (10.001, nil)] as [(Double, String?)])
    func aTouchOnSomethingPermitsNothingWhereTapsAreNamed(touch: Double, code: String?) throws {
        let result = try judge {
            $0.tap(nil, at: touch)
            $0.query("www.chia.health", at: 10)
            Self.shared(&$0)
        }
        #expect(result.reason?.code == code, "\(result)")
        #expect(result.violations.isEmpty == (code != nil), "\(result)")
        #expect(result.verdict == (code == nil ? .fail : .inconclusive), "\(result)")
    }

    @Test func whereNoneIsNamedItStandsForTheShareTap() throws {
        let result = try judge {
            $0.tap(nil, at: 10)
            $0.share(at: 10.1)
            $0.browse(ScriptedSession.url, at: 10.5)
        }
        #expect(result.verdict == .pass, "\(result)")
        let called = try judge {
            $0.tap(.other, at: 9)
            $0.tap(nil, at: 10)
            $0.share(at: 10.1)
            $0.browse(ScriptedSession.url, at: 10.5)
        }
        #expect(called.verdict == .pass, "a call to action is no action: \(called)")
    }

    @Test func whatTheNamedTapPermitsNeedsNoOther() throws {
        let result = try judge {
            $0.tap(nil, at: 10)
            Self.shared(&$0)
        }
        #expect(result.verdict == .pass && result.sentence.hasSuffix("480 ms after the tap"), "\(result)")
    }

    /// What was tapped last is known, and permits nothing.
    @Test func aNamedTapBehindItEndsTheDoubt() throws {
        for target in [Mark.Target.cta, .other] {
            let result = try judge {
                $0.tap(nil, at: 10)
                $0.tap(target, at: 11)
                $0.query("www.chia.health", at: 12)
                Self.shared(&$0)
            }
            #expect(result.violations == ["lookup"], "\(target): \(result)")
        }
    }

    @Test func comingBackEndsTheDoubt() throws {
        let result = try judge {
            $0.tap(nil, at: 10)
            $0.mark(.foreground, at: 11)
            $0.query("www.chia.health", at: 12)
            Self.shared(&$0)
        }
        #expect(result.violations == ["lookup"], "\(result)")
    }

    /// The only tap is one that perhaps was not made.
    @Test func aTapThatPerhapsWasNotMadePermitsNothingByItself() throws {
        func judged(_ attributes: [String: String]) throws -> RuleResult {
            try judge {
                $0.mark(.tap, at: 10, until: 40, attributes: attributes)
                $0.query("www.chia.health", at: 12)
                $0.share(at: 60)
            }
        }
        let unsure = try judged(["uncertain": "true"])
        #expect(unsure.reason?.code == "generic-tap-mark", "\(unsure)")
        #expect(try judged(["uncertain": "false"]).verdict == .pass)
    }
}

/// The same of rules that ask for a tap between two things.
@Suite struct OtherUnsureTapTests {
    /// A second operation after a success: the touch may be its share tap.
    @Test(
        arguments: [(20.0, "generic-tap-mark"), (20.001, nil), (4.1, "generic-tap-mark"), (4.05, nil), (3.9, nil)]
            as [(Double, String?)])
    func aNewOperationMayHaveATap(touch: Double, code: String?) throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.tap(nil, at: touch)
        session.share(at: 4.1)
        session.browse(ScriptedSession.url, at: 4.5)
        session.share(at: 20, key: ScriptedSession.key2, url: ScriptedSession.otherURL)
        session.mark(.end, at: 200)
        let result = try session.judge()["HR-17"]
        #expect(result.reason?.code == code, "\(touch): \(result)")
        #expect(result.violations == (code == nil ? ["operation-without-tap"] : []), "\(result)")
    }

    @Test(arguments: [(9.0, "generic-tap-mark"), (9.001, nil)] as [(Double, String?)])
    func aSessionAfterANeutralTapMayHaveATap(touch: Double, code: String?) throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 1)
        session.tap(.neutral, at: 4)
        session.tap(nil, at: touch)
        session.share(at: 9)
        session.mark(.end, at: 90)
        let result = try session.judge()["HR-25"]
        #expect(result.findings.map(\.kind).contains("session-after-neutral") == (code == nil), "\(result)")
        #expect((result.reason?.code == code) || code == nil, "\(result)")
    }

    /// A connection before the share tap, and a touch before it.
    @Test(arguments: [(10.0, true), (10.001, false)]) func aConnectionMayBeMadeForATouch(touch: Double, isDoubt: Bool)
        throws
    {
        func judge(_ rule: String, named: Bool = true) throws -> RuleResult {
            var session = ScriptedSession.upToTap()
            session.processes[.browser] = ProcessIdentity(source: .pcapdroid, name: "Chrome", userID: 10_100)
            session.mark(.tap, at: touch, attributes: ["uncertain": named ? "false" : "true"])
            session.connect(.browser, "chia.health", at: 10)
            if named { session.tap(.share, at: 22) }
            session.share(at: 22.1)
            let own = session.connect(.browser, "chia.health", at: 22.5)
            session.exchange(.browser, "GET", ScriptedSession.url, at: 22.5, isNavigation: true, on: own)
            session.mark(.end, at: 90)
            return try session.judge()[rule]
        }
        for (rule, kind) in [("HR-04", "before-tap"), ("HR-34", "warmup")] {
            let result = try judge(rule)
            #expect(result.violations == (isDoubt ? [] : [kind]), "\(rule): \(result)")
            #expect((result.reason?.code == "generic-tap-mark") == isDoubt, "\(rule): \(result)")
        }
    }
}

@Suite struct HR02UnsureTapTests {
    private func judge(_ build: (inout ScriptedSession) -> Void) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        build(&session)
        session.mark(.end, at: 90)
        return try session.judge()["HR-02"]
    }

    /// The click on sharing was answered with an error after half a minute, and took effect.
    @Test(arguments: ["true", "false"]) func aClickThatPerhapsWasMadeMayBeTheShareTap(uncertain: String) throws {
        let result = try judge {
            $0.tap(.neutral, at: 5)
            $0.browse(ScriptedSession.neutral, at: 5.4)
            $0.mark(.tap, at: 40, until: 70, attributes: ["uncertain": uncertain])
            $0.share(at: 40.1)
        }
        #expect(result.reason?.code == "generic-tap-mark", "\(result)")
        #expect(result.sentence.contains("100 ms"), "\(result)")
    }

    @Test(arguments: [(40.0, Verdict.inconclusive), (40.001, .fail)])
    func whatComesBehindTheAttemptIsNotItsTap(time: Double, verdict: Verdict) throws {
        let result = try judge {
            $0.tap(.neutral, at: 5)
            $0.mark(.tap, at: time, until: 70, attributes: ["uncertain": "true"])
            $0.share(at: 40)
        }
        #expect(result.verdict == verdict, "\(result)")
    }

    /// The clock of the mark may be late, and so may the person.
    @Test(arguments: [
        (3.0, true, Verdict.inconclusive), (3.001, true, .fail), (0.05, false, .inconclusive), (0.051, false, .fail),
    ])
    func aMarkMayBeLate(by seconds: Double, isByHand: Bool, verdict: Verdict) throws {
        let result = try judge {
            $0.tap(.neutral, at: 5)
            $0.share(at: 40)
            $0.mark(.tap, at: 40 + seconds, by: isByHand ? .person : .script, onTraceClock: isByHand)
        }
        #expect(result.verdict == verdict, "\(result)")
    }

    /// The call to action is what was tapped last: the session came with it, and the share tap later.
    @Test(arguments: [(30.0, Verdict.fail), (10, .inconclusive)])
    func aNamedTapBehindItEndsTheDoubt(latest: Double, verdict: Verdict) throws {
        let result = try judge {
            $0.mark(.tap, at: 10, until: latest == 30 ? 15 : 30, attributes: ["uncertain": "true"])
            $0.tap(.cta, at: 20)
            $0.share(at: 20.1)
            $0.tap(.share, at: 22)
        }
        #expect(result.verdict == verdict, "\(result)")
    }

    /// The last moment of the one that is not sure, and the one that is named.
    @Test(arguments: [(20.0, Verdict.inconclusive), (19.999, .fail)])
    func theDoubtLastsAsLongAsTheTap(latest: Double, verdict: Verdict) throws {
        let result = try judge {
            $0.mark(.tap, at: 10, until: latest, attributes: ["uncertain": "true"])
            $0.tap(.cta, at: 20)
            $0.share(at: 20.1)
            $0.tap(.share, at: 22)
        }
        #expect(result.verdict == verdict, "\(result)")
    }

    /// The resend of an operation that perhaps began with a tap belongs to that tap.
    @Test func aResendIsJudgedAsItsOperation() throws {
        func resend(key: String) throws -> RuleResult {
            try judge {
                $0.tap(.neutral, at: 5)
                $0.tap(nil, at: 10)
                $0.share(at: 10.1, fate: .reset)
                $0.tap(.other, at: 12)
                $0.share(at: 12.1, key: key)
            }
        }
        #expect(try resend(key: ScriptedSession.key1).reason?.code == "generic-tap-mark")
        #expect(try resend(key: ScriptedSession.key2).violations == ["session-before-tap"])
    }

    /// A share tap that is known decides: what was sent before it, with nothing unsure around, was sent before it.
    @Test func theNamedTapStillDecides() throws {
        let early = try judge {
            $0.share(at: 10)
            $0.tap(nil, at: 11)
            $0.tap(.share, at: 22)
        }
        #expect(early.violations == ["session-before-tap"], "\(early)")
        let after = try judge {
            $0.tap(nil, at: 11)
            $0.tap(.share, at: 22)
            $0.share(at: 22.1)
        }
        #expect(after.verdict == .pass, "\(after)")
    }
}

@Suite struct HR04UnsureTapTests {
    /// No tap is sure: a contact before the session request may have come of the one that perhaps was made.
    @Test(arguments: [(10.0, "generic-tap-mark"), (10.001, nil)] as [(Double, String?)])
    func aClickThatPerhapsWasMadePermitsIt(tap: Double, code: String?) throws {
        var session = ScriptedSession()
        session.mark(.launch, at: 0)
        session.mark(.browserClean, at: 0.1)
        session.projection(at: 0.5)
        session.mark(.tap, at: tap, attributes: ["uncertain": "true"])
        session.connect(.app, "chia.health", at: 10)
        session.share(at: 12)
        session.browse(ScriptedSession.url, at: 12.5)
        session.mark(.end, at: 90)
        let result = try session.judge()["HR-04"]
        #expect(result.violations.isEmpty == (code != nil), "\(result)")
        #expect(code == nil || result.reason?.code == code, "\(result)")
    }
}
