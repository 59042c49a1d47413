internal import SessionTrace

/// Programs of browser and system that fetch for others, and name themselves in the User-Agent instead of whom they fetch
/// for. None of them is the app by its name; most of them may work for it, and so are nobody's by their name alone.
enum ServiceAgents {
    /// What the User-Agent begins with, whose it is, and what it is in words.
    static let rows: [(prefix: String, actor: Actor, words: String)] = [
        ("MobileSafari/", .browser, "Safari's own fetches"),
        ("SafariBookmarksSyncAgent/", .browser, "Safari's sync"),
        ("com.apple.SafariBookmarksSyncAgent/", .browser, "Safari's sync"),
        ("com.apple.Safari.", .browser, "Safari's own fetches"),
        ("webbookmarksd/", .browser, "Safari's sync"),
        // What Chromium's browsers call themselves in their sync: `Chrome ANDROID-PHONE 140.0.7339.51 (…) channel(stable)`.
        ("Chrome ANDROID-", .browser, "the sync of Chrome and its kin"),
        ("Chrome IOS-", .browser, "the sync of Chrome and its kin"),
        ("Firefox-iOS-", .browser, "Firefox' sync"),
        ("Firefox-Android-", .browser, "Firefox' sync"),
        ("CloudKit/", .unknown, "iCloud's sync for Safari and apps"),
        ("cloudd/", .unknown, "iCloud's sync for Safari and apps"),
        ("com.apple.WebKit.Networking/", .unknown, "the network process of Safari and of web views"),
        ("SafariViewService/", .unknown, "Safari's view over an app"),
        ("AppleCoreMedia/", .unknown, "the media player of browsers and apps"),
        ("stagefright/", .unknown, "the media player of browsers and apps"),
        ("AndroidDownloadManager/", .unknown, "the download service of browsers and apps"),
        ("Google-Android-IntentFilterVerifier/", .os, "the verifier of app links"),
        ("com.google.android.gms/", .os, "Google Play services"),
    ]

    /// Whether a User-Agent is that of a program of the browser's own, which fetches for no page.
    static func isBrowserProgram(_ agent: String) -> Bool {
        rows.first { agent.hasPrefix($0.prefix) }?.actor == .browser
    }

    /// The reading for a User-Agent; nil when it is none of these.
    static func reading(of agent: String) -> ActorReading? {
        if let row = rows.first(where: { agent.hasPrefix($0.prefix) }) {
            return ActorReading(
                actor: row.actor, isDefinite: false,
                reason: "User-Agent \(ProductName.shown(agent)): \(row.words)")
        }
        if let preview = UserAgent.previewAgent(agent) {
            return ActorReading(
                actor: .unknown, isDefinite: false,
                reason: "User-Agent \(ProductName.shown(agent)): the link preview service \(preview)")
        }
        return nil
    }
}

extension ActorReading {
    /// Who asked for a tunnel, now that what was asked on it is known. The one who asks for tunnels may be a service that
    /// does so for browsers and views alike, and says nothing; an app's own name above a browser's requests is a conflict.
    func knowing(inside inner: ActorReading) -> ActorReading {
        if isDefinite || inner.actor == .unknown { return self }
        if inner.actor == .browser, actor.isApp {
            return ActorReading(
                actor: .unknown, isDefinite: false,
                reason: "conflict: \(reason) asked for the tunnel, but the requests on it have \(inner.reason)",
                basis: .contradiction)
        }
        return inner
    }
}
