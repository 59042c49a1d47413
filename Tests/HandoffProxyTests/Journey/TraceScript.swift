import Assertions
import CaptureAnalyzer
import Crypto
import Foundation
import SessionTrace

@testable import WireFormats

/// A recording of the proxy, written as it would be: CONNECT, real TLS between two engines in memory, secrets before use,
/// the proxy's words, marks; then read and judged as any trace is.
struct TraceScript {
    static let chrome =
        "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36"
    static let token = "phs_Zk3Tq8WvX2mN7cYbR5dLpA9s"
    static let url = "https://chia.health/h/\(token)"
    static let neutral = "https://chia.health/start"

    static let device = Endpoint(address: IPAddress(ipv4: 0x0A00_0002), port: 40_000)
    static let proxy = Endpoint(address: IPAddress(ipv4: 0x0A00_0001), port: 4_773)

    /// One connection through the proxy.
    final class Line {
        let id: ConnectionID
        let client: TLSEngine
        let server: TLSEngine

        init(id: ConnectionID, client: TLSEngine, server: TLSEngine) {
            self.id = id
            self.client = client
            self.server = server
        }
    }

    var writer = TraceWriter(version: "test", started: TraceScript.instant(0))
    /// Blocks of a second interface, captured beside the proxy.
    private var beside = PcapngWriter()
    private var besideFrames = FrameWriter()
    private var hasBeside = false
    private var connections = 0
    private let contexts: TLSContexts
    private let authority: CertificateAuthority
    var version = TLSVersion.tls13
    /// Sorts the connections; nil records all whole.
    var sorter: JourneySorter?
    private var knowledge = JourneyKnowledge()

    init() throws {
        contexts = try TLSContexts()
        authority = try CertificateAuthority.inMemory(hostName: "lab")
        beside.section()
        beside.interface(linkType: .ethernet, name: TraceWriter.interfaceName)
        beside.dropBytes()
    }

    static func instant(_ seconds: Double) -> Instant {
        Instant(nanoseconds: 1_795_000_000_000_000_000 + Int64((seconds * 1_000_000).rounded()) * 1_000)
    }

    mutating func mark(_ kind: Mark.Kind, _ target: Mark.Target? = nil, at time: Double) {
        writer.mark(
            Mark(
                kind: kind, target: target, span: TimeSpan(Self.instant(time)), isOnTraceClock: true,
                source: .datagram),
            from: Self.device, to: Endpoint(address: Self.proxy.address, port: TraceWriter.markPort),
            at: Self.instant(time))
    }

    mutating func event(_ kind: ProxyEvent.Kind, _ attributes: [String: String], on id: ConnectionID, at time: Double) {
        let time = Self.instant(time)
        writer.event(ProxyEvent(kind: kind, at: time, attributes: attributes), on: id, at: time)
    }

    // MARK: connections

    mutating func open(at time: Double) -> ConnectionID {
        let id = ConnectionID(connections)
        connections += 1
        writer.open(
            id, client: Endpoint(address: Self.device.address, port: UInt16(40_000 + connections)),
            server: Self.proxy, at: Self.instant(time))
        return id
    }

    mutating func send(_ text: String, from side: Side, on id: ConnectionID, at time: Double) {
        writer.send(Array(text.utf8), from: side, on: id, at: Self.instant(time))
    }

    /// CONNECT and the proxy's answer.
    mutating func tunnel(to host: String, agent: String, at time: Double, answer: String = "200 OK") -> ConnectionID {
        let id = open(at: time)
        send(
            "CONNECT \(host):443 HTTP/1.1\r\nHost: \(host):443\r\nUser-Agent: \(agent)\r\n\r\n", from: .client, on: id,
            at: time)
        send("HTTP/1.1 \(answer)\r\n\r\n", from: .server, on: id, at: time + 0.001)
        return id
    }

    /// How far a handshake gets.
    enum Reach: Int {
        case hello, certificate, finished
    }

    /// A tunnel with TLS in it. The ciphertext and the secrets of the handshake are written; secrets only when `keys`.
    mutating func secure(
        _ host: String, agent: String, at time: Double, reach: Reach = .finished, keys: Bool = true
    ) throws -> Line {
        let id = tunnel(to: host, agent: agent, at: time)
        let leaf = try authority.leaf(for: [.dns(host)], mirroring: nil)
        let client = try TLSEngine(
            client: TLSClientOptions(serverName: host, verification: .none, maximumVersion: version), contexts: contexts
        )
        let server = try TLSEngine(server: TLSServerOptions(identity: leaf), contexts: contexts)
        var flights: [(Side, [UInt8])] = []
        let limit = reach == .hello ? 1 : reach == .certificate ? 2 : 8
        while flights.count < limit {
            let side: Side = flights.count % 2 == 0 ? .client : .server
            let (sender, receiver) = side == .client ? (client, server) : (server, client)
            _ = try sender.handshake()
            let bytes = Self.output(sender)
            if bytes.isEmpty { break }
            flights.append((side, bytes))
            bytes.withUnsafeBytes { receiver.feed($0) }
        }
        if reach == .finished {
            _ = try client.handshake()
            _ = try server.handshake()
        }
        if let first = flights.first { writer.send(first.1, from: first.0, on: id, at: Self.instant(time + 0.002)) }
        if keys { writer.secrets(server.takeSecrets()) }
        for (number, flight) in flights.enumerated().dropFirst() {
            writer.send(flight.1, from: flight.0, on: id, at: Self.instant(time + 0.002 + Double(number) / 1_000))
        }
        return Line(id: id, client: client, server: server)
    }

    private static func output(_ engine: TLSEngine) -> [UInt8] {
        var bytes: [UInt8] = []
        engine.withOutput {
            bytes += $0
            return $0.count
        }
        return bytes
    }

    /// Application data through TLS.
    mutating func say(_ text: String, from side: Side, on line: Line, at time: Double) throws {
        let sender = side == .client ? line.client : line.server
        try Array(text.utf8).withUnsafeBytes { try sender.write($0) }
        writer.send(Self.output(sender), from: side, on: line.id, at: Self.instant(time))
    }

    mutating func finish(_ id: ConnectionID, by side: Side = .client, at time: Double) {
        writer.finish(side, on: id, at: Self.instant(time))
        writer.finish(side.peer, on: id, at: Self.instant(time + 0.001))
    }

    // MARK: requests

    /// One request on a connection of its own, and its answer; withheld when the sorter says so.
    mutating func exchange(
        _ agent: String, _ method: String, _ host: String, _ path: String, at time: Double, fields: String = "",
        body: String = "", answer: String = "200 OK", answerFields: String = "", content: String = ""
    ) throws {
        let connection = JourneyConnection(
            client: Self.device, requestedHost: HostName(host), serverName: HostName(host))
        let length = body.isEmpty ? "" : "Content-Length: \(body.utf8.count)\r\n"
        let head = "\(method) \(path) HTTP/1.1\r\nHost: \(host)\r\nUser-Agent: \(agent)\r\n\(fields)\(length)\r\n"
        let reply = "HTTP/1.1 \(answer)\r\n\(answerFields)Content-Length: \(content.utf8.count)\r\n\r\n"
        var observed: [Exchange] = []
        var first: Request?
        let place = { (offset: Double) in PacketReference(number: 0, time: Self.instant(time + offset)) }
        var observer = ConversationObserver(
            connection: ConnectionID(0), isSecure: true, applicationProtocol: nil, serverName: HostName(host))
        var output: [ConversationOutput] = []
        Array((head + body).utf8).withUnsafeBytes { observer.receive($0, from: .client, at: place(0), into: &output) }
        Array((reply + content).utf8).withUnsafeBytes {
            observer.receive($0, from: .server, at: place(0.1), into: &output)
        }
        for case .event(let event) in output {
            if case .requestStarted(_, _, let request) = event { first = request }
            if case .exchange(let exchange) = event { observed.append(exchange) }
        }
        var decision = JourneyDecision.record
        if sorter != nil, sorter?.mayWithhold(connection, knowing: knowledge) == true {
            decision = sorter?.decide(connection, first: first, knowing: knowledge) ?? .record
        }
        switch decision {
        case .record:
            let line = try secure(host, agent: agent, at: time - 0.05)
            try say(head + body, from: .client, on: line, at: time)
            try say(reply + content, from: .server, on: line, at: time + 0.1)
            writer.acknowledge(upTo: .max, on: line.id, at: Self.instant(time + 0.101))
            finish(line.id, at: time + 0.2)
        case .withhold(let attributes):
            let line = try secure(host, agent: agent, at: time - 0.05, keys: false)
            event(.withheld, attributes, on: line.id, at: time)
            knowledge = try followed()
            for var exchange in observed {
                exchange.request?.body = .empty
                exchange.response?.body = .empty
                let kept = sorter?.attributes(of: exchange, on: connection, knowing: knowledge) ?? [:]
                event(.exchange, kept, on: line.id, at: time + 0.1)
            }
            finish(line.id, at: time + 0.2)
        }
    }

    static let app = "okhttp/4.12.0"

    mutating func projection(at time: Double) throws {
        try exchange(
            Self.app, "GET", "api.partner.example", "/catalog/item-4711-abcdef/handoff", at: time,
            answerFields: "Content-Type: application/json\r\n",
            content:
                #"{"catalogId":"item-4711-abcdef","handoff":{"mode":"share_or_neutral","policyUrls":{},"primary":{"disclosureVersion":"2026-03"},"secondary":{"url":"\#(Self.neutral)"}}}"#
        )
    }

    mutating func share(at time: Double) throws {
        try exchange(
            Self.app, "POST", "api.partner.example", "/handoff-session", at: time,
            fields: "Idempotency-Key: 7b0f6f0e-4c1d-4f5a-9d55-0a2f8f1f3c11\r\nContent-Type: application/json\r\n",
            body: #"{"catalogId":"item-4711-abcdef","disclosureVersion":"2026-03","affirmed":true}"#,
            answer: "201 Created", answerFields: "Content-Type: application/json\r\n",
            content: #"{"url":"\#(Self.url)","sessionId":"hs-91c2d0aa7766"}"#)
    }

    mutating func browse(_ host: String, _ path: String, at time: Double, fields: String = "") throws {
        try exchange(
            Self.chrome, "GET", host, path, at: time,
            fields: "Accept: text/html\r\nAccept-Language: en\r\nSec-Fetch-Site: none\r\nSec-Fetch-Mode: navigate\r\n"
                + "Sec-Fetch-Dest: document\r\n" + fields,
            content: "<html>intake question 3</html>")
    }

    /// Launch, projection, tap on share.
    mutating func upToShare() throws {
        mark(.launch, at: 0)
        mark(.browserClean, at: 0.1)
        try projection(at: 0.5)
        mark(.tap, .cta, at: 2)
        mark(.tap, .share, at: 4)
    }

    // MARK: beside the proxy

    /// One TCP connection of the device that did not go through the proxy.
    mutating func besideTheProxy(to server: Endpoint, payload: [UInt8], at time: Double) {
        if !hasBeside {
            beside.interface(linkType: .ethernet, name: "wlan0")
            hasBeside = true
        }
        let client = Endpoint(address: Self.device.address, port: UInt16(50_000 + connections))
        connections += 1
        var sequence: (client: UInt32, server: UInt32) = (100, 200)
        func frame(_ side: Side, _ payload: [UInt8], syn: Bool = false, fin: Bool = false) {
            var segment = FrameWriter.Segment(
                sequence: side == .client ? sequence.client : sequence.server,
                acknowledgement: side == .client && syn ? nil : side == .client ? sequence.server : sequence.client)
            segment.isSyn = syn
            segment.isFin = fin
            payload.withUnsafeBytes { payload in
                besideFrames.tcp(
                    segment, payload: payload, from: side == .client ? client : server,
                    to: side == .client ? server : client, byDevice: side == .client
                ) { beside.packet($0, payload, interface: 1, at: Self.instant(time)) }
            }
            let length = UInt32(payload.count) + (syn || fin ? 1 : 0)
            if side == .client { sequence.client += length } else { sequence.server += length }
        }
        frame(.client, [], syn: true)
        frame(.server, [], syn: true)
        frame(.client, payload)
        frame(.server, [1, 2, 3, 4, 5, 6])
        frame(.client, [], fin: true)
        frame(.server, [], fin: true)
        written += writer.takeBytes() + beside.takeBytes()
    }

    /// A second interface that saw nothing.
    mutating func watch() {
        guard !hasBeside else { return }
        beside.interface(linkType: .ethernet, name: "wlan0")
        hasBeside = true
        written += writer.takeBytes() + beside.takeBytes()
    }

    // MARK: the whole

    private var written: [UInt8] = []

    private mutating func followed() throws -> JourneyKnowledge {
        written += writer.takeBytes()
        var judge = SessionJudge(policy: try Self.policy(), options: JudgeOptions())
        _ = try Self.read(written) { judge.receive($0) }
        return judge.journeyKnowledge
    }

    static func policy() throws -> Policy {
        try Policy.parse(yaml: "hosts:\n  partner: [api.partner.example]\n", file: "handoff.yml")
    }

    @discardableResult
    private static func read(_ bytes: [UInt8], _ receive: (SessionEvent) -> Void) throws -> TraceReading {
        let file = FileManager.default.temporaryDirectory.appending(path: "handoff-script-\(UUID().uuidString).pcapng")
        try Data(bytes).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try TraceReader.read(path: file.path, options: TraceOptions(), into: receive)
    }

    /// Ends the recording at a time, unless it was stopped hard, and judges it.
    mutating func judge(endingAt time: Double, isStoppedHard: Bool = false) throws -> (
        verdict: TraceVerdict, events: [SessionEvent], bytes: [UInt8]
    ) {
        if !isStoppedHard {
            mark(.end, at: time)
            writer.end(at: Self.instant(time))
            if hasBeside {
                // The second interface was watched to the end.
                beside.statistics(
                    InterfaceStatistics(
                        interface: 1, time: Self.instant(time), started: Self.instant(0), ended: Self.instant(time),
                        received: 0, droppedByInterface: 0))
            }
        }
        written += writer.takeBytes() + beside.takeBytes()
        var judge = SessionJudge(policy: try Self.policy(), options: JudgeOptions())
        var events: [SessionEvent] = []
        try Self.read(written) {
            judge.receive($0)
            events.append($0)
        }
        return (judge.finish(), events, written)
    }
}

extension TraceVerdict {
    subscript(_ id: String) -> RuleResult {
        rules.first { $0.id == id }
            ?? RuleResult(id: id, name: "", severity: .error, verdict: .notApplicable, sentence: "no such rule")
    }

    var story: String {
        rules.map { rule in
            "\(rule.id) \(rule.verdict.rawValue) \(rule.reason?.code ?? "") \(rule.sentence) "
                + rule.assumptions.map { "{\($0.code)}" }.joined()
        }.joined(separator: "\n")
    }
}
