internal import SessionTrace

/// What is kept of a request that some rule may ask about: no body, the few header fields that tell actor and purpose.
struct RequestRecord: Hashable, Sendable {
    var id: ExchangeID
    var method: String
    var host: HostName?
    /// The address that was asked for; nil without a readable authority. Holds secrets: never printed as it is.
    var address: WebAddress?
    /// Path and query for people, masked.
    var shownTarget: String
    /// The path with every value segment masked, for fingerprints.
    var pathTemplate: String
    var started: PacketReference
    var requestEnded: PacketReference
    var ended: PacketReference
    /// When its connection was opened; nil where that was not seen.
    var connectionOpened: Instant?
    var client: Endpoint?
    var endpoints: String?
    var actor: ActorReading
    var previewAgent: String?
    var fetchSite: String?
    var fetchMode: String?
    var fetchDestination: String?
    /// `Sec-Purpose`, `Purpose` or `X-Moz`, when one says that nobody asked for it yet.
    var speculation: String?
    var refererHost: HostName?
    var originHost: HostName?
    /// What the page is that its Origin names, where it is none of the web's.
    var pageOrigin: PageOrigin?
    /// The browser's own service that it goes to, in words.
    var browserService: String?
    /// Whether its User-Agent is that of a program of the browser's own, which fetches for no page.
    var isByBrowserProgram: Bool
    var hasRange: Bool
    /// Whether some of its fields could not be read, so that what they say of the sender is not known.
    var hasUnknownFields: Bool
    var acceptsPages: Bool
    /// Whether its content is a report that a browser makes of a page (Reporting API), by its media type.
    var isReport: Bool
    /// Whether caches on the way are to be passed by, as a browser asks when its user reloads a page.
    var revalidates: Bool
    /// 0 when no response began.
    var status: Int
    /// The address that a 3xx names.
    var location: WebAddress?
    var end: ExchangeEnd
    /// Whether its head alone was recorded.
    var isWithheld: Bool
    /// Whether a byte of a final or informational response came back.
    var wasAnswered: Bool
    /// More of its head, where it opened a page of Chia's or a neutral URL.
    var head: RequestHead?

    init(
        _ exchange: Exchange, request: Request, flow: Flow?, host: HostName?, actor: ActorReading, redactor: Redactor,
        keepsHead: Bool = false
    ) {
        let fields = request.fields
        id = exchange.id
        method = request.method
        self.host = host
        address = WebAddress(request)
        shownTarget = request.method == "CONNECT" ? "" : redactor.path(request.pathAndQuery)
        pathTemplate = request.method == "CONNECT" ? "" : redactor.path(request.path)
        started = request.started
        requestEnded = request.ended
        ended = exchange.ended
        connectionOpened = flow.flatMap { $0.connection.startSeen ? $0.connection.opened.time : nil }
        client = flow?.connection.client
        endpoints = flow.map { "\($0.connection.client) → \($0.connection.server)" }
        self.actor = actor
        let agent = fields.first("user-agent")
        previewAgent = agent.flatMap(UserAgent.previewAgent)
        isByBrowserProgram = agent.map(ServiceAgents.isBrowserProgram) ?? false
        fetchSite = fields.first("sec-fetch-site")
        fetchMode = fields.first("sec-fetch-mode")
        fetchDestination = fields.first("sec-fetch-dest")
        speculation = Self.speculation(fields)
        refererHost = fields.first("referer").flatMap { WebAddress($0)?.host }
        originHost = fields.first("origin").flatMap { WebAddress($0)?.host }
        pageOrigin = fields.first("origin").flatMap { PageOrigin($0) }
        browserService = BrowserServices.words(request, host: host)
        hasUnknownFields = fields.hasUnknownFields
        hasRange = fields.first("range") != nil
        isReport = fields.first("content-type")?.lowercased().hasPrefix(Self.reportType) ?? false
        acceptsPages = fields.first("accept")?.holds("text/html") == true
        revalidates = fields.values("cache-control").contains { $0.holds("max-age=0") || $0.holds("no-cache") }
        status = exchange.response?.status ?? 0
        let address = address
        location =
            (300..<400).contains(status)
            ? exchange.response?.fields.first("location").flatMap { address?.resolve($0) ?? WebAddress($0) } : nil
        end = exchange.end
        isWithheld = flow?.word == .withheld
        wasAnswered = exchange.response != nil || !exchange.informational.isEmpty
        if keepsHead, isNavigation {
            head = RequestHead(request, flow: flow, isWithheld: isWithheld, redactor: redactor)
        }
    }

    static let reportType = "application/reports+json"

    private static func speculation(_ fields: FieldSection) -> String? {
        for name in ["sec-purpose", "purpose", "x-moz", "x-purpose"] {
            guard let value = fields.first(name)?.lowercased() else { continue }
            if ["prefetch", "prerender", "preview"].contains(where: value.contains) {
                return "\(name): \(value.prefix(40))"
            }
        }
        return nil
    }

    /// Whether a browser asked for a page of its own accord or its user's: not an image, script or fetch of a page.
    var isNavigation: Bool {
        guard method == "GET", speculation == nil, !hasRange else { return false }
        if fetchDestination != nil || fetchMode != nil {
            return (fetchDestination ?? "document") == "document" && (fetchMode ?? "navigate") == "navigate"
        }
        return acceptsPages
    }

    /// `POST api.partner.example/handoff-session`.
    var subject: String { "\(method) \(host?.text ?? "(no host)")\(shownTarget)" }

    /// The evidence that names this request.
    func evidence(_ label: String, place: String? = nil) -> Evidence {
        var packets = [started.number]
        for reference in [requestEnded, ended] where reference.number != packets.last {
            packets.append(reference.number)
        }
        return Evidence(
            label: label, packets: packets, span: TimeSpan(started.time, ended.time), connection: id.connection,
            endpoints: endpoints, exchange: id, subject: status == 0 ? subject : "\(subject) → \(status)", place: place)
    }
}
