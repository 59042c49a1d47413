public import SessionTrace
internal import WireFormats

/// The flow table: segments and datagrams in, connections with their streams out, in one pass and bounded memory.
///
/// Time is packet time, taken as the lowest of each run of packets, so that one packet with an absurd timestamp ends
/// nothing.
public struct ConnectionTable {
    /// What became of segments and datagrams.
    public private(set) var counters = TransportCounters()
    private let limits: TransportLimits
    private var flows = FlowTable()
    private var clock = PacketClock()
    /// Units taken.
    private var units = 0
    private var interfaceNames: [Int: String] = [:]

    /// Makes an empty table.
    public init(limits: TransportLimits = .init()) {
        self.limits = limits
    }

    /// Tells the name of an interface (index over the whole file), for connections that it opens.
    public mutating func name(interface: Int, _ name: String) {
        interfaceNames[interface] = name
    }

    /// Takes a unit. Returns the connection that it belongs to; nil for strays.
    @discardableResult
    public mutating func receive(_ unit: TransportUnit, into sink: inout some StreamSink) -> ConnectionID? {
        units += 1
        if clock.tick(unit.reference.time) { releaseByTime(into: &sink) }
        while let slot = flows.first(.closing), isClosingOver(slot) { close(slot, .finished, into: &sink) }
        let (key, sourceIsLower) = FlowKey.of(unit)
        guard let segment = unit.segment else {
            return receiveDatagram(unit, key: key, sourceIsLower: sourceIsLower, into: &sink)
        }
        counters.segments += 1
        let hash = flows.hash(key)
        var slot = flows.find(key, hash: hash)
        var previousSYN: UInt32?
        if let known = slot {
            let side = flows[known].side(sourceIsLower: sourceIsLower)
            switch flows[known].belonging(
                of: segment, payloadLength: unit.payloadLength, side: side, limits: limits)
            {
            case .same:
                break
            case .stray:
                counters.implausibleSegments += 1
                return nil
            case .another:
                if flows[known].client.start == .seen { previousSYN = flows[known].client.initial &- 1 }
                forget(known, .idle, into: &sink)
                slot = nil
            }
        }
        let place = slot ?? open(unit, key: key, hash: hash, sourceIsLower: sourceIsLower, into: &sink)
        if let previousSYN { flows[place].previousSYN = previousSYN }
        return take(unit, segment, in: place, sourceIsLower: sourceIsLower, into: &sink)
    }

    /// Takes what was put together of a datagram whose other fragments never came; it opens no connection.
    public mutating func receivePart(_ unit: TransportUnit, spot: BlindSpot, into sink: inout some StreamSink) {
        var spot = spot
        let (key, sourceIsLower) = FlowKey.of(unit)
        guard let slot = flows.find(key, hash: flows.hash(key)) else {
            spot.detail += ", \(unit.segment == nil ? "UDP" : "TCP") \(unit.source.port) to \(unit.destination.port)"
            sink.blind(spot)
            return
        }
        spot.connection = flows[slot].id
        spot.from = flows[slot].side(sourceIsLower: sourceIsLower)
        sink.blind(spot)
        receive(unit, into: &sink)
    }

    /// Ends the capture: everything that waits is delivered, every hole told, every connection closed, in the order in
    /// which they were last heard of.
    public mutating func finish(into sink: inout some StreamSink) {
        for phase in [Flow.Phase.closing, .halfSeen, .open, .conversation, .ended] {
            while let slot = flows.first(phase) { forget(slot, .traceEnded, into: &sink) }
        }
    }

    // MARK: - TCP

    private mutating func take(
        _ unit: TransportUnit, _ segment: TransportUnit.Segment, in slot: Int, sourceIsLower: Bool,
        into sink: inout some StreamSink
    ) -> ConnectionID {
        flows[slot].packets += 1
        let id = flows[slot].id
        guard flows[slot].phase != .ended else {
            if unit.payloadLength > 0 { counters.repeatedSegments += 1 }
            return id
        }
        flows[slot].last = unit.reference
        if !flows[slot].hasProcess { identify(slot, unit, into: &sink) }
        let passage = Passage(
            id: id, reference: unit.reference,
            moment: .init(packets: flows[slot].packets, time: unit.reference.time), limits: limits)
        flows[slot].receive(
            unit, segment, from: flows[slot].side(sourceIsLower: sourceIsLower), passage, counters: &counters,
            into: &sink)
        // Once closing, a connection keeps its place in the list: its time runs from there.
        guard flows[slot].phase != .closing else { return id }
        let phase = flows[slot].livePhase
        flows.move(slot, to: phase)
        flows[slot].since = .init(packets: units, time: unit.reference.time)
        return id
    }

    private mutating func open(
        _ unit: TransportUnit, key: FlowKey, hash: UInt32, sourceIsLower: Bool, into sink: inout some StreamSink
    ) -> Int {
        while flows.count(.open) + flows.count(.halfSeen) >= limits.openConnections,
            let oldest = flows.first(.halfSeen) ?? flows.first(.open)
        {
            counters.givenUpConnections += 1
            giveUp(oldest, into: &sink)
        }
        counters.tcpConnections += 1
        let flags = unit.segment?.flags ?? []
        let isSYN = flags.contains(.syn)
        let sourceIsClient: Bool
        if isSYN {
            sourceIsClient = !flags.contains(.ack)
        } else if unit.source.port != unit.destination.port {
            sourceIsClient = unit.source.port > unit.destination.port
        } else {
            sourceIsClient = true
        }
        return insert(
            unit, key: key, hash: hash, sourceIsLower: sourceIsLower, sourceIsClient: sourceIsClient,
            transport: .tcp, startSeen: isSYN, into: &sink)
    }

    // MARK: - UDP

    private mutating func receiveDatagram(
        _ unit: TransportUnit, key: FlowKey, sourceIsLower: Bool, into sink: inout some StreamSink
    ) -> ConnectionID {
        counters.datagrams += 1
        let hash = flows.hash(key)
        let slot =
            flows.find(key, hash: hash)
            ?? openConversation(unit, key: key, hash: hash, sourceIsLower: sourceIsLower, into: &sink)
        let side = flows[slot].side(sourceIsLower: sourceIsLower)
        let id = flows[slot].id
        flows[slot].packets += 1
        flows[slot].last = unit.reference
        if !flows[slot].hasProcess { identify(slot, unit, into: &sink) }
        flows.move(slot, to: .conversation)
        flows[slot].since = .init(packets: units, time: unit.reference.time)
        guard !unit.isTunnel else { return id }
        flows[slot].countDatagram(unit.payload.count, from: side)
        sink.datagram(unit.payload, length: unit.payloadLength, from: side, at: unit.reference, on: id)
        return id
    }

    private mutating func openConversation(
        _ unit: TransportUnit, key: FlowKey, hash: UInt32, sourceIsLower: Bool, into sink: inout some StreamSink
    ) -> Int {
        while flows.count(.conversation) >= limits.conversations, let oldest = flows.first(.conversation) {
            forget(oldest, .idle, into: &sink)
        }
        counters.udpConversations += 1
        // The first to speak is the client, unless it speaks from a service's port: its question was not captured.
        let sourceIsClient = !(unit.source.port < 1024 && unit.destination.port >= 1024)
        return insert(
            unit, key: key, hash: hash, sourceIsLower: sourceIsLower, sourceIsClient: sourceIsClient,
            transport: .udp, startSeen: sourceIsClient, into: &sink)
    }

    // MARK: - Beginning and end

    private mutating func insert(
        _ unit: TransportUnit, key: FlowKey, hash: UInt32, sourceIsLower: Bool, sourceIsClient: Bool,
        transport: Connection.Transport, startSeen: Bool, into sink: inout some StreamSink
    ) -> Int {
        let process = unit.processRecord.identity ?? unit.process
        let id = sink.nextConnectionID()
        let opened = unit.reference
        let slot = flows.insert(
            Flow(
                key: key, hash: hash, id: id, clientIsLower: sourceIsLower == sourceIsClient,
                phase: transport == .udp ? .conversation : .open,
                client: StreamHalf(side: .client, opened: opened.time),
                server: StreamHalf(side: .server, opened: opened.time), last: opened,
                hasProcess: process?.isKnown ?? false, since: .init(packets: units, time: opened.time)))
        sink.opened(
            Connection(
                id: id, transport: transport, client: sourceIsClient ? unit.source : unit.destination,
                server: sourceIsClient ? unit.destination : unit.source, opened: opened, startSeen: startSeen,
                process: process, interface: interfaceNames[unit.interface]))
        return slot
    }

    private mutating func identify(_ slot: Int, _ unit: TransportUnit, into sink: inout some StreamSink) {
        if case .none = unit.processRecord, unit.process == nil { return }
        guard let process = unit.processRecord.identity ?? unit.process, process.isKnown else { return }
        flows[slot].hasProcess = true
        sink.identified(process, of: flows[slot].id)
    }

    /// Flushes and tells a connection as closed; it stays in the table as ended.
    private mutating func close(_ slot: Int, _ cause: ConnectionEnd.Cause, into sink: inout some StreamSink) {
        let last = flows[slot].last
        if flows[slot].phase != .conversation {
            let passage = Passage(
                id: flows[slot].id, reference: last,
                moment: .init(packets: flows[slot].packets, time: last.time), limits: limits)
            flows[slot].client.flush(passage, counters: &counters, into: &sink)
            flows[slot].server.flush(passage, counters: &counters, into: &sink)
        }
        sink.closed(
            ConnectionEnd(
                id: flows[slot].id, cause: flows[slot].endCause ?? cause, last: last,
                clientBytes: flows[slot].client.deliveredBytes, serverBytes: flows[slot].server.deliveredBytes))
        flows.move(slot, to: .ended)
        flows[slot].since = .init(packets: units, time: last.time)
        if flows.count(.ended) > limits.endedConnections, let oldest = flows.first(.ended), oldest != slot {
            flows.remove(oldest)
        }
    }

    /// Closes a connection if that was not done, and drops it from the table.
    private mutating func forget(_ slot: Int, _ cause: ConnectionEnd.Cause, into sink: inout some StreamSink) {
        if flows[slot].phase != .ended { close(slot, cause, into: &sink) }
        flows.remove(slot)
    }

    /// Drops a connection that may go on; if it does, it is joined in the middle as a new one.
    private mutating func giveUp(_ slot: Int, into sink: inout some StreamSink) {
        let last = flows[slot].last
        let passage = Passage(
            id: flows[slot].id, reference: last, moment: .init(packets: flows[slot].packets, time: last.time),
            limits: limits)
        flows[slot].client.giveUp(passage, counters: &counters, into: &sink)
        flows[slot].server.giveUp(passage, counters: &counters, into: &sink)
        forget(slot, .idle, into: &sink)
    }

    private func isClosingOver(_ slot: Int) -> Bool {
        let since = flows[slot].since
        return units - since.packets >= limits.closingPackets
            || clock.now.nanoseconds(since: since.time) >= limits.closingNanoseconds
    }

    private mutating func releaseByTime(into sink: inout some StreamSink) {
        while let slot = firstSilent(.ended, for: limits.endedNanoseconds) { flows.remove(slot) }
        while let slot = firstSilent(.halfSeen, for: limits.halfSeenNanoseconds) { close(slot, .idle, into: &sink) }
        for phase in [Flow.Phase.open, .conversation] {
            while let slot = firstSilent(phase, for: limits.idleNanoseconds) { forget(slot, .idle, into: &sink) }
        }
    }

    /// The flow that has been silent longest in a phase, if that is long enough.
    private mutating func firstSilent(_ phase: Flow.Phase, for nanoseconds: Int64) -> Int? {
        while let slot = flows.first(phase) {
            let silence = clock.now.nanoseconds(since: flows[slot].since.time)
            guard silence < 0, silence < -nanoseconds, flows.count(phase) > 1 else {
                return silence >= nanoseconds ? slot : nil
            }
            // Its last packet had a time far ahead of all others: it must not keep the others from being looked at.
            flows[slot].since.time = clock.now
            flows.move(slot, to: phase)
        }
        return nil
    }
}

extension ProcessIdentity {
    /// Whether it names somebody: PCAPdroid writes −1 while it does not know.
    fileprivate var isKnown: Bool { !name.isEmpty && userID != -1 }
}
