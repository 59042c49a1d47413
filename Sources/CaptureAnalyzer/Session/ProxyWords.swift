internal import SessionTrace

/// What the recording proxy said of connections, and which connections of its recordings went around it: the reasons why
/// their content is not there, in place of what the bytes alone would tell.
struct ProxyWords {
    /// Whether the file is a recording of our own proxy.
    var isOwnRecording = false
    /// Why a connection's content is not there, in the proxy's words; the last word stands.
    private var words: [ConnectionID: Word] = [:]
    /// Connections seen beside the proxy, until they end.
    private var beside: [ConnectionID: Connection] = [:]

    /// Proxied connections of which the proxy has not said that it reached an origin for them.
    private var undialled: Set<ConnectionID> = []

    /// The devices, by the proxied connections that they opened.
    private var devices: Set<IPAddress> = []

    private struct Word {
        var reason: BlindSpot.Reason
        var detail: String
    }

    /// Connections of which a word is remembered while they are open.
    static let limit = 200_000
    /// Devices told apart.
    static let deviceLimit = 4_096

    /// The blind spot that an event is, if it is one; remembered for what else is told of the connection.
    mutating func blindSpot(of event: ProxyEvent) -> BlindSpot? {
        if event.kind == .dialed, let id = event.connection { undialled.remove(id) }
        guard let (reason, detail) = Self.reading(event) else { return nil }
        if let id = event.connection, words.count < Self.limit { words[id] = Word(reason: reason, detail: detail) }
        return BlindSpot(
            reason: reason, connection: event.connection, span: TimeSpan(event.at),
            noticed: event.packet ?? PacketReference(number: 0, time: event.at), detail: detail)
    }

    /// Limits of the proxy that end a connection, or a wait, and hide nothing of what passed before: silence, a request to
    /// the proxy that was answered with a refusal, a connection that was turned away before its first byte.
    static let harmlessLimits: Set<String> = [
        "first-byte", "preamble", "head-bytes", "idle", "connections", "connections-per-device",
    ]

    private static func reading(_ event: ProxyEvent) -> (BlindSpot.Reason, String)? {
        let attributes = event.attributes
        let name = attributes["name"] ?? attributes["host"] ?? "the host"
        switch event.kind {
        case .leafRefused:
            let how = attributes["alert"].map { "alert \($0)" } ?? "closed the connection"
            return (.leafRefused, "the client refused the proxy's certificate for \(name) (\(how))")
        case .leafSuspected:
            return (
                .leafSuspected,
                "the client finished the handshake for \(name) and closed without a byte, as an app does that pins"
            )
        case .passthrough:
            let why =
                switch attributes["reason"] {
                case "asked": "as asked"
                case "refused": "since the client had refused the proxy's certificate"
                case "default-list": "a service of the phone's own system"
                case "not-in-intercept-only": "not among the hosts to intercept"
                case let other?: other
                case nil: "as told"
                }
            return (.passthrough, "\(name) passed through unread: \(why)")
        case .withheld:
            return (.withheld, "\(name): \(attributes["why"] ?? "the person's journey is not recorded")")
        case .limit:
            guard !harmlessLimits.contains(attributes["what"] ?? "") else { return nil }
            return (
                .stateGivenUp,
                "the proxy's limit on \(attributes["what"] ?? "something") (\(attributes["limit"] ?? "?")) was reached"
            )
        case .dialed, .dialFailed, .upstreamTLS, .upstreamTLSFailed, .fault, .exchange, .other:
            return nil
        }
    }

    /// A blind spot as it is told: encryption without keys is what the proxy said it is. Nil when it hides nothing: bytes
    /// that only the proxy itself got, and could not read, went nowhere.
    func told(_ spot: BlindSpot) -> BlindSpot? {
        if spot.reason == .unknownProtocol, let id = spot.connection, undialled.contains(id) { return nil }
        guard !words.isEmpty, let id = spot.connection, let word = words[id] else { return spot }
        switch spot.reason {
        case .noKeys, .keysDoNotFit, .handshakeNotSeen, .unsupportedEncryption, .unknownProtocol:
            var told = spot
            told.reason = word.reason
            told.detail = word.detail
            return told
        default: return spot
        }
    }

    /// How the summary calls a connection that stayed dark; nil when the proxy said nothing of it.
    func darkness(of id: ConnectionID) -> String? {
        guard let word = words[id] else { return nil }
        return switch word.reason {
        case .withheld: "withheld, as the policy says"
        case .passthrough: "passed through unread"
        case .leafRefused, .leafSuspected: "the client did not take the proxy's certificate"
        case .bypass: "went around the proxy"
        default: word.detail
        }
    }

    // MARK: Beside the proxy

    /// A connection was opened. In our own recordings those of another interface than the proxy's went around it.
    mutating func opened(_ connection: Connection, proxyInterface: String) {
        guard isOwnRecording, let interface = connection.interface, connection.transport != .tunnel else { return }
        if interface == proxyInterface {
            if undialled.count < Self.limit { undialled.insert(connection.id) }
            if devices.count < Self.deviceLimit { devices.insert(connection.client.address) }
            return
        }
        guard beside.count < Self.limit else { return }
        beside[connection.id] = connection
        if words.count < Self.limit {
            words[connection.id] = Word(reason: .bypass, detail: "captured beside the proxy")
        }
    }

    /// A conversation turned out to be ours (a mark) or the network's own business (names, housekeeping).
    mutating func isNoBypass(_ id: ConnectionID) {
        guard beside.removeValue(forKey: id) != nil else { return }
        words[id] = nil
    }

    /// A connection has ended: the blind spot, when the device said something around the proxy.
    ///
    /// A datagram to port 443 that nobody answers is QUIC which the network rejected: nothing went anywhere.
    mutating func closed(_ end: ConnectionEnd) -> BlindSpot? {
        if !words.isEmpty { words[end.id] = nil }
        undialled.remove(end.id)
        guard !beside.isEmpty, let connection = beside.removeValue(forKey: end.id) else { return nil }
        let isRejected = connection.transport != .tcp && connection.server.port == 443 && end.serverBytes == 0
        // A test runner that calls the device is no traffic of the device's own.
        let isInbound = devices.contains(connection.server.address) && !devices.contains(connection.client.address)
        guard end.clientBytes > 0 || end.serverBytes > 0, !isRejected, !isInbound else { return nil }
        let transport = connection.transport == .tcp ? "TCP" : "UDP"
        return BlindSpot(
            reason: .bypass, connection: end.id, span: TimeSpan(connection.opened.time, end.last.time),
            bytes: end.clientBytes, noticed: connection.opened,
            detail: "\(transport) to \(connection.server), captured on \(connection.interface ?? "another interface")")
    }
}
