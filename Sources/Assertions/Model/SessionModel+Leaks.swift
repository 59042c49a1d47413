internal import SessionTrace

/// Searching what the device sent.
extension SessionModel {
    /// Teaches the scanner a value, and searches again what may have been sent since it was known.
    mutating func learn(_ kind: Needle.Kind, _ value: String, since: Instant?, isForeign: Bool = false) {
        guard let needle = needles.add(kind, value) else { return }
        scanner.learn(needle: needle, isNested: !isForeign)
        // A URL's token is searched with it.
        if kind == .handoffURL, let token = Token.first(in: value) { needles.know(token, as: needle.number) }
        searchAnswersAgain(for: kind)
        guard let items = backlog.items(since: since) else { return giveUp("repeated searches") }
        for item in items {
            switch item {
            case .exchange(let exchange, let flow): scan(exchange, flow)
            case .message(let message, let flow): scan(message, flow)
            case .answer: continue
            }
        }
    }

    /// The crafted values of a `return` mark are looked for in everything that is sent (RULES HR-63), what was sent before
    /// included, since a value that was there already tells nothing: each attribute's value, and the values of its query and fragment where it is a URL.
    mutating func learnCanaries(of mark: Mark) {
        guard mark.kind == .return else { return }
        for (_, value) in mark.attributes.sorted(by: { $0.key < $1.key }) {
            for canary in Self.canaries(in: value) { learn(.canary, canary, since: nil) }
        }
    }

    /// The crafted values that a mark's attribute writes.
    static func canaries(in attribute: String) -> [String] {
        let parts = attribute.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
            .flatMap { $0.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false) }
        guard parts.count > 1 else { return [attribute] }
        // What stands before the query is the registered link, which the app may name.
        return parts.dropFirst().flatMap { part in
            part.split(separator: "&").map { pair in
                var value: [UInt8] = []
                let text = pair.firstIndex(of: "=").map { pair[pair.index(after: $0)...] } ?? pair
                Array(text.utf8).withUnsafeBytes { _ = TextDecoding.percent($0, into: &value) }
                return String(decoding: value, as: UTF8.self)
            }
        }
    }

    /// What a response holds of the values that are known now, in every decoding; no leak, and kept nowhere: for rules
    /// about what the app receives (RULES HR-36, HR-55).
    mutating func found(in response: Response) -> ScanResult { scanner.scan(response) }

    /// The same of a WebSocket message, whoever sent it.
    mutating func found(in message: Message) -> ScanResult { scanner.scan(message) }

    /// The server name and the protocols that a client offered.
    mutating func search(_ hello: ClientHello, _ flow: Flow) {
        var hits = hello.serverName.map { scanner.scan(serverName: $0).hits } ?? []
        hits += scanner.scan(applicationProtocols: hello.applicationProtocols).hits
        guard !hits.isEmpty else { return }
        let name = hello.serverName ?? flow.names.first
        let evidence = Evidence(
            label: "client hello", packets: [hello.seen.number], span: TimeSpan(hello.seen.time),
            connection: hello.connection,
            endpoints: "\(flow.connection.client) → \(flow.connection.server)",
            subject: redactor.host(name?.text ?? "?"))
        keep(LeakRecord(carrier: .serverName(name, evidence, hello.connection), hits: hits))
    }

    mutating func search(_ exchange: Exchange, _ flow: Flow?) {
        scan(exchange, flow)
        var kept = exchange
        kept.response = nil
        kept.informational = []
        backlog.append(.exchange(kept, flow))
    }

    private mutating func scan(_ exchange: Exchange, _ flow: Flow?) {
        let result = scanner.scan(exchange)
        guard !result.hits.isEmpty || !result.gaps.isEmpty, let request = exchange.request else { return }
        let host =
            request.method == "CONNECT"
            ? HostName.parse(authority: request.target)?.host ?? request.host : request.host ?? flow?.names.first
        let record =
            leaks[exchange.id]?.request
            ?? RequestRecord(
                exchange, request: request, flow: flow, host: host, actor: actor(of: request, flow), redactor: redactor)
        for gap in result.gaps {
            let gap = ScanGapRecord(
                gap: gap, host: host, actor: record.actor, started: record.started.time,
                evidence: record.evidence("not looked into", place: gap.place))
            guard !knownGaps.contains(gap) else { continue }
            guard scanGaps.count < 1_000 else {
                giveUp("unread bodies")
                continue
            }
            knownGaps.insert(gap)
            scanGaps.append(gap)
        }
        guard !result.hits.isEmpty else { return }
        guard leaks[exchange.id] != nil || leaks.count < limits.hits else { return giveUp("leaks") }
        leaks[exchange.id] = LeakRecord(carrier: .request(record), hits: result.hits)
    }

    /// One hit a place: a token that was learnt from a navigation before its URL was, is the URL's.
    static func merged(_ hits: [LeakHit]) -> [LeakHit] {
        let ofURLs = hits.filter { $0.needle?.kind == .handoffURL }
        return hits.filter { hit in
            hit.needle?.kind != .token
                || !ofURLs.contains { $0.location == hit.location && $0.matched == hit.matched }
        }
    }

    mutating func receive(_ message: Message) {
        let flow = flows[message.exchange.connection]
        if message.from == .server { return searchAnswer(message, flow, isNew: true) }
        guard message.kind == .text || message.kind == .binary else { return }
        scan(message, flow)
        backlog.append(.message(message, flow))
    }

    private mutating func scan(_ message: Message, _ flow: Flow?) {
        let result = scanner.scan(message)
        guard !result.hits.isEmpty else { return }
        let host = flow?.names.first
        let evidence = Evidence(
            label: "WebSocket message", packets: [message.started.number, message.ended.number],
            span: TimeSpan(message.started.time, message.ended.time), connection: message.exchange.connection,
            endpoints: flow.map { "\($0.connection.client) → \($0.connection.server)" }, exchange: message.exchange,
            subject: "message to \(redactor.host(host?.text ?? "?"))")
        keep(
            LeakRecord(
                carrier: .message(upgrades[message.exchange], host: host, evidence), hits: result.hits,
                flowActor: flow?.actor ?? .nothing))
    }

    mutating func keep(_ leak: LeakRecord) {
        if let known = otherLeakPlaces[leak.carrier] {
            otherLeaks[known] = leak
        } else if otherLeaks.count < limits.hits {
            otherLeakPlaces[leak.carrier] = otherLeaks.count
            otherLeaks.append(leak)
        } else {
            giveUp("leaks")
        }
    }
}
