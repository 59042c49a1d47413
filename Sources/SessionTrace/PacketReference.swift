/// The packet in which something was seen: the number that other analysers show for it, and its time.
public struct PacketReference: Hashable, Sendable {
    /// 1-based number of the packet in its capture file, as tshark and tcpdump count; 0 when there is no file (live).
    public var number: Int
    /// When the packet was captured.
    public var time: Instant

    /// Makes a reference.
    public init(number: Int, time: Instant) {
        self.number = number
        self.time = time
    }
}
