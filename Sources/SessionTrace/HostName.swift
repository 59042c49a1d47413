/// A host as named on the wire (DNS, SNI, authority, CONNECT target), in the one form in which names are compared:
/// lower case, no trailing dot, no port, no brackets around an IPv6 literal.
public struct HostName: Hashable, Sendable, CustomStringConvertible {
    /// The normalised text.
    public let text: String

    /// Normalises `text`. Nil when nothing is left of it, or when it holds a control character, space, or one of `/?#@`.
    public init?(_ text: some StringProtocol) {
        var name = text.lowercased()
        if name.hasPrefix("["), name.hasSuffix("]") { name = String(name.dropFirst().dropLast()) }
        if name.hasSuffix(".") { name.removeLast() }
        guard !name.isEmpty, name.utf8.allSatisfy(Self.isAllowed) else { return nil }
        self.text = name
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case 0...0x20, 0x23, 0x2F, 0x3F, 0x40, 0x7F: false
        default: true
        }
    }

    /// Splits an authority (`host`, `host:port`, `[v6]:port`, `user@host`) into its host and its port, if it gives one.
    ///
    /// RFC 3986 §3.2. Nil when the host is empty or the port is not a number from 0 to 65535.
    public static func parse(authority: some StringProtocol) -> (host: HostName, port: UInt16?)? {
        let start = authority.lastIndex(of: "@").map(authority.index(after:)) ?? authority.startIndex
        let hostPort = String(authority[start...])
        if hostPort.hasPrefix("["), let close = hostPort.lastIndex(of: "]") {
            let rest = hostPort[hostPort.index(after: close)...]
            guard let host = HostName(hostPort[...close]) else { return nil }
            if rest.isEmpty || rest == ":" { return (host, nil) }
            guard rest.hasPrefix(":"), let port = UInt16(rest.dropFirst()) else { return nil }
            return (host, port)
        }
        guard let colon = hostPort.lastIndex(of: ":"), hostPort.firstIndex(of: ":") == colon else {
            return HostName(hostPort).map { ($0, nil) }
        }
        guard let host = HostName(hostPort[..<colon]) else { return nil }
        let digits = hostPort[hostPort.index(after: colon)...]
        if digits.isEmpty { return (host, nil) }
        guard let port = UInt16(digits) else { return nil }
        return (host, port)
    }

    /// The same name, or a subdomain of `domain` at a label boundary: `a.chia.health` is within `chia.health`,
    /// `notchia.health` is not.
    public func isWithin(_ domain: HostName) -> Bool {
        guard text.utf8.count > domain.text.utf8.count else { return text == domain.text }
        return text.hasSuffix(domain.text) && text.utf8.dropLast(domain.text.utf8.count).last == 0x2E
    }

    /// The address, when the name is an address literal.
    public var address: IPAddress? { IPAddress(text) }

    public var description: String { text }
}
