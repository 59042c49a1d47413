internal import CLinuxSockets
internal import Glibc
public import SessionTrace

/// The machine's clock.
public enum WallClock {
    /// The present instant (CLOCK_REALTIME), in nanoseconds.
    public static func now() -> Instant {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
    }
}
