internal import SessionTrace

/// Both directions of an HTTP/1 connection: bytes in, exchanges out (RFC 9112). It reads what passed; it never answers.
struct HTTP1Observer {
    /// What the connection carries from some place on.
    enum Successor {
        /// CONNECT got a 2xx, or a 101 names a protocol that is not read here.
        case tunnel(ConnectionTarget?)
        case webSocket(ExchangeID, extensions: [String])
        /// `Upgrade: h2c` got a 101: the request becomes stream 1; its exchange keeps its number and its interim responses,
        /// the 101 among them.
        case http2(Request, informational: [Response], number: Int)
    }

    /// A change of protocol; the server's bytes after the current offset, and the client's that were held, belong to it.
    struct Switch {
        var successor: Successor
        var held: [HeldPiece]
        /// The client had finished while its bytes were held.
        var clientFinished: PacketReference?
    }

    let connection: ConnectionID
    let isSecure: Bool
    let limits: ConversationLimits
    var client: MessageReader
    var server: MessageReader
    var queue: ExchangeQueue
    var pairing = ResponsePairing()
    /// The exchange whose request, or response, is being read.
    var requestBeingRead: OpenExchange?
    var responseBeingRead: OpenExchange?
    /// After CONNECT or an upgrade request, what the client sends waits for the response; nil: nothing is to be held.
    var holding: Holding?
    /// The next message of a side begins where an ambiguous one was taken to end.
    var clientIsDoubtful = false
    var serverIsDoubtful = false
    var serverBytesSeen = false
    var finishedFirst: Side?
    var finishedSides: Set<Side> = []
    var openBytes = 0
    /// Responses in `queue` without a request, and the bytes of their content.
    var aloneCount = 0
    var aloneBytes = 0
    var gaveUp = false
    /// Requests and responses (interim ones too) whose heads were read.
    private(set) var requestCount = 0
    private(set) var responseCount = 0

    /// `startSeen`: the first bytes given are the first of the connection; otherwise it looks for the next message.
    init(
        connection: ConnectionID, isSecure: Bool, limits: ConversationLimits, startSeen: Bool,
        firstExchangeIndex: Int = 0
    ) {
        self.connection = connection
        self.isSecure = isSecure
        self.limits = limits
        client = MessageReader(side: .client, limits: limits, startSeen: startSeen)
        server = MessageReader(side: .server, limits: limits, startSeen: startSeen)
        queue = ExchangeQueue(firstNumber: firstExchangeIndex)
    }

    /// Reads bytes of one side from `offset` on. When the protocol changes it stops there and says so.
    mutating func receive(
        _ bytes: UnsafeRawBufferPointer, from offset: inout Int, side: Side, at packet: PacketReference,
        into output: inout [ConversationOutput]
    ) -> Switch? {
        switch side {
        case .client:
            receiveFromClient(bytes, from: &offset, at: packet, into: &output)
            return nil
        case .server:
            return receiveFromServer(bytes, from: &offset, at: packet, into: &output)
        }
    }

    /// Counts a response head.
    mutating func countResponse() {
        responseCount += 1
    }

    // MARK: The client's side

    mutating func receiveFromClient(
        _ bytes: UnsafeRawBufferPointer, from offset: inout Int, at packet: PacketReference,
        into output: inout [ConversationOutput]
    ) {
        while true {
            if holding != nil {
                hold(bytes.slice(offset..<bytes.count), at: packet, into: &output)
                offset = bytes.count
                return
            }
            switch client.read(bytes, from: &offset, at: packet) {
            case .needsInput:
                return
            case .head(let head, let started):
                beginRequest(head, started: started, at: packet, into: &output)
            case .ended(let message):
                endRequest(message, state: .whole, into: &output)
            case .broken(let message, let reason):
                requestBeingRead?.add(.ambiguousFraming(reason))
                // The search that follows misses no start line, so no request is hidden.
                endRequest(message, state: .cut, into: &output)
            case .headOverLimit(let head, let started):
                let reason = "longer than \(limits.head) bytes"
                if head != nil {
                    unreadable(
                        "a request head \(reason)", bytes: nil, from: .client, since: started, at: packet, into: &output
                    )
                }
                beginCutRequest(head, reason: reason, started: started, at: packet, into: &output)
                if head == nil { pairing.gap(from: .client) }
            case .noMessage:
                client.lose()
            case .resumed(let search):
                passedOver(search, from: .client, at: packet, into: &output)
            }
        }
    }

    private mutating func beginRequest(
        _ head: MessageHead, started: PacketReference, at packet: PacketReference,
        into output: inout [ConversationOutput]
    ) {
        guard case .request(let method, let target) = head.start else { return }
        let exchange = openRequest(
            head, method: method, target: target, started: started, at: packet, into: &output)
        let (framing, ambiguity) = head.framing.framing(of: .client, version: head.version)
        if let ambiguity { exchange.add(.ambiguousFraming("request: \(ambiguity)")) }
        if clientIsDoubtful { exchange.add(.ambiguousFraming("begins where an ambiguous request was taken to end")) }
        clientIsDoubtful = ambiguity != nil
        requestBeingRead = exchange
        // The bytes of the next protocol follow the request: they are held once it is whole.
        pendingHold = method == "CONNECT" || head.framing.hasUpgrade
        if framing == .none {
            announce(exchange, into: &output)
            endRequest(client.endAtHead(packet), state: .whole, into: &output)
        } else {
            exchange.request?.body.isComplete = false
            announce(exchange, into: &output)
            client.begin(framing)
        }
        boundOpenExchanges(at: packet, into: &output)
    }

    /// A request of which only a part of the head was read.
    mutating func beginCutRequest(
        _ head: MessageHead?, reason: String, started: PacketReference, at packet: PacketReference,
        into output: inout [ConversationOutput]
    ) {
        guard let head, case .request(let method, let target) = head.start else {
            unreadable(
                "a request head, \(reason)", bytes: nil, from: .client, since: started, at: packet, into: &output)
            return
        }
        let exchange = openRequest(
            head, method: method, target: target, started: started, at: packet, into: &output)
        exchange.add(.malformedHead(reason))
        exchange.requestState = .cut
        exchange.request?.body.isComplete = false
        announce(exchange, into: &output)
        if exchange.responseEnd != nil { close(exchange, .notSeen, into: &output) }
        boundOpenExchanges(at: packet, into: &output)
    }

    private mutating func openRequest(
        _ head: MessageHead, method: String, target: String, started: PacketReference, at packet: PacketReference,
        into output: inout [ConversationOutput]
    ) -> OpenExchange {
        requestCount += 1
        let place = TargetPlace(method: method, target: target, host: head.framing.host, isSecure: isSecure)
        let request = Request(
            method: method, target: target, scheme: place.scheme, authority: place.authority, fields: head.fields,
            body: .empty, started: started, ended: packet)
        let followsGap = pairing.requestFollowsGap()
        if let answered = answered(since: started, into: &output) {
            aloneCount -= 1
            aloneBytes -= answered.response?.body.bytes.count ?? 0
            answered.version = head.version
            answered.request = request
            answered.requestState = .reading
            answered.anomalies = head.anomalies + answered.anomalies.filter { $0 != .unexpectedResponse }
            return answered
        }
        let exchange = OpenExchange(
            number: queue.nextNumber, version: head.version, request: request, requestState: .reading, ended: packet)
        exchange.anomalies = head.anomalies
        exchange.followsGap = followsGap
        queue.append(exchange)
        return exchange
    }

    /// The response that answers a request which began in a packet and is told only now, behind a hole. Those that began
    /// before it answer requests that were not captured.
    private mutating func answered(
        since started: PacketReference, into output: inout [ConversationOutput]
    ) -> OpenExchange? {
        guard aloneCount > 0 else { return nil }
        for exchange in queue.open where exchange.requestState == .absent {
            guard let response = exchange.response else { continue }
            if response.started.number >= started.number { return exchange }
            if let end = exchange.responseEnd { close(exchange, end, into: &output) }
        }
        return nil
    }

    private func announce(_ exchange: OpenExchange, into output: inout [ConversationOutput]) {
        guard let request = exchange.request else { return }
        let id = ExchangeID(connection: connection, index: exchange.number)
        output.append(.event(.requestStarted(id, exchange.version, request)))
    }

    mutating func endRequest(
        _ message: MessageEnd, state: OpenExchange.RequestState, into output: inout [ConversationOutput]
    ) {
        guard let exchange = requestBeingRead else { return }
        requestBeingRead = nil
        openBytes += message.body.bytes.count
        exchange.request?.body = message.body
        exchange.request?.trailers = message.trailers
        exchange.request?.ended = message.ended
        exchange.requestState = state
        if message.ended.number > exchange.ended.number { exchange.ended = message.ended }
        for anomaly in message.anomalies { exchange.add(anomaly) }
        if message.dropped > 0, let started = exchange.request?.started {
            bodyOverLimit(message, since: started, into: &output)
        }
        if pendingHold {
            pendingHold = false
            if exchange.awaitsResponse { holding = Holding(number: exchange.number) }
        }
        if let end = exchange.responseEnd { close(exchange, state == .whole ? end : .notSeen, into: &output) }
    }

    /// The request being read is followed by bytes that wait for its response.
    var pendingHold = false
}
