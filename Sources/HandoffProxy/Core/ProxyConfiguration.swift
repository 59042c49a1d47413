public import SessionTrace

/// How the proxy is to behave: every option of `handoff record` that reaches it, with its default.
public struct ProxyConfiguration: Sendable {
    /// What is kept of the person's journey on Chia.
    public enum ChiaJourney: String, Hashable, Sendable, CaseIterable {
        /// Heads only, as `exchange` events; ciphertext without its secrets otherwise.
        case heads
        /// Everything: for synthetic personas.
        case record
    }

    /// A client certificate for hosts that ask for one.
    public struct ClientCertificate: Hashable, Sendable {
        /// The hosts.
        public var host: HostNamePattern
        /// PEM file with certificate, chain and key.
        public var path: String

        /// Makes one.
        public init(host: HostNamePattern, path: String) {
            self.host = host
            self.path = path
        }
    }

    // MARK: Listening

    /// Where clients are accepted (`--listen`).
    public var listeners: [ListenAddress] = [.standard]
    /// Client addresses that are served (`--allow`).
    public var allowedClients: [AddressRange] = AddressRange.localNetworks
    /// What explicit clients must give (`--proxy-auth`); nil: nothing.
    public var credential: ProxyCredential?
    /// The name of the device (`--device`); nil: its address.
    public var device: String?

    // MARK: Origins

    /// Destinations that are dialled although they are local to this host (`--allow-destination`).
    public var allowedDestinations: [AddressRange] = []
    /// Names that go elsewhere (`--resolve`); the first that matches counts.
    public var resolveOverrides: [ResolveOverride] = []
    /// The proxy beyond us (`--upstream-proxy`).
    public var upstreamProxy: UpstreamProxy?

    // MARK: TLS

    /// PEM file of authorities that origins may use beside the system's (`--upstream-ca`).
    public var upstreamAuthorities: String?
    /// Origins that are not verified (`--insecure-upstream`).
    public var insecureUpstreams: [HostNamePattern] = []
    /// Certificates that we show to origins (`--client-cert HOST=FILE`).
    public var clientCertificates: [ClientCertificate] = []
    /// Hosts whose TLS is relayed unread (`--passthrough`).
    public var passthroughHosts: [HostNamePattern] = []
    /// When not empty, only these hosts' TLS is read (`--intercept-only`).
    public var interceptOnlyHosts: [HostNamePattern] = []
    /// Whether the built-in list of pinned system services is passed through (`--no-default-passthrough` clears it).
    public var usesDefaultPassthrough = true
    /// Whether a host's role matters: after a refusal it is tried again, never passed through.
    public var isGuarded: @Sendable (HostName) -> Bool = { _ in false }
    /// File to which secrets of the device's side are appended (`SSLKEYLOGFILE`).
    public var keyLogPath: String?
    /// File to which secrets of the origin's side are appended (`--keylog-upstream`).
    public var upstreamKeyLogPath: String?

    // MARK: What is done and kept

    /// Faults to inject, each as it is written (`--fault`).
    public var faults: [String] = []
    /// What is kept of the person's journey on Chia (`--chia-journey`).
    public var chiaJourney = ChiaJourney.heads
    /// Interface whose passive capture is added to the recording (`--also-capture`).
    public var alsoCapture: String?

    // MARK: Control

    /// Where the control API listens (`--control`); nil: nowhere.
    public var controlAddress: Endpoint? = Endpoint(address: IPAddress(ipv4: 0x7F00_0001), port: 4775)
    /// Where marks are taken as datagrams; nil: nowhere.
    public var markAddress: Endpoint? = Endpoint(address: IPAddress(ipv4: 0x7F00_0001), port: 4774)
    /// Whether datagrams with marks are taken at the listeners' addresses too, where devices that are not on this host find
    /// the proxy. (`--marks` clears it.)
    public var takesMarksAtListeners = true
    /// File that gets the control API's token, mode 0600; nil: none is written.
    public var controlTokenPath: String?

    // MARK: Bounds

    /// What is held at most.
    public var limits = ProxyLimits()
    /// How long is waited.
    public var timeouts = ProxyTimeouts()

    /// The defaults: loopback, port 4773, everything verified and intercepted.
    public init() {}

    /// Where datagrams with marks are taken: `markAddress`, and the listeners' addresses with its port where those are not
    /// on loopback.
    public var markAddresses: [Endpoint] {
        guard let markAddress else { return [] }
        guard takesMarksAtListeners else { return [markAddress] }
        let addresses = listeners.map(\.endpoint.address).filter { !$0.isLoopback }
        let unspecified = addresses.filter(\.isUnspecified)
        var chosen = [markAddress.address] + addresses
        if let every = unspecified.first(where: { !$0.isIPv4 }) {
            // Such a socket takes IPv4 too.
            chosen = [every]
        } else if let every = unspecified.first {
            chosen = [every] + chosen.filter { !$0.isIPv4 }
        }
        let endpoints = chosen.map { Endpoint(address: $0, port: markAddress.port) }
        var seen: Set<Endpoint> = []
        return endpoints.filter { seen.insert($0).inserted }
    }
}

extension [HostNamePattern] {
    /// Whether any of the patterns means `name`.
    func match(_ name: HostName) -> Bool { contains { $0.matches(name) } }
}
