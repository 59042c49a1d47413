internal import Glibc
internal import SessionTrace

/// How many files and sockets the process may have open. Each proxied connection takes two.
enum DescriptorLimit {
    /// Raises the soft limit to the hard one: shells set the soft limit for programs that use `select`. Returns what is
    /// allowed now; nil when the kernel does not say.
    @discardableResult static func raise() -> UInt64? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        guard limit.rlim_cur < limit.rlim_max else { return UInt64(limit.rlim_cur) }
        let before = limit.rlim_cur
        limit.rlim_cur = limit.rlim_max
        return setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
            ? UInt64(limit.rlim_max) : UInt64(before)
    }
}

/// Which shortages of descriptors are worth a word: the first of an episode, however often it is met again.
struct ShortageEpisode {
    /// Without a shortage for this long, an episode is over.
    static let silenceNanoseconds: Int64 = 30 * 1_000_000_000

    private var latest: Instant?

    /// Takes note of a shortage; true when it is to be told.
    mutating func begins(at now: Instant) -> Bool {
        defer { latest = now }
        guard let latest else { return true }
        return now.nanoseconds(since: latest) > Self.silenceNanoseconds
    }
}
