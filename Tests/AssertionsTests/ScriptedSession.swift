import Assertions
import SessionTrace

/// A session written down in code: who did what at which second. Each call adds the events that a capture of it would
/// give; `judge` plays them in order of time.
struct ScriptedSession {
    /// Who acts.
    enum Who: Hashable {
        /// The app, by its HTTP stack's User-Agent.
        case app
        /// The system browser, with fetch metadata.
        case browser
        /// A client that says nothing about itself.
        case nobody
        /// A browser-like User-Agent without a browser's headers.
        case disguised
    }

    /// What happens to a response.
    enum Fate {
        case answered
        /// RST by the server before any byte.
        case reset
        /// The answer was sent, but never acknowledged by the device.
        case lost
        /// Nothing tells whether it was acknowledged.
        case deliveryUnknown
        /// REFUSED_STREAM.
        case refused
        /// A hole hides the end.
        case notSeen
    }

    static let token = "phs_Zk3Tq8WvX2mN7cYbR5dLpA9s"
    static let url = "https://chia.health/h/\(token)"
    static let otherURL = "https://chia.health/h/phs_Qw9eRt7yUi5oPaSd3fGhJk1l"
    static let neutral = "https://chia.health/start"
    static let key1 = "7b0f6f0e-4c1d-4f5a-9d55-0a2f8f1f3c11"
    static let key2 = "c2a9e5d4-1b3c-4d7e-8f90-a1b2c3d4e5f6"
    static let body =
        #"{"catalogId":"item-4711-abcdef","disclosureVersion":"2026-03","affirmed":true,"affirmedAt":"2026-11-29T12:00:03Z"}"#

    /// Decisions of the closed union.
    static let shareDecision =
        #"{"mode":"share_or_neutral","heading":"Continue with Chia","body":"Chia is a separate company.","recipient":{"legal_name":"Chia Health Inc.","privacy_contact":"privacy@chia.health"},"dataShared":["Selected programme"],"purpose":"To start with your selection","compensationDisclosure":"We may be paid when you continue.","policyUrls":{"privacy":"https://chia.health/privacy"},"primary":{"actionLabel":"Share selection and continue","sessionCreationPath":"/v2/handoff-sessions","disclosureVersion":"2026-03"},"secondary":{"actionLabel":"Continue without sharing","url":"\#(neutral)"}}"#
    static let neutralDecision =
        #"{"mode":"neutral_only","heading":"Continue with Chia","body":"Chia is a separate company.","actionLabel":"Continue to Chia","url":"\#(neutral)"}"#

    var policyText = "hosts:\n  partner: [api.partner.example]\n"
    var options = JudgeOptions()
    var watchedForBypass = true
    /// Marks that could not be read.
    var unreadableMarks: [String] = []
    var isComplete = true
    var dropped: UInt64?
    var clientAddress = IPAddress(ipv4: 0x0A00_0002)
    var processes: [Who: ProcessIdentity] = [:]

    private(set) var timeline: [(time: Double, order: Int, event: SessionEvent)] = []
    private var pool: [String: ConnectionID] = [:]
    /// When clients closed their side of a connection.
    var clientFinishes: [ConnectionID: PacketReference] = [:]
    private var connections: [(id: ConnectionID, host: String, opened: Double, isDark: Bool)] = []
    private var exchanges: [ConnectionID: Int] = [:]
    private var packet = 0
    private var servers: [String: UInt32] = [:]
    private var endTime = 0.0

    static func instant(_ seconds: Double) -> Instant {
        Instant(nanoseconds: 1_795_000_000_000_000_000 + Int64((seconds * 1_000_000).rounded()) * 1_000)
    }

    mutating func reference(_ seconds: Double) -> PacketReference {
        packet += 1
        endTime = max(endTime, seconds)
        return PacketReference(number: packet, time: Self.instant(seconds))
    }

    mutating func add(_ time: Double, _ event: SessionEvent) {
        timeline.append((time, timeline.count, event))
    }

    // MARK: marks

    @discardableResult
    mutating func mark(
        _ kind: Mark.Kind, _ target: Mark.Target? = nil, at time: Double, until: Double? = nil, id: String? = nil,
        count: Int = 1, phase: Mark.Phase? = nil, by: Mark.Maker = .script, onTraceClock: Bool = true,
        clock: String? = nil, attributes: [String: String] = [:]
    ) -> Self {
        let reference = reference(time)
        add(
            time,
            .mark(
                Mark(
                    id: id, kind: kind, target: target,
                    span: TimeSpan(Self.instant(time), Self.instant(until ?? time)), isOnTraceClock: onTraceClock,
                    phase: phase, count: count, by: by, source: onTraceClock ? .datagram : .sideFile, clock: clock,
                    attributes: attributes, packet: reference)))
        return self
    }

    mutating func tap(_ target: Mark.Target?, at time: Double) { mark(.tap, target, at: time) }

    // MARK: connections

    private func server(_ host: String) -> Endpoint {
        Endpoint(address: IPAddress(ipv4: 0xC633_6400 + (servers[host] ?? 99)), port: 443)
    }

    /// Opens a connection of its own and returns its id.
    @discardableResult
    mutating func connect(
        _ who: Who, _ host: String, at time: Double, hello: Bool = true, fresh: Bool = true,
        on enclosing: ConnectionID? = nil
    ) -> ConnectionID {
        let name = "\(who) \(host) \(clientAddress)"
        if !fresh, let known = pool[name] { return known }
        let id = ConnectionID(connections.count)
        if servers[host] == nil { servers[host] = UInt32(servers.count + 1) }
        let opened = reference(time)
        connections.append((id, host, time, false))
        pool[name] = id
        add(
            time,
            .connectionOpened(
                Connection(
                    id: id, transport: .tcp,
                    client: Endpoint(address: clientAddress, port: UInt16(40_000 + id.number)), server: server(host),
                    opened: opened, startSeen: true, process: processes[who], enclosing: enclosing)))
        if hello {
            let seen = reference(time + 0.002)
            add(
                time + 0.002,
                .clientHello(
                    ClientHello(
                        connection: id, seen: seen, started: seen, serverName: HostName(host),
                        applicationProtocols: ["h2"], highestVersion: 0x0304,
                        ja4: who == .browser ? "t13d1516h2_browser" : "t13d1011h2_app", hasEncryptedClientHello: false,
                        isRepeated: false)))
        }
        return id
    }

    /// A connection whose content stays unread, with data of the device at some moments.
    mutating func dark(
        _ who: Who, _ host: String, at time: Double, lastData: Double, hello: Bool = true,
        reason: BlindSpot.Reason = .noKeys
    ) {
        let id = connect(who, host, at: time, hello: hello)
        connections[id.number].isDark = true
        let first = reference(time + 0.01)
        let last = reference(lastData)
        add(
            lastData,
            .secureSession(
                SecureSession(
                    connection: id, version: 0x0304, cipherSuite: 0x1301, applicationProtocol: nil,
                    readability: .opaque(.noKeys), clientApplicationBytes: 900, serverApplicationBytes: 900,
                    firstClientData: first, lastClientData: last)))
        blindSpot(reason, from: nil, at: time, until: lastData, on: id)
    }

    mutating func blindSpot(
        _ reason: BlindSpot.Reason, from side: Side?, at time: Double, until: Double, on id: ConnectionID?,
        bytes: Int? = 100
    ) {
        let noticed = reference(until)
        add(
            until,
            .blindSpot(
                BlindSpot(
                    reason: reason, connection: id, from: side,
                    span: TimeSpan(Self.instant(time), Self.instant(until)), bytes: bytes, noticed: noticed)))
    }

    mutating func lookup(
        _ host: String, at time: Double, aliases: [String] = [], process: ProcessIdentity? = nil, isAsked: Bool = true,
        isAnswered: Bool = true
    ) {
        guard let name = HostName(host) else { return }
        let id = ConnectionID(1_000_000 + packet)
        let query = reference(time)
        if isAsked {
            add(
                time,
                .nameLookup(
                    NameLookup(
                        connection: id, seen: query, isResponse: false, isMulticast: false, name: name,
                        rawName: Array(host.utf8), type: 1, process: process)))
        }
        guard isAnswered else { return }
        var answers: [NameLookup.Answer] = []
        var owner = name
        for alias in aliases.compactMap({ HostName($0) }) {
            answers.append(.init(name: owner, type: 5, data: .alias(alias)))
            owner = alias
        }
        if servers[host] == nil { servers[host] = UInt32(servers.count + 1) }
        answers.append(.init(name: owner, type: 1, data: .address(server(host).address)))
        let answer = reference(time + 0.005)
        add(
            time + 0.005,
            .nameLookup(
                NameLookup(
                    connection: id, seen: answer, isResponse: true, isMulticast: false, name: name,
                    rawName: Array(host.utf8), type: 1, answers: answers, process: process)))
    }

    // MARK: exchanges

    static func headers(_ who: Who, _ extra: [(String, String)], isNavigation: Bool) -> [(String, String)] {
        var fields: [(String, String)] = []
        let chrome =
            "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36"
        switch who {
        case .app: fields.append(("user-agent", "okhttp/4.12.0"))
        case .browser:
            fields += [("user-agent", chrome), ("accept-language", "en")]
            if isNavigation {
                fields += [
                    ("accept", "text/html"), ("sec-fetch-site", "none"), ("sec-fetch-mode", "navigate"),
                    ("sec-fetch-dest", "document"),
                ]
            } else if !extra.contains(where: { $0.0 == "sec-fetch-dest" }) {
                fields += [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "cors"), ("sec-fetch-dest", "empty")]
            }
        case .disguised: fields.append(("user-agent", chrome))
        case .nobody: break
        }
        for field in extra {
            fields.removeAll { $0.0 == field.0 }
            fields.append(field)
        }
        return fields
    }

    /// One request and its answer.
    @discardableResult
    mutating func exchange(
        _ who: Who, _ method: String, _ address: String, at time: Double, took: Double = 0.1, status: Int = 200,
        headers: [(String, String)] = [], body: String = "", response: String = "",
        responseHeaders: [(String, String)] = [],
        fate: Fate = .answered, isNavigation: Bool = false, on connection: ConnectionID? = nil,
        bodyIsComplete: Bool = true
    ) -> ExchangeID {
        let scheme = address.hasPrefix("http://") ? "http" : "https"
        let rest = address.dropFirst(scheme.count + 3)
        let host = String(rest.prefix { $0 != "/" && $0 != "?" })
        let target = rest.dropFirst(host.count)
        let id = connection ?? connect(who, host, at: time - 0.02, fresh: false)
        let index = exchanges[id] ?? 0
        exchanges[id] = index + 1
        var fields = FieldSection()
        fields.append("host", host)
        for (name, value) in Self.headers(who, headers, isNavigation: isNavigation) { fields.append(name, value) }
        let bytes = Array(body.utf8)
        let started = reference(time)
        let sent = reference(time + 0.001)
        let request = Request(
            method: method, target: target.isEmpty ? "/" : String(target), scheme: scheme, authority: host,
            fields: fields,
            body: Body(bytes: bytes, length: bytes.count, missing: 0, isComplete: bodyIsComplete, isCut: false),
            started: started, ended: sent)
        let ended = reference(time + took)
        var exchange = Exchange(
            id: ExchangeID(connection: id, index: index), version: .http2, request: request, end: .complete,
            ended: ended)
        switch fate {
        case .answered, .lost, .deliveryUnknown:
            exchange.response = Self.response(status, response, responseHeaders, ended)
        case .reset: exchange.end = .reset(by: .server, code: nil)
        case .refused: exchange.end = .unprocessed
        case .notSeen: exchange.end = .notSeen
        }
        add(time + took, .exchange(exchange))
        if exchange.response != nil {
            let delivery: Delivery =
                switch fate {
                case .lost: .no
                case .deliveryUnknown: .unknown
                default: .yes
                }
            add(time + took + 0.001, .delivery(exchange.id, delivery, ended))
        }
        return exchange.id
    }

    /// A request of which nothing but the path could be read, on a connection without a name.
    mutating func unreadableExchange(_ target: String, at time: Double) {
        let id = connect(.nobody, "198.51.100.88", at: time - 0.02, hello: false)
        let packet = reference(time)
        let request = Request(
            method: "GET", target: target, scheme: "https", authority: nil, fields: FieldSection(),
            body: Body(bytes: [], length: 0, missing: 0, isComplete: true, isCut: false), started: packet, ended: packet
        )
        add(
            time,
            .exchange(
                Exchange(
                    id: ExchangeID(connection: id, index: 0), version: .http2, request: request, end: .complete,
                    ended: packet)))
    }

    static func response(
        _ status: Int, _ body: String, _ extra: [(String, String)], _ ended: PacketReference
    ) -> Response {
        var fields = FieldSection()
        if body.hasPrefix("{") || body.hasPrefix("[") { fields.append("content-type", "application/json") }
        for (name, value) in extra { fields.append(name, value) }
        let bytes = Array(body.utf8)
        return Response(
            status: status, reason: "", fields: fields, trailers: FieldSection(),
            body: Body(bytes: bytes, length: bytes.count, missing: 0, isComplete: true, isCut: false), started: ended,
            ended: ended)
    }

    /// A WebSocket message of the device on the connection that an exchange opened.
    mutating func message(_ exchange: ExchangeID, _ payload: [UInt8], at time: Double) {
        let packet = reference(time)
        add(
            time,
            .message(
                Message(
                    exchange: exchange, from: .client, kind: .text,
                    payload: Body(bytes: payload, length: payload.count, missing: 0, isComplete: true, isCut: false),
                    started: packet, ended: packet, frames: 1)))
    }

    /// The app's share request.
    @discardableResult
    mutating func share(
        at time: Double, key: String? = key1, body: String = body, status: Int = 201, took: Double = 0.1,
        url: String = url, fate: Fate = .answered, path: String = "/handoff-session",
        host: String = "api.partner.example",
        headers: [(String, String)] = [], responseHeaders: [(String, String)] = [], on connection: ConnectionID? = nil,
        bodyIsComplete: Bool = true
    ) -> ExchangeID {
        let answer =
            (200..<300).contains(status)
            ? #"{"url":"\#(url)","sessionId":"hs-91c2d0aa7766","catalogId":"item-4711-abcdef"}"# : ""
        return exchange(
            .app, "POST", "https://\(host)\(path)", at: time, took: took, status: status,
            headers: (key.map { [("idempotency-key", $0)] } ?? []) + [("content-type", "application/json")] + headers,
            body: body, response: answer, responseHeaders: responseHeaders, fate: fate, on: connection,
            bodyIsComplete: bodyIsComplete)
    }

    /// The app's projection request.
    mutating func projection(at time: Double, mode: String = "share_or_neutral", item: String = "item-4711-abcdef") {
        let decision = mode == "share_or_neutral" ? Self.shareDecision : Self.neutralDecision
        exchange(
            .app, "GET", "https://api.partner.example/catalog/\(item)/handoff", at: time,
            response: #"{"catalogId":"\#(item)","handoff":\#(decision)}"#)
    }

    /// The browser's navigation.
    mutating func browse(
        _ url: String, at time: Double, status: Int = 200, headers: [(String, String)] = [],
        responseHeaders: [(String, String)] = [], fate: Fate = .answered
    ) {
        exchange(
            .browser, "GET", url, at: time, status: status, headers: headers, response: "<html>",
            responseHeaders: responseHeaders, fate: fate, isNavigation: true)
    }

    // MARK: the whole

    /// A conforming share: launch, projection, call to action, share tap, one request, one navigation, and a minute more.
    static func conformingShare() -> ScriptedSession {
        var session = ScriptedSession()
        session.mark(.launch, at: 0)
        session.mark(.browserClean, at: 0.1)
        session.lookup("api.partner.example", at: 0.4)
        session.projection(at: 0.5)
        session.tap(.cta, at: 2)
        session.projection(at: 2.1)
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        session.mark(.opened, at: 4.3)
        session.lookup("chia.health", at: 4.4)
        session.browse(url, at: 4.5)
        session.exchange(
            .browser, "GET", "https://chia.health/app.js", at: 4.8,
            headers: [
                ("sec-fetch-site", "same-origin"), ("sec-fetch-dest", "script"), ("referer", url),
            ])
        session.mark(.background, at: 4.9)
        session.mark(.foreground, at: 50)
        session.projection(at: 50.2)
        session.exchange(.app, "POST", "https://app-measurement.com/a", at: 55, body: "event=app_open")
        session.mark(.end, at: 80)
        return session
    }

    /// The same without the part after the second projection, for sessions that go another way.
    static func upToTap() -> ScriptedSession {
        var session = ScriptedSession()
        session.mark(.launch, at: 0)
        session.mark(.browserClean, at: 0.1)
        session.projection(at: 0.5)
        session.tap(.cta, at: 2)
        session.projection(at: 2.1)
        return session
    }

    /// The events in order of time, with all connections closed at the end.
    func events() -> [SessionEvent] {
        var all = timeline
        let end = endTime + 0.5
        for connection in connections {
            let last = PacketReference(
                number: packet + 1 + connection.id.number, time: Self.instant(connection.isDark ? endTime : end))
            if !connection.isDark {
                all.append(
                    (
                        end, all.count,
                        .secureSession(
                            SecureSession(
                                connection: connection.id, version: 0x0304, cipherSuite: 0x1301,
                                applicationProtocol: "h2",
                                readability: .decrypted, clientApplicationBytes: 10, serverApplicationBytes: 10,
                                firstClientData: last, lastClientData: last))
                    ))
            }
            all.append(
                (
                    end, all.count,
                    .connectionClosed(
                        ConnectionEnd(
                            id: connection.id, cause: .finished, last: last, clientBytes: 100, serverBytes: 100,
                            clientFinished: clientFinishes[connection.id]))
                ))
        }
        all.sort { ($0.time, $0.order) < ($1.time, $1.order) }
        var summary = TraceSummary()
        summary.packets = packet
        summary.span = TimeSpan(Self.instant(0), Self.instant(endTime))
        summary.isComplete = isComplete
        summary.watchedForBypass = watchedForBypass
        summary.droppedPackets = dropped
        summary.unreadableMarks = unreadableMarks
        summary.layers = [.dns, .tls, .http, .transport]
        return all.map(\.event) + [.traceEnded(summary)]
    }

    func judge(_ events: [SessionEvent]? = nil) throws -> TraceVerdict {
        let policy = try Policy.parse(yaml: policyText, file: "handoff.yml")
        var judge = SessionJudge(policy: policy, options: options)
        for event in events ?? self.events() { judge.receive(event) }
        let verdict = judge.finish()
        verdict.expectKnownKinds()
        return verdict
    }
}

extension TraceVerdict {
    subscript(_ id: String) -> RuleResult {
        rules.first { $0.id == id }
            ?? RuleResult(id: id, name: "", severity: .error, verdict: .notApplicable, sentence: "no such rule")
    }

    /// The rules that do not pass, as `HR-01 fail prefetch: sentence`, for messages.
    var story: String {
        rules.map { rule in
            "\(rule.id) \(rule.verdict.rawValue) \(rule.reason?.code ?? "") \(rule.sentence) "
                + rule.findings.map { "[\($0.severity) \($0.kind): \($0.message)]" }.joined()
                + rule.assumptions.map { "{\($0.code)}" }.joined()
        }.joined(separator: "\n")
    }
}
