internal import CLinuxSockets

/// Memory that was freed and that the allocator keeps.
public enum FreedMemory {
    /// Gives it back to the system, soon and on another thread: the allocator does so by itself only at the end of each of its
    /// heaps, so that what a crowd of connections needed would stay with the process.
    public static func giveBack() {
        // It takes milliseconds, and a loop has others to serve.
        Task.detached(priority: .background) { handoff_give_back_memory() }
    }
}
