internal import SessionTrace

/// Packet time for releasing state: the lowest time of the latest run of packets. A packet whose time is far ahead of its
/// neighbours' moves nothing, and a file that goes on with a clock of the past is followed.
struct PacketClock {
    /// Packets in a run.
    static let run = 32
    /// The time that all packets have passed; during the first run, the first packet's.
    private(set) var now = Instant.distantPast
    private var hasRun = false
    private var lowest = Instant.distantFuture
    private var count = 0

    /// Takes a packet's time. Returns whether `now` may have moved.
    @inline(__always)
    mutating func tick(_ time: Instant) -> Bool {
        if time < lowest { lowest = time }
        if !hasRun { now = lowest }
        count += 1
        guard count == Self.run else { return false }
        now = lowest
        hasRun = true
        lowest = .distantFuture
        count = 0
        return true
    }
}
