internal import SessionTrace

/// **HR-45 neutral-image-host.** The pictures on the cards come from the partner, under an address that says nothing.
///
/// The contract (CONTRACT.md, "Who talks to whom") has the backend verify each image and mirror it to a neutral address of
/// the partner's own. An image that a projection names, or that such an address redirects the app to, on a Chia or
/// telemetry host is a violation; so is one on any other host while the policy says which hosts serve images
/// (`hosts: {partner-assets}`), and so is any picture that the app itself fetches from Chia. While it does not, a host that is neither is for the policy to name. A path that tells the
/// treatment (a word of a list, or of the item's own title) is a warning. Images that no projection names are the shop's,
/// and what a page in the browser loads, such as the partner's logo, is not the app's.
///
/// Inconclusive: the policy does not say which hosts serve images; projections were not seen, not whole or cached.
enum NeutralImageHost: Rule {
    static let description = RuleDescription(
        id: "HR-45", name: "neutral-image-host", severity: .error,
        sentence: "Card images come from the partner's own hosts, under paths that do not tell the treatment.",
        heading: "Who talks to whom", matrix: [],
        inconclusiveWhen: "the policy does not name the image's host, or projections could not be read",
        options: ["hosts: {partner-assets}", "fields: {image}"],
        example:
            "The projection's image is on www.chia.health, and the app loads it. Fail: /image is on www.chia.health (chia) (image-host)."
    )

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no projection names an image at \(session.policy.fields.image) of its item"
        var known: Set<ProjectionImage> = []
        var fetched = 0
        let fetches = fetches(session)
        for projection in session.appProjections {
            for image in projection.images where known.insert(image).inserted {
                judgement.looked(at: projection.record.evidence("projection", place: image.place.shown))
                judge(
                    image, image.address, projection.record.evidence("projection", place: image.place.shown),
                    projection, session, &judgement)
                judgePath(image, projection, session, &judgement)
                for hop in hops(from: image.address, session) {
                    guard let request = fetches[Place(host: hop.host, target: hop.pathAndQuery)] else {
                        continue
                    }
                    fetched += 1
                    let evidence = request.evidence("image", session.redactor)
                    judgement.looked(at: evidence)
                    if hop != image.address { judge(image, hop, evidence, projection, session, &judgement) }
                }
            }
        }
        for record in session.chiaRequests
        where record.actor.actor.isApp && isPicture(record) && !session.isOfAnotherDevice(record.client?.address) {
            judgement.violation(
                "image-host",
                "\(record.subject) fetches an image from \(session.role(of: record.host).rawValue), by the app (\(record.actor.reason))",
                place: [session.role(of: record.host).rawValue, record.pathTemplate],
                evidence: [record.evidence("image")])
        }
        judgement.passSentence =
            "\(counted(known.count, "card image")), all on hosts of the partner's (\(fetched) fetched)"
        if judgement.isExercised || session.hasJourney { session.doubtProjections(&judgement) }
    }

    private static let pictureEndings = [".png", ".jpg", ".jpeg", ".webp", ".avif", ".gif", ".svg", ".heic"]

    /// A picture of a Chia host, by its path: the app has no other to fetch there than a card's.
    private static func isPicture(_ record: RequestRecord) -> Bool {
        guard let address = record.address, record.method == "GET" else { return false }
        let path = address.path.lowercased()
        return pictureEndings.contains { path.hasSuffix($0) }
    }

    private struct Place: Hashable {
        var host: HostName?
        var target: String
    }

    /// The first fetch by the app of each address that an image has.
    private static func fetches(_ session: Session) -> [Place: LoggedRequest] {
        let images = Set(session.appProjections.flatMap(\.images))
        let places = Set(
            images.flatMap { hops(from: $0.address, session) }.map { Place(host: $0.host, target: $0.pathAndQuery) })
        guard !places.isEmpty else { return [:] }
        var fetches: [Place: LoggedRequest] = [:]
        for request in session.requests.requests
        where request.method == "GET" && request.actor.actor != .browser && request.actor.actor != .os {
            let place = Place(host: request.host, target: request.target)
            if places.contains(place), fetches[place] == nil { fetches[place] = request }
        }
        return fetches
    }

    /// The address and those that it redirects the app to.
    private static func hops(from address: WebAddress, _ session: Session) -> [WebAddress] {
        var hops = [address]
        while hops.count < 6, let next = session.contents.redirects[hops[hops.count - 1]], !hops.contains(next) {
            hops.append(next)
        }
        return hops
    }

    private static func judge(
        _ image: ProjectionImage, _ address: WebAddress, _ evidence: Evidence, _ projection: Projection,
        _ session: Session, _ judgement: inout Judgement
    ) {
        let role = session.roles.role(of: address.host)
        let host = session.redactor.host(address.host.text)
        let sentence =
            address == image.address
            ? "\(image.place.shown) is on \(host) (\(role.rawValue))"
            : "the image at \(image.place.shown) is fetched from \(host) (\(role.rawValue)), to which its address redirects"
        switch role {
        case .partner, .partnerAssets, .returnHost, .mark: return
        case .thirdParty, .osNoise:
            guard !session.policy.hosts.partnerAssets.isEmpty else {
                return judgement.doubt(
                    "policy-mismatch",
                    "\(sentence), and the policy does not say which hosts serve the partner's images",
                    remedy:
                        "add to \(session.policyLine):  hosts: {partner-assets: [\(address.host)]}, if it is the partner's"
                )
            }
        case .chia, .chiaAPI, .chiaAssets, .telemetry: break
        }
        judgement.violation(
            "image-host", sentence,
            place: [role.rawValue, projection.record.pathTemplate, image.place.template], evidence: [evidence])
    }

    private static func judgePath(
        _ image: ProjectionImage, _ projection: Projection, _ session: Session, _ judgement: inout Judgement
    ) {
        guard let word = TreatmentWords.naming(path: image.address.path, titleWords: image.titleWords) else { return }
        judgement.violation(
            "telling-path", severity: .warning,
            "the image's path at \(image.place.shown) tells the treatment: \"\(session.redactor.name(word))\"",
            place: [session.roles.role(of: image.address.host).rawValue, image.place.template],
            evidence: [projection.record.evidence("projection", place: image.place.shown)])
    }
}

extension WebAddress {
    /// What a request line asks for.
    var pathAndQuery: String { query.map { "\(path)?\($0)" } ?? path }
}
