import SessionTrace

/// Tells a mark that was sent or written twice from a second mark.
///
/// A datagram may be sent three times, a recording writes a mark both as a datagram and as its packet's comment, and a
/// side file may hold it once more. Marks with equal id and content are one, and so are equal marks without an id on
/// one packet. Equal ids with other content are *not* repeats: a rule has to see both.
public struct MarkRepeats: Sendable {
    /// Most bytes of content remembered; beyond that the oldest are forgotten, so that memory stays bounded.
    public static let byteLimit = 16 << 20

    private struct Key: Hashable {
        var content: String
        /// Set for marks without an id: only the same packet can repeat them.
        var packetNumber: Int?
    }

    private let byteLimit: Int
    private var seen: Set<Key> = []
    private var order: [Key] = []
    private var oldest = 0
    private var bytes = 0

    /// Nothing seen yet.
    public init(byteLimit: Int = MarkRepeats.byteLimit) {
        self.byteLimit = byteLimit
    }

    /// Whether the mark has been seen already; remembers it if not.
    public mutating func isRepeat(_ reading: ReadMark) -> Bool {
        let key = Key(
            content: reading.content, packetNumber: reading.mark.id == nil ? reading.mark.packet?.number ?? -1 : nil)
        // Marks without an id in a side file have no packet, and each line is one.
        if key.packetNumber == -1 { return false }
        guard seen.insert(key).inserted else { return true }
        order.append(key)
        bytes += key.content.utf8.count
        while bytes > byteLimit, oldest < order.count {
            seen.remove(order[oldest])
            bytes -= order[oldest].content.utf8.count
            oldest += 1
        }
        // The forgotten front goes once it is half of the list, so that each key is moved a bounded number of times.
        if oldest * 2 > order.count {
            order.removeFirst(oldest)
            oldest = 0
        }
        return false
    }
}
