/// What the packets of a capture were, counted as other analysers count.
public struct NetworkCounters: Hashable, Sendable {
    /// Frames given to the network layer.
    public var packets = 0
    /// Frames of which less was captured than was on the wire.
    public var truncatedPackets = 0
    /// Packets with an IPv4 header whose "more fragments" bit is set (tshark's `ip.flags.mf`).
    public var ipFragments = 0
    /// Frames that carry no IP packet.
    public var notIP = 0
    /// Packets whose IP or transport header contradicts itself.
    public var malformed = 0
    /// Packets that were captured too short to hold their headers.
    public var headersCutShort = 0
    /// Frames of link types that are not read.
    public var unsupportedLinkType = 0
    /// 802.11 frames that are encrypted on the air.
    public var encryptedOnAir = 0
    /// IP packets of protocols other than TCP, UDP and tunnels (ICMP, ESP …).
    public var otherProtocols = 0
    /// Tunnels taken off (GRE, VXLAN, IP in IP), one for each layer.
    public var tunnelLayers = 0
    /// Fragmented datagrams put together.
    public var reassembledDatagrams = 0
    /// Fragmented datagrams given up with parts missing.
    public var incompleteDatagrams = 0
    /// Fragments that repeated bytes already there.
    public var repeatedFragments = 0
    /// Overlapping fragments whose bytes differ; the first bytes were kept.
    public var fragmentConflicts = 0

    /// Nothing counted.
    public init() {}
}

/// What became of segments and datagrams.
public struct TransportCounters: Hashable, Sendable {
    /// TCP connections opened (tshark's `tcp.stream`).
    public var tcpConnections = 0
    /// UDP conversations opened (tshark's `udp.stream`).
    public var udpConversations = 0
    /// TCP segments.
    public var segments = 0
    /// UDP datagrams.
    public var datagrams = 0
    /// Segments with payload that brought nothing new: retransmissions and packets captured twice.
    public var repeatedSegments = 0
    /// Segments that came ahead of a gap and had to wait.
    public var outOfOrderSegments = 0
    /// Keep-alive probes: one byte (or none) before the next expected.
    public var keepAlives = 0
    /// Segments whose overlap differs from what was there first.
    public var overlapConflicts = 0
    /// Holes of all causes, and their bytes where known.
    public var holes = 0, holeBytes = 0
    /// Payload bytes that came after their place had been given up as a hole, or beyond a FIN.
    public var lateBytes = 0
    /// Segments and resets whose numbers fit no window of their connection.
    public var implausibleSegments = 0
    /// Connections given up because the table was full.
    public var givenUpConnections = 0
    /// Bytes waiting behind gaps now, and the most that ever waited.
    public var pendingBytes = 0, mostPendingBytes = 0

    /// Nothing counted.
    public init() {}
}
