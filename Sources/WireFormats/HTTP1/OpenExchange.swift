internal import SessionTrace

/// An exchange whose end has not been seen.
///
/// It is an object because it is touched a dozen times while it is open, and its many arrays would be copied each time.
/// It belongs to the queue of one observer alone; a copy of an observer must not be read on beside the original.
final class OpenExchange {
    /// How far its request has come.
    enum RequestState {
        /// The request was not captured.
        case absent
        case reading
        case whole
        /// A hole or broken framing hides its end.
        case cut
    }

    let number: Int
    var version: HTTPVersion
    var request: Request?
    var requestState: RequestState
    var informational: [Response] = []
    var response: Response?
    /// The final response has ended (whole or not): how the exchange ends once its request has.
    var responseEnd: ExchangeEnd?
    var anomalies: [Anomaly] = []
    var ended: PacketReference
    /// Requests before this one may be missing: a hole lies between it and its predecessor.
    var followsGap = false
    /// Its request was not captured, or is told only after it, once a hole before it is known to stay.
    var waitsForRequest = false

    init(
        number: Int, version: HTTPVersion, request: Request? = nil, requestState: RequestState, ended: PacketReference
    ) {
        self.number = number
        self.version = version
        self.request = request
        self.requestState = requestState
        self.ended = ended
    }

    /// Whether it still waits for its final response's head.
    var awaitsResponse: Bool { response == nil }

    /// Whether its request began in a packet or before it; one that was not captured may have.
    func isSent(before packet: PacketReference) -> Bool { request.map { $0.started.number <= packet.number } ?? true }

    func add(_ anomaly: Anomaly) {
        if !anomalies.contains(anomaly) { anomalies.append(anomaly) }
    }

    /// Adds a 1xx response, unless there are `limit` already.
    func add(interim: Response, limit: Int) {
        if informational.count < limit { informational.append(interim) }
    }

    /// The finished exchange.
    func finished(on connection: ConnectionID, end: ExchangeEnd) -> Exchange {
        Exchange(
            id: ExchangeID(connection: connection, index: number), version: version, request: request,
            informational: informational, response: response, end: end, ended: ended, anomalies: anomalies)
    }
}

/// The open exchanges of one connection in the order in which they began, addressed by number.
struct ExchangeQueue {
    private var slots: [OpenExchange?] = []
    /// The number of `slots[0]`.
    private var base: Int
    /// Slots before this one are empty.
    private var start = 0
    private(set) var count = 0

    /// Numbers count from `firstNumber`.
    init(firstNumber: Int) {
        base = firstNumber
    }

    /// The number that the next exchange gets.
    var nextNumber: Int { base + slots.count }

    /// Appends an exchange made with the next number.
    mutating func append(_ exchange: OpenExchange) {
        slots.append(exchange)
        count += 1
    }

    /// Takes the exchange of this number out; false when it is not open.
    mutating func remove(_ number: Int) -> Bool {
        let slot = number - base
        guard slots.indices.contains(slot), slots[slot] != nil else { return false }
        slots[slot] = nil
        count -= 1
        while start < slots.count, slots[start] == nil { start += 1 }
        if start == slots.count {
            base += start
            slots.removeAll(keepingCapacity: true)
            start = 0
        } else if start > 64, start * 2 > slots.count {
            base += start
            slots.removeFirst(start)
            start = 0
        }
        return true
    }

    /// The open exchanges, oldest first.
    var open: [OpenExchange] { slots[start...].compactMap { $0 } }

    /// The oldest open exchange.
    var oldest: OpenExchange? { start < slots.count ? slots[start] : nil }

    /// The oldest exchange that waits for a final response.
    var firstAwaiting: OpenExchange? {
        for slot in slots[start...] {
            if let exchange = slot, exchange.awaitsResponse { return exchange }
        }
        return nil
    }

    /// The youngest exchange that waits for a final response.
    var lastAwaiting: OpenExchange? {
        for slot in slots[start...].reversed() {
            if let exchange = slot, exchange.awaitsResponse { return exchange }
        }
        return nil
    }
}
