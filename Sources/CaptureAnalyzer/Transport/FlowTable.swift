/// Slots for flows, found by key, each in the list of its phase in order of time. All operations take constant time.
struct FlowTable {
    private struct List {
        var first: Int32 = -1
        var last: Int32 = -1
        var count = 0
    }

    private var flows: [Flow] = []
    private var free: [Int] = []
    private var index = FlowIndex()
    private var lists = Array(repeating: List(), count: 5)

    /// The flow in a slot that `find` or `insert` gave.
    subscript(slot: Int) -> Flow {
        _read { yield flows[slot] }
        _modify { yield &flows[slot] }
    }

    /// A key's hash for `find` and `insert`.
    @inline(__always)
    func hash(_ key: FlowKey) -> UInt32 { key.hash(seed: index.seed) }

    /// The slot of a key.
    @inline(__always)
    func find(_ key: FlowKey, hash: UInt32) -> Int? {
        index.find(hash) { flows[$0].key == key }
    }

    /// Puts a flow at the end of its phase's list.
    mutating func insert(_ flow: Flow) -> Int {
        let slot: Int
        if let reused = free.popLast() {
            slot = reused
            flows[slot] = flow
        } else {
            slot = flows.count
            flows.append(flow)
        }
        index.insert(flow.hash, slot: slot)
        append(slot)
        return slot
    }

    /// Forgets a flow.
    mutating func remove(_ slot: Int) {
        unlink(slot)
        index.remove(flows[slot].hash, slot: slot)
        free.append(slot)
    }

    /// Puts a flow at the end of the list of `phase`: it changed, or something of it was seen.
    @inline(__always)
    mutating func move(_ slot: Int, to phase: Flow.Phase) {
        if flows[slot].phase == phase, lists[phase.rawValue].last == Int32(slot) { return }
        unlink(slot)
        flows[slot].phase = phase
        append(slot)
    }

    /// The flow that has been in the list of `phase` longest.
    func first(_ phase: Flow.Phase) -> Int? {
        let first = lists[phase.rawValue].first
        return first < 0 ? nil : Int(first)
    }

    /// How many flows are in a phase.
    func count(_ phase: Flow.Phase) -> Int { lists[phase.rawValue].count }

    private mutating func unlink(_ slot: Int) {
        let (phase, before, after) = (flows[slot].phase.rawValue, flows[slot].previous, flows[slot].following)
        if before < 0 { lists[phase].first = after } else { flows[Int(before)].following = after }
        if after < 0 { lists[phase].last = before } else { flows[Int(after)].previous = before }
        lists[phase].count -= 1
    }

    private mutating func append(_ slot: Int) {
        let phase = flows[slot].phase.rawValue
        let last = lists[phase].last
        flows[slot].previous = last
        flows[slot].following = -1
        if last < 0 { lists[phase].first = Int32(slot) } else { flows[Int(last)].following = Int32(slot) }
        lists[phase].last = Int32(slot)
        lists[phase].count += 1
    }
}
