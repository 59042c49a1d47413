internal import Crypto
internal import EventLoop
internal import SessionTrace

/// The device of a story: its senders, each with connections of its own, over one transport.
actor StoryDevice {
    /// How the device reaches its hosts.
    enum Route: Sendable {
        /// Straight, by the network's own name server.
        case direct
        /// Through a proxy, by CONNECT or SOCKS5.
        case proxy(Endpoint, isSOCKS: Bool)
    }

    private struct Place: Hashable {
        var sender: String
        var host: String
    }

    private nonisolated let loop: EventLoop
    private let route: Route
    private let transport: LabTransport
    private let network: LabNetwork
    private let authorityFile: String
    private let contexts: TLSContexts
    private let marker: UDPSocket
    private var idle: [Place: [LabChannel]] = [:]
    private var keys: [String: [UInt8]] = [:]

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(
        _ transport: LabTransport, route: Route, network: LabNetwork, trusting authorityFile: String,
        on loop: EventLoop
    ) throws {
        self.loop = loop
        self.route = route
        self.transport = transport
        self.network = network
        self.authorityFile = authorityFile
        contexts = try TLSContexts()
        marker = try UDPSocket.bind(to: Endpoint(address: network.device, port: 0), loop: loop)
    }

    /// A response, and between which two times its request was handed to the kernel.
    struct Exchange: Sendable {
        var response: LabResponse
        var sent: TimeSpan
    }

    /// The sender that is another phone.
    static let neighbour = "neighbour"

    /// Sends a request to `https://HOST` and waits for its response. Throws when the connection ends before it.
    func send(_ request: LabRequest, to host: String, from sender: String) async throws -> Exchange {
        if sender == "app", transport.stack == .curl {
            let begun = WallClock.now()
            return Exchange(response: try await curl(request, to: host), sent: TimeSpan(begun, WallClock.now()))
        }
        let place = Place(sender: sender, host: host)
        let channel: LabChannel
        if let free = idle[place]?.popLast() {
            channel = free
        } else {
            channel = try await connect(to: host, from: sender, agent: request.field("User-Agent"))
        }
        let response = try await channel.exchange(request)
        idle[place, default: []].append(channel)
        return Exchange(response: response, sent: channel.requestSent ?? TimeSpan(WallClock.now()))
    }

    /// Opens a connection to a host, with TLS, and leaves it unused.
    func dial(_ host: String, from sender: String, agent: String?) async throws {
        let channel = try await connect(to: host, from: sender, agent: agent)
        idle[Place(sender: sender, host: host), default: []].append(channel)
    }

    /// Asks the name server for a name, and waits for the answer.
    func lookup(_ name: String, type: UInt16) async throws {
        guard case .direct = route else { return }
        let socket = try UDPSocket.bind(to: Endpoint(address: network.device, port: 0), loop: loop)
        defer { socket.close() }
        let id = UInt16.random(in: 1...UInt16.max)
        try await socket.send(
            LabNameMessage.query(name, type: type, id: id), to: Endpoint(address: network.proxy, port: 53))
        _ = try await withTimeout(.seconds(5)) { try await socket.receive() }
    }

    /// Sends a datagram to a host.
    func datagram(_ bytes: [UInt8], to host: String, port: UInt16) async throws {
        let address = network.address(of: host) ?? network.proxy
        try await marker.send(bytes, to: Endpoint(address: address, port: port))
    }

    /// Sends a mark as a datagram; port 4774 of the other end of the device's link.
    func mark(_ object: String) async throws {
        try await marker.send(
            Array("handoff-mark/1 \(object)".utf8), to: Endpoint(address: network.proxy, port: 4774))
    }

    /// Asks the proxy for `url` in clear, in proxy form: marks in band are made so.
    func fetchInClear(_ url: String) async throws -> LabResponse {
        guard case .proxy(let endpoint, _) = route else { throw LabError("there is no proxy") }
        let channel = LabChannel(try await TCPStream.connect(to: endpoint, timeout: .seconds(20), on: loop))
        let host = url.drop { $0 != ":" }.dropFirst(3).prefix { $0 != "/" }
        let response = try await channel.exchange(
            LabRequest("GET", url, fields: [("Host", String(host)), ("User-Agent", "lab-script")]))
        await channel.close()
        return response
    }

    /// Closes a sender's idle connections; nil: everybody's.
    func close(_ sender: String?) async {
        for (place, channels) in idle where sender == nil || place.sender == sender {
            idle[place] = nil
            for channel in channels {
                keys[place.host, default: []] += channel.takeSecrets()
                await channel.close()
            }
        }
    }

    /// The lines of the TLS key log so far, by host.
    func secrets() -> [String: [UInt8]] { keys }

    // MARK: Connections

    private var protocols: [String] { transport.http == 2 ? ["h2", "http/1.1"] : ["http/1.1"] }

    private var newestTLS: TLSVersion { transport.tls == 12 ? .tls12 : .tls13 }

    /// `agent` is what a proxy is told of the sender.
    private func connect(to host: String, from sender: String, agent: String?) async throws -> LabChannel {
        let channel: LabChannel
        switch route {
        case .direct:
            try await lookup(host, type: network.isIPv6 ? LabNameMessage.address6Type : LabNameMessage.addressType)
            guard let address = network.address(of: host) else { throw LabError("there is no host \(host)") }
            channel = LabChannel(
                try await TCPStream.connect(
                    to: Endpoint(address: address, port: 443), options: options(of: sender), timeout: .seconds(20),
                    on: loop))
        case .proxy(let endpoint, let isSOCKS):
            channel = LabChannel(
                try await TCPStream.connect(
                    to: endpoint, options: options(of: sender), timeout: .seconds(20), on: loop))
            if isSOCKS {
                try await greet(channel, host)
            } else {
                let fields = [(name: "Host", value: "\(host):443")] + (agent.map { [("User-Agent", $0)] } ?? [])
                let answer = try await channel.exchange(LabRequest("CONNECT", "\(host):443", fields: fields))
                guard answer.status == 200 else { throw LabError("the proxy says \(answer.status): \(answer.text)") }
            }
        }
        let engine = try TLSEngine(
            client: TLSClientOptions(
                serverName: host, verifyName: host, verification: .system(extraCAFile: authorityFile),
                alpn: TLSClientOptions.alpnList(protocols), maximumVersion: newestTLS), contexts: contexts)
        try await channel.secure(with: engine)
        keys[host, default: []] += channel.takeSecrets()
        return channel
    }

    /// Where a sender's connections come from.
    private func options(of sender: String) -> ConnectOptions {
        var options = ConnectOptions()
        if sender == Self.neighbour { options.source = Endpoint(address: network.neighbour, port: 0) }
        return options
    }

    /// SOCKS5 (RFC 1928): no authentication, connect by name.
    private func greet(_ channel: LabChannel, _ host: String) async throws {
        try await channel.sendRaw([5, 1, 0])
        guard try await channel.receiveRaw(2) == [5, 0] else { throw LabError("the proxy wants to know who we are") }
        let name = Array(host.utf8)
        try await channel.sendRaw([5, 1, 0, 3, UInt8(truncatingIfNeeded: name.count)] + name + [1, 0xBB])
        let head = try await channel.receiveRaw(4)
        guard head[1] == 0 else { throw LabError("the proxy answers SOCKS with \(head[1])") }
        _ = try await channel.receiveRaw((head[3] == 4 ? 16 : 4) + 2)
    }

    private func curl(_ request: LabRequest, to host: String) async throws -> LabResponse {
        var options = [
            "--cacert", authorityFile, "--tlsv1.2", "--tls-max", transport.tls == 12 ? "1.2" : "1.3",
            transport.http == 2 ? "--http2" : "--http1.1",
        ]
        switch route {
        case .direct:
            try await lookup(host, type: network.isIPv6 ? LabNameMessage.address6Type : LabNameMessage.addressType)
            guard let address = network.address(of: host) else { throw LabError("there is no host \(host)") }
            options += ["--resolve", "\(host):443:\(network.isIPv6 ? "[\(address)]" : "\(address)")"]
        case .proxy(let endpoint, let isSOCKS):
            options += isSOCKS ? ["--socks5-hostname", "\(endpoint)"] : ["-x", "http://\(endpoint)"]
        }
        do {
            let result = try await CurlRun(options: options, request: request, host: host).run()
            keys[host, default: []] += result.secrets
            return result.response
        } catch let lost as CurlRun.LostAnswer {
            keys[host, default: []] += lost.secrets
            throw LabError(lost.reason)
        }
    }
}
