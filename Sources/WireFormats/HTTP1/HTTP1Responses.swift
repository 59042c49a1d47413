internal import SessionTrace

/// The server's side of `HTTP1Observer`.
extension HTTP1Observer {
    mutating func receiveFromServer(
        _ bytes: UnsafeRawBufferPointer, from offset: inout Int, at packet: PacketReference,
        into output: inout [ConversationOutput]
    ) -> Switch? {
        serverBytesSeen = serverBytesSeen || !bytes.isEmpty
        while true {
            switch server.read(bytes, from: &offset, at: packet) {
            case .needsInput:
                return nil
            case .head(let head, let started):
                if let change = beginResponse(head, started: started, at: packet, into: &output) { return change }
            case .ended(let message):
                endResponse(message, end: .complete, into: &output)
            case .broken(let message, let reason):
                responseBeingRead?.add(.ambiguousFraming(reason))
                endResponse(message, end: .notSeen, into: &output)
            case .headOverLimit(let head, let started):
                let reason = "longer than \(limits.head) bytes"
                if head != nil {
                    unreadable(
                        "a response head \(reason)", bytes: nil, from: .server, since: started, at: packet,
                        into: &output)
                }
                cutResponse(head, reason: reason, started: started, at: packet, into: &output)
                if head == nil { pairing.gap(from: .server) }
            case .noMessage:
                beginBareResponse(at: packet)
            case .resumed(let search):
                passedOver(search, from: .server, at: packet, into: &output)
            }
        }
    }

    private mutating func beginResponse(
        _ head: MessageHead, started: PacketReference, at packet: PacketReference,
        into output: inout [ConversationOutput]
    ) -> Switch? {
        guard case .status(let status, let reason) = head.start else { return nil }
        countResponse()
        let exchange = answeredExchange(version: head.version, began: started, at: packet, into: &output)
        var response = Response(status: status, reason: reason, fields: head.fields, started: started, ended: packet)
        exchange.ended = packet
        for anomaly in head.anomalies { exchange.add(anomaly) }
        if serverIsDoubtful { exchange.add(.ambiguousFraming("begins where an ambiguous response was taken to end")) }
        serverIsDoubtful = false

        let maySwitch = exchange.request == nil || holding?.number == exchange.number
        if status < 200, !(status == 101 && maySwitch) {
            if status == 101 { exchange.add(.malformedHead("101 without an upgrade being asked for")) }
            exchange.add(interim: response, limit: limits.interimResponses)
            _ = server.endAtHead(packet)
            return nil
        }
        if let successor = successor(status: status, head: head, exchange: exchange, response: response) {
            exchange.response = response
            if case .http2 = successor {
                // The exchange goes on as stream 1 of HTTP/2.
                _ = queue.remove(exchange.number)
            } else {
                close(exchange, .complete, into: &output)
            }
            let held = holding
            holding = nil
            return Switch(successor: successor, held: held?.pieces ?? [], clientFinished: held?.finished)
        }

        var (framing, ambiguity) = head.framing.framing(of: .server, version: head.version)
        if exchange.request?.method == "HEAD" || status == 204 || status == 304 {
            framing = .none
            ambiguity = nil
        }
        if let ambiguity { exchange.add(.ambiguousFraming("response: \(ambiguity)")) }
        serverIsDoubtful = ambiguity != nil
        response.body.isComplete = framing == .none
        exchange.response = response
        responseBeingRead = exchange
        if framing == .none {
            endResponse(server.endAtHead(packet), end: .complete, into: &output)
        } else {
            server.begin(framing)
        }
        if holding?.number == exchange.number { releaseHeld(into: &output) }
        return nil
    }

    /// The exchange that a response head belongs to; one without a request is opened when there is none.
    private mutating func answeredExchange(
        version: HTTPVersion, began: PacketReference, at packet: PacketReference,
        into output: inout [ConversationOutput]
    ) -> OpenExchange {
        let mayComeLate = queue.firstAwaiting == nil
        let answer = pairing.answer(in: queue, began: began)
        for exchange in answer.unseen { close(exchange, .notSeen, into: &output) }
        if let exchange = answer.exchange { return exchange }
        let exchange = OpenExchange(
            number: queue.nextNumber, version: version, requestState: .absent, ended: packet)
        exchange.add(.unexpectedResponse)
        exchange.waitsForRequest = mayComeLate
        queue.append(exchange)
        aloneCount += 1
        return exchange
    }

    /// What the connection turns into with this response, if into anything.
    private func successor(
        status: Int, head: MessageHead, exchange: OpenExchange, response: Response
    ) -> Successor? {
        let request = exchange.request
        if let request, request.method == "CONNECT", (200..<300).contains(status) {
            let place = HostName.parse(authority: request.target)
            return .tunnel(place.map { ConnectionTarget(host: $0.host, port: $0.port ?? 443) })
        }
        guard status == 101 else { return nil }
        let names = head.fields.values("upgrade") + (request?.fields.values("upgrade") ?? [])
        switch names.first?.lowercased() {
        case "websocket":
            let id = ExchangeID(connection: connection, index: exchange.number)
            return .webSocket(id, extensions: head.fields.values("sec-websocket-extensions"))
        case "h2c":
            guard let request else { return .tunnel(nil) }
            return .http2(request, informational: exchange.informational + [response], number: exchange.number)
        default:
            return .tunnel(nil)
        }
    }

    /// Bytes without a status line where the connection's first response should be: an HTTP/0.9 response, which is
    /// content until close. Anywhere else they are passed over.
    private mutating func beginBareResponse(at packet: PacketReference) {
        guard queue.count == 1, !pairing.serverGap, let exchange = queue.firstAwaiting else {
            server.lose()
            return
        }
        let (gathered, first) = server.takeGathered()
        let started = first ?? packet
        exchange.response = Response(status: 0, reason: "", fields: FieldSection(), started: started, ended: packet)
        exchange.ended = packet
        if exchange.version != .http09 { exchange.add(.notHTTP("a response without a status line")) }
        responseBeingRead = exchange
        server.begin(.untilClose)
        var at = 0
        gathered.withUnsafeBytes { _ = server.read($0, from: &at, at: started) }
    }

    mutating func endResponse(_ message: MessageEnd, end: ExchangeEnd, into output: inout [ConversationOutput]) {
        guard let exchange = responseBeingRead else { return }
        responseBeingRead = nil
        exchange.response?.body = message.body
        exchange.response?.trailers = message.trailers
        exchange.response?.ended = message.ended
        exchange.ended = message.ended
        for anomaly in message.anomalies { exchange.add(anomaly) }
        switch exchange.requestState {
        case .absent where exchange.waitsForRequest:
            exchange.responseEnd = end
            aloneBytes += message.body.bytes.count
            boundAlone(into: &output)
        case .absent, .whole: close(exchange, end, into: &output)
        case .cut: close(exchange, .notSeen, into: &output)
        case .reading: exchange.responseEnd = end
        }
    }

    /// A response of which only a part of the head was read.
    mutating func cutResponse(
        _ head: MessageHead?, reason: String, started: PacketReference, at packet: PacketReference,
        into output: inout [ConversationOutput]
    ) {
        guard let head, case .status(let status, let phrase) = head.start else {
            unreadable(
                "a response head, \(reason)", bytes: nil, from: .server, since: started, at: packet, into: &output)
            return
        }
        countResponse()
        let exchange = answeredExchange(version: head.version, began: started, at: packet, into: &output)
        var response = Response(status: status, reason: phrase, fields: head.fields, started: started, ended: packet)
        response.body.isComplete = false
        exchange.add(.malformedHead(reason))
        exchange.ended = packet
        guard status >= 200 else {
            exchange.add(interim: response, limit: limits.interimResponses)
            return
        }
        exchange.response = response
        responseBeingRead = exchange
        var message = MessageEnd(ended: packet)
        message.body.isComplete = false
        endResponse(message, end: .notSeen, into: &output)
    }
}
