internal import SessionTrace

/// What is kept of a request and its answer.
extension SessionModel {
    /// `isWithheld`: made of what was kept of the heads alone.
    mutating func receive(_ exchange: Exchange, isWithheld: Bool = false) {
        guard let request = exchange.request, !exchange.isPushed else { return readStrayAnswer(exchange) }
        var flow = flows[exchange.id.connection]
        let host =
            request.method == "CONNECT"
            ? HostName.parse(authority: request.target)?.host ?? request.host : request.host ?? flow?.names.first
        guard host != HostRoles.markHost, host != HostRoles.trustHost else {
            learnControlVisit(request, flow)
            return
        }
        var actor = actor(of: request, flow)
        let isChiaHost = host.map { isChia($0) } ?? false
        if isChiaHost, actor.actor == .browser, !actor.isDefinite,
            let conflict = StackSigns.conflict(request, ja4: flow?.ja4)
        {
            actor = ActorReading(
                actor: .unknown, isDefinite: false, reason: conflict, basis: .contradiction)
        }
        let isAssociation = isChiaHost && OSNoiseHosts.isAssociationPath(request.path)

        if request.method != "CONNECT" {
            if request.target.hasPrefix("http") { usesProxy = true }
            flow?.requests += 1
            if flow?.requests == 1 { stacks.learn(request, ja4: flow?.ja4, host: host, actor: actor) }
            if isAssociation, actor.actor == .os || actor.actor == .unknown { flow?.associationRequests += 1 }
            if let known = flow?.actor { flow?.actor = known.combined(with: actor) }
            if let host, let known = flow?.authorities, known.count < Flow.authorityLimit, !known.contains(host) {
                flow?.authorities.append(host)
            }
            if let flow { flows[exchange.id.connection] = flow }
            switch actor.actor {
            case .app, .webview, .unknown: appRequests += 1
            case .browser: browserRequests += 1
            case .os: break
            }
        } else if flow != nil {
            flow?.hasConnect = true
            usesProxy = true
            flow?.tunnelActor = actor
            flows[exchange.id.connection] = flow
        }

        log(exchange, request, flow, host, actor)
        if isChiaHost || host.map({ openedHosts.contains($0) }) ?? false {
            if chiaRequests.count < limits.chiaRequests {
                chiaRequests.append(
                    RequestRecord(
                        exchange, request: request, flow: flow, host: host, actor: actor, redactor: redactor,
                        keepsHead: true))
            } else {
                giveUp("requests to Chia")
            }
            if isChiaHost, actor.actor == .browser {
                let record = RequestRecord(
                    exchange, request: request, flow: flow, host: host, actor: actor, redactor: redactor)
                keepReturnLinks(exchange, request, record)
            }
            if actor.actor == .browser, let token = Token.first(in: request.target) {
                // The session answer that made it was not read: it may be older than anything that is kept.
                learn(.token, token, since: nil, neededSince: .distantPast)
                keep(token: token)
            }
        }
        keepUpgrade(exchange, request, flow, host, actor)
        if !isWithheld {
            keepAttempt(exchange, request, flow, host, actor)
            keepProjection(exchange, request, flow, host, actor)
            keepStatusLike(exchange, request, flow, host, actor)
            readContents(exchange, request, flow, host, actor, isChiaHost: isChiaHost)
        }
        keepRedirect(exchange, request, flow, host, actor)
        keepBrowsing(exchange, request, flow, host, actor, isChia: isChiaHost)
        search(exchange, flow)
    }

    /// Who sent a request: the connection's recorded process, else the request's own headers.
    mutating func actor(of request: Request, _ flow: Flow?) -> ActorReading {
        let own = agents.read(request)
        return ActorReading(process: flow?.connection.process).map { $0.combined(with: own) } ?? own
    }

    private mutating func keep(token: String) {
        if tokens.count < NeedleBook.limit, !tokens.contains(token) { tokens.append(token) }
    }

    // MARK: attempts

    private mutating func keepAttempt(
        _ exchange: Exchange, _ request: Request, _ flow: Flow?, _ host: HostName?, _ actor: ActorReading
    ) {
        let template = policy.requests.session
        guard request.method == template.method ?? "POST" || request.method == "POST" else { return }
        // What a page of Chia posts in the browser is Chia's.
        if actor.actor == .browser, isOfChiaPage(request) { return }
        let matches = template.matches(method: request.method, path: request.path)
        let headerKeys: [String]
        if case .header(let name) = policy.requests.key {
            headerKeys = request.fields.values(name)
        } else {
            headerKeys = []
        }
        var body = MessageContent.decoded(request.body.bytes, request.fields, limit: limits.attemptBody)
        guard matches || !headerKeys.isEmpty || MessageContent.contains(body, "affirmed") || bodyKeyHolds(body) else {
            return
        }
        guard requests.count < limits.attempts, requestBytes < limits.attemptBytes else {
            return giveUp("session requests")
        }
        let isWhole = request.body.isWhole && body.count < limits.attemptBody
        if body.count > limits.attemptBody { body.removeLast(body.count - limits.attemptBody) }
        let value = try? JSONValue.parse(body, limits: JSONLimits(bytes: limits.attemptBody, depth: 32, values: 20_000))
        var keys = headerKeys
        if case .body(let pointer) = policy.requests.key, let key = value?.value(at: pointer)?.stringValue {
            keys = [key]
        }
        let encoding = request.fields.values("content-encoding").joined(separator: ", ")
        var answer = SessionAnswer()
        if let response = exchange.response, (200..<300).contains(response.status) {
            answer = SessionAnswer(response) { isChia($0) }
        }
        var loose: [String: String] = [:]
        for name in SessionRequest.loose {
            if let value = request.fields.first(name) { loose[name] = redactor.digest(value) }
        }
        var session = SessionRequest(
            record: RequestRecord(exchange, request: request, flow: flow, host: host, actor: actor, redactor: redactor),
            matchesTemplate: matches, keys: keys, hasUnknownFields: request.fields.hasUnknownFields,
            hasCredential: policy.requests.credential.contains { $0.isIn(request.fields) },
            hasExpect: request.fields.first("expect") != nil,
            contentType: request.fields.first("content-type"), body: body,
            rawBody: encoding.isEmpty ? [] : Array(request.body.bytes.prefix(limits.attemptBody)),
            bodyIsWhole: isWhole, missing: request.body.missing, bodyLength: request.body.length,
            contentEncoding: encoding,
            catalogID: value?.value(at: policy.fields.catalogID).flatMap(Self.text),
            disclosureVersion: value?.value(at: policy.fields.disclosureVersion).flatMap(Self.text),
            looseFields: loose, answer: answer, responseIsWhole: exchange.response?.body.isWhole ?? false)
        session.saysItIsOne =
            !matches && !actor.actor.isElsewhere && value?.value(at: policy.fields.affirmed) != nil
            && !policy.requests.allow.contains { $0.matches(method: request.method, path: request.path) }
            && (!keys.isEmpty || host.map { roles.role(of: $0) } != .telemetry)
        requestIndex[exchange.id] = requests.count
        requests.append(session)
        requestBytes += body.count + session.rawBody.count
        learn(from: session, exchange)
    }

    func isOfChiaPage(_ request: Request) -> Bool {
        ["origin", "referer"].compactMap { request.fields.first($0) }.contains {
            WebAddress($0).map { isChia($0.host) } ?? false
        }
    }

    private static func text(_ value: JSONValue) -> String? {
        if case .number(let text) = value { return text }
        return value.stringValue
    }

    private func bodyKeyHolds(_ body: [UInt8]) -> Bool {
        guard case .body(let pointer) = policy.requests.key, body.first == UInt8(ascii: "{") else { return false }
        return (try? JSONValue.parse(body, limits: JSONLimits(bytes: limits.attemptBody, depth: 32, values: 20_000)))?
            .value(at: pointer)?.stringValue != nil
    }

    private mutating func learn(from session: SessionRequest, _ exchange: Exchange) {
        if let url = session.answer.url {
            learn(.handoffURL, url, since: exchange.ended.time, neededSince: exchange.ended.time)
            if let token = session.answer.token { keep(token: token) }
            if let host = WebAddress(url)?.host { keep(openedHost: host) }
        }
        guard session.matchesTemplate || session.hasSessionShape else { return }
        learnSelection(
            item: session.catalogID, disclosureVersion: session.disclosureVersion, since: session.record.started.time)
        for key in Set([session.key].compactMap(\.self) + session.bareKeys).sorted() {
            let start = session.record.started.time
            learn(.idempotencyKey, key, since: start, neededSince: start)
        }
        let sent = String(decoding: session.body, as: UTF8.self)
        let identifiers = session.answer.identifiers.map(\.value).filter {
            $0 != session.key && $0 != session.catalogID && !sent.contains($0)
        }
        for value in identifiers {
            // Searched in all that is kept: what the app sent before its session began is no id of the session.
            learn(.sessionIdentifier, value, since: nil, neededSince: nil)
        }
        searchEarlierAnswers(for: identifiers, before: session.record.started.time)
    }

    // MARK: redirects and status calls

    private mutating func keepRedirect(
        _ exchange: Exchange, _ request: Request, _ flow: Flow?, _ host: HostName?, _ actor: ActorReading
    ) {
        guard actor.actor == .browser || actor.actor == .webview, let response = exchange.response,
            (300..<400).contains(response.status)
        else { return }
        let record = RequestRecord(exchange, request: request, flow: flow, host: host, actor: actor, redactor: redactor)
        guard let location = record.location else { return }
        guard redirects.count + viewRedirects.count < 5_000 else { return giveUp("redirects") }
        if actor.actor == .browser {
            redirects.append(record, to: location)
        } else {
            viewRedirects.append(record, to: location)
        }
    }

    private static let statusWords: Set<String> = ["status", "orders", "order-status", "order_status", "orderstatus"]

    private mutating func keepStatusLike(
        _ exchange: Exchange, _ request: Request, _ flow: Flow?, _ host: HostName?, _ actor: ActorReading
    ) {
        guard actor.actor != .browser, actor.actor != .os, request.method != "CONNECT" else { return }
        let path = request.path
        let isNamed = policy.requests.status.contains { $0.matches(method: request.method, path: path) }
        let isLikely =
            MessageContent.mayNameStatus(path)
            && path.split(separator: "/").contains { Self.statusWords.contains($0.lowercased()) }
        guard isNamed || isLikely else { return }
        guard statusLike.count < 1_000 else { return giveUp("status requests") }
        statusLike.append(
            RequestRecord(exchange, request: request, flow: flow, host: host, actor: actor, redactor: redactor))
    }
}
