public import SessionTrace

/// One `--upstream-proxy URL`: the proxy through which origins are reached.
public struct UpstreamProxy: Hashable, Sendable {
    /// How it is spoken to.
    public enum Scheme: String, Hashable, Sendable {
        /// HTTP CONNECT (RFC 9110 §9.3.6).
        case http
        /// SOCKS version 5 (RFC 1928); names are resolved by it.
        case socks5
    }

    /// How it is spoken to.
    public let scheme: Scheme
    /// Its name or address.
    public let host: HostName
    /// Its port.
    public let port: UInt16
    /// What it wants to know of us.
    public let credential: ProxyCredential?

    /// Makes an upstream proxy.
    public init(scheme: Scheme, host: HostName, port: UInt16, credential: ProxyCredential? = nil) {
        self.scheme = scheme
        self.host = host
        self.port = port
        self.credential = credential
    }

    /// Reads `http://[user:password@]host[:port]`, `socks5://…` or `socks5h://…` (the same). Without a port: 8080, or 1080 for SOCKS.
    /// Percent-encoded octets in the credential are decoded. Nil when it is none.
    public init?(_ text: some StringProtocol) {
        guard let colon = text.range(of: "://") else { return nil }
        switch text[..<colon.lowerBound].lowercased() {
        case "http": scheme = .http
        case "socks5", "socks5h": scheme = .socks5
        default: return nil
        }
        let authority = text[colon.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let (host, port) = HostName.parse(authority: authority) else { return nil }
        self.host = host
        self.port = port ?? (scheme == .http ? 8080 : 1080)
        if let at = authority.lastIndex(of: "@") {
            let parts = authority[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard let user = Self.decoded(parts[0]), let password = Self.decoded(parts.count == 2 ? parts[1] : "")
            else { return nil }
            credential = ProxyCredential(user: user, password: password)
        } else {
            credential = nil
        }
    }

    /// RFC 3986 §2.1.
    private static func decoded(_ text: some StringProtocol) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == 0x25 else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst(), let low = rest.popFirst(),
                let value = UInt8(String(decoding: [high, low], as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(value)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

extension StringProtocol {
    /// The first place of `separator`.
    fileprivate func range(of separator: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(separator) { return start..<index(start, offsetBy: separator.count) }
            start = index(after: start)
        }
        return nil
    }
}
