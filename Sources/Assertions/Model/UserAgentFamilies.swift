/// What the words in a User-Agent stand for: one table, read from the top, of which the first word that fits decides.
struct UserAgentFamily: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        /// A service that fetches a link to show a preview of it.
        case preview
        /// A browser inside another app.
        case inApp
        /// The phone's own system.
        case system
        /// A browser.
        case browser
    }

    var kind: Kind
    /// What stands in the User-Agent.
    var token: String
    /// For people.
    var name: String
    /// Orders of HTTP/2's pseudo-header fields (their first letters) that it is known to send; empty when none is known.
    var pseudoHeaderOrders: [String] = []
    /// Whether it sends `Sec-CH-UA`.
    var sendsClientHints = false

    static let rows: [UserAgentFamily] = [
        .init(kind: .preview, token: "WhatsApp", name: "WhatsApp"),
        .init(kind: .preview, token: "facebookexternalhit", name: "facebookexternalhit"),
        .init(kind: .preview, token: "Slackbot", name: "Slackbot"),
        .init(kind: .preview, token: "Twitterbot", name: "Twitterbot"),
        .init(kind: .preview, token: "TelegramBot", name: "TelegramBot"),
        .init(kind: .preview, token: "Discordbot", name: "Discordbot"),
        .init(kind: .preview, token: "LinkedInBot", name: "LinkedInBot"),
        .init(kind: .preview, token: "SkypeUriPreview", name: "SkypeUriPreview"),
        .init(kind: .preview, token: "Applebot", name: "Applebot"),
        .init(kind: .preview, token: "Facebot", name: "Facebot"),
        .init(kind: .preview, token: "Google-PageRenderer", name: "Google-PageRenderer"),
        .init(kind: .preview, token: "vkShare", name: "vkShare"),
        .init(kind: .preview, token: "Pinterestbot", name: "Pinterestbot"),
        .init(kind: .inApp, token: "FBAN/", name: "Facebook"),
        .init(kind: .inApp, token: "FBAV/", name: "Facebook"),
        .init(kind: .inApp, token: "Instagram ", name: "Instagram"),
        .init(kind: .inApp, token: " Line/", name: "Line"),
        .init(kind: .inApp, token: "GSA/", name: "Google app"),
        .init(kind: .inApp, token: "MicroMessenger/", name: "WeChat"),
        .init(kind: .inApp, token: "Snapchat/", name: "Snapchat"),
        .init(kind: .system, token: "swcd", name: "swcd"),
        .init(kind: .system, token: "AASA-Bot", name: "AASA-Bot"),
        .init(kind: .system, token: "CaptiveNetworkSupport", name: "CaptiveNetworkSupport"),
        .init(kind: .system, token: "GoogleAssociationService", name: "GoogleAssociationService"),
        .init(kind: .browser, token: "EdgiOS/", name: "Edge on iOS"),
        .init(kind: .browser, token: "CriOS/", name: "Chrome on iOS"),
        .init(kind: .browser, token: "FxiOS/", name: "Firefox on iOS"),
        .init(kind: .browser, token: "OPT/", name: "Opera on iOS"),
        .init(kind: .browser, token: "DuckDuckGo/", name: "DuckDuckGo"),
        .init(
            kind: .browser, token: "SamsungBrowser/", name: "Samsung Internet", pseudoHeaderOrders: ["masp"],
            sendsClientHints: true),
        .init(
            kind: .browser, token: "EdgA/", name: "Edge", pseudoHeaderOrders: ["masp"], sendsClientHints: true),
        .init(kind: .browser, token: "Edg/", name: "Edge", pseudoHeaderOrders: ["masp"], sendsClientHints: true),
        .init(kind: .browser, token: "OPR/", name: "Opera", pseudoHeaderOrders: ["masp"], sendsClientHints: true),
        .init(kind: .browser, token: "Firefox/", name: "Firefox", pseudoHeaderOrders: ["mpas"]),
        .init(kind: .browser, token: "Chrome/", name: "Chrome", pseudoHeaderOrders: ["masp"], sendsClientHints: true),
        .init(kind: .browser, token: "Safari/", name: "Safari", pseudoHeaderOrders: ["mspa", "msap"]),
    ]

    private static let byKind = Dictionary(grouping: rows) { $0.kind }

    /// The first family of a kind whose word is in a User-Agent.
    static func of(_ kind: Kind, in agent: String) -> UserAgentFamily? {
        byKind[kind]?.first { agent.contains($0.token) }
    }
}
