internal import SessionTrace

/// Searching what the app was answered for handoff URLs and tokens.
extension SessionModel {
    /// Searches an answer for handoff URLs and tokens, and keeps it a while for those that are not known yet.
    mutating func searchAnswer(_ exchange: Exchange, _ response: Response, _ flow: Flow?, isNew: Bool) {
        var response = response
        if MessageContent.isMedia(response.fields) { response.body = .empty }
        var hits: [LeakHit] = []
        var gaps: [ScanGap] = []
        for answer in exchange.informational + [response] {
            let result = found(in: answer)
            hits += result.hits.filter(\.isHandoffToken)
            gaps += result.gaps
        }
        guard !hits.isEmpty || !gaps.isEmpty || isNew else { return }
        if isNew {
            var kept = exchange
            kept.response = response
            kept.request?.body = .empty
            answerBacklog.append(.answer(kept, self.kept(flow)))
        }
        guard !hits.isEmpty || !gaps.isEmpty else { return }
        let record =
            exchange.isPushed
            ? nil
            : exchange.request.map { request in
                RequestRecord(
                    exchange, request: request, flow: flow, host: request.host ?? flow?.names.first,
                    actor: actor(of: request, flow), redactor: redactor)
            }
        if let record, let gap = gaps.first {
            var reason = BlindSpot.Reason.undecodableContent
            if case .budget = gap.reason { reason = .decodeBudget }
            let isKept = contents.keep(ContentGap(record: record, reason: reason))
            if !isKept { giveUp("messages that could not be looked into") }
        }
        guard !hits.isEmpty else { return }
        guard contents.leaks[exchange.id] != nil || contents.leaks.count < limits.hits else {
            return giveUp("leaks in answers")
        }
        let host = record?.host ?? exchange.request?.host ?? flow?.names.first
        let evidence =
            record?.evidence("answer")
            ?? Evidence(
                label: exchange.isPushed ? "pushed answer" : "answer",
                packets: [response.started.number, exchange.ended.number],
                span: TimeSpan(response.started.time, exchange.ended.time), connection: exchange.id.connection,
                endpoints: flow.map { "\($0.connection.client) → \($0.connection.server)" }, exchange: exchange.id,
                subject: "answer of \(redactor.host(host?.text ?? "?"))")
        contents.leaks[exchange.id] = AnswerLeak(
            record: record, host: host, actor: record?.actor ?? flow?.actor ?? .nothing, hits: hits,
            evidence: evidence, isMessage: false, isPushed: exchange.isPushed)
    }

    /// A WebSocket message of a server.
    mutating func searchAnswer(_ message: Message, _ flow: Flow?, isNew: Bool) {
        guard message.kind == .text || message.kind == .binary else { return }
        let record = upgrades[message.exchange]?.record
        let actor = record?.actor ?? flow?.actor ?? .nothing
        let host = record?.host ?? flow?.names.first
        guard actor.actor != .browser, !(host.map { isChia($0) } ?? false) else { return }
        if isNew { answerBacklog.append(.message(message, kept(flow))) }
        let hits = found(in: message).hits.filter(\.isHandoffToken)
        guard !hits.isEmpty else { return }
        guard contents.messageLeaks.count < limits.hits else { return giveUp("leaks in answers") }
        let leak = AnswerLeak(
            record: record, host: host, actor: actor, hits: hits,
            evidence: Evidence(
                label: "WebSocket message", packets: [message.started.number, message.ended.number],
                span: TimeSpan(message.started.time, message.ended.time), connection: message.exchange.connection,
                endpoints: flow.map { "\($0.connection.client) → \($0.connection.server)" },
                exchange: message.exchange, subject: "message of \(redactor.host(host?.text ?? "?"))"),
            isMessage: true, isPushed: false)
        if let known = contents.messageLeaks.firstIndex(where: { $0.evidence == leak.evidence }) {
            contents.messageLeaks[known] = leak
        } else {
            contents.messageLeaks.append(leak)
        }
    }

    /// Searches answers again for a handoff URL or token that has just become known; what is not kept any more of those that
    /// ended at an instant or later is a doubt.
    mutating func searchAnswersAgain(for kind: Needle.Kind, neededSince: Instant?) {
        guard kind == .handoffURL || kind == .token else { return }
        if let neededSince, answerBacklog.lacksItems(since: neededSince) { giveUp("repeated searches of answers") }
        guard let items = answerBacklog.items(since: nil) else { return giveUp("repeated searches of answers") }
        for item in items {
            switch item {
            case .answer(let exchange, let flow):
                if let response = exchange.response { searchAnswer(exchange, response, flow?.flow, isNew: false) }
            case .message(let message, let flow): searchAnswer(message, flow?.flow, isNew: false)
            case .exchange: continue
            }
        }
    }
}
