internal import SessionTrace

/// One request of the session, in little memory: who sent what where and when, and what its body looks like.
///
/// Its texts are as they were sent, so none is printed: `subject`, `template` and `evidence` make what may be shown.
struct LoggedRequest: Hashable, Sendable {
    /// Path and query as sent. Holds secrets.
    let target: String
    let started: PacketReference
    private let requestEndTime: Instant
    private let endTime: Instant
    /// What it has in common with others.
    let circumstances: Circumstances
    /// Nil for a request without a body that speaks of no outcome.
    private let content: Content?
    private let connection: UInt32
    private let index: UInt32
    /// Packets from the first one to those with which the request and the exchange ended. Less than none where the capture
    /// has an answer before its request.
    private let requestPackets: Int32
    private let packets: Int32
    private let clientPort: UInt16
    private let serverPort: UInt16
    private let statusCode: UInt16
    /// Whether the answer is a picture.
    let isImage: Bool

    /// What many requests of a session have in common: kept once for all of them.
    final class Circumstances: Hashable, Sendable {
        let method: String
        let host: HostName?
        let client: IPAddress?
        let server: IPAddress?
        let actor: ActorReading
        let page: PageSigns?

        init(
            method: String, host: HostName?, client: IPAddress?, server: IPAddress?, actor: ActorReading,
            page: PageSigns?
        ) {
            self.method = method
            self.host = host
            self.client = client
            self.server = server
            self.actor = actor
            self.page = page
        }

        static func == (lhs: Circumstances, rhs: Circumstances) -> Bool {
            lhs === rhs
                || lhs.method == rhs.method && lhs.host == rhs.host && lhs.client == rhs.client
                    && lhs.server == rhs.server && lhs.actor == rhs.actor && lhs.page == rhs.page
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(method)
            hasher.combine(host)
            hasher.combine(client)
            hasher.combine(server)
            hasher.combine(actor)
            hasher.combine(page)
        }
    }

    /// What its body looks like and what it says of outcomes, in memory of its own: most requests have neither.
    final class Content: Hashable, Sendable {
        let facts: BodyFacts
        let outcomeWords: [OutcomeWord]

        init(_ facts: BodyFacts, _ outcomeWords: [OutcomeWord]) {
            self.facts = facts
            self.outcomeWords = outcomeWords
        }

        static func == (lhs: Content, rhs: Content) -> Bool {
            lhs.facts == rhs.facts && lhs.outcomeWords == rhs.outcomeWords
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(facts)
            hasher.combine(outcomeWords)
        }
    }

    init(_ exchange: Exchange, _ request: Request, _ flow: Flow?, circumstances: Circumstances, content: Content?) {
        target = request.pathAndQuery
        started = request.started
        requestEndTime = request.ended.time
        endTime = exchange.ended.time
        self.circumstances = circumstances
        self.content = content
        connection = UInt32(clamping: exchange.id.connection.number)
        index = UInt32(clamping: exchange.id.index)
        requestPackets = Int32(clamping: request.ended.number - request.started.number)
        packets = Int32(clamping: exchange.ended.number - request.started.number)
        clientPort = flow?.connection.client.port ?? 0
        serverPort = flow?.connection.server.port ?? 0
        statusCode = UInt16(clamping: exchange.response?.status ?? 0)
        isImage = exchange.response.map { BodyFacts.mediaType($0.fields).hasPrefix("image/") } ?? false
    }

    var id: ExchangeID { ExchangeID(connection: ConnectionID(Int(connection)), index: Int(index)) }
    var requestEnded: PacketReference {
        PacketReference(number: started.number + Int(requestPackets), time: requestEndTime)
    }
    var ended: PacketReference { PacketReference(number: started.number + Int(packets), time: endTime) }
    var method: String { circumstances.method }
    var host: HostName? { circumstances.host }
    var client: Endpoint? { circumstances.client.map { Endpoint(address: $0, port: clientPort) } }
    var server: Endpoint? { circumstances.server.map { Endpoint(address: $0, port: serverPort) } }
    var actor: ActorReading { circumstances.actor }
    /// What a page said that asked for it; nil for the app's own.
    var page: PageSigns? { circumstances.page }
    /// 0 when no response began.
    var status: Int { Int(statusCode) }
    var body: BodyFacts { content?.facts ?? .none }
    /// Fields of query and body that speak of an outcome or of a length of time.
    var outcomeWords: [OutcomeWord] { content?.outcomeWords ?? [] }

    /// What a browser tells of the page that asked for something.
    struct PageSigns: Hashable, Sendable {
        var refererHost: HostName?
        /// Whether another program handed the address over, and says so (`Referer: android-app://…`).
        var isOfProgram: Bool
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

extension LoggedRequest.PageSigns {
    /// Nil when the request has none of a browser's fields.
    init?(_ request: Request) {
        let fields = request.fields
        refererHost = fields.first("referer").flatMap { WebAddress($0)?.host }
        isOfProgram = fields.first("referer")?.hasPrefix("android-app://") ?? false
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
