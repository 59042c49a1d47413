internal import SessionTrace

/// What the rules about leaks share: the words for what leaked, and what is reported of tokens sent in pieces.
enum LeakRules {
    /// Who sent it, for the sentence of a violation.
    static func sender(_ leak: LeakRecord, _ session: Session) -> String {
        switch leak.actor.actor {
        case .unknown: return "an unknown sender"
        case .browser:
            guard let page = leak.request?.askingPage else { return "the browser, on no page of Chia" }
            return "the browser, on a page of \(session.redactor.host(page.text)) and not of Chia"
        case .app, .webview, .os: return "the app"
        }
    }

    /// Since when a handoff URL or token was on the device; nil when none was seen.
    static func knownSince(_ session: Session) -> Instant? {
        let opened = session.chiaRequests.first { $0.address.map { Token.first(in: $0.path) != nil } ?? false }
        return (session.urls.map(\.since) + [opened?.started.time].compactMap(\.self)).min()
    }

    /// Whether a host is a telemetry vendor's, be it under a name of the partner that leads there.
    static func isTelemetry(_ host: HostName?, _ session: Session) -> Bool {
        guard let host else { return false }
        let role = session.roles.role(of: host)
        return role == .telemetry || (!role.isChia && session.roles.vendor(of: host) != nil)
    }

    /// `U#1`, or `a token of another session`.
    static func name(_ hit: LeakHit, _ session: Session) -> String {
        guard let needle = hit.needle else { return "something of the shape of a handoff token" }
        if needle.kind == .handoffURL { return "the handoff URL \(needle.label)" }
        return "the handoff token \(needle.label)"
    }

    /// Settles what has a token's shape and reads as a name (`phs_show_section_header_v2`): it is none where this trace shows
    /// how tokens are made, and else it can't be told. False for what does not read so.
    static func settleName(
        _ hit: LeakHit, _ sentence: String, place: [String], evidence: @autoclosure () -> [Evidence],
        _ session: Session, _ judgement: inout Judgement
    ) -> Bool {
        guard hit.readsAsName else { return false }
        let opened = session.chiaRequests.compactMap { $0.address.flatMap { Token.first(in: $0.path) } }
        let tokens = session.urls.map(\.token) + opened
        if tokens.isEmpty || tokens.contains(where: { TokenShape.readsAsName(Array($0.utf8)) }) {
            judgement.doubt(
                "token-like-name",
                "\(sentence), which reads as a name, and nothing in this trace shows that tokens are made otherwise",
                remedy:
                    "record a handoff too, so that a token is known; or give what is no token another prefix than phs_")
        } else {
            judgement.information(
                "token-like-name", "\(sentence), which reads as a name and is made otherwise than this trace's tokens",
                place: place, evidence: evidence())
        }
        return true
    }

    /// `Sentry, crash` for a telemetry host, the role for others.
    static func receiver(_ leak: LeakRecord, _ session: Session) -> String {
        guard let host = leak.host else { return "an unnamed host" }
        let shown = session.redactor.host(host.text)
        if let vendor = session.roles.vendor(of: host) { return "\(shown) (\(vendor))" }
        return "\(shown) (\(session.role(of: host).rawValue))"
    }

    /// The place for a fingerprint: role, path template, field, needle kind.
    static func place(_ leak: LeakRecord, _ hit: LeakHit, _ session: Session) -> [String] {
        [session.role(of: leak.host).rawValue, leak.request?.pathTemplate ?? "", hit.fieldTemplate, hit.kindName]
    }

    /// Tokens that were sent in pieces to hosts that concern a rule: nearly whole is a violation of its own weight, one
    /// telling part a warning.
    static func reportSplits(
        _ session: Session, _ judgement: inout Judgement, where concerns: (SplitLeak) -> Bool
    ) {
        for split in session.splits {
            guard let first = split.leaks.first, concerns(split) else { continue }
            let (kind, severity, extent): (String, Severity, String) =
                switch split.extent {
                case .whole(let percent): ("split-leak", judgement.rule.severity, "\(percent) % of it, in order")
                case .part(let bytes): ("partial-leak", .warning, "\(bytes) bytes of it")
                }
            let places = split.places.prefix(4).joined(separator: ", ")
            let sentence =
                "part of \(split.needle.label) was sent to \(receiver(first, session)) in \(places): \(extent)"
            let place = [session.role(of: first.host).rawValue, kind, split.needle.kind.rawValue]
            let evidence = split.leaks.map { $0.evidence("piece", place: places) }
            let blame = blame(first, session)
            if settle(blame, sentence, place: place, evidence: evidence, &judgement) { continue }
            judgement.violation(
                kind, severity: severity, "\(sentence), by \(first.actor.actor.rawValue) (\(first.actor.reason))",
                place: place, evidence: evidence)
        }
    }

    /// Digests of 32 bits, which chance can make: worth knowing, and no more.
    static func reportHints(
        _ session: Session, _ judgement: inout Judgement, where concerns: (HostName?) -> Bool
    ) {
        for leak in session.leaks where concerns(leak.host) {
            for hint in leak.hints where hint.isHandoffToken {
                judgement.information(
                    "weak-digest",
                    "what may be a digest of \(name(hint, session)) was sent to \(receiver(leak, session)) in \(hint.place); "
                        + "32 bits prove nothing",
                    place: place(leak, hint, session), evidence: [leak.evidence("weak digest", hint)])
            }
        }
    }
}
