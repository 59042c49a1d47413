internal import EventLoop

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A thread for long synchronous work beside an event loop, of low priority and with a heap of its own: it takes what the
/// relay leaves, and makes it wait for no lock.
enum BackgroundThread {
    /// What nice(1) would be given.
    private static let niceness: Int32 = 10

    /// What the thread runs, in a box that crosses the C boundary.
    private final class Work: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }

    /// Runs `work` on a new thread; false when the system has none to give.
    static func start(_ work: @escaping @Sendable () -> Void) -> Bool {
        // A detached thread needs no handle; the box is retained here and released by the thread, or below without one.
        let box = Unmanaged.passRetained(Work(work))
        let handle = UnsafeMutablePointer<pthread_t>.allocate(capacity: 1)
        defer { handle.deallocate() }
        let status = pthread_create(
            handle, nil,
            { argument in
                guard let argument else { return nil }
                let work = Unmanaged<Work>.fromOpaque(argument).takeRetainedValue()
                pthread_detach(pthread_self())
                // On Linux this is the thread's alone; elsewhere a lower priority is refused or shared, and harmless.
                _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, BackgroundThread.niceness)
                FreedMemory.useOwnHeapOnThisThread()
                work.run()
                return nil
            }, box.toOpaque())
        if status != 0 { box.release() }
        return status == 0
    }
}
