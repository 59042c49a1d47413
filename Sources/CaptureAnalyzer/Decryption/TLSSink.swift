/// What a TLS connection gives to whatever stands above it.
public import SessionTrace

/// Takes what `TLSConnectionDecoder` reads off one connection.
///
/// Generic and specialised, never existential: plaintext is handed over where it was decrypted, without a copy.
public protocol TLSSink {
    /// A ClientHello, at the end the `SecureSession`, and blind spots.
    mutating func secureEvent(_ event: SessionEvent)
    /// A ServerHello (HelloRetryRequest included) is whole.
    mutating func serverHello(at packet: PacketReference)
    /// What the server chose by ALPN; nil when it chose nothing or its choice can't be read. Comes once, before the first
    /// plaintext.
    mutating func applicationProtocol(_ name: String?, at packet: PacketReference)
    /// Application data in order. `bytes` are valid during the call only; `packet` completed their record.
    mutating func plaintext(_ bytes: UnsafeRawBufferPointer, from side: Side, at packet: PacketReference)
    /// Application data from `side` is missing here: a hole in the stream, or records that stay closed. `length` is the
    /// number of plaintext bytes where it is known.
    mutating func plaintextHole(length: Int?, from side: Side, at packet: PacketReference)
    /// `side` said that it sends no more (close_notify, RFC 8446 §6.1).
    mutating func plaintextFinished(from side: Side, at packet: PacketReference)
}
