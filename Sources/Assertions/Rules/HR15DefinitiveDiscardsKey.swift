internal import SessionTrace

/// **HR-15 definitive-discards-key.** After a definitive rejection its key and its exact body never come again.
///
/// The contract (CONTRACT.md, "The tap sequence" 3) discards both after a definitive client rejection: any 4xx but 429,
/// those that are authentication challenges (401, 407), and those after which keeping and discarding both conform
/// (`outcomes`). A rejection that was not delivered to the device is an uncertain end to the app. One that the test's own
/// proxy injected is definitive all the same.
///
/// Inconclusive: whether the rejection was delivered is unknown; the end of an attempt that was repeated was not seen; a
/// body is not whole; unread session traffic.
enum DefinitiveDiscardsKey: Rule {
    static let description = RuleDescription(
        id: "HR-15", name: "definitive-discards-key", severity: .error,
        sentence: "After a definitive rejection neither its key nor its exact body is sent again.",
        heading: "The tap sequence",
        inconclusiveWhen:
            "a rejection's delivery or an attempt's end was not seen, a body is not whole, or session traffic stayed unread or went around the proxy",
        options: ["outcomes: {either}"],
        example:
            "The backend answers 422; the user taps again, and the app sends the same key and body. The verdict names the "
            + "rejected attempt and the one that repeats it, and whether key, body or both came again.")

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence =
            session.attempts.isEmpty ? "no session request" : "no attempt was definitively rejected"
        var rejected = 0
        var later = 0
        var last: Instant?
        for attempt in session.attempts {
            switch attempt.outcome {
            case .definitive:
                judgement.looked(at: attempt.evidence("definitive rejection"))
                rejected += 1
                later = max(later, judge(attempt, session, &judgement))
                last = attempt.ended
            case .notSeen: judge(unseen: attempt, session, &judgement)
            case .success, .uncertain, .either, .authChallenge, .redirect, .unnamed: continue
            }
        }
        judgement.passSentence =
            "\(counted(rejected, "definitive rejection")), whose key and body are in none of the \(counted(later, "attempt")) after it"
        if let last, later == 0 {
            judgement.passSentence =
                "\(counted(rejected, "definitive rejection")), whose key and body did not come again in \(session.observed(after: last))"
            session.assumeObserved(after: last, "the rejection", &judgement)
        }
        if session.attempts.isEmpty {
            session.doubtMissingAttempts(&judgement)
        } else if judgement.isExercised {
            session.doubtSessionTraffic(&judgement)
        }
        session.doubtPolicy(&judgement)
        session.doubtSessionBypass(&judgement)
        session.assumePartner(&judgement)
    }

    /// How many attempts came after the rejected one.
    private static func judge(_ rejected: Attempt, _ session: Session, _ judgement: inout Judgement) -> Int {
        let later = session.later(than: rejected)
        for attempt in later {
            let hasKey = rejected.key != nil && attempt.key == rejected.key
            let isWhole = rejected.first.bodyIsWhole && attempt.first.bodyIsWhole
            let hasBody = isWhole && !rejected.first.body.isEmpty && attempt.first.body == rejected.first.body
            guard hasKey || hasBody else {
                if !isWhole {
                    judgement.doubt(
                        "body-not-whole",
                        "whether attempt \(attempt.number) repeats the body of attempt \(rejected.number) can't be told, since one is not whole in the trace",
                        remedy: Session.remedy(.tcpHole))
                }
                continue
            }
            let what = hasKey && hasBody ? "key and body" : hasKey ? "the key" : "the exact body"
            guard rejected.delivered != nil else {
                session.doubtDelivery(
                    "attempt \(attempt.number) repeats \(what) of attempt \(rejected.number) (\(rejected.last.record.status))",
                    &judgement)
                continue
            }
            let gap = Nanoseconds(attempt.started.nanoseconds(since: rejected.ended))
            judgement.violation(
                hasKey ? "key-again" : "body-again",
                "attempt \(rejected.number) was rejected with \(rejected.last.record.status), and attempt \(attempt.number) "
                    + "\(gap) later repeats \(what)",
                place: [attempt.first.record.pathTemplate, hasKey ? "key" : "body"],
                evidence: [rejected.evidence("definitive rejection"), attempt.evidence("rejected request again")])
        }
        return later.count
    }

    /// An attempt whose end was not seen may have been rejected.
    private static func judge(unseen attempt: Attempt, _ session: Session, _ judgement: inout Judgement) {
        guard let key = attempt.key, let again = session.later(than: attempt).first(where: { $0.key == key }) else {
            return
        }
        judgement.doubt(
            "outcome-not-seen",
            "attempt \(again.number) repeats the key of attempt \(attempt.number), whose end was not seen",
            remedy: Session.remedy(.tcpHole))
    }
}
