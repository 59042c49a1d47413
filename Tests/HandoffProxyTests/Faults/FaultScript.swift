import SessionTrace

@testable import HandoffProxy

/// What happens on a connection, and what a fault stage makes of it.
struct FaultScript {
    /// One thing that happens.
    enum Step {
        case client(String)
        case server(String)
        case clientFinished
        case serverFinished
    }

    /// Monday, 30 November 2026, 00:00:00 UTC.
    static let now = Instant(nanoseconds: 1_795_996_800_000_000_000)

    var faults: [String]
    var host = "api.example.com"
    var steps: [Step]

    /// The actions, with neighbouring bytes to one side joined.
    func run(_ split: TextSplit = .whole, table: FaultTable = FaultTable()) throws -> [String] {
        for fault in faults { _ = table.add(try FaultRule(parsing: fault)) }
        guard let name = HostName(host), var stage = table.stage(host: name, port: 443) else { return ["no stage"] }
        var generator = SeededGenerator(seed: 0)
        if case .random(let given) = split { generator = given }
        var actions: [FaultStage.Action] = []
        for step in steps {
            switch step {
            case .client(let text):
                for piece in split.pieces(of: text, using: &generator) {
                    actions += piece.withUnsafeBytes { stage.client($0, at: Self.now) }
                }
            case .server(let text):
                for piece in split.pieces(of: text, using: &generator) {
                    actions += piece.withUnsafeBytes { stage.server($0, at: Self.now) }
                }
            case .clientFinished: actions += stage.clientFinished()
            case .serverFinished: actions += stage.serverFinished()
            }
        }
        return Self.text(actions)
    }

    static func text(_ actions: [FaultStage.Action]) -> [String] {
        var lines: [String] = []
        var last: FaultStage.Action?
        for action in actions {
            switch (action, last) {
            case (.toOrigin(let bytes), .toOrigin), (.toClient(let bytes), .toClient):
                lines[lines.count - 1] += String(decoding: bytes, as: UTF8.self)
            case (.toOrigin(let bytes), _): lines.append("> " + String(decoding: bytes, as: UTF8.self))
            case (.toClient(let bytes), _): lines.append("< " + String(decoding: bytes, as: UTF8.self))
            case (.wait(let duration), _): lines.append("wait \(duration)")
            case (.fault(let record), _):
                lines.append("fault " + (record.exchange.map { "\($0): \(record.rule.effect)" } ?? record.detail))
            case (.finishOrigin, _): lines.append("finish origin")
            case (.finishClient, _): lines.append("finish client")
            case (.close, _): lines.append("close")
            case (.reset, _): lines.append("reset")
            }
            last = action
        }
        return lines
    }
}
