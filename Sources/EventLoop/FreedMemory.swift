internal import CLinuxSockets

/// Memory that was freed and that the allocator keeps.
public enum FreedMemory {
    /// Gives it back to the system, soon and on another thread: the allocator does so by itself only at the end of each of its
    /// heaps, so that what a crowd of connections needed would stay with the process.
    public static func giveBack() {
        // It takes milliseconds, and a loop has others to serve.
        Task.detached(priority: .background) { handoff_give_back_memory() }
    }

    /// Pieces of at least this many bytes are given back as soon as they are freed (`returnLargePieces`).
    static let largePiece = 256 << 10

    /// Has large pieces (message bodies, batches of a recording) given back as soon as they are freed. To be called once, by a
    /// process that runs for long: the allocator then no longer keeps the largest that there ever were.
    ///
    /// Fewer heaps (`M_ARENA_MAX`) would save 5 to 10 MB more, but the judge has a low priority: with the heap's lock in its hands
    /// it makes the loops wait.
    public static func returnLargePieces() {
        handoff_return_large_memory(largePiece)
    }
}
