internal import SessionTrace

/// **HR-60 no-status-or-finance-in-response.** After a handoff no answer tells the app what became of it, or who earns
/// what.
///
/// The contract (CONTRACT.md, "Who talks to whom" and "Forbidden") keeps patient and order status and finance data from
/// the device. A name of `forbidden: {response-keys}` in an answer after the handoff is a violation, in any writing, and
/// with words after it (`order_status`, `orderStatusCode`). A name that often tells such things (`payout`, `commission`,
/// `payment…`) is a warning, and only in an answer that also names the item or session of the handoff, or Chia.
///
/// Messages of a WebSocket and event streams count as answers.
///
/// `compensationDisclosure`, which a decision must hold, is exempt. A shop's own order history has a status of its own:
/// while the policy names no keys, one in an answer of an order or status page that says nothing of the handoff is
/// only mentioned, and what `requests: {allow}` names is never judged. What the browser gets is not the app's.
///
/// Inconclusive: nothing tells who asked; answers of the partner stayed unread after the handoff.
enum NoStatusOrFinanceInResponse: Rule {
    static let description = RuleDescription(
        id: "HR-60", name: "no-status-or-finance-in-response", severity: .error,
        sentence: "After a handoff no answer brings the app a status, a prescription or finance data.",
        heading: "Forbidden", matrix: ["M-13"],
        inconclusiveWhen: "nothing tells who asked, or answers of the partner could not be read after the handoff",
        options: ["forbidden: {response-keys}", "requests: {allow}"],
        example:
            "After the return the home answer holds {\"handoff\": {\"order_status\": …}}. Fail: /handoff/order_status stands in the answer to GET /home, 52 s after the handoff (status-key)."
    )

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no handoff in the trace"
        guard let since = handoff(session) else {
            session.doubtMissingAttempts(&judgement)
            return
        }
        if session.contents.answers > 0 { judgement.exercised() }
        for finding in session.contents.findings where finding.last >= since {
            guard case .key(let reason) = finding.kind else { continue }
            report(finding, reason, since: since, session, &judgement)
        }
        judgement.passSentence =
            "no forbidden name (\(counted(session.policy.forbidden.responseKeys.count, "listed one"))) in an answer to the app after the handoff"
        session.doubtUnnamedAnswer(&judgement)
        ContentRules.doubtAnswers("a status", session, &judgement) { host in
            ContentRules.mayBePartner(host, session)
                && (session.dark[host].map { ($0.lastData ?? .distantPast) >= since } ?? true)
        }
        session.assumePartner(&judgement)
    }

    /// When the device first had a handoff URL, or opened a neutral one.
    private static func handoff(_ session: Session) -> Instant? {
        let neutral = session.index.requestsForNeutral.lazy.map { session.chiaRequests[$0] }.first {
            $0.actor.actor == .browser && $0.isNavigation
        }
        return [LeakRules.knownSince(session), neutral?.started.time].compactMap(\.self).min()
    }

    private static let shopWords: Set<String> = [
        "order", "orders", "status", "order-status", "order_status", "orderstatus",
    ]

    private static func report(
        _ finding: ContentFinding, _ reason: ForbiddenKeys.Reason, since: Instant, _ session: Session,
        _ judgement: inout Judgement
    ) {
        let record = finding.record
        let role = session.role(of: record.host)
        guard role != .telemetry, role != .osNoise, !isAllowed(record, session) else { return }
        let gap = Nanoseconds(finding.last.nanoseconds(since: since))
        let sentence =
            "\(finding.shown) stands in \(ContentRules.carrier(finding)), \(gap) after the handoff\(ContentRules.times(finding))"
        let place = ContentRules.place(finding, session)
        let evidence = [finding.evidence("answer")]
        switch reason {
        case .catalog: return
        case .likely(let word):
            guard finding.tellsOfHandoff, ContentRules.isOfApp(finding, sentence, session, &judgement) else { return }
            judgement.violation(
                "likely-status-key", severity: .warning, "\(sentence), and \(word) often tells a status or money",
                place: place, evidence: evidence)
        case .listed:
            guard ContentRules.isOfApp(finding, sentence, session, &judgement) else { return }
            let isShopPage = record.address?.path.split(separator: "/").contains {
                shopWords.contains($0.lowercased())
            }
            if !session.policy.forbidden.namesResponseKeys, !finding.tellsOfHandoff, isShopPage ?? false {
                return judgement.information(
                    "maybe-status",
                    "\(sentence), which may be the shop's own; name the request under requests: {allow}, or the key under forbidden: {response-keys}, in \(session.policyLine)",
                    place: place, evidence: evidence)
            }
            judgement.violation("status-key", sentence, place: place, evidence: evidence)
        }
    }

    private static func isAllowed(_ record: RequestRecord, _ session: Session) -> Bool {
        let path = record.address?.path ?? ""
        return session.policy.requests.allow.contains { $0.matches(method: record.method, path: path) }
    }
}
