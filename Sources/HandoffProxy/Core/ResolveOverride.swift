public import SessionTrace

/// One `--resolve HOST:PORT:ADDRESS[:PORT]`: where connections to a name really go.
public struct ResolveOverride: Hashable, Sendable, CustomStringConvertible {
    /// The hosts that are meant.
    public let host: HostNamePattern
    /// The port that is meant; nil for any (`*`).
    public let port: UInt16?
    /// Where to go instead.
    public let address: IPAddress
    /// The port to go to; nil for the one that was asked for.
    public let targetPort: UInt16?

    /// Makes an override.
    public init(host: HostNamePattern, port: UInt16?, address: IPAddress, targetPort: UInt16? = nil) {
        self.host = host
        self.port = port
        self.address = address
        self.targetPort = targetPort
    }

    /// Reads `api.example.com:443:192.0.2.1`, `*:*:[2001:db8::1]:8443`. An IPv6 address with a port needs brackets. Nil when it is none.
    public init?(_ text: some StringProtocol) {
        let parts = String(text).split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let host = HostNamePattern(parts[0]) else { return nil }
        if parts[1] == "*" {
            port = nil
        } else {
            guard let number = UInt16(parts[1]) else { return nil }
            port = number
        }
        self.host = host
        if let address = IPAddress(parts[2]) {
            self.address = address
            targetPort = nil
        } else {
            guard let (name, port) = HostName.parse(authority: parts[2]), let address = name.address else { return nil }
            self.address = address
            targetPort = port
        }
    }

    /// Where a connection to `name` and `port` goes; nil when this override does not mean it.
    public func target(for name: HostName, port: UInt16) -> Endpoint? {
        guard host.matches(name), self.port == nil || self.port == port else { return nil }
        return Endpoint(address: address, port: targetPort ?? port)
    }

    /// The override as it is written.
    public var description: String {
        let goal = targetPort.map { "\(Endpoint(address: address, port: $0))" } ?? "\(address)"
        return "\(host):\(port.map(String.init) ?? "*"):\(goal)"
    }
}
