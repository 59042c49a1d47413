internal import SessionTrace

/// One contact with a Chia host, on whatever layer it was seen.
struct Contact: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case lookup
        case connection
        case request(RequestRecord)

        var order: Int {
            switch self {
            case .lookup: 0
            case .connection: 1
            case .request: 2
            }
        }
    }

    var kind: Kind
    var seen: PacketReference
    var host: HostName
    var role: HostRole
    var connection: ConnectionID?
    /// The device's address, where it is known.
    var client: IPAddress?
    var actor: ActorReading
    /// An operating system's fetch of the host's app associations.
    var isAssociation: Bool
    /// Whether it began in sight: a connection with its start, an answer with its question.
    var beganInTrace = true
    /// Of a connection: whether nothing was asked on it; nil when that could not be read.
    var isIdle: Bool?
    /// Of a connection: whether it was open when the trace ended.
    var isOpenAtEnd = false
    /// Of a connection: JA4.
    var ja4: String?
    /// How the host is known, for the sentence: `DNS query`, `SNI`, `CONNECT target`.
    var means: String
    var evidence: Evidence

    var time: Instant { seen.time }
    var request: RequestRecord? {
        if case .request(let record) = kind { return record }
        return nil
    }
}

/// Lookups, connections and requests to contacts with an actor each: a connection has its requests' actor, a spare one
/// and a lookup that of the navigation beside it.
struct ContactBook {
    let roles: HostRoles
    private(set) var contacts: [Contact] = []
    /// Whether a spare connection was counted as the browser's.
    private(set) var hasSpares = false

    /// A browser opens spare connections, and races address families, this long around a navigation (HR-04).
    static let spareWindow = Nanoseconds.seconds(2)
    /// A lookup comes this long before its connection, at most.
    static let lookupWindow = Nanoseconds.seconds(10)

    /// `taps` are the moments of taps, in order.
    init(
        roles: HostRoles, flows: [FlowSummary], lookups: [LookupRecord], requests: [RequestRecord], taps: [Instant]
    ) {
        self.roles = roles
        let flowsByID = Dictionary(flows.map { ($0.id, $0) }) { first, _ in first }
        var byFlow: [ConnectionID: [RequestRecord]] = [:]
        for request in requests { byFlow[request.id.connection, default: []].append(request) }
        let tunnels = Dictionary(flows.compactMap { flow in flow.enclosing.map { ($0, flow) } }) { first, _ in first }
        for request in requests {
            guard let host = request.host, let name = roles.chiaName(of: host) else { continue }
            var actor = request.actor
            if request.method == "CONNECT", let tunnel = tunnels[request.id.connection], tunnel.requests > 0 {
                actor = actor.knowing(inside: tunnel.actor)
            }
            if actor.actor == .unknown, let flow = flowsByID[request.id.connection] {
                actor = flow.actor.actor == .unknown ? actor : flow.actor
            }
            contacts.append(
                Contact(
                    kind: .request(request), seen: request.started, host: host, role: roles.role(of: name),
                    connection: request.id.connection, client: request.client?.address, actor: actor,
                    isAssociation: Self.isAssociation(request, actor),
                    means: request.method == "CONNECT" ? "CONNECT target" : "request",
                    evidence: request.evidence("contact with Chia")))
        }
        let browsed = requests.filter { $0.actor.actor == .browser }
        let navigations = Timeline(browsed) { ($0.host, $0.started.time) }
        // A browser opens connections ahead to other hosts of a site, too: its TLS stack tells that they are its own.
        let stacks = Timeline(browsed) { (flowsByID[$0.id.connection]?.ja4, $0.started.time) }
        for flow in flows {
            guard let host = flow.names.first(where: { roles.isChia($0) }), let name = roles.chiaName(of: host) else {
                continue
            }
            let own = byFlow[flow.id] ?? []
            var actor = flow.actor
            if actor.actor == .unknown, own.isEmpty, flow.darkness == nil || flow.lastDarkData == nil,
                let near = navigations.first(of: host, near: flow.opened.time, within: Self.spareWindow)
                    ?? flow.ja4.flatMap({ stacks.first(of: $0, near: flow.opened.time, within: Self.spareWindow) }),
                !Self.isTapped(taps, from: flow.opened.time, to: near.started.time),
                flowsByID[near.id.connection].map({ $0.ja4 == flow.ja4 || flow.ja4 == nil }) ?? true
            {
                actor = ActorReading(
                    actor: .browser, isDefinite: false,
                    reason: "a spare connection within 2 s of the browser's navigation")
                hasSpares = true
            }
            contacts.append(
                Contact(
                    kind: .connection, seen: flow.opened, host: host, role: roles.role(of: name), connection: flow.id,
                    client: flow.client.address, actor: actor,
                    isAssociation: flow.isAssociationOnly && own.allSatisfy { Self.isAssociation($0, actor) },
                    beganInTrace: flow.startSeen,
                    isIdle: !own.isEmpty || flow.requests > 0
                        ? false : flow.darkness != nil && flow.lastDarkData != nil ? nil : true,
                    isOpenAtEnd: flow.isOpenAtEnd, ja4: flow.ja4,
                    means: flow.nameSource, evidence: Self.evidence(flow, host)))
        }
        let users = Timeline<HostName, Contact>(contacts) { ($0.host, $0.time) }
        let actors = Timeline<HostName, Contact>(contacts.filter { $0.actor.actor != .unknown }) { ($0.host, $0.time) }
        for lookup in lookups where roles.isChia(lookup.name) {
            guard let name = roles.chiaName(of: lookup.name) else { continue }
            var actor = lookup.actor
            var isAssociation = false
            if actor.actor == .unknown, let owner = Self.owner(of: lookup, among: users, known: actors, taps: taps) {
                actor = owner.actor
                isAssociation = owner.isAssociation
            }
            contacts.append(
                Contact(
                    kind: .lookup, seen: lookup.seen, host: lookup.name, role: roles.role(of: name),
                    connection: lookup.connection, client: lookup.client?.address, actor: actor,
                    isAssociation: isAssociation,
                    beganInTrace: !lookup.isResponse
                        || lookups.contains {
                            !$0.isResponse && $0.name == lookup.name && $0.seen.time <= lookup.seen.time
                        },
                    means: lookup.isResponse ? "DNS answer" : "DNS query", evidence: lookup.evidence))
        }
        contacts.sort {
            ($0.seen.time, $0.seen.number, $0.kind.order, $0.host.text) < (
                $1.seen.time, $1.seen.number, $1.kind.order, $1.host.text
            )
        }
    }

    /// Whether a tap lies between two moments: what was there before it was not made for what came after. `taps` are in
    /// order.
    private static func isTapped(_ taps: [Instant], from: Instant, to: Instant) -> Bool {
        let next = taps.partitioningIndex { $0 > from }
        return next < taps.count && taps[next] <= to
    }

    /// What a lookup was made for: the next connection or request to the name (a request, when the connection was one
    /// that serves several names), or one just before it. What follows only after a further tap is not what it was made
    /// for. `known` are those of `users` whose actor is known.
    private static func owner(
        of lookup: LookupRecord, among users: Timeline<HostName, Contact>, known: Timeline<HostName, Contact>,
        taps: [Instant]
    ) -> Contact? {
        let seen = lookup.seen.time
        if let next = users.first(of: lookup.name, from: seen), next.time.nanoseconds(since: seen) <= lookupWindow.count
        {
            return isTapped(taps, from: seen, to: next.time) ? nil : next
        }
        return known.last(of: lookup.name, upTo: seen).flatMap {
            seen.nanoseconds(since: $0.time) <= lookupWindow.count ? $0 : nil
        }
    }

    /// Developer-mode fetches of app associations by the system (RULES section 9).
    private static func isAssociation(_ request: RequestRecord, _ actor: ActorReading) -> Bool {
        guard let path = request.address?.path, OSNoiseHosts.isAssociationPath(path) else { return false }
        return actor.actor == .os
    }

    private static func evidence(_ flow: FlowSummary, _ host: HostName) -> Evidence {
        var packets = [flow.opened.number]
        if let hello = flow.hello, hello.number != flow.opened.number { packets.append(hello.number) }
        return Evidence(
            label: "contact with Chia", packets: packets, span: flow.span, connection: flow.id,
            endpoints: flow.endpoints,
            subject: "connection to \(host) (\(flow.nameSource))")
    }
}

/// Things with a key, such as a host, and a time, found by both without a search through all.
private struct Timeline<Key: Hashable, Element> {
    private var all: [Key: [(time: Instant, element: Element)]] = [:]

    init(_ elements: [Element], _ place: (Element) -> (key: Key?, time: Instant)) {
        for element in elements {
            let (key, time) = place(element)
            if let key { all[key, default: []].append((time, element)) }
        }
        for key in all.keys { all[key]?.sort { $0.time < $1.time } }
    }

    /// The first one at or after an instant.
    func first(of key: Key, from instant: Instant) -> Element? {
        guard let all = all[key] else { return nil }
        let index = all.partitioningIndex { $0.time >= instant }
        return index < all.count ? all[index].element : nil
    }

    /// The last one at or before an instant.
    func last(of key: Key, upTo instant: Instant) -> Element? {
        guard let all = all[key] else { return nil }
        let index = all.partitioningIndex { $0.time > instant }
        return index > 0 ? all[index - 1].element : nil
    }

    /// The first one that is no more than `distance` before or after an instant.
    func first(of key: Key, near instant: Instant, within distance: Nanoseconds) -> Element? {
        guard let all = all[key] else { return nil }
        let earliest = instant.advanced(byNanoseconds: -distance.count)
        let index = all.partitioningIndex { $0.time >= earliest }
        guard index < all.count, all[index].time <= instant.advanced(byNanoseconds: distance.count) else { return nil }
        return all[index].element
    }
}
