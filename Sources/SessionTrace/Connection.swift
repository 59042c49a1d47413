/// Names one connection (a TCP connection, a QUIC connection, a UDP conversation, or a tunnel inside one) in a trace.
public struct ConnectionID: Hashable, Comparable, Sendable {
    /// Counted from 0 in order of first sight, tunnels included.
    public let number: Int

    /// Makes an id.
    public init(_ number: Int) {
        self.number = number
    }

    public static func < (lhs: ConnectionID, rhs: ConnectionID) -> Bool { lhs.number < rhs.number }
}

/// Which end of a connection sent something.
public enum Side: UInt8, Hashable, Sendable, CaseIterable {
    /// The end that opened the connection: the device.
    case client
    /// The end that was called.
    case server

    /// The other end.
    public var peer: Side { self == .client ? .server : .client }
}

/// The process that a packet belongs to, as the capturing system itself recorded it.
public struct ProcessIdentity: Hashable, Sendable {
    /// Where the identity was recorded; each is definite evidence for the actor (RULES section 6).
    public enum Source: String, Hashable, Sendable {
        /// Apple's PKTAP header or a pcapng Darwin process block.
        case pktap
        /// PCAPdroid's packet trailer.
        case pcapdroid
        /// Apple's pcapd service, relayed over USB.
        case pcapd
        /// A table of the device's sockets and their owners (Android's `/proc/net`).
        case socketTable = "socket-table"
        /// The listener of the proxy that the device was told to use; `name` is the actor's own word (`app`, `browser`).
        case listener
    }

    /// Where it comes from.
    public var source: Source
    /// Process or app name as recorded (`MobileSafari`, `Chrome`); names may be cut to 16 or 20 bytes by the recorder.
    public var name: String
    /// Process id, where recorded.
    public var processID: Int32?
    /// On whose behalf the process acted (PKTAP's effective process), where recorded and different.
    public var effectiveName: String?
    /// Android uid, where recorded; −1 is unknown, 0 root, 1051 the system's resolver.
    public var userID: Int32?

    /// Makes an identity.
    public init(
        source: Source, name: String, processID: Int32? = nil, effectiveName: String? = nil, userID: Int32? = nil
    ) {
        self.source = source
        self.name = name
        self.processID = processID
        self.effectiveName = effectiveName
        self.userID = userID
    }
}

/// A connection as its first packet shows it.
public struct Connection: Hashable, Sendable {
    /// What carries the bytes.
    public enum Transport: String, Hashable, Sendable {
        case tcp, udp, quic
        /// The inside of a CONNECT or SOCKS tunnel; `enclosing` names the connection around it.
        case tunnel
    }

    /// Its name within the trace.
    public var id: ConnectionID
    /// What carries it.
    public var transport: Transport
    /// The end that opened it.
    public var client: Endpoint
    /// The end that was called; for a tunnel still the proxy's endpoint (`ConnectionTarget` has the name beyond it).
    public var server: Endpoint
    /// Its first packet.
    public var opened: PacketReference
    /// Whether its start was captured (a SYN, a QUIC Initial); false means that it was joined in the middle.
    public var startSeen: Bool
    /// The process behind it, where the capture says.
    public var process: ProcessIdentity?
    /// The connection around it, for a tunnel.
    public var enclosing: ConnectionID?
    /// The target that the tunnel's preamble named (CONNECT, SOCKS).
    public var tunnelTarget: ConnectionTarget?
    /// The name of the interface that captured it, where the file gives one.
    public var interface: String?

    /// Makes a connection record.
    public init(
        id: ConnectionID, transport: Transport, client: Endpoint, server: Endpoint, opened: PacketReference,
        startSeen: Bool, process: ProcessIdentity? = nil, enclosing: ConnectionID? = nil,
        tunnelTarget: ConnectionTarget? = nil, interface: String? = nil
    ) {
        self.id = id
        self.transport = transport
        self.client = client
        self.server = server
        self.opened = opened
        self.startSeen = startSeen
        self.process = process
        self.enclosing = enclosing
        self.tunnelTarget = tunnelTarget
        self.interface = interface
    }
}

/// Where a tunnel's preamble asked to be taken: a name or an address, and a port.
public struct ConnectionTarget: Hashable, Sendable {
    /// Name or address literal.
    public var host: HostName
    /// TCP port.
    public var port: UInt16

    /// Makes a target.
    public init(host: HostName, port: UInt16) {
        self.host = host
        self.port = port
    }
}

/// How and when a connection ended.
public struct ConnectionEnd: Hashable, Sendable {
    /// What ended it.
    public enum Cause: Hashable, Sendable {
        /// Both sides finished (FIN, or the tunnel around it closed in order).
        case finished
        /// A RST, and who sent it.
        case reset(by: Side)
        /// Nothing more was seen; state was released by packet time or because the table was full.
        case idle
        /// The trace ended first.
        case traceEnded
    }

    /// The connection.
    public var id: ConnectionID
    /// What ended it.
    public var cause: Cause
    /// The last packet that belongs to it.
    public var last: PacketReference
    /// Stream bytes seen from each side (retransmissions once, holes not counted).
    public var clientBytes: Int
    /// Stream bytes seen from the called side.
    public var serverBytes: Int
    /// When the end that opened it said that it would send no more (FIN); nil when it did not.
    public var clientFinished: PacketReference?

    /// Makes an end record.
    public init(
        id: ConnectionID, cause: Cause, last: PacketReference, clientBytes: Int, serverBytes: Int,
        clientFinished: PacketReference? = nil
    ) {
        self.id = id
        self.cause = cause
        self.last = last
        self.clientBytes = clientBytes
        self.serverBytes = serverBytes
        self.clientFinished = clientFinished
    }
}
