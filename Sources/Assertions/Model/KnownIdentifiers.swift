internal import SessionTrace

/// Strings of a session response that earlier answers to the app held already: an account's or a device's id, which is none
/// of the session's (HR-59).
struct KnownIdentifiers: Hashable, Sendable {
    /// An answer that held one.
    struct Answer: Hashable, Sendable {
        var value: Secret
        var client: IPAddress?
        var ended: Instant
    }

    private(set) var answers: Set<Answer> = []
    /// Whether some earlier request or answer could not be searched any more.
    var isIncomplete = false

    /// Answers kept.
    static let limit = 1_000

    mutating func add(_ answer: Answer) {
        guard answers.count < Self.limit || answers.contains(answer) else { return isIncomplete = true }
        answers.insert(answer)
    }
}

extension SessionModel {
    /// Looks for the identifiers of a session response in what the app was answered before its request.
    mutating func searchEarlierAnswers(for identifiers: [String], before start: Instant) {
        guard !identifiers.isEmpty else { return }
        let values = Set(identifiers.map { Secret($0) })
        if backlog.lacksItems(before: start) || answerBacklog.lacksItems(before: start) {
            contents.knownIdentifiers.isIncomplete = true
        }
        guard let items = answerBacklog.items(before: start) else {
            contents.knownIdentifiers.isIncomplete = true
            return
        }
        for item in items {
            let flow: Flow?
            let actor: Actor
            let hits: [LeakHit]
            switch item {
            case .answer(let exchange, let kept):
                guard let response = exchange.response else { continue }
                flow = kept?.flow
                actor = exchange.request.map { self.actor(of: $0, flow).actor } ?? flow?.actor.actor ?? .unknown
                hits = found(in: response).hits
            case .message(let message, let kept):
                flow = kept?.flow
                actor = upgrades[message.exchange]?.actor.actor ?? flow?.actor.actor ?? .unknown
                hits = found(in: message).hits
            case .exchange: continue
            }
            guard !actor.isElsewhere else { continue }
            for value in Set(hits.compactMap(\.needle?.value)).intersection(values) {
                contents.knownIdentifiers.add(
                    KnownIdentifiers.Answer(
                        value: value, client: flow?.connection.client.address, ended: item.ended))
            }
        }
    }
}
