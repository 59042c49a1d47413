public import Assertions
public import SessionTrace

/// The timeline of a trace for people: what was asked of whom and when, with the marks between.
///
/// Feed it every event, then ask for the text: lines are put in order of time at the end, since events come in the order
/// in which things finished.
public struct Timeline: Sendable {
    /// Lines kept; what is beyond is counted in the last line.
    public static let lineLimit = 200_000

    private struct Entry {
        var time: Instant
        var packet: Int
        var text: String
        var tone: Tone
    }

    private enum Tone {
        case plain, faint, mark, warning
    }

    private let style: TextStyle
    private let redactor: Redactor
    private let role: @Sendable (HostName) -> String?
    private var entries: [Entry] = []
    private var omitted = 0
    private var hosts: [ConnectionID: HostName] = [:]
    private var servers: [ConnectionID: Endpoint] = [:]
    private var processes: [ConnectionID: ProcessIdentity] = [:]
    private var senders = SenderSigns()

    /// Makes a timeline; `role` names the role that the policy gives a host.
    public init(style: TextStyle, redactor: Redactor, role: @escaping @Sendable (HostName) -> String?) {
        self.style = style
        self.redactor = redactor
        self.role = role
    }

    /// Takes the next event.
    public mutating func receive(_ event: SessionEvent) {
        switch event {
        case .connectionOpened(let connection):
            servers[connection.id] = connection.server
            processes[connection.id] = connection.process
            if let target = connection.tunnelTarget {
                hosts[connection.id] = target.host
                add(
                    connection.opened, connection.id, "tunnel", "to \(named(target.host)) port \(target.port)", .faint)
            }
        case .clientHello(let hello):
            if let name = hello.serverName { hosts[hello.connection] = name }
            let target =
                hello.serverName.map(named) ?? "\(servers[hello.connection].map { "\($0)" } ?? "?") (no server name)"
            let protocols = hello.applicationProtocols.joined(separator: ",")
            add(
                hello.started, hello.connection, "TLS",
                "\(target)\(protocols.isEmpty ? "" : "  \(protocols)")  \(hello.ja4)", .faint)
        case .nameLookup(let lookup):
            guard !lookup.isMulticast, !lookup.isResponse, let name = lookup.name else { return }
            add(lookup.seen, lookup.connection, "DNS", "\(named(name))  \(recordType(lookup.type))", .faint)
        case .exchange(let exchange):
            add(exchange)
        case .message(let message):
            let arrow = message.from == .client ? "→" : "←"
            add(
                message.started, message.exchange.connection, "WS",
                "\(arrow) \(message.kind.rawValue), \(byteCount(message.payload.length))", .plain)
        case .mark(let mark):
            add(mark)
        case .activityStarted(let start):
            add(
                PacketReference(number: 0, time: start.span.earliest), ConnectionID(-1), "start", start.component,
                .plain)
        case .proxyEvent(let word):
            // That an origin was reached is nothing to tell; the request that follows says it.
            guard word.kind != .dialed, word.kind != .upstreamTLS else { return }
            add(
                word.packet ?? PacketReference(number: 0, time: word.at), word.connection ?? ConnectionID(-1), "proxy",
                words(of: word), word.kind == .exchange || word.kind == .withheld ? .faint : .warning)
        case .blindSpot(let spot):
            let host = spot.connection.flatMap { hosts[$0] }.map { " of \(named($0))" } ?? ""
            let detail = spot.detail.isEmpty ? "" : " (\(spot.detail))"
            let bytes = spot.bytes.map { ", \(byteCount($0))" } ?? ""
            add(
                PacketReference(number: spot.noticed.number, time: max(spot.span.earliest, Instant(nanoseconds: 0))),
                spot.connection ?? ConnectionID(-1), "unseen", "\(spot.reason.rawValue)\(host)\(bytes)\(detail)",
                .warning)
        case .processIdentified(let id, let process):
            processes[id] = process
        case .connectionClosed(let end):
            // Ids are not given twice, and a recording may run for hours.
            servers[end.id] = nil
            hosts[end.id] = nil
            processes[end.id] = nil
        case .requestStarted, .delivery, .secureSession, .traceEnded:
            break
        }
    }

    /// The lines since the last call, newline at their end: for who shows a trace while it is recorded.
    public mutating func takeText() -> String {
        defer {
            entries.removeAll(keepingCapacity: true)
            omitted = 0
        }
        return text
    }

    /// The timeline, newline at its end.
    public var text: String {
        let sorted = entries.enumerated().sorted {
            ($0.element.time, $0.offset) < ($1.element.time, $1.offset)
        }.map(\.element)
        var lines = sorted.map { entry -> String in
            let packet = padded(entry.packet > 0 ? "#\(entry.packet)" : "", 7)
            let line = "\(entry.time.timeOfDay)  \(packet) \(Redactor.printable(entry.text))"
            switch entry.tone {
            case .plain: return line
            case .faint: return style.paint(line, .faint)
            case .mark: return style.paint(line, .bold)
            case .warning: return style.paint(line, .yellow)
            }
        }
        if omitted > 0 { lines.append("… and \(omitted) more") }
        return lines.joined(separator: "\n") + (lines.isEmpty ? "" : "\n")
    }

    /// What the proxy did, with those attributes that tell people something.
    private func words(of event: ProxyEvent) -> String {
        let shown = [
            "name", "host", "port", "reason", "how", "action", "rule", "method", "relation", "status", "actor",
        ]
        let details = shown.compactMap { event.attributes[$0] }.map(Redactor.withoutTokens)
        return ([event.kind.rawValue] + details).joined(separator: "  ")
    }

    private mutating func add(_ exchange: Exchange) {
        guard let request = exchange.request else {
            guard let response = exchange.response else { return }
            add(
                response.started, exchange.id.connection, "HTTP", "← \(response.status) to a request that was not seen",
                .plain)
            return
        }
        let host = request.host ?? hosts[exchange.id.connection]
        // The mark itself has a line.
        if host?.text == "mark.handoff.test", request.path.hasPrefix("/m/") { return }
        let target = request.method == "CONNECT" ? "" : redactor.path(request.pathAndQuery)
        let sender = senders.sender(of: request, process: processes[exchange.id.connection])
        var line =
            "\(padded(sender, 7)) \(padded(redactor.name(request.method), 5)) \(host.map(named) ?? "?")\(target)"
        if request.body.length > 0 { line += "  \(byteCount(request.body.length)) up" }
        if let response = exchange.response {
            line += "  → \(response.status), \(byteCount(response.body.length))"
            line += ", \(durationText(nanoseconds: response.ended.time.nanoseconds(since: request.started.time)))"
        }
        switch exchange.end {
        case .complete: break
        case .closed(let side): line += "  ✗ closed by the \(side)"
        case .reset(let side, _): line += "  ✗ reset by the \(side)"
        case .unprocessed: line += "  ✗ not processed, says the server"
        case .notSeen: line += "  ? its end was not seen"
        case .traceEnded: line += "  ? the trace ended first"
        }
        if let agent = request.fields.first("user-agent") {
            line += "  [\(redactor.fieldValue(agent, of: "user-agent").prefix(40))]"
        }
        add(request.started, exchange.id.connection, exchange.version == .http2 ? "h2" : "HTTP", line, .plain)
    }

    private mutating func add(_ mark: Mark) {
        var words = [mark.kind.rawValue]
        if let target = mark.target { words.append(target.rawValue) }
        if mark.count > 1 { words.append("×\(mark.count)") }
        if let phase = mark.phase { words.append(phase.rawValue) }
        if let name = mark.name { words.append(name) }
        if mark.by == .person { words.append("(by hand)") }
        let packet = PacketReference(number: mark.packet?.number ?? 0, time: mark.span.earliest)
        add(packet, ConnectionID(-1), "mark", "── \(words.joined(separator: " ")) ──", .mark)
    }

    private mutating func add(
        _ packet: PacketReference, _ connection: ConnectionID, _ layer: String, _ text: String, _ tone: Tone
    ) {
        guard entries.count < Self.lineLimit else {
            omitted += 1
            return
        }
        let name = connection.number < 0 ? "" : "c\(connection.number)"
        entries.append(
            Entry(
                time: packet.time, packet: packet.number, text: "\(padded(name, 5)) \(padded(layer, 6)) \(text)",
                tone: tone))
    }

    private func named(_ host: HostName) -> String {
        redactor.host(host.text) + (role(host).map { " {\($0)}" } ?? "")
    }

    private func recordType(_ type: UInt16) -> String {
        switch type {
        case 1: "A"
        case 28: "AAAA"
        case 5: "CNAME"
        case 64: "SVCB"
        case 65: "HTTPS"
        default: "type \(type)"
        }
    }
}

/// A number of bytes as people read it: `812 B`, `3.4 kB`, `12 MB`.
func byteCount(_ bytes: Int) -> String {
    switch bytes {
    case ..<1_000: "\(bytes) B"
    case ..<100_000: "\(bytes / 1_000).\(bytes % 1_000 / 100) kB"
    case ..<1_000_000: "\(bytes / 1_000) kB"
    default: "\(bytes / 1_000_000).\(bytes % 1_000_000 / 100_000) MB"
    }
}
