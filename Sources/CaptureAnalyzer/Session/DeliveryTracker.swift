internal import SessionTrace

/// Tells whether responses reached the device, from what it acknowledged.
///
/// A response counts as delivered when the device has acknowledged the stream up to where the response was complete. The
/// offset taken is the end of the bytes received so far, which lies at or behind the response's end: never a "yes" too
/// early.
struct DeliveryTracker {
    private var waiting: [(exchange: ExchangeID, offset: UInt64)] = []
    private var received: UInt64 = 0
    private var acknowledged: UInt64?

    /// Bytes of the server up to `offset` have been read.
    mutating func received(upTo offset: UInt64) {
        received = max(received, offset)
    }

    /// A response is complete (or as complete as it gets). Returns the event if the answer is known at once.
    mutating func responded(_ exchange: ExchangeID, at packet: PacketReference) -> SessionEvent? {
        if let acknowledged, acknowledged >= received { return .delivery(exchange, .yes, packet) }
        waiting.append((exchange, received))
        return nil
    }

    /// The device has acknowledged the server's bytes up to `offset`. Returns the events that this decides.
    mutating func acknowledged(upTo offset: UInt64, at packet: PacketReference) -> [SessionEvent] {
        acknowledged = max(acknowledged ?? 0, offset)
        guard let first = waiting.first, first.offset <= offset else { return [] }
        let decided = waiting.prefix { $0.offset <= offset }
        waiting.removeFirst(decided.count)
        return decided.map { .delivery($0.exchange, .yes, packet) }
    }

    /// The connection has ended: what was never acknowledged was not delivered, if the device's acknowledgements were
    /// captured and the trace shows the connection to its end.
    ///
    /// - Parameter isPolled: whether the acknowledgements are those that a proxy asked its kernel for from time to time. A
    ///   reset then takes the last of them along; a capture has seen them.
    mutating func closed(_ end: ConnectionEnd, isPolled: Bool = false) -> [SessionEvent] {
        let isOver =
            switch end.cause {
            case .finished: true
            case .reset: !isPolled
            case .idle, .traceEnded: false
            }
        let answer: Delivery = acknowledged != nil && isOver ? .no : .unknown
        defer { waiting = [] }
        return waiting.map { .delivery($0.exchange, answer, end.last) }
    }
}
