internal import SessionTrace

/// Connections that came to nothing beyond the proxy: what the app wanted to send was neither sent nor seen.
extension Session {
    /// Those on which the app may have wanted to send a session request: after the first share tap, where taps are
    /// marked; before it too, where the rule asks so.
    func unsentSessions(beforeTaps: Bool = false) -> [ProxyFailure] {
        let from = beforeTaps ? .distantPast : shareBursts.first?.reach ?? .distantPast
        return proxyFailures.filter {
            $0.isUnsent && $0.at >= from && !$0.isOfOthers && ($0.host.map(mayServeSessions) ?? true)
        }
    }

    /// What could not be sent to some hosts once a handoff URL was known.
    func doubtUnsent(
        since: Instant, _ what: String, where isConcerned: (HostName) -> Bool, _ judgement: inout Judgement
    ) {
        let failure = proxyFailures.first {
            $0.isUnsent && $0.at >= since && !$0.isOfOthers && ($0.host.map(isConcerned) ?? true)
        }
        guard let failure else { return }
        judgement.doubt(
            failure.kind.rawValue,
            "\(failure.sentence) (packet \(failure.packet)): what the app would have sent, \(what), was neither sent nor seen",
            remedy: failure.remedy)
    }

    /// A session request that could not be sent is one that was not seen.
    func doubtUnsentSessions(beforeTaps: Bool = false, _ judgement: inout Judgement) {
        guard let failure = unsentSessions(beforeTaps: beforeTaps).first else { return }
        judgement.doubt(
            failure.kind.rawValue,
            "\(failure.sentence) (packet \(failure.packet)): what the app would have sent, perhaps a session request, was neither sent nor seen",
            remedy: failure.remedy)
    }
}

extension ProxyFailure {
    /// Whether the browser or the system asked for the connection.
    var isOfOthers: Bool { actor.actor == .browser || actor.actor == .os }
}
