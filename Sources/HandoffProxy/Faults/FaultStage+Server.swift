public import SessionTrace
internal import WireFormats

extension FaultStage {
    /// Where the stage stands in the response that it is reading.
    struct ResponseState {
        /// Bytes of a head that are held until it is whole.
        var heldHead: [UInt8] = []
        /// The final head is through.
        var isInBody = false
        /// Body bytes that may still pass; nil: all.
        var budget: Int?
        /// Its body ends with the connection alone, so that only a reset shows that it was cut.
        var endsWithConnection = false
    }

    /// Takes bytes that the origin sent. `now` dates answers of ours.
    public mutating func server(_ bytes: UnsafeRawBufferPointer, at now: Instant) -> [Action] {
        var actions: [Action] = []
        var passing: [UInt8] = []
        var offset = 0
        let packet = PacketReference(number: 0, time: now)
        while !isOver {
            if isServerOpaque {
                if !isSwallowing { passing.append(contentsOf: bytes[offset...]) }
                break
            }
            let start = offset
            let step = responses.read(bytes, from: &offset, at: packet)
            let piece = UnsafeRawBufferPointer(rebasing: bytes[start..<offset])
            var isExhausted = false
            switch step {
            case .needsInput:
                pass(piece, &passing, &actions)
                isExhausted = true
            case .head(let head, _):
                takeHead(head, piece, at: packet, &passing, &actions)
                if isServerOpaque, isClientOpaque, exchanges.isEmpty {
                    // An upgrade: what the client sent behind its request is no HTTP either.
                    flush(&passing, &actions)
                    if !held.isEmpty { actions.append(.toOrigin(held)) }
                    held = []
                } else if !isHolding, !held.isEmpty {
                    resumeClient(at: now, &passing, &actions)
                }
            case .ended:
                pass(piece, &passing, &actions)
                endResponse(&passing, &actions)
            case .broken, .headOverLimit, .noMessage, .resumed:
                passing.append(contentsOf: isSwallowing ? [] : response.heldHead)
                response.heldHead = []
                if !isSwallowing { passing.append(contentsOf: piece) }
                isServerOpaque = true
            }
            if isExhausted { break }
        }
        if !isOver || !passing.isEmpty { flush(&passing, &actions) }
        return actions
    }

    /// The origin sends no more.
    public mutating func serverFinished() -> [Action] {
        guard !isOver else { return [] }
        var actions: [Action] = []
        isOriginFinished = true
        guard let oldest = exchanges.first else { return [.finishClient] }
        switch oldest.fate {
        case .swallow(let delay):
            if let delay { actions.append(.wait(delay)) }
            end(reset: false, into: &actions)
        case .answer, .end:
            break
        case .pass, .delay, .truncate:
            if !response.heldHead.isEmpty { actions.append(.toClient(response.heldHead)) }
            response.heldHead = []
            actions.append(.finishClient)
        }
        return actions
    }

    private var isSwallowing: Bool {
        if case .swallow = exchanges.first?.fate { return true }
        return false
    }

    /// Bytes inside a head, or of a body.
    private mutating func pass(
        _ piece: UnsafeRawBufferPointer, _ passing: inout [UInt8], _ actions: inout [Action]
    ) {
        guard !piece.isEmpty else { return }
        switch exchanges.first?.fate {
        case nil, .pass, .answer, .end:
            passing.append(contentsOf: piece)
        case .delay:
            if response.isInBody {
                passing.append(contentsOf: piece)
            } else {
                response.heldHead.append(contentsOf: piece)
            }
        case .swallow:
            if !response.isInBody { response.heldHead.append(contentsOf: piece) }
        case .truncate:
            guard response.isInBody else {
                response.heldHead.append(contentsOf: piece)
                return
            }
            let budget = response.budget ?? .max
            passing.append(contentsOf: piece.prefix(budget))
            response.budget = max(0, budget - piece.count)
            if response.budget == 0 {
                flush(&passing, &actions)
                end(reset: response.endsWithConnection, into: &actions)
            }
        }
    }

    private mutating func takeHead(
        _ head: MessageHead, _ piece: UnsafeRawBufferPointer, at packet: PacketReference, _ passing: inout [UInt8],
        _ actions: inout [Action]
    ) {
        guard case .status(let status, _) = head.start, let oldest = exchanges.first, !isOurs(oldest) else {
            // An answer that nobody asked for (408 before a close): it passes, and so does everything behind it.
            passing.append(contentsOf: piece)
            isServerOpaque = true
            return
        }
        pass(piece, &passing, &actions)
        if status < 200, status != 101 {
            // Interim answers are not held up: the client may wait for one before it sends the rest.
            if status == 100 || !isSwallowing { passing.append(contentsOf: response.heldHead) }
            response.heldHead = []
            _ = responses.endAtHead(packet)
            return
        }
        var framing = head.framing.framing(of: .server, version: head.version).framing
        if oldest.method == "HEAD" || status == 204 || status == 304 || status == 101 { framing = .none }
        exchanges[0].asksUpgrade = false
        response.isInBody = true
        response.endsWithConnection = framing == .untilClose
        let heldHead = response.heldHead
        response.heldHead = []
        switch oldest.fate {
        case .pass, .answer, .end:
            break
        case .swallow(let delay):
            if status == 101 {
                if let delay { actions.append(.wait(delay)) }
                end(reset: false, into: &actions)
                return
            }
        case .delay(let delay):
            flush(&passing, &actions)
            actions.append(.wait(delay))
            passing.append(contentsOf: heldHead)
        case .truncate(let count, let delay):
            flush(&passing, &actions)
            if let delay { actions.append(.wait(delay)) }
            let budget = Self.budget(count, framing)
            if framing == .none || framing == .length(0) {
                passing.append(contentsOf: heldHead.dropLast(2))
            } else {
                passing.append(contentsOf: heldHead)
                response.budget = budget
            }
            if response.budget ?? 0 == 0 {
                flush(&passing, &actions)
                end(reset: response.endsWithConnection, into: &actions)
                return
            }
        }
        if status == 101 {
            exchanges.removeFirst()
            isServerOpaque = true
            isClientOpaque = true
            response = ResponseState()
            return
        }
        responses.begin(framing)
    }

    /// How many bytes of a body pass before the cut; always fewer than it has.
    private static func budget(_ count: Int?, _ framing: BodyFraming) -> Int {
        switch framing {
        case .none: 0
        case .length(let length): min(count ?? length / 2, max(0, length - 1))
        // The shortest coded body is `0 CRLF CRLF`, and no prefix of any is whole; but a large count may reach its end.
        case .chunked, .untilClose: count ?? 1
        }
    }

    private func isOurs(_ exchange: Exchange) -> Bool {
        switch exchange.fate {
        case .answer, .end: true
        case .pass, .delay, .swallow, .truncate: false
        }
    }

    private mutating func endResponse(_ passing: inout [UInt8], _ actions: inout [Action]) {
        guard let oldest = exchanges.first else { return }
        response = ResponseState()
        exchanges.removeFirst()
        switch oldest.fate {
        case .swallow(let delay):
            flush(&passing, &actions)
            if let delay { actions.append(.wait(delay)) }
            end(reset: false, into: &actions)
        case .truncate:
            // It ended before the count was reached: the end is missing all the same.
            flush(&passing, &actions)
            end(reset: true, into: &actions)
        case .pass, .delay, .answer, .end:
            if case .answer? = exchanges.first?.fate { flush(&passing, &actions) }
            if case .end? = exchanges.first?.fate { flush(&passing, &actions) }
            settle(into: &actions)
        }
    }

    /// The upgrade was declined: what the client sent behind its request are requests.
    private mutating func resumeClient(at now: Instant, _ passing: inout [UInt8], _ actions: inout [Action]) {
        flush(&passing, &actions)
        let bytes = held
        held = []
        bytes.withUnsafeBytes { readClient($0, at: now, into: &actions) }
    }

    private func flush(_ passing: inout [UInt8], _ actions: inout [Action]) {
        guard !passing.isEmpty else { return }
        actions.append(.toClient(passing))
        passing = []
    }
}
