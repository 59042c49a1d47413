internal import SessionTrace

/// What the stack below a browser's User-Agent says of it: client hints, order of HTTP/2's fields, JA4. A stack that
/// can't be that browser's makes the sender unknown (RULES section 6: conflict is unknown, with the reason).
enum StackSigns {
    /// Orders of pseudo-header fields by which HTTP stacks of apps are known.
    private static let appOrders = ["mpas": "OkHttp", "amps": "Go", "mspa": "nghttp2"]

    /// Why a request that calls itself a browser's can't be that browser's; nil when nothing speaks against it.
    static func conflict(_ request: Request, ja4: String?) -> String? {
        let agent = request.fields.first("user-agent") ?? ""
        guard let family = UserAgentFamily.of(.browser, in: agent) else { return nil }
        if let stack = AppStacks.name(ofJA4: ja4) {
            return "conflict: \(family.name)'s User-Agent, but the TLS stack (JA4) of \(stack)"
        }
        if !family.sendsClientHints, request.fields.first("sec-ch-ua") != nil, family.name == "Firefox" {
            return "conflict: \(family.name)'s User-Agent, but client hints, which it never sends"
        }
        let letters = request.fields.fields.filter { request.fields.nameBytes($0).first == 0x3A }
            .compactMap { request.fields.name($0).dropFirst().first }
        let order = String(letters.prefix(4))
        if !family.pseudoHeaderOrders.isEmpty, !family.pseudoHeaderOrders.contains(order),
            let stack = appOrders[order]
        {
            return "conflict: \(family.name)'s User-Agent, but HTTP/2's fields in the order of \(stack)"
        }
        return nil
    }

    /// The evidence for the sender of an opening, most telling first, for people.
    static func words(_ record: RequestRecord, _ session: Session) -> [String] {
        var words = [record.actor.words]
        guard let head = record.head else { return words }
        if let family = UserAgentFamily.of(.browser, in: head.userAgent), !record.actor.isDefinite {
            words.append("User-Agent of \(family.name)")
            if let order = head.pseudoHeaderOrder, family.pseudoHeaderOrders.contains(order) {
                words.append("HTTP/2's fields in its order")
            }
        }
        if let brand = head.brands.first(where: { !$0.contains("Brand") && $0 != "Chromium" }) {
            words.append("client hints name \(TextMask.word(brand.prefix(40)))")
        }
        if let ja4 = head.ja4 {
            if let stack = AppStacks.name(ofJA4: ja4) {
                words.append("JA4 of \(stack)")
            } else if session.stacks.isSeenElsewhere(record) {
                words.append("JA4 as on other connections of this browser")
            } else if session.stacks.isOfApp(ja4) {
                words.append("JA4 as on the app's connections")
            }
        }
        return words
    }
}

/// Which TLS stacks (JA4) were seen under which User-Agents: clusters learnt from the trace itself.
struct StackBook: Hashable, Sendable {
    private struct Cluster: Hashable {
        var ja4: String
        var agent: String
    }

    /// Hosts to which a browser's User-Agent came over a JA4.
    private var browsers: [Cluster: Set<HostName>] = [:]
    /// JA4 under which the app's requests came.
    private var apps: Set<String> = []

    /// Pairs kept, and hosts of each.
    static let limit = 1_000
    static let hostLimit = 4

    /// Learns from the first request of a connection.
    mutating func learn(_ request: Request, ja4: String?, host: HostName?, actor: ActorReading) {
        guard let ja4, let host else { return }
        switch actor.actor {
        case .app:
            if apps.count < Self.limit { apps.insert(ja4) }
        case .browser:
            let cluster = Cluster(ja4: ja4, agent: request.fields.first("user-agent") ?? "")
            guard browsers[cluster] != nil || browsers.count < Self.limit else { return }
            if browsers[cluster, default: []].count < Self.hostLimit { browsers[cluster, default: []].insert(host) }
        case .webview, .os, .unknown:
            return
        }
    }

    /// Whether the same browser used the same JA4 for another host than the one that `record` asks.
    func isSeenElsewhere(_ record: RequestRecord) -> Bool {
        guard let head = record.head, let ja4 = head.ja4 else { return false }
        return browsers[Cluster(ja4: ja4, agent: head.userAgent)]?.contains { $0 != record.host } ?? false
    }

    /// Whether a browser's requests came over this JA4.
    func isOfBrowser(_ ja4: String) -> Bool { browsers.keys.contains { $0.ja4 == ja4 } }

    /// Whether requests of a browser came over this JA4, and none of the app's.
    func isOnlyOfBrowser(_ ja4: String?) -> Bool { ja4.map { isOfBrowser($0) && !isOfApp($0) } ?? false }

    /// Whether the app's own requests came over this JA4, and none of a browser's.
    func isOnlyOfApp(_ ja4: String) -> Bool { isOfApp(ja4) && !isOfBrowser(ja4) }

    /// Whether the app's own requests came over this JA4.
    func isOfApp(_ ja4: String) -> Bool { apps.contains(ja4) }
}
