internal import SessionTrace
internal import WireFormats

/// Gives connections the processes that other sources name: joined by the ends of the connection and by time.
///
/// A port is used again and again, so of several owners of one socket the one counts whose time is nearest to the
/// connection's start, and none that is farther away than `tolerance`, or was seen before it by more than clocks differ: a
/// socket seen earlier was another one. Several owners as near as each other that differ say nothing. A tunnel inside a
/// connection has the outer one's owner.
///
/// A port of the proxy means something in recordings of the proxy alone, on the connections that it accepted: elsewhere the
/// same number is anybody's.
struct ActorJoin: Sendable {
    private var byLocal: [Endpoint: [ActorFile.Socket]] = [:]
    private var listeners: [UInt16: String] = [:]
    /// Ports that files give to different actors.
    private var contradicted: Set<UInt16> = []
    private(set) var activities: [ActivityStart] = []
    /// Owners of connections that are open, for the tunnels in them.
    private var owners: [ConnectionID: ProcessIdentity] = [:]

    /// How far from the start of a connection its owner may have been seen: tables are read from time to time.
    static let tolerance: Int64 = 30_000_000_000
    /// How long before the start its owner may seem to have been seen: what clocks and the time of a look differ by.
    static let toleranceBefore: Int64 = 2_000_000_000

    init(_ files: [ActorFile]) {
        for file in files {
            for socket in file.sockets { byLocal[socket.local, default: []].append(socket) }
            for (port, actor) in file.listeners {
                if let known = listeners[port], known != actor { contradicted.insert(port) }
                listeners[port] = actor
            }
            activities += file.activities
        }
        for port in contradicted { listeners[port] = nil }
        activities.sort { $0.span.earliest < $1.span.earliest }
    }

    var isEmpty: Bool { byLocal.isEmpty && listeners.isEmpty }

    /// The process of a connection that has just been opened; nil when no file tells, and when the capture itself does.
    ///
    /// - Parameter isOwnRecording: whether the trace is a recording of our own proxy.
    mutating func process(of connection: Connection, isOwnRecording: Bool) -> ProcessIdentity? {
        guard connection.process == nil else { return nil }
        let found: ProcessIdentity?
        if let outer = connection.enclosing {
            found = owners[outer]
        } else {
            found = owner(of: connection) ?? (isOwnRecording ? listener(of: connection) : nil)
        }
        owners[connection.id] = found
        return found
    }

    /// Forgets a connection that has ended.
    mutating func close(_ id: ConnectionID) { owners[id] = nil }

    private func listener(of connection: Connection) -> ProcessIdentity? {
        // What was captured beside the proxy has another interface.
        guard connection.transport == .tcp, connection.interface == TraceWriter.interfaceName else { return nil }
        return listeners[connection.server.port].map { ProcessIdentity(source: .listener, name: $0) }
    }

    private func owner(of connection: Connection) -> ProcessIdentity? {
        let start = connection.opened.time
        var best: (distance: Int64, process: ProcessIdentity)?
        var isAmbiguous = false
        for socket in byLocal[connection.client] ?? [] {
            guard socket.carries(connection.transport), socket.remote.map({ $0 == connection.server }) ?? true else {
                continue
            }
            let distance = Self.distance(from: start, to: socket.span)
            guard distance <= (start > socket.span.latest ? Self.toleranceBefore : Self.tolerance) else { continue }
            if let known = best, known.distance <= distance {
                if known.distance == distance, known.process != socket.process { isAmbiguous = true }
                continue
            }
            best = (distance, socket.process)
            isAmbiguous = false
        }
        return isAmbiguous ? nil : best?.process
    }

    private static func distance(from instant: Instant, to span: TimeSpan) -> Int64 {
        if instant < span.earliest { return span.earliest.nanoseconds(since: instant) }
        return instant > span.latest ? instant.nanoseconds(since: span.latest) : 0
    }
}
