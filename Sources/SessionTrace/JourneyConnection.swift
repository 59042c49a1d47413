/// A connection of the device as the proxy knows it before anything was asked on it: what `--chia-journey=heads` sorts.
public struct JourneyConnection: Hashable, Sendable {
    /// The device's end.
    public var client: Endpoint
    /// The name in the CONNECT line, SOCKS request or absolute-form target; nil in transparent mode.
    public var requestedHost: HostName?
    /// The name in the ClientHello (SNI); nil without TLS or without the extension.
    public var serverName: HostName?
    /// The protocol that ALPN agreed on.
    public var applicationProtocol: String?
    /// JA4 of the ClientHello.
    public var ja4: String?
    /// Whether what is asked on it came through TLS.
    public var isSecure: Bool

    /// Makes a description of a connection.
    public init(
        client: Endpoint, requestedHost: HostName? = nil, serverName: HostName? = nil,
        applicationProtocol: String? = nil, ja4: String? = nil, isSecure: Bool = true
    ) {
        self.client = client
        self.requestedHost = requestedHost
        self.serverName = serverName
        self.applicationProtocol = applicationProtocol
        self.ja4 = ja4
        self.isSecure = isSecure
    }

    /// The names that the connection itself gives, the SNI first; address literals are none.
    public var names: [HostName] {
        var names: [HostName] = []
        for name in [serverName, requestedHost] {
            if let name, name.address == nil, !names.contains(name) { names.append(name) }
        }
        return names
    }
}

/// Whether the content of a connection goes into the recording.
public enum JourneyDecision: Hashable, Sendable {
    /// All of it.
    case record
    /// Nothing but the handshake's ciphertext and one `exchange` event a request. The attributes are those of the
    /// `withheld` event: `host`, `actor` and `why`.
    case withhold(attributes: [String: String])
}
