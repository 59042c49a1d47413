/// Bytes at an address that stays: what a reader gathers over several calls and then hands out as a pointer.
///
/// A class so that its owner can be moved without the bytes moving. One reader owns one; it is never shared.
final class HeapBytes {
    private let memory: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    /// Room for `capacity` bytes. Pages that are never written cost no memory.
    init(capacity: Int) {
        memory = .allocate(byteCount: max(capacity, 1), alignment: 8)
    }

    deinit {
        memory.deallocate()
    }

    var capacity: Int { memory.count }

    /// What was appended. Valid until the object goes.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<count]) }

    /// Appends from the front of `input` until `target` bytes are there (at most the capacity) or `input` is used up;
    /// true when `target` is reached.
    func fill(upTo target: Int, from input: inout UnsafeRawBufferPointer) -> Bool {
        let step = min(max(min(target, capacity) - count, 0), input.count)
        if step > 0 {
            UnsafeMutableRawBufferPointer(rebasing: memory[count...]).copyMemory(
                from: UnsafeRawBufferPointer(rebasing: input[..<step]))
            count += step
            input = UnsafeRawBufferPointer(rebasing: input[step...])
        }
        return count >= target
    }

    /// Forgets the first `number` bytes; the rest moves to the front.
    func removeFirst(_ number: Int) {
        let rest = count - min(number, count)
        if rest > 0, number > 0, let base = memory.baseAddress {
            base.copyMemory(from: base + (count - rest), byteCount: rest)
        }
        count = rest
    }
}
