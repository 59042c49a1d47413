internal import SessionTrace

/// Holes, ends, limits and held bytes of `HTTP1Observer`.
extension HTTP1Observer {
    /// What the client sent while it was unknown which protocol it belongs to.
    struct Holding {
        /// The exchange whose response will tell.
        let number: Int
        var pieces: [HeldPiece] = []
        var count = 0
        var finished: PacketReference?

        init(number: Int) {
            self.number = number
        }
    }

    // MARK: Holes

    /// Bytes of a side are missing from the capture.
    mutating func hole(
        length: Int?, from side: Side, at packet: PacketReference, into output: inout [ConversationOutput]
    ) {
        switch side {
        case .client:
            if holding != nil {
                holding?.pieces.append(.hole(length, packet))
                return
            }
            switch client.hole(length: length, at: packet) {
            case .inside:
                break
            case .ended(let message):
                endRequest(message, state: .whole, into: &output)
            case .endedAndMore(let message):
                endRequest(message, state: .whole, into: &output)
                pairing.gap(from: .client)
            case .cutBody(let message):
                endRequest(message, state: .cut, into: &output)
                pairing.gap(from: .client)
            case .cutHead(let head, let started):
                beginCutRequest(
                    head, reason: "cut by a hole in the capture", started: started, at: packet, into: &output)
                pairing.gap(from: .client)
            case .between:
                pairing.gap(from: .client)
            }
        case .server:
            switch server.hole(length: length, at: packet) {
            case .inside:
                break
            case .ended(let message):
                endResponse(message, end: .complete, into: &output)
            case .endedAndMore(let message):
                endResponse(message, end: .complete, into: &output)
                pairing.gap(from: .server)
            case .cutBody(let message):
                endResponse(message, end: .notSeen, into: &output)
                pairing.gap(from: .server)
            case .cutHead(let head, let started):
                cutResponse(head, reason: "cut by a hole in the capture", started: started, at: packet, into: &output)
                pairing.gap(from: .server)
            case .between:
                pairing.gap(from: .server)
            }
        }
    }

    // MARK: Ends

    /// A side sends no more (FIN).
    mutating func finished(side: Side, at packet: PacketReference, into output: inout [ConversationOutput]) {
        guard finishedSides.insert(side).inserted else { return }
        finishedFirst = finishedFirst ?? side
        if side == .client, holding != nil {
            holding?.finished = packet
            return
        }
        end(side, inOrder: true, otherwise: .closed(by: side), at: packet, into: &output)
        guard side == .server else { return }
        // No response will come any more.
        let end: ExchangeEnd = pairing.serverGap || !serverIsReadable ? .notSeen : .closed(by: finishedFirst ?? .server)
        for exchange in queue.open where exchange.awaitsResponse && exchange.requestState != .reading {
            close(exchange, end, into: &output)
        }
    }

    /// Whether the server's stream was followed to this point.
    private var serverIsReadable: Bool { server.search == nil }

    /// The connection is over: everything open ends.
    mutating func closed(
        cause: ConnectionEnd.Cause, at packet: PacketReference, into output: inout [ConversationOutput]
    ) {
        if holding != nil { releaseHeld(into: &output) }
        let how: ExchangeEnd =
            switch cause {
            case .finished: finishedFirst.map { .closed(by: $0) } ?? .notSeen
            case .reset(let side): .reset(by: side, code: nil)
            case .idle, .traceEnded: .traceEnded
            }
        end(.client, inOrder: false, otherwise: how, at: packet, into: &output)
        end(.server, inOrder: finishedSides.contains(.server), otherwise: how, at: packet, into: &output)
        let isHidden = pairing.serverGap || !serverIsReadable
        for exchange in queue.open {
            let isUnanswered = exchange.awaitsResponse && isHidden
            let oneSided = cause == .finished && !finishedSides.contains(.server) && exchange.requestState != .absent
            close(exchange, isUnanswered || oneSided ? .notSeen : exchange.responseEnd ?? how, into: &output)
        }
        for side in Side.allCases {
            guard let search = side == .client ? client.search : server.search else { continue }
            report(search, skipped: search.skipped, from: side, at: packet, into: &output)
        }
    }

    private mutating func end(
        _ side: Side, inOrder: Bool, otherwise how: ExchangeEnd, at packet: PacketReference,
        into output: inout [ConversationOutput]
    ) {
        let reason = "the connection ends inside the head"
        switch side {
        case .client:
            switch client.finish(inOrder: inOrder, at: packet) {
            case .nothing: break
            case .ended(let message): endRequest(message, state: .whole, into: &output)
            case .cutBody(let message): endRequest(message, state: .cut, into: &output)
            case .cutHead(let head, let started):
                beginCutRequest(head, reason: reason, started: started, at: packet, into: &output)
            }
        case .server:
            switch server.finish(inOrder: inOrder, at: packet) {
            case .nothing: break
            case .ended(let message): endResponse(message, end: .complete, into: &output)
            case .cutBody(let message):
                // A capture that lost part of it may have lost its end too, and a reset tells no length.
                var end = how
                if case .reset = how, message.body.missing > 0 { end = .notSeen }
                endResponse(message, end: end, into: &output)
            case .cutHead(let head, let started):
                cutResponse(head, reason: reason, started: started, at: packet, into: &output)
            }
        }
    }

    /// Takes an exchange out and reports it.
    mutating func close(_ exchange: OpenExchange, _ end: ExchangeEnd, into output: inout [ConversationOutput]) {
        guard queue.remove(exchange.number) else { return }
        openBytes -= exchange.request?.body.bytes.count ?? 0
        if exchange.requestState == .absent {
            aloneCount -= 1
            if exchange.responseEnd != nil { aloneBytes -= exchange.response?.body.bytes.count ?? 0 }
        }
        if requestBeingRead === exchange { requestBeingRead = nil }
        if responseBeingRead === exchange { responseBeingRead = nil }
        output.append(.event(.exchange(exchange.finished(on: connection, end: end))))
    }

    // MARK: Limits

    /// Gives the oldest exchanges up when too many, or too large ones, wait for a response.
    mutating func boundOpenExchanges(at packet: PacketReference, into output: inout [ConversationOutput]) {
        while queue.count > limits.openExchanges || openBytes > limits.openBytes && queue.count > 1 {
            guard let oldest = queue.oldest else { return }
            if oldest.requestState == .absent, let end = oldest.responseEnd {
                close(oldest, end, into: &output)
                continue
            }
            if !gaveUp, serverBytesSeen {
                gaveUp = true
                output.append(
                    .event(
                        .blindSpot(
                            BlindSpot(
                                reason: .stateGivenUp, connection: connection, from: .server,
                                span: TimeSpan(oldest.request?.started.time ?? packet.time, packet.time),
                                noticed: packet, detail: "too many requests without a response"))))
            }
            close(oldest, .notSeen, into: &output)
            pairing.gap(from: .server)
        }
    }

    /// Gives up waiting for the requests of the oldest responses when there are too many, or too large ones.
    mutating func boundAlone(into output: inout [ConversationOutput]) {
        while aloneCount > limits.waitingResponses || aloneBytes > limits.openBytes {
            let oldest = queue.open.first { $0.requestState == .absent && $0.responseEnd != nil }
            guard let oldest, let end = oldest.responseEnd else { return }
            close(oldest, end, into: &output)
        }
    }

    func bodyOverLimit(_ message: MessageEnd, since started: PacketReference, into output: inout [ConversationOutput]) {
        output.append(
            .event(
                .blindSpot(
                    BlindSpot(
                        reason: .bodyOverLimit, connection: connection, from: .client,
                        span: TimeSpan(started.time, message.ended.time), bytes: message.dropped,
                        noticed: message.ended,
                        detail: "request body over \(limits.body) bytes"))))
    }

    func unreadable(
        _ detail: String, bytes: Int?, from side: Side, since started: PacketReference, at packet: PacketReference,
        into output: inout [ConversationOutput]
    ) {
        output.append(
            .event(
                .blindSpot(
                    BlindSpot(
                        reason: .unreadableMessage, connection: connection, from: side,
                        span: TimeSpan(started.time, packet.time), bytes: bytes, noticed: packet, detail: detail))))
    }

    /// Says what a search that has found a message passed over.
    func passedOver(
        _ search: MessageSearch, from side: Side, at packet: PacketReference, into output: inout [ConversationOutput]
    ) {
        report(search, skipped: search.skipped, from: side, at: packet, into: &output)
    }

    private func report(
        _ search: MessageSearch, skipped: Int, from side: Side, at packet: PacketReference,
        into output: inout [ConversationOutput]
    ) {
        guard skipped > 0 else { return }
        unreadable(
            "bytes between messages that could not be framed", bytes: skipped, from: side,
            since: search.first ?? packet,
            at: search.last ?? packet, into: &output)
    }

    // MARK: Held bytes

    mutating func hold(
        _ bytes: UnsafeRawBufferPointer, at packet: PacketReference, into output: inout [ConversationOutput]
    ) {
        guard var holding, !bytes.isEmpty else { return }
        if holding.count + bytes.count <= limits.heldBytes {
            holding.pieces.append(.bytes(Array(bytes), packet))
            holding.count += bytes.count
            self.holding = holding
            return
        }
        // No answer in sight: read on as HTTP/1, which is right for every request that was not upgraded.
        releaseHeld(into: &output)
        var offset = 0
        receiveFromClient(bytes, from: &offset, at: packet, into: &output)
    }

    /// The held bytes turn out to be HTTP/1.
    mutating func releaseHeld(into output: inout [ConversationOutput]) {
        guard let released = holding else { return }
        holding = nil
        for piece in released.pieces {
            switch piece {
            case .bytes(let bytes, let packet):
                bytes.withUnsafeBytes { buffer in
                    var offset = 0
                    receiveFromClient(buffer, from: &offset, at: packet, into: &output)
                }
            case .hole(let length, let packet):
                hole(length: length, from: .client, at: packet, into: &output)
            }
        }
        guard let finishedAt = released.finished else { return }
        if holding != nil {
            holding?.finished = finishedAt
        } else {
            end(.client, inOrder: true, otherwise: .closed(by: .client), at: finishedAt, into: &output)
        }
    }
}

/// A piece of a stream that was kept for later.
enum HeldPiece {
    case bytes([UInt8], PacketReference)
    case hole(Int?, PacketReference)
}
