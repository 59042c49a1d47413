internal import SessionTrace

/// The laws that turn judgements into verdicts (RULES 0.1), the same for every rule.
enum Verdicts {
    static func judge(_ session: Session, options: JudgeOptions) -> TraceVerdict {
        let gate = gate(session.policy.gate, strict: options.strict)
        var exceptions = ExceptionBook(session.policy, now: options.now ?? session.span.latest)
        let results = results(session, options: options, exceptions: &exceptions)
        let exercised = exercises(session)
        var verdict = TraceVerdict(
            rules: results, matrix: Matrix.rows(results, exercised: exercised), attributes: session.marks.attributes,
            summary: session.summary, gate: gate, exercisedAnything: isAnythingExercised(session), exercised: exercised,
            notes: session.policy.remarkLines + session.policy.lapsedAllowances(at: session.span.latest)
                + exceptions.notes
        ).printable
        verdict.facts = TraceFactsMaker(session: session).facts(now: options.now)
        return verdict
    }

    /// What each rule comes to. Without `keepsLookedAt` no more is kept than what violations and doubts need.
    static func results(
        _ session: Session, options: JudgeOptions, exceptions: inout ExceptionBook, keepsLookedAt: Bool = true
    ) -> [RuleResult] {
        var results: [RuleResult] = []
        for rule in RuleCatalogue.rules {
            let description = rule.description
            let isCoverage = description.id.hasPrefix("HC-")
            guard isCoverage || options.profile == .full || RuleCatalogue.headline.contains(description.id) else {
                continue
            }
            var judgement = Judgement(description, keepsLookedAt: keepsLookedAt)
            rule.judge(session, &judgement)
            exceptions.apply(to: &judgement)
            results.append(result(of: judgement, session, strict: options.strict))
        }
        return results
    }

    private static func gate(_ gate: Policy.Gate, strict: Bool) -> Set<String> {
        let coverage = RuleCatalogue.all.map(\.id).filter { $0.hasPrefix("HC-") }
        let rules: Set<String> =
            switch gate {
            case .headline: RuleCatalogue.headline
            case .full: Set(RuleCatalogue.all.map(\.id).filter { $0.hasPrefix("HR-") })
            case .rules(let ids): ids
            }
        return strict ? rules.union(coverage) : rules
    }

    /// Rules whose violations are told by what was marked before them, and what was not.
    private static let restOnMarks: Set<String> = [
        "HR-01", "HR-02", "HR-04", "HR-06", "HR-07", "HR-09", "HR-10", "HR-14", "HR-17", "HR-22", "HR-23", "HR-25",
        "HR-26", "HR-27", "HR-34", "HR-42", "HR-43", "HR-44", "HR-64", "HR-65", "HR-66",
    ]
    /// Those that a tap does not excuse, or that look at each tap themselves.
    private static let weighTaps: Set<String> = ["HR-01", "HR-02", "HR-26", "HR-66"]

    /// The laws for one trace: those of any rule, and that what a cut trace does not show, it can't prove.
    static func result(of judgement: Judgement, _ session: Session, strict: Bool) -> RuleResult {
        let rule = judgement.rule
        var result = Self.result(of: judgement, isCutShort: !session.isWhole)
        // What a mark that can't be read would have said may excuse what looks like a violation of order.
        if let worst = judgement.violations.first, restOnMarks.contains(rule.id),
            let mark = session.summary.unreadableMarks.first ?? session.marks.strays.first
        {
            result = RuleResult(
                id: rule.id, name: rule.name, severity: rule.severity, verdict: .inconclusive, sentence: "",
                findings: judgement.findings, lookedAt: judgement.lookedAt)
            result.leaveOpen(
                InconclusiveReason(
                    code: session.summary.unreadableMarks.isEmpty ? "marks-inconsistent" : "unreadable-mark",
                    sentence: "\(worst.message), unless a mark that can't be relied on excuses it (\(mark))",
                    remedy: "mend the mark, and record again"))
        } else if let worst = judgement.decisive, restOnMarks.contains(rule.id), !weighTaps.contains(rule.id),
            let tap = session.marks.unsureTaps.first(where: { tap in
                tap.isUncertain && worst.evidence.contains { tap.reach <= $0.span.latest }
            })
        {
            result.leaveOpen(
                InconclusiveReason(
                    code: "generic-tap-mark",
                    sentence: "\(worst.message), unless \(tap.words) before that excuses it",
                    remedy: "repeat the test: one of its steps failed, and may have taken effect"))
        } else if result.verdict == .pass, !session.isWhole, !rule.id.hasPrefix("HC-") {
            result.leaveOpen(
                InconclusiveReason(
                    code: BlindSpot.Reason.fileCutShort.rawValue,
                    sentence: "nothing violates it as far as the trace goes, but the trace was cut short",
                    remedy: Session.remedy(.fileCutShort)))
            result.assumptions = []
        } else if strict {
            result.questionAssumptions(remedy: "make the test show it, or judge without --strict")
        }
        return result
    }

    /// What was seen of the words that `must-exercise` knows.
    private static func exercises(_ session: Session) -> Set<String> {
        var seen: Set<String> = []
        if !session.shareBursts.isEmpty || !session.attempts.isEmpty { seen.insert("share") }
        if !session.neutralBursts.isEmpty { seen.insert("neutral") }
        if session.bursts.contains(where: { $0.isDoubled && !$0.isGeneric }) { seen.insert("double-tap") }
        if session.attempts.contains(where: { $0.outcome == .uncertain && $0.number < session.attempts.count }) {
            seen.insert("uncertain-retry")
        }
        if session.attempts.contains(where: { $0.outcome == .definitive }) { seen.insert("definitive-rejection") }
        if session.taps.contains(where: { $0.target == .policy }) { seen.insert("policy-link") }
        if !session.marks([.background]).isEmpty { seen.insert("background") }
        if session.foregrounds.contains(where: \.isAfterHandoff) { seen.insert("foreground") }
        if isContextInvalid(session) { seen.insert("invalid-context") }
        if session.marks([.return]).contains(where: { !CraftedReturnIgnored.crafted($0).isEmpty }) {
            seen.insert("crafted-return")
        }
        if !session.marks([.return]).isEmpty || session.taps.contains(where: { $0.target == .return }) {
            seen.insert("return")
        }
        return seen
    }

    /// Whether a page of Chia was opened with a context that is not valid: as a label says, as Chia answered, after its
    /// time, or with a token that no session response gave.
    private static func isContextInvalid(_ session: Session) -> Bool {
        if ["invalid", "expired", "mutated"].contains(session.marks.attributes["context"] ?? "") { return true }
        return session.chiaRequests.contains { record in
            guard record.actor.actor == .browser, record.isNavigation, record.address?.token != nil else {
                return false
            }
            if [400, 401, 403, 404, 410].contains(record.status) { return true }
            guard let known = session.handoffURL(askedBy: record) else { return !session.urls.isEmpty }
            return record.started.time.nanoseconds(since: known.url.since) > session.policy.timing.urlLifetime.count
        }
    }

    private static func isAnythingExercised(_ session: Session) -> Bool {
        !session.bursts.isEmpty || !session.attempts.isEmpty
            || session.chiaRequests.contains { $0.isNavigation && $0.actor.actor == .browser }
    }
}
