internal import CJemalloc

/// Memory that was freed and that the allocator keeps.
///
/// Every thread has a heap (an arena, jemalloc(3)) and a cache of its own, so that none waits for another's.
public enum FreedMemory {
    /// How long freed pages stay with their heap, in milliseconds: the next burst of a relay takes them again, and what a crowd
    /// of connections needed goes back, wherever in the heap it lies.
    private static let delay = 50

    /// Has freed pages go back to the system soon, and not in some ten seconds. To be called once, early, by a process that
    /// runs for long and whose crowds come and go.
    public static func returnSoon() {
        // Of heaps that are to come, and of those that are there (4096: all of them).
        setDelay(delay, of: "arenas")
        setDelay(delay, of: "arena.4096")
    }

    /// Gives the calling thread a new heap, of which freed pages go back at once: for one that takes much, keeps it or not, and
    /// is in no hurry.
    public static func returnAtOnceOnThisThread() {
        var heap: UInt32 = 0
        var size = MemoryLayout.size(ofValue: heap)
        guard mallctl("arenas.create", &heap, &size, nil, 0) == 0 else { return }
        setDelay(0, of: "arena.\(heap)")
        _ = mallctl("thread.arena", nil, nil, &heap, size)
    }

    /// What fails leaves the usual delay.
    private static func setDelay(_ milliseconds: Int, of heaps: String) {
        var delay = milliseconds
        for kind in ["dirty", "muzzy"] {
            _ = mallctl("\(heaps).\(kind)_decay_ms", nil, nil, &delay, MemoryLayout.size(ofValue: delay))
        }
    }
}
