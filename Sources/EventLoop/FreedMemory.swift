internal import CJemalloc

/// Memory that was freed and that the allocator keeps: in heaps (arenas, jemalloc(3)), of which few threads share one.
public enum FreedMemory {
    /// How long freed pages stay with their heap, in milliseconds: the next burst of a relay takes them again, and what a crowd
    /// of connections needed goes back, wherever in the heap it lies.
    static let delay = 50

    /// Has freed pages go back to the system soon, and not in some ten seconds; also of heaps that nobody touches meanwhile. To
    /// be called once, early, by a process that runs for long and whose crowds come and go.
    public static func returnSoon() {
        var heaps: UInt32 = 0
        var size = MemoryLayout.size(ofValue: heaps)
        guard mallctl("arenas.narenas", &heaps, &size, nil, 0) == 0 else { return }
        // Of heaps that are to come, and of those that are there; what fails is one that was never made.
        setDelay(delay, of: "arenas")
        for heap in 0..<heaps { setDelay(delay, of: "arena.\(heap)") }
        // A heap looks at the time only while it is used: a thread of the allocator's looks at those that rest.
        var isOn = true
        _ = mallctl("background_thread", nil, nil, &isOn, MemoryLayout.size(ofValue: isOn))
    }

    /// Gives the calling thread a new heap, which stays for as long as the process: for a thread of low priority, which would
    /// make others wait with the heap's lock in its hands.
    public static func useOwnHeapOnThisThread() {
        var heap: UInt32 = 0
        var size = MemoryLayout.size(ofValue: heap)
        guard mallctl("arenas.create", &heap, &size, nil, 0) == 0 else { return }
        _ = mallctl("thread.arena", nil, nil, &heap, size)
    }

    /// Pages that were used and are free ("dirty") go back after so long.
    private static func setDelay(_ milliseconds: Int, of heaps: String) {
        var delay = milliseconds
        _ = mallctl("\(heaps).dirty_decay_ms", nil, nil, &delay, MemoryLayout.size(ofValue: delay))
    }

    /// The delay of a heap, or of those to come ("arenas"), in milliseconds; nil when there is no such heap.
    static func delay(of heaps: String) -> Int? {
        var delay = 0
        var size = MemoryLayout.size(ofValue: delay)
        return mallctl("\(heaps).dirty_decay_ms", &delay, &size, nil, 0) == 0 ? delay : nil
    }
}
