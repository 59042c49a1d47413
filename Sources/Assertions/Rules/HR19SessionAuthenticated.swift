internal import SessionTrace

/// **HR-19 session-authenticated.** A session request carries a credential of the user's session with the partner.
///
/// The contract (CONTRACT.md, "The tap sequence" 3) sends it to the partner's *authenticated* endpoint. Which mechanism is
/// the partner's choice: by default `Authorization` or a cookie, else what `requests: {session: {credential}}` names. A
/// warning only.
///
/// Inconclusive: fields of the head could not be read; the credential is a client certificate, which is not looked at;
/// unread session traffic. Traps: a first request that is answered with 401 or 407 may wait for the challenge; a field with
/// nothing behind its scheme is no credential.
enum SessionAuthenticated: Rule {
    static let description = RuleDescription(
        id: "HR-19", name: "session-authenticated", severity: .warning,
        sentence: "Every session request carries a credential.", heading: "The tap sequence",
        inconclusiveWhen:
            "fields of a request's head could not be read, the policy says that the credential is a client certificate, or session traffic stayed unread or went around the proxy",
        options: ["requests: {session: {credential}}"],
        example:
            "A session request goes out with neither Authorization nor Cookie and is answered with 201: anybody could have "
            + "asked. The verdict says which places were looked at.")

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no session request"
        let places = session.policy.requests.credential
        let words = places.map(\.description).sorted().joined(separator: ", ")
        for attempt in session.attempts {
            judgement.looked(at: attempt.evidence())
            if attempt.first.hasCredential { continue }
            if attempt.outcome == .authChallenge {
                judgement.information(
                    "waits-for-challenge",
                    "attempt \(attempt.number) has no credential, and was answered with \(attempt.last.record.status)",
                    evidence: [attempt.evidence()])
            } else if attempt.first.hasUnknownFields {
                judgement.doubt(
                    BlindSpot.Reason.headerTableUnknown.rawValue,
                    "no credential is seen in attempt \(attempt.number), but fields of its head could not be read",
                    remedy: Session.remedy(.headerTableUnknown))
            } else if places.contains(.clientCertificate) {
                judgement.doubt(
                    "credential-not-visible",
                    "no credential is seen in attempt \(attempt.number), and client certificates are not looked at",
                    remedy: "judge it by hand, or name a header: requests: {session: {credential: [header NAME]}}")
            } else {
                judgement.violation(
                    "no-credential", "attempt \(attempt.number) carries no credential (looked at: \(words))",
                    place: [attempt.first.record.pathTemplate], evidence: [attempt.evidence(place: "head")])
            }
        }
        judgement.passSentence =
            "\(counted(session.attempts.count, "session request")), each with a credential (\(words))"
        session.doubtSessionFields(&judgement)
    }
}

extension Policy.Credential {
    /// Whether a request's head holds it; client certificates are not in the head.
    func isIn(_ fields: FieldSection) -> Bool {
        switch self {
        case .header(let name): fields.values(name).contains(where: Self.isSomething)
        case .cookie: fields.values("cookie").contains { $0.contains { $0 != " " && $0 != "\t" } }
        case .clientCertificate: false
        }
    }

    /// Whether a value says more than its scheme (RFC 9110 §11.4), and more than that nothing was there.
    private static func isSomething(_ value: String) -> Bool {
        let words = value.split { $0 == " " || $0 == "\t" }
        guard let last = words.last, !["null", "undefined", "nil"].contains(last.lowercased()) else { return false }
        return words.count > 1 || !["bearer", "basic", "digest", "dpop", "token"].contains(last.lowercased())
    }
}
