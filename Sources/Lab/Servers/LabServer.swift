internal import Crypto
internal import EventLoop
public import SessionTrace
internal import Synchronization

/// An HTTPS server of the lab on loopback.
public actor LabServer {
    /// What answers requests; `host` is the request's own Host field without its port.
    typealias Handler = @Sendable (_ request: LabRequest, _ host: String) async -> LabAnswer

    /// What a connection is offered, besides the certificate.
    struct Offer: Sendable {
        /// The protocol that ALPN agrees on; nil: none.
        var `protocol`: String?
        /// The newest version of TLS.
        var newest = TLSVersion.tls13
    }

    /// Where it listens.
    public nonisolated let address: Endpoint
    private nonisolated let loop: EventLoop
    private let listener: TCPListener
    private let identity: ServerIdentity
    private let contexts: TLSContexts
    private let offer: Offer
    private let handler: Handler
    private var service: Task<Void, Never>?

    /// The loop that everything of it runs on.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// Begins to listen; by default on a port of loopback that the kernel chooses.
    init(
        identity: ServerIdentity, at address: Endpoint = Endpoint(address: IPAddress(ipv4: 0x7F00_0001), port: 0),
        offer: Offer = Offer(), on loop: EventLoop, handler: @escaping Handler
    ) throws {
        self.loop = loop
        self.identity = identity
        self.offer = offer
        self.handler = handler
        contexts = try TLSContexts()
        let listener = try TCPListener.listen(on: address, loop: loop)
        self.listener = listener
        self.address = listener.local
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
            let options = TLSServerOptions(
                identity: identity, alpn: offer.protocol, maximumVersion: offer.newest)
            try await channel.secure(with: try TLSEngine(server: options, contexts: contexts))
            while let request = try await channel.nextRequest() {
                let host = (request.field("Host") ?? "").split(separator: ":").first.map(String.init) ?? ""
                guard try await channel.play(await handler(request, host)) else { return }
            }
            await channel.close()
        } catch {
            // The client went away, or speaks no TLS: its connection is over, the server is not.
        }
    }
}

/// What a server does with a request.
enum LabAnswer: Sendable {
    /// This response.
    case response(LabResponse)
    /// The beginning of this response, and then the connection ends.
    case half(LabResponse)
    /// The connection ends.
    case drop
    /// The connection is reset.
    case reset
    /// The request was not looked at (REFUSED_STREAM).
    case refuse
}

extension LabChannel {
    /// Does what is to be done with the request that was read last; false when the connection is over.
    fileprivate nonisolated(nonsending) func play(_ answer: LabAnswer) async throws -> Bool {
        switch answer {
        case .response(let response): try await self.answer(response)
        case .refuse:
            try await refuse()
            return isHTTP2
        case .half(let response):
            try await answerHalf(response)
            if !isHTTP2 { await close() }
            return isHTTP2
        case .drop:
            await close()
            return false
        case .reset:
            reset()
            return false
        }
        return true
    }
}
