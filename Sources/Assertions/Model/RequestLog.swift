internal import SessionTrace

/// Every request of a session but CONNECT, in order of time once the session is finished; the first ones up to a limit,
/// and how many more there were.
struct RequestLog: Sendable {
    private(set) var requests = ChunkedArray<LoggedRequest>()
    /// How many of the first are in order of time.
    private var sortedCount = 0
    /// Requests that were too many to be kept.
    private(set) var uncounted = 0
    /// When the first of these was sent.
    private(set) var uncountedSince: Instant?
    private let limit: Int
    /// What several requests have in common, each once. Of each there are at most as many as there are requests.
    private var circumstances: Set<LoggedRequest.Circumstances> = []
    private var mediaTypes: Set<String> = []
    private var keyLists: Set<[String]> = []

    init(limit: Int) {
        self.limit = limit
    }

    var isFull: Bool { requests.count >= limit }

    mutating func append(_ request: LoggedRequest) {
        requests.append(request)
    }

    /// The one that all requests with equal circumstances have.
    mutating func shared(_ own: LoggedRequest.Circumstances) -> LoggedRequest.Circumstances {
        circumstances.insert(own).memberAfterInsert
    }

    /// What is kept of a request's contents, the texts of its body shared with bodies of the same form; nil when there is
    /// nothing to keep.
    mutating func shared(_ facts: BodyFacts, _ words: [OutcomeWord]) -> LoggedRequest.Content? {
        guard facts != .none || !words.isEmpty else { return nil }
        var facts = facts
        facts.mediaType = mediaTypes.insert(facts.mediaType).memberAfterInsert
        facts.keys = keyLists.insert(facts.keys).memberAfterInsert
        return LoggedRequest.Content(facts, words)
    }

    /// Counts a request that there is no room for.
    mutating func leaveOut(at instant: Instant) {
        uncounted += 1
        uncountedSince = min(uncountedSince ?? instant, instant)
    }

    /// Puts the requests in order of time. Only what came since the last time, and what is later than the first of that, is
    /// touched: a copy still shares the rest.
    mutating func sort() {
        let isSorted = requests.indices.dropFirst(max(1, sortedCount)).allSatisfy { index in
            !Self.isBefore(requests[index], requests[index - 1])
        }
        if !isSorted { requests.sort(from: sortedCount, by: Self.isBefore) }
        sortedCount = requests.count
    }

    private static func isBefore(_ lhs: LoggedRequest, _ rhs: LoggedRequest) -> Bool {
        (lhs.started.time, lhs.id) < (rhs.started.time, rhs.id)
    }

    /// The requests sent from one instant on and before another.
    func requests(from: Instant, until: Instant) -> Slice<ChunkedArray<LoggedRequest>> {
        let start = requests.partitioningIndex { $0.started.time >= from }
        let end = requests.partitioningIndex { $0.started.time >= until }
        return requests[start..<max(start, end)]
    }
}

extension SessionModel {
    /// Writes a request into the log.
    mutating func log(
        _ exchange: Exchange, _ request: Request, _ flow: Flow?, _ host: HostName?, _ actor: ActorReading
    ) {
        guard request.method != "CONNECT" else { return }
        guard !requestLog.isFull else { return requestLog.leaveOut(at: request.started.time) }
        var page: LoggedRequest.PageSigns?
        // A page's bodies are not looked at, and an app sends no signs of a page.
        var body = BodyFacts(sizeOf: request)
        if actor.actor == .browser || actor.actor == .webview || actor.actor == .unknown {
            page = LoggedRequest.PageSigns(request)
        }
        var words: [OutcomeWord] = []
        if actor.actor != .browser {
            let content =
                request.body.length > 0
                ? MessageContent.decoded(request.body.bytes, request.fields, limit: BodyFacts.limit) : []
            body = BodyFacts(request, content: content)
            words = OutcomeWord.all(in: request, content: content, body)
            if !content.isEmpty, let kind = host.flatMap({ vendorKind(of: $0) }), kind != .sessionReplay {
                vendors.keep(content, of: exchange.id)
            }
        }
        let circumstances = requestLog.shared(
            LoggedRequest.Circumstances(
                method: request.method, host: host, client: flow?.connection.client.address,
                server: flow?.connection.server.address, actor: actor, page: page))
        let content = requestLog.shared(body, words)
        requestLog.append(LoggedRequest(exchange, request, flow, circumstances: circumstances, content: content))
    }
}

extension Session {
    /// Says that some requests were too many to be logged, for rules that ask about all from `instant` on.
    func doubtRequestLog(
        since instant: Instant = .distantPast, until: Instant = .distantFuture, _ judgement: inout Judgement
    ) {
        guard requests.uncounted > 0, let first = requests.uncountedSince, first < until else { return }
        judgement.doubt(
            "request-log-full",
            "the log of requests was full: \(counted(requests.uncounted, "request")) after the first \(requests.requests.count) could not be looked at",
            remedy: "split the capture, or narrow it with --filter to the device")
    }
}
