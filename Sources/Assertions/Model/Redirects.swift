internal import SessionTrace

/// Requests whose answers sent a browser on, by the address that they sent it to, in the order in which they ended.
struct Redirects: Sendable {
    private var hops: [WebAddress: [RequestRecord]] = [:]
    /// How many there are.
    private(set) var count = 0

    var isEmpty: Bool { hops.isEmpty }

    mutating func append(_ hop: RequestRecord, to address: WebAddress) {
        hops[address, default: []].append(hop)
        count += 1
    }

    /// The last one that led to an address.
    subscript(address: WebAddress) -> RequestRecord? { hops[address]?.last }

    /// The last one that led to what `record` asks for, and was sent no later than that: a later one led to a later request.
    func hop(to record: RequestRecord) -> RequestRecord? {
        guard let address = record.address else { return nil }
        return hops[address]?.last { $0.started.time <= record.started.time && $0.id != record.id }
    }
}
