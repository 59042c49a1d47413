/// The last stream bytes delivered for one side, to compare retransmissions with: whoever overlaps with other content
/// wants two readers to see two things. Grows with the stream up to a limit, then turns round in place.
struct DeliveredHistory {
    private var ring: [UInt8] = []
    /// The offset after the newest byte.
    private var end: Int64 = 0
    /// Where in `ring` the next byte goes.
    private var head = 0

    /// Adds bytes that end at offset `newEnd`. A jump (a hole) forgets what was before it.
    mutating func append(_ bytes: UnsafeRawBufferPointer, endingAt newEnd: Int64, limit: Int) {
        guard !bytes.isEmpty, limit > 0 else { return }
        if newEnd - Int64(bytes.count) != end {
            ring.removeAll(keepingCapacity: true)
            head = 0
        }
        end = newEnd
        let kept = bytes.count > limit ? UnsafeRawBufferPointer(rebasing: bytes[(bytes.count - limit)...]) : bytes
        if kept.count == limit {
            ring.removeAll(keepingCapacity: true)
            ring.append(contentsOf: kept)
            head = 0
            return
        }
        let growth = min(limit - ring.count, kept.count)
        if growth > 0 {
            ring.append(contentsOf: kept[..<growth])
            guard growth < kept.count else { return }
        }
        overwrite(UnsafeRawBufferPointer(rebasing: kept[growth...]))
    }

    /// Whether `bytes`, whose first is at `offset`, differ from what is remembered of these offsets.
    func differs(from bytes: UnsafeRawBufferPointer, at offset: Int64) -> Bool {
        let start = end - Int64(ring.count)
        let from = max(offset, start)
        let to = min(offset + Int64(bytes.count), end)
        guard from < to else { return false }
        var position = (head + Int(from - start)) % ring.count
        for index in Int(from - offset)..<Int(to - offset) {
            if ring[position] != bytes[index] { return true }
            position += 1
            if position == ring.count { position = 0 }
        }
        return false
    }

    /// Frees the memory.
    mutating func clear() {
        ring = []
        head = 0
    }

    private mutating func overwrite(_ bytes: UnsafeRawBufferPointer) {
        let capacity = ring.count
        let head = self.head
        let first = min(capacity - head, bytes.count)
        ring.withUnsafeMutableBytes { ring in
            UnsafeMutableRawBufferPointer(rebasing: ring[head..<(head + first)])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<first]))
            guard first < bytes.count else { return }
            ring.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[first...]))
        }
        self.head = (head + bytes.count) % capacity
    }
}
