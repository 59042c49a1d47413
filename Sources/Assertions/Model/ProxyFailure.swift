internal import SessionTrace

/// A connection that came to nothing between the proxy and the host, or at the proxy's certificate: no act of the app.
struct ProxyFailure: Hashable, Sendable {
    var kind: ProxyEvent.Kind
    var host: HostName?
    var at: Instant
    var connection: ConnectionID?
    var packet: Int
    /// What the proxy said of it.
    var reason: String
    /// Who asked for the connection, as far as anything on it tells.
    var actor = ActorReading.nothing
    /// Whether what was to be sent on it was read all the same, as a request in the proxy's own form is.
    var wasRead = false

    /// Failures kept.
    static let limit = 1_000

    /// Whether the client could send nothing since there was nobody to send it to.
    var isUnsent: Bool { (kind == .dialFailed || kind == .upstreamTLSFailed) && !wasRead }

    /// `the proxy could not reach api.partner.example (connection refused)`.
    var sentence: String {
        let name = host?.text ?? "a host"
        let why = reason.isEmpty ? "" : " (\(reason))"
        return switch kind {
        case .dialFailed: "the proxy could not reach \(name)\(why)"
        case .upstreamTLSFailed: "TLS between the proxy and \(name) failed\(why)"
        default: "the client did not take the proxy's certificate for \(name)\(why)"
        }
    }

    /// What to do about it.
    var remedy: String {
        switch kind {
        case .dialFailed: "make \(host?.text ?? "the host") reachable from the proxy, and record again"
        case .upstreamTLSFailed:
            "give the proxy what verifies \(host?.text ?? "the host") (--upstream-ca FILE), and record again"
        default: Session.remedy(.leafRefused)
        }
    }
}

extension SessionModel {
    /// Keeps a failure, and what is known by now of the connection that it befell.
    mutating func keepFailure(_ event: ProxyEvent, _ host: HostName?) {
        if let id = event.connection {
            if event.kind == .dialFailed { flows[id]?.unreachedHost = host }
            if event.kind == .upstreamTLSFailed { flows[id]?.lacksServer = true }
        }
        guard proxyFailures.count < ProxyFailure.limit else { return giveUp("failed connections") }
        if let id = event.connection { failuresOfFlows[id, default: []].append(proxyFailures.count) }
        proxyFailures.append(
            ProxyFailure(
                kind: event.kind, host: host, at: event.at, connection: event.connection,
                packet: event.packet?.number ?? 0, reason: event.attributes["reason"] ?? ""))
    }

    /// Writes down who asked for a connection that failed, now that it has ended.
    mutating func settleFailures(of flow: Flow) {
        for place in failuresOfFlows.removeValue(forKey: flow.connection.id) ?? [] {
            proxyFailures[place].actor = flow.tunnelActor ?? flow.actor
            proxyFailures[place].wasRead = flow.requests > 0 && !flow.hasConnect
            if proxyFailures[place].host?.address != nil || proxyFailures[place].host == nil {
                proxyFailures[place].host = flow.names.first ?? proxyFailures[place].host
            }
        }
    }
}
