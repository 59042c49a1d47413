internal import Crypto
internal import EventLoop
internal import SessionTrace

/// The stage of one session: its network's servers, and the device when the story is played. Belongs into a network
/// namespace of its own (`LabNetwork.setUp`), since everything is at its usual port.
public final class LabStage: Sendable {
    /// The proxy that a device goes through.
    public struct Proxy: Sendable {
        /// Where marks are made in band.
        public var markAddress: String

        /// A proxy at the network's proxy address.
        public init(markAddress: String) {
            self.markAddress = markAddress
        }
    }

    private let story: Story
    private let book: StoryBook
    private let transport: LabTransport
    /// The network that it stands in.
    public let network: LabNetwork
    private let loops: EventLoopGroup
    private let authority: CertificateAuthority
    private let server: LabServer
    private let names: LabNameServer
    private let backend = StoryBackend()

    /// Starts the servers.
    public init(_ story: Story, of book: StoryBook, over transport: LabTransport) async throws {
        self.story = story
        self.book = book
        self.transport = transport
        let hosts = Self.hosts(of: story, book)
        network = LabNetwork(isIPv6: transport.ip == 6, hosts: hosts)
        loops = try EventLoopGroup(count: 2)
        authority = try CertificateAuthority.inMemory(hostName: "lab")
        let identity = try authority.leaf(for: hosts.compactMap { SubjectName($0) })
        let backend = backend
        server = try LabServer(
            identity: identity, at: Endpoint(address: network.wildcard, port: 443),
            offer: LabServer.Offer(
                protocol: transport.http == 2 ? "h2" : nil, newest: transport.tls == 12 ? .tls12 : .tls13),
            on: loops.loops[0]
        ) { await backend.answer($0, $1) }
        names = try LabNameServer(network, on: loops.loops[0])
        await server.start()
        await names.start()
    }

    /// The certificate (PEM) by which a client knows the servers.
    public var authorityCertificate: String { authority.certificate.pem }

    /// What the device leaves besides its traffic.
    public struct Leavings: Sendable {
        /// The lines of its TLS key log, by host.
        public var secrets: [String: [UInt8]]
        /// The lines of a side file of marks.
        public var marks: [String]
    }

    /// Plays the story; what the device leaves. `trusting`: a PEM file with the authority that the
    /// device sees, which is the proxy's behind one.
    public func play(through proxy: Proxy?, trusting file: String) async throws -> Leavings {
        let endpoint = Endpoint(address: network.proxy, port: LabNetwork.proxyPort)
        let device = try StoryDevice(
            transport, route: proxy == nil ? .direct : .proxy(endpoint, isSOCKS: transport.via == .socks),
            network: network, trusting: file, on: loops.loops[1])
        let player = StoryPlayer(story, of: book, on: device, with: backend, markAddress: proxy?.markAddress)
        try await player.play()
        await device.close(nil)
        return Leavings(secrets: await device.secrets(), marks: await player.markLines)
    }

    /// Stops the servers.
    public func stop() async {
        await names.stop()
        await server.stop()
    }

    /// Every host that the story speaks of.
    static func hosts(of story: Story, _ book: StoryBook) -> [String] {
        var texts = story.steps.flatMap { step in step.words + step.options.map(\.value) }
        texts += book.documents.values
        var hosts: Set<String> = []
        for text in texts {
            for part in text.split(separator: "https://", omittingEmptySubsequences: false).dropFirst() {
                hosts.insert(String(part.prefix { $0.isLetter || $0.isNumber || $0 == "." || $0 == "-" }).lowercased())
            }
        }
        for step in story.steps where step.verb == "dial" || step.verb == "datagram" {
            if let name = step.words.first { hosts.insert(String(name.prefix { $0 != ":" })) }
        }
        for name in ["partner", "images", "chia"] {
            if let host = book.documents[name] { hosts.insert(host) }
        }
        return hosts.filter { SubjectName($0) != nil && $0.contains(".") }.sorted()
    }
}
