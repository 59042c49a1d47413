internal import SessionTrace

/// What is kept for the rules about openings, beside the requests to Chia: the browser's other documents, its header
/// fields on control visits, the app's cookies, what went in the clear, and connections to hosts that pass URLs on.
struct Browsing: Sendable {
    /// Documents of the browser on hosts other than Chia's.
    var documents: [RequestRecord] = []
    /// Requests with the scheme `http`.
    var cleartext: [RequestRecord] = []
    /// Connections that agreed on less than TLS 1.2.
    var oldConnections: [FlowSummary] = []
    /// Connections to hosts whose category passes URLs on.
    var redirectorFlows: [FlowSummary] = []
    /// Header fields of browsers on control visits.
    var profiles = BrowserProfiles()
    /// Cookies of the app's requests, as `name=digest`.
    var appCookies: Set<String> = []
    /// Names of processes that are known to be the app.
    var appProcesses: Set<String> = []
    private var lastCookies: [UInt8] = []

    /// Requests in the clear, and connections of each kind, that are kept.
    static let limit = 1_000
    /// Cookies of the app that are kept.
    static let cookieLimit = 500
    /// Process names that are kept.
    static let processLimit = 32

    /// Learns the cookies of one request of the app; the same ones are sent over and over.
    mutating func learnCookies(_ fields: FieldSection, _ redactor: Redactor) -> Bool {
        guard let field = fields.fields.first(where: { $0.isKnown && fields.hasName($0, "cookie") }) else {
            return true
        }
        let bytes = Array(fields.valueBytes(field))
        guard bytes != lastCookies else { return true }
        lastCookies = bytes
        for pair in fields.values("cookie").flatMap({ $0.split(separator: ";") }) {
            guard appCookies.count < Self.cookieLimit else { return false }
            appCookies.insert(RequestHead.cookie(pair, isDigested: false, redactor))
        }
        return true
    }
}

extension SessionModel {
    /// Keeps what rules about openings ask of a request.
    mutating func keepBrowsing(
        _ exchange: Exchange, _ request: Request, _ flow: Flow?, _ host: HostName?, _ actor: ActorReading, isChia: Bool
    ) {
        if request.scheme == "http", request.method != "CONNECT", let host, !OSNoiseHosts.builtin.contains(host) {
            if browsing.cleartext.count < Browsing.limit {
                browsing.cleartext.append(
                    RequestRecord(
                        exchange, request: request, flow: flow, host: host, actor: actor, redactor: redactor))
            } else {
                giveUp("requests in the clear")
            }
        }
        switch actor.actor {
        case .app:
            if !isChia, !browsing.learnCookies(request.fields, redactor) { giveUp("cookies of the app") }
        case .browser:
            guard !isChia, request.method == "GET", Self.mayBeDocument(request) else { return }
            let record = RequestRecord(
                exchange, request: request, flow: flow, host: host, actor: actor, redactor: redactor,
                keepsHead: host.map { policy.hosts.returnHosts.covers($0) } ?? false)
            if let head = record.head { browsing.profiles.learn(head) }
            guard record.isNavigation else { return }
            if browsing.documents.count < limits.documents {
                browsing.documents.append(record)
            } else {
                giveUp("documents of the browser")
            }
        case .webview, .os, .unknown: return
        }
    }

    /// Learns what a browser sends from its visit to the recorder's own pages.
    mutating func learnControlVisit(_ request: Request, _ flow: Flow?) {
        guard request.method == "GET", Self.mayBeDocument(request), agents.read(request).actor == .browser else {
            return
        }
        browsing.profiles.learn(RequestHead(request, flow: flow, isWithheld: false, redactor: redactor))
    }

    private static func mayBeDocument(_ request: Request) -> Bool {
        if let destination = request.fields.first("sec-fetch-dest") { return destination == "document" }
        return request.fields.first("accept")?.holds("text/html") ?? false
    }

    /// Keeps what rules about openings ask of a connection that has ended.
    mutating func keepBrowsing(of flow: Flow, _ summary: FlowSummary) {
        if HTTPSOnly.isOld(flow.session?.version) {
            if browsing.oldConnections.count < Browsing.limit {
                browsing.oldConnections.append(summary)
            } else {
                giveUp("connections of old TLS")
            }
        }
        if let name = summary.names.first, summary.darkness != nil, let category = roles.category(of: name),
            NoRedirector.categories.contains(category)
        {
            if browsing.redirectorFlows.count < Browsing.limit {
                browsing.redirectorFlows.append(summary)
            } else {
                giveUp("connections to redirectors")
            }
        }
    }

    /// Learns the app's process names.
    mutating func learnProcess(of flow: Flow) {
        guard flow.actor.isDefinite, flow.actor.actor.isApp, browsing.appProcesses.count < Browsing.processLimit,
            let process = flow.connection.process
        else { return }
        browsing.appProcesses.insert(process.effectiveName ?? process.name)
    }
}
