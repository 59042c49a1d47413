internal import SessionTrace

/// **HR-20 session-body-closed.** The session request holds the four fields of the contract and nothing else.
///
/// The contract (CONTRACT.md, "The tap sequence" 3) names catalog id, disclosure version, `affirmed` and the time of the
/// affirmation; a fifth is something about the person or the device. Fields are where the policy says; an idempotency key
/// in the body may be there too. Violations are errors where the policy names the fields, else warnings, since only
/// `affirmed` is named by the contract itself.
///
/// Inconclusive: the content is not whole, its coding can't be undone, or the path is not the policy's.
enum SessionBodyClosed: Rule {
    static let description = RuleDescription(
        id: "HR-20", name: "session-body-closed", severity: .error,
        sentence:
            "The body of a session request is JSON with catalog id, disclosure version, affirmed and its time, and no further field.",
        heading: "The tap sequence",
        inconclusiveWhen:
            "the content is not whole in the trace or can't be decoded, or session traffic stayed unread or went around the proxy",
        options: [
            "fields: {catalog-id, disclosure-version, affirmed, affirmed-at}", "requests: {session: {key}}",
        ],
        example:
            "The body has a fifth member, deviceId. The verdict names its place, not its value; a warning as long as the "
            + "policy does not name the fields.")

    /// Fields of one body that are told.
    static let fieldLimit = 1_000

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no session request"
        let fields = session.policy.fields
        let due = [fields.catalogID, fields.disclosureVersion, fields.affirmed, fields.affirmedAt]
        var allowed = Set(due)
        if case .body(let pointer) = session.policy.requests.key { allowed.insert(pointer) }
        let severity: Severity = fields.areConfigured ? .error : .warning
        let hint = fields.areConfigured ? "" : " (the policy names no fields)"
        var bodies = 0
        session.forEachContent(&judgement) { attempt, value, judgement in
            bodies += 1
            func violation(_ kind: String, _ why: String, _ place: String) {
                judgement.violation(
                    kind, severity: severity, "the body of attempt \(attempt.number) \(why)\(hint)",
                    place: [attempt.first.record.pathTemplate, place],
                    evidence: [attempt.evidence(place: "body:\(place)")])
            }
            for pointer in value.leaves(limit: fieldLimit) where !allowed.contains(pointer) {
                // A member that holds others stands for them where it is due itself.
                let place = shown(pointer, session.redactor)
                violation(
                    "extra-field", "holds \(place.isEmpty ? "no object" : place), which is none of its fields", place)
            }
            for pointer in due where value.value(at: pointer) == nil {
                violation("missing-field", "has nothing at \(pointer)", pointer)
            }
            if value.hasDuplicateNames { violation("duplicate-field", "names a member twice", "") }
        } other: { attempt, why, judgement in
            judgement.violation(
                "not-json", severity: severity,
                "the body of attempt \(attempt.number) (\(counted(attempt.first.body.count, "byte"))) is no JSON: \(why)",
                place: [attempt.first.record.pathTemplate], evidence: [attempt.evidence(place: "body")])
        }
        judgement.passSentence =
            "\(bodies) \(bodies == 1 ? "body" : "bodies") with exactly the fields \(allowed.sorted().joined(separator: ", "))"
        session.doubtSessionFields(&judgement)
    }

    private static func shown(_ pointer: String, _ redactor: Redactor) -> String {
        pointer.split(separator: "/").map { "/\(redactor.name($0))" }.joined()
    }
}
