internal import SessionTrace
internal import Synchronization

/// When bytes last passed over a connection. Written by its loop, read by whoever waits for it to fall silent.
final class ConnectionActivity: Sendable {
    private let nanoseconds: Atomic<Int64>

    /// A connection that began at `start`.
    init(_ start: Instant) {
        nanoseconds = Atomic(start.nanoseconds)
    }

    /// Bytes passed.
    func note(_ time: Instant) {
        nanoseconds.store(time.nanoseconds, ordering: .relaxed)
    }

    /// When bytes last passed.
    var last: Instant { Instant(nanoseconds: nanoseconds.load(ordering: .relaxed)) }
}
