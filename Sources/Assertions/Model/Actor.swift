internal import SessionTrace

/// Who sent something.
enum Actor: String, Hashable, Sendable, CaseIterable {
    case app, browser, webview, os, unknown

    /// The app itself or a view inside it.
    var isApp: Bool { self == .app || self == .webview }
}

/// What the evidence says of the actor, by ordered rules: the recorded process beats the User-Agent; what contradicts
/// itself on one level is unknown (RULES section 6).
struct ActorReading: Hashable, Sendable {
    /// What a reading rests on, where rules ask for more than the actor.
    enum Basis: Hashable, Sendable {
        /// A browser's User-Agent without a browser's other headers: an app may have written it.
        case bareBrowser
        /// Evidence that contradicts itself.
        case contradiction
        /// A recorded process that is Safari's own, or acts for it.
        case safari
        /// What else the reason names.
        case other
    }

    var actor: Actor
    /// Whether a recorded process says so.
    var isDefinite: Bool
    /// What says so, for people: `process MobileSafari`, `User-Agent okhttp/4.12.0`.
    var reason: String
    /// What kind of evidence that is.
    var basis = Basis.other

    static let nothing = ActorReading(actor: .unknown, isDefinite: false, reason: "nothing tells who it was")

    /// A browser's User-Agent without a browser's other headers.
    var isBareBrowser: Bool { basis == .bareBrowser }

    /// Whether a recorded process says that it was Safari, which has no interface by which an app can make it fetch ahead.
    var isSafari: Bool { basis == .safari }

    /// Two readings of one flow.
    func combined(with other: ActorReading) -> ActorReading {
        if isDefinite != other.isDefinite { return isDefinite ? self : other }
        if actor == .unknown { return basis == .contradiction ? self : other }
        if other.actor == .unknown || other.actor == actor { return self }
        return ActorReading(
            actor: .unknown, isDefinite: isDefinite, reason: "conflict: \(reason), but also \(other.reason)",
            basis: .contradiction)
    }
}

extension ActorReading {
    /// What a recorded process says; nil when it leaves the question open (a daemon that acts for others).
    init?(process: ProcessIdentity?) {
        guard let process else { return nil }
        if process.source == .listener {
            guard let actor = Actor(rawValue: process.name) else { return nil }
            self.init(actor: actor, isDefinite: true, reason: "it came through the listener of the \(process.name)")
            return
        }
        let own = ProcessNames.actor(named: process.name)
        let effective = process.effectiveName.map { ($0, ProcessNames.actor(named: $0)) }
        let source = process.source.rawValue
        if let (name, actor) = effective, let actor {
            // A web view's network process acts for the app that holds the view.
            let isWebContent = process.name.hasPrefix("com.apple.WebKit")
            self.init(
                actor: isWebContent && actor == .app ? .webview : actor, isDefinite: true,
                reason: "process \(process.name) for \(name) (\(source))",
                basis: ProcessNames.isSafari(name) ? .safari : .other)
            return
        }
        if let userID = process.userID {
            if userID == -1 { return nil }
            if [0, 1000, 1051].contains(userID) {
                if userID == 1051 { return nil }
                self.init(actor: .os, isDefinite: true, reason: "uid \(userID) (\(source))")
                return
            }
        }
        guard let own else { return nil }
        self.init(
            actor: own, isDefinite: true, reason: "process \(process.name) (\(source))",
            basis: ProcessNames.isSafari(process.name) ? .safari : .other)
    }
}

/// Process and package names as recorders write them; they may be cut to 16 or 20 bytes.
enum ProcessNames {
    private static let browsers = [
        "MobileSafari", "Safari", "Chrome", "Google Chrome", "chrome", "chromium", "com.android.chrome", "Firefox",
        "firefox", "org.mozilla.firefox", "Samsung Internet", "com.sec.android.app.sbrowser", "Edge", "Microsoft Edge",
        "com.microsoft.emmx", "Brave", "com.brave.browser", "Opera", "com.opera.browser", "DuckDuckGo",
        "com.duckduckgo.mobile.android", "Chromium", "org.mozilla.fenix", "com.chrome.beta", "com.chrome.dev",
        "com.vivaldi.browser", "com.opera.mini.native",
    ]
    private static let views = ["SafariViewService", "com.apple.SafariViewService"]
    private static let system = [
        "apsd", "swcd", "trustd", "locationd", "cloudd", "netd", "root", "android", "com.google.android.gms",
        "Google Play services", "Google Play Services", "system_server", "kernel_task", "configd", "timed", "parsecd",
        "syncdefaultsd", "rapportd", "identityservicesd", "itunesstored", "appstored", "akd", "symptomsd",
        "networkserviceproxy", "captiveagent", "mobileassetd", "geod", "nesessionmanager", "Android System",
    ]
    /// Whether this is a browser's package or process.
    static func isBrowser(_ name: String) -> Bool { actor(named: name) == .browser }

    /// Whether this is Safari, and no view of it inside an app.
    static func isSafari(_ name: String) -> Bool { name == "MobileSafari" || name == "Safari" }

    /// Daemons that act for others: the name alone says nothing.
    private static let agents = [
        "nsurlsessiond", "mDNSResponder", "com.apple.WebKit.Networking", "WebKit.Networking", "dnsmasq", "unknown", "",
    ]

    /// Who has this name; nil for a daemon that acts for others.
    static func actor(named name: String) -> Actor? {
        func isOne(of names: [String]) -> Bool {
            names.contains { $0 == name || (name.utf8.count >= 15 && $0.hasPrefix(name)) }
        }
        if isOne(of: agents) { return nil }
        if isOne(of: views) { return .webview }
        if isOne(of: browsers) { return .browser }
        return isOne(of: system) ? .os : .app
    }
}
