internal import SessionTrace

/// **HR-08 no-overlapping-attempts.** No two session attempts are on their way at one time.
///
/// The contract (CONTRACT.md, "The tap sequence" 3) knows one operation in flight that further taps join. An attempt is
/// in flight from the first byte of its request to the end of its response, or to the failure that the device saw. A
/// client that fails over from a dead pooled connection overlaps itself for a moment: that is ignored when the earlier
/// attempt got no byte back, its connection was closed by the peer before, or within a second after, the later began, and
/// the key is the same.
///
/// Inconclusive: unread session traffic; an attempt whose end was not seen.
enum NoOverlappingAttempts: Rule {
    static let description = RuleDescription(
        id: "HR-08", name: "no-overlapping-attempts", severity: .error,
        sentence: "No two session requests are in flight at the same time.",
        heading: "The tap sequence", matrix: ["M-10"],
        inconclusiveWhen: "session traffic stayed unread or went around the proxy, or an attempt's end was not seen")

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no session request"
        for attempt in session.attempts { judgement.looked(at: attempt.evidence()) }
        var closest: Nanoseconds?
        for (index, later) in session.attempts.enumerated() {
            for earlier in session.attempts[..<index] {
                if earlier.client != later.client, earlier.client?.isIPv4 == later.client?.isIPv4 { continue }
                let gap = Nanoseconds(later.started.nanoseconds(since: earlier.ended))
                if gap.count >= 0 {
                    closest = min(closest ?? gap, gap)
                    continue
                }
                if FailoverOverlap.isFailover(earlier, later) {
                    judgement.information(
                        "failover",
                        "attempt \(later.number) overlaps attempt \(earlier.number), whose connection the server had closed without a byte",
                        evidence: [earlier.evidence(), later.evidence()])
                    continue
                }
                if let why = earlier.unseenEnd {
                    judgement.doubt(
                        "outcome-not-seen",
                        "attempt \(later.number) began while attempt \(earlier.number) was open, \(why)",
                        remedy: Session.remedy(.tcpHole))
                    continue
                }
                judgement.violation(
                    "overlap",
                    "attempt \(later.number) began \(Nanoseconds(-gap.count)) before attempt \(earlier.number) had ended",
                    place: [later.first.record.pathTemplate],
                    evidence: [earlier.evidence(), later.evidence("overlapping session request")])
            }
        }
        judgement.passSentence =
            session.attempts.count == 1
            ? "1 session request"
            : "\(session.attempts.count) session requests, the closest two \(closest ?? Nanoseconds(0)) apart"
        if session.attempts.isEmpty {
            session.doubtMissingAttempts(&judgement)
        } else {
            session.doubtSessionTraffic(&judgement)
        }
        session.doubtPolicy(&judgement)
        session.doubtBypass(&judgement)
        session.assumePartner(&judgement)
    }
}
