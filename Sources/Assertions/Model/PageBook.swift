internal import SessionTrace

/// Which hosts' pages the browser opened, and whether a page of Chia had led it there: by a link, a frame or a redirect.
struct PageBook: Sendable {
    /// Who opened a page of a host.
    enum Opener: Hashable {
        /// A page of Chia's, or one that Chia's had led to.
        case chia
        /// Something else.
        case other
        /// No page of the host was seen being opened.
        case unseen
    }

    private var ledByChia: [HostName: Instant] = [:]
    private var opened: [HostName: Instant] = [:]

    /// `requests` are in order of time.
    init(_ requests: some Sequence<LoggedRequest>, redirects: Redirects, roles: HostRoles) {
        for request in requests {
            guard request.actor.actor == .browser, let host = request.host, let page = request.page,
                page.opensDocument, !roles.isChia(host)
            else { continue }
            let started = request.started.time
            if opened[host] == nil { opened[host] = started }
            guard ledByChia[host] == nil else { continue }
            let asking = [page.originHost, page.refererHost].compactMap(\.self)
            let hop = redirects.isEmpty ? nil : WebAddress("https://\(host)\(request.target)").flatMap { redirects[$0] }
            if (asking + [hop?.host].compactMap(\.self)).contains(where: { roles.isChia($0) || ledByChia[$0] != nil }) {
                ledByChia[host] = started
            }
        }
    }

    /// Who opened the pages of a host up to an instant.
    func opener(of host: HostName, at instant: Instant) -> Opener {
        if let first = ledByChia[host], first <= instant { return .chia }
        if let first = opened[host], first <= instant { return .other }
        return .unseen
    }
}

extension LoggedRequest.PageSigns {
    /// Whether a document was asked for: a page or a frame in one.
    var opensDocument: Bool {
        switch fetchDestination {
        case "document", "iframe", "frame", "embed", "object", "fencedframe": true
        case nil: isNavigation
        default: false
        }
    }
}

extension RequestRecord {
    /// The host of the page that asked for it, where the browser names one.
    var askingPage: HostName? { originHost ?? refererHost }

    /// Whether no page asked for it: browsers say `Sec-Fetch-Site: none` of what they send of their own accord and of
    /// addresses that a person or a program gave them, and never of what a page asks for.
    var isOfNoPage: Bool { fetchSite == "none" && askingPage == nil && pageOrigin != .browserExtension }
}
