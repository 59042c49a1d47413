import SessionTrace

@testable import Assertions

/// The same session as a recording with `--chia-journey=heads` would hold it: connections that the sorter withholds lose
/// their exchanges, and get `withheld` and `exchange` events instead.
struct WithheldSession {
    private(set) var events: [SessionEvent] = []
    /// Connections that were withheld.
    private(set) var withheld: Set<ConnectionID> = []

    init(_ session: ScriptedSession) throws {
        let policy = try Policy.parse(yaml: session.policyText, file: "handoff.yml")
        var sorter = JourneySorter(policy: policy, installationKey: Array(repeating: 7, count: 32))
        // What the judge that follows the recording has read so far.
        var judge = SessionJudge(policy: policy, options: session.options)
        var connections: [ConnectionID: JourneyConnection] = [:]
        var decided: Set<ConnectionID> = []

        func add(_ event: SessionEvent) {
            events.append(event)
            judge.receive(event)
        }

        for event in session.events() {
            switch event {
            case .connectionOpened(let connection):
                connections[connection.id] = JourneyConnection(client: connection.client)
                add(event)
            case .clientHello(let hello):
                connections[hello.connection]?.serverName = hello.serverName
                connections[hello.connection]?.ja4 = hello.ja4
                add(event)
            case .exchange(let exchange):
                let id = exchange.id.connection
                guard let connection = connections[id], let request = exchange.request else {
                    add(event)
                    continue
                }
                let knowledge = judge.journeyKnowledge
                if decided.insert(id).inserted, sorter.mayWithhold(connection, knowing: knowledge),
                    case .withhold(let attributes) = sorter.decide(connection, first: request, knowing: knowledge)
                {
                    withheld.insert(id)
                    add(
                        .proxyEvent(
                            ProxyEvent(
                                kind: .withheld, at: request.started.time, connection: id, packet: request.started,
                                attributes: attributes)))
                    add(
                        .blindSpot(
                            BlindSpot(
                                reason: .withheld, connection: id, span: TimeSpan(request.started.time),
                                noticed: request.started)))
                }
                guard withheld.contains(id) else {
                    add(event)
                    continue
                }
                var heads = exchange
                heads.request?.body = .empty
                heads.response?.body = .empty
                let attributes = sorter.attributes(of: heads, on: connection, knowing: knowledge)
                add(
                    .proxyEvent(
                        ProxyEvent(
                            kind: .exchange, at: exchange.ended.time, connection: id, packet: exchange.ended,
                            attributes: attributes)))
            case .delivery(let id, _, _) where withheld.contains(id.connection):
                continue
            case .secureSession(var secure) where withheld.contains(secure.connection):
                secure.readability = .opaque(.noKeys)
                add(.secureSession(secure))
            default:
                add(event)
            }
        }
    }
}
