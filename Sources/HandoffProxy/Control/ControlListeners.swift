public import EventLoop
public import SessionTrace

/// The sockets of the control plane: the control API over TCP, and marks as UDP datagrams. Runs on one loop.
public actor ControlListeners {
    /// Connections to the control API that are open at once.
    public static let connectionLimit = 64
    /// How long a connection may be silent.
    static let idleTimeout = Duration.seconds(60)
    /// How often a reader of events hears that we are still here.
    static let heartbeat = Duration.seconds(15)

    private let plane: ControlPlane
    private let loop: EventLoop
    private var listener: TCPListener?
    private var markSockets: [UDPSocket] = []
    private var tasks: [Task<Void, Never>] = []
    private var connectionCount = 0
    /// Where the control API is; the true port when 0 was asked for.
    public private(set) var controlAddress: Endpoint?
    /// Where marks are taken as datagrams; the true ports.
    public private(set) var markAddresses: [Endpoint] = []

    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// Listeners that are not open yet.
    public init(plane: ControlPlane, loop: EventLoop) {
        self.plane = plane
        self.loop = loop
    }

    /// Opens the sockets that are asked for and begins to serve. Throws when an address can't be bound; `stop` then closes
    /// those that were opened.
    ///
    /// - Parameters:
    ///   - control: where the control API is to be; nil: nowhere.
    ///   - marks: where datagrams with marks are taken: loopback, and the addresses at which devices find the proxy.
    public func start(control: Endpoint?, marks: [Endpoint] = []) throws(ProxyError) {
        for endpoint in marks {
            let socket: UDPSocket
            do throws(SocketError) {
                socket = try UDPSocket.bind(to: endpoint, loop: loop)
            } catch {
                throw ProxyError(.cannotListen, place: "\(endpoint)", reason: "can't take marks here: \(error)")
            }
            markSockets.append(socket)
            markAddresses.append(socket.local)
            let index = markSockets.count - 1
            tasks.append(Task { await self.takeMarks(at: index) })
        }
        if let control {
            let listener: TCPListener
            do throws(SocketError) {
                listener = try TCPListener.listen(on: control, loop: loop)
            } catch {
                throw ProxyError(
                    .cannotListen, place: "\(control)", reason: "the control API can't listen here: \(error)")
            }
            self.listener = listener
            controlAddress = listener.local
            tasks.append(Task { await self.acceptAll() })
        }
        tasks.append(Task { await self.beat() })
    }

    /// Closes everything and waits for what is running.
    public func stop() async {
        listener?.close()
        for socket in markSockets { socket.close() }
        plane.events.finish()
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        tasks = []
        listener = nil
        markSockets = []
    }

    private func beat() async {
        while true {
            do throws(CancellationError) {
                try await LoopTimer.sleep(Self.heartbeat)
            } catch {
                return
            }
            plane.events.wakeReaders()
        }
    }

    private func takeMarks(at index: Int) async {
        let socket = markSockets[index]
        while true {
            let datagram: Datagram
            do throws(SocketError) {
                datagram = try await socket.receive()
            } catch {
                return
            }
            let origin = MarkIntake.Origin(from: datagram.from, to: datagram.to, arrival: datagram.arrival)
            guard !datagram.isCut, let answer = plane.answer(datagram: datagram.bytes, from: origin) else { continue }
            // A sender that can't be reached has its mark all the same.
            do throws(SocketError) { try await socket.send(answer, to: datagram.from) } catch { continue }
        }
    }

    private func acceptAll() async {
        await withDiscardingTaskGroup { group in
            while let listener {
                let accepted: AcceptedSocket
                do throws(SocketError) {
                    accepted = try await listener.accept()
                } catch {
                    if error.isShortage { continue }
                    break
                }
                guard connectionCount < Self.connectionLimit else {
                    accepted.close()
                    continue
                }
                connectionCount += 1
                group.addTask(executorPreference: loop) { await self.serve(accepted) }
            }
            group.cancelAll()
        }
    }

    private func serve(_ accepted: AcceptedSocket) async {
        defer { connectionCount -= 1 }
        guard let stream = try? TCPStream(adopting: accepted, on: loop) else { return }
        let connection = LocalConnection(
            plane: plane, site: .control, client: stream.peer, local: stream.local, isSecure: false)
        await connection.serve(TimedStream(stream, idle: Self.idleTimeout), arrival: accepted.accepted)
        stream.close()
    }
}

/// A TCP connection that may not be silent for longer than a time.
final class TimedStream: LocalStream {
    private let stream: TCPStream
    private let idle: Duration

    init(_ stream: TCPStream, idle: Duration) {
        self.stream = stream
        self.idle = idle
    }

    nonisolated(nonsending) func read(
        into buffer: UnsafeMutableRawBufferPointer
    ) async throws(SocketError) -> (count: Int, arrival: Instant) {
        try await stream.read(into: buffer, timeout: idle)
    }

    nonisolated(nonsending) func write(_ bytes: UnsafeRawBufferPointer) async throws(SocketError) {
        try await stream.write(bytes, timeout: idle)
    }

    func finishWriting() { stream.finishWriting() }
}
