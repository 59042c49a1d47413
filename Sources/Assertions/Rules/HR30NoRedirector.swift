internal import SessionTrace

/// **HR-30 no-redirector.** The URL goes from the app to the browser as it is: no shortener, redirector, deep-link or
/// attribution service, and no page of the partner, lies between the tap and Chia.
///
/// The contract (CONTRACT.md, "Forbidden") rules out redirectors and shorteners. Between the share tap (without marks:
/// the session request) and the opening of its handoff URL, the browser's documents are looked at: one on a host of such
/// a role, one of the partner's, one whose answer redirects to the handoff URL, and one that carries the URL or its token
/// are violations. An opening that a page outside Chia started (its Referer says so) went through that page. Connections
/// of the browser to such hosts that could not be read are a warning. Documents of other sites in the same time are the
/// person's parallel tabs; a redirect of Chia's own is Chia's.
///
/// Inconclusive: connections to Chia, or of the browser, that could not be read.
enum NoRedirector: Rule {
    static let description = RuleDescription(
        id: "HR-30", name: "no-redirector", severity: .error,
        sentence:
            "The handoff URL goes straight to the browser: no redirector, shortener or page of the partner between.",
        heading: "Forbidden",
        inconclusiveWhen:
            "connections to Chia could not be read or went around the proxy, nothing tells whose an opening is, or a URL of another session was opened",
        options: ["hosts: {telemetry}", "hosts: {partner}", "hosts: {return}"],
        example:
            "The app opens a short link that redirects to the handoff URL. Fail: bit.ly (Bitly, shortener) was opened between the tap and the handoff URL."
    )

    /// Categories of hosts that pass a URL on.
    static let categories: Set<String> = ["shortener", "redirector", "deep-link", "attribution", "link-preview"]

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no handoff URL was opened"
        var windows = 0
        for (index, url) in session.urls.enumerated() {
            guard let opening = session.openings(of: index).first else { continue }
            windows += 1
            judgement.looked(at: url.evidence)
            judgement.looked(at: opening.evidence("opening"))
            judge(opening, of: url, session, &judgement)
        }
        judgement.passSentence =
            "\(counted(windows, "handoff URL")) opened, each as the first document of the handoff after its tap"
        judgeWrapped(session, &judgement)
        session.doubtForeignOpenings(&judgement)
        session.doubtOpenings(&judgement)
    }

    private static func judge(
        _ opening: Navigation, of url: HandoffURL, _ session: Session, _ judgement: inout Judgement
    ) {
        let attempt = session.attempts[url.attempt - 1]
        let burst = session.burst(of: attempt)
        let start = burst?.reach ?? attempt.started
        let because = (burst?.evidence ?? []) + [url.evidence, opening.evidence("opening")]
        let since = burst == nil ? "the session request" : "the tap"
        judgeInitiator(opening, of: url, because, session, &judgement)
        for document in session.browsing.documents[
            session.browsing.documents.partitioningIndex { $0.started.time >= start }...]
        {
            guard document.started.time <= opening.started else { break }
            guard let host = document.host, !session.roles.isChia(host), host != url.address?.host,
                document.address.map({ hop in session.neutralURLs.contains { $0.address == hop } }) != true,
                !session.isOfAnotherDevice(document.client?.address)
            else { continue }
            let gap = Nanoseconds(document.started.time.nanoseconds(since: start))
            let evidence = because + [document.evidence("document", place: document.actor.words)]
            let place = [session.role(of: host).rawValue, document.pathTemplate]
            let what = "\(session.redactor.host(host.text))"
            if isHop(document, to: opening, session) {
                judgement.violation(
                    "redirect", "\(what) redirected the browser to \(url.label), \(gap) after \(since)", place: place,
                    evidence: evidence)
            } else if let role = passesOn(host, session), !session.isStartedByPage(document) {
                judgement.violation(
                    "redirector", "\(what) (\(role)) was opened \(gap) after \(since) and before \(url.label)",
                    place: place, evidence: evidence)
            } else {
                judgement.information(
                    "not-the-app", "\(what) was opened beside it, as the person's own tab", place: place,
                    evidence: [document.evidence("document", place: document.actor.words)])
            }
        }
        judgeUnread(from: start, opening, of: url, because, session, &judgement)
    }

    /// Whether a document's answer, directly or through further ones, led to the opening.
    private static func isHop(_ document: RequestRecord, to opening: Navigation, _ session: Session) -> Bool {
        var record = opening.first
        for _ in 0..<Session.redirectDepth {
            guard let hop = session.hop(to: record) else { return false }
            if hop.id == document.id { return true }
            record = hop
        }
        return false
    }

    /// A page that is not Chia's started the opening.
    private static func judgeInitiator(
        _ opening: Navigation, of url: HandoffURL, _ because: [Evidence], _ session: Session,
        _ judgement: inout Judgement
    ) {
        let initiator = opening.first.ownInitiator
        guard case .page(let host) = initiator, !session.roles.isChia(host), host != opening.first.host,
            session.hop(to: opening.first) == nil
        else { return }
        judgement.violation(
            "opened-by-page", "\(url.label) was \(initiator.words), which the app had opened in its place",
            place: [session.role(of: host).rawValue], evidence: because)
    }

    /// The word for a host that passes URLs on, or for the partner's; nil for any other.
    private static func passesOn(_ host: HostName, _ session: Session) -> String? {
        switch session.roles.role(of: host) {
        case .partner: return "the partner's own host"
        case .returnHost: return "the partner's return host"
        default: break
        }
        guard let category = session.roles.category(of: host), categories.contains(category) else { return nil }
        return session.roles.vendor(of: host) ?? category
    }

    /// Connections of the browser, or of nobody, to such a host that could not be read.
    private static func judgeUnread(
        from start: Instant, _ opening: Navigation, of url: HandoffURL, _ because: [Evidence], _ session: Session,
        _ judgement: inout Judgement
    ) {
        for flow in session.browsing.redirectorFlows
        where flow.opened.time >= start && flow.opened.time <= opening.started {
            guard let host = flow.names.first, flow.darkness != nil, !flow.actor.actor.isApp,
                flow.actor.actor != .os, !session.isOfAnotherDevice(flow.client.address)
            else { continue }
            let gap = Nanoseconds(opening.started.nanoseconds(since: flow.opened.time))
            judgement.violation(
                "redirector-contact", severity: .warning,
                "an unread connection to \(host) (\(session.roles.vendor(of: host) ?? "redirector")) was made \(gap) before \(url.label) was opened",
                place: [session.role(of: host).rawValue],
                evidence: because + [
                    Evidence(
                        label: "contact", packets: [flow.opened.number], span: flow.span, connection: flow.id,
                        endpoints: flow.endpoints, subject: "connection to \(host) (\(flow.nameSource))",
                        place: flow.actor.words)
                ])
        }
    }

    /// A document on another host that carries a handoff URL: the URL went there in its place.
    private static func judgeWrapped(_ session: Session, _ judgement: inout Judgement) {
        for leak in session.leaks {
            guard let record = leak.request, record.actor.actor == .browser, record.isNavigation,
                let host = leak.host, !session.roles.isChia(host),
                !session.urls.contains(where: { $0.address?.host == host }), !session.isStartedByChia(record),
                let hit = leak.hits.first(where: {
                    $0.isHandoffToken && !$0.readsAsName && ($0.location.hasPrefix("query") || $0.location == "path")
                })
            else { continue }
            judgement.violation(
                "wrapped",
                "\(LeakRules.name(hit, session)) was opened inside another URL, on \(LeakRules.receiver(leak, session))",
                place: LeakRules.place(leak, hit, session), evidence: [leak.evidence("wrapped URL", hit)])
        }
    }
}
