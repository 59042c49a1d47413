public import SessionTrace

/// What a trace suggests for a policy.
public struct PolicySuggestion: Hashable, Sendable {
    /// Hosts that served a session response.
    public var partner: [String] = []
    /// Hosts of handoff URLs that the default policy does not name as Chia's.
    public var chia: [String] = []
    /// Method and path of the session request, where they are not the default.
    public var session: (method: String, path: String)?
    /// The path of the projection, where it is not the default.
    public var projection: String?

    /// Nothing observed.
    public init() {}

    public static func == (lhs: PolicySuggestion, rhs: PolicySuggestion) -> Bool {
        lhs.partner == rhs.partner && lhs.chia == rhs.chia && lhs.session?.path == rhs.session?.path
            && lhs.session?.method == rhs.session?.method && lhs.projection == rhs.projection
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(partner)
        hasher.combine(chia)
    }
}

/// The text of a new `handoff.yml`: every key with its default as a comment, and what a trace suggests written out.
public enum PolicyText {
    /// Makes the text.
    public static func make(from suggestion: PolicySuggestion = PolicySuggestion()) -> String {
        var lines = [
            "# What handoff knows about the app that it judges. Every key has a default, shown behind a #.",
            "version: 1",
        ]
        lines += hosts(suggestion) + requests(suggestion)
        lines += [
            "# return-link: https://www.partner.example/   # the generic return link, as it is registered (HR-61)",
            "# eligibility: remote               # or local: the app decides without its backend (HR-06)",
            "# strict-selection: false           # true: a catalog id in telemetry is an error (HR-48)",
            "# fields:                           # JSON pointers into the session request and the projection",
            "#   catalog-id: /catalogId", "#   disclosure-version: /disclosureVersion", "#   affirmed: /affirmed",
            "#   affirmed-at: /affirmedAt", "#   projection: auto", "#   image: /image", "#   evidence: auto",
            "#   hidden: []                      # ids that must never be sent",
            "# outcomes: {either: [408, 409, 425]}   # after these, keeping and discarding the key both conform",
            "# forbidden:", "#   response-keys: [order_status, prescription]", "#   catalog-keys: []",
            "#   secrets: [\"whsec_*\"]",
            "#   canaries: []                    # sha256:SALT:LENGTH:DIGEST, see the documentation",
            "# timing:", "#   double-tap: 500ms", "#   tap-to-request: 10s", "#   url-lifetime: 15m",
            "#   clock-error: 50ms",
            "#   observe-after: 60s", "#   hand-mark: 15s", "#   retry-horizon: 24h", "#   url-margin: 0s",
            "#   refresh: 5s", "#   after-return: 30s", "#   away: 30s", "#   foreign-link: 5s", "#   quiet-start: 10s",
            "# gate: headline                    # a profile, or a list of rule ids whose inconclusive counts",
            "# must-exercise: []                 # what the traces together must show: M-10, double-tap, uncertain-retry, …",
            "# exceptions:                       # accepted for a while, 180 days at most",
            "#   - {rule: HR-48, fingerprint: 3fd1, reason: \"shop id, not a selection\", owner: ana, expires: 2027-01-31}",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func hosts(_ suggestion: PolicySuggestion) -> [String] {
        var lines = ["hosts:                              # a domain covers its subdomains"]
        lines.append(
            suggestion.chia.isEmpty
                ? "  chia: [chia.health]"
                : "  chia: [\(suggestion.chia.joined(separator: ", "))]            # seen: the handoff URL is there")
        lines += [
            "  # chia-api: []                    # Chia hosts that only servers may call",
            "  # chia-assets: []                 # Chia's authenticated assets",
        ]
        lines.append(
            suggestion.partner.isEmpty
                ? "  # partner: [api.partner.example]  # the backend; inferred from who serves the session response"
                : "  partner: [\(suggestion.partner.joined(separator: ", "))]          # seen: it served the session response"
        )
        return lines + [
            "  # partner-assets: []              # where the mirrored images are",
            "  # return: []                      # where the generic return link leads",
            "  # telemetry: [builtin]            # add your own collectors",
            "  # opaque-ok: []                   # {host: \"*.push.apple.com\", reason: …, expires: 2027-06-30}",
        ]
    }

    private static func requests(_ suggestion: PolicySuggestion) -> [String] {
        var lines = ["# {name} in a path stands for one whole segment"]
        guard suggestion.session != nil || suggestion.projection != nil else {
            return lines + [
                "# requests:",
                "#   session: {method: POST, path: /handoff-session, key: header Idempotency-Key, abandon-on: [disclosure-version, projection-withdrawn]}",
                "#   projection: {method: GET, path: \"/catalog/{id}/handoff\"}",
                "#   status: []                      # status calls (HR-59)",
                "#   allow: []                       # requests that never are", "#   home: []",
                "#   foreground-allow: []", "#   catalog: []",
            ]
        }
        lines.append("requests:")
        if let session = suggestion.session {
            lines.append(
                "  session: {method: \(session.method), path: \"\(session.path)\"}   # seen: its answer held a handoff URL"
            )
        }
        if let projection = suggestion.projection {
            lines.append("  projection: {method: GET, path: \"\(projection)\"}   # seen: its answer held a decision")
        }
        return lines + [
            "  # status: []                      # status calls (HR-59)",
            "  # allow: []                       # requests that never are",
        ]
    }
}

/// Events of a trace in, a suggestion for its policy out.
public struct PolicyObservation: Sendable {
    private var model: SessionModel

    /// Begins.
    public init() {
        model = SessionModel(policy: .defaults, options: JudgeOptions())
    }

    /// Takes the next event.
    public mutating func receive(_ event: SessionEvent) {
        model.receive(event)
    }

    /// What the trace suggests. Values in paths are replaced by holes.
    public mutating func finish() -> PolicySuggestion {
        let session = model.finish()
        var suggestion = PolicySuggestion()
        let served = session.attempts.filter { $0.url != nil }
        let chia = Set(session.urls.compactMap { $0.address?.host }.filter { !session.roles.isChia($0) })
        suggestion.chia = chia.filter(Self.canBeNamed).map(\.text).sorted()
        // A lab's one host for everything is Chia's in a policy.
        suggestion.partner = Set(served.compactMap(\.host)).subtracting(chia)
            .filter { Self.canBeNamed($0) && !session.roles.isChia($0) }.map(\.text).sorted()
        if let attempt = served.first(where: \.isFoundByShape), let path = Self.template(attempt.first.record) {
            suggestion.session = (attempt.first.record.method, path)
        }
        if let projection = session.projections.first(where: { !$0.decisions.isEmpty }), !projection.matchesTemplate {
            suggestion.projection = Self.template(projection.record, item: projection.decisions.first?.item)
        }
        return suggestion
    }

    /// Whether a policy may name the host: what is suggested must be a policy.
    private static func canBeNamed(_ host: HostName) -> Bool {
        HostBreadth(of: HostPattern(host)) != .registry
    }

    /// The path with masked segments, and the item's, as holes; nil when it would be no template.
    private static func template(_ record: RequestRecord, item: String? = nil) -> String? {
        guard let path = record.address?.path else { return nil }
        let shown = record.pathTemplate.split(separator: "/", omittingEmptySubsequences: false)
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard shown.count == parts.count else { return nil }
        var count = 0
        let holes = zip(shown, parts).map { shown, part -> String in
            guard shown != part || (item != nil && part == item ?? "") else { return String(part) }
            count += 1
            return count == 1 ? "{id}" : "{id\(count)}"
        }
        let text = holes.joined(separator: "/")
        return PathTemplate(text) == nil ? nil : text
    }
}
