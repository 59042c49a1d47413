internal import SessionTrace

/// **HR-21 affirmed-is-true.** The affirmation is the JSON value `true`.
///
/// The contract (CONTRACT.md, "The tap sequence" 3) sends `affirmed: true`: not the text "true", not 1, not "yes". Where
/// the name comes twice, each has to be true, since nobody knows which one the backend takes.
///
/// Inconclusive: the content is not whole, its coding can't be undone, or the path is not the policy's.
enum AffirmedIsTrue: Rule {
    static let description = RuleDescription(
        id: "HR-21", name: "affirmed-is-true", severity: .error,
        sentence: "Every session request says that the user affirmed, by the JSON value true.",
        heading: "The tap sequence",
        inconclusiveWhen:
            "the content is not whole in the trace or can't be decoded, or session traffic stayed unread or went around the proxy",
        options: ["fields: {affirmed}"],
        example:
            "A form library turns the switch into the text \"true\". The verdict names the member, and that a string stands "
            + "where a boolean should.")

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no session request"
        let pointer = session.policy.fields.affirmed
        func violation(_ kind: String, _ why: String, _ attempt: Attempt, _ judgement: inout Judgement) {
            judgement.violation(
                kind, "attempt \(attempt.number) \(why)", place: [attempt.first.record.pathTemplate, pointer],
                evidence: [attempt.evidence(place: "body:\(pointer)")])
        }
        session.forEachContent(&judgement) { attempt, value, judgement in
            let values = value.values(at: pointer)
            guard let wrong = values.first(where: { $0 != .bool(true) }) else {
                if values.isEmpty { violation("affirmed-missing", "has nothing at \(pointer)", attempt, &judgement) }
                return
            }
            let what = wrong == .bool(false) ? "false" : "a value of type \(wrong.kindName)"
            violation("not-true", "has \(what) at \(pointer), where the JSON value true is due", attempt, &judgement)
        } other: { attempt, why, judgement in
            violation("affirmed-missing", "is no JSON (\(why)), and affirms nothing", attempt, &judgement)
        }
        judgement.passSentence = "\(counted(session.attempts.count, "session request")), each with true at \(pointer)"
        session.doubtSessionFields(&judgement)
    }
}
