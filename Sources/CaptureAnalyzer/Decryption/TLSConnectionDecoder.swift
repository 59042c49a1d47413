public import SessionTrace

/// Reads the TLS of one connection: stream bytes of both sides in, hellos, plaintext and the fate of its encryption out.
public struct TLSConnectionDecoder {
    /// The connection.
    public let connection: ConnectionID

    /// A connection of which nothing has been seen. `startSeen` is false when it was joined in the middle.
    public init(connection: ConnectionID, startSeen: Bool = true) {
        self.connection = connection
    }

    /// The next stream bytes from `side`, cut anyhow; `packet` brought them.
    public mutating func receive(
        _ bytes: UnsafeRawBufferPointer, from side: Side, at packet: PacketReference,
        context: inout DecryptionContext, into sink: inout some TLSSink
    ) {
    }

    /// Stream bytes from `side` that will never come; `length` nil when nobody knows how many.
    public mutating func hole(
        length: Int?, from side: Side, at packet: PacketReference, context: inout DecryptionContext,
        into sink: inout some TLSSink
    ) {
    }

    /// The connection has ended: what still waits for keys is tried a last time, then the `SecureSession` and the blind
    /// spots are given.
    public mutating func finish(
        at packet: PacketReference, context: inout DecryptionContext, into sink: inout some TLSSink
    ) {
    }
}
