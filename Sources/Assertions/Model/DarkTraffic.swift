internal import SessionTrace

/// Connections that stayed unread, summed up by host, with a few kept whole for evidence.
struct DarkTraffic: Sendable {
    /// What stayed unread towards one host.
    struct Host: Hashable, Sendable {
        var connections = 0
        var bytes = 0
        /// The last moment at which the device may have sent content.
        var lastData: Instant?
        var firstOpened: Instant = .distantFuture
        var reason: BlindSpot.Reason = .noKeys
        /// Who opened the connections, by recorded processes; `unknown` where none was recorded.
        var owners: Set<Actor> = []
        /// Connections kept whole.
        var samples: [FlowSummary] = []

        /// Whether recorded processes say that all connections are one actor's.
        func isOnly(_ actor: Actor) -> Bool { owners == [actor] }
    }

    /// Connections kept whole for one host.
    static let sampleLimit = 4

    private(set) var hosts: [HostName: Host] = [:]
    private(set) var isFull = false
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    mutating func add(_ flow: FlowSummary, reason: BlindSpot.Reason, to name: HostName) {
        if hosts[name] == nil, hosts.count >= limit {
            isFull = true
            return
        }
        var host = hosts[name] ?? Host()
        if host.connections == 0 { host.reason = reason }
        host.connections += 1
        host.owners.insert(flow.actor.isDefinite ? flow.actor.actor : .unknown)
        host.bytes &+= flow.darkBytes
        host.lastData = [host.lastData, flow.lastDarkData].compactMap(\.self).max()
        host.firstOpened = min(host.firstOpened, flow.opened.time)
        host.samples.append(flow)
        if host.samples.count > Self.sampleLimit {
            // The first ones and the last one that sent something tell most.
            host.samples.remove(at: Self.sampleLimit - 1)
        }
        hosts[name] = host
    }
}
