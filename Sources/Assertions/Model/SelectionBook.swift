internal import SessionTrace

/// Where catalog ids and disclosure versions were sent, one entry for each host, place and sender: an app names its items in
/// most of its requests.
struct SelectionBook: Hashable, Sendable {
    /// What was found of one needle at one place.
    struct Entry: Hashable, Sendable {
        /// The hit that is told.
        var hit: LeakHit
        /// The first messages that held it, and the last one.
        var leaks: [LeakRecord]
        /// From the first to the last message that is not kept.
        var omitted: TimeSpan?
    }

    private struct Place: Hashable, Sendable {
        var host: HostName?
        var actor: Actor
        var pathTemplate: String
        var field: String
        var needle: Int
        var isInURL: Bool
        /// Tens of seconds, so that what came in the flow is not hidden by what came before it.
        var time: Int64
    }

    private var entries: [Place: Entry] = [:]
    private(set) var isFull = false

    /// Places kept.
    static let limit = 4_000
    /// Messages kept of one place.
    static let leakLimit = 4

    mutating func add(_ leak: LeakRecord, _ hit: LeakHit) {
        let place = Place(
            host: leak.host, actor: leak.actor.actor, pathTemplate: leak.request?.pathTemplate ?? "",
            field: hit.fieldTemplate, needle: hit.needle?.number ?? 0, isInURL: hit.isInURL,
            time: leak.started.nanoseconds / 10_000_000_000)
        var kept = leak
        kept.hits = [hit]
        if var entry = entries[place] {
            guard !entry.leaks.contains(where: { $0.carrier == leak.carrier }) else { return }
            entry.leaks.insert(kept, at: entry.leaks.partitioningIndex { $0.started > leak.started })
            if entry.leaks.count > Self.leakLimit {
                let omitted = entry.leaks.remove(at: Self.leakLimit - 1).started
                entry.omitted = TimeSpan(
                    min(entry.omitted?.earliest ?? omitted, omitted), max(entry.omitted?.latest ?? omitted, omitted))
            }
            entries[place] = entry
        } else if entries.count < Self.limit {
            entries[place] = Entry(hit: hit, leaks: [kept])
        } else {
            isFull = true
        }
    }

    /// The entries in order of time.
    var all: [Entry] {
        entries.values.sorted {
            ($0.leaks[0].started, $0.hit.place, $0.hit.needle?.number ?? 0)
                < ($1.leaks[0].started, $1.hit.place, $1.hit.needle?.number ?? 0)
        }
    }
}
