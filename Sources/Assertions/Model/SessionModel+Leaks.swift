internal import SessionTrace

/// Searching what the device sent.
extension SessionModel {
    /// Teaches the scanner a value, and searches again what may have been sent since it was known.
    ///
    /// - Parameters:
    ///   - since: from when on what is kept is searched; all of it when nil.
    ///   - neededSince: from when on all must have been searched, so that what is not kept any more is a doubt; nil where
    ///     nothing rests on what came before.
    ///   - isNested: see `LeakScanner.learn`.
    mutating func learn(
        _ kind: Needle.Kind, _ value: String, since: Instant?, neededSince: Instant?, isNested: Bool = true,
        fieldNames: [String] = []
    ) {
        guard let needle = needles.add(kind, value) else { return }
        scanner.learn(needle: needle, isNested: isNested, fieldNames: fieldNames)
        if kind == .handoffURL || kind == .token { knowsToken = true }
        // A URL's token is searched with it.
        if kind == .handoffURL, let token = Token.first(in: value) { needles.know(token, as: .token) }
        searchAnswersAgain(for: kind, neededSince: neededSince)
        if let neededSince, backlog.lacksItems(since: neededSince) { giveUp("repeated searches") }
        guard let items = backlog.items(since: since) else { return giveUp("repeated searches") }
        for item in items {
            switch item {
            case .exchange(let exchange, let flow): scan(exchange, flow?.flow)
            case .message(let message, let flow): scan(message, flow?.flow)
            case .answer: continue
            }
        }
    }

    /// The item and the disclosure version of a session request or projection are looked for from then on (RULES HR-48).
    ///
    /// - Parameter isChosen: false for what was only shown; of a shop's many items the first ones are looked for, and those
    ///   that are shown soon after the call to action was tapped.
    mutating func learnSelection(item: String?, disclosureVersion: String?, since: Instant, isChosen: Bool = true) {
        let isTapped =
            lastCallToAction.map { (0...policy.timing.tapToRequest.count).contains(since.nanoseconds(since: $0)) }
            ?? false
        guard isChosen || isTapped || needles.count(of: .catalogID) < Self.shownItems else {
            if let item, !item.isEmpty, !needles.contains(item, as: [.catalogID]) {
                if unsearchedItems.count < 1_000 {
                    unsearchedItems.insert(item)
                } else {
                    giveUp("items that were shown")
                }
            }
            return
        }
        if let item, !item.isEmpty {
            knowsSelection = true
            // What was left out when it was shown may have been sent since then.
            let wasLeftOut = unsearchedItems.remove(item) != nil
            learn(
                .catalogID, item, since: wasLeftOut ? nil : since, neededSince: since,
                fieldNames: Self.names(ofPointer: policy.fields.catalogID))
        }
        if let disclosureVersion, !disclosureVersion.isEmpty {
            learn(
                .disclosureVersion, disclosureVersion, since: since, neededSince: since,
                fieldNames: Self.names(ofPointer: policy.fields.disclosureVersion))
        }
    }

    /// A neutral URL is looked for from then on at services for links and clicks; anybody may know it (RULES HR-51).
    mutating func learnNeutral(_ text: String, since: Instant) {
        // One with a token in it is found by that, as a handoff URL is.
        guard TokenShape.first(in: text) == nil else { return }
        guard needles.count(of: .neutralURL) < Self.neutralURLs || needles.contains(text, as: [.neutralURL]) else {
            hasMoreNeutralURLs = true
            return
        }
        learn(.neutralURL, text, since: since, neededSince: since, isNested: false)
    }

    /// Neutral URLs that are looked for.
    static let neutralURLs = 32

    /// Items that were only shown and are looked for.
    private static let shownItems = 16

    /// How a field is called: as the policy says (case is disregarded), and in the other usual spellings.
    static func names(ofPointer pointer: String) -> [String] {
        guard let last = pointer.split(separator: "/").last, !last.isEmpty else { return [] }
        var words: [String] = []
        for character in last {
            if character.isUppercase || words.isEmpty { words.append("") }
            if character == "_" || character == "-" {
                words.append("")
            } else {
                words[words.count - 1].append(character)
            }
        }
        words.removeAll(where: \.isEmpty)
        return Set([String(last), words.joined(separator: "_"), words.joined(separator: "-"), words.joined()]).sorted()
    }

    /// The crafted values of a `return` mark are looked for in everything that is sent (RULES HR-63), what was sent before
    /// included, since a value that was there already tells nothing: each attribute's value, and the values of its query and fragment where it is a URL.
    mutating func learnCanaries(of mark: Mark) {
        guard mark.kind == .return else { return }
        let start = MarkBook.reach(mark, policy.timing).earliest
        for canary in CraftedReturnIgnored.crafted(mark) where CraftedReturnIgnored.isSearched(canary) {
            learn(.canary, canary, since: nil, neededSince: start)
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
                Array(text.utf8).withUnsafeBytes { TextDecoding.undo(.percent, of: $0, into: &value) }
                return String(decoding: value, as: UTF8.self)
            }
        }
    }

    /// What a response holds of the values that are known now, in every decoding; no leak, and kept nowhere: for rules
    /// about what the app receives (RULES HR-36, HR-55).
    mutating func found(in response: Response) -> ScanResult { noted(scanner.scan(response)) }

    /// The same of a WebSocket message, whoever sent it.
    mutating func found(in message: Message) -> ScanResult { noted(scanner.scan(message)) }

    /// The server name and the protocols that a client offered.
    mutating func search(_ hello: ClientHello, _ flow: Flow) {
        var hits = hello.serverName.map { noted(scanner.scan(serverName: $0)).hits } ?? []
        hits += noted(scanner.scan(applicationProtocols: hello.applicationProtocols)).hits
        guard !hits.isEmpty else { return }
        let name = hello.serverName ?? flow.names.first
        let evidence = Evidence(
            label: "client hello", packets: [hello.seen.number], span: TimeSpan(hello.seen.time),
            connection: hello.connection,
            endpoints: "\(flow.connection.client) → \(flow.connection.server)",
            subject: redactor.host(name?.text ?? "?"))
        var leak = LeakRecord(
            carrier: .serverName(name, evidence, hello.connection), hits: [], client: flow.connection.client.address)
        leak.hits = settled(hits, leak)
        if !leak.hits.isEmpty { keep(leak) }
    }

    mutating func search(_ exchange: Exchange, _ flow: Flow?) {
        scan(exchange, flow)
        var kept = exchange
        kept.response = nil
        kept.informational = []
        backlog.append(.exchange(kept, self.kept(flow)))
    }

    private mutating func scan(_ exchange: Exchange, _ flow: Flow?) {
        let result = noted(scanner.scan(exchange))
        guard let request = exchange.request else { return }
        let mayBeSplit = knowsToken && request.method != "CONNECT"
        guard !result.isEmpty || mayBeSplit else { return }
        let fields = mayBeSplit ? SplitWatch.fields(of: request) : []
        guard !result.isEmpty || !fields.isEmpty else { return }
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
        var leak = LeakRecord(
            carrier: .request(record), hits: [], hints: result.hints, client: record.client?.address)
        watch(result, fields, leak)
        leak.hits = settled(result.hits, leak)
        guard !leak.hits.isEmpty || !result.hints.isEmpty else { return }
        guard leaks[exchange.id] != nil || leaks.count < limits.hits else { return giveUp("leaks") }
        leaks[exchange.id] = leak
    }

    /// Keeps where items are named, and gives back the other hits that some rule may ask for.
    private mutating func settled(_ hits: [LeakHit], _ leak: LeakRecord) -> [LeakHit] {
        hits.filter { hit in
            guard case .known(let needle, let form) = hit.match else { return true }
            switch needle.kind {
            case .catalogID, .disclosureVersion:
                // The partner is who the app speaks to about its items.
                if let host = leak.host, !policy.hosts.partner.covers(host), !isChia(host) { selections.add(leak, hit) }
                return false
            case .neutralURL:
                // A path alone may be the service's own.
                guard form != .path, let kind = leak.host.flatMap({ vendorKind(of: $0) }) else { return false }
                return kind.isAboutLinks || kind.isAboutClicks
            case .cookie:
                // The browser has it from Chia, and gives it back there.
                let isChias = leak.host.map { isChia($0) } ?? false
                return !leak.actor.actor.isElsewhere && !(isChias && leak.actor.actor == .unknown)
            case .handoffURL, .token, .idempotencyKey, .sessionIdentifier, .canary, .secret: return true
            }
        }
    }

    /// Looks at pieces of a token, and at small fields that may be.
    private mutating func watch(
        _ result: ScanResult, _ fields: [(name: String, value: [UInt8])], _ leak: LeakRecord
    ) {
        if !result.pieces.isEmpty { splits.add(result.pieces, of: leak) }
        if knowsToken, !fields.isEmpty, !result.hits.contains(where: \.isHandoffToken) {
            splits.add(fields, of: leak, &scanner)
        }
    }

    /// The name of a DNS question.
    mutating func search(_ lookup: NameLookup) {
        guard let name = lookup.name else { return }
        let result = noted(scanner.scan(lookup))
        guard !result.isEmpty || knowsToken else { return }
        var leak = LeakRecord(
            carrier: .lookup(name, evidence(lookup)), hits: [],
            client: flows[lookup.connection]?.connection.client.address)
        let domain = SplitWatch.domain(of: name)
        let labels = name.text.dropLast(domain.utf8.count).split(separator: ".")
        watch(result, labels.map { ("dns-name", Array($0.utf8)) }, leak)
        leak.hits = settled(result.hits, leak)
        if !leak.hits.isEmpty { keep(leak) }
    }

    /// One hit a place: a token that was learnt from a navigation before its URL was, is the URL's.
    static func merged(_ hits: [LeakHit]) -> [LeakHit] {
        let ofURLs = hits.filter { $0.needle?.kind == .handoffURL }
        return hits.filter { hit in
            hit.needle?.kind != .token
                || !ofURLs.contains { $0.location == hit.location && $0.matched == hit.matched }
        }
    }

    mutating func scan(_ message: Message, _ flow: Flow?) {
        let result = noted(scanner.scan(message))
        let isSmall = message.payload.bytes.count <= SplitWatch.smallField
        guard !result.isEmpty || (knowsToken && isSmall) else { return }
        let host = flow?.names.first
        let evidence = Evidence(
            label: "WebSocket message", packets: [message.started.number, message.ended.number],
            span: TimeSpan(message.started.time, message.ended.time), connection: message.exchange.connection,
            endpoints: flow.map { "\($0.connection.client) → \($0.connection.server)" }, exchange: message.exchange,
            subject: "message to \(redactor.host(host?.text ?? "?"))")
        var leak = LeakRecord(
            carrier: .message(upgrades[message.exchange]?.record, host: host, evidence), hits: [],
            flowActor: flow?.actor ?? .nothing, client: flow?.connection.client.address)
        watch(result, [("message", message.payload.bytes)], leak)
        leak.hits = settled(result.hits, leak)
        if !leak.hits.isEmpty { keep(leak) }
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
