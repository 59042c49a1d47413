internal import SessionTrace

/// Answers to questions that rules ask for each of many things, worked out once, so that a rule over a large session
/// stays linear.
struct SessionIndex: Sendable {
    private var urlByAddress: [WebAddress: Int] = [:]
    private var urlByPlace: [Place: Int] = [:]
    private var urlByToken: [String: Int] = [:]
    private var neutralByAddress: [WebAddress: Int] = [:]
    private var neutralByPlace: [Place: Int] = [:]
    /// When the browser opened a handoff or neutral URL, in order of time, by the host that it asked.
    private(set) var openings: [HostName: [Instant]] = [:]
    /// Requests to Chia, by their place among them, that ask for a handoff URL, by its place.
    private(set) var requestsByURL: [Int: [Int]] = [:]
    /// Those that ask for some handoff or neutral URL, and for a neutral one, in order of time.
    private(set) var requestsForURLs: [Int] = []
    private(set) var requestsForNeutral: [Int] = []
    /// Of these, those that may be navigations of a sender who is not known.
    private(set) var unknownRequests: [Int] = []
    /// Moments of `reload` marks, in order, and of what ends their reach: a tap, and whatever lets the app act again.
    private let reloads: [Instant]
    private let reloadEnds: [Instant]
    /// Moments of those that were made by hand.
    private let handReloads: [Instant]
    /// Moments of taps that act, in order.
    private let actions: [Instant]
    /// Hosts of attempts.
    let attemptHosts: Set<HostName>
    /// Messages that are part of attempts.
    let attemptMessages: Set<ExchangeID>
    /// Exchanges that are projections.
    let projectionExchanges: Set<ExchangeID>
    /// Addresses from which the session came: those of the attempts, else of the projections.
    let deviceAddresses: Set<IPAddress>
    private let deviceFamilies: Set<Bool>
    /// Hosts of which connections stayed unread, in order of their names.
    let darkHosts: [HostName]
    /// Connections without a name that are told as a whole: what stayed unread, and what is the system's or the browser's.
    /// A hole in any other is one of its own.
    let namelessConnections: Set<ConnectionID>

    /// An address without scheme, port and query, and without a trailing slash: what variants have in common.
    private struct Place: Hashable {
        var host: HostName
        var path: Substring

        init(_ address: WebAddress) {
            host = address.host
            path = address.barePath
        }
    }

    init(
        urls: [HandoffURL], neutralURLs: [NeutralURL], attempts: [Attempt], projections: [Projection],
        nameless: [FlowSummary], dark: [HostName: DarkTraffic.Host], chiaRequests: [RequestRecord],
        marks: MarkBook.Reading
    ) {
        reloads = marks.marks.filter { $0.kind == .reload }.map(\.span.earliest).sorted()
        handReloads = marks.marks.filter { $0.kind == .reload && $0.by == .person }.map(\.span.earliest)
        reloadEnds =
            (marks.taps.map(\.span.earliest)
            + marks.marks.filter { Self.starts.contains($0.kind) }.map(\.span.earliest)).sorted()
        actions = marks.actions.map(\.span.earliest)
        attemptHosts = Set(attempts.compactMap(\.host))
        attemptMessages = Set(attempts.flatMap(\.messages).map(\.record.id))
        projectionExchanges = Set(projections.map(\.record.id))
        deviceAddresses = Set(
            attempts.isEmpty
                ? projections.compactMap { $0.record.client?.address } : attempts.compactMap(\.client))
        deviceFamilies = Set(deviceAddresses.map(\.isIPv4))
        darkHosts = dark.keys.sorted { $0.text < $1.text }
        namelessConnections = Set(nameless.filter { $0.darkness != nil || $0.isOfSystemOrBrowser }.map(\.id))
        // The first URL wins, as it would in a search from the start.
        for (index, url) in urls.enumerated() {
            if urlByToken[url.token] == nil { urlByToken[url.token] = index }
            guard let address = url.address else { continue }
            if urlByAddress[address] == nil { urlByAddress[address] = index }
            if urlByPlace[Place(address)] == nil { urlByPlace[Place(address)] = index }
        }
        for (index, url) in neutralURLs.enumerated() {
            if neutralByAddress[url.address] == nil { neutralByAddress[url.address] = index }
            if neutralByPlace[Place(url.address)] == nil { neutralByPlace[Place(url.address)] = index }
        }
        for (place, record) in chiaRequests.enumerated() {
            let url = handoffURL(askedBy: record)?.index
            let isNeutral = neutralURL(askedBy: record) != nil
            guard url != nil || isNeutral else { continue }
            if let url { requestsByURL[url, default: []].append(place) }
            if isNeutral { requestsForNeutral.append(place) }
            requestsForURLs.append(place)
            // A link preview service is a probe, whoever runs it (HR-05), and opens no page.
            if record.method == "GET", record.actor.actor == .unknown, record.previewAgent == nil {
                unknownRequests.append(place)
            }
            guard record.actor.actor == .browser, record.isNavigation, let host = record.host,
                url.map({ urls[$0].since <= record.started.time }) ?? true
            else { continue }
            openings[host, default: []].append(record.started.time)
        }
        for host in openings.keys { openings[host]?.sort() }
    }

    /// Whether an address is another device's than the one that the session is of. One device may have an address of
    /// each family.
    func isOfAnotherDevice(_ client: IPAddress) -> Bool {
        deviceFamilies.contains(client.isIPv4) && !deviceAddresses.contains(client)
    }

    /// Marks after which the app may open a page without a tap. One that was killed opens none.
    static let starts: Set<Mark.Kind> = [.launch, .foreground, .restore]

    /// Whether an instant lies after a `reload` mark, with no tap and no start of the app between.
    func isReload(at instant: Instant) -> Bool {
        let next = reloads.partitioningIndex { $0 > instant }
        guard next > 0 else { return false }
        let end = reloadEnds.partitioningIndex { $0 > reloads[next - 1] }
        return end >= reloadEnds.count || reloadEnds[end] > instant
    }

    /// Whether a `reload` mark made by hand follows so soon that it may be late.
    func mayBeReload(at instant: Instant) -> Bool {
        handReloads.contains { $0 > instant && $0.nanoseconds(since: instant) <= Tap.lateMark.count }
    }

    /// The place among the handoff URLs of the one that a request asks for, and whether exactly.
    func handoffURL(askedBy record: RequestRecord) -> (index: Int, isExact: Bool)? {
        guard let address = record.address, !urlByToken.isEmpty else { return nil }
        if let index = urlByAddress[address] { return (index, true) }
        // A token tells more than the address around it: another one is another session's URL.
        if let token = address.token { return urlByToken[token].map { ($0, false) } }
        return urlByPlace[Place(address)].map { ($0, false) }
    }

    /// The same for neutral URLs.
    func neutralURL(askedBy record: RequestRecord) -> (index: Int, isExact: Bool)? {
        guard let address = record.address, !neutralByAddress.isEmpty else { return nil }
        if let index = neutralByAddress[address] { return (index, true) }
        guard address.token == nil else { return nil }
        return neutralByPlace[Place(address)].map { ($0, false) }
    }

    /// Whether the browser opened a URL on `host` at `instant`, or within `window` after it and before a further tap.
    func hasOpening(on host: HostName, from instant: Instant, within window: Nanoseconds) -> Bool {
        guard let times = openings[host] else { return false }
        let next = times.partitioningIndex { $0 >= instant }
        guard next < times.count, times[next].nanoseconds(since: instant) <= window.count else { return false }
        let tap = actions.partitioningIndex { $0 > instant }
        return tap >= actions.count || actions[tap] > times[next]
    }
}
