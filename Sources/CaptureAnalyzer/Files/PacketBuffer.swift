/// The one buffer that a capture file is read through: filled at its end, parsed in place, moved only when a packet
/// does not fit behind what is left.
struct PacketBuffer: ~Copyable {
    private var base: UnsafeMutableRawPointer
    private var capacity: Int
    private var start = 0
    private var end = 0

    init(capacity: Int) {
        self.capacity = capacity
        base = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit {
        base.deallocate()
    }

    /// The unread bytes; valid until the next `makeRoom`.
    var window: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base + start, count: end - start)
    }

    /// Takes `count` bytes from the start of the window.
    mutating func advance(by count: Int) {
        start += min(count, end - start)
    }

    /// Makes the free part large enough that the window can reach `count` bytes, and returns it.
    mutating func makeRoom(forWindowOf count: Int) -> UnsafeMutableRawBufferPointer {
        let unread = end - start
        if count > capacity {
            let larger = max(count, capacity * 2)
            let replacement = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
            replacement.copyMemory(from: base + start, byteCount: unread)
            base.deallocate()
            base = replacement
            capacity = larger
        } else if start > 0 {
            base.copyMemory(from: base + start, byteCount: unread)  // memmove: the ranges may overlap
        }
        start = 0
        end = unread
        return UnsafeMutableRawBufferPointer(start: base + end, count: capacity - end)
    }

    /// Says that `count` bytes were written into the free part.
    mutating func wrote(_ count: Int) {
        end += count
    }
}
