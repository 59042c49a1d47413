/// Bounds of the network layer. Times are packet time.
public struct NetworkLimits: Hashable, Sendable {
    /// IP packets inside IP packets that are followed.
    public var tunnelDepth = 8
    /// Fragmented datagrams collected at one time; beyond it the oldest is given up.
    public var fragmentedDatagrams = 1024
    /// Bytes kept for fragmented datagrams in all, finished ones (kept to know repeats) included.
    public var fragmentBytes = 8 << 20
    /// How long the rest of a datagram is waited for, in nanoseconds (RFC 8200 §4.5: 60 s).
    public var fragmentTimeoutNanoseconds: Int64 = 60_000_000_000
    /// Finished datagrams remembered, to know their fragments when they are captured again.
    public var rememberedDatagrams = 64

    /// The defaults.
    public init() {}
}
