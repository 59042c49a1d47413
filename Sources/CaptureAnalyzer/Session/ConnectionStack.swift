internal import SessionTrace
internal import WireFormats

/// The protocols stacked on one TCP connection, or on the inside of a tunnel: stream bytes in, session events out.
///
///     undecided ──► DNS
///         ├───────► SOCKS ──► tunnel ──► a stack of its own
///         ├───────► TLS ────► plaintext ──► HTTP … ──► tunnel ──► a stack of its own
///         └───────► HTTP … ─► tunnel ──► a stack of its own
///
/// The first bytes of either side decide. A stack is an object because tunnels nest and because the flow table must be
/// able to hand one out without copying it.
final class ConnectionStack {
    /// The most bytes that are held of each side while the protocol is undecided.
    static let undecidedLimit = 16
    /// Tunnels in tunnels that are opened; what is nested deeper is a blind spot.
    static let maximumDepth = 4

    private enum Layer {
        case undecided
        case socks
        case secure(SecureLayer)
        case plain(PlaintextLayer)
        case dns(client: DNSStream, server: DNSStream)
        case opaque(OpaqueStream)
    }

    let connection: Connection
    private let depth: Int
    private var layer = Layer.undecided
    private var held: (client: HeldBytes, server: HeldBytes) = (HeldBytes(), HeldBytes())
    private var inner: ConnectionStack?
    /// The packet with the client's FIN.
    private(set) var clientFinished: PacketReference?

    init(connection: Connection, depth: Int = 0) {
        self.connection = connection
        self.depth = depth
    }

    /// The connection itself, or what is inside the tunnels that it has become.
    var innermost: ConnectionID { inner?.innermost ?? connection.id }

    /// The next stream bytes from `side`.
    func receive(
        _ bytes: UnsafeRawBufferPointer, from side: Side, at packet: PacketReference,
        in session: inout SessionState
    ) {
        switch layer {
        case .undecided, .socks:
            hold(bytes, from: side, at: packet)
            decide(in: &session)
        case .secure, .plain, .dns, .opaque:
            pass(bytes, from: side, at: packet, in: &session)
        }
    }

    /// Stream bytes from `side` that no packet holds.
    func hole(length: Int?, from side: Side, at packet: PacketReference, in session: inout SessionState) {
        switch layer {
        case .undecided, .socks:
            // What was held can't be completed any more: it goes to the layer that copes with anything.
            settle(in: &session)
            passHole(length: length, from: side, at: packet, in: &session)
        case .secure, .plain, .dns, .opaque:
            passHole(length: length, from: side, at: packet, in: &session)
        }
    }

    /// `side` has sent its FIN.
    func finished(side: Side, at packet: PacketReference, in session: inout SessionState) {
        if side == .client, clientFinished == nil { clientFinished = packet }
        if case .plain(let plain) = layer {
            plain.finished(side: side, at: packet)
            drain(at: packet, in: &session)
        }
        inner?.finished(side: side, at: packet, in: &session)
    }

    /// The connection has ended: everything open is flushed.
    func close(_ cause: ConnectionEnd.Cause, at packet: PacketReference, in session: inout SessionState) {
        switch layer {
        case .undecided, .socks: settle(in: &session)
        case .secure, .plain, .dns, .opaque: break
        }
        switch layer {
        case .secure(let secure):
            secure.close(cause, at: packet, in: &session)
            session.facts.count(secure.counts)
            drain(at: packet, in: &session)
        case .plain(let plain):
            plain.close(cause, at: packet)
            session.facts.count(plain.counts)
            drain(at: packet, in: &session)
        case .opaque(let opaque):
            if let spot = opaque.blindSpot(connection: connection.id, noticed: packet) {
                session.emit(.blindSpot(spot))
            }
        case .undecided, .socks, .dns:
            break
        }
        inner?.close(cause, at: packet, in: &session)
        if let inner {
            let end = ConnectionEnd(
                id: inner.connection.id, cause: cause, last: packet, clientBytes: inner.received.client,
                serverBytes: inner.received.server, clientFinished: inner.clientFinished)
            _ = session.proxy.closed(end)
            session.emit(.connectionClosed(end))
        }
        inner = nil
    }

    /// Bytes that a tunnel's inside received, for its end record.
    private var received: (client: Int, server: Int) = (0, 0)

    // MARK: - Deciding

    private func hold(_ bytes: UnsafeRawBufferPointer, from side: Side, at packet: PacketReference) {
        switch side {
        case .client: held.client.append(bytes, at: packet)
        case .server: held.server.append(bytes, at: packet)
        }
    }

    private func decide(in session: inout SessionState) {
        let client = held.client.bytes
        let server = held.server.bytes
        if case .socks = layer {
            decideSOCKS(client, server, in: &session)
            return
        }
        if connection.server.port == 53 && connection.transport == .tcp {
            layer = .dns(client: DNSStream(), server: DNSStream())
            session.proxy.isNoBypass(connection.id)
            release(in: &session)
            return
        }
        let looks = [client, server].filter { !$0.isEmpty }.map(FirstBytes.init)
        if looks.contains(.secure) {
            layer = .secure(
                SecureLayer(connection: connection.id, startSeen: connection.startSeen, limits: session.limits))
            release(in: &session)
        } else if let first = client.first, SOCKSPreamble.begins(with: first), connection.startSeen {
            layer = .socks
            decideSOCKS(client, server, in: &session)
        } else if looks.contains(.other) || max(client.count, server.count) >= Self.undecidedLimit {
            settle(in: &session)
        }
    }

    private func decideSOCKS(_ client: [UInt8], _ server: [UInt8], in session: inout SessionState) {
        switch SOCKSPreamble.read(client: client, server: server) {
        case .incomplete:
            break
        case .open(let target, let clientLength, let serverLength):
            held.client.drop(first: clientLength)
            held.server.drop(first: serverLength)
            let packet = held.server.last ?? held.client.last ?? connection.opened
            open(tunnelTo: target, at: packet, in: &session)
            layer = .opaque(OpaqueStream(isPreambleOnly: true))
            release(in: &session)
        case .refused:
            // Nothing was relayed, so nothing is unseen.
            held = (HeldBytes(), HeldBytes())
            layer = .opaque(OpaqueStream(isPreambleOnly: true))
        case .notSOCKS:
            settle(in: &session)
        }
    }

    /// Takes the connection for plain text (HTTP or something unknown), which is what anything undecidable may be.
    private func settle(in session: inout SessionState) {
        layer = .plain(
            PlaintextLayer(
                connection: connection.id, isSecure: false, startSeen: connection.startSeen, limits: session.limits))
        release(in: &session)
    }

    /// Hands what was held, in order of arrival within each side, to the layer now chosen.
    private func release(in session: inout SessionState) {
        let (client, server) = held
        held = (HeldBytes(), HeldBytes())
        for piece in HeldBytes.inOrder(client, server) {
            piece.bytes.withUnsafeBytes { pass($0, from: piece.side, at: piece.packet, in: &session) }
        }
    }

    // MARK: - Passing on

    private func pass(
        _ bytes: UnsafeRawBufferPointer, from side: Side, at packet: PacketReference, in session: inout SessionState
    ) {
        switch side {
        case .client: received.client += bytes.count
        case .server: received.server += bytes.count
        }
        switch layer {
        case .secure(let secure):
            secure.receive(bytes, from: side, at: packet, in: &session)
            drain(at: packet, in: &session)
        case .plain(let plain):
            plain.plaintext(bytes, from: side, at: packet)
            drain(at: packet, in: &session)
        case .dns(var client, var server):
            var messages: [DNSMessage] = []
            switch side {
            case .client: client.receive(bytes, into: &messages)
            case .server: server.receive(bytes, into: &messages)
            }
            for message in messages {
                let lookup = message.lookup(
                    connection: connection.id, at: packet, isMulticast: false, process: connection.process)
                session.emit(.nameLookup(lookup))
            }
            layer = .dns(client: client, server: server)
        case .opaque(var opaque):
            if opaque.isPreambleOnly, let inner {
                inner.receive(bytes, from: side, at: packet, in: &session)
            } else {
                opaque.count(bytes.count, from: side, at: packet)
            }
            layer = .opaque(opaque)
        case .undecided, .socks:
            break
        }
    }

    private func passHole(
        length: Int?, from side: Side, at packet: PacketReference, in session: inout SessionState
    ) {
        switch layer {
        case .secure(let secure):
            secure.hole(length: length, from: side, at: packet, in: &session)
            drain(at: packet, in: &session)
        case .plain(let plain):
            plain.plaintextHole(length: length, from: side, at: packet)
            drain(at: packet, in: &session)
        case .dns(var client, var server):
            switch side {
            case .client: client.hole(length: length)
            case .server: server.hole(length: length)
            }
            layer = .dns(client: client, server: server)
        case .opaque(let opaque):
            if opaque.isPreambleOnly { inner?.hole(length: length, from: side, at: packet, in: &session) }
            layer = .opaque(opaque)
        case .undecided, .socks:
            break
        }
    }

    // MARK: - Tunnels

    /// Moves what the plaintext layer has to say into the session, and tunnelled bytes into the inner stack.
    private func drain(at packet: PacketReference, in session: inout SessionState) {
        let output: [ConversationOutput]
        switch layer {
        case .secure(let secure):
            output = secure.takeOutput(into: &session)
        case .plain(let plain):
            output = plain.takeOutput()
        case .undecided, .socks, .dns, .opaque:
            return
        }
        for item in output {
            switch item {
            case .event(let event):
                session.emit(event)
            case .tunnelOpened(let target):
                open(tunnelTo: target, at: packet, in: &session)
            case .tunnelled(let bytes, let side, let packet):
                bytes.withUnsafeBytes { inner?.receive($0, from: side, at: packet, in: &session) }
            case .tunnelHole(let length, let side, let packet):
                inner?.hole(length: length, from: side, at: packet, in: &session)
            }
        }
    }

    private func open(tunnelTo target: ConnectionTarget?, at packet: PacketReference, in session: inout SessionState) {
        guard depth < Self.maximumDepth else {
            session.emit(
                .blindSpot(
                    BlindSpot(
                        reason: .unknownProtocol, connection: connection.id, span: TimeSpan(packet.time),
                        noticed: packet, detail: "tunnels nested deeper than \(Self.maximumDepth)")))
            return
        }
        let inside = Connection(
            id: session.nextConnection(), transport: .tunnel, client: connection.client, server: connection.server,
            opened: packet, startSeen: true, process: connection.process, enclosing: connection.id,
            tunnelTarget: target, interface: connection.interface)
        session.emit(.connectionOpened(inside))
        inner = ConnectionStack(connection: inside, depth: depth + 1)
    }
}
