internal import SessionTrace

/// **HR-05 no-probe-of-handoff-url.** The handoff URL and the neutral URL are asked for by the browser's navigation and
/// by nothing else: no fetch, HEAD, preview, prefetch or availability check.
///
/// The contract (CONTRACT.md, "Forbidden") rules out fetch, HEAD, preview, prefetch and probing. Any request for U or N,
/// or a variant of them in query or fragment, is looked at: its method, who sent it, and what its headers say of its
/// purpose. Redirects that Chia issued are no probes; what a page of Chia fetches, and reloads that are marked, are not
/// the app's.
///
/// Inconclusive: connections to Chia that could not be read, or a request that nothing tells the sender of. What a
/// recorded process says is Safari's is no probe of the app's, read or not: that is an assumption. Of other browsers it is
/// not, since an app can make them prefetch (`mayLaunchUrl()` of a Custom Tab).
enum NoProbeOfHandoffURL: Rule {
    static let description = RuleDescription(
        id: "HR-05", name: "no-probe-of-handoff-url", severity: .error,
        sentence: "Nothing but the browser's own navigation asks for the handoff URL or the neutral URL.",
        heading: "Forbidden", matrix: ["M-05"],
        inconclusiveWhen: "connections to the URL's host could not be read, or nothing tells who asked")

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "neither a handoff URL nor a neutral URL is known from the trace"
        if !session.urls.isEmpty || !session.neutralURLs.isEmpty { judgement.exercised() }
        var navigations = 0
        for record in session.chiaRequests where record.method != "CONNECT" {
            let name: String
            if let (_, isExact) = session.handoffURL(askedBy: record) {
                name = isExact ? "the handoff URL" : "a variant of the handoff URL"
            } else if let (_, isExact) = session.neutralURL(askedBy: record) {
                name = isExact ? "the neutral URL" : "a variant of the neutral URL"
            } else if record.address.map({ Token.first(in: $0.path) != nil }) ?? false {
                name = "a handoff URL of another session"
            } else {
                continue
            }
            if isProbe(record, name, session, &judgement) { continue }
            judgement.looked(at: record.evidence("navigation"))
            navigations += 1
        }
        judgement.passSentence =
            "\(counted(navigations, "request")) for \(counted(session.urls.count, "handoff URL")) and "
            + "\(counted(session.neutralURLs.count, "neutral URL")), all navigations of the browser"
        session.doubtHiddenOpenings(exceptSafari: true, &judgement)
        session.doubtUnnamedAnswer(&judgement)
        if session.urls.isEmpty { session.doubtMissingAttempts(&judgement) }
        session.doubtBypass(&judgement)
        session.doubtCapture(&judgement)
        session.doubtChiaHost(&judgement)
    }

    /// Reports a request that is no navigation; true when it was dealt with.
    private static func isProbe(
        _ record: RequestRecord, _ name: String, _ session: Session, _ judgement: inout Judgement
    ) -> Bool {
        func violation(_ kind: String, _ why: String) -> Bool {
            judgement.violation(
                kind, "\(record.method) of \(name): \(why)", place: [record.method, record.pathTemplate],
                evidence: [record.evidence("probe")])
            return true
        }
        func notTheApp(_ why: String) -> Bool {
            judgement.information(
                "not-the-app", "\(record.method) of \(name): \(why)", place: [record.method, record.pathTemplate],
                evidence: [record.evidence("not the app's")])
            return true
        }
        if let agent = record.previewAgent { return violation("preview", "by the link preview service \(agent)") }
        switch record.actor.actor {
        case .app: return violation(record.method == "HEAD" ? "head" : "fetch", "by the app (\(record.actor.reason))")
        case .webview:
            // Where the page is shown is another rule's matter; that a view of the app asks for it is one of this.
            return violation("fetch", "by a view inside the app (\(record.actor.reason))")
        case .os: return violation("preview", "by the system (\(record.actor.reason))")
        case .browser, .unknown: break
        }
        if isOfChiaPage(record, session) { return notTheApp("a page of Chia in the browser asked for it") }
        if let speculation = record.speculation {
            // A browser fetches ahead what its user begins to type, but only what it has opened before.
            if session.handoffURL(askedBy: record) == nil, isOpenedBefore(record, session) {
                return notTheApp("prefetched by the browser, which had opened it before (\(speculation))")
            }
            return violation("prefetch", speculation)
        }
        if record.method != "GET" {
            return violation(record.method == "HEAD" ? "head" : "method", "no navigation uses it")
        }
        if record.hasRange { return violation("range", "with a Range header") }
        if record.actor.actor == .unknown {
            judgement.doubt(
                "actor-unknown", "\(record.method) of \(name): \(record.actor.reason)",
                remedy: "capture with process names, or let the client send its own User-Agent")
            return true
        }
        if let destination = record.fetchDestination, destination != "document" {
            return violation("fetch", "Sec-Fetch-Dest: \(destination)")
        }
        if let mode = record.fetchMode, mode != "navigate" { return violation("fetch", "Sec-Fetch-Mode: \(mode)") }
        return false
    }

    /// A request that a Chia document started: its Referer or Origin is Chia's, or it is same-origin.
    private static func isOfChiaPage(_ record: RequestRecord, _ session: Session) -> Bool {
        // Some browsers send no fetch metadata with what a page asks for.
        guard record.actor.actor == .browser || record.actor.isBareBrowser else { return false }
        return session.isStartedByChia(record) || session.isStartedByPage(record)
    }

    private static func isOpenedBefore(_ record: RequestRecord, _ session: Session) -> Bool {
        session.chiaRequests.contains {
            $0.actor.actor == .browser && $0.isNavigation && $0.ended.time <= record.started.time
                && $0.host == record.host && $0.address?.path == record.address?.path
        }
    }
}
