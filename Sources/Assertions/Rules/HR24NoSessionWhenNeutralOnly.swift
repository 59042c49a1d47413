internal import SessionTrace

/// **HR-24 no-session-when-neutral-only.** While the item's projection offers no sharing, no session request is made for it.
///
/// The contract (CONTRACT.md, "The decision"): a `neutral_only` item has no session action, a hidden one none at all. The
/// last projection of the item that was delivered before an attempt governs it, also one that was refreshed at the tap and
/// took sharing back; a retry is an attempt, too.
///
/// Inconclusive: a projection of another mode and the attempt may have crossed on the way; no projection of the item is in
/// the trace; it can't be read.
enum NoSessionWhenNeutralOnly: Rule {
    static let description = RuleDescription(
        id: "HR-24", name: "no-session-when-neutral-only", severity: .error,
        sentence: "No session request is made for an item whose current projection does not offer sharing.",
        heading: "The decision", matrix: ["M-02"],
        inconclusiveWhen:
            "the item's projection was not seen, can't be read, or crossed the session request on its way, or session traffic stayed unread or went around the proxy",
        options: ["requests: {projection}", "fields: {catalog-id, projection}"],
        example:
            "The projection fetched at the call to action says neutral_only; the sheet still shows the share action, and the "
            + "app posts a session request. The verdict says how long before it the projection had been delivered.")

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no session request, and no projection without the session action"
        var offered = 0
        var closest: Nanoseconds?
        for attempt in session.attempts {
            judgement.looked(at: attempt.evidence())
            guard
                let reading = session.projectionBook.governing(
                    attempt.catalogID, at: attempt.started, to: attempt.client)
            else {
                session.doubtProjection(of: attempt, before: attempt.started, "the start", &judgement)
                continue
            }
            judge(attempt, reading, session, &judgement)
            guard reading.current.offersSharing else { continue }
            offered += 1
            let age = Nanoseconds(attempt.started.nanoseconds(since: reading.current.delivered))
            closest = min(closest ?? age, age)
        }
        let withheld = judgeWithheld(session, &judgement)
        judgement.passSentence =
            (offered > 0
                ? "\(counted(offered, "session request")) for an item whose projection offered sharing, the closest \(closest ?? Nanoseconds(0)) after it"
                : "no session request")
            + (withheld > 0 ? "; \(counted(withheld, "projection")) without the session action" : "")
        session.doubtSessionFields(&judgement)
        if session.attempts.isEmpty, withheld > 0 { session.doubtSessionTraffic(&judgement) }
    }

    private static func judge(
        _ attempt: Attempt, _ reading: ProjectionBook.Reading, _ session: Session, _ judgement: inout Judgement
    ) {
        let current = reading.current
        let age = Nanoseconds(attempt.started.nanoseconds(since: current.delivered))
        let what: String
        switch current.word {
        case .opaque:
            return judgement.doubt(
                "projection-opaque", "the projection before attempt \(attempt.number) could not be read",
                remedy: "let the projection be JSON, and start the trace before it is first fetched")
        case .hidden:
            what = "attempt \(attempt.number) is for an item that the projection \(age) before it no longer holds"
        case .decision(let decision):
            what =
                "attempt \(attempt.number) is for an item whose projection \(age) before it is \(decision.mode)"
        }
        if let rival = reading.rival, rival.offersSharing != current.offersSharing {
            return judgement.doubt(
                "projection-race",
                "\(what), while the one before was not, and the two may have crossed (the projection took \(current.roundTrip))",
                remedy: "give the test a moment between projection and tap")
        }
        guard !current.offersSharing else { return }
        if let reason = session.unseenProjection(from: current.delivered, to: attempt.started) {
            return judgement.doubt(reason.code, "\(what), but \(reason.sentence)", remedy: reason.remedy)
        }
        judgement.violation(
            current.word == .hidden ? "session-for-hidden-item" : "session-when-neutral-only", what,
            place: [attempt.first.record.pathTemplate],
            evidence: [session.projections[current.place].record.evidence("projection"), attempt.evidence()])
    }

    /// Projections that offer no sharing are something to keep to, also where nobody tried.
    private static func judgeWithheld(_ session: Session, _ judgement: inout Judgement) -> Int {
        var count = 0
        for projection in session.projections where projection.isWhole {
            guard projection.decisions.contains(where: { $0.mode == "neutral_only" }) else { continue }
            count += 1
            judgement.looked(at: projection.record.evidence("projection"))
        }
        return count
    }
}
