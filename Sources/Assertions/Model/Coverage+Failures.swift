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

    /// A call of one kind that the app may have wanted to make to some hosts since a handoff URL was known; the first one that
    /// came to nothing tells for all.
    func doubtUnsentCall(
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

    /// What the app wanted to send between two moments to a host that `concerns` names, on connections that came to
    /// nothing; nil is one of which no host is known. It got nothing out, but not for want of trying: with the host within
    /// reach it may have sent what it must not.
    ///
    /// - Parameters:
    ///   - moment: what happened at `from`, where the sentence is to name it and the vendor.
    ///   - searchesAll: whether the rule searches everything that is sent, so that services of the system are an assumption.
    func doubtUnsent(
        from: Instant, until: Instant, after moment: String? = nil, searchesAll: Bool = false,
        _ judgement: inout Judgement, to concerns: (HostName?) -> Bool = { _ in true }
    ) {
        var ofSystem: Set<HostName?> = []
        var told: Set<HostName?> = []
        var ofBrowser: Set<HostName?> = []
        for failure in proxyFailures where failure.isUnsent && failure.at >= from && failure.at <= until {
            let role = role(of: failure.host)
            if role.isChia || !concerns(failure.host) { continue }
            if role == .osNoise || failure.actor.actor == .os {
                ofSystem.insert(failure.host)
                continue
            }
            if failure.actor.actor == .browser {
                ofBrowser.insert(failure.host)
            } else if let host = failure.host, let allowance = policy.allowance(for: host, at: span.latest) {
                judgement.assume("opaque-ok", "\(host) was not inspected, as the policy allows (\(allowance.reason))")
            } else if told.insert(failure.host).inserted {
                let vendor =
                    moment.flatMap { _ in failure.host }.flatMap { roles.vendor(of: $0) }.map { " (\($0))" } ?? ""
                judgement.doubt(
                    failure.kind.rawValue,
                    "\(failure.sentence)\(vendor)\(moment.map { " after \($0)" } ?? "") (packet \(failure.packet)): what the app would have sent was neither sent nor seen\(policy.lapseWords(for: failure.host, at: span.latest))",
                    remedy: failure.remedy)
            }
        }
        if searchesAll, !ofSystem.isEmpty {
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
