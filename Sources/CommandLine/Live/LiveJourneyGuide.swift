internal import Assertions
internal import HandoffProxy
internal import SessionTrace
internal import Synchronization

/// Tells the proxy what of the person's journey on Chia is recorded, from the policy and from what the judges have read.
final class LiveJourneyGuide: JourneyGuide {
    private let sorter: Mutex<JourneySorter>
    private let judges: LiveJudges
    /// Where a device is recorded, and how far; known once the recording has begun.
    private let place = Mutex<(@Sendable (IPAddress) -> (path: String, offset: UInt64)?)?>(nil)

    init(policy: Policy, installationKey: [UInt8], judges: LiveJudges) {
        sorter = Mutex(JourneySorter(policy: policy, installationKey: installationKey))
        self.judges = judges
    }

    /// Takes the recording, which the guide asks where devices are recorded.
    func attach(to recording: Recording) {
        place.withLock { $0 = { [weak recording] in recording?.place(of: $0) } }
    }

    func mayWithhold(_ connection: JourneyConnection) -> Bool {
        let (judge, offset) = judge(of: connection) ?? (nil, 0)
        // The session response may name the very host that is called now: it is read while the handshake goes on.
        judge?.hurry(upTo: offset)
        let knowledge = judge?.knowledge ?? JourneyKnowledge()
        return sorter.withLock { $0.mayWithhold(connection, knowing: knowledge) }
    }

    func decide(_ connection: JourneyConnection, first request: Request?) -> JourneyDecision {
        let knowledge = knowledge(of: connection)
        return sorter.withLock { $0.decide(connection, first: request, knowing: knowledge) }
    }

    func attributes(of exchange: Exchange, on connection: JourneyConnection) async -> [String: String] {
        var knowledge = JourneyKnowledge()
        if let (judge, offset) = judge(of: connection) {
            // The session response that brought the URL was recorded before the browser could ask for it.
            knowledge = await judge.ask(after: offset) { $0.journeyKnowledge }
        }
        return sorter.withLock { $0.attributes(of: exchange, on: connection, knowing: knowledge) }
    }

    private func judge(of connection: JourneyConnection) -> (LiveJudge, UInt64)? {
        guard let place = place.withLock({ $0 })?(connection.client.address),
            let judge = judges.judge(of: place.path)
        else { return nil }
        return (judge, place.offset)
    }

    private func knowledge(of connection: JourneyConnection) -> JourneyKnowledge {
        judge(of: connection)?.0.knowledge ?? JourneyKnowledge()
    }
}
