internal import SessionTrace

/// An exchange whose end has not been seen.
struct OpenExchange {
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

    /// Whether it still waits for its final response's head.
    var awaitsResponse: Bool { response == nil }

    mutating func add(_ anomaly: Anomaly) {
        if !anomalies.contains(anomaly) { anomalies.append(anomaly) }
    }

    /// The finished exchange.
    func exchange(on connection: ConnectionID, end: ExchangeEnd) -> Exchange {
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

    /// The exchange of this number, if it is open.
    subscript(number: Int) -> OpenExchange? {
        let slot = number - base
        return slots.indices.contains(slot) ? slots[slot] : nil
    }

    /// Changes an exchange in place; nothing happens when it is not open.
    mutating func update(_ number: Int, _ change: (inout OpenExchange) -> Void) {
        let slot = number - base
        guard slots.indices.contains(slot), var exchange = slots[slot] else { return }
        // Taken out while it is changed, so that its arrays are not copied.
        slots[slot] = nil
        change(&exchange)
        slots[slot] = exchange
    }

    /// Takes an exchange out.
    mutating func remove(_ number: Int) -> OpenExchange? {
        let slot = number - base
        guard slots.indices.contains(slot), let exchange = slots[slot] else { return nil }
        slots[slot] = nil
        count -= 1
        while start < slots.count, slots[start] == nil { start += 1 }
        if start == slots.count || start > 64 && start * 2 > slots.count {
            base += start
            slots.removeFirst(start)
            start = 0
        }
        return exchange
    }

    /// The numbers of the open exchanges, oldest first.
    var numbers: [Int] { slots[start...].compactMap { $0?.number } }

    /// The oldest open exchange's number.
    var oldest: Int? { slots[start...].first { $0 != nil }??.number }

    /// The oldest exchange that waits for a final response.
    var firstAwaiting: Int? { slots[start...].first { $0?.awaitsResponse == true }??.number }

    /// The youngest exchange that waits for a final response.
    var lastAwaiting: Int? { slots[start...].last { $0?.awaitsResponse == true }??.number }
}
