import SessionTrace
import Testing

@testable import Assertions

/// The laws that turn what a rule wrote down into a verdict.
@Suite struct VerdictLawTests {
    private static func session(_ build: (inout ScriptedSession) -> Void = { _ in }) -> Session {
        var scripted = ScriptedSession()
        scripted.mark(.launch, at: 0)
        build(&scripted)
        var model = SessionModel(policy: Policy(), options: JudgeOptions())
        for event in scripted.events() { model.receive(event) }
        return model.finish()
    }

    private static func result(
        strict: Bool = false, of rule: RuleDescription = NoPreconnect.description, in session: Session = session(),
        _ build: (inout Judgement) -> Void
    ) -> RuleResult {
        var judgement = Judgement(rule)
        judgement.passSentence = "fine"
        judgement.idleSentence = "idle"
        build(&judgement)
        return Verdicts.result(of: judgement, session, strict: strict)
    }

    private static func warn(_ judgement: inout Judgement) {
        judgement.violation("w", severity: .warning, "a warning", evidence: [])
    }
    private static func err(_ judgement: inout Judgement) { judgement.violation("e", "an error", evidence: []) }
    private static func doubt(_ judgement: inout Judgement) { judgement.doubt("d", "a doubt", remedy: "") }

    @Test func withoutAnythingToJudgeItDoesNotApply() {
        let idle = Self.result { $0.information("i", "something", evidence: []) }
        #expect(idle.verdict == .notApplicable && idle.sentence == "idle")
        let pass = Self.result { $0.exercised() }
        #expect(pass.verdict == .pass && pass.sentence == "fine")
        #expect(Self.result(Self.doubt).verdict == .inconclusive, "a doubt hides what was to be judged")
    }

    @Test func anErrorWinsOverAWarningAndADoubt() {
        let result = Self.result {
            Self.warn(&$0)
            Self.err(&$0)
            Self.doubt(&$0)
        }
        #expect(result.verdict == .fail && result.severity == .error && result.sentence == "an error (and 1 more)")
        #expect(Self.result(Self.err).sentence == "an error")
    }

    /// What is a violation only because something was not seen is none beside a doubt, and is told all the same.
    @Test func aDoubtUndoesWhatRestsOnSilence() {
        func silent(_ judgement: inout Judgement) {
            judgement.violation("s", "an answer never came", evidence: [], restsOnSilence: true)
        }
        #expect(Self.result(silent).verdict == .fail)
        let doubted = Self.result {
            silent(&$0)
            Self.doubt(&$0)
        }
        #expect(doubted.verdict == .inconclusive, "\(doubted)")
        #expect(doubted.sentence == "a doubt; beside that, an answer never came")
    }

    @Test func aWarningHidesNoDoubt() {
        let alone = Self.result(Self.warn)
        #expect(alone.verdict == .fail && alone.severity == .warning)
        func both(_ judgement: inout Judgement) {
            Self.warn(&judgement)
            Self.doubt(&judgement)
        }
        let doubted = Self.result(both)
        #expect(doubted.verdict == .fail && doubted.severity == .warning)
        #expect(doubted.doubt != nil && doubted.sentence == "a warning; beside that, in doubt: a doubt")
        #expect(alone.doubt == nil && Self.result(strict: true, both).verdict == .fail)
    }

    @Test func whatIsBeyondTheLimitIsInTheSentence() {
        let result = Self.result { judgement in
            for number in 0..<103 { judgement.violation("e", "error \(number)", evidence: []) }
        }
        #expect(result.sentence == "error 0 (and 102 more)")
    }

    /// What is excepted takes no room from what is not, but beyond the limit nobody knows which it would have been.
    @Test(arguments: [100, 101]) func beyondTheLimitAnExceptionMayNotHold(count: Int) {
        let result = Self.result { judgement in
            for number in 0..<count { judgement.violation("e", "error \(number)", evidence: []) }
            judgement.changeFindings { $0.severity = .info }
        }
        #expect(result.verdict == (count > 100 ? .inconclusive : .pass), "\(result)")
        #expect(result.reason?.code == (count > 100 ? "findings-full" : nil))
    }

    @Test func aWarningHidesNoErrorBeyondTheLimit() {
        func errors(_ judgement: inout Judgement, _ count: Int) {
            Self.warn(&judgement)
            for number in 0..<count { judgement.violation("e", "error \(number)", evidence: []) }
            judgement.changeFindings { if $0.severity == .error { $0.severity = .info } }
        }
        #expect(Self.result { errors(&$0, 100) }.doubt == nil)
        #expect(Self.result { errors(&$0, 101) }.doubt?.code == "findings-full")
        let warnings = Self.result { judgement in
            for number in 0..<101 { judgement.violation("w", severity: .warning, "\(number)", evidence: []) }
        }
        #expect(warnings.verdict == .fail && warnings.doubt == nil, "a warning beyond a hundred weighs no more")
    }

    // MARK: cut traces

    @Test func aCutTraceProvesNothingAndShowsWhatItShows() {
        let cut = Self.session { $0.isComplete = false }
        #expect(Self.result(in: cut) { $0.exercised() }.reason?.code == "file-cut-short")
        #expect(Self.result(in: cut, Self.err).sentence == "an error; the trace was cut short after that")
        #expect(Self.result(in: cut) { _ in }.verdict == .notApplicable)
        #expect(Self.result(of: CleanStart.description, in: cut) { $0.exercised() }.verdict == .pass, "of coverage")
    }

    // MARK: assumptions and exceptions

    @Test func strictlyAnAssumptionIsADoubt() {
        func assume(_ judgement: inout Judgement) {
            judgement.exercised()
            judgement.assume("a", "something")
        }
        let result = Self.result(assume)
        #expect(result.verdict == .pass && result.assumptions.map(\.code) == ["a"])
        let strict = Self.result(strict: true, assume)
        #expect(strict.verdict == .inconclusive && strict.reason?.code == "a")
        #expect(strict.sentence == "rests on an assumption: something")
        #expect(Self.result(strict: true) { $0.exercised() }.verdict == .pass)
    }

    @Test func whatIsAcceptedIsCounted() {
        func accepted(_ count: Int) -> RuleResult {
            Self.result { judgement in
                for number in 0..<count { judgement.violation("e", "error \(number)", evidence: []) }
                judgement.changeFindings { $0.severity = .info }
                judgement.exercised()
            }
        }
        #expect(accepted(0).sentence == "fine" && accepted(0).acceptedViolations == 0)
        #expect(accepted(1).sentence == "1 violation, accepted by the policy's exceptions, and no other")
        #expect(accepted(2).sentence == "2 violations, accepted by the policy's exceptions, and no other")
        #expect(accepted(2).acceptedViolations == 2 && accepted(2).verdict == .pass)
    }

    // MARK: marks that can't be relied on

    /// Rules of coming back and of returns rest on their marks as those of taps do.
    @Test(arguments: [
        "HR-01", "HR-02", "HR-04", "HR-14", "HR-22", "HR-26", "HR-27", "HR-34", "HR-42", "HR-43", "HR-44", "HR-64",
        "HR-65", "HR-66",
    ]) func rulesThatRestOnMarks(id: String) throws {
        let rule = try #require(RuleCatalogue.all.first { $0.id == id })
        let unreadable = Self.session { $0.unreadableMarks = ["packet 7"] }
        #expect(Self.result(of: rule, in: unreadable, Self.err).reason?.code == "unreadable-mark")
        #expect(Self.result(of: rule, Self.err).verdict == .fail)
    }

    /// A click that perhaps was made, and what it would excuse: nothing that had come before it.
    @Test(
        arguments: [
            ("HR-17", 10.0, "generic-tap-mark"), ("HR-17", 10.001, nil), ("HR-43", 10, "generic-tap-mark"),
            ("HR-65", 9, "generic-tap-mark"), ("HR-26", 9, nil), ("HR-66", 9, nil), ("HR-05", 9, nil),
            ("HR-01", 9, nil),
            ("HR-02", 9, nil),
        ] as [(String, Double, String?)]) func aTapThatPerhapsWasMadeMayExcuse(
            id: String, tap: Double, code: String?
        ) throws
    {
        let rule = try #require(RuleCatalogue.all.first { $0.id == id })
        let session = Self.session { $0.mark(.tap, at: tap, until: 30, attributes: ["uncertain": "true"]) }
        let evidence = Evidence(label: "x", packets: [], span: TimeSpan(ScriptedSession.instant(10)), subject: "x")
        func fail(_ judgement: inout Judgement) { judgement.violation("e", "an error", evidence: [evidence]) }
        let result = Self.result(of: rule, in: session, fail)
        #expect(result.reason?.code == code && (result.verdict == .fail) == (code == nil), "\(result)")
        let named = Self.session { $0.mark(.tap, .share, at: tap) }
        #expect(Self.result(of: rule, in: named, fail).verdict == .fail)
        let unnamed = Self.session {
            $0.tap(nil, at: tap)
            $0.tap(.share, at: 1)
        }
        #expect(Self.result(of: rule, in: unnamed, fail).verdict == .fail)
        #expect(Self.result(of: rule, in: session) { $0.exercised() }.verdict == .pass)
    }

    @Test func aBadMarkMayExcuseAViolationOfOrder() {
        let unreadable = Self.session { $0.unreadableMarks = ["packet 7"] }
        let stray = Self.session { $0.tap(.other, at: -1_000) }
        let order = NoChiaBeforeAction.description
        #expect(Self.result(of: order, in: unreadable, Self.err).reason?.code == "unreadable-mark")
        #expect(Self.result(of: order, in: stray, Self.err).reason?.code == "marks-inconsistent")
        #expect(Self.result(of: order, Self.err).verdict == .fail)
        let unmarked = NoProbeOfHandoffURL.description
        #expect(Self.result(of: unmarked, in: unreadable, Self.err).verdict == .fail, "a rule that needs no marks")
        let idle = Self.result(of: order, in: unreadable) { $0.information("i", "something", evidence: []) }
        #expect(idle.verdict == .notApplicable, "information is no violation")
    }
}

/// What was seen of the words that `must-exercise` knows.
@Suite struct ExercisedWordsTests {
    private static func judge(_ build: (inout ScriptedSession) -> Void) throws -> TraceVerdict {
        var session = ScriptedSession()
        build(&session)
        session.mark(.end, at: 2_000)
        return try session.judge()
    }

    private static func words(_ build: (inout ScriptedSession) -> Void) throws -> Set<String> {
        try judge(build).exercised
    }

    @Test func nothingIsNothing() throws {
        #expect(try Self.words { $0.mark(.launch, at: 0) } == [])
    }

    @Test func tapsAndAttempts() throws {
        #expect(try Self.words { $0.tap(.share, at: 4) } == ["share"])
        #expect(try Self.words { $0.share(at: 4) } == ["share"])
        #expect(try Self.words { $0.tap(.neutral, at: 4) } == ["neutral"])
        #expect(try Self.words { $0.tap(.policy, at: 4) }.contains("policy-link"))
        #expect(try Self.words { $0.tap(.return, at: 4) } == ["return"])
        #expect(try Self.words { $0.mark(.return, at: 4) } == ["return"])
        #expect(try Self.words { $0.mark(.background, at: 4) } == ["background"])
    }

    @Test func aDoubleTapHasATarget() throws {
        func twice(_ target: Mark.Target?) throws -> Bool {
            try Self.words {
                $0.tap(target, at: 4)
                $0.tap(target, at: 4.3)
            }.contains("double-tap")
        }
        #expect(try twice(.share))
        #expect(try !twice(nil))
        #expect(try !Self.words { $0.tap(.share, at: 4) }.contains("double-tap"))
    }

    @Test func aRetryComesAfterAnUncertainEnd() throws {
        func judge(_ first: Int, isRetried: Bool) throws -> Set<String> {
            try Self.words {
                $0.share(at: 4, status: first)
                if isRetried { $0.share(at: 6) }
            }
        }
        #expect(try judge(503, isRetried: true) == ["share", "uncertain-retry"])
        #expect(try judge(503, isRetried: false) == ["share"])
        #expect(try judge(201, isRetried: true) == ["share"])
        #expect(try judge(422, isRetried: true) == ["share", "definitive-rejection"])
        #expect(
            try Self.words {
                $0.share(at: 4)
                $0.share(at: 6, key: ScriptedSession.key2, status: 503)
            } == ["share"], "nothing follows the uncertain end")
    }

    // MARK: contexts that are not valid

    /// A quarter of an hour after its answer, to the moment.
    @Test(arguments: [(904.1, false), (904.101, true)]) func anExpiredURLIsNotValid(time: Double, isSeen: Bool) throws {
        let words = try Self.words {
            $0.share(at: 4)
            $0.browse(ScriptedSession.url, at: time)
        }
        #expect(words.contains("invalid-context") == isSeen)
    }

    @Test func onlyThePageOfATokenCounts() throws {
        func judge(_ open: (inout ScriptedSession) -> Void) throws -> Bool {
            try Self.words {
                $0.share(at: 4)
                open(&$0)
            }.contains("invalid-context")
        }
        #expect(try judge { $0.browse(ScriptedSession.url, at: 5, status: 410) })
        #expect(try !judge { $0.browse("https://chia.health/nothing", at: 5, status: 404) }, "no token")
        #expect(try !judge { $0.exchange(.app, "GET", ScriptedSession.url, at: 5, status: 410) }, "the app's probe")
        #expect(
            try !judge {
                $0.exchange(.browser, "GET", ScriptedSession.url + "/app.js", at: 5, status: 404)
            }, "no page")
        #expect(try judge { $0.browse(ScriptedSession.otherURL, at: 5) })
        #expect(
            try !Self.words { $0.browse(ScriptedSession.otherURL, at: 5) }.contains("invalid-context"),
            "without any answer nothing tells")
    }

    @Test(arguments: [("invalid", true), ("expired", true), ("mutated", true), ("valid", false)])
    func aLabelSaysSo(label: String, isSeen: Bool) throws {
        let words = try Self.words { $0.mark(.scenario, at: 0, attributes: ["context": label]) }
        #expect(words.contains("invalid-context") == isSeen)
    }

    // MARK: anything at all

    @Test func aTapAnAttemptOrAPageIsSomething() throws {
        #expect(try Self.judge { $0.tap(.share, at: 4) }.exercisedAnything)
        #expect(try Self.judge { $0.share(at: 4) }.exercisedAnything)
        #expect(try Self.judge { $0.browse(ScriptedSession.neutral, at: 4) }.exercisedAnything)
        #expect(try !Self.judge { $0.exchange(.browser, "GET", "https://chia.health/a.js", at: 4) }.exercisedAnything)
        #expect(try !Self.judge { $0.exchange(.app, "GET", ScriptedSession.neutral, at: 4) }.exercisedAnything)
        #expect(try !Self.judge { $0.exchange(.app, "GET", "https://api.partner.example/", at: 4) }.exercisedAnything)
    }

    // MARK: gates and profiles

    @Test func strictnessGatesCoverageToo() throws {
        func gate(_ policy: String, strict: Bool) throws -> Set<String> {
            var session = ScriptedSession.conformingShare()
            session.policyText += policy
            session.options.strict = strict
            return try session.judge().gate
        }
        #expect(try gate("", strict: false) == RuleCatalogue.headline)
        #expect(
            try gate("gate: full\n", strict: false) == Set(RuleCatalogue.all.map(\.id).filter { $0.hasPrefix("HR") }))
        #expect(try gate("gate: full\n", strict: true) == Set(RuleCatalogue.all.map(\.id)))
    }

    @Test func theHeadlineProfileJudgesTheHeadlineAndCoverage() throws {
        var session = ScriptedSession.conformingShare()
        session.options.profile = .headline
        let ids = Set(try session.judge().rules.map(\.id))
        #expect(ids == RuleCatalogue.headline.union(RuleCatalogue.all.map(\.id).filter { $0.hasPrefix("HC") }))
    }
}
