internal import SessionTrace

/// One request of the session, in little memory: who sent what where and when, and what its body looks like.
///
/// Its texts are as they were sent, so none is printed: `subject`, `template` and `evidence` make what may be shown.
struct LoggedRequest: Hashable, Sendable {
    var id: ExchangeID
    var method: String
    var host: HostName?
    /// Path and query as sent. Holds secrets.
    var target: String
    var started: PacketReference
    var requestEnded: PacketReference
    var ended: PacketReference
    var client: Endpoint?
    var server: Endpoint?
    var actor: ActorReading
    /// What a page said that asked for it; nil for the app's own.
    var page: PageSigns?
    /// 0 when no response began.
    var status: Int
    var isComplete: Bool
    /// Whether the answer is a picture.
    var isImage: Bool
    /// Whether its head alone was recorded.
    var isWithheld: Bool
    var body: BodyFacts
    /// Fields of query and body that speak of an outcome or of a length of time.
    var outcomeWords: [OutcomeWord]

    /// What a browser tells of the page that asked for something.
    struct PageSigns: Hashable, Sendable {
        var refererHost: HostName?
        var originHost: HostName?
        var fetchDestination: String?
        var fetchMode: String?
        var fetchSite: String?
        /// Whether a person's act started it (`Sec-Fetch-User: ?1`).
        var isByUser: Bool
        var isNavigation: Bool
    }

    /// The path alone. Holds secrets.
    var path: Substring { target.prefix { $0 != "?" && $0 != "#" } }

    /// Names of the query's fields, in order.
    var queryNames: [Substring] {
        let query = target[path.endIndex...].dropFirst().prefix { $0 != "#" }
        return query.split(separator: "&").map { $0.prefix { $0 != "=" } }
    }

    /// Method and path with every value masked, for comparing and for fingerprints.
    func template(_ redactor: Redactor) -> String { "\(method) \(redactor.path(path))" }

    /// `POST api.partner.example/events`.
    func subject(_ redactor: Redactor) -> String {
        "\(method) \(host.map { redactor.host($0.text) } ?? "(no host)")\(redactor.path(target))"
    }

    /// The evidence that names this request.
    func evidence(_ label: String, _ redactor: Redactor, place: String? = nil) -> Evidence {
        var packets = [started.number]
        for reference in [requestEnded, ended] where reference.number != packets.last {
            packets.append(reference.number)
        }
        let endpoints = client.flatMap { client in server.map { "\(client) → \($0)" } }
        let subject = subject(redactor)
        return Evidence(
            label: label, packets: packets, span: TimeSpan(started.time, ended.time), connection: id.connection,
            endpoints: endpoints, exchange: id, subject: status == 0 ? subject : "\(subject) → \(status)", place: place)
    }
}

/// Every request of a session but CONNECT, in order of time once the session is finished; the first ones up to a limit,
/// and how many more there were.
struct RequestLog: Sendable {
    private(set) var requests: [LoggedRequest] = []
    /// Requests that were too many to be kept.
    private(set) var uncounted = 0
    /// When the first of these was sent.
    private(set) var uncountedSince: Instant?
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    var isFull: Bool { requests.count >= limit }

    mutating func append(_ request: LoggedRequest) {
        requests.append(request)
    }

    /// Counts a request that there is no room for.
    mutating func leaveOut(at instant: Instant) {
        uncounted += 1
        uncountedSince = min(uncountedSince ?? instant, instant)
    }

    mutating func sort() {
        requests.sort { ($0.started.time, $0.id) < ($1.started.time, $1.id) }
    }

    /// The requests sent from one instant on and before another.
    func requests(from: Instant, until: Instant) -> ArraySlice<LoggedRequest> {
        let start = requests.partitioningIndex { $0.started.time >= from }
        let end = requests.partitioningIndex { $0.started.time >= until }
        return requests[start..<max(start, end)]
    }
}

extension SessionModel {
    /// Writes a request into the log.
    mutating func log(
        _ exchange: Exchange, _ request: Request, _ flow: Flow?, _ host: HostName?, _ actor: ActorReading,
        isWithheld: Bool
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
        requestLog.append(
            LoggedRequest(
                id: exchange.id, method: request.method, host: host, target: request.pathAndQuery,
                started: request.started, requestEnded: request.ended, ended: exchange.ended,
                client: flow?.connection.client, server: flow?.connection.server, actor: actor, page: page,
                status: exchange.response?.status ?? 0, isComplete: exchange.end == .complete,
                isImage: exchange.response.map { BodyFacts.mediaType($0.fields).hasPrefix("image/") } ?? false,
                isWithheld: isWithheld, body: body, outcomeWords: words))
    }
}

extension LoggedRequest.PageSigns {
    /// Nil when the request has none of a browser's fields.
    init?(_ request: Request) {
        let fields = request.fields
        refererHost = fields.first("referer").flatMap { WebAddress($0)?.host }
        originHost = fields.first("origin").flatMap { WebAddress($0)?.host }
        fetchDestination = fields.first("sec-fetch-dest")
        fetchMode = fields.first("sec-fetch-mode")
        fetchSite = fields.first("sec-fetch-site")
        isByUser = fields.first("sec-fetch-user") == "?1"
        isNavigation =
            request.method == "GET" && fields.first("range") == nil
            && (fetchDestination != nil || fetchMode != nil
                ? (fetchDestination ?? "document") == "document" && (fetchMode ?? "navigate") == "navigate"
                : fields.first("accept")?.holds("text/html") == true)
        if !isNavigation, refererHost == nil, originHost == nil, fetchDestination == nil, fetchMode == nil,
            fetchSite == nil
        {
            return nil
        }
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
