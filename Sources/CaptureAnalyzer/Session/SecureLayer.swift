internal import SessionTrace
internal import WireFormats

/// TLS with what stands on its plaintext. An object for the same reason as `PlaintextLayer`.
final class SecureLayer {
    private var decoder: TLSConnectionDecoder
    private var above: PlaintextLayer

    init(connection: ConnectionID, startSeen: Bool, limits: ConversationLimits) {
        decoder = TLSConnectionDecoder(connection: connection, startSeen: startSeen)
        above = PlaintextLayer(connection: connection, isSecure: true, startSeen: startSeen, limits: limits)
    }

    func receive(
        _ bytes: UnsafeRawBufferPointer, from side: Side, at packet: PacketReference, in session: inout SessionState
    ) {
        decoder.receive(bytes, from: side, at: packet, context: &session.decryption, into: &above)
    }

    func hole(length: Int?, from side: Side, at packet: PacketReference, in session: inout SessionState) {
        decoder.hole(length: length, from: side, at: packet, context: &session.decryption, into: &above)
    }

    /// What other analysers would count of the plaintext.
    var counts: ConversationCounts? { above.counts }

    /// The end of the transport: what waits for keys is tried a last time, then what is open above is flushed.
    func close(_ cause: ConnectionEnd.Cause, at packet: PacketReference, in session: inout SessionState) {
        decoder.finish(at: packet, context: &session.decryption, into: &above)
        above.close(cause, at: packet)
    }

    /// What there is to say since the last call.
    func takeOutput(into session: inout SessionState) -> [ConversationOutput] {
        session.facts.serverHellos += above.takeServerHellos()
        return above.takeOutput()
    }
}
