/// What a page is that is none of the web's, as its `Origin` (or Referer) says.
enum PageOrigin: String, Hashable, Sendable {
    /// A page inside an app: Capacitor, Cordova and Ionic serve theirs from `https://localhost`, a scheme of their own or
    /// files. No page of the web has such an origin, whatever the User-Agent above it says.
    case app
    /// An extension that the person put into the browser.
    case browserExtension = "extension"
    /// `null`: a page that does not tell its origin. A sandboxed frame, a file, a page of an app; and any page whose
    /// Referrer-Policy forbids to name it, when it posts without CORS.
    case hidden = "null"

    /// Schemes by which browsers serve their extensions' pages.
    private static let extensionSchemes: Set<String> = [
        "chrome-extension", "moz-extension", "safari-extension", "safari-web-extension", "extension",
    ]
    /// Schemes that say nothing of an app: the web's own, a browser's, and that of a Referer that names a program.
    private static let otherSchemes: Set<String> = ["http", "https", "chrome", "about", "edge", "android-app"]

    /// The reading of a field's value; nil for a page of the web, and for what is no origin.
    init?(_ value: some StringProtocol) {
        if value == "null" {
            self = .hidden
            return
        }
        guard let separator = value.firstRange(of: "://") else { return nil }
        let scheme = value[..<separator.lowerBound].lowercased()
        if Self.extensionSchemes.contains(scheme) {
            self = .browserExtension
        } else if scheme == "http" || scheme == "https" {
            guard Self.isThisDevice(value[separator.upperBound...]) else { return nil }
            self = .app
        } else if !scheme.isEmpty, !Self.otherSchemes.contains(scheme) {
            self = .app
        } else {
            return nil
        }
    }

    /// What stands for it in a recording that keeps no origins.
    var example: String {
        switch self {
        case .app: "https://localhost"
        case .browserExtension: "chrome-extension://withheld"
        case .hidden: "null"
        }
    }

    /// Whether an authority is the device itself (RFC 6761 §6.3, and the loopback addresses).
    private static func isThisDevice(_ text: some StringProtocol) -> Bool {
        let authority = text.prefix { $0 != "/" && $0 != "?" && $0 != "#" }.lowercased()
        if authority == "[::1]" || authority.hasPrefix("[::1]:") { return true }
        let host = authority.prefix { $0 != ":" }
        return host == "localhost" || host.hasSuffix(".localhost") || host == "127.0.0.1"
    }
}
