/// The laws that rules over one trace and rules over several share.
extension Verdicts {
    /// A violation that was seen wins, whatever was not seen; a doubt makes the rule inconclusive; nothing judged is not
    /// applicable; all else passes.
    static func result(of judgement: Judgement, isCutShort: Bool = false) -> RuleResult {
        let rule = judgement.rule
        var result = RuleResult(
            id: rule.id, name: rule.name, severity: rule.severity, verdict: .pass, sentence: judgement.passSentence,
            findings: judgement.findings, lookedAt: judgement.lookedAt)
        if let worst = judgement.decisive {
            result.verdict = .fail
            result.severity = worst.severity
            result.sentence = worst.message
            let more = judgement.violations.count - 1 + judgement.uncounted
            if more > 0 { result.sentence += " (and \(more) more)" }
            if isCutShort { result.sentence += "; the trace was cut short after that" }
            // A warning hides no doubt: a violation that counts may be behind it.
            if worst.severity == .warning, let doubt = judgement.doubts.first ?? judgement.overflow(atLeast: .error) {
                result.doubt = doubt
                result.sentence += "; beside that, in doubt: \(doubt.sentence)"
            }
        } else if let doubt = judgement.doubts.first ?? judgement.overflow(atLeast: .warning) {
            result.leaveOpen(doubt)
            if let warning = judgement.violations.first { result.sentence += "; beside that, \(warning.message)" }
        } else if !judgement.isExercised {
            result.verdict = .notApplicable
            result.sentence = judgement.idleSentence
        } else {
            result.assumptions = judgement.assumptions
            if judgement.accepted > 0 {
                result.acceptedViolations = judgement.accepted
                result.sentence =
                    "\(counted(judgement.accepted, "violation")), accepted by the policy's exceptions, and no other"
            }
        }
        return result
    }
}

extension RuleResult {
    /// Makes it inconclusive.
    mutating func leaveOpen(_ reason: InconclusiveReason) {
        verdict = .inconclusive
        self.reason = reason
        sentence = reason.sentence
    }

    /// What a strict judge makes of a pass that rests on something nobody saw.
    mutating func questionAssumptions(remedy: String) {
        guard verdict == .pass, let assumption = assumptions.first else { return }
        leaveOpen(InconclusiveReason(code: assumption.code, sentence: assumption.sentence, remedy: remedy))
        sentence = "rests on an assumption: \(assumption.sentence)"
    }
}
