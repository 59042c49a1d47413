internal import SessionTrace

/// What a request's own headers say of who sent it.
struct UserAgent: Sendable {
    /// Services that fetch a link to show a preview of it.
    static let previewAgents = [
        "WhatsApp", "facebookexternalhit", "Slackbot", "Twitterbot", "TelegramBot", "Discordbot", "LinkedInBot",
        "SkypeUriPreview", "Applebot", "Facebot", "Google-PageRenderer", "vkShare", "Pinterestbot",
    ]
    private static let inAppTokens = ["FBAN/", "FBAV/", "Instagram ", " Line/", "GSA/", "MicroMessenger/", "Snapchat/"]
    private static let systemAgents = ["swcd", "AASA-Bot", "CaptiveNetworkSupport", "GoogleAssociationService"]

    /// The reading for a request; `.nothing` when its headers say nothing.
    static func read(_ request: Request) -> ActorReading {
        let agent = request.fields.first("user-agent") ?? ""
        let sent = ["sec-fetch-site", "sec-fetch-mode", "sec-fetch-dest"].filter { request.fields.first($0) != nil }
        // Node's fetch sends `sec-fetch-mode` alone; a browser sends all three.
        let hasFetchMetadata = sent.count >= 2
        guard !agent.isEmpty else {
            return hasFetchMetadata
                ? ActorReading(
                    actor: .unknown, isDefinite: false,
                    reason: "conflict: browser's fetch metadata without a User-Agent")
                : .nothing
        }
        if systemAgents.contains(where: agent.contains) {
            return ActorReading(actor: .os, isDefinite: false, reason: "User-Agent \(short(agent))")
        }
        guard isBrowserLike(agent) else {
            if hasFetchMetadata {
                return ActorReading(
                    actor: .unknown, isDefinite: false,
                    reason: "conflict: User-Agent \(short(agent)), but a browser's fetch metadata")
            }
            return ActorReading(actor: .app, isDefinite: false, reason: "User-Agent \(short(agent))")
        }
        if let sign = webViewSign(agent, request) {
            return ActorReading(actor: .webview, isDefinite: false, reason: sign)
        }
        if request.method == "CONNECT" || hasFetchMetadata || hasNavigationHeaders(request) {
            return ActorReading(
                actor: .browser, isDefinite: false,
                reason: "a browser's User-Agent and \(hasFetchMetadata ? "fetch metadata" : "navigation headers")")
        }
        return ActorReading(
            actor: .unknown, isDefinite: false,
            reason: "a browser's User-Agent without a browser's other headers")
    }

    /// Whether a preview service's name is in the User-Agent; its name.
    static func previewAgent(_ agent: String) -> String? {
        previewAgents.first(where: agent.contains)
    }

    private static func isBrowserLike(_ agent: String) -> Bool {
        guard agent.hasPrefix("Mozilla/5.0") else { return false }
        return ["AppleWebKit/", "Chrome/", "Firefox/", "Gecko/"].contains(where: agent.contains)
    }

    private static func webViewSign(_ agent: String, _ request: Request) -> String? {
        if agent.contains("; wv)") { return "User-Agent of Android's WebView" }
        if let token = inAppTokens.first(where: agent.contains) { return "User-Agent of an in-app browser (\(token))" }
        let isApplePhone = agent.contains("iPhone") || agent.contains("iPad") || agent.contains("iPod")
        let isOtherBrowser = ["CriOS/", "FxiOS/", "EdgiOS/", "OPT/", "DuckDuckGo/"].contains(where: agent.contains)
        if isApplePhone, agent.contains("AppleWebKit/"), !isOtherBrowser,
            !(agent.contains("Version/") && agent.contains("Safari/"))
        {
            return "User-Agent of an iOS web view (no Version/… Safari/…)"
        }
        if let package = request.fields.first("x-requested-with"), package.contains(".") {
            return "X-Requested-With names a package"
        }
        if request.fields.values("sec-ch-ua").contains(where: { $0.contains("Android WebView") }) {
            return "Sec-CH-UA names Android WebView"
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
    private static func short(_ agent: String) -> String {
        String(agent.prefix { $0 != " " }.prefix(60))
    }
}
