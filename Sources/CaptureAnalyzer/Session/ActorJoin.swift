internal import SessionTrace

/// Gives connections the processes that other sources name: joined by the ends of the connection and by time.
///
/// A port is used again and again, so of several owners of one socket the one counts whose time is nearest to the
/// connection's start, and none that is farther away than `tolerance`. Several owners as near as each other that differ
/// say nothing. A tunnel inside a connection has the outer one's owner.
struct ActorJoin: Sendable {
    private var byLocal: [Endpoint: [ActorFile.Socket]] = [:]
    private var listeners: [UInt16: String] = [:]
    private(set) var activities: [ActivityStart] = []
    /// Owners of connections that are open, for the tunnels in them.
    private var owners: [ConnectionID: ProcessIdentity] = [:]

    /// How far from the start of a connection its owner may have been seen: tables are read from time to time.
    static let tolerance: Int64 = 30_000_000_000

    init(_ files: [ActorFile]) {
        for file in files {
            for socket in file.sockets { byLocal[socket.local, default: []].append(socket) }
            listeners.merge(file.listeners) { first, _ in first }
            activities += file.activities
        }
        activities.sort { $0.span.earliest < $1.span.earliest }
    }

    var isEmpty: Bool { byLocal.isEmpty && listeners.isEmpty }

    /// The process of a connection that has just been opened; nil when no file tells, and when the capture itself does.
    mutating func process(of connection: Connection) -> ProcessIdentity? {
        guard connection.process == nil else { return nil }
        let found: ProcessIdentity?
        if let outer = connection.enclosing {
            found = owners[outer]
        } else {
            found =
                owner(of: connection)
                ?? listeners[connection.server.port].map {
                    ProcessIdentity(source: .listener, name: $0)
                }
        }
        owners[connection.id] = found
        return found
    }

    /// Forgets a connection that has ended.
    mutating func close(_ id: ConnectionID) { owners[id] = nil }

    private func owner(of connection: Connection) -> ProcessIdentity? {
        let start = connection.opened.time
        var best: (distance: Int64, process: ProcessIdentity)?
        var isAmbiguous = false
        for socket in byLocal[connection.client] ?? [] {
            guard socket.remote.map({ $0 == connection.server }) ?? true else { continue }
            let distance = Self.distance(from: start, to: socket.span)
            guard distance <= Self.tolerance else { continue }
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
