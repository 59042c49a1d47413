import SessionTrace

@testable import HandoffProxy

/// What happens on a client's connection, and what the relay of clear-text requests makes of it.
struct RelayScript {
    /// One thing that happens. Whatever the relay waits for is resumed as soon as it can be.
    enum Step {
        case client(String)
        case server(String)
        case clientFinished
        case serverFinished
        case serverFailed
        /// The dial before failed.
        case dialFailed
    }

    var steps: [Step]

    /// The actions, with neighbouring bytes to one side joined.
    func run(_ split: TextSplit = .whole) -> [String] {
        var relay = ProxyFormRelay { $0.text == "mark.handoff.test" }
        var generator = SeededGenerator(seed: 0)
        if case .random(let given) = split { generator = given }
        var actions: [ProxyFormRelay.Action] = []
        for step in steps {
            switch step {
            case .client(let text):
                for piece in split.pieces(of: text, using: &generator) {
                    actions += piece.withUnsafeBytes { relay.client($0) }
                    for _ in 0..<1_000 where relay.canResume { actions += relay.resume() }
                }
            case .server(let text):
                for piece in split.pieces(of: text, using: &generator) {
                    actions += piece.withUnsafeBytes { relay.server($0) }
                    for _ in 0..<1_000 where relay.canResume { actions += relay.resume() }
                }
            case .clientFinished: actions += relay.clientFinished()
            case .serverFinished: actions += relay.serverFinished()
            case .serverFailed: actions += relay.serverFailed()
            case .dialFailed: actions += relay.dialFailed(status: 502, sentence: "a:80 refused the connection.")
            }
            for _ in 0..<1_000 where relay.canResume { actions += relay.resume() }
        }
        return Self.text(actions)
    }

    static func text(_ actions: [ProxyFormRelay.Action]) -> [String] {
        var lines: [String] = []
        var last: ProxyFormRelay.Action?
        for action in actions {
            switch (action, last) {
            case (.toOrigin(let bytes), .toOrigin), (.toClient(let bytes), .toClient):
                lines[lines.count - 1] += String(decoding: bytes, as: UTF8.self)
            case (.toOrigin(let bytes), _): lines.append("> " + String(decoding: bytes, as: UTF8.self))
            case (.toClient(let bytes), _): lines.append("< " + String(decoding: bytes, as: UTF8.self))
            case (.dial(let target), _): lines.append("dial \(target.host):\(target.port)")
            case (.finishOrigin, _): lines.append("finish origin")
            case (.finishClient, _): lines.append("finish client")
            case (.closeOrigin(let reset), _): lines.append(reset ? "reset origin" : "close origin")
            case (.closeClient, _): lines.append("close client")
            case (.resetClient, _): lines.append("reset client")
            case (.answered(let status, let sentence), _): lines.append("answered \(status) \(sentence)")
            case (.serveLocally(let bytes, let host), _):
                lines.append("local \(host) " + String(decoding: bytes, as: UTF8.self))
            }
            last = action
        }
        return lines
    }
}
