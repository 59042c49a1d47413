/// What the proxy holds at most. Each is crossed in a test; crossing one is a `limit` event.
public struct ProxyLimits: Hashable, Sendable {
    /// Connections of clients that are open at once.
    public var connections = 8_192
    /// Connections of one client address that are open at once.
    public var connectionsPerDevice = 4_096
    /// Clients not allowed to use the proxy that are told so at once; more are just reset.
    public var refusals = 64
    /// Bytes of the head of a request to the proxy itself (CONNECT, absolute form, origin form).
    public var headBytes = 64 << 10
    /// Bytes read at once in each direction of a relay; also what one direction holds at most.
    public var relayBufferBytes = 128 << 10
    /// Live events that a slow reader may fall behind; the oldest go first.
    public var liveEventBacklog = 1_024

    /// The defaults.
    public init() {}
}

/// How long the proxy waits for what.
public struct ProxyTimeouts: Hashable, Sendable {
    /// From accept to the first byte of a client that was not redirected here. Browsers open connections ahead of use.
    public var firstByte = Duration.seconds(120)
    /// From the first byte of a preamble (request head, SOCKS, TLS to the proxy) to its last.
    public var preamble = Duration.seconds(15)
    /// From the first byte of a ClientHello to its last.
    public var clientHello = Duration.seconds(10)
    /// For a name to be resolved.
    public var resolve = Duration.seconds(10)
    /// From the first attempt to connect to an origin until one of its addresses has answered.
    public var dial = Duration.seconds(15)
    /// For the TLS handshake with an origin.
    public var upstreamHandshake = Duration.seconds(15)
    /// For an upstream proxy to answer CONNECT, or a SOCKS request.
    public var upstreamProxy = Duration.seconds(20)
    /// Without a byte in either direction of a relayed connection.
    public var idle = Duration.seconds(2 * 60 * 60)
    /// At close, for the device to acknowledge what the kernel still holds for it.
    public var delivery = Duration.seconds(1)
    /// On `stop`, for running connections to come to their end by themselves.
    public var stopGrace = Duration.seconds(2)

    /// The defaults.
    public init() {}
}
