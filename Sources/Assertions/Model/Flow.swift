internal import SessionTrace

/// One connection while it is open: what is known of its host, its owner and how much of it could be read.
struct Flow: Sendable {
    var connection: Connection
    /// SNI.
    var serverName: HostName?
    var ja4: String?
    /// Whether its ClientHello may hide another name (Encrypted Client Hello, or what looks like it).
    var mayHideName = false
    /// The packet that completed the first ClientHello.
    var hello: PacketReference?
    /// Hosts that requests on it named, first ones.
    var authorities: [HostName] = []
    /// Who used it.
    var actor: ActorReading
    var requests = 0
    /// Requests on it that ask a Chia host for its app associations.
    var associationRequests = 0
    var session: SecureSession?
    var blindSpots: [BlindSpot] = []
    var end: ConnectionEnd?
    /// Why its content is not there, as the proxy or the recording says: a refused certificate, passed through, withheld,
    /// around the proxy.
    var word: BlindSpot.Reason?
    /// Requests on it whose heads alone were recorded.
    var withheldRequests = 0
    /// Who asked for the tunnel that it is, by the CONNECT request.
    var tunnelActor: ActorReading?
    /// The host that the proxy could not reach for it; its name, where nothing else gives one.
    var unreachedHost: HostName?
    /// Whether TLS beyond the proxy failed, so that the device could send nothing on it.
    var lacksServer = false
    /// Whether a CONNECT was asked on it: what is said of a host is said of the tunnel then.
    var hasConnect = false
    /// The connection as the latest searched message on it was kept with.
    var kept: KeptFlow?

    /// Authorities kept of one connection.
    static let authorityLimit = 8
    /// Blind spots kept of one connection.
    static let blindSpotLimit = 16

    init(_ connection: Connection) {
        self.connection = connection
        actor = ActorReading(process: connection.process) ?? .nothing
    }

    /// The names that the connection itself gives: SNI, then the tunnel's target, then what was asked for on it.
    var names: [HostName] {
        var names: [HostName] = []
        if let serverName { names.append(serverName) }
        if let target = connection.tunnelTarget?.host, target.address == nil, !names.contains(target) {
            names.append(target)
        }
        for host in authorities where host.address == nil && !names.contains(host) { names.append(host) }
        if names.isEmpty, !hasConnect, let unreachedHost, unreachedHost.address == nil { names.append(unreachedHost) }
        return names
    }

    /// Words that say why content is not there, whatever the bytes look like.
    static let words: Set<BlindSpot.Reason> = [.leafRefused, .leafSuspected, .passthrough, .withheld, .bypass]
    /// What bytes without keys look like; the words above say what it was.
    static let unread: Set<BlindSpot.Reason> = [
        .noKeys, .keysDoNotFit, .handshakeNotSeen, .unsupportedEncryption, .unknownProtocol, .quic,
    ]

    /// Whether its content was withheld, and the heads of its requests tell what rules ask.
    var isToldByHeads: Bool { word == .withheld && withheldRequests > 0 }

    /// Whether its content stayed unread, and why; nil when it was readable or carried none.
    var darkness: BlindSpot.Reason? {
        switch word {
        case .withheld: return isToldByHeads ? nil : .withheld
        case .leafRefused, .leafSuspected: return word
        case .passthrough where session != nil || hello != nil: return word
        case .bypass where session?.readability != .decrypted && session != nil: return word
        default: break
        }
        if let session {
            switch session.readability {
            case .decrypted, .noApplicationData: break
            // A hole is a blind spot of its own, with its direction.
            case .partly(.hole): break
            case .partly(let reason), .opaque(let reason): return Self.reason(reason)
            }
        }
        let dark: Set<BlindSpot.Reason> = [
            .noKeys, .keysDoNotFit, .handshakeNotSeen, .unsupportedEncryption, .quic, .leafRefused, .leafSuspected,
            .passthrough, .unknownProtocol, .withheld,
        ]
        return blindSpots.first { dark.contains($0.reason) }?.reason
    }

    private static func reason(_ reason: SecureSession.UnreadableReason) -> BlindSpot.Reason {
        switch reason {
        case .noKeys: .noKeys
        case .keysDoNotFit: .keysDoNotFit
        case .handshakeNotSeen: .handshakeNotSeen
        case .unsupported: .unsupportedEncryption
        case .hole: .tcpHole
        }
    }

    /// The last moment at which the device may have sent content on it that was not read.
    var lastDarkData: Instant? {
        // Nothing was sent where the certificate was not taken, but something would have been.
        if word == .leafRefused || word == .leafSuspected { return end?.last.time ?? blindSpots.first?.span.latest }
        if let last = session?.lastClientData { return last.time }
        if let session, session.clientApplicationBytes == 0 {
            if case .opaque(.handshakeNotSeen) = session.readability { return end?.last.time }
            return nil
        }
        if end?.clientBytes == 0 { return nil }
        let spots = blindSpots.map(\.span.latest).max()
        return [spots, end?.last.time].compactMap(\.self).max()
    }
}

extension BlindSpot {
    /// Makes this one stand for another one of the same connection too: it reaches to the end of both, is of no side when
    /// they are not of one, and has the reason that hides more.
    mutating func take(in other: BlindSpot) {
        span = TimeSpan(min(span.earliest, other.span.earliest), max(span.latest, other.span.latest))
        if from != other.from { from = nil }
        if !Session.hidesRequests.contains(reason) { reason = other.reason }
    }
}

/// What is kept of a connection after its end.
struct FlowSummary: Hashable, Sendable {
    var id: ConnectionID
    var transport: Connection.Transport
    var client: Endpoint
    var server: Endpoint
    var names: [HostName]
    var serverName: HostName?
    /// How the name is known: `SNI`, `tunnel target`, `request`, `DNS answer`.
    var nameSource: String
    var ja4: String?
    var opened: PacketReference
    var hello: PacketReference?
    var startSeen: Bool
    var closed: PacketReference
    var actor: ActorReading
    /// Whether it was open when the trace ended.
    var isOpenAtEnd: Bool
    /// The TLS version that was agreed on.
    var version: UInt16?
    var requests: Int
    var isAssociationOnly: Bool
    /// Whether the name came from a tunnel around it, so that no lookup of the device belongs to it.
    var isTunnel: Bool
    var darkness: BlindSpot.Reason?
    var lastDarkData: Instant?
    var darkBytes: Int
    /// The connection that it is a tunnel on.
    var enclosing: ConnectionID?
    /// What the proxy said of it, where it stayed dark.
    var darkDetail: String?

    init(_ flow: Flow, names: [HostName], nameSource: String) {
        id = flow.connection.id
        transport = flow.connection.transport
        client = flow.connection.client
        server = flow.connection.server
        self.names = names
        serverName = flow.serverName
        self.nameSource = nameSource
        ja4 = flow.ja4
        opened = flow.connection.opened
        hello = flow.hello
        startSeen = flow.connection.startSeen
        closed = flow.end?.last ?? flow.connection.opened
        actor = flow.actor
        isOpenAtEnd = flow.end.map { $0.cause == .traceEnded } ?? true
        version = flow.session?.version
        requests = flow.requests
        isAssociationOnly = flow.requests > 0 && flow.associationRequests == flow.requests
        isTunnel = flow.connection.transport == .tunnel
        darkness = flow.darkness
        lastDarkData = flow.darkness == nil ? nil : flow.lastDarkData
        enclosing = flow.connection.enclosing
        darkDetail = flow.word.flatMap { word in flow.blindSpots.first { $0.reason == word }?.detail }
        darkBytes = flow.session?.clientApplicationBytes ?? flow.end?.clientBytes ?? 0
    }

    /// Whether it is a service of the system: by its port, or by a recorded process.
    var isOfSystem: Bool {
        OSNoiseHosts.service(ofPort: server.port) != nil || (actor.isDefinite && actor.actor == .os)
    }

    /// Whether it is the system's by a recorded process, or the browser's.
    var isOfSystemOrBrowser: Bool { actor.actor == .os || actor.actor == .browser }

    /// Both ends as text.
    var endpoints: String { "\(client) → \(server)" }
    var span: TimeSpan { TimeSpan(opened.time, closed.time) }
}
