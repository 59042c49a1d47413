public import SessionTrace

/// What the test knows about the app that it judges: hosts, request templates, fields, times and the gate.
///
/// Every member has a default, so that an empty policy is a policy. `handoff.yml` is read by `Policy.parse`.
public struct Policy: Hashable, Sendable {
    /// Whose host is whose.
    public struct Hosts: Hashable, Sendable {
        /// Chia's own hosts.
        public var chia: [HostPattern] = [HostPattern("chia.health")].compactMap(\.self)
        /// Chia hosts that only servers may call.
        public var chiaAPI: [HostPattern] = []
        /// Chia's authenticated assets.
        public var chiaAssets: [HostPattern] = []
        /// The partner's backend; empty means that it is inferred from who served the session response.
        public var partner: [HostPattern] = []
        /// The partner's mirrored images.
        public var partnerAssets: [HostPattern] = []
        /// Where the generic return link leads.
        public var returnHosts: [HostPattern] = []
        /// Telemetry hosts beside the built-in list.
        public var telemetry: [HostPattern] = []
        /// Whether the built-in telemetry list applies (`builtin` in the list, or no list at all).
        public var usesBuiltinTelemetry = true
        /// Hosts whose encrypted traffic may stay unread.
        public var opaqueOK: [OpaqueAllowance] = []
    }

    /// A host that may stay opaque, and why.
    public struct OpaqueAllowance: Hashable, Sendable {
        /// The host.
        public var host: HostPattern
        /// Why.
        public var reason: String
        /// The last day on which it applies; nil for no end.
        public var expires: CalendarDay?
        /// Where it stands in the file.
        public var line: Int
    }

    /// Where a session request carries its idempotency key.
    public enum KeyPlace: Hashable, Sendable {
        /// A header field.
        case header(String)
        /// A JSON pointer into the body.
        case body(String)
    }

    /// Where a session request carries the credential of the user's session with the partner (HR-19).
    public enum Credential: Hashable, Sendable, CustomStringConvertible {
        /// A header field.
        case header(String)
        /// Any cookie.
        case cookie
        /// A client certificate (mutual TLS), which the trace does not tell.
        case clientCertificate

        /// As the policy writes it.
        public var description: String {
            switch self {
            case .header(let name): "header \(name)"
            case .cookie: "cookie"
            case .clientCertificate: "mtls"
            }
        }
    }

    /// When an app may give up an uncertain operation (HR-14).
    public enum Abandonment: String, Hashable, Sendable, CaseIterable {
        case disclosureVersion = "disclosure-version"
        case projectionWithdrawn = "projection-withdrawn"
    }

    /// Which requests are which.
    public struct Requests: Hashable, Sendable {
        /// The session request.
        public var session = RequestTemplate(method: "POST", path: Policy.template("/handoff-session"))
        /// Where its key is.
        public var key = KeyPlace.header("Idempotency-Key")
        /// Where its credential is; one of these is enough.
        public var credential: Set<Credential> = [.header("Authorization"), .cookie]
        /// What ends an uncertain operation.
        public var abandonOn: Set<Abandonment> = [.disclosureVersion, .projectionWithdrawn]
        /// The projection request.
        public var projection = RequestTemplate(method: "GET", path: Policy.template("/catalog/{id}/handoff"))
        /// Status calls (HR-59).
        public var status: [RequestTemplate] = []
        /// Requests that never are status calls.
        public var allow: [RequestTemplate] = []
        /// What the app may ask for after a return (HR-63, HR-64).
        public var home: [RequestTemplate] = []
        /// What the app may ask for on foreground (HR-43).
        public var foregroundAllow: [RequestTemplate] = []
        /// Raw catalog endpoints (HR-58).
        public var catalog: [RequestTemplate] = []
    }

    /// How the app decides eligibility at the call to action (HR-06).
    public enum Eligibility: String, Hashable, Sendable, CaseIterable {
        case remote, local
    }

    /// JSON pointers into the session request and the projection.
    public struct Fields: Hashable, Sendable {
        public var catalogID = "/catalogId"
        public var disclosureVersion = "/disclosureVersion"
        public var affirmed = "/affirmed"
        public var affirmedAt = "/affirmedAt"
        /// Where decisions are in a projection; nil means that objects with `mode` are looked for.
        public var projection: String?
        public var image = "/image"
        /// Where a projection says that its evidence is stale, missing or unsupported, counted from the end; nil means
        /// that members whose name holds `evidence` or `serviceState` are looked for.
        public var evidence: String?
        /// Ids that must never be sent.
        public var hidden: [String] = []
        /// Whether the file names any of the session request's fields.
        public var areConfigured = false
    }

    /// What must never be seen.
    public struct Forbidden: Hashable, Sendable {
        public var responseKeys = ["order_status", "prescription"]
        public var catalogKeys: [String] = []
        /// Shapes of secrets: what a secret begins with, and `*`.
        public var secrets = ["whsec_*"]
        /// Secrets, and values planted by the tester, by their salted hashes.
        public var hashes: [SecretHash] = []
        /// Whether the file lists response keys itself.
        public var namesResponseKeys = false
        /// Keys under which the app may send HMACs of what it must not send.
        public var digestKeys: [String] = []
    }

    /// Lengths of time.
    public struct Timing: Hashable, Sendable {
        public var doubleTap = Nanoseconds.milliseconds(500)
        public var tapToRequest = Nanoseconds.seconds(10)
        public var urlLifetime = Nanoseconds.seconds(900)
        public var clockError = Nanoseconds.milliseconds(50)
        public var observeAfter = Nanoseconds.seconds(60)
        public var handMark = Nanoseconds.seconds(15)
        public var retryHorizon = Nanoseconds.seconds(86_400)
        public var urlMargin = Nanoseconds.seconds(0)
        /// How soon a projection must be asked for on coming back (HR-42).
        public var refresh = Nanoseconds.seconds(5)
        /// How long what the app sends after coming back or a return is looked at (HR-43, HR-62 … HR-64).
        public var afterReturn = Nanoseconds.seconds(30)
        /// How long the app must be left for a poll to show (HR-44).
        public var away = Nanoseconds.seconds(30)
        /// How long the app must stay silent after a link on a foreign host was opened (HR-66).
        public var foreignLink = Nanoseconds.seconds(5)
        /// How long nobody taps after a launch that is called quiet (HC-10).
        public var quietStart = Nanoseconds.seconds(10)
        /// How long a projection may be used at the call to action where eligibility is local (HR-06), beside what its
        /// own Cache-Control says.
        public var projectionMaxAge = Nanoseconds.seconds(0)
    }

    /// Whose inconclusive verdict counts.
    public enum Gate: Hashable, Sendable {
        case headline, full
        case rules(Set<String>)
    }

    /// A violation that is accepted for a while.
    public struct Exception: Hashable, Sendable {
        public var rule: String
        /// The finding's fingerprint (or its beginning, 4 digits at least); nil with a scope.
        public var fingerprint: String?
        /// The finding's kind; nil with a fingerprint.
        public var scope: String?
        public var reason: String
        public var owner: String
        /// The last day on which it applies.
        public var expires: CalendarDay
        /// Where it stands in the file.
        public var line: Int
    }

    public var hosts = Hosts()
    public var requests = Requests()
    /// Whether the file names the projection request: then its absence tells something.
    public var namesProjection = false
    /// The generic return link as the partner registered it, with its query and fragment if it has one (HR-61); nil when
    /// the policy does not say.
    public var returnLink: String?
    public var eligibility = Eligibility.remote
    public var strictSelection = false
    public var fields = Fields()
    /// Statuses after which keeping and discarding the key both conform (RULES 0.3).
    public var either: Set<Int> = [408, 409, 425]
    public var forbidden = Forbidden()
    public var timing = Timing()
    public var gate = Gate.headline
    /// What the whole input set must show: matrix rows (`M-10`), rule ids, or words of `Policy.exercises`.
    public var mustExercise: [String] = []
    public var exceptions: [Exception] = []
    /// The file that this policy was read from; nil for the defaults.
    public var file: String?
    /// What stands in the file and may not be meant: it counts, and every report says so.
    public var remarks: [PolicyError.Issue] = []

    /// The policy of somebody who wrote none.
    public static let defaults = Policy()

    /// The longest time for which a violation may be accepted.
    public static let longestException = Nanoseconds.seconds(180 * 86_400)

    /// Words for `must-exercise` beside matrix rows and rule ids.
    public static let exercises = [
        "share", "neutral", "double-tap", "uncertain-retry", "definitive-rejection", "policy-link", "background",
        "foreground", "return", "crafted-return", "invalid-context",
    ]

    /// Makes the default policy.
    public init() {}

    /// A template that is known to be well formed; a malformed one would match nothing.
    private static func template(_ text: String) -> PathTemplate {
        PathTemplate(text) ?? PathTemplate(segments: text)
    }
}

/// A length of time in whole nanoseconds.
public struct Nanoseconds: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The number of nanoseconds.
    public var count: Int64

    /// Makes a length of time.
    public init(_ count: Int64) { self.count = count }

    public static func milliseconds(_ count: Int64) -> Nanoseconds { Nanoseconds(count &* 1_000_000) }
    public static func seconds(_ count: Int64) -> Nanoseconds { Nanoseconds(count &* 1_000_000_000) }

    public static func < (lhs: Nanoseconds, rhs: Nanoseconds) -> Bool { lhs.count < rhs.count }

    /// Reads `500ms`, `10s`, `15m`, `24h` (a whole number and one unit, at most ten years); nil for anything else.
    public init?(_ text: String) {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int64(digits), number >= 0 else { return nil }
        let unit: Int64
        switch text.dropFirst(digits.count) {
        case "ms": unit = 1_000_000
        case "s": unit = 1_000_000_000
        case "m": unit = 60_000_000_000
        case "h": unit = 3_600_000_000_000
        default: return nil
        }
        let (product, overflow) = number.multipliedReportingOverflow(by: unit)
        guard !overflow, product <= 315_360_000_000_000_000 else { return nil }
        count = product
    }

    /// `480 ms`, `12.3 s`, `15 min`, `24 h`: the largest unit that shows three digits or fewer after it.
    public var description: String {
        let magnitude = count.magnitude
        let sign = count < 0 ? "−" : ""
        func tenths(_ unit: UInt64, _ name: String) -> String {
            let tenths = (magnitude &+ unit / 20) / (unit / 10)
            return sign + (tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)") + " " + name
        }
        if magnitude == 0 { return "0 s" }
        if magnitude < 1_000_000 { return tenths(1_000, "µs") }
        if magnitude < 1_000_000_000 { return tenths(1_000_000, "ms") }
        if magnitude < 180_000_000_000 { return tenths(1_000_000_000, "s") }
        if magnitude < 10_800_000_000_000 { return tenths(60_000_000_000, "min") }
        return tenths(3_600_000_000_000, "h")
    }
}

/// A day of the Gregorian calendar, in UTC.
public struct CalendarDay: Hashable, Sendable, CustomStringConvertible {
    /// Midnight at its beginning.
    public let start: Instant
    /// The day as written, `2027-01-31`.
    public let description: String

    /// Reads `YYYY-MM-DD`.
    public init?(_ text: String) {
        guard text.utf8.count == 10, let start = Instant(rfc3339: text + "T00:00:00Z") else { return nil }
        self.start = start
        description = text
    }

    /// Whether `instant` is after the end of this day.
    public func isOver(at instant: Instant) -> Bool {
        instant >= start.advanced(byNanoseconds: 86_400_000_000_000)
    }
}

extension Policy {
    /// The role that the policy's own entries give a host, for people; nil for a host that it does not name.
    public func roleName(of host: HostName) -> String? {
        let roles: KeyValuePairs<String, [HostPattern]> = [
            "chia-api": hosts.chiaAPI, "chia-assets": hosts.chiaAssets, "chia": hosts.chia, "partner": hosts.partner,
            "partner-assets": hosts.partnerAssets, "return": hosts.returnHosts, "telemetry": hosts.telemetry,
        ]
        if let named = roles.first(where: { $0.value.contains { $0.covers(host) } }) { return named.key }
        return hosts.usesBuiltinTelemetry && TelemetryHosts.builtin.category(of: host) != nil ? "telemetry" : nil
    }
}
