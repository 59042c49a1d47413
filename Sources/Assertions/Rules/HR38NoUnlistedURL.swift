internal import SessionTrace

/// **HR-38 no-unlisted-url.** URLs stand in a projection only where the contract gives them a place.
///
/// The contract (CONTRACT.md, "The decision" and "Who talks to whom") knows the neutral URL, the policy URLs and the
/// item's mirrored image. A URL as the value of any other member is a way around the closed decision. On a Chia host that
/// only servers may call (`chia-api`, `chia-assets`) a URL may stand nowhere, and neither may one that carries its own
/// permission (a signature in the query): an error on a Chia host, a warning on others, as HR-57 weighs it.
///
/// In an answer that no template names, only the decision itself is known to be the projection's: links of the shop
/// beside it are not looked at. A URL inside a sentence is text, unless it is of the kinds that may stand nowhere.
///
/// Inconclusive: as for HR-37.
enum NoUnlistedURL: Rule {
    static let description = RuleDescription(
        id: "HR-38", name: "no-unlisted-url", severity: .error,
        sentence:
            "A projection holds URLs only as neutral URL, policy URLs and image, and none of Chia's server hosts or with a signature.",
        heading: "The decision", matrix: ["M-02"],
        inconclusiveWhen:
            "no projection was found, the policy does not name its path, or an answer was not whole, unread, or cached",
        options: ["hosts: {chia-api, chia-assets}", "fields: {image}"],
        example:
            "The item has \"image\" on the partner's host and \"banner\" on another one. Fail: /banner holds a URL where none may stand (unlisted-url)."
    )

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no projection in the trace"
        var count = 0
        for projection in session.appProjections where projection.answer == .read {
            count += projection.urlCount
            judgement.looked(at: projection.record.evidence("projection"))
            for url in projection.oddURLs { report(url, projection, session, &judgement) }
        }
        judgement.passSentence =
            "\(counted(count, "URL")) in \(counted(session.appProjections.count, "projection")), each where it may stand"
        session.doubtProjections(&judgement)
    }

    private static func report(
        _ url: ProjectionURL, _ projection: Projection, _ session: Session, _ judgement: inout Judgement
    ) {
        let host = url.host.map { session.redactor.host($0.text) } ?? "another scheme"
        let kind: String
        let words: String
        switch url.kind {
        case .unlisted:
            kind = "unlisted-url"
            words = "a URL (\(host)) where none may stand"
        case .serverHost(let role):
            kind = "server-url"
            words = "a URL of \(host), a host of Chia's that only servers may call (\(role.rawValue))"
        case .signed(let sign):
            kind = "signed-url"
            words = "a URL of \(host) with a signature (\(sign))"
        }
        judgement.violation(
            kind, severity: kind == "signed-url" && !url.isOnChia ? .warning : .error,
            "\(url.place.shown) holds \(words)",
            place: [
                session.role(of: projection.record.host).rawValue, projection.record.pathTemplate, url.place.template,
            ],
            evidence: [projection.record.evidence("projection", place: url.place.shown)])
    }
}
