internal import SessionTrace

/// **HR-02 no-session-before-share-tap.** A session request is sent only after the user tapped the share action.
///
/// The contract (CONTRACT.md, "The tap sequence" 3) lets a handoff URL exist only after affirmative consent. Each attempt
/// needs a share tap whose earliest moment is not after the attempt's first byte. A resend of an operation that began
/// after a tap belongs to that tap, also after a relaunch. Preflights are no attempts.
///
/// Inconclusive: no tap mark, or only unnamed ones; an attempt within the clock's bound of the tap, or just before a
/// hand-made mark, or after a tap of which nothing tells what it was on or whether it was made; a trace that began midway; a
/// share tap without any request that looks like an attempt.
enum NoSessionBeforeShareTap: Rule {
    static let description = RuleDescription(
        id: "HR-02", name: "no-session-before-share-tap", severity: .error,
        sentence: "Every session request follows a tap on the share action.",
        heading: "The tap sequence", matrix: ["M-05"],
        inconclusiveWhen:
            "taps are not marked or not named, a tap's time is not known well enough, or requests stayed unread")

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no share tap and no session request"
        let actions = session.taps.filter { $0.isAction && $0.target != nil }
        let shares = session.taps.filter { $0.target == .share }.sorted { $0.span.earliest < $1.span.earliest }
        let generic = session.taps.filter { $0.target == nil }
        var least: Nanoseconds?
        for attempt in session.attempts {
            judgement.looked(at: attempt.evidence())
            if let tap = shares.last(where: { $0.span.earliest <= attempt.started }) {
                judgement.looked(at: tap.evidence)
                let gap = Nanoseconds(attempt.started.nanoseconds(since: tap.span.earliest))
                least = min(least ?? gap, gap)
                if tap.order(of: attempt.started) == .within, !tap.isByHand {
                    judgement.assume(
                        "tap-window",
                        "the tap is known to \(Nanoseconds(tap.span.latest.nanoseconds(since: tap.span.earliest))), and the request falls within that"
                    )
                }
                continue
            }
            let next = shares.first
            if case .tooClose(let gap, let bound, let code)? = next?.order(of: attempt.started) {
                judgement.doubt(
                    code,
                    "\(attempt.name) began \(gap) before the tap, "
                        + (code == "late-mark"
                            ? "whose hand-made mark may be up to \(bound) late" : "clock bound ±\(bound)"),
                    remedy: "send the marks through the trace's own clock, from the test script")
                continue
            }
            if actions.isEmpty {
                judgement.doubt(
                    generic.isEmpty ? "no-tap-mark" : "generic-tap-mark",
                    generic.isEmpty
                        ? "a session request, but no tap is marked"
                        : "a session request, but no tap mark names its target",
                    remedy: "mark each tap with its target: {\"kind\":\"tap\",\"target\":\"share\"}")
                continue
            }
            // A resend belongs to the tap that its operation began with.
            let operation = session.operations.first { $0.key == attempt.key }
            let start = operation?.attempts.first?.started ?? attempt.started
            if let tap = session.unsureTap(before: start) {
                session.doubtUnsureTap(tap, "\(attempt.name) began", at: start, &judgement)
                continue
            }
            if session.midway.map({ $0 <= attempt.started }) ?? false, session.mayHaveBegun(before: attempt.started),
                !session.taps.contains(where: { $0.span.earliest <= attempt.started })
            {
                judgement.doubt(
                    "start-not-seen",
                    "\(attempt.name) was sent, but the trace began midway, perhaps after a share tap that is not in it",
                    remedy: Session.remedy(.startNotSeen))
                continue
            }
            let distance =
                next.map { "\(Nanoseconds($0.span.earliest.nanoseconds(since: attempt.started))) before the share tap" }
                ?? "without any share tap before it"
            judgement.violation(
                "session-before-tap", "\(attempt.name) was sent \(distance)",
                place: [attempt.first.record.pathTemplate],
                evidence: [attempt.evidence()] + (next.map { [$0.evidence] } ?? []))
        }
        let gap = least.map { ", the closest \($0) after its tap" } ?? ""
        judgement.passSentence =
            "\(session.attempts.count) session \(session.attempts.count == 1 ? "attempt" : "attempts") and "
            + "\(shares.count) share \(shares.count == 1 ? "tap" : "taps")\(gap)"
        if session.attempts.isEmpty {
            session.doubtMissingAttempts(&judgement)
            // Nothing was tapped on share and nothing was seen: unread traffic can still hide an attempt before any tap.
            if judgement.doubts.isEmpty, !session.taps.isEmpty { session.doubtSessionTraffic(&judgement) }
        } else {
            session.doubtSessionTraffic(&judgement)
            session.doubtUnsentSessions(beforeTaps: true, &judgement)
        }
        session.doubtPolicy(&judgement)
        session.doubtMarks(&judgement)
        session.doubtBypass(&judgement)
        session.assumePartner(&judgement)
    }
}
