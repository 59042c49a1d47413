public import SessionTrace

/// One `--listen`: where to accept, and whether the kernel hands over connections to any address there (TPROXY).
public struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
    /// Address and port; port 0 lets the kernel choose.
    public var endpoint: Endpoint
    /// Takes connections that a TPROXY rule sends here, whatever their destination (needs CAP_NET_ADMIN).
    public var isTransparent: Bool

    /// The port that a listener has unless told otherwise.
    public static let defaultPort: UInt16 = 4773

    /// Loopback only, port 4773.
    public static let standard = ListenAddress(
        endpoint: Endpoint(address: IPAddress(ipv4: 0x7F00_0001), port: defaultPort))

    /// Makes a listen address.
    public init(endpoint: Endpoint, isTransparent: Bool = false) {
        self.endpoint = endpoint
        self.isTransparent = isTransparent
    }

    /// Reads `ADDR:PORT`, `ADDR`, `[v6]:PORT`, `:PORT` or `PORT` (loopback), or `lan` / `lan:PORT` (the address of this host that
    /// `lan` gives), each with `tproxy:` before it for TPROXY. Nil when it is none, or when there is no LAN address.
    public init?(_ text: some StringProtocol, lan: () -> IPAddress?) {
        var rest = String(text)
        isTransparent = rest.hasPrefix("tproxy:")
        if isTransparent { rest = String(rest.dropFirst("tproxy:".count)) }
        if rest == "lan" || rest.hasPrefix("lan:") {
            let port = rest == "lan" ? Self.defaultPort : UInt16(rest.dropFirst("lan:".count))
            guard let port, let address = lan() else { return nil }
            endpoint = Endpoint(address: address, port: port)
        } else if let address = IPAddress(rest) {
            endpoint = Endpoint(address: address, port: Self.defaultPort)
        } else if let port = UInt16(rest.hasPrefix(":") ? String(rest.dropFirst()) : rest) {
            endpoint = Endpoint(address: Self.standard.endpoint.address, port: port)
        } else {
            guard let (host, port) = HostName.parse(authority: rest), let address = host.address, !rest.contains("@")
            else { return nil }
            endpoint = Endpoint(address: address, port: port ?? Self.defaultPort)
        }
    }

    /// The listen address as it is written.
    public var description: String { isTransparent ? "tproxy:\(endpoint)" : "\(endpoint)" }
}
