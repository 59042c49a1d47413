internal import SessionTrace
internal import Synchronization

/// Which clients have refused our leaf for a host and are let through untouched for a while.
///
/// The key is the client's address, the host's name and the client's JA4: another app on the same phone, or the same app
/// asking another host, is still read. One table for all connections of a run.
final class PassthroughTable: Sendable {
    /// How long an entry lasts, in nanoseconds: 10 minutes.
    static let lifetimeNanoseconds: Int64 = 600 * 1_000_000_000
    /// Most entries; the one that ends first goes when another is added.
    static let capacity = 4_096

    /// Who is let through to which host.
    struct Key: Hashable, Sendable {
        var client: IPAddress
        var name: HostName
        var ja4: String
    }

    private let entries = Mutex<[Key: Instant]>([:])

    /// An empty table.
    init() {}

    /// Entries, ended ones included that nobody asked for since.
    var count: Int { entries.withLock(\.count) }

    /// Lets `key` through from `now` on. Returns until when.
    @discardableResult func add(_ key: Key, at now: Instant) -> Instant {
        let until = now.advanced(byNanoseconds: Self.lifetimeNanoseconds)
        entries.withLock { entries in
            if entries.count >= Self.capacity, entries[key] == nil {
                entries = entries.filter { $0.value > now }
                if entries.count >= Self.capacity, let first = entries.min(by: { $0.value < $1.value }) {
                    entries[first.key] = nil
                }
            }
            entries[key] = until
        }
        return until
    }

    /// Until when `key` is let through; nil when it is not.
    func expiry(of key: Key, at now: Instant) -> Instant? {
        entries.withLock { entries in
            guard let until = entries[key] else { return nil }
            if until > now { return until }
            entries[key] = nil
            return nil
        }
    }
}
