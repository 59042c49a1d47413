internal import SessionTrace

/// **HR-55 no-chia-secret-on-device.** The device holds no key or webhook secret of Chia's.
///
/// The contract (CONTRACT.md, "Who talks to whom" and "Forbidden") leaves both with the partner's backend. Looked for in
/// the app's requests and in its answers: shapes that the policy names (`forbidden: {secrets}`, by default `whsec_…`) and
/// secrets that it knows by a salted hash; a header field that proves the app to Chia (`Authorization`, `X-Api-Key` …);
/// the signature fields of Chia's webhooks, which belong between servers. A shape that many services give their secret
/// keys (`sk_live_…`) is a warning: it may be another service's.
///
/// A Chia page in the browser may well send Chia a credential of its own. What the app sends its own backend is its own.
///
/// Inconclusive: nothing tells who sent it to Chia; traffic of the app with hosts of no known role stayed unread, or a message
/// of it could not be looked into in full.
enum NoChiaSecretOnDevice: Rule {
    static let description = RuleDescription(
        id: "HR-55", name: "no-chia-secret-on-device", severity: .error,
        sentence: "No API key, webhook secret or webhook signature of Chia's passes through the app.",
        heading: "Forbidden", matrix: ["M-13"],
        inconclusiveWhen: "nothing tells who sent a credential to Chia, or traffic of the app could not be read",
        options: ["forbidden: {secrets, canaries}", "hosts: {opaque-ok}"],
        example:
            "The app's configuration answer holds the webhook secret. Fail: a secret of the shape whsec_* stands in the answer to GET /config, in the body (secret)."
    )

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no traffic of an app was seen"
        let contents = session.contents
        if contents.questions > 0 { judgement.exercised() }
        for finding in contents.findings {
            guard let (kind, words, severity) = tell(finding) else { continue }
            let sentence =
                "\(words) in \(ContentRules.carrier(finding)), \(finding.shown)\(ContentRules.times(finding))"
            guard ContentRules.isOfApp(finding, sentence, session, &judgement) else { continue }
            judgement.violation(
                kind, severity: severity, sentence, place: ContentRules.place(finding, session) + [words],
                evidence: [finding.evidence("secret")])
        }
        let hashes = session.policy.forbidden.hashes.count
        judgement.passSentence =
            "no secret in \(counted(contents.questions, "request")) and \(counted(contents.answers, "answer")) of the app (\(counted(session.policy.forbidden.secrets.count, "shape")), \(hashes == 1 ? "1 hash" : "\(hashes) hashes"))"
        guard session.hasAppTraffic else { return }
        if hashes == 0 {
            judgement.assume(
                "secrets-by-shape", "the policy knows no secret by its hash: secrets are told by their shape")
        }
        let isConcerned = { (host: HostName) in
            ContentRules.mayBePartner(host, session) || session.roles.role(of: host) == .thirdParty
        }
        ContentRules.doubtAnswers("a secret", session, &judgement, from: isConcerned)
        ContentRules.doubtQuestions("a secret", session, &judgement) { isConcerned($0) || session.roles.isChia($0) }
        session.doubtSessionTraffic(&judgement)
        session.doubtChiaHoles(exceptBrowser: true, &judgement)
    }

    private static func tell(_ finding: ContentFinding) -> (kind: String, words: String, severity: Severity)? {
        switch finding.kind {
        case .secret(.shape(let shape)): ("secret", "a secret of the shape \(shape) stands", .error)
        case .secret(.hash(let label)): ("known-secret", "the secret with the hash \(label)… stands", .error)
        case .secret(.likely(let shape)):
            ("likely-secret", "something of the shape \(shape) of secret keys stands", .warning)
        case .credential(let name): ("chia-credential", "a credential for Chia (\(name)) stands", .error)
        case .webhookSignature(let name): ("webhook-signature", "the signature of a webhook (\(name)) stands", .error)
        case .key, .hiddenState, .hiddenID, .assetURL, .sdk, .catalogCall: nil
        }
    }
}
