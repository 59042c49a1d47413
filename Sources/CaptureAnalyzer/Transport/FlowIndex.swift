/// Finds the slot of a flow by its key: open addressing with linear probing, entries of eight bytes (hash, slot), at most
/// half full. The keys themselves stay in the slots.
struct FlowIndex {
    /// `hash << 32 | slot`, or `empty`.
    private var entries: [UInt64]
    private var mask: Int
    private(set) var count = 0
    let seed: UInt64

    private static let empty = UInt64.max

    init() {
        entries = Array(repeating: Self.empty, count: 1024)
        mask = 1023
        // The only use of randomness here: it changes no result, only which keys collide.
        seed = UInt64(bitPattern: Int64(Hasher().finalize()))
    }

    /// The slot whose key has `hash` and satisfies `isKey`, or nil.
    @inline(__always)
    func find(_ hash: UInt32, isKey: (Int) -> Bool) -> Int? {
        var position = Int(hash) & mask
        while true {
            let entry = entries[position]
            if entry == Self.empty { return nil }
            if UInt32(truncatingIfNeeded: entry >> 32) == hash {
                let slot = Int(entry & 0xFFFF_FFFF)
                if isKey(slot) { return slot }
            }
            position = (position + 1) & mask
        }
    }

    /// Adds a slot whose key is not yet there.
    mutating func insert(_ hash: UInt32, slot: Int) {
        if (count + 1) * 2 > entries.count { grow() }
        place(UInt64(hash) << 32 | UInt64(slot))
        count += 1
    }

    /// Takes a slot out; entries behind it move up, so that no tombstones are needed.
    mutating func remove(_ hash: UInt32, slot: Int) {
        let wanted = UInt64(hash) << 32 | UInt64(slot)
        var position = Int(hash) & mask
        while entries[position] != wanted {
            if entries[position] == Self.empty { return }
            position = (position + 1) & mask
        }
        count -= 1
        var hole = position
        var next = (hole + 1) & mask
        while entries[next] != Self.empty {
            let home = Int(UInt32(truncatingIfNeeded: entries[next] >> 32)) & mask
            // An entry may move into the hole when its home is not between the hole and itself.
            if (next &- home) & mask >= (next &- hole) & mask {
                entries[hole] = entries[next]
                hole = next
            }
            next = (next + 1) & mask
        }
        entries[hole] = Self.empty
    }

    private mutating func place(_ entry: UInt64) {
        var position = Int(UInt32(truncatingIfNeeded: entry >> 32)) & mask
        while entries[position] != Self.empty { position = (position + 1) & mask }
        entries[position] = entry
    }

    private mutating func grow() {
        let old = entries
        entries = Array(repeating: Self.empty, count: old.count * 2)
        mask = entries.count - 1
        for entry in old where entry != Self.empty { place(entry) }
    }
}
