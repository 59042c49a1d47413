internal import SessionTrace

/// Where a client's connection wants to go, as its preamble or the kernel said.
struct Destination: Hashable, Sendable {
    /// How we know.
    enum Kind: String, Hashable, Sendable {
        /// CONNECT (RFC 9110 §9.3.6).
        case connect
        /// A SOCKS5 request (RFC 1928 §4).
        case socks
        /// The kernel: SO_ORIGINAL_DST, or the local address under TPROXY. Such an address is dialled as it is.
        case transparent
        /// The absolute form of a request in clear text (RFC 9112 §3.2.2).
        case clearText
    }

    /// The name that was asked for; nil when an address was (or for a transparent client).
    var name: HostName?
    /// The address that was asked for; nil when a name was.
    var address: IPAddress?
    /// The TCP port.
    var port: UInt16
    /// How we know.
    var kind: Kind

    /// A destination from what was written: a name, or an address literal.
    init(host: HostName, port: UInt16, kind: Kind) {
        address = host.address
        name = address == nil ? host : nil
        self.port = port
        self.kind = kind
    }

    /// A destination that the kernel gave, or an address of a SOCKS request.
    init(_ endpoint: Endpoint, kind: Kind) {
        address = endpoint.address
        port = endpoint.port
        self.kind = kind
    }

    /// The host for people and events: the name, or the address.
    var host: String { name?.text ?? address?.description ?? "" }

    /// `host:port`, IPv6 in brackets.
    var authority: String {
        if let address { return Endpoint(address: address, port: port).description }
        return "\(host):\(port)"
    }

    /// The names under which the proxy itself answers: nothing is dialled for them.
    static let localNames: Set<String> = ["mark.handoff.test", "trust.handoff.test"]

    /// Whether the proxy itself answers for this destination.
    var isLocal: Bool { name.map { Self.localNames.contains($0.text) } ?? false }
}
