internal import Crypto
internal import EventLoop
public import SessionTrace
internal import Synchronization

/// An HTTPS server of the lab on loopback.
public actor LabServer {
    /// What answers requests; `host` is the request's own Host field without its port.
    public typealias Handler = @Sendable (_ request: LabRequest, _ host: String) async -> LabResponse

    /// Where it listens.
    public nonisolated let address: Endpoint
    private nonisolated let loop: EventLoop
    private let listener: TCPListener
    private let identity: ServerIdentity
    private let contexts: TLSContexts
    private let handler: Handler
    private var service: Task<Void, Never>?

    /// The loop that everything of it runs on.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// Begins to listen on a port that the kernel chooses.
    init(identity: ServerIdentity, on loop: EventLoop, handler: @escaping Handler) throws {
        self.loop = loop
        self.identity = identity
        self.handler = handler
        contexts = try TLSContexts()
        let listener = try TCPListener.listen(
            on: Endpoint(address: IPAddress(ipv4: 0x7F00_0001), port: 0), loop: loop)
        self.listener = listener
        address = listener.local
    }

    /// Serves until `stop`.
    func start() {
        service = Task(executorPreference: loop) { await self.serve() }
    }

    /// Closes the listener and all connections.
    func stop() async {
        listener.close()
        service?.cancel()
        await service?.value
    }

    private func serve() async {
        await withDiscardingTaskGroup { group in
            while let accepted = try? await listener.accept() {
                group.addTask(executorPreference: loop) { await self.serve(accepted) }
            }
            group.cancelAll()
        }
    }

    private func serve(_ accepted: AcceptedSocket) async {
        do {
            let channel = LabChannel(try TCPStream(adopting: accepted, on: loop))
            let options = TLSServerOptions(identity: identity, alpn: nil as [UInt8]?)
            try await channel.secure(with: try TLSEngine(server: options, contexts: contexts))
            while let request = try await channel.nextRequest() {
                let host = (request.field("Host") ?? "").split(separator: ":").first.map(String.init) ?? ""
                try await channel.answer(await handler(request, host))
            }
            await channel.close()
        } catch {
            // The client went away, or speaks no TLS: its connection is over, the server is not.
        }
    }
}
