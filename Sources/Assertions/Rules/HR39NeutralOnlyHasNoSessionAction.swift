internal import SessionTrace

/// **HR-39 neutral-only-has-no-session-action.** A decision that allows only the neutral way offers no way to share.
///
/// The contract (CONTRACT.md, "Who talks to whom" and "The decision") has the backend leave the session action out of
/// `neutral_only`. `primary`, `sessionCreationPath` or `disclosureVersion` at any depth of such a decision is one, and so
/// are the share action's fixed label and path under whatever name. Beside the decision, in the item, they are not looked
/// for.
///
/// Inconclusive: as for HR-37.
enum NeutralOnlyHasNoSessionAction: Rule {
    static let description = RuleDescription(
        id: "HR-39", name: "neutral-only-has-no-session-action", severity: .error,
        sentence: "A neutral_only decision holds nothing that could start a session.", heading: "The decision",
        matrix: ["M-02"],
        inconclusiveWhen:
            "no projection was found, the policy does not name its path, or an answer was not whole, unread, or cached",
        options: ["requests: {projection}", "fields: {projection}"],
        example:
            "A neutral_only decision still has the primary action of yesterday. Fail: /handoff/primary stands in a neutral_only decision (session-action)."
    )

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no neutral_only decision in the trace"
        var count = 0
        for projection in session.appProjections {
            for decision in projection.decisions where decision.mode == DecisionSchema.neutralOnly {
                count += 1
                judgement.looked(
                    at: projection.record.evidence("projection", place: "decision at \(decision.place.shown)"))
                for place in decision.sessionActions {
                    judgement.violation(
                        "session-action", "\(place.shown) stands in a neutral_only decision",
                        place: [
                            session.role(of: projection.record.host).rawValue, projection.record.pathTemplate,
                            place.template,
                        ],
                        evidence: [projection.record.evidence("projection", place: place.shown)])
                }
            }
        }
        judgement.passSentence = "\(counted(count, "neutral_only decision")), none with a session action"
        session.doubtProjections(&judgement)
    }
}
