internal import Crypto
internal import SessionTrace
internal import Synchronization

/// What all intercepted connections of a run share: certificates, contexts, options, and what devices have refused.
final class Interceptor: Sendable {
    /// Whose leaves devices are shown.
    let authority: CertificateAuthority
    /// The contexts of both sides.
    let contexts: TLSContexts
    /// TLS sessions with origins, taken up again as a device would do by itself: its own with us are always full ones, since
    /// each has to show our leaf.
    private let sessions = TLSSessionStore()
    /// Which hosts are read.
    let policy: InterceptionPolicy
    /// Who has refused our leaf for what.
    let refusals = PassthroughTable()
    /// Told of every device's word on a leaf of ours; nil as long as nobody asks.
    private let ledger = Mutex<TrustLedger?>(nil)
    /// The faults of the run.
    let faults: FaultTable
    /// Who sorts connections whose content may have to be withheld; nil: everything is recorded.
    let guide: (any JourneyGuide)?
    /// Live events for the terminal.
    let live: LiveEvents

    private let upstreamAuthorities: String?
    private let insecureUpstreams: [HostNamePattern]
    private let identities: [(hosts: HostNamePattern, identity: ClientIdentity)]
    private let deviceKeyLog: KeyLogFile?
    private let upstreamKeyLog: KeyLogFile?
    /// How long is waited for what.
    let timeouts: ProxyTimeouts

    /// Reads the files that the options name, so that one that can't be used is found before a device calls.
    init(
        configuration: ProxyConfiguration, authority: CertificateAuthority, faults: FaultTable,
        guide: (any JourneyGuide)?, live: LiveEvents
    ) throws(ProxyError) {
        self.authority = authority
        self.faults = faults
        self.guide = guide
        self.live = live
        timeouts = configuration.timeouts
        upstreamAuthorities = configuration.upstreamAuthorities
        insecureUpstreams = configuration.insecureUpstreams
        policy = InterceptionPolicy(
            passthrough: configuration.passthroughHosts, interceptOnly: configuration.interceptOnlyHosts,
            usesDefaultList: configuration.usesDefaultPassthrough, matters: configuration.isGuarded)
        var identities: [(HostNamePattern, ClientIdentity)] = []
        do throws(TLSFailure) {
            contexts = try TLSContexts()
            for option in configuration.clientCertificates {
                identities.append((option.host, try ClientIdentity(file: option.path)))
            }
        } catch {
            throw ProxyError(.cannotUseFile, place: "--client-cert", reason: error.reason)
        }
        self.identities = identities
        do throws(TLSFailure) {
            try contexts.prepare(.system(extraCAFile: configuration.upstreamAuthorities))
        } catch {
            throw ProxyError(
                .cannotUseFile, place: configuration.upstreamAuthorities ?? "certificate store", reason: error.reason)
        }
        deviceKeyLog = try configuration.keyLogPath.map { path throws(ProxyError) in try KeyLogFile(path: path) }
        upstreamKeyLog = try configuration.upstreamKeyLogPath.map { path throws(ProxyError) in
            try KeyLogFile(path: path)
        }
    }

    /// What is known about devices' trust, when it is kept.
    var trust: TrustLedger? { ledger.withLock { $0 } }

    /// Tells `trust` of every device's word on a leaf of ours from now on.
    func tell(_ trust: TrustLedger) { ledger.withLock { $0 = trust } }

    // MARK: The origin's side

    /// How the certificate of the origin called `name` is checked.
    func verification(of name: HostName) -> TLSVerification {
        insecureUpstreams.match(name) ? .none : .system(extraCAFile: upstreamAuthorities)
    }

    /// The certificate to show to the origin called `name` if it asks for one.
    func clientIdentity(for name: HostName) -> ClientIdentity? {
        identities.first { $0.hosts.matches(name) }?.identity
    }

    /// The client's side of TLS with the origin called `name`.
    ///
    /// - Parameters:
    ///   - sni: what goes into the SNI extension: what the device's hello said; nil for none.
    ///   - alpn: the device's list of protocols.
    ///   - place: where the origin is.
    func originEngine(
        name: HostName, sni: HostName?, alpn: ApplicationProtocols, place: Endpoint
    ) throws(TLSFailure) -> TLSEngine {
        var options = TLSClientOptions(
            serverName: sni?.text, verifyName: name.text, verification: verification(of: name), alpn: alpn.list,
            clientCertificate: clientIdentity(for: name))
        options.resumption = sessions
        options.place = place.description
        return try TLSEngine(client: options, contexts: contexts)
    }

    // MARK: The device's side

    /// The server's side of TLS with a device that asked for `name`.
    ///
    /// - Parameters:
    ///   - upstream: the origin's verified certificate, whose names the leaf has too.
    ///   - alpn: the protocol that the origin chose; nil: none.
    func deviceEngine(
        names: [HostName], mirroring upstream: Certificate?, alpn: [UInt8]?
    ) throws(TLSFailure) -> TLSEngine {
        let identity: ServerIdentity
        do throws(AuthorityError) {
            identity = try authority.leaf(for: names.compactMap { SubjectName($0.text) }, mirroring: upstream)
        } catch {
            throw TLSFailure(.other, error.reason)
        }
        return try TLSEngine(server: TLSServerOptions(identity: identity, alpn: alpn), contexts: contexts)
    }

    // MARK: Key logs

    /// Appends secrets of a device's connection to the file that `SSLKEYLOGFILE` names.
    func logDeviceSecrets(_ lines: [UInt8]) {
        if !lines.isEmpty { deviceKeyLog?.append(lines) }
    }

    /// Appends secrets of an origin's connection to the file that `--keylog-upstream` names.
    func logUpstreamSecrets(_ lines: [UInt8]) {
        if !lines.isEmpty { upstreamKeyLog?.append(lines) }
    }
}
