internal import SessionTrace

/// What the app sent between two moments, and what of it is expected.
extension Session {
    /// What a request of the app is for, as far as its address tells.
    enum Purpose: Hashable {
        case projection, session, image, home
        /// A template of the home's, on a host that is not the partner's.
        case homeElsewhere
        /// A template under `requests: foreground-allow`.
        case allowed
        case telemetry
        case other
    }

    /// Requests of the app, or of an unknown sender, that were sent from one instant on and before another; without
    /// those to services of the system and those of another device.
    func appRequests(from: Instant, until: Instant) -> [LoggedRequest] {
        requests.requests(from: from, until: until).filter { request in
            !request.actor.actor.isElsewhere && role(of: request.host) != .osNoise
                && !isOfAnotherDevice(request.client?.address)
        }
    }

    /// What a request is for.
    func purpose(of request: LoggedRequest) -> Purpose {
        let path = String(request.path)
        if index.attemptMessages.contains(request.id) { return .session }
        if index.projectionExchanges.contains(request.id)
            || policy.requests.projection.matches(method: request.method, path: path)
        {
            return .projection
        }
        let role = role(of: request.host)
        let isTelemetry = LeakRules.isTelemetry(request.host, self)
        if !isTelemetry, policy.requests.home.contains(where: { $0.matches(method: request.method, path: path) }) {
            return role.isPartners || policy.hosts.partner.isEmpty ? .home : .homeElsewhere
        }
        if policy.requests.foregroundAllow.contains(where: { $0.matches(method: request.method, path: path) }) {
            return .allowed
        }
        if role == .partnerAssets { return .image }
        // A collector's picture tells what its query says.
        if isTelemetry { return .telemetry }
        return request.isImage || Self.isImagePath(path) ? .image : .other
    }

    static func isImagePath(_ path: String) -> Bool {
        let name = path.lowercased()
        return [".png", ".jpg", ".jpeg", ".webp", ".gif", ".svg", ".avif", ".heic"].contains { name.hasSuffix($0) }
    }

    /// The text that tells one kind of request from another: method, host role, masked path.
    func template(_ request: LoggedRequest) -> String {
        "\(request.template(redactor)) (\(role(of: request.host).rawValue))"
    }

    // MARK: marks

    /// How far a mark's clock may be off.
    func bound(of mark: Mark) -> Nanoseconds { MarkBook.clockBound(mark, policy.timing) }

    /// The earliest and the latest moment at which what a mark says can have happened.
    func reach(of mark: Mark) -> TimeSpan { MarkBook.reach(mark, policy.timing) }

    /// The evidence that names a mark.
    func evidence(_ mark: Mark) -> Evidence {
        let name = mark.target.map { "\(mark.kind.rawValue):\($0.rawValue)" } ?? mark.kind.rawValue
        return Evidence(
            label: "\(name) mark", packets: mark.packet.map { [$0.number] } ?? [], span: mark.span,
            subject: mark.by == .person ? "\(name), made by hand" : name)
    }

    /// When the test was over: the `end` mark, else the last thing seen.
    var ended: Instant { marks([.end]).first.map { min($0.span.earliest, span.latest) } ?? span.latest }

    /// Whether the network was cut at some moment between two instants.
    func isOffline(from: Instant, until: Instant) -> Bool {
        var isOff = false
        for mark in marks([.netOff, .netOn]) {
            if mark.span.earliest > until { break }
            if isOff, mark.span.earliest >= from { return true }
            isOff = mark.kind == .netOff
            if isOff, mark.span.earliest >= from { return true }
        }
        return isOff
    }

    // MARK: what could hide a request

    /// What the app may have sent unread between two moments to a host that `concerns` names; nil is a connection of which
    /// no name is known.
    ///
    /// - Parameter searchesAll: whether the rule searches everything that is sent, so that services of the system are an
    ///   assumption of it; of what the app sends they are no part.
    func doubtUnread(
        from: Instant, until: Instant, searchesAll: Bool = false, _ judgement: inout Judgement,
        to concerns: (HostName?) -> Bool = { _ in true }
    ) {
        if searchesAll { assumeSystemServices(from: from, until: until, &judgement) }
        for host in index.darkHosts where concerns(host) {
            guard let traffic = dark[host], let last = traffic.lastData, last >= from, traffic.firstOpened <= until
            else {
                continue
            }
            let role = roles.role(of: host)
            if role.isChia || role == .osNoise || traffic.isOnly(.browser) || traffic.isOnly(.os) { continue }
            if let allowance = policy.allowance(for: host, at: span.latest) {
                judgement.assume("opaque-ok", "\(host) was not inspected, as the policy allows (\(allowance.reason))")
                continue
            }
            judgement.doubt(
                role == .telemetry ? "opaque-telemetry" : traffic.reason.rawValue,
                Self.unread(traffic, host) + policy.lapseWords(for: host, at: span.latest),
                remedy: Self.remedy(traffic.reason))
        }
        if concerns(nil),
            let flow = nameless.first(where: { flow in
                flow.darkness != nil && flow.opened.time <= until && (flow.lastDarkData ?? .distantPast) >= from
                    && OSNoiseHosts.service(ofPort: flow.server.port) == nil && !flow.isOfSystemOrBrowser
                    // Its address may be known as that of several hosts.
                    && (flow.names.isEmpty || flow.names.contains(where: concerns))
            }), let reason = flow.darkness
        {
            judgement.doubt(
                reason.rawValue, "a connection to \(flow.server) without a name could not be read (\(reason.rawValue))",
                remedy: Self.remedy(reason))
        }
        doubtUnsent(from: from, until: until, searchesAll: searchesAll, &judgement, to: concerns)
        doubtHoles(from: from, until: until, &judgement, to: concerns)
        doubtRequestLog(until: until, &judgement)
        doubtBypass(&judgement)
        doubtCapture(&judgement)
    }

    /// Services of the system that sent something unread between two moments: what a rule searches for may have been in it,
    /// though the app had no hand in it.
    func assumeSystemServices(from: Instant, until: Instant, _ judgement: inout Judgement) {
        let named = dark.filter { host, traffic in
            guard let last = traffic.lastData, last >= from, traffic.firstOpened <= until else { return false }
            let role = roles.role(of: host)
            return !role.isChia && !traffic.isOnly(.browser) && (role == .osNoise || traffic.isOnly(.os))
        }
        let nameless = nameless.filter {
            $0.darkness != nil && ($0.lastDarkData ?? .distantPast) >= from && $0.opened.time <= until && $0.isOfSystem
        }
        let count = named.count + Set(nameless.map(\.server.address)).count
        guard count > 0 else { return }
        judgement.assume("os-services", "OS services not inspected: \(counted(count, "host"))")
    }

    private func doubtHoles(
        from: Instant, until: Instant, _ judgement: inout Judgement, to concerns: (HostName?) -> Bool
    ) {
        let hole = blindSpots.first { record in
            guard record.spot.connection != nil, record.spot.from != .server,
                Self.hidesRequests.contains(record.spot.reason), record.spot.reason != .withheld,
                record.spot.span.latest >= from, record.spot.span.earliest <= until
            else { return false }
            guard let name = record.names.first else {
                return concerns(nil) && record.server.map { OSNoiseHosts.service(ofPort: $0.port) == nil } ?? true
                    && !(record.spot.connection.map(index.namelessConnections.contains) ?? false)
            }
            let role = roles.role(of: name)
            // What stayed dark as a whole was told above, with who owns it.
            return concerns(name) && dark[name] == nil && !role.isChia && role != .osNoise
        }
        guard let hole else { return }
        judgement.doubt(
            hole.spot.reason.rawValue,
            "bytes of the device to \(hole.names.first?.text ?? hole.server?.description ?? "some host") could not be read (packet \(hole.spot.noticed.number))",
            remedy: Self.remedy(hole.spot.reason))
    }

    /// Something that the app sent from an instant on could not be searched in full.
    func doubtScanGap(since: Instant, _ judgement: inout Judgement) {
        guard let gap = scanGaps.first(where: { !$0.actor.actor.isElsewhere && $0.started >= since }) else { return }
        judgement.doubt(
            BlindSpot.Reason.undecodableContent.rawValue,
            "\(gap.evidence.subject) could not be searched in full at \(gap.gap.place)",
            remedy: Self.remedy(.undecodableContent))
    }

    /// A request for the home's path on a host that nothing calls the partner's.
    func doubtHomeElsewhere(_ request: LoggedRequest, _ judgement: inout Judgement) {
        let host = request.host?.text ?? "?"
        judgement.doubt(
            "policy-mismatch",
            "\(request.subject(redactor)) matches requests: home, on a host that the policy does not name as the partner's",
            remedy: "add to \(policyLine), if it is the partner's:  hosts: {partner: [\(redactor.host(host))]}")
    }

    /// A request of which nothing tells whether the app sent it.
    func doubtSender(_ request: LoggedRequest, _ judgement: inout Judgement) {
        judgement.doubt(
            "actor-unknown", "\(request.subject(redactor)): \(request.actor.reason)",
            remedy: "capture with process names (PKTAP, PCAPdroid), or let the client send its own User-Agent")
    }

    /// The trace goes on for less than `length` after `instant`: what the rule watched was cut short.
    func assumeWatched(_ length: Nanoseconds, since instant: Instant, _ what: String, _ judgement: inout Judgement) {
        let observed = Nanoseconds(ended.nanoseconds(since: instant))
        guard observed < length else { return }
        assumeWatched(observed, of: length, what, &judgement)
    }

    /// Something was watched for less than `length`.
    func assumeWatched(_ observed: Nanoseconds, of length: Nanoseconds, _ what: String, _ judgement: inout Judgement) {
        judgement.assume("observed-only", "observed only \(max(observed, Nanoseconds(0))) after \(what), not \(length)")
    }
}
