/// Header fields of browsers: what an opening may carry (HR-29).
enum BrowserFields {
    /// Names that browsers send with the opening of a page, in lower case.
    static let names: Set<String> = [
        "host", "connection", "proxy-connection", "keep-alive", "te", "user-agent", "accept", "accept-language",
        "accept-encoding", "accept-charset", "upgrade-insecure-requests", "cache-control", "pragma", "referer",
        "origin", "cookie", "dnt", "save-data", "priority", "if-none-match", "if-modified-since", "alt-used",
        "early-data", "device-memory", "dpr", "viewport-width", "width", "rtt", "downlink", "ect",
        "available-dictionary", "dictionary-id", "upgrade", "http2-settings", "service-worker-navigation-preload",
        // What a prefetch says is HR-05's matter.
        "purpose", "x-purpose", "x-moz", "range",
    ]
    /// Names that begin like this are the browser's own: pages and programs can't set them.
    static let prefixes = ["sec-"]
    /// Credentials.
    static let credentials: Set<String> = ["authorization", "proxy-authorization"]
}

/// What each browser sent on control visits: the names of its header fields, by its User-Agent.
struct BrowserProfiles: Hashable, Sendable {
    private var fields: [String: Set<String>] = [:]

    /// Browsers kept.
    static let limit = 32

    var isEmpty: Bool { fields.isEmpty }

    /// Learns from one visit.
    mutating func learn(_ head: RequestHead) {
        guard fields[head.userAgent] != nil || fields.count < Self.limit, !head.isCut else { return }
        fields[head.userAgent, default: []].formUnion(
            head.headerNames.filter { !BrowserFields.credentials.contains($0) })
    }

    /// The names that the browser with this User-Agent sent; nil when it made no control visit.
    func names(of agent: String) -> Set<String>? { fields[agent] }
}
