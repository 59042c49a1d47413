internal import ContentCodings
internal import SessionTrace

/// What is kept of projections.
extension SessionModel {
    mutating func keepProjection(
        _ exchange: Exchange, _ request: Request, _ flow: Flow?, _ host: HostName?, _ actor: ActorReading
    ) {
        guard request.method != "CONNECT" else { return }
        let template = policy.requests.projection
        let holes =
            template.method == nil || template.method == request.method ? template.path.match(request.path) : nil
        if holes == nil {
            guard request.method == "GET", let response = exchange.response, (200..<300).contains(response.status),
                MessageContent.isJSON(response.fields)
            else { return }
        }
        let item = holes.flatMap { $0["id"] ?? $0.values.min() }
        var reader = ProjectionReader(
            fields: policy.fields, matchesTemplate: holes != nil, redactor: redactor,
            roleOf: { [roles] in roles.role(of: $0) }
        )
        let answer = readAnswer(exchange, item: item, isNamed: holes != nil, &reader)
        guard holes != nil || !reader.decisions.isEmpty else { return }
        guard projections.count < limits.projections else { return giveUp("projections") }
        for decision in reader.decisions {
            guard let text = decision.neutralURL, let address = WebAddress(text) else { continue }
            keep(openedHost: address.host)
            learnNeutral(text, since: exchange.ended.time)
        }
        // A list of many items tells nothing of which one is chosen.
        if reader.decisions.count <= 3 {
            for decision in reader.decisions {
                learnSelection(
                    item: decision.item ?? item, disclosureVersion: decision.disclosureVersion,
                    since: exchange.ended.time, isChosen: false)
            }
        }
        var marks = reader.evidenceMarks
        if exchange.response?.fields.values("warning").contains(where: { $0.hasPrefix("110") }) ?? false {
            marks.append(EvidenceMark(word: "stale", place: nil, item: nil))
        }
        projections.append(
            Projection(
                record: RequestRecord(
                    exchange, request: request, flow: flow, host: host, actor: actor, redactor: redactor),
                matchesTemplate: holes != nil, item: item, decisions: reader.decisions, answer: answer,
                isReadable: isReadable(exchange, answer, isNamed: holes != nil),
                caching: exchange.response.map { ResponseCaching($0.fields) } ?? .none,
                oddURLs: reader.oddURLs, urlCount: reader.urlCount, duplicates: reader.duplicates, evidenceMarks: marks,
                images: reader.images, isCropped: reader.isCropped))
    }

    /// Whether all of an answer is here and could be read: where no decision is in it, none was sent.
    private func isReadable(_ exchange: Exchange, _ answer: Projection.Answer, isNamed: Bool) -> Bool {
        switch answer {
        case .read: return true
        case .notModified, .unanswered, .notWhole: return false
        case .redirected, .failed, .malformed:
            guard isNamed, let response = exchange.response, response.body.isWhole else { return false }
            let body = MessageContent.decoded(response.body.bytes, response.fields, limit: Projection.limit)
            return body.isEmpty || MessageContent.isReadableJSON(body)
        }
    }

    private func readAnswer(
        _ exchange: Exchange, item: String?, isNamed: Bool, _ reader: inout ProjectionReader
    ) -> Projection.Answer {
        switch exchange.end {
        case .complete: break
        case .closed, .reset, .unprocessed: return .unanswered
        case .notSeen, .traceEnded: return .notWhole(.tcpHole)
        }
        guard let response = exchange.response else { return .unanswered }
        switch response.status {
        case 304: return .notModified
        case 300..<400: return .redirected
        case 400...: return .failed(response.status)
        default: break
        }
        guard response.body.isWhole else {
            return .notWhole(response.body.isCut ? .bodyOverLimit : .tcpHole)
        }
        let content = MessageContent.content(of: response, limit: Projection.limit)
        guard content.isWhole else { return .notWhole(.undecodableContent) }
        // Both literals hold the word; without a template nothing else tells a projection.
        guard isNamed || MessageContent.contains(content.bytes, "neutral") else { return .read }
        do throws(JSONError) {
            let value = try JSONValue.parse(
                content.bytes, limits: Projection.jsonLimits)
            reader.read(value, item: item)
            return .read
        } catch {
            switch error.code {
            case .tooDeep, .tooLong, .tooManyValues: return .notWhole(.decodeBudget)
            default: return .malformed(content.bytes.isEmpty ? "it is empty" : error.description)
            }
        }
    }
}

extension MessageContent {
    /// The content of a body with its codings undone, and whether all of it could be, or was too much. What is in no coding is
    /// not copied.
    static func content(
        of body: Body, _ fields: FieldSection, limit: Int
    ) -> (bytes: ArraySlice<UInt8>, isWhole: Bool, isOverBudget: Bool) {
        let codings = ContentCodings.tokens(fields.values("content-encoding"))
        guard !codings.isEmpty else {
            let isOver = body.bytes.count > limit
            return (body.bytes.prefix(limit), body.isWhole && !isOver, isOver)
        }
        let decoded = ContentCodings.decodeAll(body.bytes, codings: codings, limit: limit)
        var (isWhole, isOver) = (body.isWhole, false)
        for problem in decoded.problems {
            switch problem {
            case .trailingBytes, .mislabelled: continue
            case .outputLimit, .expansionLimit: isOver = true
            case .truncated, .corrupt, .unknownCoding, .tooManyCodings: break
            }
            isWhole = false
        }
        return (decoded.bytes[...], isWhole, isOver)
    }

    /// The same of an answer.
    static func content(of response: Response, limit: Int) -> (bytes: [UInt8], isWhole: Bool, isOverBudget: Bool) {
        let content = content(of: response.body, response.fields, limit: limit)
        return (Array(content.bytes), content.isWhole, content.isOverBudget)
    }
}
