import Assertions
import SessionTrace
import Testing

@Suite struct HR41UnsafeEvidenceFailsSafeTests {
    private static let path = ProjectionStory.path
    private static let share = ScriptedSession.shareDecision
    private static let neutral = ScriptedSession.neutralDecision

    /// A valid projection at 1 s, then what `build` adds, to 90 s.
    private func judge(_ build: (inout ProjectionStory) -> Void) throws -> RuleResult {
        var story = ProjectionStory()
        story.answer(Self.share)
        build(&story)
        return try story.judge()["HR-41"]
    }

    private func afterwards(_ unsafe: (inout ProjectionStory) -> Void) throws -> RuleResult {
        try judge { story in
            unsafe(&story)
            story.session.tap(.share, at: 4)
            story.session.share(at: 4.1)
        }
    }

    @Test func validProjectionsAreNothingToJudge() throws {
        #expect(try afterwards { _ in }.verdict == .notApplicable)
        #expect(try ScriptedSession.conformingShare().judge()["HR-41"].verdict == .notApplicable)
    }

    @Test(arguments: [404, 500, 503, 401]) func aShareAfterAnErrorFails(status: Int) throws {
        let result = try afterwards { $0.session.exchange(.app, "GET", Self.path, at: 3, status: status) }
        #expect(result.verdict == .fail, "\(result)")
        #expect(result.findings.map(\.kind) == ["share-on-unsafe-evidence"])
        #expect(result.sentence == "attempt 1 came 1 s after a projection that was answered \(status)")
        #expect(result.findings[0].evidence.count == 2)
    }

    @Test func noShareAfterAnErrorPasses() throws {
        let result = try judge { $0.session.exchange(.app, "GET", Self.path, at: 3, status: 500) }
        #expect(result.verdict == .pass, "\(result)")
        #expect(result.sentence == "1 projection that no share may rest on, and no share after it")
        #expect(result.lookedAt.map(\.place) == ["answered 500"])
    }

    @Test func aValidProjectionInBetweenMakesItGood() throws {
        let result = try afterwards {
            $0.session.exchange(.app, "GET", Self.path, at: 2, status: 500)
            $0.answer(Self.share, at: 3)
        }
        #expect(result.verdict == .pass, "\(result)")
    }

    @Test func aNeutralDecisionInBetweenDoesNot() throws {
        let result = try afterwards {
            $0.session.exchange(.app, "GET", Self.path, at: 2, status: 500)
            $0.answer(Self.neutral, at: 3)
        }
        #expect(result.verdict == .fail)
    }

    @Test func neitherDoesACopyThatIsCurrent() throws {
        let result = try afterwards {
            $0.session.exchange(.app, "GET", Self.path, at: 2, status: 500)
            $0.session.exchange(.app, "GET", Self.path, at: 3, status: 304)
        }
        #expect(result.verdict == .fail)
    }

    @Test func aCurrentCopyAloneIsNoFault() throws {
        #expect(
            try afterwards { $0.session.exchange(.app, "GET", Self.path, at: 3, status: 304) }.verdict == .notApplicable
        )
        #expect(
            try afterwards { $0.session.exchange(.app, "GET", Self.path, at: 3, status: 302) }.verdict == .notApplicable
        )
    }

    @Test(arguments: ["", "<html>", "{", #"{"handoff":{"mode":"neutral_only"}"#]) func noJSONIsUnsafe(body: String)
        throws
    {
        let result = try afterwards { $0.session.exchange(.app, "GET", Self.path, at: 3, response: body) }
        #expect(result.verdict == .fail, "\(result)")
        #expect(result.sentence.contains("no JSON"))
    }

    @Test(arguments: ["{}", #"{"handoff":null}"#, #"{"id":"another","handoff":{"mode":"neutral_only"}}"#])
    func noDecisionForTheItemIsUnsafe(body: String) throws {
        let result = try afterwards { $0.session.exchange(.app, "GET", Self.path, at: 3, response: body) }
        #expect(result.verdict == .fail, "\(result)")
        #expect(result.sentence.contains("without a decision"))
    }

    @Test(arguments: [ScriptedSession.Fate.reset]) func noAnswerIsUnsafe(fate: ScriptedSession.Fate) throws {
        let result = try afterwards { $0.answer(Self.share, at: 3, fate: fate) }
        #expect(result.verdict == .fail)
        #expect(result.sentence.contains("never answered in full"))
    }

    @Test func aModeOfNobodysIsUnsafe() throws {
        let decision = Self.share.split(separator: "share_or_neutral", omittingEmptySubsequences: false).joined(
            separator: "share_only")
        let result = try afterwards { $0.answer(decision, at: 3) }
        #expect(result.verdict == .fail)
        #expect(result.sentence.contains("unsupported: /handoff/mode is \"share_only\""), "\(result.sentence)")
    }

    @Test func aFurtherMemberIsNot() throws {
        let decision = Self.share.split(separator: "\"purpose\":", omittingEmptySubsequences: false).joined(
            separator: "\"priority\":1,\"purpose\":")
        #expect(try afterwards { $0.answer(decision, at: 3) }.verdict == .notApplicable)
    }

    @Test(arguments: [
        #""evidence":"stale","#, #""evidence":"Missing","#, #""serviceState":{"status":"unsupported"},"#,
        #""service_state":{"freshness":"expired"},"#, #""evidence":null,"#, #""stale":true,"#,
        #""stateEvidence":"unverified","#,
    ]) func whatSaysSoItselfIsUnsafe(item: String) throws {
        let result = try afterwards { $0.answer(Self.share, item: item, at: 3) }
        #expect(result.verdict == .fail, "\(result)")
        #expect(result.sentence.contains("marked "))
    }

    @Test(arguments: [
        #""evidence":"current","#, #""evidence":{"status":"fresh"},"#, #""stale":false,"#, #""stock":"missing","#,
        #""serviceState":{"note":"stale"},"#, #""evidence":7,"#,
    ]) func whatSaysOtherwiseIsNot(item: String) throws {
        #expect(try afterwards { $0.answer(Self.share, item: item, at: 3) }.verdict == .notApplicable)
    }

    @Test func thePolicyNamesWhereItIsSaid() throws {
        let item = #""meta":{"proof":"stale"},"#
        #expect(try afterwards { $0.answer(Self.share, item: item, at: 3) }.verdict == .notApplicable)
        let result = try afterwards {
            $0.session.policyText += "fields: {evidence: /meta/proof}\n"
            $0.answer(Self.share, item: item, at: 3)
        }
        #expect(result.verdict == .fail)
    }

    @Test func aWarningFieldSaysSo() throws {
        #expect(
            try afterwards { $0.answer(Self.share, at: 3, headers: [("warning", "110 - \"Response is Stale\"")]) }
                .verdict
                == .fail)
        #expect(
            try afterwards { $0.answer(Self.share, at: 3, headers: [("warning", "214 - x")]) }.verdict == .notApplicable
        )
    }

    @Test func anotherItemIsAnotherMatter() throws {
        let result = try afterwards {
            $0.session.exchange(.app, "GET", "https://api.partner.example/catalog/item-2/handoff", at: 3, status: 500)
        }
        #expect(result.verdict == .pass, "\(result)")
    }

    @Test func oneOfSeveralItemsIsAnotherMatter() throws {
        let result = try afterwards {
            $0.session.exchange(
                .app, "GET", "https://api.partner.example/home", at: 3,
                response:
                    #"{"items":[{"id":"b","handoff":{"mode":"neutral_only"}},{"id":"item-4711-abcdef","handoff":\#(Self.share)}]}"#
            )
        }
        #expect(result.verdict == .pass, "\(result)")
    }

    @Test func aResendOfAnEarlierOperationIsTheSameShare() throws {
        let result = try judge {
            $0.session.tap(.share, at: 4)
            $0.session.share(at: 4.1, status: 503)
            $0.session.exchange(.app, "GET", Self.path, at: 5, status: 500)
            $0.session.share(at: 6)
        }
        #expect(result.verdict == .pass, "\(result)")
        #expect(result.findings.map(\.kind) == ["earlier-operation"])
        let other = try judge {
            $0.session.tap(.share, at: 4)
            $0.session.share(at: 4.1, status: 503)
            $0.session.exchange(.app, "GET", Self.path, at: 5, status: 500)
            $0.session.share(at: 6, key: ScriptedSession.key2)
        }
        #expect(other.verdict == .fail)
    }

    // 50 ms either side of the race.

    @Test(arguments: [(0.04, Verdict.inconclusive), (0.06, Verdict.fail)]) func aRequestThatCrossesIsNotDecided(
        gap: Double, verdict: Verdict
    ) throws {
        let result = try judge {
            $0.session.tap(.share, at: 2.9)
            $0.session.exchange(.app, "GET", Self.path, at: 3, took: 0.1, status: 500)
            let other = $0.session.connect(.app, "api.partner.example", at: 2.8)
            $0.session.share(at: 3.1 + gap, on: other)
        }
        #expect(result.verdict == verdict, "\(result)")
        if verdict == .inconclusive { #expect(result.reason?.code == "projection-race") }
    }

    @Test func onOneConnectionNothingCrosses() throws {
        let result = try judge {
            $0.session.exchange(.app, "GET", Self.path, at: 3, took: 0.1, status: 500)
            $0.session.share(at: 3.11)
        }
        #expect(result.verdict == .fail)
    }

    @Test func aTapInBetweenTellsThatItWasRead() throws {
        let result = try judge {
            $0.session.exchange(.app, "GET", Self.path, at: 3, took: 0.1, status: 500)
            $0.session.tap(.share, at: 3.105)
            let other = $0.session.connect(.app, "api.partner.example", at: 2.8)
            $0.session.share(at: 3.11, on: other)
        }
        #expect(result.verdict == .fail)
    }

    @Test func anAnswerThatCameAfterTheRequestIsNone() throws {
        let result = try judge {
            $0.session.tap(.share, at: 2.9)
            $0.session.exchange(.app, "GET", Self.path, at: 3, took: 0.5, status: 500)
            $0.session.share(at: 3.4)
        }
        #expect(result.verdict == .pass, "\(result)")
    }

    // Opening an older URL.

    @Test func anOldURLOnANewTapFails() throws {
        let result = try judge {
            $0.session.tap(.share, at: 4)
            $0.session.share(at: 4.1)
            $0.session.exchange(.app, "GET", Self.path, at: 6, status: 500)
            $0.session.tap(.share, at: 8)
            $0.session.browse(ScriptedSession.url, at: 8.2)
        }
        #expect(result.findings.map(\.kind) == ["opened-on-unsafe-evidence"], "\(result)")
        #expect(result.sentence.contains("U#1 was opened on a share tap, 2.1 s after"))
    }

    @Test func theSameWithoutATapIsNotThisRules() throws {
        let result = try judge {
            $0.session.tap(.share, at: 4)
            $0.session.share(at: 4.1)
            $0.session.exchange(.app, "GET", Self.path, at: 6, status: 500)
            $0.session.browse(ScriptedSession.url, at: 8.2)
        }
        #expect(result.verdict == .pass, "\(result)")
    }

    @Test func aRefreshThatFailsWhileThePageOpensIsNoFault() throws {
        let result = try judge {
            $0.session.tap(.share, at: 4)
            $0.session.share(at: 4.1)
            $0.session.exchange(.app, "GET", Self.path, at: 4.25, status: 500)
            $0.session.browse(ScriptedSession.url, at: 4.5)
        }
        #expect(result.verdict == .pass, "\(result)")
    }

    // What could hide a share.

    @Test func aTraceThatEndsTooSoonShowsNothing() throws {
        var story = ProjectionStory()
        story.session.exchange(.app, "GET", Self.path, at: 3, status: 500)
        var session = story.session
        session.mark(.end, at: 12)
        #expect(try session.judge()["HR-41"].reason?.code == "trace-ended")
        session = story.session
        session.mark(.end, at: 13.2)
        #expect(try session.judge()["HR-41"].verdict == .pass)
        session = story.session
        session.exchange(.app, "GET", Self.path, at: 4, response: #"{"handoff":\#(Self.share)}"#)
        session.mark(.end, at: 6)
        #expect(try session.judge()["HR-41"].verdict == .pass)
    }

    @Test func unreadSessionTrafficIsNotDecided() throws {
        let result = try judge {
            $0.session.exchange(.app, "GET", Self.path, at: 3, status: 500)
            $0.session.dark(.app, "api.partner.example", at: 5, lastData: 6)
        }
        #expect(result.reason?.code == "no-keys")
    }

    @Test func aShareAfterAnAnswerThatIsNotWholeIsNotDecided() throws {
        let result = try afterwards { $0.answer(Self.share, at: 3, fate: .notSeen) }
        #expect(result.reason?.code == "body-not-whole", "\(result)")
    }

    @Test func whatABrowserFetchesIsNotTheApps() throws {
        #expect(
            try afterwards { $0.session.exchange(.browser, "GET", Self.path, at: 3, status: 500) }.verdict
                == .notApplicable)
    }
}
