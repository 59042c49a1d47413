/// A TLS (or QUIC) ClientHello as it stood on the wire.
public struct ClientHello: Hashable, Sendable {
    /// The connection.
    public var connection: ConnectionID
    /// The packet that completed it.
    public var seen: PacketReference
    /// The packet with its first byte.
    public var started: PacketReference
    /// The server name, if one was sent (RFC 6066 §3).
    public var serverName: HostName?
    /// ALPN protocol names in order (RFC 7301).
    public var applicationProtocols: [String]
    /// The highest version offered: 0x0304 for TLS 1.3, 0x0303 for 1.2 (GREASE left out).
    public var highestVersion: UInt16
    /// JA4 fingerprint (client form only), `t13d1516h2_…`.
    public var ja4: String
    /// Whether an `encrypted_client_hello` extension is there; alone it proves nothing (GREASE ECH).
    public var hasEncryptedClientHello: Bool
    /// Whether this hello came after a HelloRetryRequest or in a renegotiation.
    public var isRepeated: Bool

    /// Makes a record of a hello.
    public init(
        connection: ConnectionID, seen: PacketReference, started: PacketReference, serverName: HostName?,
        applicationProtocols: [String], highestVersion: UInt16, ja4: String, hasEncryptedClientHello: Bool,
        isRepeated: Bool
    ) {
        self.connection = connection
        self.seen = seen
        self.started = started
        self.serverName = serverName
        self.applicationProtocols = applicationProtocols
        self.highestVersion = highestVersion
        self.ja4 = ja4
        self.hasEncryptedClientHello = hasEncryptedClientHello
        self.isRepeated = isRepeated
    }
}

/// What became of the encryption of one connection; given once, when the connection ends.
public struct SecureSession: Hashable, Sendable {
    /// Whether the application data could be read.
    public enum Readability: Hashable, Sendable {
        /// All records of application data were opened.
        case decrypted
        /// Some were, some not; the blind spots say which.
        case partly(UnreadableReason)
        /// None could be.
        case opaque(UnreadableReason)
        /// The handshake ended without application data.
        case noApplicationData
    }

    /// Why records stayed closed.
    public enum UnreadableReason: Hashable, Sendable {
        /// No key log entry for this connection's random or session.
        case noKeys
        /// There are keys, but the records do not verify under them.
        case keysDoNotFit
        /// The start of the connection is not in the capture.
        case handshakeNotSeen
        /// A suite or version that is not decrypted (named).
        case unsupported(String)
        /// A hole in the stream or lost record synchronisation.
        case hole
    }

    /// The connection.
    public var connection: ConnectionID
    /// Negotiated version: 0x0304, 0x0303, … 0x0002; nil when no ServerHello was seen.
    public var version: UInt16?
    /// Negotiated cipher suite (IANA number).
    public var cipherSuite: UInt16?
    /// The ALPN protocol that the server chose, where it could be read.
    public var applicationProtocol: String?
    /// Whether the data could be read.
    public var readability: Readability
    /// The fatal alert that ended it, and who sent it (RFC 8446 §6), where readable.
    public var alert: Alert?
    /// Record bytes of application data from the client.
    public var clientApplicationBytes: Int
    /// Record bytes of application data from the server.
    public var serverApplicationBytes: Int
    /// First record of application data from the client.
    public var firstClientData: PacketReference?
    /// Last record of application data from the client.
    public var lastClientData: PacketReference?
    /// Whether the server took an encrypted ClientHello, proven by records that opened under the secrets of an inner
    /// hello: the ClientHello's server name is then the outer one and not the host. False says nothing.
    public var isEncryptedClientHelloAccepted = false

    /// An alert: its description byte and its sender.
    public struct Alert: Hashable, Sendable {
        /// RFC 8446 §6 AlertDescription.
        public var description: UInt8
        /// Who sent it.
        public var by: Side

        /// Makes an alert.
        public init(description: UInt8, by: Side) {
            self.description = description
            self.by = by
        }
    }

    /// Makes a record of a session.
    public init(
        connection: ConnectionID, version: UInt16?, cipherSuite: UInt16?, applicationProtocol: String?,
        readability: Readability, alert: Alert? = nil, clientApplicationBytes: Int = 0,
        serverApplicationBytes: Int = 0, firstClientData: PacketReference? = nil,
        lastClientData: PacketReference? = nil, isEncryptedClientHelloAccepted: Bool = false
    ) {
        self.connection = connection
        self.version = version
        self.cipherSuite = cipherSuite
        self.applicationProtocol = applicationProtocol
        self.readability = readability
        self.alert = alert
        self.clientApplicationBytes = clientApplicationBytes
        self.serverApplicationBytes = serverApplicationBytes
        self.firstClientData = firstClientData
        self.lastClientData = lastClientData
        self.isEncryptedClientHelloAccepted = isEncryptedClientHelloAccepted
    }
}
