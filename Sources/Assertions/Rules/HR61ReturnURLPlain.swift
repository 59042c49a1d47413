internal import SessionTrace

/// **HR-61 return-url-plain.** The generic return link carries nothing: no query and no fragment beyond what is registered.
///
/// The contract (CONTRACT.md, "Generic return") has one registered link to the marketplace's home. Links to a return host,
/// or with what the policy's `return-link` registers, are looked at in Chia's redirects and pages in the browser, and in the
/// browser's navigations that a Chia page started. The link is Chia's to write, so what it carries is information; when the
/// policy names the registered link, a link that carries something else is a warning.
///
/// Inconclusive: Chia's pages could not be read. Traps: a registered constant in the link; an app link that opens the app
/// without a request, of which only the page shows the address; a crafted link that the tester typed.
enum ReturnURLPlain: Rule {
    static let description = RuleDescription(
        id: "HR-61", name: "return-url-plain", severity: .warning,
        sentence: "The generic return link carries no query and no fragment beyond the registered ones.",
        heading: "Generic return", matrix: ["M-08"],
        inconclusiveWhen: "Chia's pages in the browser could not be read",
        options: ["hosts: {return}", "return-link"],
        example:
            "Chia's last page links to the shop's home with ?status=done behind it. Information, or with return-link in the policy: fail, warning, carries-values."
    )

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence =
            session.policy.hosts.returnHosts.isEmpty && session.policy.returnLink == nil
            ? "the policy names neither return hosts nor the return link" : "no link back to the partner was seen"
        var seen = 0
        for link in session.returnLinks {
            seen += 1
            judgement.looked(at: link.evidence)
            judge(
                String(link.rest), link.isRedirect ? "a redirect of Chia's" : "a page of Chia's", link.evidence,
                session,
                &judgement)
        }
        for request in session.requests.requests where session.isReturnNavigation(request) {
            guard session.isStartedByChia(request) else { continue }
            seen += 1
            let evidence = request.evidence("return in the browser", session.redactor)
            judgement.looked(at: evidence)
            judge(
                String(request.target[request.path.endIndex...]), "the browser's navigation from Chia's page", evidence,
                session, &judgement)
        }
        judgement.passSentence = "\(counted(seen, "link")) back to the partner, each without more than is registered"
        guard !judgement.idleSentence.hasPrefix("the policy") else { return }
        // One link that was seen does not stand for those that were not.
        if let gap = session.contents.gaps.first(where: { gap in
            !gap.isInRequest && gap.record.actor.actor == .browser
                && gap.record.host.map(session.roles.isChia) ?? false
        }) {
            judgement.doubt(
                gap.reason == .tcpHole ? "body-not-whole" : gap.reason.rawValue,
                "the page of \(gap.record.subject) (packet \(gap.record.started.number)) could not be looked into in full, and may hold a link back",
                remedy: Session.remedy(gap.reason))
        }
        guard let host = session.index.darkHosts.first(where: { session.roles.isChia($0) }),
            let traffic = session.dark[host], traffic.lastData != nil
        else { return }
        judgement.doubt(
            traffic.reason.rawValue, "\(Session.unread(traffic, host)), and may have held a link back",
            remedy: Session.remedy(traffic.reason))
    }

    private static func judge(
        _ rest: String, _ whose: String, _ evidence: Evidence, _ session: Session, _ judgement: inout Judgement
    ) {
        let registered = session.policy.returnLink.map { link in
            String(link[link.prefix { $0 != "?" && $0 != "#" }.endIndex...])
        }
        // A fragment is not sent, so what a request shows of the registered link ends before it.
        if rest.isEmpty || rest == "?" || rest == registered { return }
        if rest == registered.map({ String($0.prefix { $0 != "#" }) }) { return }
        let query = rest.hasPrefix("?") ? rest.dropFirst().prefix { $0 != "#" } : ""
        let names = query.split(separator: "&").prefix(8).map { session.redactor.name($0.prefix { $0 != "=" }) }
        let hasFragment = rest.contains("#")
        let what = [
            names.isEmpty ? nil : "a query (\(names.joined(separator: ", ")))", hasFragment ? "a fragment" : nil,
        ].compactMap(\.self).joined(separator: " and ")
        let sentence = "\(whose) leads back with \(what.isEmpty ? "more than the address" : what)"
        if registered != nil {
            judgement.violation(
                "carries-values", "\(sentence), which the registered link has not", place: names, evidence: [evidence])
        } else {
            judgement.information(
                "carries-values", "\(sentence); Chia writes this link", place: names, evidence: [evidence])
        }
    }
}

extension Session {
    /// Whether the browser opened a page of a return host.
    func isReturnNavigation(_ request: LoggedRequest) -> Bool {
        request.actor.actor == .browser && request.page?.isNavigation ?? false
            && request.host.map { policy.hosts.returnHosts.covers($0) } ?? false
    }

    /// Whether a page of Chia asked for it, or Chia redirected the browser (or the view inside the app) to it.
    func isStartedByChia(_ request: LoggedRequest) -> Bool {
        if [request.page?.refererHost, request.page?.originHost].compactMap(\.self).contains(where: { roles.isChia($0) }
        ) {
            return true
        }
        var address = request.host.flatMap {
            WebAddress("https://\($0.text.contains(":") ? "[\($0.text)]" : $0.text)\(request.target)")
        }
        let hops = request.actor.actor == .webview ? viewRedirects : redirects
        for _ in 0..<8 {
            guard let target = address, let hop = hops[target] else { return false }
            if role(of: hop.host).isChia { return true }
            address = hop.address
        }
        return false
    }
}
