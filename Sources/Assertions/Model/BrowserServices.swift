internal import SessionTrace

/// Services by which browsers tell their makers, or the person's other devices, of the pages that were opened. What a
/// browser does for itself is not the app's (RULES, notes ahead), so a handoff URL there is no leak of the app's.
///
/// Not exhaustive: hosts and paths that are publicly known. Contents that are encrypted end to end hold nothing to find.
enum BrowserServices {
    struct Row: Sendable {
        var domain: String
        /// What the path begins with, at a segment's boundary; empty for any path.
        var path: String
        var words: String
    }

    static let rows: [Row] = [
        .init(domain: "clients4.google.com", path: "/chrome-sync", words: "Chrome's sync of history and open tabs"),
        .init(domain: "edge.microsoft.com", path: "/sync", words: "Edge's sync of history and open tabs"),
        .init(domain: "smartscreen.microsoft.com", path: "", words: "Edge's SmartScreen, which is asked about pages"),
        .init(domain: "sync.services.mozilla.com", path: "", words: "Firefox' sync"),
        .init(domain: "sync-v2.brave.com", path: "", words: "Brave's sync"),
    ]

    /// Apple's sync carries what Safari and what apps keep in iCloud; a field says for whom.
    private static let cloud = "icloud.com"
    private static let cloudFields = ["x-cloudkit-bundleid", "x-cloudkit-containerid"]
    private static let safariNames = ["com.apple.Safari", "com.apple.mobilesafari", "com.apple.WebBookmarks"]

    private static let table = rows.compactMap { row in HostName(row.domain).map { (domain: $0, row: row) } }
    private static let cloudDomain = HostName(cloud)

    /// What a request asks of a browser's service, in words; nil when it asks none.
    static func words(_ request: Request, host: HostName?) -> String? {
        guard let host, request.method != "CONNECT" else { return nil }
        let path = request.path
        for (domain, row) in table where host.isWithin(domain) {
            if row.path.isEmpty || path == row.path || path.hasPrefix("\(row.path)/") { return row.words }
            // Where only the head was recorded, the service's own name has to do.
            let isNamed = request.fields.first("user-agent").map(ServiceAgents.isBrowserProgram) ?? false
            if path.hasPrefix(WithheldExchange.unnamedPath), isNamed { return row.words }
        }
        guard let cloudDomain, host.isWithin(cloudDomain) else { return nil }
        let owners = cloudFields.compactMap { request.fields.first($0) }
        // Names under com.apple are Apple's alone.
        let isSafaris = !owners.isEmpty && owners.allSatisfy { safariNames.contains(where: $0.hasPrefix) }
        return isSafaris ? "Safari's sync of tabs and bookmarks" : nil
    }
}
