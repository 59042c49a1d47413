internal import SessionTrace

/// **HR-14 uncertain-keeps-key.** After an uncertain end, the next attempt for the same selection has the same key.
///
/// The contract (CONTRACT.md, "The tap sequence" 3) keeps key and body after a network error, 429 or server error, also
/// over a relaunch, since the key is persisted. Another item or disclosure version starts its own operation. Between the
/// two, a definitive answer, a success, the neutral choice or a configured abandonment ends the operation; after a
/// changed disclosure version the old key must never come back. A lost response is an uncertain end.
///
/// Inconclusive: the attempt's end was not seen; whether its answer was delivered is unknown; the retry comes later than
/// the retry horizon; the item can't be told; unread session traffic.
enum UncertainKeepsKey: Rule {
    static let description = RuleDescription(
        id: "HR-14", name: "uncertain-keeps-key", severity: .error,
        sentence:
            "After a network error, 429 or server error the next attempt for the same selection has the same key.",
        heading: "The tap sequence", matrix: ["M-11"],
        inconclusiveWhen:
            "an attempt's end or delivery was not seen, the retry comes after the retry horizon, or session traffic stayed unread or went around the proxy"
    )

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence =
            session.attempts.isEmpty
            ? "no session request"
            : session.attempts.contains { $0.outcome == .uncertain }
                ? "no attempt followed the uncertain end" : "no attempt ended uncertain"
        var kept = 0
        for attempt in session.attempts {
            let following = session.attempts.dropFirst(attempt.number).lazy.filter {
                $0.isSameItem(as: attempt) && $0.isSameDevice(as: attempt)
            }
            guard let next = following.first else { continue }
            switch attempt.outcome {
            case .notSeen where next.key != attempt.key:
                judgement.doubt(
                    "outcome-not-seen",
                    "attempt \(next.number) has another key than attempt \(attempt.number), whose end was not seen",
                    remedy: Session.remedy(.tcpHole))
            case .uncertain:
                if let why = attempt.unseenEnd, next.started < attempt.ended, next.key != attempt.key {
                    judgement.doubt(
                        "outcome-not-seen",
                        "attempt \(next.number) has another key than attempt \(attempt.number), \(why)",
                        remedy: Session.remedy(.tcpHole))
                }
                // What was sent before the end knew nothing of it: that is HR-08's matter.
                if let after = following.first(where: { isAfter($0, attempt) }),
                    compare(attempt, after, session, &judgement)
                {
                    kept += 1
                }
            case .success
            where attempt.delivered == nil && next.key != attempt.key && !hasTap(session, between: attempt, next)
                && !session.taps.isEmpty:
                judgement.doubt(
                    "delivery-unknown",
                    "attempt \(next.number) has another key than attempt \(attempt.number), and it can't be told whether the device had received the answer",
                    remedy: "capture both directions near the device, so that its acknowledgements are seen")
            case .success, .notSeen, .either, .authChallenge, .definitive, .redirect, .unnamed:
                continue
            }
        }
        judgement.passSentence =
            "\(kept) \(kept == 1 ? "attempt" : "attempts") after an uncertain end, with the key of the one before"
        if session.attempts.isEmpty {
            session.doubtMissingAttempts(&judgement)
        } else if judgement.isExercised || session.attempts.contains(where: { $0.outcome == .uncertain })
            || !session.unsentSessions().isEmpty
        {
            // The next attempt may be in what was not read.
            session.doubtSessionTraffic(&judgement)
        }
        session.doubtPolicy(&judgement)
        session.doubtSessionBypass(&judgement)
        session.assumePartner(&judgement)
    }

    private static func hasTap(_ session: Session, between one: Attempt, _ other: Attempt) -> Bool {
        session.taps.contains { $0.span.latest >= one.ended && $0.span.earliest <= other.started }
    }

    /// Whether an attempt began after the end of another one; a client that fails over has known of it a little before.
    private static func isAfter(_ next: Attempt, _ attempt: Attempt) -> Bool {
        next.started >= attempt.ended || FailoverOverlap.isBroken(attempt, at: next.started)
    }

    /// True when the key was kept.
    private static func compare(_ attempt: Attempt, _ next: Attempt, _ session: Session, _ judgement: inout Judgement)
        -> Bool
    {
        if accountChanged(between: attempt, next, session) { return false }
        let gap = Nanoseconds(next.started.nanoseconds(since: attempt.ended))
        judgement.looked(at: attempt.evidence("uncertain end"))
        judgement.looked(at: next.evidence("next attempt"))
        // Where the body differs, that is HR-13's matter.
        if next.key != nil, next.key == attempt.key { return true }
        if let reason = session.abandonment(between: attempt, next) {
            judgement.information(
                "operation-ended", "attempt \(next.number) has a new key: \(reason)",
                evidence: [attempt.evidence("uncertain end"), next.evidence("next attempt")])
            judgeReturn(of: attempt, after: next, session, &judgement)
            return false
        }
        if gap > session.policy.timing.retryHorizon {
            judgement.doubt(
                "retry-horizon",
                "attempt \(next.number) has a new key \(gap) after the uncertain end, beyond the horizon of \(session.policy.timing.retryHorizon)",
                remedy: "retry sooner in the test, or raise timing: {retry-horizon} in \(session.policyLine)")
            return false
        }
        if attempt.catalogID == nil, next.catalogID == nil, attempt.first.bodyIsWhole,
            hasTap(session, between: attempt, next)
        {
            judgement.doubt(
                "policy-mismatch",
                "attempts \(attempt.number) and \(next.number) have different keys, but no item at \(session.policy.fields.catalogID) tells whether they are for one selection",
                remedy: "name the field in \(session.policyLine):  fields: {catalog-id: /…}")
            return false
        }
        if attempt.isTorn || next.isTorn, hasTap(session, between: attempt, next) {
            judgement.doubt(
                "body-not-whole",
                "attempts \(attempt.number) and \(next.number) have different keys, but one broke off before it said which item it is for",
                remedy: "break the connection after the upload, not within it")
            return false
        }
        let status = attempt.last.record.status
        judgement.violation(
            next.key == nil ? "key-dropped" : "new-key",
            "attempt \(attempt.number) ended uncertain (\(status == 0 ? "no response" : attempt.last.delivery == .no ? "\(status), not delivered" : String(status))), "
                + "and attempt \(next.number) for the same selection \(gap) later has \(next.key == nil ? "no key" : "another key")",
            place: [next.first.record.pathTemplate],
            evidence: [attempt.evidence("uncertain end"), next.evidence("retry with a new key")])
        return false
    }

    /// After an abandonment the old key must stay away.
    private static func judgeReturn(
        of attempt: Attempt, after next: Attempt, _ session: Session, _ judgement: inout Judgement
    ) {
        guard attempt.disclosureVersion != next.disclosureVersion, let key = attempt.key,
            let back = session.attempts.first(where: { $0.number > next.number && $0.key == key })
        else { return }
        judgement.violation(
            "abandoned-key-returns",
            "attempt \(back.number) brings back the key of attempt \(attempt.number), given up when the disclosure version changed",
            place: [back.first.record.pathTemplate],
            evidence: [attempt.evidence(), next.evidence(), back.evidence("old key again")])
    }

    private static func accountChanged(between one: Attempt, _ other: Attempt, _ session: Session) -> Bool {
        let launches = session.marks([.launch]).filter { $0.attributes["account"] != nil }
        func account(_ instant: Instant) -> String? {
            launches.last { $0.span.earliest <= instant }?.attributes["account"]
        }
        let before = account(one.started)
        return before != nil && before != account(other.started)
    }
}

extension Attempt {
    /// Whether its upload broke off, or has a hole, before the item was named.
    var isTorn: Bool { catalogID == nil && !first.bodyIsWhole }
    /// For one item, whatever the disclosure version; what broke off may be for any.
    func isSameItem(as other: Attempt) -> Bool { catalogID == other.catalogID || isTorn || other.isTorn }
    /// From one address, or from addresses of two families, which one device has.
    func isSameDevice(as other: Attempt) -> Bool { client == other.client || client?.isIPv4 != other.client?.isIPv4 }
}
