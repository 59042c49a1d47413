internal import SessionTrace

/// What a request's own headers say of who sent it.
struct UserAgent: Sendable {
    /// What a User-Agent alone says; the same few are sent over and over, so each is looked at once.
    private enum Kind: Hashable, Sendable {
        case none
        case system(ActorReading)
        case other(ActorReading)
        case browser(webView: ActorReading?)
    }

    private var known: [String: Kind] = [:]

    /// User-Agents remembered.
    static let limit = 1_000

    private static let byMetadata = ActorReading(
        actor: .browser, isDefinite: false, reason: "a browser's User-Agent and fetch metadata")
    private static let byHeaders = ActorReading(
        actor: .browser, isDefinite: false, reason: "a browser's User-Agent and navigation headers")
    private static let bare = ActorReading(
        actor: .unknown, isDefinite: false, reason: "a browser's User-Agent without a browser's other headers",
        basis: .bareBrowser)

    /// The reading for a request; `.nothing` when its headers say nothing.
    mutating func read(_ request: Request) -> ActorReading {
        let agent = request.fields.first("user-agent") ?? ""
        let kind = kind(of: agent)
        switch kind {
        case .none:
            guard Self.hasFetchMetadata(request) else { return .nothing }
            return ActorReading(
                actor: .unknown, isDefinite: false, reason: "conflict: browser's fetch metadata without a User-Agent",
                basis: .contradiction)
        case .system(let reading):
            return reading
        case .other(let reading):
            guard Self.hasFetchMetadata(request) else { return reading }
            return ActorReading(
                actor: .unknown, isDefinite: false,
                reason: "conflict: \(reading.reason), but a browser's fetch metadata", basis: .contradiction)
        case .browser(let webView?):
            return webView
        case .browser(nil):
            if let sign = Self.webViewSign(request) {
                return ActorReading(actor: .webview, isDefinite: false, reason: sign)
            }
            if Self.hasFetchMetadata(request) { return Self.byMetadata }
            return request.method == "CONNECT" || Self.hasNavigationHeaders(request) ? Self.byHeaders : Self.bare
        }
    }

    private mutating func kind(of agent: String) -> Kind {
        if let kind = known[agent] { return kind }
        let kind = Self.classify(agent)
        if known.count < Self.limit { known[agent] = kind }
        return kind
    }

    private static func classify(_ agent: String) -> Kind {
        if agent.isEmpty { return .none }
        let named = "User-Agent \(short(agent))"
        if UserAgentFamily.of(.system, in: agent) != nil {
            return .system(ActorReading(actor: .os, isDefinite: false, reason: named))
        }
        if let reading = ServiceAgents.reading(of: agent) { return .system(reading) }
        guard isBrowserLike(agent) else {
            return .other(ActorReading(actor: .app, isDefinite: false, reason: named))
        }
        return .browser(
            webView: webViewSign(agent).map { ActorReading(actor: .webview, isDefinite: false, reason: $0) })
    }

    /// Node's fetch sends `sec-fetch-mode` alone; a browser sends all three.
    private static func hasFetchMetadata(_ request: Request) -> Bool {
        var count = 0
        for name in ["sec-fetch-site", "sec-fetch-mode", "sec-fetch-dest"] where request.fields.first(name) != nil {
            count += 1
        }
        return count >= 2
    }

    /// Whether a preview service's name is in the User-Agent; its name.
    static func previewAgent(_ agent: String) -> String? {
        UserAgentFamily.of(.preview, in: agent)?.token
    }

    private static func isBrowserLike(_ agent: String) -> Bool {
        guard agent.hasPrefix("Mozilla/5.0") else { return false }
        return ["AppleWebKit/", "Chrome/", "Firefox/", "Gecko/"].contains(where: agent.contains)
    }

    private static func webViewSign(_ agent: String) -> String? {
        if agent.contains("; wv)") { return "User-Agent of Android's WebView" }
        if let family = UserAgentFamily.of(.inApp, in: agent) {
            return "User-Agent of an in-app browser (\(family.token))"
        }
        let isApplePhone = agent.contains("iPhone") || agent.contains("iPad") || agent.contains("iPod")
        let isOtherBrowser = ["CriOS/", "FxiOS/", "EdgiOS/", "OPT/", "DuckDuckGo/"].contains(where: agent.contains)
        if isApplePhone, agent.contains("AppleWebKit/"), !isOtherBrowser,
            !(agent.contains("Version/") && agent.contains("Safari/"))
        {
            return "User-Agent of an iOS web view (no Version/… Safari/…)"
        }
        return nil
    }

    private static func webViewSign(_ request: Request) -> String? {
        // Some browsers are made of Android's WebView, and send their own package's name.
        if let package = request.fields.first("x-requested-with"), package.contains("."),
            !ProcessNames.isBrowser(package)
        {
            return "X-Requested-With names a package"
        }
        if request.fields.values("sec-ch-ua").contains(where: { $0.contains("Android WebView") }) {
            return "Sec-CH-UA names Android WebView"
        }
        for name in ["origin", "referer"] {
            if let value = request.fields.first(name), PageOrigin(value) == .app {
                return "\(name == "origin" ? "Origin" : "Referer") of a page inside an app"
            }
        }
        return nil
    }

    /// A browser's navigation without fetch metadata (plain HTTP, older Safari).
    private static func hasNavigationHeaders(_ request: Request) -> Bool {
        guard request.fields.first("accept-language") != nil else { return false }
        return request.fields.first("accept")?.contains("text/html") == true
            || request.fields.first("upgrade-insecure-requests") != nil
    }

    /// The first product of the User-Agent, for evidence.
    private static func short(_ agent: String) -> String { ProductName.shown(agent) }
}
