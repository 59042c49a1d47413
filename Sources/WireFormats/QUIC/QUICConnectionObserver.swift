public import SessionTrace

/// What a QUIC conversation gives.
public enum QUICOutput: Hashable, Sendable {
    /// A ClientHello, or at the end the blind spot.
    case event(SessionEvent)
    /// A ServerHello was read.
    case serverHello(PacketReference)
}

/// Reads the QUIC of one UDP conversation as far as it is open to anyone: its Initial packets (RFC 9001 §5.2).
public struct QUICConnectionObserver {
    /// The connection.
    public let connection: ConnectionID

    /// A conversation of which nothing has been seen.
    public init(connection: ConnectionID) {
        self.connection = connection
    }

    /// Whether a conversation that starts with this datagram from its client is QUIC: a long header of a version that
    /// is known, or the shape of one that is not.
    public static func recognises(_ datagram: UnsafeRawBufferPointer) -> Bool {
        false
    }

    /// The next datagram from `side`.
    public mutating func receive(
        _ datagram: UnsafeRawBufferPointer, from side: Side, at packet: PacketReference,
        into output: inout [QUICOutput]
    ) {
    }

    /// The conversation has ended: gives one blind spot for what was not read.
    public mutating func finish(at packet: PacketReference, into output: inout [QUICOutput]) {
    }
}
