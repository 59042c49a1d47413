/// Bounds of the flow table and of TCP reassembly. Times are packet time.
public struct TransportLimits: Hashable, Sendable {
    /// Open TCP connections followed at one time; beyond it the one that was silent longest is given up.
    public var openConnections = 8192
    /// UDP conversations known at one time; beyond it the one that was silent longest is forgotten.
    public var conversations = 16384
    /// Ended connections remembered, so that late packets of theirs open no new one.
    public var endedConnections = 16384
    /// Bytes of one side that wait behind a gap (with 128 a segment for its keeping); beyond it the gap is given up.
    public var pendingBytesPerSide = 8 << 20
    /// Segments of one side that wait behind a gap.
    public var pendingSegmentsPerSide = 8192
    /// Bytes that wait behind gaps in all connections.
    public var pendingBytes = 32 << 20
    /// Delivered bytes of each side kept to compare retransmissions with.
    public var historyBytes = 4096

    /// A gap that the peer acknowledges was captured by nobody, unless its bytes come within this many packets of the
    /// connection …
    public var acknowledgedGapPackets = 256
    /// … or, with at least `gapMinimumPackets` packets, within this time in nanoseconds.
    public var acknowledgedGapNanoseconds: Int64 = 1_000_000_000
    /// The same where the peer's packets are not in the capture, so that nothing is acknowledged: retransmissions are
    /// waited for longer.
    public var oneSidedGapPackets = 1024
    /// See `oneSidedGapPackets`.
    public var oneSidedGapNanoseconds: Int64 = 5_000_000_000
    /// Packets of the connection after a gap without which time alone decides nothing.
    public var gapMinimumPackets = 8

    /// An ended connection takes late packets for this many packets of the capture, or `closingNanoseconds`. The proxy's own
    /// recordings tell up to a second late what a device acknowledged, while other connections go on.
    public var closingPackets = 4_096
    /// See `closingPackets`.
    public var closingNanoseconds: Int64 = 1_000_000_000
    /// How long an ended connection is remembered, in nanoseconds.
    public var endedNanoseconds: Int64 = 120_000_000_000
    /// After this silence in nanoseconds a connection or conversation is over.
    public var idleNanoseconds: Int64 = 3_600_000_000_000
    /// The same for a connection of which one side has finished and the other was never captured.
    public var halfSeenNanoseconds: Int64 = 60_000_000_000
    /// Bytes beyond the expected sequence number that a segment may be ahead (or behind) and still belong.
    public var plausibleDistance = 64 << 20
    /// The same for a reset, which needs to fit better.
    public var plausibleResetDistance = 1 << 20

    /// The defaults.
    public init() {}
}
