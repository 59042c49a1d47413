internal import SessionTrace

/// Takes events as they come and keeps only what some rule can need: attempts with their bodies, contacts with Chia,
/// projections, leaks, marks, and sums of the rest. Each table has a limit; what it could not take is a blind spot.
///
/// Nothing is decided here that a later event could change: roles, bursts and verdicts are made in `finish`.
struct SessionModel: Sendable {
    let policy: Policy
    let limits: ModelLimits
    let redactor: Redactor
    let roles: HostRoles
    var scanner: LeakScanner
    var agents = UserAgent()

    var flows = OpenFlows()
    /// Connections that have ended, in order; they wait a little for late words about them.
    var ended: [ConnectionID] = []
    var endedHead = 0

    var names: NameTable
    var marks: MarkBook
    var dark: DarkTraffic

    var requests: [SessionRequest] = []
    var requestIndex: [ExchangeID: Int] = [:]
    var requestBytes = 0
    var deliveries: [ExchangeID: Delivery] = [:]
    var projections: [Projection] = []
    /// Requests to Chia hosts, and to the hosts of neutral addresses.
    var chiaRequests: [RequestRecord] = []
    var chiaFlows: [FlowSummary] = []
    var lookups: [LookupRecord] = []
    var nameless: [FlowSummary] = []
    var tallies: [HostName: HostTally] = [:]
    var leaks: [ExchangeID: LeakRecord] = [:]
    var otherLeaks: [LeakRecord] = []
    var otherLeakPlaces: [LeakRecord.Carrier: Int] = [:]
    var scanGaps: [ScanGapRecord] = []
    var knownGaps: Set<ScanGapRecord> = []
    var statusLike: [RequestRecord] = []
    var blindSpots: [BlindRecord] = []
    var backlog = Backlog()
    /// Answers and messages of servers, for handoff URLs that become known later.
    var answerBacklog = Backlog()
    /// What stands in the app's messages that must not.
    var contents = ContentLog()
    let forbiddenKeys: ForbiddenKeys
    let secretSearch: SecretSearch
    /// Domains of which an answer may not hold certain URLs.
    let assetDomains: [String]
    var requestLog: RequestLog
    /// WebSocket messages of the app's, each as a request.
    var messageLog: RequestLog
    var vendors = VendorLog()
    var returnLinks: [ReturnLink] = []
    /// Whether the device asked a proxy for something.
    var usesProxy = false
    var needles = NeedleBook()
    var splits = SplitWatch()
    var selections = SelectionBook()
    var knowsSelection = false
    /// Items that were shown, and are not looked for.
    var unsearchedItems: Set<String> = []
    /// When the call to action was tapped last.
    var lastCallToAction: Instant?
    /// Whether there were more neutral URLs than are looked for.
    var hasMoreNeutralURLs = false
    /// Whether a handoff URL or token is known, of which pieces may be sent.
    var knowsToken = false
    /// What other traces are searched for too, and which of it was found here, by the needles' numbers.
    let foreign: ForeignTokens?
    var foreignSeen: Set<Int> = []
    /// Tokens that this trace itself showed.
    var tokens: [String] = []
    var redirects = Redirects()
    /// The same of views inside the app.
    var viewRedirects = Redirects()
    /// What the rules about openings need beside the requests to Chia.
    var browsing = Browsing()
    /// Which TLS stacks came with which User-Agents.
    var stacks = StackBook()
    /// Activities that were started, in the order in which they were told.
    var activities: [ActivityStart] = []
    /// Requests that opened a WebSocket, for the actor of its messages.
    var upgrades: [ExchangeID: Upgrade] = [:]
    /// Hosts of handoff and neutral URLs: requests to them are kept, whatever the policy calls them.
    var openedHosts: Set<HostName> = []

    /// Faults that the proxy injected, or could not inject.
    var proxyFaults: [ProxyEvent] = []
    /// Connections that failed between the proxy and a host, or at the proxy's certificate.
    var proxyFailures: [ProxyFailure] = []
    /// Hosts that were passed through as services of the phone's own system.
    var systemHosts: Set<HostName> = []
    /// Connections at which the client did not take the proxy's certificate, until the end tells whether it ever did.
    var refusals: [FlowSummary] = []
    /// When a client last used a connection to a host with the proxy's certificate.
    var acceptances: [LeafTaker: Instant] = [:]
    /// The places among them of each connection's that is still open.
    var failuresOfFlows: [ConnectionID: [Int]] = [:]
    /// Requests of which only the heads were recorded, and whose unseen part would have to be searched.
    var withheldRequests: [WithheldRequest] = []
    /// Connections withheld by policy.
    var withheldConnections = 0
    var appRequests = 0
    var browserRequests = 0
    /// The first connection that was open before the trace began.
    var midway: Instant?
    var summary = TraceSummary()
    var hasEnded = false
    var firstTime: Instant?
    /// Tables that were full, with the number of things that they could not take.
    var givenUp: [String: Int] = [:]
    /// When the first unread connection was opened whose ClientHello may hide another name than it shows.
    var hiddenName: Instant?

    /// Connections that wait for late words.
    static let lingering = 1_024

    init(policy: Policy, options: JudgeOptions) {
        self.policy = policy
        limits = options.limits
        redactor = Redactor(installationKey: options.installationKey)
        roles = HostRoles(policy.hosts)
        foreign = options.foreign
        scanner =
            options.foreign?.scanner
            ?? LeakScanner(redactor: redactor, digestKeys: policy.forbidden.digestKeys.map { Secret($0) })
        if let foreign = options.foreign {
            needles = foreign.needles
            knowsToken = !foreign.tokens.isEmpty
        }
        names = NameTable(limit: options.limits.names)
        marks = MarkBook(limit: options.limits.marks)
        dark = DarkTraffic(limit: options.limits.darkHosts)
        requestLog = RequestLog(limit: options.limits.loggedRequests)
        messageLog = RequestLog(limit: options.limits.loggedMessages)
        backlog.limit = options.limits.backlogBytes
        answerBacklog.limit = options.limits.backlogBytes
        forbiddenKeys = ForbiddenKeys(policy.forbidden)
        secretSearch = SecretSearch(policy.forbidden)
        assetDomains = Set((policy.hosts.chia + policy.hosts.chiaAssets).map(\.domain.text)).sorted()
        for token in options.foreignTokens {
            learn(.token, String(decoding: token.bytes, as: UTF8.self), since: nil, neededSince: nil, isNested: false)
        }
    }

    mutating func receive(_ event: SessionEvent) {
        switch event {
        case .connectionOpened(let connection):
            open(connection)
        case .processIdentified(let id, let process):
            identify(id, process)
        case .clientHello(let hello):
            receive(hello)
        case .nameLookup(let lookup):
            receive(lookup)
        case .requestStarted:
            break
        case .exchange(let exchange):
            receive(exchange)
        case .delivery(let id, let delivery, _):
            // Only attempts are asked about, and the exchange comes first.
            if requestIndex[id] != nil { deliveries[id] = delivery }
        case .message(let message):
            receive(message)
        case .mark(let mark):
            marks.receive(mark)
            learnCanaries(of: mark)
            if mark.kind == .tap, mark.target == .cta { lastCallToAction = mark.span.earliest }
        case .proxyEvent(let event):
            receive(event)
        case .activityStarted(let start):
            if activities.count < limits.activities { activities.append(start) } else { giveUp("activity starts") }
        case .secureSession(let session):
            flows[session.connection]?.session = session
        case .blindSpot(let spot):
            receive(spot)
        case .connectionClosed(let end):
            close(end)
        case .traceEnded(let summary):
            self.summary = summary
            hasEnded = true
        }
    }

    /// Counts something that a full table could not take.
    mutating func giveUp(_ table: String) {
        givenUp[table, default: 0] += 1
    }

    /// Remembers the host of an address that the browser is to open.
    mutating func keep(openedHost host: HostName) {
        guard !openedHosts.contains(host) else { return }
        if openedHosts.count < 100 { openedHosts.insert(host) } else { giveUp("hosts of handoff and neutral URLs") }
    }

    // MARK: connections

    private mutating func open(_ connection: Connection) {
        if midway == nil, connection.transport == .tcp, !connection.startSeen { midway = connection.opened.time }
        guard flows.count < limits.openConnections else { return giveUp("connections") }
        flows[connection.id] = Flow(connection)
    }

    private mutating func identify(_ id: ConnectionID, _ process: ProcessIdentity) {
        guard var flow = flows[id] else { return }
        flow.connection.process = process
        if let reading = ActorReading(process: process) { flow.actor = reading.combined(with: flow.actor) }
        flows[id] = flow
    }

    private mutating func receive(_ hello: ClientHello) {
        guard var flow = flows[hello.connection] else { return }
        if flow.serverName == nil { flow.serverName = hello.serverName }
        if flow.ja4 == nil { flow.ja4 = hello.ja4 }
        if flow.hello == nil { flow.hello = hello.seen }
        if hello.hasEncryptedClientHello { flow.mayHideName = true }
        flows[hello.connection] = flow
        search(hello, flow)
    }

    private mutating func close(_ end: ConnectionEnd) {
        guard flows[end.id] != nil else { return }
        flows[end.id]?.end = end
        if let finished = end.clientFinished {
            for index in requests.indices where requests[index].record.id.connection == end.id {
                requests[index].clientFinished = finished.time
            }
        }
        ended.append(end.id)
        guard ended.count - endedHead > Self.lingering else { return }
        retire(ended[endedHead])
        endedHead += 1
        if endedHead > Self.lingering {
            ended.removeFirst(endedHead)
            endedHead = 0
        }
    }

    private mutating func receive(_ spot: BlindSpot) {
        if let id = spot.connection, var flow = flows[id] {
            if Flow.words.contains(spot.reason) { flow.word = spot.reason }
            if flow.blindSpots.count < Flow.blindSpotLimit {
                flow.blindSpots.append(spot)
            } else {
                // The last one stands for all that follow.
                flow.blindSpots[Flow.blindSpotLimit - 1].take(in: spot)
            }
            flows[id] = flow
        } else if blindSpots.count < limits.blindSpots {
            blindSpots.append(BlindRecord(spot: spot, names: [], server: nil, client: nil))
        } else {
            giveUp("blind spots")
        }
    }

    // MARK: names

    private mutating func receive(_ lookup: NameLookup) {
        names.learn(lookup)
        guard !lookup.isMulticast else { return }
        if !lookup.isResponse {
            search(lookup)
        }
        guard let name = lookup.name else { return }
        keepVendorLookup(lookup, evidence(lookup))
        // Which names are cloaked is known once all answers are; a name without an alias can't be.
        let isChiaName = isChia(name)
        let hasAlias = lookup.isResponse && lookup.answers.contains { if case .alias = $0.data { true } else { false } }
        guard isChiaName || hasAlias else { return }
        if hasAlias, !isChiaName, !chain(of: name).contains(where: { isChia(ownName: $0) }) { return }
        guard lookups.count < limits.contacts else { return giveUp("lookups") }
        lookups.append(
            LookupRecord(
                name: name, isResponse: lookup.isResponse, seen: lookup.seen, connection: lookup.connection,
                client: flows[lookup.connection]?.connection.client,
                actor: ActorReading(process: lookup.process ?? flows[lookup.connection]?.connection.process)
                    ?? .nothing,
                evidence: evidence(lookup)))
    }

    func evidence(_ lookup: NameLookup) -> Evidence {
        Evidence(
            label: lookup.isResponse ? "DNS answer" : "DNS query", packets: [lookup.seen.number],
            span: TimeSpan(lookup.seen.time), connection: lookup.connection,
            endpoints: flows[lookup.connection].map { "\($0.connection.client) → \($0.connection.server)" },
            subject: "\(lookup.isResponse ? "answer" : "query") for \(redactor.host(lookup.name?.text ?? "?"))")
    }

    /// Whether a name is Chia's by the policy, or by the aliases known so far.
    func isChia(_ host: HostName) -> Bool {
        isChia(ownName: host) || (names.aliases[host] != nil && chain(of: host).contains { isChia(ownName: $0) })
    }

    private func isChia(ownName host: HostName) -> Bool {
        policy.hosts.chia.covers(host) || policy.hosts.chiaAPI.covers(host) || policy.hosts.chiaAssets.covers(host)
    }

    private func chain(of host: HostName) -> [HostName] {
        var chain = [host]
        var next = 0
        while next < chain.count, chain.count < HostRoles.chainLimit {
            for alias in names.aliases[chain[next]] ?? [] where !chain.contains(alias) { chain.append(alias) }
            next += 1
        }
        return chain
    }
}

/// A lookup of a Chia name.
struct LookupRecord: Hashable, Sendable {
    var name: HostName
    var isResponse: Bool
    var seen: PacketReference
    var connection: ConnectionID
    var client: Endpoint?
    var actor: ActorReading
    var evidence: Evidence
}

/// A blind spot with the host that it concerns.
struct BlindRecord: Hashable, Sendable {
    var spot: BlindSpot
    var names: [HostName]
    var server: Endpoint?
    var client: Endpoint?
}

/// Something that the scanner could not look into.
struct ScanGapRecord: Hashable, Sendable {
    var gap: ScanGap
    var host: HostName?
    var actor: ActorReading
    var started: Instant
    var evidence: Evidence
}

/// How many connections went to one host, and how they fared.
struct HostTally: Hashable, Sendable {
    var connections = 0
    var secure = 0
    var decrypted = 0
    var dark = 0
    /// The first ones, whole.
    var samples: [FlowSummary] = []

    /// Connections kept whole for one host.
    static let sampleLimit = 2
}
