internal import SessionTrace

/// What could hide a violation in projections and in other answers to the app.
extension Session {
    /// The projections that the app asked for, in order of time.
    var appProjections: [Projection] { projections.filter(\.isOfApp) }

    /// Whether somebody shared, tried to, or went the neutral way.
    var hasJourney: Bool { !attempts.isEmpty || !shareBursts.isEmpty || !neutralBursts.isEmpty }

    /// Whether the app did anything at all, be it unread.
    var hasAppTraffic: Bool {
        hasJourney || contents.questions > 0 || dark.contains { !$0.value.isOnly(.browser) && !$0.value.isOnly(.os) }
    }

    /// Projections that were not seen, not whole, or not named by the policy.
    func doubtProjections(_ judgement: inout Judgement) {
        let own = appProjections
        let template = policy.requests.projection
        // What was not read may hold the projection: that comes before any doubt about its name.
        if !own.isEmpty || hasJourney { doubtAnswers("a projection", mayServeSessions, &judgement) }
        if own.isEmpty, hasJourney, judgement.doubts.isEmpty {
            judgement.doubt(
                "policy-mismatch", "no request is \(template), and no answer holds a handoff decision",
                remedy: "add to \(policyLine) the path that decisions come from:  requests: {projection: {path: /…}}")
        }
        if let found = own.first, !own.contains(where: \.matchesTemplate) {
            judgement.doubt(
                "policy-mismatch",
                "\(found.record.method) \(found.record.pathTemplate) answers with a handoff decision, but the policy says \(template)",
                remedy:
                    "add to \(policyLine):  requests: {projection: {method: \(found.record.method), path: \(found.record.pathTemplate)}}, with {id} for the item"
            )
        }
        for projection in own {
            if case .notWhole(let reason) = projection.answer {
                judgement.doubt(
                    reason == .tcpHole ? "body-not-whole" : reason.rawValue,
                    "the answer to \(projection.record.subject) (packet \(projection.record.started.number)) is not whole in the trace",
                    remedy: Self.remedy(reason))
            }
            if projection.isCropped {
                judgement.doubt(
                    "state-given-up",
                    "the answer to \(projection.record.subject) holds more than is kept of one projection",
                    remedy: Self.remedy(.stateGivenUp))
            }
        }
        let current = own.first { projection in
            projection.answer == .notModified
                && !own.contains {
                    $0.answer == .read && !$0.decisions.isEmpty && $0.item == projection.item
                        && $0.record.ended.time <= projection.record.started.time
                }
        }
        if let current {
            judgement.doubt(
                "projection-cached",
                "\(current.record.subject) (packet \(current.record.started.number)): the decision comes from the app's cache, and no answer in the trace holds it",
                remedy: "start the trace with an empty cache, or let the test server answer without ETag")
        }
        assumePartner(&judgement)
    }

    /// Whether what stayed unread of a host is the browser's or the system's alone, by recorded processes.
    private func isOthers(_ host: HostName) -> Bool {
        dark[host].map { $0.isOnly(.browser) || $0.isOnly(.os) } ?? false
    }

    /// Unread bytes that hosts sent to the app.
    func doubtAnswers(_ what: String, _ isConcerned: (HostName) -> Bool, _ judgement: inout Judgement) {
        let darkHosts = dark.filter { host, traffic in
            traffic.lastData != nil && !isOthers(host) && isConcerned(host)
        }.keys.sorted { $0.text < $1.text }
        for host in darkHosts {
            if let allowance = policy.allowance(for: host, at: span.latest) {
                judgement.assume("opaque-ok", "\(host) was not inspected, as the policy allows (\(allowance.reason))")
                continue
            }
            guard let traffic = dark[host] else { continue }
            judgement.doubt(
                traffic.reason.rawValue,
                "\(Self.unread(traffic, host)), and may hold \(what)\(policy.lapseWords(for: host, at: span.latest))",
                remedy: Self.remedy(traffic.reason))
            break
        }
        if let flow = nameless.first(where: { flow in
            flow.darkness != nil && flow.lastDarkData != nil
                && OSNoiseHosts.service(ofPort: flow.server.port) == nil && !flow.isOfSystemOrBrowser
                && (flow.names.isEmpty || flow.names.contains(where: isConcerned))
        }), let reason = flow.darkness {
            judgement.doubt(
                reason.rawValue, "a connection to \(flow.server) without a name could not be read (\(reason.rawValue))",
                remedy: Self.remedy(reason))
        }
        if let record = blindSpots.first(where: { record in
            record.spot.connection != nil && record.spot.from != .client
                && Self.hidesRequests.contains(record.spot.reason) && record.names.contains(where: isConcerned)
                && !darkHosts.contains { record.names.contains($0) }
                && !record.names.contains { isOthers($0) }
        }) {
            judgement.doubt(
                record.spot.reason.rawValue,
                "bytes of \(record.names[0]) are missing (packet \(record.spot.noticed.number)"
                    + "\(record.spot.bytes.map { ", \($0) bytes" } ?? "")), and may hold \(what)",
                remedy: Self.remedy(record.spot.reason))
        }
        doubtBypass(&judgement)
        doubtCapture(&judgement)
    }
}
