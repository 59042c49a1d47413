internal import SessionTrace

/// **HR-57 no-authenticated-asset.** Chia's authenticated assets are the backend's to fetch; the app sees neither them nor
/// their addresses.
///
/// The contract (CONTRACT.md, "Who talks to whom" and "Forbidden") has the backend mirror them to an address of the
/// partner's own. A URL of a host under `hosts: {chia-assets}`, or of any Chia host with a signature in its query, in an
/// answer to the app (body or `Location`) or asked for by the app is a violation; on unread traffic the host's name is
/// enough. A signed URL of another host is a warning, and only inside a projection: a shop may sign its own images
/// elsewhere. The handoff URL is none of these, whatever its query. A Chia page in the browser loads Chia's assets.
///
/// Inconclusive: nothing tells who asked; answers of the partner stayed unread.
enum NoAuthenticatedAsset: Rule {
    static let description = RuleDescription(
        id: "HR-57", name: "no-authenticated-asset", severity: .error,
        sentence:
            "The app neither gets nor fetches a URL of Chia's authenticated assets, or one of Chia's with a signature.",
        heading: "Forbidden", matrix: ["M-13"],
        inconclusiveWhen: "nothing tells who fetched an asset, or answers of the partner could not be read",
        options: ["hosts: {chia-assets}"],
        example:
            "The projection's image is still the one on assets.chia.health. Fail: a URL of assets.chia.health (chia-assets) stands in the answer to GET /catalog/…/handoff (asset-url)."
    )

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no traffic of an app was seen"
        let contents = session.contents
        if contents.questions > 0 { judgement.exercised() }
        for finding in contents.findings {
            guard case .assetURL(let host, let sign) = finding.kind else { continue }
            let what = sign.map { "with a signature (\($0))" } ?? "(\(session.roles.role(of: host).rawValue))"
            let sentence =
                "a URL of \(session.redactor.host(host.text)) \(what) stands in \(ContentRules.carrier(finding)), \(finding.shown)\(ContentRules.times(finding))"
            guard ContentRules.isOfApp(finding, sentence, session, &judgement) else { continue }
            judgement.violation(
                "asset-url", sentence, place: ContentRules.place(finding, session),
                evidence: [finding.evidence("asset's URL")])
        }
        for contact in session.contacts where !contact.isAssociation { judge(contact, session, &judgement) }
        for projection in session.appProjections {
            for url in projection.oddURLs {
                guard case .signed(let sign) = url.kind, !url.isOnChia else { continue }
                judgement.violation(
                    "signed-url", severity: .warning,
                    "\(url.place.shown) of a projection holds a URL with a signature (\(sign))",
                    place: [
                        session.role(of: projection.record.host).rawValue, projection.record.pathTemplate,
                        url.place.template,
                    ], evidence: [projection.record.evidence("projection", place: url.place.shown)])
            }
        }
        judgement.passSentence =
            "no URL of an authenticated asset in \(counted(contents.answers, "answer")) to the app, and none among \(counted(contents.questions, "request"))"
        guard session.hasAppTraffic else { return }
        ContentRules.doubtAnswers("a URL of an asset", session, &judgement) { ContentRules.mayBePartner($0, session) }
        session.doubtChiaHoles(exceptBrowser: true, &judgement)
        if session.policy.hosts.chiaAssets.isEmpty {
            judgement.assume(
                "chia-assets-unnamed",
                "the policy names no hosts: {chia-assets}, so that an asset of Chia's is known by a signature in its URL alone"
            )
        }
        if !session.policy.hosts.chiaAssets.isEmpty { session.doubtNames(before: nil, &judgement) }
    }

    private static func judge(_ contact: Contact, _ session: Session, _ judgement: inout Judgement) {
        let address = contact.request?.address
        let sign = address.flatMap { $0.token == nil ? SignedURL.sign(ofQuery: $0.query) : nil }
        guard contact.role == .chiaAssets || sign != nil else { return }
        let what = sign.map { "a URL with a signature (\($0))" } ?? "an authenticated asset (\(contact.means))"
        let sentence = "\(contact.request?.subject ?? session.redactor.host(contact.host.text)): \(what)"
        ContentRules.judge(contact, "asset-fetch", sentence, session, &judgement)
    }
}
