internal import SessionTrace

/// What the two headline rules about leaks share: whose act a leak was, and what could hide one.
enum LeakRules {
    /// Whose act it was that a handoff URL or token was sent.
    enum Blame: Hashable {
        /// The app, a view in it, or something of the system that acted for it.
        case app
        case unknown
        /// The sender or the receiver could not be read: it may as well be the browser's request to Chia.
        case untold
        case system
        /// A Chia page in the browser, or the browser for itself.
        case notTheApp(String)
        /// The same, but told by nothing more than that a page of Chia was open: the pass rests on it.
        case likelyNotTheApp(String)
        /// The browser's request to Chia: what the URL is for.
        case intended
    }

    static func blame(_ leak: LeakRecord, _ session: Session) -> Blame {
        // The host of a handoff URL is where it is meant to go, unless the policy or the list calls it something else.
        let role = session.role(of: leak.host)
        let toChia = role.isChia || (role == .thirdParty && session.urls.contains { $0.address?.host == leak.host })
        switch leak.actor.actor {
        case .app, .webview: return .app
        case .os: return .system
        case .browser:
            if toChia { return .intended }
            return leak.request.map { browserBlame($0, leak, session) } ?? .notTheApp("the browser's own message")
        case .unknown:
            if case .lookup = leak.carrier, toChia { return .intended }
            if case .serverName = leak.carrier, toChia { return .intended }
            // A browser's User-Agent without fetch metadata, sent with a Chia page as its origin.
            if let request = leak.request, request.actor.isBareBrowser, isOfChia(request, session) {
                return .notTheApp("a page of Chia asked for it (its Referer or Origin is Chia's)")
            }
            return leak.host == nil || leak.request?.hasUnknownFields ?? false ? .untold : .unknown
        }
    }

    private static func browserBlame(_ request: RequestRecord, _ leak: LeakRecord, _ session: Session) -> Blame {
        if isOfChia(request, session) { return .notTheApp("a page of Chia in the browser asked for it") }
        if isRedirectedByChia(request, session) { return .notTheApp("Chia redirected the browser to it") }
        if session.role(of: leak.host) == .osNoise { return .notTheApp("a service of the browser itself") }
        let visited = session.chiaRequests.contains {
            $0.actor.actor == .browser && $0.isNavigation && $0.started.time <= request.started.time
        }
        if visited, !request.isNavigation || request.fetchDestination.map({ $0 != "document" }) ?? false {
            return .likelyNotTheApp("a page in the browser asked for it, and Chia's was open")
        }
        return .app
    }

    private static func isOfChia(_ request: RequestRecord, _ session: Session) -> Bool {
        [request.originHost, request.refererHost].compactMap(\.self).contains { session.roles.isChia($0) }
    }

    private static func isRedirectedByChia(_ request: RequestRecord, _ session: Session) -> Bool {
        var address = request.address
        for _ in 0..<8 {
            guard let target = address, let hop = session.redirects[target] else { return false }
            if session.role(of: hop.host).isChia || isOfChia(hop, session) { return true }
            address = hop.address
        }
        return false
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

    /// What carried a token, but who or where to could not be read.
    static func doubtUntold(_ sentence: String, _ judgement: inout Judgement) {
        judgement.doubt(
            BlindSpot.Reason.headerTableUnknown.rawValue,
            "\(sentence), in a request whose head could not be read in full: it may be the browser's own",
            remedy: Session.remedy(.headerTableUnknown))
    }

    /// `U#1`, or `a token of another session`.
    static func name(_ hit: LeakHit, _ session: Session) -> String {
        guard let needle = hit.needle else { return "something of the shape of a handoff token" }
        if needle.kind == .handoffURL { return "the handoff URL \(needle.label)" }
        return "the handoff token \(needle.label)"
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
        _ session: Session, _ judgement: inout Judgement, where concerns: (HostName?) -> Bool
    ) {
        for split in session.splits {
            guard let first = split.leaks.first, concerns(first.host) else { continue }
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
            switch blame(first, session) {
            case .app, .system, .unknown:
                judgement.violation(
                    kind, severity: severity, "\(sentence), by \(first.actor.actor.rawValue) (\(first.actor.reason))",
                    place: place, evidence: evidence)
            case .untold: doubtUntold(sentence, &judgement)
            case .notTheApp(let why), .likelyNotTheApp(let why):
                judgement.information("not-the-app", "\(sentence): \(why)", place: place, evidence: evidence)
            case .intended: continue
            }
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

    // MARK: what could hide a leak

    static func doubtUnread(since: Instant, _ session: Session, _ judgement: inout Judgement) {
        doubtUnread(since: since, "the handoff URL was known", session, &judgement)
    }

    /// Writes down what may have carried a leak unread since a URL was known, and how long the trace watched.
    ///
    /// - Parameter moment: what happened then, for the sentences.
    static func doubtUnread(
        since: Instant, _ moment: String, _ session: Session,
        _ judgement: inout Judgement
    ) {
        var systemHosts: [HostName] = []
        for host in session.dark.keys.sorted(by: { $0.text < $1.text }) {
            guard let traffic = session.dark[host], let last = traffic.lastData, last >= since else { continue }
            let role = session.roles.role(of: host)
            if role.isChia || traffic.isOnly(.browser) { continue }
            if role == .osNoise || traffic.isOnly(.os) {
                systemHosts.append(host)
                continue
            }
            if let allowance = session.policy.hosts.opaqueOK.first(where: { $0.host.covers(host) }),
                !(allowance.expires?.isOver(at: session.span.latest) ?? false)
            {
                judgement.assume("opaque-ok", "\(host) was not inspected, as the policy allows (\(allowance.reason))")
                continue
            }
            let vendor = session.roles.vendor(of: host).map { " (\($0))" } ?? ""
            if traffic.reason == .leafRefused || traffic.reason == .leafSuspected {
                judgement.doubt(
                    traffic.reason.rawValue, "\(Session.unread(traffic, host))\(vendor)",
                    remedy: Session.remedy(traffic.reason))
                continue
            }
            judgement.doubt(
                isTelemetry(host, session) ? "opaque-telemetry" : traffic.reason.rawValue,
                "\(traffic.connections) unread \(traffic.connections == 1 ? "connection" : "connections") to \(host)\(vendor) sent data after \(moment) (\(traffic.reason.rawValue))",
                remedy: Session.remedy(traffic.reason))
        }
        let nameless = session.nameless.filter { ($0.lastDarkData ?? .distantPast) >= since && $0.darkness != nil }
        func isOfSystem(_ flow: FlowSummary) -> Bool {
            OSNoiseHosts.service(ofPort: flow.server.port) != nil || (flow.actor.isDefinite && flow.actor.actor == .os)
        }
        let count = systemHosts.count + Set(nameless.filter(isOfSystem).map(\.server.address)).count
        if count > 0 {
            judgement.assume("os-services", "OS services not inspected: \(count) \(count == 1 ? "host" : "hosts")")
        }
        if let flow = nameless.first(where: { !isOfSystem($0) }), let reason = flow.darkness {
            judgement.doubt(
                reason.rawValue,
                "an unread connection to \(flow.server) without a name sent data after \(moment)",
                remedy: Session.remedy(reason))
        }
        doubtHoles(since: since, session, &judgement)
        let observed = Nanoseconds(session.span.latest.nanoseconds(since: since))
        doubtWithheld(since: since, session, &judgement)
        if observed < session.policy.timing.observeAfter, !hasRelaunch(since: since, session) {
            _ = session.doubtEnd("observed only \(observed) after \(moment)", &judgement)
            judgement.assume(
                "observed-only",
                "observed only \(observed) after \(moment), not \(session.policy.timing.observeAfter)")
        }
        session.doubtBypass(&judgement)
        session.doubtCapture(&judgement)
    }

    /// A form that the browser sent on a withheld connection, on no page of Chia: its content is not recorded.
    private static func doubtWithheld(since: Instant, _ session: Session, _ judgement: inout Judgement) {
        guard
            let record = session.withheldForms.first(where: {
                $0.started.time >= since && !isOfChia($0, session) && !session.role(of: $0.host).isChia
            })
        else { return }
        judgement.doubt(
            BlindSpot.Reason.withheld.rawValue,
            "the browser sent a form to \(record.host?.text ?? "a host") (packet \(record.started.number)), whose content was withheld",
            remedy: Session.remedy(.withheld))
    }

    private static func doubtHoles(since: Instant, _ session: Session, _ judgement: inout Judgement) {
        let reasons = Session.hidesRequests.union([.bodyOverLimit, .undecodableContent, .decodeBudget]).subtracting([
            .withheld
        ])
        let hole = session.blindSpots.first { record in
            record.spot.connection != nil && record.spot.from != .server && reasons.contains(record.spot.reason)
                && record.spot.span.latest >= since
                && !record.names.contains {
                    session.roles.isChia($0) || (session.dark[$0]?.lastData ?? .distantPast) >= since
                }
                && !(record.names.isEmpty
                    && record.server.map { OSNoiseHosts.service(ofPort: $0.port) != nil } ?? false)
                && !record.names.contains { session.roles.role(of: $0) == .osNoise }
                && !(record.names.isEmpty
                    && record.spot.connection.map(session.index.namelessConnections.contains) ?? false)
        }
        if let hole {
            judgement.doubt(
                hole.spot.reason.rawValue,
                "bytes of the device to \(hole.names.first?.text ?? hole.server?.description ?? "some host") could not be read (packet \(hole.spot.noticed.number))",
                remedy: Session.remedy(hole.spot.reason))
        }
        if let gap = session.scanGaps.first(where: { $0.actor.actor != .browser && $0.started >= since }) {
            let reason: BlindSpot.Reason =
                if case .budget = gap.gap.reason { .decodeBudget } else { .undecodableContent }
            judgement.doubt(
                reason.rawValue, "\(gap.evidence.subject) could not be searched in full at \(gap.gap.place)",
                remedy: Session.remedy(reason))
        }
    }

    /// A background and a relaunch after it flush what SDKs had queued.
    private static func hasRelaunch(since: Instant, _ session: Session) -> Bool {
        guard let background = session.marks([.background]).first(where: { $0.span.earliest >= since }) else {
            return false
        }
        return session.marks([.launch]).contains { $0.span.earliest > background.span.earliest }
    }

    /// No URL is known: because none came back, or because it could not be read?
    static func doubtUnknownURL(_ session: Session, _ judgement: inout Judgement) {
        session.doubtMissingAttempts(&judgement)
        session.doubtSessionTraffic(&judgement)
        if let attempt = session.attempts.first(where: { $0.outcome == .notSeen }) {
            judgement.doubt(
                "outcome-not-seen",
                "the answer to attempt \(attempt.number) was not seen, so that the handoff URL is not known",
                remedy: Session.remedy(.tcpHole))
        }
    }
}
