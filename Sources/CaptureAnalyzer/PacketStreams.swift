public import SessionTrace

/// Captured packets in, streams out: the network layer and the flow table in one.
///
///     var streams = PacketStreams()
///     while let record = try file.next() { if case .packet(let packet) = record { streams.receive(packet, into: &sink) } }
///     streams.finish(into: &sink)
public struct PacketStreams {
    /// What the packets were.
    public private(set) var network = NetworkCounters()
    /// What became of segments and datagrams.
    public private(set) var transport = TransportCounters()

    /// Makes an empty table.
    public init(networkLimits: NetworkLimits = .init(), transportLimits: TransportLimits = .init()) {}

    /// Tells the name of an interface (index over the whole file), for connections that it opens.
    public mutating func name(interface: Int, _ name: String) {}

    /// Takes the next packet of the capture.
    ///
    /// - Returns: the connection that the packet belongs to (the innermost one, through tunnels), if any: packet
    ///   comments are about that one.
    @discardableResult
    public mutating func receive(
        _ frame: UnsafeRawBufferPointer, linkType: UInt32, originalLength: Int, reference: PacketReference,
        interface: Int = 0, process: ProcessIdentity? = nil, into sink: inout some StreamSink
    ) -> ConnectionID? { nil }

    /// Ends the capture: everything that waits is delivered, every hole told, every connection closed.
    public mutating func finish(into sink: inout some StreamSink) {}
}
