internal import SessionTrace

/// Whose act a leak was.
extension LeakRules {
    /// Whose act it was that a handoff URL or token was sent.
    enum Blame: Hashable {
        /// The app, a view in it, or something of the system that acted for it.
        case app
        case unknown
        /// The sender or the receiver could not be read: it may as well be the browser's request to Chia.
        case untold
        /// It was read, and what it says of its sender fits the browser as well as a page inside the app.
        case untoldSender(String)
        /// A page in the browser of which nothing tells who opened it: it may be a frame of Chia's page.
        case untoldPage(String)
        case system
        /// A Chia page in the browser, or the browser for itself.
        case notTheApp(String)
        /// The same, but told by nothing more than that a page of Chia was open: the pass rests on it.
        case likelyNotTheApp(String)
        /// The browser for itself, told by nothing more than a User-Agent: the pass rests on it.
        case likelyBrowsers(String)
        /// The browser's request to Chia: what the URL is for.
        case intended
    }

    static func blame(_ leak: LeakRecord, _ session: Session) -> Blame {
        // The host of a handoff URL is where it is meant to go, unless the policy or the list calls it something else.
        let role = session.role(of: leak.host)
        let toChia = role.isChia || (role == .thirdParty && session.urls.contains { $0.address?.host == leak.host })
        if !leak.actor.actor.isApp, let request = leak.request, let service = request.browserService {
            return leak.actor.isDefinite ? .notTheApp(service) : .likelyBrowsers(service)
        }
        switch leak.actor.actor {
        case .app, .webview: return .app
        case .os: return .system
        case .browser:
            if toChia { return .intended }
            return leak.request.map { browserBlame($0, role, session) } ?? .notTheApp("the browser's own message")
        case .unknown:
            if case .lookup = leak.carrier, toChia { return .intended }
            if case .serverName = leak.carrier, toChia { return .intended }
            if let request = leak.request, request.actor.isBareBrowser,
                let blame = bareBlame(request, role, session)
            {
                return blame
            }
            return leak.host == nil || leak.request?.hasUnknownFields ?? false ? .untold : .unknown
        }
    }

    /// A browser's User-Agent without fetch metadata: what excuses it, if anything does.
    private static func bareBlame(_ request: RequestRecord, _ role: HostRole, _ session: Session) -> Blame? {
        if isOfChia(request, session) {
            return .notTheApp("a page of Chia asked for it (its Referer or Origin is Chia's)")
        }
        if role == .osNoise, request.askingPage == nil { return .likelyBrowsers("a service of the browser itself") }
        if request.isReport, hasVisitedChia(before: request, session) {
            return .likelyBrowsers(
                "the browser's report about a page, and Chia's was open (\(RequestRecord.reportType))")
        }
        return nil
    }

    private static func browserBlame(_ request: RequestRecord, _ role: HostRole, _ session: Session) -> Blame {
        if isOfChia(request, session) { return .notTheApp("a page of Chia in the browser asked for it") }
        if isRedirectedByChia(request, session) { return .notTheApp("Chia redirected the browser to it") }
        if role == .osNoise {
            let service = "a service of the browser itself"
            return request.isByBrowserProgram && !request.actor.isDefinite
                ? .likelyBrowsers(service) : .notTheApp(service)
        }
        if let own = ownBlame(request, role) { return own }
        guard hasVisitedChia(before: request, session) else { return .app }
        if let page = request.askingPage { return blame(of: page, for: request, session) }
        if request.pageOrigin == .hidden { return .untoldSender(hiddenPage) }
        if !request.isNavigation || request.fetchDestination.map({ $0 != "document" }) ?? false {
            return .likelyNotTheApp("a page in the browser asked for it, and Chia's was open")
        }
        return .app
    }

    static let hiddenPage = "a page that does not name itself (Origin: null), as one inside an app does"

    /// What the browser sent and no page asked for; nil for what a page may have.
    ///
    /// No browser tells a collector, or the partner, of its own accord what its user reads: there, only a recorded process
    /// excuses it. A picture or script of no page is a contradiction, and an address that is opened was given by someone.
    static func ownBlame(_ request: RequestRecord, _ role: HostRole) -> Blame? {
        let isCollector = role == .telemetry || role.isPartners
        if request.pageOrigin == .browserExtension {
            return .notTheApp("an extension of the browser asked for it (its Origin says so)")
        }
        if request.isByBrowserProgram, request.fetchSite == nil {
            if request.actor.isDefinite { return .notTheApp("a program of the browser's own asked for it") }
            return isCollector ? .unknown : .untoldSender("a program of the browser's own asked for it, by its name")
        }
        guard request.isOfNoPage else { return nil }
        let isOpening = request.fetchMode == "navigate" || request.fetchDestination == "document"
        if isOpening, isCollector || request.speculation == nil { return .app }
        if isOpening, !request.actor.isDefinite { return .untoldSender("fetched ahead, and asked for by no page") }
        if request.actor.isDefinite {
            return .notTheApp("the browser's own request, of no page and no program (Sec-Fetch-Site: none)")
        }
        let isPlain = !isOpening && request.fetchDestination.map { $0 == "empty" } ?? true
        switch (isPlain, isCollector) {
        case (true, false):
            return .notTheApp("the browser's own request, of no page and no program (Sec-Fetch-Site: none)")
        case (true, true): return .untoldSender("sent as if by the browser for itself (Sec-Fetch-Site: none)")
        case (false, true): return .unknown
        case (false, false):
            return .untoldSender("asked for as part of a page, and by no page (Sec-Fetch-Site: none)")
        }
    }

    private static func hasVisitedChia(before request: RequestRecord, _ session: Session) -> Bool {
        session.chiaRequests.contains {
            $0.actor.actor == .browser && $0.isNavigation && $0.started.time <= request.started.time
        }
    }

    /// Another page than Chia's asked for it. The partner's has the URL from the app; one that Chia's led to has it from
    /// Chia's; and of one that was never seen to be opened nobody knows.
    private static func blame(of page: HostName, for request: RequestRecord, _ session: Session) -> Blame {
        let isPartners = session.roles.role(of: page).isPartners
        let shown = page.text == WithheldExchange.unnamedHost ? "a host whose name was withheld" : page.text
        switch session.pages.opener(of: page, at: request.started.time) {
        case .chia where isPartners: return .untoldPage("a page of \(shown), to which Chia's had led, asked for it")
        case .chia: return .notTheApp("a page of \(shown), to which Chia's had led, asked for it")
        case .unseen where !isPartners:
            return .untoldPage("a page of \(shown), which was not seen being opened, asked for it")
        case .other, .unseen: return .app
        }
    }

    static func isOfChia(_ request: RequestRecord, _ session: Session) -> Bool {
        [request.originHost, request.refererHost].compactMap(\.self).contains { session.roles.isChia($0) }
    }

    private static func isRedirectedByChia(_ request: RequestRecord, _ session: Session) -> Bool {
        var address = request.address
        for _ in 0..<8 {
            guard let target = address, let hop = session.redirects[target] else { return false }
            if session.role(of: hop.host).isChia || isOfChia(hop, session) { return true }
            address = hop.address
        }
        return false
    }

    // MARK: what follows from it

    /// Writes down whatever is no violation: a doubt, an assumption or something worth knowing. Returns false for what
    /// the rule has to judge itself: the app's act, an unknown sender's, the system's.
    static func settle(
        _ blame: Blame, _ sentence: String, place: [String], evidence: @autoclosure () -> [Evidence],
        _ judgement: inout Judgement
    ) -> Bool {
        switch blame {
        case .app, .unknown, .system: return false
        case .untold: doubtUntold(sentence, &judgement)
        case .untoldSender(let why): doubtSender("\(sentence): \(why)", &judgement)
        case .untoldPage(let why): doubtPage(sentence, why, &judgement)
        case .intended: break
        case .notTheApp(let why):
            judgement.information("not-the-app", "\(sentence): \(why)", place: place, evidence: evidence())
        case .likelyNotTheApp(let why):
            judgement.assume(
                "chia-page-by-time",
                "\(sentence): taken for Chia's page, since \(why), and no Referer or Origin says so")
            judgement.information("not-the-app", "\(sentence): \(why)", place: place, evidence: evidence())
        case .likelyBrowsers(let why):
            judgement.assume(
                "browser-service",
                "\(sentence): taken for the browser's own (\(why)), as its User-Agent says, and no recorded process")
            judgement.information("not-the-app", "\(sentence): \(why)", place: place, evidence: evidence())
        }
        return true
    }

    private static func doubtPage(_ sentence: String, _ why: String, _ judgement: inout Judgement) {
        judgement.doubt(
            "page-unknown", "\(sentence): \(why), and it can't be told whether the app or Chia's page brought it there",
            remedy:
                "record from the browser's start (browser-clean), with --chia-journey=record for a synthetic persona; or name the partner's hosts in the policy"
        )
    }

    static func doubtSender(_ sentence: String, _ judgement: inout Judgement) {
        judgement.doubt(
            "actor-unknown", "\(sentence), and nothing tells who sent it",
            remedy: "capture with process names (PKTAP, PCAPdroid), or let the client send its own User-Agent")
    }

    /// What carried a token, but who or where to could not be read.
    static func doubtUntold(_ sentence: String, _ judgement: inout Judgement) {
        judgement.doubt(
            BlindSpot.Reason.headerTableUnknown.rawValue,
            "\(sentence), in a request whose head could not be read in full: it may be the browser's own",
            remedy: Session.remedy(.headerTableUnknown))
    }
}
