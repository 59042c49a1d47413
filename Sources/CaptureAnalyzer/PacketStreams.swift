public import SessionTrace
public import WireFormats

/// Captured packets in, streams out: the network layer and the flow table in one.
///
///     var streams = PacketStreams()
///     while let record = try file.next() {
///         if case .packet(let packet) = record { streams.receive(packet, into: &sink) }
///     }
///     streams.finish(into: &sink)
public struct PacketStreams {
    private var layer: NetworkLayer
    private var table: ConnectionTable

    /// Makes an empty table.
    public init(networkLimits: NetworkLimits = .init(), transportLimits: TransportLimits = .init()) {
        layer = NetworkLayer(limits: networkLimits)
        table = ConnectionTable(limits: transportLimits)
    }

    /// What the packets were.
    public var network: NetworkCounters { layer.counters }
    /// What became of segments and datagrams.
    public var transport: TransportCounters { table.counters }

    /// Tells the name of an interface (index over the whole file), for connections that it opens.
    public mutating func name(interface: Int, _ name: String) {
        table.name(interface: interface, name)
    }

    /// Takes the next packet of the capture.
    ///
    /// - Returns: the connection that the packet belongs to (the innermost one, through tunnels), if any: packet
    ///   comments are about that one.
    @discardableResult
    public mutating func receive(
        _ packet: borrowing CapturedPacket, into sink: inout some StreamSink
    ) -> ConnectionID? {
        withUnsafeMutablePointer(to: &table) { table in
            withUnsafeMutablePointer(to: &sink) { sink in
                var feed = StreamFeed(table: table, sink: sink)
                layer.receive(packet, into: &feed)
                return feed.connection
            }
        }
    }

    /// Ends the capture: everything that waits is delivered, every hole told, every connection closed.
    public mutating func finish(into sink: inout some StreamSink) {
        withUnsafeMutablePointer(to: &table) { table in
            withUnsafeMutablePointer(to: &sink) { sink in
                var feed = StreamFeed(table: table, sink: sink)
                layer.finish(into: &feed)
            }
        }
        table.finish(into: &sink)
    }
}

/// Leads units from the network layer into the flow table. Lives only inside one call of `PacketStreams`, whose scope
/// keeps both pointers valid and unaliased.
private struct StreamFeed<Sink: StreamSink>: TransportSink {
    let table: UnsafeMutablePointer<ConnectionTable>
    let sink: UnsafeMutablePointer<Sink>
    /// The connection of the last unit.
    var connection: ConnectionID?

    mutating func received(_ unit: TransportUnit) {
        if let id = table.pointee.receive(unit, into: &sink.pointee) { connection = id }
    }

    mutating func receivedPart(_ unit: TransportUnit, spot: BlindSpot) {
        table.pointee.receivePart(unit, spot: spot, into: &sink.pointee)
    }

    mutating func blind(_ spot: BlindSpot) {
        sink.pointee.blind(spot)
    }
}
