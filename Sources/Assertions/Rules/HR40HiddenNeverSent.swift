internal import SessionTrace

/// **HR-40 hidden-never-sent.** What is hidden stays with the partner's backend.
///
/// The contract (CONTRACT.md, "The decision") has the backend remove a hidden item, not mark it. An item or decision that
/// an answer sends with a state of `hidden` (`mode`, `visibility`, `display`, or a flag of that name) is a violation, in a
/// projection or in any other answer to the app; so is an id of `fields: {hidden}`, as a value, as a name, or as a word in
/// a value. A state of `hidden` on something that is no item (a banner, a layout) is the app's own business, and so is an
/// error that says there is no such item.
///
/// Inconclusive: as for HR-37, and when answers of the partner could not be looked into. Without ids of hidden items in
/// the policy a pass rests on what answers say of themselves.
enum HiddenNeverSent: Rule {
    static let description = RuleDescription(
        id: "HR-40", name: "hidden-never-sent", severity: .error,
        sentence: "An item that is hidden is not sent to the app at all.", heading: "The decision", matrix: ["M-02"],
        inconclusiveWhen: "projections were not found, not whole, cached or unread, or other answers were",
        options: ["fields: {hidden}"],
        example:
            "The list of items holds {\"catalogId\": …, \"visibility\": \"hidden\"}, and the app leaves it out. Fail: /items/2/visibility says hidden (hidden-item)."
    )

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no projection in the trace"
        let ids = session.policy.fields.hidden
        for projection in session.appProjections where projection.answer == .read {
            judgement.looked(at: projection.record.evidence("projection"))
        }
        if !ids.isEmpty, session.contents.answers > 0 { judgement.exercised() }
        for finding in session.contents.findings where !finding.isInRequest {
            let role = session.role(of: finding.record.host)
            guard role != .telemetry, role != .osNoise, !role.isChia else { continue }
            let kind: String
            let words: String
            switch finding.kind {
            case .hiddenState(let name):
                kind = "hidden-item"
                words = "\(finding.shown) says that its item is hidden (\(session.redactor.name(name)))"
            case .hiddenID(let index):
                kind = "hidden-id"
                words = "\(finding.shown) holds id \(index + 1) of the policy's hidden items"
            default: continue
            }
            let sentence = "\(words), in \(ContentRules.carrier(finding))\(ContentRules.times(finding))"
            guard ContentRules.isOfApp(finding, sentence, session, &judgement) else { continue }
            judgement.violation(
                kind, sentence, place: ContentRules.place(finding, session), evidence: [finding.evidence("answer")])
        }
        judgement.passSentence =
            "no hidden item in \(counted(session.contents.answers, "answer")) to the app; \(counted(ids.count, "id")) of hidden items known"
        session.doubtProjections(&judgement)
        guard judgement.isExercised || !judgement.doubts.isEmpty else { return }
        ContentRules.doubtAnswers("a hidden item", session, &judgement) { ContentRules.mayBePartner($0, session) }
        if ids.isEmpty {
            judgement.assume(
                "hidden-ids-unknown",
                "the policy names no ids of hidden items: they are told by what answers say of them")
        }
    }
}
