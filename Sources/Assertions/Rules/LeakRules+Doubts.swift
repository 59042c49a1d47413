internal import SessionTrace

/// What could hide a leak: bytes of the device that stayed unread, unsent or withheld since a URL was known.
extension LeakRules {
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
        for host in session.dark.keys.sorted(by: { $0.text < $1.text }) {
            guard let traffic = session.dark[host], let last = traffic.lastData, last >= since else { continue }
            let role = session.roles.role(of: host)
            if role.isChia || role == .osNoise || traffic.isOnly(.browser) || traffic.isOnly(.os) { continue }
            if let allowance = session.policy.allowance(for: host, at: session.span.latest) {
                judgement.assume("opaque-ok", "\(host) was not inspected, as the policy allows (\(allowance.reason))")
                continue
            }
            let vendor = session.roles.vendor(of: host).map { " (\($0))" } ?? ""
            let lapse = session.policy.lapseWords(for: host, at: session.span.latest)
            if traffic.reason == .leafRefused || traffic.reason == .leafSuspected {
                judgement.doubt(
                    traffic.reason.rawValue, "\(Session.unread(traffic, host))\(vendor)\(lapse)",
                    remedy: Session.remedy(traffic.reason))
                continue
            }
            judgement.doubt(
                isTelemetry(host, session) ? "opaque-telemetry" : traffic.reason.rawValue,
                "\(traffic.connections) unread \(traffic.connections == 1 ? "connection" : "connections") to \(host)\(vendor) sent data after \(moment) (\(traffic.reason.rawValue))\(lapse)",
                remedy: Session.remedy(traffic.reason))
        }
        session.assumeSystemServices(from: since, until: .distantFuture, &judgement)
        let nameless = session.nameless.filter { ($0.lastDarkData ?? .distantPast) >= since && $0.darkness != nil }
        if let flow = nameless.first(where: { !$0.isOfSystem }), let reason = flow.darkness {
            judgement.doubt(
                reason.rawValue,
                "an unread connection to \(flow.server) without a name sent data after \(moment)",
                remedy: Session.remedy(reason))
        }
        session.doubtUnsent(
            from: since, until: .distantFuture, after: moment, searchesAll: true, &judgement)
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

    /// What was sent on withheld connections, and had to be searched: content is not recorded there.
    private static func doubtWithheld(since: Instant, _ session: Session, _ judgement: inout Judgement) {
        var ofPages = 0
        var ofServices = 0
        for request in session.withheldRequests where request.record.started.time >= since {
            let record = request.record
            let role = session.role(of: request)
            let what: String
            if !record.actor.actor.isApp, record.browserService != nil {
                if !record.actor.isDefinite { ofServices += 1 }
                continue
            }
            switch record.actor.actor {
            case .browser:
                if role.isChia || isOfChia(record, session) { continue }
                let own = ownBlame(record, role)
                if case .notTheApp = own { continue }
                let isPartnersPage = record.askingPage.map { session.roles.role(of: $0).isPartners } ?? false
                if own != nil {
                    what = "what calls itself the browser, on no page, sent a request"
                } else if record.pageOrigin == .hidden {
                    what = "\(hiddenPage), sent a request"
                } else if record.fetchDestination.map({ $0 == "document" }) ?? true {
                    what = "the browser sent a form"
                } else if isPartnersPage {
                    what = "a page of the partner in the browser sent something"
                } else {
                    if record.askingPage != nil || role != .osNoise { ofPages += 1 }
                    continue
                }
            case .unknown:
                if role.isChia || (record.actor.isBareBrowser && isOfChia(record, session)) { continue }
                what = "an unknown sender (\(record.actor.reason)) sent a request"
            case .app, .webview: what = "the app (\(record.actor.reason)) sent a request"
            case .os: continue
            }
            judgement.doubt(
                BlindSpot.Reason.withheld.rawValue,
                "\(what) to \(session.name(of: request)) (packet \(record.started.number)), whose content was withheld",
                remedy: Session.remedy(.withheld))
        }
        if ofServices > 0 {
            judgement.assume(
                "browser-service",
                "\(counted(ofServices, "request")) to the browser's own services, withheld and so not searched: taken for the browser's, as \(ofServices == 1 ? "its User-Agent says" : "their User-Agents say")"
            )
        }
        if ofPages > 0 {
            judgement.assume(
                "chia-page-by-time",
                "\(counted(ofPages, "request")) of the browser with content, withheld and so not searched: taken for Chia's page, which was open, though \(ofPages == 1 ? "its" : "their") Origin does not say so"
            )
        }
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
