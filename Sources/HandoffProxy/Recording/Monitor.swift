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
            var time = timespec(
                tv_sec: Int(clamping: deadline / 1_000_000_000), tv_nsec: Int(clamping: deadline % 1_000_000_000))
            if pthread_cond_timedwait(work, mutex, &time) == ETIMEDOUT { break }
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

    /// The monotonic clock, in nanoseconds.
    static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(clamping: time.tv_sec) &* 1_000_000_000 &+ UInt64(clamping: time.tv_nsec)
    }
}
