internal import SessionTrace
internal import WireFormats

/// What comes from the origin.
extension ProxyFormRelay {
    /// Takes bytes of the origin that is connected.
    mutating func server(_ bytes: UnsafeRawBufferPointer) -> [Action] {
        switch state {
        case .raw: return [.toClient(Array(bytes))]
        case .over: return []
        case .reading, .waiting: break
        }
        guard origin != nil, !bytes.isEmpty else { return [] }
        if isOriginOpaque { return [.toClient(Array(bytes))] }
        var actions: [Action] = []
        var offset = 0
        // Where the bytes end that belong to the client.
        var passed = 0
        // The packet's number and time matter to nobody here.
        let packet = PacketReference(number: 0, time: .distantPast)
        reading: while true {
            let start = offset
            let step = responses.read(bytes, from: &offset, at: packet)
            if offset > start, !exchanges.isEmpty { exchanges[0].hasBegun = true }
            switch step {
            case .needsInput:
                passed = offset
                break reading
            case .head(let head, _):
                passed = offset
                let isUpgraded = takeHead(head, at: packet)
                if isOriginOpaque || isUpgraded {
                    passed = bytes.count
                    actions.append(.toClient(Array(bytes)))
                    if isUpgraded { becomeRaw(into: &actions) }
                    return actions
                }
            case .ended:
                passed = offset
                answerFraming = nil
                if !exchanges.isEmpty { exchanges.removeFirst() }
                // Behind the last answer of an origin that is about to be left, nothing belongs to the client.
                if exchanges.isEmpty, isLeaving { break reading }
            case .broken, .headOverLimit, .noMessage, .resumed:
                passed = bytes.count
                isOriginOpaque = true
                if !exchanges.isEmpty { exchanges[0].hasBegun = true }
                break reading
            }
        }
        if passed > 0 { actions.append(.toClient(Array(bytes[..<passed]))) }
        return actions
    }

    /// The client waits for its next request to go elsewhere.
    private var isLeaving: Bool {
        switch state {
        case .waiting(.origin), .waiting(.local), .waiting(.refusal): true
        case .waiting(.upgrade), .reading, .raw, .over: false
        }
    }

    /// Reads the head of an answer; whether the connection is upgraded with it.
    private mutating func takeHead(_ head: MessageHead, at packet: PacketReference) -> Bool {
        guard case .status(let status, _) = head.start, let exchange = exchanges.first else {
            // An answer that nobody asked for (408 before a close): it passes, and so does everything behind it.
            isOriginOpaque = true
            return false
        }
        if status == 101 {
            // Unasked, it means nothing that could be relied on.
            guard asksUpgrade, exchanges.count == 1 else {
                isOriginOpaque = true
                return false
            }
            return true
        }
        if status < 200 {
            _ = responses.endAtHead(packet)
            return false
        }
        if case .waiting(.upgrade) = state, exchanges.count == 1 { state = .reading }
        var framing = head.framing.framing(of: .server, version: head.version).framing
        if exchange.method == "HEAD" || status == 204 || status == 304 { framing = .none }
        answerFraming = framing
        responses.begin(framing)
        return false
    }

    /// From here on bytes pass, also those that the client has sent ahead.
    private mutating func becomeRaw(into actions: inout [Action]) {
        let ahead = requests.takeUnread() + held
        held = []
        exchanges = []
        state = .raw
        if !ahead.isEmpty { actions.append(.toOrigin(ahead)) }
        if isClientFinished {
            isClientEndPassed = true
            actions.append(.finishOrigin)
        }
    }

    /// The origin sends no more.
    mutating func serverFinished() -> [Action] {
        var actions: [Action] = []
        endOfOrigin(becauseOf: "closed the connection", then: .finishClient, into: &actions)
        return actions
    }

    /// The origin's connection broke off.
    mutating func serverFailed() -> [Action] {
        var actions: [Action] = []
        endOfOrigin(becauseOf: "broke the connection off", then: .resetClient, into: &actions)
        return actions
    }

    private mutating func endOfOrigin(becauseOf what: String, then end: Action, into actions: inout [Action]) {
        isOriginFinished = true
        switch state {
        case .over:
            return
        case .raw:
            actions.append(end)
        case .reading, .waiting:
            guard let origin else { return }
            guard let oldest = exchanges.first else {
                // Between two requests. One that waits for another origin goes there, unless the client could not tell where
                // this origin's last answer ended.
                if isLeaving, !isOriginOpaque { return }
                // The close goes through: a client that asks again does so by its own rules.
                hasFinishedClient = true
                actions.append(end)
                if end == .resetClient { state = .over }
                return
            }
            if oldest.isFirst, !oldest.hasBegun {
                // The origin took the connection and said nothing. Asking again would be a second request.
                answer(
                    RequestRefusal(status: 502, sentence: "\(origin.host) \(what) without an answer."), into: &actions)
            } else {
                let isLeaving = isLeaving
                if isLeaving { held = [] }
                hasFinishedClient = true
                if end == .resetClient || isLeaving { state = .over }
                actions.append(end == .finishClient && isLeaving ? .closeClient : end)
            }
        }
    }
}
