internal import SessionTrace

/// Counts the bytes of a stream that nobody reads.
struct OpaqueStream {
    /// True for the outside of a tunnel whose preamble has been read: its bytes belong to the inside.
    let isPreambleOnly: Bool
    private var bytes = 0
    private var first: PacketReference?
    private var last: PacketReference?

    init(isPreambleOnly: Bool) {
        self.isPreambleOnly = isPreambleOnly
    }

    mutating func count(_ count: Int, from side: Side, at packet: PacketReference) {
        bytes += count
        if first == nil { first = packet }
        last = packet
    }

    /// The blind spot that the bytes are, if there were any.
    func blindSpot(connection: ConnectionID, noticed: PacketReference) -> BlindSpot? {
        guard let first, let last else { return nil }
        return BlindSpot(
            reason: .unknownProtocol, connection: connection, span: TimeSpan(first.time, last.time), bytes: bytes,
            noticed: noticed)
    }
}
