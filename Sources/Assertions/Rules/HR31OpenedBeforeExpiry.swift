internal import SessionTrace

/// **HR-31 opened-before-expiry.** A handoff URL is opened while it lives.
///
/// The contract (CONTRACT.md, "The tap sequence" 5) gives it fifteen minutes. The time from the end of the session
/// response to the first byte of the first opening is compared with `timing: url-lifetime` less `url-margin`, and with
/// the lifetime that the response itself states (a field that says until when or how long, on the clock of its `Date`),
/// whichever is shorter. More than a minute is a warning: the app is slow to open what it got. That Chia shows a
/// generic page for a URL that has expired is no excuse.
///
/// Inconclusive: connections to Chia that could not be read.
enum OpenedBeforeExpiry: Rule {
    static let description = RuleDescription(
        id: "HR-31", name: "opened-before-expiry", severity: .error,
        sentence: "A handoff URL is opened before it expires, and without delay.",
        heading: "The tap sequence",
        inconclusiveWhen:
            "connections to Chia could not be read or went around the proxy, nothing tells whose an opening is, or a URL of another session was opened",
        options: ["timing: {url-lifetime}", "timing: {url-margin}"],
        example:
            "The app opens the URL 16 minutes after it came. Fail: opened 16 min after its answer, 15 min are allowed."
    )

    /// Later than this is slow.
    static let promptness = Nanoseconds.seconds(60)

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no handoff URL was opened"
        var ages: [String] = []
        for (index, url) in session.urls.enumerated() {
            guard let opening = session.openings(of: index).first else { continue }
            judgement.looked(at: url.evidence)
            judgement.looked(at: opening.evidence("opening"))
            let age = Nanoseconds(opening.started.nanoseconds(since: url.since))
            let (limit, source) = lifetime(of: url, session)
            ages.append("\(url.label) \(age) after its answer, \(limit) are allowed")
            let evidence = [url.evidence, opening.evidence("opening")]
            if age > limit {
                judgement.violation(
                    "opened-late",
                    "\(url.label) was opened \(age) after its answer, \(limit) are allowed (\(source))",
                    place: [opening.first.pathTemplate], evidence: evidence)
            } else if age > promptness {
                judgement.violation(
                    "opened-slowly", severity: .warning,
                    "\(url.label) was opened \(age) after its answer, later than \(promptness)",
                    place: [opening.first.pathTemplate], evidence: evidence)
            }
        }
        judgement.passSentence = "opened in time: \(ages.joined(separator: "; "))"
        session.doubtForeignOpenings(&judgement)
        session.doubtOpenings(&judgement)
    }

    /// The shorter of the policy's time and the response's own, and where it comes from.
    private static func lifetime(of url: HandoffURL, _ session: Session) -> (Nanoseconds, String) {
        let timing = session.policy.timing
        if let stated = session.attempts[url.attempt - 1].last.answer.lifetime, stated.length < timing.urlLifetime {
            return (Nanoseconds(stated.length.count - timing.urlMargin.count), "by the answer's \(stated.field)")
        }
        return (Nanoseconds(timing.urlLifetime.count - timing.urlMargin.count), "timing: url-lifetime")
    }
}
