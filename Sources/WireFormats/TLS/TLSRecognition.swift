/// Tells TLS from other protocols by the first bytes of a stream.

/// What the first bytes of a stream say about TLS.
public enum TLSRecognition: Hashable, Sendable {
    /// A TLS record header of a plausible kind, or an SSLv2 hello.
    case tls
    /// Fewer bytes than are needed to tell, and all of them fit so far.
    case undecided
    /// Something else.
    case other

    /// Looks at the first bytes of one side of a stream; 11 bytes always decide. `startSeen`: the stream's first byte is
    /// the first of these; without that any record type is accepted, not only a handshake.
    public init(_ prefix: UnsafeRawBufferPointer, startSeen: Bool = true) {
        self = .other
    }
}
