/// Secrets of TLS sessions from key logs: text in, secrets by client random out.

/// The secrets of an NSS key log (draft-ietf-tls-keylogfile), shared by all connections; entries may come at any time.
public struct KeyLog {
    /// No secrets.
    public init() {}

    /// Adds the lines of a key log, or of a piece of one that ends at a line's end.
    public mutating func add(nss text: UnsafeRawBufferPointer) {
    }

    /// Adds the lines of a key log.
    public mutating func add(nss text: String) {
    }
}
