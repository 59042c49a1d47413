internal import SessionTrace

/// Looking into the app's messages, both ways, as they come.
extension SessionModel {
    /// Reads one exchange; what the browser sends and gets is looked at for its cookies alone.
    mutating func readContents(
        _ exchange: Exchange, _ request: Request, _ flow: Flow?, _ host: HostName?, _ actor: ActorReading,
        isChiaHost: Bool
    ) {
        guard request.method != "CONNECT" else { return }
        var record = PendingRecord(
            exchange: exchange, request: request, flow: flow, host: host, actor: actor, redactor: redactor)
        readCookies(&record, isChiaHost: isChiaHost)
        guard actor.actor != .browser else { return }
        if actor.actor != .os {
            contents.countQuestion()
            readQuestion(&record, isChiaHost: isChiaHost)
            if let status = exchange.response?.status, (300..<400).contains(status),
                let address = WebAddress(request),
                let location = exchange.response?.fields.first("location").flatMap({ address.resolve($0) }),
                contents.redirects.count < ContentLog.redirectLimit
            {
                contents.redirects[address] = location
            }
        }
        guard let response = exchange.response else {
            if exchange.end == .notSeen, actor.actor != .os,
                !contents.keep(ContentGap(record: record.made(), reason: .tcpHole))
            {
                giveUp("messages that could not be looked into")
            }
            return
        }
        if !isChiaHost { searchAnswer(exchange, response, flow, isNew: true) }
        guard actor.actor != .os else { return }
        contents.countAnswer()
        readAnswer(response, &record)
    }

    /// An answer without its request, or pushed: all that is asked is whether it holds a handoff URL.
    mutating func readStrayAnswer(_ exchange: Exchange) {
        guard let response = exchange.response, let flow = flows[exchange.id.connection] else { return }
        let host = exchange.request?.host ?? flow.names.first
        guard flow.actor.actor != .browser, !(host.map { isChia($0) } ?? false) else { return }
        searchAnswer(exchange, response, flow, isNew: true)
    }

    // MARK: what stands in answers

    private mutating func readAnswer(_ response: Response, _ record: inout PendingRecord) {
        searchSecrets(in: response.fields, [], &record, isInRequest: false)
        for name in WebhookSignature.fields(in: response.fields) {
            keep(.webhookSignature(name), "header:\(name)", &record, isInRequest: false)
        }
        if let text = response.fields.first("location"),
            let location = WebAddress(record.request).flatMap({ $0.resolve(text) }) ?? WebAddress(text)
        {
            keepAsset(location, "header:location", &record)
        }
        guard !MessageContent.isMedia(response.fields) else { return }
        let content = MessageContent.content(of: response, limit: Projection.limit)
        let isTorn = record.exchange.end == .notSeen || record.exchange.end == .traceEnded
        if !content.isWhole, isTorn || record.exchange.end == .complete {
            keepGap(
                in: response.body, isTorn: isTorn, isOverBudget: content.isOverBudget, &record, isInRequest: false)
        }
        let isJSON =
            MessageContent.isJSON(response.fields) || MessageContent.isEventStream(response.fields)
            || MessageContent.beginsJSON(content.bytes, mediaType: BodyFacts.mediaType(response.fields))
        readText(content.bytes, isJSON: isJSON, status: response.status, &record)
    }

    /// A WebSocket message of a server.
    mutating func readAnswer(_ payload: Body, _ record: inout PendingRecord) {
        let content = Array(payload.bytes.prefix(Projection.limit))
        if !payload.isWhole || content.count < payload.bytes.count {
            keepGap(in: payload, isTorn: false, isOverBudget: payload.isWhole, &record, isInRequest: false)
        }
        readText(content, isJSON: MessageContent.beginsJSON(content, mediaType: ""), status: 200, &record)
    }

    private mutating func readText(_ bytes: [UInt8], isJSON: Bool, status: Int, _ record: inout PendingRecord) {
        guard !bytes.isEmpty else { return }
        if isJSON { readNames(in: bytes, status: status, &record) }
        searchAssets(in: bytes, &record)
        searchSecrets(in: FieldSection(), bytes[...], &record, isInRequest: false)
    }

    /// Keeps that part of a message could not be looked into, and why.
    private mutating func keepGap(
        in body: Body, isTorn: Bool, isOverBudget: Bool, _ record: inout PendingRecord, isInRequest: Bool
    ) {
        let reason: BlindSpot.Reason =
            body.isCut
            ? .bodyOverLimit
            : body.missing > 0 || isTorn ? .tcpHole : isOverBudget ? .decodeBudget : .undecodableContent
        keepGap(reason, &record, isInRequest: isInRequest)
    }

    private mutating func keepGap(_ reason: BlindSpot.Reason, _ record: inout PendingRecord, isInRequest: Bool) {
        let gap = ContentGap(record: record.made(), reason: reason, isInRequest: isInRequest)
        if !contents.keep(gap) { giveUp("messages that could not be looked into") }
    }

    private mutating func readNames(in bytes: [UInt8], status: Int, _ record: inout PendingRecord) {
        var reader = AnswerReader(bytes, keys: forbiddenKeys, hidden: policy.fields.hidden)
        let request = record.request
        reader.readJSON(
            isProjection: policy.requests.projection.matches(method: request.method, path: request.path))
        if reader.isCropped { giveUp("names in one answer") }
        guard !reader.marks.isEmpty else { return }
        let tells = tellsOfHandoff(bytes)
        for mark in reader.marks {
            switch mark.kind {
            // What says that there is no such item sends none.
            case .hiddenState, .hiddenID: guard (200..<300).contains(status) else { continue }
            default: break
            }
            keep(
                mark.kind, mark.place.shown, template: mark.place.template, &record, isInRequest: false,
                tellsOfHandoff: tells)
        }
    }

    /// Whether a text names the item or session of a handoff, or Chia, as words of their own.
    private func tellsOfHandoff(_ bytes: [UInt8]) -> Bool {
        func holds(_ text: String, _ style: WordSearch.Style) -> Bool {
            bytes.withUnsafeBytes { WordSearch.holds(Array(text.utf8), in: $0, style) }
        }
        func holds(id: String) -> Bool {
            // A short number may be any other number.
            id.utf8.count >= (id.utf8.allSatisfy { (0x30...0x39).contains($0) } ? 6 : 4) && holds(id, .exact)
        }
        if holds("chia", .name) || holds("chiahealth", .name) { return true }
        if let token = TokenShape.first(in: bytes), !TokenShape.readsAsName(token.bytes) { return true }
        let hosts = policy.hosts.chia + policy.hosts.chiaAPI + policy.hosts.chiaAssets
        if hosts.contains(where: { holds($0.domain.text, .anyCase) }) { return true }
        return requests.contains { request in
            request.catalogID.map(holds(id:)) ?? false || request.answer.identifiers.contains { holds(id: $0.value) }
        }
    }

    /// Looks for URLs of Chia's in a text, those that stand in the query of another one (an image service's) among them.
    private mutating func searchAssets(in bytes: [UInt8], _ record: inout PendingRecord) {
        let isThere = assetDomains.contains { domain in
            Array(domain.utf8).withUnsafeBytes { name in bytes.withUnsafeBytes { ByteSearch.contains(name, in: $0) } }
        }
        guard isThere else { return }
        var texts = [bytes]
        if bytes.contains(0x25) {
            var plain: [UInt8] = []
            bytes.withUnsafeBytes { TextDecoding.undo(.percent, of: $0, into: &plain) }
            texts.append(plain)
        }
        for text in texts {
            for url in assetDomains.flatMap({ AnswerReader.urls(on: $0, in: text) }) {
                if let address = WebAddress(url) { keepAsset(address, "body", &record) }
            }
        }
    }

    private mutating func keepAsset(_ address: WebAddress, _ place: String, _ record: inout PendingRecord) {
        guard isChia(address.host) else { return }
        let sign = address.token == nil ? SignedURL.sign(ofQuery: address.query) : nil
        guard roles.role(of: address.host) == .chiaAssets || sign != nil else { return }
        keep(.assetURL(address.host, sign: sign), place, &record, isInRequest: false)
    }

    // MARK: what stands in requests

    private static let credentialFields = [
        "authorization", "x-api-key", "api-key", "apikey", "x-chia-api-key", "x-chia-key",
    ]

    private mutating func readQuestion(_ record: inout PendingRecord, isChiaHost: Bool) {
        let request = record.request
        searchSecrets(in: request.fields, Array(request.target.utf8)[...], &record, isInRequest: true)
        readBody(of: request, &record)
        for name in WebhookSignature.fields(in: request.fields) {
            keep(.webhookSignature(name), "header:\(name)", &record, isInRequest: true)
        }
        if isChiaHost {
            for name in Self.credentialFields where request.fields.first(name) != nil {
                keep(.credential(name), "header:\(name)", &record, isInRequest: true)
            }
        }
        for (place, name) in SDKName.places(in: request) { keep(.sdk(name), place, &record, isInRequest: true) }
        let path = policy.requests.catalog.isEmpty ? "" : request.path
        if let template = policy.requests.catalog.first(where: { $0.matches(method: request.method, path: path) }) {
            keep(.catalogCall(template.description), "path", &record, isInRequest: true)
        }
    }

    mutating func readBody(of request: Request, _ record: inout PendingRecord) {
        let body = request.body
        guard !body.bytes.isEmpty || !body.isWhole, !MessageContent.isMedia(request.fields) else { return }
        let content = MessageContent.content(of: body, request.fields, limit: ContentLog.requestLimit)
        let end = record.exchange.end
        // Of a body that the client broke off everything that was sent is here.
        let isTorn = !body.isComplete && (end == .notSeen || end == .traceEnded)
        if !content.isWhole, isTorn || body.isComplete || body.isCut || body.missing > 0 {
            keepGap(in: body, isTorn: isTorn, isOverBudget: content.isOverBudget, &record, isInRequest: true)
        }
        searchSecrets(in: FieldSection(), content.bytes, &record, isInRequest: true)
    }

    private mutating func searchSecrets(
        in fields: FieldSection, _ text: ArraySlice<UInt8>, _ record: inout PendingRecord, isInRequest: Bool
    ) {
        var found: [(hits: [SecretSearch.Hit], isWhole: Bool, place: String)] = []
        // Names and values stand back to back in the section: each value is looked at by itself.
        for field in fields.fields where field.valueLength >= SecretHash.lengths.lowerBound {
            let own = secretSearch.search(Array(fields.valueBytes(field))[...])
            guard !own.hits.isEmpty || !own.isWhole else { continue }
            found.append((own.hits, own.isWhole, "header:\(redactor.name(fields.name(field).lowercased()))"))
        }
        if !text.isEmpty {
            let own = secretSearch.search(text)
            found.append((own.hits, own.isWhole, fields.fields.isEmpty ? "body" : "path"))
        }
        for (hits, isWhole, place) in found {
            for hit in hits { keep(.secret(hit.kind), place, &record, isInRequest: isInRequest) }
            if !isWhole { keepGap(.decodeBudget, &record, isInRequest: isInRequest) }
        }
    }

    private mutating func keep(
        _ kind: ContentFinding.Kind, _ shown: String, template: String? = nil, _ record: inout PendingRecord,
        isInRequest: Bool, tellsOfHandoff: Bool = false
    ) {
        let made = record.made()
        let finding = ContentFinding(
            kind: kind, record: made, isInRequest: isInRequest, shown: shown, template: template ?? shown,
            first: made.started.time, last: made.ended.time, tellsOfHandoff: tellsOfHandoff)
        if !contents.keep(finding, limit: limits.contentFindings) { giveUp("findings in contents") }
    }
}

/// The record of a request, made when something is found in it: most hold nothing.
struct PendingRecord {
    let exchange: Exchange
    let request: Request
    let flow: Flow?
    let host: HostName?
    let actor: ActorReading
    let redactor: Redactor
    private var record: RequestRecord?

    init(
        exchange: Exchange, request: Request, flow: Flow?, host: HostName?, actor: ActorReading, redactor: Redactor
    ) {
        self.exchange = exchange
        self.request = request
        self.flow = flow
        self.host = host
        self.actor = actor
        self.redactor = redactor
    }

    mutating func made() -> RequestRecord {
        if let record { return record }
        let made = RequestRecord(
            exchange, request: request, flow: flow, host: host, actor: actor, redactor: redactor)
        record = made
        return made
    }
}

extension MessageContent {
    /// Whether the content is a picture, sound, film or font by its media type: nothing in it is read.
    static func isMedia(_ fields: FieldSection) -> Bool {
        guard let type = fields.first("content-type")?.lowercased() else { return false }
        return ["image/", "video/", "audio/", "font/"].contains { type.hasPrefix($0) } && !type.hasPrefix("image/svg")
    }
}

/// Header fields by which a webhook of Chia's proves itself to the partner's backend.
enum WebhookSignature {
    static let names = [
        "chia-signature", "x-chia-signature", "chia-webhook-signature", "x-chia-webhook-signature",
        "x-chia-hmac-sha256",
    ]
    /// Names that several services use, with the form that their values have.
    static let shared = ["webhook-signature", "svix-signature"]

    static func fields(in fields: FieldSection) -> [String] {
        names.filter { fields.first($0) != nil } + shared.filter { fields.first($0)?.hasPrefix("v1,") ?? false }
    }
}

/// The name of Chia's SDK for servers, which no app imports.
enum SDKName {
    /// Header fields that name other hosts and pages, or hold values of their own.
    private static let exempt: Set<String> = [
        "host", ":authority", ":path", "referer", "origin", "cookie", "authorization", "location",
    ]

    /// Where a request names it, and how.
    static func places(in request: Request) -> [(place: String, name: String)] {
        var places: [(String, String)] = []
        if let name = find(in: Array(request.path.utf8)) { places.append(("path", name)) }
        let query = Array(request.pathAndQuery.utf8.dropFirst(request.path.utf8.count))
        if let name = find(in: query), name != bare { places.append(("query", name)) }
        // Names and values stand back to back in the section, so that a word may seem to go on there.
        guard find(in: request.fields.storage, asWord: false) != nil else { return places }
        for field in request.fields.fields {
            let label = request.fields.name(field).lowercased()
            guard !exempt.contains(label) else { continue }
            if let name = find(in: Array(request.fields.valueBytes(field))) ?? find(in: Array(label.utf8)) {
                places.append(
                    ("header:\(find(in: Array(label.utf8)) == nil ? TextMask.word(Substring(label)) : name)", name))
            }
        }
        return places
    }

    /// The name without what makes it the SDK's: it may stand for Chia itself.
    static let bare = "chiahealth"
    private static let word = Array(bare.utf8)

    /// The name in bytes, in any case and escaped or not, as a word of its own.
    static func find(in bytes: [UInt8], asWord: Bool = true) -> String? {
        guard bytes.count >= word.count else { return nil }
        for start in 0...bytes.count - word.count where bytes[start] | 0x20 == word[0] {
            let end = start + word.count
            guard zip(bytes[start..<end], word).allSatisfy({ $0 | 0x20 == $1 }),
                !asWord
                    || (start == 0 || !isLetterOrDigit(bytes, start - 1))
                        && (end == bytes.count || !isLetterOrDigit(bytes[end]))
            else { continue }
            let rest = String(decoding: bytes[end...].prefix(10), as: UTF8.self).lowercased()
            return rest.hasPrefix("/partner") || rest.hasPrefix("%2fpartner") ? "@chiahealth/partner" : "chiahealth"
        }
        return nil
    }

    /// Whether the byte before the word belongs to it; an escape (`%40`) does not.
    private static func isLetterOrDigit(_ bytes: [UInt8], _ index: Int) -> Bool {
        if index >= 2, bytes[index - 2] == 0x25 { return false }
        return isLetterOrDigit(bytes[index])
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }
}
