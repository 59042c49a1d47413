internal import SessionTrace

/// **HR-37 projection-closed.** Each handoff decision is one of the two that the contract knows, to the letter.
///
/// The contract (CONTRACT.md, "The decision") gives both decisions their members, types and fixed texts, and no other.
/// A missing or further member, another type, another literal, a policy URL that is not https, a name that stands twice
/// anywhere in the projection: each is told with its JSON pointer. Decisions are found where the policy says
/// (`fields: {projection}`), or by their `mode`; in an answer that the policy's template names, one with another `mode`
/// or none is a broken decision, no other object.
///
/// An answer without any decision is right (a hidden item is not sent), and one that is no JSON at all, or an error, is
/// HR-41's matter: how the app took it. What a page in the browser fetches is not the app's.
///
/// Inconclusive: no projection was found although the app shared; it was found by its shape alone; an answer is not
/// whole, came from the app's cache, or stayed unread.
enum ProjectionClosed: Rule {
    static let description = RuleDescription(
        id: "HR-37", name: "projection-closed", severity: .error,
        sentence: "Each handoff decision holds exactly the members, types and fixed texts that the contract gives it.",
        heading: "The decision", matrix: ["M-02"],
        inconclusiveWhen:
            "no projection was found, the policy does not name its path, or an answer was not whole, unread, or cached",
        options: ["requests: {projection}", "fields: {projection}"],
        example:
            "The backend adds \"trackingUrl\" to a share_or_neutral decision. Fail: /handoff/trackingUrl is no member of the union (unknown-member)."
    )

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no projection with a decision in the trace"
        var count = 0
        for projection in session.appProjections {
            for decision in projection.decisions {
                count += 1
                judgement.looked(
                    at: projection.record.evidence("projection", place: "decision at \(decision.place.shown)"))
                for offence in decision.offences {
                    report(
                        offence.kind.rawValue, offence.place, offence.words, projection, session, &judgement)
                }
            }
            guard !projection.decisions.isEmpty else { continue }
            for place in projection.duplicates {
                report(
                    DecisionOffence.Kind.duplicateKey.rawValue, place, "stands twice in one object", projection,
                    session,
                    &judgement)
            }
        }
        judgement.passSentence =
            "\(counted(count, "decision")) in \(counted(session.appProjections.count, "projection")), each exactly of the union"
        session.doubtProjections(&judgement)
    }

    private static func report(
        _ kind: String, _ place: JSONPlace, _ words: String, _ projection: Projection, _ session: Session,
        _ judgement: inout Judgement
    ) {
        judgement.violation(
            kind, "\(place.shown) \(words)",
            place: [session.role(of: projection.record.host).rawValue, projection.record.pathTemplate, place.template],
            evidence: [projection.record.evidence("projection", place: place.shown)])
    }
}
