internal import SessionTrace

/// What the partner's backend said of each item, and when the device had it: the decision that governs an item at a
/// moment is the last one delivered before it.
///
/// Enters: the projection responses of a trace. Leaves: sightings by item, in order of delivery. A 304 says again what
/// the last answer of its address said. An item that a whole answer no longer holds is hidden.
struct ProjectionBook: Sendable {
    /// What one answer said of one item.
    enum Word: Hashable, Sendable {
        case decision(Projection.Decision)
        /// The answer came whole and holds no decision for it: it is hidden.
        case hidden
        /// The answer could not be read.
        case opaque
    }

    /// One answer about one item.
    struct Sighting: Hashable, Sendable {
        /// The place of the response among the session's projections.
        var place: Int
        /// Nil when nothing names the item: it may be any.
        var item: String?
        var word: Word
        var requested: Instant
        var delivered: Instant
        var client: IPAddress?
        /// What caches on the way said of its age.
        var caching: ResponseCaching
        /// Whether it answers a conditional request: the partner was asked, and said that nothing had changed.
        var isRevalidation: Bool

        /// The decision, if it is one that could be read.
        var decision: Projection.Decision? { if case .decision(let decision) = word { decision } else { nil } }
        /// How long the device waited for it, at most `raceLimit`: what is seen at the capture within this time of the
        /// delivery may have left the device before it.
        var roundTrip: Nanoseconds {
            min(Nanoseconds(max(0, delivered.nanoseconds(since: requested))), ProjectionBook.raceLimit)
        }
        /// Whether it offers the session action.
        var offersSharing: Bool { decision?.mode == "share_or_neutral" }
    }

    /// What governs an item at a moment.
    struct Reading: Hashable, Sendable {
        var current: Sighting
        /// What governed before, when `current` was delivered so shortly before the moment that the device may not have
        /// had it; nil when it certainly had it, or there was nothing before.
        var rival: Sighting?
    }

    /// The longest time for which a delivery and what follows it may have crossed on the way.
    static let raceLimit = Nanoseconds.seconds(1)

    private var byItem: [String: [Sighting]] = [:]
    private var anonymous: [Sighting] = []
    /// Both, in order of delivery.
    private var all: [Sighting] = []
    /// Whether more was said than is kept.
    private(set) var isFull = false

    /// Items that some answer named.
    var items: Set<String> { Set(byItem.keys) }
    var isEmpty: Bool { byItem.isEmpty && anonymous.isEmpty }

    /// `limit`: sightings kept.
    init(_ projections: [Projection], limit: Int) {
        /// The items of the last answer at an address, and what it said.
        var last: [WebAddress: [Sighting]] = [:]
        for (place, projection) in projections.enumerated().sorted(by: Self.isEarlier) where projection.isWhole {
            var said = Self.sightings(of: projection, at: place)
            if let address = projection.record.address {
                if projection.record.status == 304, let known = last[address] {
                    said = known.map { Self.again($0, projection, place) }
                } else if projection.isReadable {
                    let named = Set(said.map(\.item))
                    for known in last[address] ?? [] where !named.contains(known.item) && known.word != .hidden {
                        var gone = Self.again(known, projection, place)
                        gone.word = .hidden
                        gone.isRevalidation = false
                        said.append(gone)
                    }
                }
                last[address] = said
            }
            for sighting in said {
                guard all.count < limit else {
                    isFull = true
                    break
                }
                all.append(sighting)
                if let item = sighting.item {
                    byItem[item, default: []].append(sighting)
                } else {
                    anonymous.append(sighting)
                }
            }
        }
    }

    private static func isEarlier(
        _ left: (offset: Int, element: Projection), _ right: (offset: Int, element: Projection)
    )
        -> Bool
    {
        (left.element.record.ended.time, left.offset) < (right.element.record.ended.time, right.offset)
    }

    private static func again(_ known: Sighting, _ projection: Projection, _ place: Int) -> Sighting {
        var sighting = known
        sighting.place = place
        sighting.requested = projection.record.started.time
        sighting.delivered = projection.record.ended.time
        sighting.client = projection.record.client?.address
        sighting.caching = projection.caching
        sighting.isRevalidation = true
        return sighting
    }

    private static func sightings(of projection: Projection, at place: Int) -> [Sighting] {
        func sighting(_ item: String?, _ word: Word) -> Sighting {
            Sighting(
                place: place, item: item, word: word, requested: projection.record.started.time,
                delivered: projection.record.ended.time, client: projection.record.client?.address,
                caching: projection.caching, isRevalidation: projection.record.status == 304)
        }
        guard let only = projection.decisions.first else {
            let isHidden = projection.isReadable && projection.record.status != 304
            return projection.matchesTemplate ? [sighting(projection.item, isHidden ? .hidden : .opaque)] : []
        }
        // The path names the item of a single decision as well as the body does; which name the app sends is its own.
        guard projection.decisions.count == 1, let own = projection.item, let other = only.item, own != other else {
            return projection.decisions.map { sighting($0.item ?? projection.item, .decision($0)) }
        }
        return [sighting(own, .decision(only)), sighting(other, .decision(only))]
    }

    /// What was said of an item to a device and delivered after one instant, and not after another, in order; of the only
    /// item there is when none is named.
    func sightings(of item: String?, to client: IPAddress?, after: Instant, until: Instant) -> [Sighting] {
        let own = (item ?? onlyItem).flatMap { byItem[$0] } ?? []
        let said =
            Self.window(own, after, until, client)
            + Self.window(anonymous, after, until, client)
        return said.sorted { ($0.delivered, $0.place) < ($1.delivered, $1.place) }
    }

    /// The same of whatever item.
    func sightings(to client: IPAddress?, after: Instant, until: Instant) -> [Sighting] {
        Self.window(all, after, until, client)
    }

    /// The last thing that was said to a device of whatever item until an instant.
    func last(to client: IPAddress?, until: Instant) -> Sighting? { Self.newest(1, of: all, until, client).last }

    /// What governs an item at an instant, as seen where the capture was made; nil when nothing had been delivered.
    func governing(_ item: String?, at instant: Instant, to client: IPAddress?) -> Reading? {
        let own = (item ?? onlyItem).flatMap { byItem[$0] } ?? []
        let said =
            (Self.newest(2, of: own, instant, client) + Self.newest(2, of: anonymous, instant, client)).sorted {
                ($0.delivered, $0.place) < ($1.delivered, $1.place)
            }
        guard let current = said.last else { return nil }
        guard said.count > 1, instant.nanoseconds(since: current.delivered) < current.roundTrip.count else {
            return Reading(current: current, rival: nil)
        }
        return Reading(current: current, rival: said[said.count - 2])
    }

    private static func window(_ said: [Sighting], _ after: Instant, _ until: Instant, _ client: IPAddress?)
        -> [Sighting]
    {
        let start = said.partitioningIndex { $0.delivered > after }
        return said[start...].prefix { $0.delivered <= until }.filter { isOneDevice($0.client, client) }
    }

    /// The newest things said to a device until an instant, at most `count`, in order.
    private static func newest(_ count: Int, of said: [Sighting], _ instant: Instant, _ client: IPAddress?)
        -> [Sighting]
    {
        let end = said.partitioningIndex { $0.delivered > instant }
        return Array(said[..<end].reversed().lazy.filter { isOneDevice($0.client, client) }.prefix(count)).reversed()
    }

    /// Whether something was said of an item, or of one that nothing names.
    func knows(_ item: String) -> Bool { byItem[item] != nil || !anonymous.isEmpty }

    private var onlyItem: String? { byItem.count == 1 ? byItem.keys.first : nil }

    /// One address, or addresses of two families, which one device has; an unknown one may be any.
    static func isOneDevice(_ one: IPAddress?, _ other: IPAddress?) -> Bool {
        guard let one, let other else { return true }
        return one == other || one.isIPv4 != other.isIPv4
    }
}

extension Projection {
    /// Whether an answer about the item came to its end: one with content, a 304, or the word that there is none.
    var isWhole: Bool { isComplete || (record.end == .complete && (record.status == 404 || record.status == 410)) }
}
