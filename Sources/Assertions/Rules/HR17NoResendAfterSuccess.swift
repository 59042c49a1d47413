internal import SessionTrace

/// **HR-17 no-resend-after-success.** Once the answer of success was delivered, its request is not sent again, and no new
/// operation begins without a new share tap.
///
/// The contract (CONTRACT.md, "The tap sequence" 3 and 5) opens only the URL that came back to the request. A tap after
/// the successful attempt had begun makes a later operation somebody's wish; whether it should have joined is HR-07's
/// matter.
///
/// Inconclusive: whether the answer was delivered is unknown; no taps are marked, or by hand alone; unread session
/// traffic. Trap: an app that was killed within two seconds of the answer may not have read it, which is a warning.
enum NoResendAfterSuccess: Rule {
    static let description = RuleDescription(
        id: "HR-17", name: "no-resend-after-success", severity: .error,
        sentence:
            "After a delivered success nothing is sent with its key, and no new operation begins without a share tap.",
        heading: "The tap sequence",
        inconclusiveWhen:
            "the success's delivery was not seen, no tap is marked, or session traffic stayed unread or went around the proxy",
        options: ["timing: {observe-after}"],
        example:
            "The answer with the handoff URL arrives; 3 s later the app sends the same request again. The verdict names both "
            + "attempts, the time between them, and that the answer had been acknowledged.")

    /// An app that was killed this close to the answer may not have read it.
    static let killWindow = Nanoseconds.seconds(2)

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = session.attempts.isEmpty ? "no session request" : "no attempt succeeded"
        var successes = 0
        var last: Instant?
        var known: Set<String> = []
        for attempt in session.attempts {
            if attempt.key.map({ known.insert($0).inserted }) ?? true { judgeBeginning(attempt, session, &judgement) }
            guard attempt.outcome == .success else { continue }
            successes += 1
            last = max(last ?? attempt.ended, attempt.ended)
            judgement.looked(at: attempt.evidence("success"))
            for again in session.later(than: attempt) where attempt.key != nil && again.key == attempt.key {
                judge(again, after: attempt, session, &judgement)
            }
        }
        judgement.passSentence =
            "\(counted(successes, "success")), none sent again"
            + (last.map { " in the \(session.observed(after: $0)) that the trace goes on" } ?? "")
        if let last { session.assumeObserved(after: last, "the success", &judgement) }
        if session.attempts.isEmpty {
            session.doubtMissingAttempts(&judgement)
        } else if judgement.isExercised {
            session.doubtSessionTraffic(&judgement)
        }
        session.doubtPolicy(&judgement)
        session.doubtSessionBypass(&judgement)
        session.assumePartner(&judgement)
    }

    private static func judge(
        _ again: Attempt, after success: Attempt, _ session: Session, _ judgement: inout Judgement
    ) {
        let gap = Nanoseconds(again.started.nanoseconds(since: success.ended))
        let what =
            "attempt \(again.number) has the key of attempt \(success.number), whose success came \(gap) before"
        guard success.delivered == true else { return session.doubtDelivery(what, &judgement) }
        let kill = session.marks([.kill]).first {
            $0.span.earliest <= again.started && $0.span.latest >= success.started
                && $0.span.earliest.nanoseconds(since: success.ended) <= killWindow.count
        }
        let killed =
            kill.map {
                "; the app was killed \(Nanoseconds(abs($0.span.earliest.nanoseconds(since: success.ended)))) from the answer, and may not have read it"
            } ?? ""
        judgement.violation(
            "resend-after-success", severity: kill == nil ? .error : .warning, what + killed,
            place: [again.first.record.pathTemplate],
            evidence: [success.evidence("success"), again.evidence("sent again")])
    }

    /// The first attempt of an operation, after a success of another one.
    private static func judgeBeginning(_ attempt: Attempt, _ session: Session, _ judgement: inout Judgement) {
        let former = session.attempts[..<(attempt.number - 1)].last {
            $0.outcome == .success && $0.ended <= attempt.started && $0.isSameDevice(as: attempt)
        }
        guard let former else { return }
        let shares = session.marks.shares
        if shares.contains(where: { $0.span.earliest >= former.started && $0.span.earliest <= attempt.started }) {
            return
        }
        let gap = Nanoseconds(attempt.started.nanoseconds(since: former.ended))
        let what =
            "attempt \(attempt.number) begins a new operation \(gap) after the success of attempt \(former.number), without a share tap between"
        let next = shares.first { $0.span.earliest > attempt.started }
        if shares.isEmpty {
            judgement.doubt(
                "no-tap-mark", "\(what), but no share tap is marked at all",
                remedy: "mark each tap: {\"kind\":\"tap\",\"target\":\"share\"}")
        } else if case .tooClose(let distance, let bound, let code)? = next?.order(of: attempt.started) {
            judgement.doubt(
                code, "\(what); the next tap is marked \(distance) after it, and known to ±\(bound)",
                remedy: "send the marks through the trace's own clock, from the test script")
        } else if let tap = session.unsureTap(before: attempt.started), tap.last >= former.started {
            session.doubtUnsureTap(tap, "\(what); it began", at: attempt.started, &judgement)
        } else if shares.contains(where: \.isByHand) {
            judgement.doubt(
                "tap-not-marked", "\(what), but taps were marked by hand, and one may be missing",
                remedy: "mark each tap: {\"kind\":\"tap\",\"target\":\"share\"}")
        } else {
            judgement.violation(
                "operation-without-tap", what, place: [attempt.first.record.pathTemplate],
                evidence: [former.evidence("success"), attempt.evidence("new operation")])
        }
    }
}
