/// Remembers which streams have ended, in bounded memory.
///
/// On a connection that was seen whole a number is enough: streams open in ascending order, so whatever is not above the
/// highest and not open has ended (RFC 9113 §5.1.1). On an uncertain one the last few are remembered by name.
struct EndedStreams {
    private let capacity: Int
    private var order: [UInt32] = []
    private var next = 0
    private var recent: Set<UInt32> = []

    init(capacity: Int) {
        self.capacity = capacity
    }

    mutating func insert(_ streamID: UInt32) {
        guard recent.insert(streamID).inserted else { return }
        if order.count < capacity {
            order.append(streamID)
        } else {
            recent.remove(order[next])
            order[next] = streamID
            next = (next + 1) % capacity
        }
    }

    /// Whether the stream, which is not open, has ended; `isCertain` says that it is not above the highest one and that
    /// every stream up to there was seen.
    func contains(_ streamID: UInt32, isCertain: Bool) -> Bool {
        isCertain || recent.contains(streamID)
    }
}
