internal import CJemalloc

/// Memory that was freed and that the allocator keeps.
public enum FreedMemory {
    /// Has freed pages go back to the system at once, by all heaps and in place, wherever in them they lie. To be called once,
    /// early, by a process that runs for long and whose crowds come and go; else they stay for some ten seconds.
    ///
    /// Every thread has a heap and a cache of its own, so that none waits for another's.
    public static func returnAtOnce() {
        for kind in ["dirty", "muzzy"] {
            var delay = 0
            let size = MemoryLayout.size(ofValue: delay)
            // Heaps that are to come, and those that are there (4096: all of them). What fails leaves the usual delay.
            _ = mallctl("arenas.\(kind)_decay_ms", nil, nil, &delay, size)
            _ = mallctl("arena.4096.\(kind)_decay_ms", nil, nil, &delay, size)
        }
    }
}
