public import SessionTrace

/// What an observer of one connection's plaintext has to say.
public enum ConversationOutput: Hashable, Sendable {
    /// Something for the trace.
    case event(SessionEvent)
    /// From here on the connection carries another protocol: CONNECT got a 2xx (its target is given), or a 101 named a
    /// protocol that is not read here (nil). `tunnelled` follows for every byte of either side after this point.
    case tunnelOpened(ConnectionTarget?)
    /// Bytes of the protocol inside, in order for each side, with the packet that carried them.
    case tunnelled([UInt8], Side, PacketReference)
    /// Bytes of the protocol inside that the capture does not hold: how many, where known, whose, and where noticed.
    case tunnelHole(length: Int?, Side, PacketReference)
}
