internal import SessionTrace

/// Whose connections to a host either take the proxy's certificate or do not: a program is told by its JA4.
struct LeafTaker: Hashable, Sendable {
    var client: IPAddress
    var host: HostName
    var ja4: String

    init?(_ flow: FlowSummary) {
        guard let host = flow.names.first, let ja4 = flow.ja4 else { return nil }
        client = flow.client.address
        self.host = host
        self.ja4 = ja4
    }
}

/// What the proxy that recorded the trace said of it.
extension SessionModel {
    mutating func receive(_ event: ProxyEvent) {
        let host = (event.attributes["host"] ?? event.attributes["name"]).flatMap { HostName($0) }
        switch event.kind {
        case .fault:
            if proxyFaults.count < 1_000 { proxyFaults.append(event) }
        case .dialFailed, .upstreamTLSFailed, .leafRefused, .leafSuspected:
            keepFailure(event, host)
        case .passthrough:
            guard event.attributes["reason"] == "default-list", let host, systemHosts.count < limits.darkHosts else {
                return
            }
            systemHosts.insert(host)
        case .exchange:
            receive(withheld: event)
        case .dialed, .upstreamTLS, .withheld, .limit, .other:
            return
        }
    }

    /// The heads of one request, and of its answer, on a withheld connection.
    private mutating func receive(withheld event: ProxyEvent) {
        guard let id = event.connection, let flow = flows[id] else { return giveUp("heads of withheld connections") }
        let reader = WithheldExchange(names: flow.names, roles: roles, knowledge: journeyKnowledge)
        guard let exchange = reader.read(event, on: id) else { return giveUp("heads of withheld connections") }
        flows[id]?.withheldRequests += 1
        receive(exchange, isWithheld: true)
        keepUnsearched(exchange, flows[id], role: event.attributes["role"])
        readWithheldCookies(event, exchange, flows[id])
    }

    /// Counts what the proxy or the recording said of a connection that has ended.
    mutating func keepWord(of flow: Flow) {
        if flow.isToldByHeads { withheldConnections += 1 }
        // A connection that is told by its heads was used with the proxy's certificate too: they were read on it.
        let isUsed = flow.isToldByHeads || (flow.word == nil && flow.session != nil && flow.darkness == nil)
        guard isUsed, flow.requests > 0, acceptances.count < limits.darkHosts,
            let taker = LeafTaker(FlowSummary(flow, names: flow.names, nameSource: ""))
        else { return }
        acceptances[taker] = max(acceptances[taker] ?? .distantPast, flow.connection.opened.time)
    }

    /// A client that used a connection to the host with the proxy's certificate does not pin: one that it closed unused was
    /// a spare one, and one that it refused came before the certificate was trusted. A browser that took the certificate
    /// for any host takes it for all: what it opened ahead and never needed is a spare one, too.
    mutating func settleRefusals() {
        var settled: Set<ConnectionID> = []
        for flow in refusals {
            guard let reason = flow.darkness, let name = flow.names.first else { continue }
            let accepted = LeafTaker(flow).flatMap { acceptances[$0] }
            let isSpare = accepted.map { reason == .leafSuspected || $0 >= flow.closed.time } ?? false
            if isSpare || reason == .leafSuspected && stacks.isOnlyOfBrowser(flow.ja4) {
                settled.insert(flow.id)
            } else {
                dark.add(flow, reason: reason, to: name)
            }
        }
        refusals = []
        guard !settled.isEmpty else { return }
        for index in chiaFlows.indices where settled.contains(chiaFlows[index].id) {
            chiaFlows[index].darkness = nil
            chiaFlows[index].lastDarkData = nil
        }
        blindSpots.removeAll { record in
            record.spot.connection.map(settled.contains) ?? false
                && (record.spot.reason == .leafRefused || record.spot.reason == .leafSuspected)
        }
    }

    /// What went around the proxy without a name has the name that its address was the answer for.
    mutating func nameBypasses() {
        for index in blindSpots.indices
        where blindSpots[index].spot.reason == .bypass && blindSpots[index].names.isEmpty {
            if let name = blindSpots[index].server.flatMap({ names.name(of: $0.address) }) {
                blindSpots[index].names = [name]
            }
        }
    }
}
