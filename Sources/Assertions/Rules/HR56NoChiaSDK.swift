internal import SessionTrace

/// **HR-56 no-chia-sdk.** The app is built without Chia's SDK, which is made for servers.
///
/// The contract (CONTRACT.md, "Who talks to whom" and "Forbidden") keeps it off the device. Its name as a word of its own
/// in the User-Agent, another header field or the path of one of the app's requests gives it away; so does a contact of
/// the app with a Chia host that only servers may call (`hosts: {chia-api}`), on whatever layer. Names of hosts, and of
/// pages that others come from, are no sign. A Chia page in the browser calls Chia's own API.
///
/// Inconclusive: nothing tells who contacted the API; requests of the app stayed unread; a path holds `chiahealth`, which may
/// be Chia's own name and no SDK's (a picture's is only mentioned).
enum NoChiaSDK: Rule {
    static let description = RuleDescription(
        id: "HR-56", name: "no-chia-sdk", severity: .error,
        sentence: "No request of the app bears the name of Chia's SDK, and none goes to Chia's API.",
        heading: "Forbidden", matrix: ["M-13"],
        inconclusiveWhen: "nothing tells who contacted Chia's API, or requests of the app could not be read",
        options: ["hosts: {chia-api}"],
        example:
            "The app's requests have the User-Agent \"chiahealth-partner/2.1\". Fail: GET /home names Chia's SDK (chiahealth) in header:user-agent (sdk-name)."
    )

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no traffic of an app was seen"
        let contents = session.contents
        if contents.questions > 0 { judgement.exercised() }
        for finding in contents.findings {
            guard case .sdk(let name) = finding.kind else { continue }
            let sentence =
                "\(finding.record.subject) names Chia's SDK (\(name)) in \(finding.shown)\(ContentRules.times(finding))"
            guard ContentRules.isOfApp(finding, sentence, session, &judgement) else { continue }
            if finding.shown == "path", name == SDKName.bare {
                judgeName(finding, sentence, session, &judgement)
                continue
            }
            judgement.violation(
                "sdk-name", sentence, place: ContentRules.place(finding, session) + [name],
                evidence: [finding.evidence("SDK's name")])
        }
        for contact in session.contacts where contact.role == .chiaAPI && !contact.isAssociation {
            ContentRules.judge(
                contact, "api-contact", "\(contact.means) of \(contact.host), which only servers may call", session,
                &judgement)
        }
        judgement.passSentence =
            "\(counted(contents.questions, "request")) of the app, none with the SDK's name and none to Chia's API"
        guard session.hasAppTraffic else { return }
        if session.policy.hosts.chiaAPI.isEmpty {
            judgement.assume(
                "chia-api-unnamed",
                "the policy names no hosts: {chia-api}, so that a call of Chia's API shows as a contact with Chia alone (HR-03)"
            )
        }
        session.doubtSessionTraffic(&judgement)
        if !session.policy.hosts.chiaAPI.isEmpty { session.doubtNames(before: nil, &judgement) }
        session.doubtBypass(&judgement)
    }

    /// Chia's name in a path: the SDK's, or a brand's among others.
    private static func judgeName(
        _ finding: ContentFinding, _ sentence: String, _ session: Session, _ judgement: inout Judgement
    ) {
        let path = finding.record.address?.path ?? ""
        if Session.isImagePath(path) || session.role(of: finding.record.host) == .partnerAssets {
            return judgement.information(
                "chias-name", "\(sentence), a picture's", place: ContentRules.place(finding, session),
                evidence: [finding.evidence("Chia's name")])
        }
        guard !session.policy.requests.allow.contains(where: { $0.matches(method: finding.record.method, path: path) })
        else { return }
        judgement.doubt(
            "sdk-name-in-path", "\(sentence), which may be Chia's own name and no SDK's",
            remedy:
                "name the request in \(session.policyLine), if it is none of the SDK's:  requests: {allow: [\"\(finding.record.method) \(session.redactor.path(path))\"]}"
        )
    }
}
