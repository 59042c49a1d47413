internal import SessionTrace

/// The request that opened a WebSocket, for what its messages hold.
struct Upgrade: Sendable {
    /// Without its answer.
    let exchange: Exchange
    let request: Request
    let flow: Flow?
    let host: HostName?
    let actor: ActorReading
    let record: RequestRecord

    /// How a message is called where a request has its method.
    static let method = "WS"

    /// A message, as if it had been sent by a request of its own, or answered one.
    func exchange(of message: Message) -> (Exchange, Request) {
        var request = request
        request.method = Self.method
        request.body = message.from == .client ? message.payload : .empty
        request.started = message.started
        request.ended = message.ended
        var exchange = exchange
        exchange.request = request
        exchange.end = .complete
        exchange.ended = message.ended
        return (exchange, request)
    }
}

/// What stands in the app's WebSocket messages.
extension SessionModel {
    mutating func receive(_ message: Message) {
        let flow = flows[message.exchange.connection]
        readContents(message)
        if message.from == .server { return searchAnswer(message, flow, isNew: true) }
        guard message.kind == .text || message.kind == .binary else { return }
        scan(message, flow)
        backlog.append(.message(message, kept(flow)))
    }

    /// Remembers what opened a WebSocket.
    mutating func keepUpgrade(
        _ exchange: Exchange, _ request: Request, _ flow: Flow?, _ host: HostName?, _ actor: ActorReading
    ) {
        guard exchange.response?.status == 101 || request.connectProtocol != nil else { return }
        guard upgrades.count < 1_000 else { return giveUp("WebSockets") }
        var head = exchange
        head.response = nil
        head.informational = []
        upgrades[exchange.id] = Upgrade(
            exchange: head, request: request, flow: flow, host: host, actor: actor,
            record: RequestRecord(exchange, request: request, flow: flow, host: host, actor: actor, redactor: redactor))
    }

    /// Looks into a message as into a request's body, or into an answer's.
    private mutating func readContents(_ message: Message) {
        guard message.kind == .text || message.kind == .binary, let upgrade = upgrades[message.exchange],
            upgrade.actor.actor != .browser, upgrade.actor.actor != .os
        else { return }
        let (exchange, request) = upgrade.exchange(of: message)
        var record = PendingRecord(
            exchange: exchange, request: request, flow: upgrade.flow, host: upgrade.host, actor: upgrade.actor,
            redactor: redactor)
        if message.from == .client {
            contents.countQuestion()
            readBody(of: request, &record)
            log(exchange, request, upgrade)
        } else {
            contents.countAnswer()
            readAnswer(message.payload, &record)
        }
    }

    private mutating func log(_ exchange: Exchange, _ request: Request, _ upgrade: Upgrade) {
        guard !messageLog.isFull else { return messageLog.leaveOut(at: request.started.time) }
        let content = Array(request.body.bytes.prefix(BodyFacts.limit))
        let body = BodyFacts(request, content: content)
        let circumstances = messageLog.shared(
            LoggedRequest.Circumstances(
                method: request.method, host: upgrade.host, client: upgrade.flow?.connection.client.address,
                server: upgrade.flow?.connection.server.address, actor: upgrade.actor, page: nil))
        let kept = messageLog.shared(body, OutcomeWord.all(inMessage: content, body))
        messageLog.append(
            LoggedRequest(exchange, request, upgrade.flow, circumstances: circumstances, content: kept))
    }
}

extension Session {
    /// WebSocket messages of the app, or of an unknown sender, that were sent from one instant on and before another.
    func appMessages(from: Instant, until: Instant) -> [LoggedRequest] {
        messages.requests(from: from, until: until).filter { message in
            !message.actor.actor.isElsewhere && role(of: message.host) != .osNoise
                && !isOfAnotherDevice(message.client?.address)
        }
    }

    /// Says that some WebSocket messages were too many to be logged, for rules that ask about those before `until`.
    func doubtMessageLog(until: Instant, _ judgement: inout Judgement) {
        guard let first = messages.uncountedSince, first < until else { return }
        judgement.doubt(
            "request-log-full",
            "the log of WebSocket messages was full: \(counted(messages.uncounted, "message")) after the first \(messages.requests.count) could not be looked at",
            remedy: "split the capture, or narrow it with --filter to the device")
    }
}
