internal import SessionTrace

/// An absolute http(s) URL in pieces, for comparing what was handed over with what was opened.
struct WebAddress: Hashable, Sendable {
    var scheme: String
    var host: HostName
    var port: UInt16
    /// Path, at least `/`.
    var path: String
    /// What follows the `?`, without it; nil when there is none.
    var query: String?

    /// How one address relates to another (DESIGN: the relation to U and N).
    enum Relation: Hashable, Sendable {
        /// The same but for the fragment.
        case equal
        /// The same when query, fragment and a trailing slash are left out, or the scheme is upgraded.
        case variant
        case other
    }

    /// Reads an absolute URL; nil for anything else. The fragment is dropped.
    init?(_ text: some StringProtocol) {
        guard let separator = text.firstRange(of: "://") else { return nil }
        let scheme = text[..<separator.lowerBound].lowercased()
        guard scheme == "http" || scheme == "https" else { return nil }
        let rest = text[separator.upperBound...].prefix { $0 != "#" }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        guard let (host, port) = HostName.parse(authority: authority) else { return nil }
        let target = rest[authority.endIndex...]
        self.init(scheme: scheme, host: host, port: port, target: String(target))
    }

    /// The address of a request; nil without an authority.
    init?(_ request: Request) {
        guard let authority = request.authority, let (host, port) = HostName.parse(authority: authority) else {
            return nil
        }
        self.init(scheme: request.scheme.lowercased(), host: host, port: port, target: request.pathAndQuery)
    }

    private init(scheme: String, host: HostName, port: UInt16?, target: String) {
        self.scheme = scheme
        self.host = host
        self.port = port ?? (scheme == "http" ? 80 : 443)
        let withoutFragment = target.prefix { $0 != "#" }
        let path = withoutFragment.prefix { $0 != "?" }
        self.path = path.isEmpty ? "/" : String(path)
        query = path.endIndex < withoutFragment.endIndex ? String(withoutFragment[path.endIndex...].dropFirst()) : nil
    }

    /// The handoff token in path or query, if there is one.
    var token: String? { Token.first(in: path) ?? query.flatMap { Token.first(in: $0) } }

    /// Resolves a `Location` against this address; nil when it is no http(s) address.
    func resolve(_ location: String) -> WebAddress? {
        if location.contains("://") { return WebAddress(location) }
        if location.hasPrefix("//") { return WebAddress(scheme + ":" + location) }
        if location.hasPrefix("/") { return WebAddress(scheme: scheme, host: host, port: port, target: location) }
        guard !location.isEmpty, !location.prefix(while: { $0 != "/" }).contains(":") else { return nil }
        let folder = path.prefix(through: path.lastIndex(of: "/") ?? path.startIndex)
        return WebAddress(scheme: scheme, host: host, port: port, target: folder + location)
    }

    /// How a request's address relates to this one.
    func relation(of other: WebAddress) -> Relation {
        if self == other { return .equal }
        guard host == other.host else { return .other }
        return barePath == other.barePath ? .variant : .other
    }

    /// The path without a trailing slash.
    var barePath: Substring { path.utf8.count > 1 && path.hasSuffix("/") ? path.dropLast() : path[...] }

    /// The address as text, in one form: no default port, no fragment.
    var text: String {
        let isDefaultPort = port == (scheme == "http" ? 80 : 443)
        let name = host.text.contains(":") ? "[\(host)]" : host.text
        return "\(scheme)://\(name)\(isDefaultPort ? "" : ":\(port)")\(path)\(query.map { "?\($0)" } ?? "")"
    }

    /// What a browser makes of the address before it asks for it (WHATWG URL §4.4): dot segments are gone, and what may not
    /// stand in a URL is percent-encoded. Escapes that are there stay as they are.
    var normalised: WebAddress {
        var address = self
        var segments: [Substring] = []
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        for (index, segment) in parts.enumerated() {
            let isLast = index == parts.count - 1
            switch segment.lowercased() {
            case ".", "%2e":
                if isLast { segments.append("") }
            case "..", ".%2e", "%2e.", "%2e%2e":
                if !segments.isEmpty { segments.removeLast() }
                if isLast { segments.append("") }
            default: segments.append(segment)
            }
        }
        address.path = Self.encoded("/" + segments.joined(separator: "/"))
        address.query = query.map(Self.encoded)
        return address
    }

    private static func encoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            // Space, ", <, >, `, {, |, }, ^, control characters and what is no ASCII.
            case 0...0x20, 0x22, 0x3C, 0x3E, 0x5E, 0x60, 0x7B...0x7D, 0x7F...0xFF:
                bytes.append(0x25)
                for digit in [byte >> 4, byte & 15] { bytes.append(digit < 10 ? 0x30 + digit : 0x37 + digit) }
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
