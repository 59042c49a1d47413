internal import SessionTrace

/// What started a request: the answer to "whose act was it?" as the request itself gives it.
///
/// | told by | says |
/// |---|---|
/// | a redirect that led to the address | the host that redirected |
/// | `Referer`, `Origin` | the page's host; `android-app://` a program |
/// | `Sec-Fetch-Site: same-origin`, `same-site` | a page of the same site |
/// | `Sec-Fetch-Site: none` | nothing on the web |
/// | `Sec-Fetch-Site: cross-site` alone | another site's page without a Referer; or another program, since Android's browsers say so of addresses that other programs hand over |
///
/// What Chia's own pages start in the browser is `not-the-app`; every rule asks here.
enum Initiator: Hashable, Sendable {
    /// The address bar, a bookmark, or another program that handed the address over.
    case outside
    /// A program that the browser names (`Referer: android-app://PACKAGE`).
    case program(String)
    /// A document in the browser, on this host.
    case page(HostName)
    /// An answer of this host that redirected.
    case redirect(HostName)
    /// Another site's page, or another program: `Sec-Fetch-Site: cross-site` and no Referer.
    case foreign
    /// Nothing in the request tells.
    case untold

    /// For sentences: `started by a page of chia.health`.
    var words: String {
        switch self {
        case .outside: "started outside the web"
        case .program(let name): "handed over by \(TextMask.word(name[...]))"
        case .page(let host): "started by a page of \(host)"
        case .redirect(let host): "redirected by \(host)"
        case .foreign: "started by another site's page or another program"
        case .untold: "nothing tells what started it"
        }
    }

    /// The page's or redirecting host.
    var host: HostName? {
        switch self {
        case .page(let host), .redirect(let host): host
        case .outside, .program, .foreign, .untold: nil
        }
    }
}

extension RequestRecord {
    /// What started the request, by its own fields.
    var ownInitiator: Initiator {
        if let originHost { return .page(originHost) }
        if let refererHost { return .page(refererHost) }
        if let program = head?.referringProgram { return .program(program) }
        switch fetchSite {
        case "none": return .outside
        case "same-origin", "same-site": return host.map { .page($0) } ?? .untold
        case "cross-site": return .foreign
        default: return .untold
        }
    }
}

extension Session {
    /// Redirects followed back from one request.
    static let redirectDepth = 8

    /// The request whose answer redirected the browser to what `record` asks for, if one did.
    func hop(to record: RequestRecord) -> RequestRecord? { redirects.hop(to: record) }

    /// What started a request: the redirect that led to it, else what its own fields say.
    func initiator(of record: RequestRecord) -> Initiator {
        if let host = hop(to: record)?.host { return .redirect(host) }
        return record.ownInitiator
    }

    /// Whether a page of Chia started a request, or an answer of Chia's, directly or through further redirects.
    func isStartedByChia(_ record: RequestRecord) -> Bool {
        var record = record
        for _ in 0..<Self.redirectDepth {
            if let host = record.ownInitiator.host, roles.isChia(host) { return true }
            guard let hop = hop(to: record) else { return false }
            if hop.host.map({ roles.isChia($0) }) ?? false { return true }
            record = hop
        }
        return false
    }

    /// Whether a page started a request by itself: one of Chia's, or one of the host that it asks.
    func isStartedByPage(_ record: RequestRecord) -> Bool {
        if record.fetchSite == "same-origin" || record.fetchSite == "same-site" { return true }
        return record.refererHost.map { roles.isChia($0) } ?? false
    }
}
