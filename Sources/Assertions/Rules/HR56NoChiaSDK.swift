internal import SessionTrace

/// **HR-56 no-chia-sdk.** The app is built without Chia's SDK, which is made for servers.
///
/// The contract (CONTRACT.md, "Who talks to whom" and "Forbidden") keeps it off the device. Its name as a word of its own
/// in the User-Agent, another header field or the path of one of the app's requests gives it away; so does a contact of
/// the app with a Chia host that only servers may call (`hosts: {chia-api}`), on whatever layer. Names of hosts, and of
/// pages that others come from, are no sign. A Chia page in the browser calls Chia's own API.
///
/// Inconclusive: nothing tells who contacted the API; requests of the app stayed unread.
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
        session.doubtSessionTraffic(&judgement)
        if !session.policy.hosts.chiaAPI.isEmpty { session.doubtNames(before: nil, &judgement) }
        session.doubtBypass(&judgement)
    }
}
