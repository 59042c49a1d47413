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
        /// A page in the browser of which nothing tells who opened it: it may be a frame of Chia's page.
        case untoldPage(String)
        /// The browser's request to Chia: what the URL is for.
        case intended
    }

    static func blame(_ leak: LeakRecord, _ session: Session) -> Blame {
        // The host of a handoff URL is where it is meant to go, unless the policy or the list calls it something else.
        let role = session.role(of: leak.host)
        let toChia = role.isChia || (role == .thirdParty && session.urls.contains { $0.address?.host == leak.host })
        switch leak.actor.actor {
        case .app where role == .osNoise && isOfChrome(leak.actor):
            return .notTheApp("a service of the browser itself")
        case .app, .webview: return .app
        case .os: return .system
        case .browser:
            if toChia { return .intended }
            return leak.request.map { browserBlame($0, leak, session) } ?? .notTheApp("the browser's own message")
        case .unknown:
            if case .lookup = leak.carrier, toChia { return .intended }
            if case .serverName = leak.carrier, toChia { return .intended }
            if role == .osNoise, leak.request?.actor.isBareBrowser ?? false {
                return .notTheApp("a service of the browser itself")
            }
            // A browser's User-Agent without fetch metadata, sent with a Chia page as its origin.
            if let request = leak.request, request.actor.isBareBrowser, isOfChia(request, session) {
                return .notTheApp("a page of Chia asked for it (its Referer or Origin is Chia's)")
            }
            if let request = leak.request, request.actor.isBareBrowser, request.isReport,
                session.chiaRequests.contains(where: {
                    $0.actor.actor == .browser && $0.isNavigation && $0.started.time <= request.started.time
                })
            {
                return .notTheApp(
                    "the browser's report about a page, and Chia's was open (\(RequestRecord.reportType))")
            }
            return leak.host == nil || leak.request?.hasUnknownFields ?? false ? .untold : .unknown
        }
    }

    /// Chrome's own services (sync, Safe Browsing) tell of what was opened, as `Chrome ANDROID-PHONE 140.0…`.
    private static func isOfChrome(_ actor: ActorReading) -> Bool {
        !actor.isDefinite && actor.reason == "User-Agent Chrome"
    }

    private static func browserBlame(_ request: RequestRecord, _ leak: LeakRecord, _ session: Session) -> Blame {
        if isOfChia(request, session) { return .notTheApp("a page of Chia in the browser asked for it") }
        if isRedirectedByChia(request, session) { return .notTheApp("Chia redirected the browser to it") }
        if session.role(of: leak.host) == .osNoise { return .notTheApp("a service of the browser itself") }
        if request.isOfBrowserItself {
            return .notTheApp("the browser's own request, of no page and no program (Sec-Fetch-Site: none)")
        }
        let visited = session.chiaRequests.contains {
            $0.actor.actor == .browser && $0.isNavigation && $0.started.time <= request.started.time
        }
        guard visited else { return .app }
        if let page = request.askingPage { return blame(of: page, for: request, session) }
        if !request.isNavigation || request.fetchDestination.map({ $0 != "document" }) ?? false {
            return .likelyNotTheApp("a page in the browser asked for it, and Chia's was open")
        }
        return .app
    }

    /// Another page than Chia's asked for it. The partner's has the URL from the app; one that Chia's led to has it from
    /// Chia's; and of one that was never seen to be opened nobody knows.
    private static func blame(of page: HostName, for request: RequestRecord, _ session: Session) -> Blame {
        let isPartners = [.partner, .partnerAssets, .returnHost].contains(session.roles.role(of: page))
        let shown = page.text == WithheldExchange.unnamedHost ? "a host whose name was withheld" : page.text
        switch session.pages.opener(of: page, at: request.started.time) {
        case .chia where isPartners: return .untoldPage("a page of \(shown), to which Chia's had led, asked for it")
        case .chia: return .notTheApp("a page of \(shown), to which Chia's had led, asked for it")
        case .unseen where !isPartners:
            return .untoldPage("a page of \(shown), which was not seen being opened, asked for it")
        case .other, .unseen: return .app
        }
    }

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

    static func doubtPage(_ sentence: String, _ why: String, _ judgement: inout Judgement) {
        judgement.doubt(
            "page-unknown", "\(sentence): \(why), and it can't be told whether the app or Chia's page brought it there",
            remedy:
                "record from the browser's start (browser-clean), with --chia-journey=record for a synthetic persona; or name the partner's hosts in the policy"
        )
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
            case .untoldPage(let why): doubtPage(sentence, why, &judgement)
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
        doubtUnsent(since: since, session, &judgement)
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

    /// Connections that came to nothing since a URL was known: what the app would have sent was neither sent nor seen.
    private static func doubtUnsent(since: Instant, _ session: Session, _ judgement: inout Judgement) {
        var ofBrowser: Set<HostName?> = []
        var ofSystem: Set<HostName?> = []
        var doubted: Set<HostName?> = []
        for failure in session.proxyFailures where failure.isUnsent && failure.at >= since {
            let role = session.role(of: failure.host)
            if role.isChia { continue }
            if role == .osNoise || failure.actor.actor == .os {
                ofSystem.insert(failure.host)
                continue
            }
            if failure.actor.actor == .browser {
                ofBrowser.insert(failure.host)
                continue
            }
            if let host = failure.host,
                let allowance = session.policy.hosts.opaqueOK.first(where: { $0.host.covers(host) }),
                !(allowance.expires?.isOver(at: session.span.latest) ?? false)
            {
                judgement.assume("opaque-ok", "\(host) was not inspected, as the policy allows (\(allowance.reason))")
                continue
            }
            guard doubted.insert(failure.host).inserted else { continue }
            let vendor = failure.host.flatMap { session.roles.vendor(of: $0) }.map { " (\($0))" } ?? ""
            judgement.doubt(
                failure.kind.rawValue,
                "\(failure.sentence)\(vendor) after the handoff URL was known (packet \(failure.packet)): what the app would have sent was neither sent nor seen",
                remedy: failure.remedy)
        }
        if !ofSystem.isEmpty {
            judgement.assume(
                "os-services-unreached",
                "services of the system that the proxy could not reach: \(counted(ofSystem.count, "host"))")
        }
        if !ofBrowser.isEmpty {
            judgement.assume(
                "browser-unreached",
                "hosts that the browser asked for and the proxy could not reach: \(ofBrowser.count)")
        }
    }

    /// What was sent on withheld connections, and had to be searched: content is not recorded there.
    private static func doubtWithheld(since: Instant, _ session: Session, _ judgement: inout Judgement) {
        var ofPages = 0
        for request in session.withheldRequests where request.record.started.time >= since {
            let record = request.record
            let role = session.role(of: request)
            let what: String
            switch record.actor.actor {
            case .browser:
                if role.isChia || isOfChia(record, session) || record.isOfBrowserItself { continue }
                let isPartnersPage =
                    record.askingPage.map {
                        [.partner, .partnerAssets, .returnHost].contains(session.roles.role(of: $0))
                    } ?? false
                if record.fetchDestination.map({ $0 == "document" }) ?? true {
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
