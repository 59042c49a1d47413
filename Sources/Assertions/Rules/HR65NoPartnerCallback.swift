internal import SessionTrace

/// **HR-65 no-partner-callback.** A page of Chia calls the partner back in no way: no request, frame or beacon to its
/// backend or return host, and no return without the person's tap. A page of Chia's that was opened in a web view of the
/// app counts as well.
///
/// The contract (CONTRACT.md, "Generic return") has no automatic callback, above all where the context is invalid or has
/// expired. Requests of the browser to partner and return hosts are looked at which a Chia page started (its Referer or
/// Origin, a redirect of Chia's). A navigation to a return host is the person's when a tap on the return link is marked
/// beside it; where none is marked, `Sec-Fetch-User` says so, as an assumption. What a redirect of the page makes that the
/// app had opened is nobody's act. Pictures, styles and scripts of the partner's on a co-branded page do not count, unless
/// a picture's query tells an outcome.
///
/// Inconclusive: a return of which only the app says that it took place, or in a browser that never says who acts, where no
/// tap on the return link is marked at all; the browser's traffic, or what has no name and may be its, could not be read, or may have gone around the
/// proxy; nothing tells which page started a request; no taps are marked.
/// Traps: the partner's logo; a tap on the return link; the app's own requests to its backend.
enum NoPartnerCallback: Rule {
    static let description = RuleDescription(
        id: "HR-65", name: "no-partner-callback", severity: .error,
        sentence: "No page of Chia calls the partner's backend or goes back to it by itself.",
        heading: "Generic return", matrix: ["M-07"],
        inconclusiveWhen: "the browser's traffic could not be read, or nothing tells which page started a request",
        options: ["hosts: {partner, return, chia}"],
        example:
            "The handoff URL has expired, and Chia's page redirects the browser to the partner's /callback. Fail: automatic-return, with the redirect."
    )

    /// A tap on the return link comes this long before the page is opened, at most.
    static let tapWindow = Nanoseconds.seconds(10)

    private static let pictures: Set<String> = [
        "image", "style", "script", "font", "audio", "video", "track", "manifest",
    ]

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no page of Chia was opened in the browser"
        // A page of Chia's inside the app is HR-33's matter, and may call back like any other.
        let navigations = session.chiaRequests.filter { Session.openers.contains($0.actor.actor) && $0.isNavigation }
        guard let first = navigations.first else {
            doubtBrowser(since: .distantPast, session, &judgement) { session.roles.isChia($0) }
            return
        }
        for navigation in navigations.prefix(20) { judgement.looked(at: navigation.evidence("page of Chia")) }
        var returns = 0
        for request in session.requests.requests(from: first.started.time, until: .distantFuture) {
            guard Session.openers.contains(request.actor.actor) || request.actor.isBareBrowser, let host = request.host
            else { continue }
            let isReturnHost = session.policy.hosts.returnHosts.covers(host)
            guard isReturnHost || session.roles.role(of: host) == .partner else { continue }
            returns += judge(request, isReturnHost: isReturnHost, session, &judgement) ? 1 : 0
        }
        judgement.passSentence =
            "\(counted(navigations.count, "page")) of Chia opened\(Self.inside(navigations)), \(counted(returns, "return")) by the person, no callback"
        let isPartners = { (host: HostName) -> Bool in
            session.roles.role(of: host) == .partner || session.policy.hosts.returnHosts.covers(host)
        }
        doubtBrowser(since: first.started.time, session, &judgement, to: isPartners)
        doubtNameless(since: first.started.time, session, &judgement, to: isPartners)
        if session.policy.hosts.partner.isEmpty, session.inferredPartner.isEmpty {
            judgement.doubt(
                "policy-mismatch", "the policy names no partner, and no session request shows one",
                remedy: "add to \(session.policyLine):  hosts: {partner: [api.partner.example]}")
        }
        session.doubtRequestLog(since: first.started.time, &judgement)
        session.doubtBypass(&judgement)
        session.doubtCapture(&judgement)
        session.assumePartner(&judgement)
    }

    /// How many of the pages were in a view inside the app, in words.
    private static func inside(_ navigations: [RequestRecord]) -> String {
        let count = navigations.count { $0.actor.actor == .webview }
        return count == 0 ? "" : " (\(count) in a web view of the app)"
    }

    /// Looks at one request of the browser, or of a view inside the app, to the partner; true when it is the person's return.
    private static func judge(
        _ request: LoggedRequest, isReturnHost: Bool, _ session: Session, _ judgement: inout Judgement
    ) -> Bool {
        let subject = request.subject(session.redactor)
        let page = request.page
        let place = [
            isReturnHost ? "return" : "partner", request.template(session.redactor), page?.fetchDestination ?? "",
        ]
        let isOfChia = session.isStartedByChia(request)
        func violation(_ kind: String, _ why: String) -> Bool {
            judgement.violation(
                kind, "\(subject): \(why)", place: place, evidence: [request.evidence("callback", session.redactor)])
            return false
        }
        if isPicture(request) {
            // A picture on a co-branded page is none, but one that tells an outcome is a message.
            guard isOfChia, let name = request.queryNames.first(where: tellsOutcome) else { return false }
            return violation("pixel", "a picture on a page of Chia's, whose query says \(session.redactor.name(name))")
        }
        guard page?.isNavigation ?? false else {
            if isOfChia {
                let isFrame = page?.fetchDestination == "iframe" || page?.fetchDestination == "frame"
                let place = request.actor.actor == .webview ? "a web view of the app" : "the browser"
                return violation(isFrame ? "frame" : "callback", "started by a page of Chia's in \(place)")
            }
            if !isKnownAsOthers(request) { doubtInitiator(subject, &judgement) }
            return false
        }
        let isTapped = isTapped(request, session)
        guard isOfChia else {
            // A page that hides its address, or a program, may have sent the browser there; or Chia's page.
            if isTapped {
                judgement.looked(at: request.evidence("return in the browser", session.redactor))
            } else if !isKnownAsOthers(request) {
                doubtInitiator(subject, &judgement)
            }
            return isTapped
        }
        judgement.looked(at: request.evidence("return in the browser", session.redactor))
        if isTapped { return true }
        // The page had been opened from outside, and sent the browser on before anybody could do anything on it.
        if page?.fetchSite == "none", page?.refererHost == nil, page?.originHost == nil {
            return violation("automatic-return", "redirected by the page of Chia's that the app had opened")
        }
        if page?.isByUser ?? false {
            judgement.assume(
                "return-by-user",
                "\(subject) was started by the person as the browser says (Sec-Fetch-User), no tap is marked")
            return true
        }
        guard !isBesideReturn(request, session), tellsOfPersons(session) else {
            judgement.doubt(
                "no-tap-mark",
                "\(subject) leads back from Chia's page, and neither a mark nor the browser tells whether the person did it",
                remedy: "mark the tap on the return link: handoff mark tap --target return")
            return false
        }
        return violation("automatic-return", "from a page of Chia's, and no tap on the return link is marked beside it")
    }

    private static func isPicture(_ request: LoggedRequest) -> Bool {
        guard request.method == "GET" || request.method == "HEAD" else { return false }
        if let destination = request.page?.fetchDestination { return pictures.contains(destination) }
        return request.isImage
    }

    private static func tellsOutcome(_ name: Substring) -> Bool {
        OutcomeWord.isOutcome(name) || ["status", "result", "state", "event", "step"].contains(name.lowercased())
    }

    /// Whether something tells that no page of Chia's started a request: a page of the partner's own or of anybody else's
    /// did, or the person.
    private static func isKnownAsOthers(_ request: LoggedRequest) -> Bool {
        guard let page = request.page else { return request.actor.actor == .webview }
        if page.refererHost != nil || page.originHost != nil || page.isOfProgram { return true }
        if page.isNavigation, page.isByUser { return true }
        switch page.fetchSite {
        case "same-origin", "same-site": return true
        case "none": return page.fetchDestination == "document" || page.isNavigation || request.actor.actor == .webview
        // In a view the app's own pages speak to the partner, and say nothing of a page across sites.
        default: return request.actor.actor == .webview && page.fetchSite != "cross-site"
        }
    }

    private static func doubtInitiator(_ subject: String, _ judgement: inout Judgement) {
        judgement.doubt(
            "initiator-unknown",
            "\(subject) in the browser, and neither Referer nor Origin tells which page started it",
            remedy: "let the browser send its Referer, or close other pages and say so with browser-clean")
    }

    /// Whether a tap on the return link is marked beside a request: it comes before its page is asked for.
    private static func isTapped(_ request: LoggedRequest, _ session: Session) -> Bool {
        session.marks([.tap]).contains { mark in
            mark.target == .return && isBeside(mark, request, before: tapWindow, after: Nanoseconds(0), session)
        }
    }

    /// Whether the app says beside a request that it was returned to, which does not tell by whom.
    private static func isBesideReturn(_ request: LoggedRequest, _ session: Session) -> Bool {
        session.marks([.return]).contains { mark in
            isBeside(mark, request, before: ForegroundFinder.returnWindow, after: tapWindow, session)
        }
    }

    private static func isBeside(
        _ mark: Mark, _ request: LoggedRequest, before: Nanoseconds, after: Nanoseconds, _ session: Session
    ) -> Bool {
        let reach = session.reach(of: mark)
        return reach.earliest <= request.started.time.advanced(byNanoseconds: after.count)
            && reach.latest >= request.started.time.advanced(byNanoseconds: -before.count)
    }

    /// Whether it would be known that a person went back: taps on the return link are marked, or the browser says of
    /// others of its navigations that a person's act started them (Safari never does).
    private static func tellsOfPersons(_ session: Session) -> Bool {
        session.taps.contains { $0.target == .return }
            || session.taps.contains { $0.target != nil }
                && session.requests.requests.contains {
                    Session.openers.contains($0.actor.actor) && $0.page?.isNavigation == true
                        && $0.page?.isByUser == true
                }
    }

    /// What the browser sent unread to hosts that `concerns` names.
    private static func doubtBrowser(
        since: Instant, _ session: Session, _ judgement: inout Judgement, to concerns: (HostName) -> Bool
    ) {
        for host in session.index.darkHosts where concerns(host) {
            guard let traffic = session.dark[host], let last = traffic.lastData, last >= since, !traffic.isOnly(.app),
                !traffic.isOnly(.os)
            else { continue }
            return judgement.doubt(
                traffic.reason.rawValue, "\(Session.unread(traffic, host)), and may be the browser's",
                remedy: Session.remedy(traffic.reason))
        }
    }

    /// Unread connections without a name may have been the browser's to the partner.
    private static func doubtNameless(
        since: Instant, _ session: Session, _ judgement: inout Judgement, to concerns: (HostName) -> Bool
    ) {
        let flow = session.nameless.first { flow in
            (flow.lastDarkData ?? .distantPast) >= since && OSNoiseHosts.service(ofPort: flow.server.port) == nil
                && !(flow.actor.isDefinite && [.app, .os].contains(flow.actor.actor))
                && (flow.names.isEmpty || flow.names.contains(where: concerns))
        }
        guard let flow, let reason = flow.darkness else { return }
        judgement.doubt(
            reason.rawValue,
            "a connection to \(flow.server) without a name could not be read, and may be the browser's",
            remedy: Session.remedy(reason))
    }
}
