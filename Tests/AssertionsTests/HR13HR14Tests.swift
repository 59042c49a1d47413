import Assertions
import SessionTrace
import Testing

@Suite struct HR13SameKeySameBodyTests {
    private func judge(
        status: Int = 503, fate: ScriptedSession.Fate = .answered, _ retry: (inout ScriptedSession) -> Void
    ) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, status: status, fate: fate)
        retry(&session)
        session.mark(.end, at: 90)
        return try session.judge()["HR-13"]
    }

    @Test func theSameBytesPass() throws {
        let result = try judge { $0.share(at: 5) }
        #expect(result.verdict == .pass)
        #expect(result.sentence.contains("1 retry"))
        #expect(result.sentence.contains("\(ScriptedSession.body.utf8.count) content bytes"))
    }

    @Test func aRestampedBodyFailsAndSaysWhere() throws {
        let result = try judge { $0.share(at: 5, body: ScriptedSession.body.replacing("12:00:03Z", with: "12:00:07Z")) }
        #expect(result.findings.contains { $0.kind == "body-differs" && $0.message.contains("/affirmedAt") })
        #expect(!result.findings.contains { $0.message.contains("12:00:07") }, "values are hashed")
    }

    @Test func anotherOrderOfMembersFails() throws {
        let result = try judge {
            $0.share(
                at: 5,
                body:
                    #"{"disclosureVersion":"2026-03","catalogId":"item-4711-abcdef","affirmed":true,"affirmedAt":"2026-11-29T12:00:03Z"}"#
            )
        }
        #expect(result.verdict == .fail)
        #expect(result.sentence.contains("order, spacing"))
    }

    @Test func anotherContentTypeFails() throws {
        #expect(
            try judge { $0.share(at: 5, headers: [("content-type", "text/plain")]) }.findings.contains {
                $0.kind == "content-type-differs"
            })
    }

    @Test func anotherQueryFails() throws {
        #expect(
            try judge { $0.share(at: 5, path: "/handoff-session?attempt=2") }.findings.contains {
                $0.kind == "address-differs"
            })
    }

    @Test func headersThatMayChangeAreInformation() throws {
        let result = try judge {
            $0.share(at: 5, headers: [("authorization", "Bearer new"), ("traceparent", "00-1-2-01")])
        }
        #expect(result.verdict == .pass)
        #expect(result.findings.contains { $0.kind == "header-differs" && $0.severity == .info })
        #expect(!result.findings.contains { $0.message.contains("Bearer") })
    }

    @Test func aBrokenUploadIsComparedAsFarAsItGoes() throws {
        let half = String(ScriptedSession.body.prefix(40))
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, body: half, fate: .reset, bodyIsComplete: false)
        session.share(at: 5)
        var result = try session.judge()["HR-13"]
        #expect(result.verdict == .pass)
        #expect(result.findings.contains { $0.kind == "prefix-match" })
        session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, body: half.replacing("item", with: "ITEM"), fate: .reset, bodyIsComplete: false)
        session.share(at: 5)
        result = try session.judge()["HR-13"]
        #expect(result.verdict == .fail)
        session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, body: half, fate: .notSeen, bodyIsComplete: false)
        session.share(at: 5)
        #expect(try session.judge()["HR-13"].reason?.code == "body-not-whole")
    }

    @Test func withoutARetryItIsNotApplicable() throws {
        #expect(try judge(status: 201) { _ in }.verdict == .notApplicable)
    }

    @Test func keylessRetriesAreNotDecided() throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, key: nil, status: 503)
        session.share(at: 5, key: nil)
        let verdict = try session.judge()
        #expect(verdict["HR-13"].reason?.code == "no-key")
        #expect(verdict["HR-14"].findings.contains { $0.kind == "key-dropped" })
        #expect(verdict["HR-11"].verdict == .fail)
    }
}

@Suite struct HR14UncertainKeepsKeyTests {
    private func judge(
        status: Int = 503, fate: ScriptedSession.Fate = .answered, _ next: (inout ScriptedSession) -> Void
    ) throws -> RuleResult {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, status: status, fate: fate)
        next(&session)
        session.mark(.end, at: 90)
        return try session.judge()["HR-14"]
    }

    @Test(arguments: [(503, ScriptedSession.Fate.answered), (429, .answered), (0, .reset), (201, .lost)])
    func aNewKeyAfterAnUncertainEndFails(status: Int, fate: ScriptedSession.Fate) throws {
        let result = try judge(status: status, fate: fate) {
            $0.tap(.share, at: 8)
            $0.share(at: 8.1, key: ScriptedSession.key2)
        }
        #expect(result.findings.contains { $0.kind == "new-key" })
        #expect(result.findings[0].evidence.count == 2)
    }

    @Test func theKeyOutlivesARelaunch() throws {
        func relaunched(_ key: String) throws -> RuleResult {
            try judge {
                $0.mark(.kill, at: 6)
                $0.mark(.launch, at: 8)
                $0.tap(.share, at: 10)
                $0.share(at: 10.1, key: key)
            }
        }
        #expect(try relaunched(ScriptedSession.key1).verdict == .pass)
        #expect(try relaunched(ScriptedSession.key2).verdict == .fail)
    }

    @Test func anotherAccountIsAnotherUser() throws {
        var session = ScriptedSession()
        session.mark(.launch, at: 0, attributes: ["account": "a"])
        session.tap(.share, at: 4)
        session.share(at: 4.1, status: 503)
        session.mark(.launch, at: 6, attributes: ["account": "b"])
        session.tap(.share, at: 8)
        session.share(at: 8.1, key: ScriptedSession.key2)
        #expect(try session.judge()["HR-14"].verdict == .notApplicable)
    }

    /// What a broken upload shows is equal, but two whole bodies after it are not.
    @Test func aRetryIsComparedWithTheFirstWholeBodyToo() throws {
        func retried(_ third: String) throws -> RuleResult {
            var session = ScriptedSession.upToTap()
            session.tap(.share, at: 4)
            session.share(
                at: 4.1, body: String(ScriptedSession.body.prefix(12)), fate: .reset, bodyIsComplete: false)
            session.share(at: 6, status: 503)
            session.share(at: 8, body: third)
            session.mark(.end, at: 90)
            return try session.judge()["HR-13"]
        }
        #expect(try retried(ScriptedSession.body).violations == [])
        let other = try retried(String(ScriptedSession.body.dropLast()) + #","extra":1}"#)
        #expect(other.violations == ["body-differs"], "\(other)")
    }

    @Test func theNeutralChoiceEndsTheOperation() throws {
        let result = try judge {
            $0.tap(.neutral, at: 6)
            $0.browse(ScriptedSession.neutral, at: 6.2)
            $0.tap(.share, at: 30)
            $0.share(at: 30.1, key: ScriptedSession.key2)
        }
        #expect(result.verdict == .pass)
        #expect(result.findings.contains { $0.kind == "operation-ended" && $0.message.contains("neutral") })
    }

    /// While the request is under way (from 4.1 for 2 s) the neutral action is disabled: it ends the operation only where its
    /// URL was opened, or may have been.
    @Test(
        arguments: [
            (6.1, false, false, true), (6.099, false, false, false), (5, true, false, true), (5, false, true, true),
            (4.1, true, false, true), (4.099, true, false, false),
        ] as [(Double, Bool, Bool, Bool)])
    func aNeutralTapInFlightEndsNothingByItself(time: Double, isOpened: Bool, isDark: Bool, ends: Bool) throws {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, status: 503, took: 2)
        session.tap(.neutral, at: time)
        if isOpened { session.browse(ScriptedSession.neutral, at: time + 0.2) }
        if isDark { session.dark(.browser, "chia.health", at: time + 0.1, lastData: time + 1) }
        session.tap(.share, at: 30)
        session.share(at: 30.1, key: ScriptedSession.key2)
        session.mark(.end, at: 90)
        let result = try session.judge()["HR-14"]
        #expect(result.findings.contains { $0.kind == "operation-ended" } == ends, "\(result)")
    }

    @Test func aWithdrawnProjectionEndsItUnlessThePolicySaysOtherwise() throws {
        let story: (inout ScriptedSession) -> Void = {
            $0.projection(at: 6, mode: "neutral_only")
            $0.projection(at: 20)
            $0.tap(.share, at: 30)
            $0.share(at: 30.1, key: ScriptedSession.key2)
        }
        #expect(try judge(story).verdict == .pass)
        #expect(
            try judge {
                $0.policyText += "requests: {session: {abandon-on: [disclosure-version]}}\n"
                story(&$0)
            }.verdict == .fail)
    }

    @Test func aNewDisclosureVersionEndsItAndTheOldKeyStaysAway() throws {
        let newer = ScriptedSession.body.replacing("2026-03", with: "2026-04")
        #expect(
            try judge {
                $0.tap(.share, at: 8)
                $0.share(at: 8.1, key: ScriptedSession.key2, body: newer)
            }.verdict == .pass)
        let back = try judge {
            $0.tap(.share, at: 8)
            $0.share(at: 8.1, key: ScriptedSession.key2, body: newer, status: 422)
            $0.tap(.share, at: 12)
            $0.share(at: 12.1)
        }
        #expect(back.findings.contains { $0.kind == "abandoned-key-returns" })
    }

    @Test func aRejectionOrStatusThatAllowsBothDiscardsFreely() throws {
        for status in [422, 409] {
            let result = try judge(status: status) {
                $0.tap(.share, at: 8)
                $0.share(at: 8.1, key: ScriptedSession.key2)
            }
            #expect(result.verdict == .notApplicable)
        }
    }

    @Test func thePolicyNamesTheStatuses() throws {
        let result = try judge(status: 423) {
            $0.policyText += "outcomes: {either: [423]}\n"
            $0.share(at: 8.1, key: ScriptedSession.key2)
        }
        #expect(result.verdict == .notApplicable)
    }

    @Test func anEndThatWasNotSeenIsNotDecided() throws {
        #expect(
            try judge(fate: .notSeen) {
                $0.tap(.share, at: 8)
                $0.share(at: 8.1, key: ScriptedSession.key2)
            }.reason?.code == "outcome-not-seen")
    }

    @Test func anUnknownDeliveryIsNotDecided() throws {
        #expect(
            try judge(status: 201, fate: .deliveryUnknown) { $0.share(at: 8.1, key: ScriptedSession.key2) }
                .reason?.code == "delivery-unknown")
    }

    @Test func beyondTheHorizonItIsNotDecided() throws {
        let result = try judge {
            $0.policyText += "timing: {retry-horizon: 3s}\n"
            $0.tap(.share, at: 8)
            $0.share(at: 8.1, key: ScriptedSession.key2)
        }
        #expect(result.reason?.code == "retry-horizon")
    }

    @Test func withoutItemsItIsNotDecidedAcrossTaps() throws {
        let bare = #"{"affirmed":true}"#
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, body: bare, status: 503)
        session.tap(.share, at: 8)
        session.share(at: 8.1, key: ScriptedSession.key2, body: bare)
        #expect(try session.judge()["HR-14"].reason?.code == "policy-mismatch")
    }

    @Test func withoutAnAttemptAfterItItIsNotApplicable() throws {
        #expect(try judge { _ in }.verdict == .notApplicable)
    }
}
