import Assertions
import SessionTrace
import Testing

@Suite struct HR06FreshEligibilityAtCTATests {
    /// A card from second 0.5, a CTA tap at 100, a share tap at 104 with its request, and what `build` adds.
    private func judge(
        cta: Mark.Target? = .cta, action: Mark.Target? = .share, by: Mark.Maker = .script, isOnTraceClock: Bool = true,
        actionUntil: Double? = nil, policy: String = "", card: [(String, String)] = [], hasCard: Bool = true,
        isShared: Bool = true, _ build: (inout ScriptedSession) -> Void
    ) throws -> RuleResult {
        var session = ScriptedSession()
        session.policyText += policy
        session.mark(.launch, at: 0)
        if hasCard { session.fetch(at: 0.5, responseHeaders: card) }
        session.mark(.tap, cta, at: 100, by: by, onTraceClock: isOnTraceClock)
        session.mark(.tap, action, at: 104, until: actionUntil, onTraceClock: isOnTraceClock)
        build(&session)
        if isShared { session.share(at: 104.5) }
        session.mark(.end, at: 200)
        return try session.judge()["HR-06"]
    }

    @Test func aProjectionBetweenTheTapsPasses() throws {
        let result = try judge { $0.fetch(at: 100.1) }
        #expect(result.verdict == .pass)
        #expect(result.sentence == "1 call to action, 1 with a projection before the action tap")
        #expect(result.lookedAt.count == 3)
    }

    @Test func withoutOneItFailsAndSaysHowOldTheLastIs() throws {
        let result = try judge { _ in }
        #expect(result.verdict == .fail)
        #expect(result.severity == .error)
        #expect(result.findings.map(\.kind) == ["no-fresh-projection"])
        #expect(
            result.sentence.contains("between the CTA tap and the share tap 4 s later; the last one was 103.4 s old"))
    }

    /// One millisecond either side of each end.
    @Test(arguments: [(99.899, false), (99.9, false), (99.901, true), (103.9, true), (103.901, false)])
    func theEndsAreTheTaps(start: Double, isFresh: Bool) throws {
        #expect((try judge { $0.fetch(at: start) }.verdict == .pass) == isFresh, "\(start)")
    }

    @Test func aClocksBoundIsGivenToTheCTATapAndDoubtedAtTheAction() throws {
        #expect(try judge(isOnTraceClock: false) { $0.fetch(at: 99.86) }.verdict == .pass)
        #expect(try judge(isOnTraceClock: false) { $0.fetch(at: 99.84) }.verdict == .fail)
        #expect(try judge(isOnTraceClock: false) { $0.fetch(at: 103.94) }.reason?.code == "clock-bound")
        #expect(try judge(isOnTraceClock: false) { $0.fetch(at: 103.96) }.verdict == .fail)
        #expect(try judge(actionUntil: 104.4) { $0.fetch(at: 104.2) }.reason?.code == "clock-bound")
    }

    @Test func aHandMadeMarkMayBeLate() throws {
        #expect(try judge(by: .person) { $0.fetch(at: 98) }.reason?.code == "late-mark")
        #expect(try judge(by: .person) { $0.fetch(at: 96) }.verdict == .fail)
        #expect(try judge(by: .person) { $0.fetch(at: 101) }.verdict == .pass)
    }

    @Test func a304IsFreshAndAFailureIsNone() throws {
        #expect(try judge { $0.fetch(at: 100.1, status: 304) }.verdict == .pass)
        #expect(try judge { $0.fetch(at: 100.1, status: 500) }.verdict == .fail)
        #expect(try judge { $0.fetch(at: 100.1, status: 404) }.verdict == .pass, "hidden is an answer too")
    }

    @Test func whatACacheHadStoredBeforeTheTapIsNotFresh() throws {
        let stored = try judge { $0.fetch(at: 100.1, responseHeaders: [("age", "90")]) }
        #expect(stored.verdict == .fail)
        #expect(stored.severity == .warning)
        #expect(stored.findings.map(\.kind) == ["stored-projection"])
        #expect(stored.sentence.contains("stored it 90 s before"))
        // Asked for at 103.8 s, stored 3 or 4 s before: perhaps after the tap.
        #expect(try judge { $0.fetch(at: 103.8, responseHeaders: [("age", "4")]) }.verdict == .pass)
        #expect(try judge { $0.fetch(at: 103.8, responseHeaders: [("age", "5")]) }.verdict == .fail)
        #expect(
            try judge {
                $0.fetch(at: 100.1, responseHeaders: [("age", "90")])
                $0.fetch(at: 102)
            }.verdict == .pass)
    }

    @Test func eligibilityMayBeLocalForAWhile() throws {
        let local = "eligibility: local\n"
        let old = try judge(policy: local) { _ in }
        #expect(old.verdict == .fail)
        #expect(old.severity == .warning)
        let young = try judge(policy: local, card: [("cache-control", "private, max-age=104")]) { _ in }
        #expect(young.verdict == .pass)
        #expect(young.findings.map(\.kind) == ["local-eligibility"])
        #expect(young.sentence == "1 call to action, 0 with a projection before the action tap")
        #expect(try judge(policy: local, card: [("cache-control", "max-age=103")]) { _ in }.verdict == .fail)
        #expect(
            try judge(policy: local, card: [("cache-control", "max-age=104, no-cache")]) { _ in }.verdict == .fail)
        #expect(
            try judge(policy: local, card: [("cache-control", "max-age=120"), ("age", "30")]) { _ in }.verdict == .fail)
        #expect(try judge(policy: local + "timing: {projection-max-age: 104s}\n") { _ in }.verdict == .pass)
        #expect(try judge(policy: "timing: {projection-max-age: 104s}\n") { _ in }.verdict == .fail, "remote")
    }

    @Test func anotherItemsProjectionIsNone() throws {
        #expect(
            try judge { $0.fetch(at: 100.1, item: "item-9999-zzzzzz") }.verdict == .fail)
        // With a name for the item that no projection uses, nothing is decided.
        let other = try judge(hasCard: false) {
            $0.fetch(at: 100.1, body: ScriptedSession.projectionBody(item: nil), path: "/catalog/slug/handoff")
        }
        #expect(other.reason?.code == "policy-mismatch")
    }

    @Test func anotherRequestToThePartnerMayBeTheOne() throws {
        let result = try judge { $0.exchange(.app, "GET", "https://api.partner.example/eligibility/4711", at: 101) }
        #expect(result.reason?.code == "policy-mismatch")
        #expect(
            try judge(policy: "requests: {projection: {path: \"/catalog/{id}/handoff\"}}\n") {
                $0.exchange(.app, "GET", "https://api.partner.example/eligibility/4711", at: 101)
            }.verdict == .fail)
        for (status, time, method, host) in [
            (500, 101.0, "GET", "api.partner.example"), (200, 99.0, "GET", "api.partner.example"),
            (200, 103.95, "GET", "api.partner.example"), (200, 101, "HEAD", "api.partner.example"),
            (200, 101, "OPTIONS", "api.partner.example"), (200, 101, "GET", "images.example"),
        ] {
            let other = try judge {
                $0.exchange(.app, method, "https://\(host)/eligibility", at: time, status: status)
            }
            #expect(other.verdict == .fail, "\(status) \(time) \(method) \(host)")
        }
        #expect(
            try judge { $0.exchange(.browser, "GET", "https://api.partner.example/eligibility", at: 101) }.verdict
                == .fail)
    }

    @Test func withoutAProjectionAnywhereItIsNotDecided() throws {
        #expect(try judge(hasCard: false) { _ in }.reason?.code == "policy-mismatch")
        let named = try judge(policy: "requests: {projection: {path: \"/items/{id}\"}}\n", hasCard: false) { _ in }
        #expect(named.verdict == .fail)
        #expect(named.sentence.contains("none came before either"))
    }

    @Test func unreadPartnerTrafficMayHoldIt() throws {
        #expect(
            try judge { $0.dark(.app, "api.partner.example", at: 100, lastData: 103) }.reason?.code == "no-keys")
    }

    // MARK: marks

    @Test func withoutCTAMarksItIsNotDecided() throws {
        var session = ScriptedSession()
        session.fetch(at: 0.5)
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        #expect(try session.judge()["HR-06"].reason?.code == "no-cta-mark")
        session = ScriptedSession()
        session.fetch(at: 0.5)
        session.share(at: 4.1)
        #expect(try session.judge()["HR-06"].sentence == "no tap is marked")
        session = ScriptedSession()
        session.fetch(at: 0.5)
        session.tap(nil, at: 2)
        session.tap(nil, at: 4)
        session.share(at: 4.1)
        #expect(try session.judge()["HR-06"].reason?.code == "no-cta-mark", "only one kind of tap")
    }

    @Test func aTapWithoutATargetMakesItAWarning() throws {
        let asCTA = try judge(cta: nil) { _ in }
        #expect(asCTA.verdict == .fail)
        #expect(asCTA.severity == .warning)
        let asAction = try judge(action: nil) { _ in }
        #expect(asAction.severity == .warning)
        #expect(asAction.sentence.contains("the next tap 4 s later"))
        #expect(try judge(cta: nil) { $0.fetch(at: 101) }.verdict == .pass)
    }

    @Test func aCallToActionOfWhichNothingCameIsNotJudged() throws {
        #expect(try judge(isShared: false) { _ in }.verdict == .notApplicable)
        #expect(try ScriptedSession.upToTap().judge()["HR-06"].verdict == .notApplicable)
    }

    @Test func theNeutralWayAsksTooAndWithoutAnActionTapTheConsequenceCounts() throws {
        func neutral(_ fetch: Double) throws -> RuleResult {
            var session = ScriptedSession()
            session.fetch(at: 0.5)
            session.tap(.cta, at: 100)
            session.fetch(at: fetch)
            session.browse(ScriptedSession.neutral, at: 104)
            session.mark(.end, at: 200)
            return try session.judge()["HR-06"]
        }
        #expect(try neutral(101).verdict == .pass)
        #expect(try neutral(104.1).verdict == .fail)
        #expect(try neutral(104.1).sentence.contains("and what followed 4 s later"))
    }

    @Test func eachCallToActionIsJudgedAndADoubleTapIsOne() throws {
        var session = ScriptedSession()
        session.fetch(at: 0.5)
        for start in [10.0, 100] {
            session.tap(.cta, at: start)
            session.tap(.cta, at: start + 0.3)
            if start == 10 { session.fetch(at: start + 1) }
            session.tap(.neutral, at: start + 4)
            session.browse(ScriptedSession.neutral, at: start + 4.5)
        }
        session.mark(.end, at: 200)
        let result = try session.judge()["HR-06"]
        #expect(result.findings.count == 1)
        #expect(result.findings[0].evidence[0].span.earliest == ScriptedSession.instant(100))
        #expect(result.sentence.contains("4 s later; the last one was 92.9 s old"))
    }

    @Test func marksThatContradictEachOtherDecideNothing() throws {
        var session = ScriptedSession()
        session.unreadableMarks = ["packet 7"]
        session.fetch(at: 0.5)
        session.tap(.cta, at: 100)
        session.tap(.share, at: 104)
        session.share(at: 104.5)
        #expect(try session.judge()["HR-06"].reason?.code == "unreadable-mark")
    }
}

/// Many calls to action over many projections are judged in bounded time.
@Suite struct ManyProjectionsTests {
    @Test(.timeLimit(.minutes(1))) func manyCallsToActionOverManyProjections() throws {
        var session = ScriptedSession()
        let list = "[\((0..<20).map { ScriptedSession.projectionBody(item: "item-\($0)") }.joined(separator: ","))]"
        for number in 0..<40 {
            let time = 10 * Double(number)
            session.fetch(at: time, body: list, path: "/home?page=\(number)")
            session.tap(.cta, at: time + 1)
            session.tap(.neutral, at: time + 3)
            session.browse(ScriptedSession.neutral, at: time + 3.5)
        }
        session.mark(.end, at: 500)
        let verdict = try session.judge()
        #expect(verdict["HR-06"].verdict == .fail)
        #expect(verdict["HR-25"].verdict == .pass)
    }

    @Test func aFullBookLeavesNoPass() throws {
        var session = ScriptedSession.upToTap()
        session.options.limits.projectionSightings = 2
        #expect(try session.judge()["HR-24"].verdict == .notApplicable)
        session.fetch(at: 2.5)
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        let result = try session.judge()["HR-24"]
        #expect(result.reason?.code == "state-given-up")
        #expect(result.sentence.contains("projections by item"))
    }
}
