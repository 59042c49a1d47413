internal import SessionTrace

/// What a host is to the session.
enum HostRole: String, Hashable, Sendable {
    case chia, chiaAPI = "chia-api", chiaAssets = "chia-assets"
    case partner, partnerAssets = "partner-assets", returnHost = "return"
    case telemetry, osNoise = "os-noise", mark, thirdParty = "third-party"

    /// One of Chia's own hosts.
    var isChia: Bool { self == .chia || self == .chiaAPI || self == .chiaAssets }

    /// One of the partner's hosts.
    var isPartners: Bool { self == .partner || self == .partnerAssets || self == .returnHost }
}

/// Names to roles: the policy's domains at label boundaries, through the CNAME chains that captured answers gave.
struct HostRoles: Sendable {
    let hosts: Policy.Hosts
    /// Hosts that served a session response, when the policy names no partner.
    var inferredPartner: Set<HostName> = []
    /// Where captured CNAME answers lead.
    var aliases: [HostName: [HostName]] = [:]
    /// Hosts that the proxy passed through as services of the phone's own system.
    var systemHosts: Set<HostName> = []
    private let telemetryHosts: TelemetryHosts

    /// The host at which marks are made in band (RFC 6761 reserved name).
    static let markHost = HostName("mark.handoff.test")
    /// The host whose fetch by the set-up page shows that a browser trusts the recorder.
    static let trustHost = HostName("trust.handoff.test")
    /// Aliases followed from one name.
    static let chainLimit = 16

    init(_ hosts: Policy.Hosts) {
        self.hosts = hosts
        telemetryHosts = .builtin
    }

    /// The name and every name that its CNAME chain leads to.
    func chain(of host: HostName) -> [HostName] {
        guard aliases[host] != nil else { return [host] }
        var chain = [host]
        var next = 0
        while next < chain.count, chain.count < Self.chainLimit {
            for alias in aliases[chain[next]] ?? [] where !chain.contains(alias) { chain.append(alias) }
            next += 1
        }
        return chain
    }

    /// The role of a host. A CNAME chain that ends at Chia or at a telemetry vendor counts as there.
    func role(of host: HostName) -> HostRole {
        if let role = ownRole(of: host) { return role }
        for alias in chain(of: host).dropFirst() {
            if let role = ownRole(of: alias), role.isChia || role == .telemetry { return role }
        }
        if inferredPartner.contains(host) { return .partner }
        return OSNoiseHosts.builtin.contains(host) || systemHosts.contains(host) ? .osNoise : .thirdParty
    }

    /// Whether the host, or a name in its CNAME chain, is one of Chia's.
    func isChia(_ host: HostName) -> Bool {
        if let role = ownRole(of: host) { return role.isChia || (role != .mark && chainReachesChia(host)) }
        return chainReachesChia(host)
    }

    /// The name of the chain that makes the host Chia's.
    func chiaName(of host: HostName) -> HostName? {
        chain(of: host).first { ownRole(of: $0)?.isChia == true }
    }

    /// Vendor and category of a telemetry host, for the message.
    func vendor(of host: HostName) -> String? {
        for name in chain(of: host) {
            if hosts.usesBuiltinTelemetry, let entry = telemetryHosts.category(of: name) {
                return "\(entry.vendor), \(entry.category)"
            }
            if hosts.telemetry.covers(name) { return "named by the policy" }
        }
        return nil
    }

    /// The category of a host on the telemetry list (`shortener`, `attribution`, …), its aliases included.
    func category(of host: HostName) -> String? {
        guard hosts.usesBuiltinTelemetry else { return nil }
        return chain(of: host).lazy.compactMap { telemetryHosts.category(of: $0)?.category }.first
    }

    private func chainReachesChia(_ host: HostName) -> Bool {
        guard aliases[host] != nil else { return false }
        return chain(of: host).dropFirst().contains { ownRole(of: $0)?.isChia == true }
    }

    private func ownRole(of host: HostName) -> HostRole? {
        if host == Self.markHost || host == Self.trustHost { return .mark }
        if hosts.chiaAPI.covers(host) { return .chiaAPI }
        if hosts.chiaAssets.covers(host) { return .chiaAssets }
        if hosts.chia.covers(host) { return .chia }
        if hosts.telemetry.covers(host) { return .telemetry }
        if hosts.partnerAssets.covers(host) { return .partnerAssets }
        if hosts.partner.covers(host) { return .partner }
        if hosts.returnHosts.covers(host) { return .returnHost }
        if hosts.usesBuiltinTelemetry, telemetryHosts.category(of: host) != nil { return .telemetry }
        return nil
    }
}
