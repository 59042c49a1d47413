internal import SessionTrace

/// **HR-22 disclosure-version-current.** The disclosure version that is sent is the one of the item's projection that the
/// device had when the user tapped.
///
/// The contract (CONTRACT.md, "The decision" and "The tap sequence" 3). The last projection of the item that was delivered
/// before the share tap governs; a retry is held against that of its operation's first attempt.
///
/// Inconclusive: that projection is not in the trace or can't be read; a newer one and the tap may have crossed; the tap's
/// time is not known well enough. Where the item may not be shared at all it is HR-24's matter.
enum DisclosureVersionCurrent: Rule {
    static let description = RuleDescription(
        id: "HR-22", name: "disclosure-version-current", severity: .error,
        sentence: "A session request names the disclosure version of the projection that was on the device at the tap.",
        heading: "The tap sequence",
        inconclusiveWhen:
            "the item's projection before the tap was not seen, can't be read, or crossed the tap on its way, or session traffic stayed unread or went around the proxy",
        options: ["fields: {disclosure-version, catalog-id, projection}", "requests: {projection}"],
        example:
            "The projection fetched at the call to action has a newer disclosure; the app sends the version of the first one, "
            + "that it still held. The verdict says how long before the tap the newer one had been delivered.")

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence =
            session.attempts.isEmpty ? "no session request" : "no projection that offers sharing governs an attempt"
        var judged = 0
        for group in groups(session) where judge(group, session, &judgement) { judged += group.count }
        judgement.passSentence =
            "\(counted(judged, "session request")) with the disclosure version of the projection before the tap"
        session.doubtSessionFields(&judgement)
        if judgement.isExercised { session.doubtMarks(&judgement) }
    }

    /// Attempts by operation; one without a key stands alone.
    private static func groups(_ session: Session) -> [[Attempt]] {
        session.operations.map(\.attempts) + session.attempts.filter { $0.key == nil }.map { [$0] }
    }

    /// Whether the attempts could be compared.
    private static func judge(_ attempts: [Attempt], _ session: Session, _ judgement: inout Judgement) -> Bool {
        let first = attempts[0]
        let tap = session.marks.shares.last { $0.reach <= first.started }
        let moment = tap?.span ?? TimeSpan(first.started)
        let when = tap == nil ? "attempt \(first.number)" : "the tap"
        let book = session.projectionBook
        let readings = [moment.earliest, min(moment.latest, first.started)].map {
            book.governing(first.catalogID, at: $0, to: first.client)
        }
        let candidates = readings.flatMap { [$0?.current, $0?.rival] }.compactMap(\.self)
        guard readings[0] != nil, let last = readings[1]?.current else {
            session.doubtProjection(of: first, before: moment.earliest, when, &judgement)
            return false
        }
        if candidates.contains(where: { $0.word == .opaque }) {
            judgement.doubt(
                "projection-opaque", "the projection before \(when) could not be read",
                remedy: "let the projection be JSON, and start the trace before it is first fetched")
            return false
        }
        guard last.offersSharing else { return false }
        let versions = candidates.filter(\.offersSharing).map { $0.decision?.disclosureVersion }
        guard let version = last.decision?.disclosureVersion, !versions.contains(nil) else {
            judgement.doubt(
                "projection-opaque", "the projection before \(when) has no disclosure version",
                remedy: "see what the backend sends: primary needs its disclosureVersion")
            return false
        }
        let record = session.projections[last.place].record
        judgement.looked(at: record.evidence("projection"))
        if tap == nil {
            judgement.assume("tap-assumed", "no share tap is marked; the projection before the attempt is taken")
        }
        let age = Nanoseconds(max(0, moment.earliest.nanoseconds(since: last.delivered)))
        var isTold = false
        for attempt in attempts {
            judgement.looked(at: attempt.evidence())
            guard let sent = attempt.disclosureVersion else {
                if attempt.first.bodyIsWhole, session.policy.fields.areConfigured {
                    violation(
                        "disclosure-version-missing",
                        "attempt \(attempt.number) has nothing at \(session.policy.fields.disclosureVersion)", attempt,
                        record, session, &judgement)
                } else if attempt.first.bodyIsWhole || attempts.allSatisfy({ $0.disclosureVersion == nil }) {
                    session.doubtVersion(of: attempt, &judgement)
                }
                continue
            }
            isTold = true
            if sent == version, versions.allSatisfy({ $0 == version }) { continue }
            let what =
                "attempt \(attempt.number) has disclosure version \(session.masked(sent)), the projection delivered \(age) before \(when) \(session.masked(version))"
            if versions.contains(sent) {
                judgement.doubt(
                    "projection-race", "\(what), and another one crossed \(when)",
                    remedy: "give the test a moment between projection and tap")
            } else if let reason = session.unseenProjection(from: last.delivered, to: moment.latest) {
                judgement.doubt(reason.code, "\(what), but \(reason.sentence)", remedy: reason.remedy)
            } else {
                violation("disclosure-version-stale", what, attempt, record, session, &judgement)
            }
        }
        return isTold
    }

    private static func violation(
        _ kind: String, _ why: String, _ attempt: Attempt, _ projection: RequestRecord, _ session: Session,
        _ judgement: inout Judgement
    ) {
        let pointer = session.policy.fields.disclosureVersion
        judgement.violation(
            kind, why, place: [attempt.first.record.pathTemplate, pointer],
            evidence: [projection.evidence("projection"), attempt.evidence(place: "body:\(pointer)")])
    }
}
