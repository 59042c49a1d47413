internal import SessionTrace

/// **HR-58 no-raw-catalog.** Chia's catalog stays with the partner's backend; the app gets presentation fields.
///
/// The contract (CONTRACT.md, "Who talks to whom") keeps raw catalog objects from the device. Which names only those have
/// is the policy's to say (`forbidden: {catalog-keys}`), and which requests ask for them (`requests: {catalog}`); a call
/// of the app for a catalog at a Chia host is one whatever the policy says. A name stands for itself in any writing (`internalCode`, `internal_code`) and for
/// names that go on after it. What the browser gets is not the app's.
///
/// Inconclusive: nothing tells who asked; answers of the partner stayed unread.
enum NoRawCatalog: Rule {
    static let description = RuleDescription(
        id: "HR-58", name: "no-raw-catalog", severity: .error,
        sentence: "The app neither asks for Chia's raw catalog nor is sent fields that only that has.",
        heading: "Who talks to whom", matrix: ["M-13"],
        inconclusiveWhen: "nothing tells who asked, or answers of the partner could not be read",
        options: ["forbidden: {catalog-keys}", "requests: {catalog}"],
        example:
            "The backend passes the catalog entry on as it is, with \"wholesaleCode\", which the policy lists. Fail: /item/wholesaleCode stands in the answer to GET /catalog/… (catalog-key)."
    )

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        let keys = session.policy.forbidden.catalogKeys
        let templates = session.policy.requests.catalog
        judgement.idleSentence = "no traffic of an app was seen"
        let contents = session.contents
        if contents.questions > 0 { judgement.exercised() }
        for finding in contents.findings {
            let kind: String
            let words: String
            switch finding.kind {
            case .key(.catalog(let entry)):
                guard session.role(of: finding.record.host) != .telemetry else { continue }
                kind = "catalog-key"
                words = "\(finding.shown) (\(session.redactor.name(entry))) stands in \(ContentRules.carrier(finding))"
            case .catalogCall(let template):
                kind = "catalog-call"
                words = "\(finding.record.subject) asks for the raw catalog: the policy names \(template)"
            default: continue
            }
            let sentence = words + ContentRules.times(finding)
            guard ContentRules.isOfApp(finding, sentence, session, &judgement) else { continue }
            judgement.violation(
                kind, sentence, place: ContentRules.place(finding, session), evidence: [finding.evidence("raw catalog")]
            )
        }
        judgement.passSentence =
            "none of \(counted(keys.count, "name")) in \(counted(contents.answers, "answer")), and none of \(counted(templates.count, "path")) in \(counted(contents.questions, "request")) of the app"
        for record in session.chiaRequests where isChiasCatalog(record) { report(record, session, &judgement) }
        guard session.hasAppTraffic else { return }
        if keys.isEmpty {
            judgement.assume(
                "catalog-unnamed",
                "the policy names no fields of the raw catalog (forbidden: {catalog-keys}): only calls for it are looked for"
            )
        }
        ContentRules.doubtAnswers("a raw catalog entry", session, &judgement) { ContentRules.mayBePartner($0, session) }
        session.assumePartner(&judgement)
    }

    /// The catalog where Chia serves it, whatever the policy names.
    private static func isChiasCatalog(_ record: RequestRecord) -> Bool {
        guard record.method != "CONNECT", let path = record.address?.path else { return false }
        let parts = path.split(separator: "/").prefix(2)
        return parts.contains("catalog") || parts.contains("catalogs")
    }

    private static func report(_ record: RequestRecord, _ session: Session, _ judgement: inout Judgement) {
        guard session.role(of: record.host).isChia, record.actor.actor.isApp,
            !session.isOfAnotherDevice(record.client?.address)
        else { return }
        judgement.violation(
            "catalog-call", "\(record.subject) asks Chia for the raw catalog, by the app (\(record.actor.reason))",
            place: [session.role(of: record.host).rawValue, record.method, record.pathTemplate],
            evidence: [record.evidence("raw catalog")])
    }
}
