internal import Glibc

/// A lock with two conditions, "work" and "room": what a bounded queue between threads needs.
///
/// The state is reached only between lock and unlock, and never while waiting.
final class Monitor<State>: @unchecked Sendable {
    // `@unchecked`: every access to `state` happens with `mutex` held; the pointers themselves never change.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let work: UnsafeMutablePointer<pthread_cond_t>
    private let room: UnsafeMutablePointer<pthread_cond_t>
    private let state: UnsafeMutablePointer<State>

    init(_ initial: sending State) {
        mutex = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        // Deadlines must not move when somebody sets the clock.
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        work = .allocate(capacity: 1)
        pthread_cond_init(work, &attributes)
        room = .allocate(capacity: 1)
        pthread_cond_init(room, &attributes)
        pthread_condattr_destroy(&attributes)
        state = .allocate(capacity: 1)
        state.initialize(to: initial)
    }

    deinit {
        pthread_cond_destroy(work)
        pthread_cond_destroy(room)
        pthread_mutex_destroy(mutex)
        state.deinitialize(count: 1)
        state.deallocate()
        work.deallocate()
        room.deallocate()
        mutex.deallocate()
    }

    /// Runs `body` with the state to itself.
    func withLock<Result>(_ body: (inout State) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body(&state.pointee)
    }

    /// Waits for room until `isReady`, then runs `body`.
    func whenRoom<Result>(_ isReady: (borrowing State) -> Bool, _ body: (inout State) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while !isReady(state.pointee) { pthread_cond_wait(room, mutex) }
        return body(&state.pointee)
    }

    /// Waits for work until `isReady` or, with a `deadline` (nanoseconds of the monotonic clock), until then; runs
    /// `body` either way.
    func whenWork<Result>(
        by deadline: UInt64? = nil, _ isReady: (borrowing State) -> Bool, _ body: (inout State) -> Result
    ) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while !isReady(state.pointee) {
            guard let deadline else {
                pthread_cond_wait(work, mutex)
                continue
            }
            if isOver(deadline) { break }
        }
        return body(&state.pointee)
    }

    /// Wakes who waits for work.
    func signalWork() {
        pthread_cond_broadcast(work)
    }

    /// Wakes everybody who waits for room.
    func signalRoom() {
        pthread_cond_broadcast(room)
    }

    /// Waits for work until `deadline` at most; true when it has passed.
    private func isOver(_ deadline: UInt64) -> Bool {
        var time = Seconds(
            whole: Int(clamping: deadline / 1_000_000_000), nanoseconds: Int(clamping: deadline % 1_000_000_000))
        return time.withPointer { pthread_cond_timedwait(work, mutex, $0) } == ETIMEDOUT
    }

    /// The monotonic clock, in nanoseconds.
    static func now() -> UInt64 {
        var time = Seconds(whole: 0, nanoseconds: 0)
        time.withPointer { _ = clock_gettime(CLOCK_MONOTONIC, $0) }
        return UInt64(clamping: time.whole) &* 1_000_000_000 &+ UInt64(clamping: time.nanoseconds)
    }
}

/// A `timespec` by its two words: the members of the C structure belong, for the compiler, to whichever of the imported
/// C libraries is the first to include its header.
private struct Seconds {
    var whole: Int
    var nanoseconds: Int

    mutating func withPointer<Result>(_ body: (UnsafeMutablePointer<timespec>) -> Result) -> Result {
        // Same layout on every 64-bit Linux: two signed words.
        withUnsafeMutablePointer(to: &self) {
            $0.withMemoryRebound(to: timespec.self, capacity: 1, body)
        }
    }
}
