internal import SessionTrace

/// What is kept of a connection when it has ended.
extension SessionModel {
    mutating func retire(_ id: ConnectionID) {
        guard var flow = flows.remove(id) else { return }
        if flow.actor.actor == .unknown, let outer = flow.connection.enclosing,
            let actor = flows[outer]?.tunnelActor
        {
            // Nothing on it tells who used it, but somebody asked for the tunnel.
            flow.actor = flow.actor.combined(with: actor)
        }
        keepWord(of: flow)
        learnProcess(of: flow)
        settleFailures(of: flow)
        var names = flow.names
        var source = flow.serverName != nil ? "SNI" : names.isEmpty ? "" : "request"
        if flow.serverName == nil, let target = flow.connection.tunnelTarget?.host, names.first == target {
            source = "tunnel target"
        } else if source == "request", flow.authorities.isEmpty {
            source = "proxy's dial"
        }
        keepBlindSpots(of: flow, names: names)
        // DNS conversations and other datagrams are no contact with a host by themselves.
        // QUIC is one, though its first packets were not seen.
        let isQUIC = flow.blindSpots.contains { $0.reason == .quic }
        if flow.connection.transport == .udp, flow.session == nil, flow.hello == nil, names.isEmpty, !isQUIC { return }
        if names.isEmpty {
            let summary = FlowSummary(flow, names: [], nameSource: "")
            if nameless.count < limits.namelessConnections {
                nameless.append(summary)
            } else {
                giveUp("connections without a name")
            }
            return
        }
        // Requests on a proxy's or a shared connection name many hosts; the connection itself went to the first.
        if source == "request" { names = Array(names.prefix(1)) }
        let summary = FlowSummary(flow, names: names, nameSource: source)
        tally(summary, flow)
        keepBrowsing(of: flow, summary)
        keepVendorContact(summary)
        let chiaNames = summary.names.filter { isChia($0) }
        if !chiaNames.isEmpty {
            if chiaFlows.count < limits.contacts {
                var contact = summary
                contact.names = chiaNames + summary.names.filter { !chiaNames.contains($0) }
                chiaFlows.append(contact)
            } else {
                giveUp("connections to Chia")
            }
        }
        if let darkness = summary.darkness, let name = summary.names.first {
            if flow.mayHideName, roles.role(of: name) != .osNoise {
                hiddenName = min(hiddenName ?? .distantFuture, summary.opened.time)
            }
            if darkness == .leafRefused || darkness == .leafSuspected {
                if refusals.count < limits.namelessConnections { refusals.append(summary) } else { giveUp("refusals") }
            } else {
                dark.add(summary, reason: darkness, to: name)
            }
        }
    }

    private mutating func tally(_ summary: FlowSummary, _ flow: Flow) {
        guard let name = summary.names.first else { return }
        if tallies[name] == nil, tallies.count >= limits.darkHosts { return giveUp("hosts") }
        var tally = tallies[name] ?? HostTally()
        tally.connections += 1
        if flow.session != nil || flow.hello != nil {
            tally.secure += 1
            if summary.darkness == nil, !flow.lacksServer { tally.decrypted += 1 }
        }
        if summary.darkness != nil { tally.dark += 1 }
        if tally.samples.count < HostTally.sampleLimit { tally.samples.append(summary) }
        tallies[name] = tally
    }

    private mutating func keepBlindSpots(of flow: Flow, names: [HostName]) {
        for spot in flow.blindSpots {
            // What was withheld is told by its heads, and is no hole.
            if flow.isToldByHeads, spot.reason == .withheld || Flow.unread.contains(spot.reason) { continue }
            guard blindSpots.count < limits.blindSpots else { return giveUp("blind spots") }
            blindSpots.append(
                BlindRecord(
                    spot: spot, names: names, server: flow.connection.server, client: flow.connection.client))
        }
    }
}
