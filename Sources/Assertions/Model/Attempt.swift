internal import SessionTrace

/// One session request of the app: one message, or several that count as one (RULES 0.4), with what became of it.
struct Attempt: Hashable, Sendable {
    /// Its place among the attempts of the session, counted from 1.
    var number: Int
    /// The messages that count as this one attempt, in order.
    var messages: [SessionRequest]
    /// Why more than one message counts as one, a sentence each.
    var collapses: [String]
    var outcome: AttemptOutcome
    /// Whether the device is known to have received the end of the response; nil when there was none, or nothing is known.
    var delivered: Bool?
    /// Found by its shape alone: method and path are not the policy's.
    var isFoundByShape: Bool

    var first: SessionRequest { messages[0] }
    var last: SessionRequest { messages[messages.count - 1] }
    var started: Instant { first.record.started.time }
    /// When it was over for the device, which may have given up before an answer came.
    var ended: Instant { last.givenUp.map { min($0, last.record.ended.time) } ?? last.record.ended.time }
    var span: TimeSpan { TimeSpan(started, ended) }
    var key: String? { first.key }
    var catalogID: String? { first.catalogID }
    var disclosureVersion: String? { first.disclosureVersion }
    var url: String? { outcome == .success ? last.answer.url : nil }
    var host: HostName? { first.record.host }
    var client: IPAddress? { first.record.client?.address }

    /// Why it is not known when the attempt ended for the device, in words; nil when that is known. A device that never got
    /// the answer may have given up before it came, and only closing the connection tells when.
    var unseenEnd: String? {
        if outcome == .notSeen { return "whose end was not seen" }
        return last.delivery == .no && last.record.status != 0 && outcome == .uncertain && last.givenUp == nil
            ? "whose answer never reached the device, which may have given up before" : nil
    }

    /// `attempt 2 (503, uncertain end)`.
    var name: String {
        let status = last.record.status
        return "attempt \(number) (\(status == 0 ? "no response" : String(status)), \(outcome.word))"
    }

    /// The evidence that names this attempt, its collapses included.
    func evidence(_ label: String = "session request", place: String? = nil) -> Evidence {
        var evidence = first.record.evidence(label, place: place ?? collapses.first)
        for message in messages.dropFirst() {
            let more = message.record.evidence(label)
            evidence.packets += more.packets
            evidence.span = TimeSpan(evidence.span.earliest, more.span.latest)
        }
        if outcome != .success || delivered != true { evidence.subject += ", \(outcome.word)" }
        return evidence
    }

    /// Whether two attempts are for the same item and disclosure version.
    func isSameSelection(as other: Attempt) -> Bool {
        catalogID == other.catalogID && disclosureVersion == other.disclosureVersion
    }
}

/// Attempts with one idempotency key.
struct Operation: Hashable, Sendable {
    var key: String
    var attempts: [Attempt]

    /// The operations of `attempts`, in order of their first attempt; attempts without exactly one key are in none.
    static func all(of attempts: [Attempt]) -> [Operation] {
        var operations: [Operation] = []
        var known: [String: Int] = [:]
        for attempt in attempts {
            guard let key = attempt.key else { continue }
            if let index = known[key] {
                operations[index].attempts.append(attempt)
            } else {
                known[key] = operations.count
                operations.append(Operation(key: key, attempts: [attempt]))
            }
        }
        return operations
    }
}

/// Session requests to attempts: which messages count as one, and what became of each (RULES 0.3, 0.4).
struct AttemptCounter {
    let policy: Policy

    func attempts(of requests: [SessionRequest]) -> [Attempt] {
        let shaped = requests.filter(\.hasSessionShape)
        let places = Set(shaped.map(Self.place))
        let keys = Set(shaped.compactMap(\.key))
        /// A place that an answer alone told may serve other requests too, with keys of their own.
        func isOne(_ request: SessionRequest) -> Bool {
            request.matchesTemplate || request.hasSessionShape
                || places.contains(Self.place(request))
                    && (request.saysItIsOne || request.key.map(keys.contains) ?? false)
        }
        // A redirect's target is another place, but the same attempt.
        let ordered = requests.sorted {
            ($0.record.started.time, $0.record.started.number, $0.record.id)
                < ($1.record.started.time, $1.record.started.number, $1.record.id)
        }
        var attempts: [Attempt] = []
        for request in ordered {
            if let (index, reason) = continuation(request, of: attempts) {
                if let reason {
                    attempts[index].messages.append(request)
                    attempts[index].collapses.append(reason)
                } else {
                    attempts[index].collapses.append("the same exchange on the proxy's other side is not counted")
                }
                continue
            }
            guard isOne(request) else { continue }
            attempts.append(
                Attempt(
                    number: attempts.count + 1, messages: [request], collapses: [], outcome: .notSeen,
                    delivered: nil, isFoundByShape: !request.matchesTemplate))
        }
        for index in attempts.indices {
            let last = attempts[index].last
            attempts[index].outcome = outcome(of: last)
            attempts[index].delivered =
                last.record.status == 0 || last.delivery == .unknown && last.givenUp == nil
                ? nil : last.delivery.map { $0 == .yes }
        }
        return attempts
    }

    private struct Place: Hashable {
        var host: HostName?
        var path: String
    }

    private static func place(_ request: SessionRequest) -> Place {
        Place(host: request.record.host, path: request.record.address?.path ?? request.record.pathTemplate)
    }

    /// The attempt that `request` continues; without a reason it is the same message seen on another leg.
    private func continuation(_ request: SessionRequest, of attempts: [Attempt]) -> (Int, String?)? {
        for index in attempts.indices.reversed() {
            let last = attempts[index].last
            guard request.isResend(of: last) || (request.keys.isEmpty && last.keys.isEmpty && request.body == last.body)
            else { continue }
            let record = last.record
            // A device has an address of each family, and may go on with the other one; a proxy's other side has its own.
            if let mine = request.record.client?.address, let other = record.client?.address, mine != other,
                mine.isIPv4 == other.isIPv4
            {
                let isInside =
                    request.record.started.time >= record.started.time
                    && request.record.ended.time <= record.ended.time
                    && request.record.address?.path == record.address?.path
                if isInside { return (index, nil) }
                continue
            }
            guard request.record.started.time >= record.requestEnded.time || record.end == .unprocessed else {
                continue
            }
            if record.end == .unprocessed {
                return (index, "the server said that it had not processed the stream (REFUSED_STREAM or GOAWAY)")
            }
            switch record.status {
            case 417 where last.hasExpect && !request.hasExpect:
                return (index, "417, sent again without Expect")
            case 421:
                return (index, "421, sent again on another connection")
            case 425:
                return (index, "425, sent again after the handshake")
            case 300..<400 where record.location.map { request.record.address?.relation(of: $0) != .other } ?? false:
                return (index, "\(record.status) redirect, followed")
            default:
                return nil
            }
        }
        return nil
    }

    /// RULES 0.3. A response counts only if it was delivered to the device.
    func outcome(of request: SessionRequest) -> AttemptOutcome {
        let status = request.record.status
        let lacksAnswer = status == 0 || (200..<300).contains(status) && request.answer.url == nil
        // The answer may be in the hole: who closes after having had it gives nothing up.
        if request.record.end == .notSeen, lacksAnswer { return .notSeen }
        if request.givenUp != nil, request.record.end != .unprocessed { return .uncertain }
        switch request.record.end {
        case .notSeen: break
        case .traceEnded:
            if lacksAnswer { return .notSeen }
        case .closed, .reset:
            return .uncertain
        case .unprocessed:
            return .uncertain
        case .complete:
            if status == 0 { return .notSeen }
        }
        if request.delivery == .no { return .uncertain }
        if policy.either.contains(status) { return .either }
        switch status {
        case 200..<300:
            return request.answer.url != nil ? .success : request.responseIsWhole ? .unnamed : .notSeen
        case 300..<400: return .redirect
        case 401, 407: return .authChallenge
        case 429, 500...: return .uncertain
        case 400..<500: return .definitive
        default: return .notSeen
        }
    }
}
