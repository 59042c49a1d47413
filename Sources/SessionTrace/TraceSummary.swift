/// What is known about a trace as a whole once it has been read to its end.
public struct TraceSummary: Hashable, Sendable {
    /// A layer on which the device's behaviour could be observed.
    public enum Layer: String, Hashable, Sendable, CaseIterable {
        case dns, transport, tls, http
    }

    /// How connections with TLS fared.
    public struct Decryption: Hashable, Sendable {
        /// Connections with a TLS handshake or TLS records.
        public var connections = 0
        /// Of these, fully decrypted.
        public var decrypted = 0
        /// Distinct key log entries given (by client random or session id).
        public var keys = 0
        /// Of these, used by no connection.
        public var unusedKeys = 0
        /// Connections that stayed dark, by reason code.
        public var dark: [String: Int] = [:]

        /// Nothing seen.
        public init() {}
    }

    /// Packets read.
    public var packets = 0
    /// First and last packet time; nil without packets.
    public var span: TimeSpan?
    /// When recording ended, where the recording says so: after the last packet, if nothing more came.
    public var ended: Instant?
    /// Whether the input was read to a proper end: not cut short, nothing unread.
    public var isComplete = true
    /// Whether this is a recording of our own proxy (`shb_userappl` = `handoff/…`).
    public var isOwnRecording = false
    /// Packets that the capturing system says it dropped; nil when it says nothing.
    public var droppedPackets: UInt64?
    /// Layers that the capture can show: a proxy recording has no DNS of the device.
    public var layers: Set<Layer> = []
    /// Whether somebody watched for traffic that went around the proxy: true for captures of the device's own link.
    public var watchedForBypass = false
    /// How TLS connections fared.
    public var decryption = Decryption()
    /// Marks that could not be read, one sentence each with its place; what they would have said is not known.
    public var unreadableMarks: [String] = []
    /// Sentences for people about what was skipped, cut or odd, each with its place (`byte 1234: …`).
    public var notes: [String] = []

    /// An empty summary.
    public init() {}
}
