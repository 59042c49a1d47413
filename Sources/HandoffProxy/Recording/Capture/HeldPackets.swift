internal import SessionTrace

/// Captured packets that wait to be decided upon, oldest first, in bounded space.
struct HeldPackets {
    struct Packet {
        var bytes: [UInt8]
        var originalLength: Int
        var time: Instant
        /// When it is decided upon.
        var due: UInt64
    }

    /// What keeping a packet costs beside its bytes.
    private static let overhead = 256

    private let byteLimit: Int
    private var packets: [Packet] = []
    private var first = 0
    private var bytes = 0

    init(byteLimit: Int) {
        self.byteLimit = byteLimit
    }

    /// The packets that wait.
    var waiting: ArraySlice<Packet> { packets[first...] }

    /// Whether there is room for a packet of `count` bytes.
    func hasRoom(for count: Int) -> Bool { bytes + count + Self.overhead <= byteLimit }

    /// Whether nothing waits.
    var isEmpty: Bool { first == packets.count }

    mutating func append(_ packet: Packet) {
        bytes += packet.bytes.count + Self.overhead
        packets.append(packet)
    }

    /// Takes the oldest packet if it is due.
    mutating func next(due now: UInt64) -> Packet? {
        guard first < packets.count, packets[first].due <= now else { return nil }
        let packet = packets[first]
        packets[first].bytes = []
        bytes -= packet.bytes.count + Self.overhead
        first += 1
        // The decided front goes once it is half of the list, so that each packet is moved a bounded number of times.
        if first * 2 > packets.count {
            packets.removeFirst(first)
            first = 0
        }
        return packet
    }
}
