public import SessionTrace

/// The addresses of a session's own network: the device, the proxy, and a block of addresses for its hosts.
public struct LabNetwork: Sendable {
    /// Whether IPv6 is spoken.
    public let isIPv6: Bool
    private let hosts: [String]

    /// A network in which these names exist.
    public init(isIPv6: Bool, hosts: [String]) {
        self.isIPv6 = isIPv6
        self.hosts = hosts
    }

    /// The device.
    public var device: IPAddress { address(fourth: 0x0A04_0002, low: 2) }
    /// Another phone in the same network: the sender called `neighbour`.
    public var neighbour: IPAddress { address(fourth: 0x0A04_0003, low: 3) }
    /// The proxy, which is the name server too.
    public var proxy: IPAddress { address(fourth: 0x0A04_0001, low: 1) }
    /// Every address, for the servers.
    public var wildcard: IPAddress { IPAddress(ipv6High: 0, low: 0) }
    /// Where the proxy listens.
    public static let proxyPort: UInt16 = 4773

    /// The address of a host; nil for a name that does not exist, as all under `.invalid` (RFC 6761 §6.4).
    public func address(of host: String) -> IPAddress? {
        guard !host.hasSuffix(".invalid"), let index = hosts.firstIndex(of: host) else { return nil }
        let number = UInt32(truncatingIfNeeded: 10 + index % 200)
        if !isIPv6 { return IPAddress(ipv4: 0xCB00_7100 + number) }
        return IPAddress(ipv6High: 0x2001_0DB8_0001_0000, low: UInt64(number))
    }

    /// `HOST:443:ADDRESS:443` for each host, as `--resolve` takes it.
    public var overrides: [String] {
        hosts.compactMap { host in
            address(of: host).map { "\(host):443:\(Endpoint(address: $0, port: 443))" }
        }
    }

    /// The commands that make it, in a network namespace that has nothing but a loopback interface.
    public static let setUp: [[String]] = [
        ["ip", "link", "set", "lo", "up", "mtu", "1500"],
        ["ip", "address", "add", "10.4.0.2/32", "dev", "lo"],
        ["ip", "address", "add", "10.4.0.3/32", "dev", "lo"],
        ["ip", "route", "add", "local", "10.4.0.1/32", "dev", "lo", "table", "local", "src", "10.4.0.2"],
        ["ip", "route", "add", "local", "203.0.113.0/24", "dev", "lo", "table", "local", "src", "10.4.0.2"],
        // Addresses that are no interface's own are listened on.
        ["sysctl", "-q", "-w", "net.ipv6.ip_nonlocal_bind=1"],
        ["ip", "-6", "address", "add", "fd00:4::2/128", "dev", "lo", "nodad"],
        ["ip", "-6", "address", "add", "fd00:4::3/128", "dev", "lo", "nodad"],
        ["ip", "-6", "route", "add", "local", "fd00:4::1/128", "dev", "lo", "table", "local", "src", "fd00:4::2"],
        ["ip", "-6", "route", "add", "local", "2001:db8:1::/64", "dev", "lo", "table", "local", "src", "fd00:4::2"],
    ]

    /// The blocks that hosts have addresses of.
    public static let hostBlocks = ["203.0.113.0/24", "2001:db8:1::/64"]

    private func address(fourth: UInt32, low: UInt64) -> IPAddress {
        isIPv6 ? IPAddress(ipv6High: 0xFD00_0004_0000_0000, low: low) : IPAddress(ipv4: fourth)
    }
}
