internal import SessionTrace

/// **HR-18 session-goes-to-partner-only.** Session requests go to the partner's backend alone, encrypted, and are not sent
/// on.
///
/// The contract (CONTRACT.md, "The tap sequence" 3) lets the app post to the partner's own endpoint; the like-named path of
/// Chia is the backend's to call. The host's role decides, never the path: a partner may mount `/v2/handoff-sessions` on a
/// host of its own. A redirect inside the origin that keeps method and body is a warning; one that leaves the origin
/// discloses the body, one by 301, 302 or 303 loses it.
///
/// Inconclusive: the path is not the policy's; the host's role is not known and no partner is named; unread session traffic.
enum SessionGoesToPartnerOnly: Rule {
    static let description = RuleDescription(
        id: "HR-18", name: "session-goes-to-partner-only", severity: .error,
        sentence: "Session requests go to the partner's backend over TLS, and to no other host.",
        heading: "Who talks to whom",
        inconclusiveWhen:
            "the policy does not name the request's path or its host's role, or session traffic stayed unread or went around the proxy",
        options: ["hosts: {partner}", "requests: {session: {method, path}}"],
        example:
            "The app posts to /v2/handoff-sessions on a Chia host itself, with the key that its backend should hold. The "
            + "verdict names the host, its role and the attempt.")

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no session request"
        var hosts: Set<String> = []
        for attempt in session.attempts {
            judgement.looked(at: attempt.evidence())
            var previous: HostName?
            for (index, message) in attempt.messages.enumerated() {
                if index == 0 || message.record.host != previous {
                    judgeHost(of: message, attempt, session, &judgement)
                }
                previous = message.record.host
                if let host = message.record.host { hosts.insert(host.text) }
                if message.record.address?.scheme == "http" {
                    judgement.violation(
                        "plain-http", "attempt \(attempt.number) went to \(shown(message, session)) without TLS",
                        place: [message.record.pathTemplate], evidence: [attempt.evidence(place: "scheme")])
                }
                let next = index + 1 < attempt.messages.count ? attempt.messages[index + 1] : nil
                judgeRedirect(of: message, followedBy: next, attempt, session, &judgement)
            }
        }
        judgement.passSentence =
            "\(counted(session.attempts.count, "session request")), all to \(hosts.sorted().joined(separator: ", ")) over TLS"
        session.doubtSessionFields(&judgement)
    }

    private static func shown(_ message: SessionRequest, _ session: Session) -> String {
        message.record.host.map { session.redactor.host($0.text) } ?? "(no host)"
    }

    private static func judgeHost(
        of message: SessionRequest, _ attempt: Attempt, _ session: Session, _ judgement: inout Judgement
    ) {
        let role = session.role(of: message.record.host)
        let host = shown(message, session)
        let evidence = [attempt.evidence(place: "host")]
        if role == .partner { return }
        if let name = message.record.host, session.roles.isChia(name) {
            judgement.violation(
                "session-to-chia", "attempt \(attempt.number) went to \(host), a host of Chia",
                place: [message.record.pathTemplate], evidence: evidence)
        } else if session.policy.hosts.partner.isEmpty {
            judgement.doubt(
                "policy-mismatch",
                "attempt \(attempt.number) went to \(host) (\(role.rawValue)), and the policy names no host of the partner",
                remedy: "add to \(session.policyLine):  hosts: {partner: [\(host)]}, if it is the partner's")
        } else {
            judgement.violation(
                "session-to-other-host",
                "attempt \(attempt.number) went to \(host) (\(role.rawValue)); the policy's partner is \(session.policy.hosts.partner.map(\.description).joined(separator: ", ")). If \(host) is the partner's too, add it in \(session.policyLine):  hosts: {partner: [\((session.policy.hosts.partner.map(\.description) + [host]).joined(separator: ", "))]}",
                place: [role.rawValue, message.record.pathTemplate], evidence: evidence)
        }
    }

    private static func judgeRedirect(
        of message: SessionRequest, followedBy next: SessionRequest?, _ attempt: Attempt, _ session: Session,
        _ judgement: inout Judgement
    ) {
        guard let from = message.record.address, let to = message.record.location else { return }
        let status = message.record.status
        let target = session.redactor.host(to.host.text)
        let isSameOrigin = (from.scheme, from.host, from.port) == (to.scheme, to.host, to.port)
        let what = "attempt \(attempt.number) was answered with \(status), to \(isSameOrigin ? "another path" : target)"
        let evidence = [attempt.evidence("redirected session request", place: "status:\(status)")]
        switch status {
        case 307, 308:
            let isFollowed = next != nil
            judgement.violation(
                isSameOrigin ? "redirect-same-origin" : "redirect-cross-origin",
                severity: isSameOrigin || !isFollowed ? .warning : .error,
                what
                    + (isSameOrigin
                        ? " of its own origin"
                        : isFollowed ? ", and the app sent the body there" : ", where the app did not follow"),
                place: [message.record.pathTemplate], evidence: evidence)
        case 301, 302, 303:
            judgement.violation(
                "redirect-changes-method", what + ", which turns the request into a GET without its body",
                place: [message.record.pathTemplate], evidence: evidence)
        default: return
        }
    }
}
