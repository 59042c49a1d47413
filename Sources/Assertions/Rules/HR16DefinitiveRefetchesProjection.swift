internal import SessionTrace

/// **HR-16 definitive-refetches-projection.** After a definitive rejection the app fetches the item's projection before it
/// tries again, and sends that one's disclosure version.
///
/// The contract (CONTRACT.md, "The tap sequence" 3) asks for a new projection before another attempt. Looked at is the next
/// attempt for the same item from the same device. Between the two a projection of the item must have been asked for and
/// delivered whole; a 304 is fresh. Another item has a projection of its own (HR-06).
///
/// Inconclusive: whether the rejection was delivered is unknown; the projection was on its way when the rejection came;
/// nothing in the trace is a projection and the policy names none; bytes of the partner are missing. Traps: a neutral
/// decision in between is HR-24's matter.
enum DefinitiveRefetchesProjection: Rule {
    static let description = RuleDescription(
        id: "HR-16", name: "definitive-refetches-projection", severity: .error,
        sentence:
            "After a definitive rejection the next attempt follows a new projection and has its disclosure version.",
        heading: "The tap sequence",
        inconclusiveWhen:
            "the projection crossed the rejection on its way, can't be read or told, or traffic of the partner stayed unread or went around the proxy",
        options: ["requests: {projection}", "fields: {disclosure-version}", "outcomes: {either}"],
        example:
            "The backend answers an outdated disclosure with 422; the app tries again at once with a new key, and asks "
            + "for no projection in between. The verdict names both attempts and the time between them.")

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        let rejected = session.attempts.filter { $0.outcome == .definitive }
        judgement.idleSentence =
            session.attempts.isEmpty
            ? "no session request"
            : rejected.isEmpty ? "no attempt was definitively rejected" : "no attempt followed the rejection"
        var fetched = 0
        for attempt in rejected {
            guard let next = session.next(after: attempt) else { continue }
            judgement.looked(at: attempt.evidence("definitive rejection"))
            judgement.looked(at: next.evidence("next attempt"))
            fetched += judge(attempt, next, session, &judgement)
        }
        judgement.passSentence =
            "\(counted(fetched, "projection")) between a rejection and the next attempt, which has its disclosure version"
        if session.attempts.isEmpty {
            session.doubtMissingAttempts(&judgement)
        } else if !rejected.isEmpty {
            // The next attempt may be in what was not read.
            session.doubtSessionTraffic(&judgement)
        }
        session.doubtPolicy(&judgement)
        session.doubtSessionBypass(&judgement)
        session.assumePartner(&judgement)
    }

    /// How many projections were fetched between the two.
    private static func judge(_ rejected: Attempt, _ next: Attempt, _ session: Session, _ judgement: inout Judgement)
        -> Int
    {
        let gap = Nanoseconds(next.started.nanoseconds(since: rejected.ended))
        let what =
            "attempt \(rejected.number) was rejected with \(rejected.last.record.status), and attempt \(next.number) for the same item came \(gap) later"
        let between = session.projectionBook.sightings(
            of: next.catalogID, to: next.client, after: rejected.ended, until: next.started)
        let fetched = between.filter { $0.requested >= rejected.ended }
        for sighting in fetched {
            judgement.looked(at: session.projections[sighting.place].record.evidence("projection"))
        }
        if let last = fetched.last {
            compare(next, with: last, what, session, &judgement)
            return fetched.count
        }
        if let crossing = between.last {
            judgement.doubt(
                "projection-race",
                "\(what); the projection between them was asked for \(Nanoseconds(rejected.ended.nanoseconds(since: crossing.requested))) before the rejection came",
                remedy: "let the app fetch the projection after the rejection, and not at the same time")
        } else if let other = session.unnamedProjection(of: next.catalogID, from: rejected.ended, to: next.started) {
            judgement.doubt(
                "policy-mismatch", "\(what); \(other)",
                remedy: "name where the item stands in \(session.policyLine):  fields: {catalog-id: /…}")
        } else if let reason = session.unseenProjection(from: rejected.ended, to: next.started) {
            judgement.doubt(
                reason.code, "\(what) without a projection between them, but \(reason.sentence)", remedy: reason.remedy)
        } else if rejected.delivered == nil {
            session.doubtDelivery("\(what) without a projection between them", &judgement)
        } else {
            judgement.violation(
                "no-projection-between", "\(what) without a projection between them",
                place: [next.first.record.pathTemplate],
                evidence: [rejected.evidence("definitive rejection"), next.evidence("next attempt")])
        }
        return 0
    }

    private static func compare(
        _ next: Attempt, with sighting: ProjectionBook.Sighting, _ what: String, _ session: Session,
        _ judgement: inout Judgement
    ) {
        let record = session.projections[sighting.place].record
        switch sighting.word {
        case .opaque:
            judgement.doubt(
                "projection-opaque", "\(what); the projection between them could not be read",
                remedy: "let the projection be JSON, and start the trace before it is first fetched")
        case .hidden: return
        case .decision(let decision):
            guard decision.mode == "share_or_neutral", decision.disclosureVersion != next.disclosureVersion else {
                return
            }
            guard let version = next.disclosureVersion else {
                return session.doubtVersion(of: next, &judgement)
            }
            judgement.violation(
                "disclosure-version-stale",
                "\(what), with disclosure version \(session.masked(version)), where the projection between them has \(session.masked(decision.disclosureVersion))",
                place: [next.first.record.pathTemplate, session.policy.fields.disclosureVersion],
                evidence: [
                    record.evidence("projection"),
                    next.evidence("next attempt", place: session.policy.fields.disclosureVersion),
                ])
        }
    }
}
