import HandoffProxy
import SessionTrace

/// A connection made up by chance: what happens on it, and what has to be found in the trace afterwards.
struct RecordedScript: Sendable {
    enum Step: Sendable {
        case received([UInt8]), sent([UInt8]), secrets([UInt8]), event(String)
        case acknowledged(UInt64, Bool)
        case finished(Side), reset(Side), closed
    }

    let client: Endpoint
    let server: Endpoint
    private(set) var steps: [Step] = []
    private(set) var fromClient: [UInt8] = []
    private(set) var fromServer: [UInt8] = []
    private(set) var events: [String] = []
    private(set) var acknowledged: UInt64 = 0
    /// How the trace shows it to end.
    private(set) var end = ConnectionEnd.Cause.traceEnded

    init(_ number: Int, using random: inout some RandomNumberGenerator, largest: Int = 150_000) {
        let port = UInt16(truncatingIfNeeded: 20_000 + number)
        if Bool.random(using: &random) {
            client = .of("192.0.2.10", port)
            server = .of("192.0.2.1", 4_773)
        } else {
            client = .of("2001:db8::10", port)
            server = .of("2001:db8:1::7", 443)
        }
        var finished: Set<Side> = []
        for step in 0..<Int.random(in: 1...20, using: &random) {
            switch Int.random(in: 0..<14, using: &random) {
            case 0...4 where !finished.contains(.client):
                let bytes = Self.bytes(largest, using: &random)
                fromClient += bytes
                steps.append(.received(bytes))
            case 5...9 where !finished.contains(.server):
                let bytes = Self.bytes(largest, using: &random)
                fromServer += bytes
                steps.append(.sent(bytes))
            case 10:
                events.append("\(number)-\(step)")
                steps.append(.event("\(number)-\(step)"))
            case 11:
                let count = UInt64.random(in: acknowledged...UInt64(fromServer.count), using: &random)
                acknowledged = count
                steps.append(.acknowledged(count, false))
            case 12:
                steps.append(.secrets(Array("CLIENT_RANDOM \(number) \(step)\n".utf8)))
            case 13:
                let side = Side.allCases.randomElement(using: &random) ?? .client
                finished.insert(side)
                steps.append(.finished(side))
            default: break
            }
        }
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            let side = Side.allCases.randomElement(using: &random) ?? .client
            steps.append(.reset(side))
            end = .reset(by: side)
        case 1:
            steps.append(.closed)
            if finished.contains(.client) { end = .finished }
        default:
            end = .finished
            acknowledged = UInt64(fromServer.count)
            steps += [.finished(.server), .finished(.client), .acknowledged(acknowledged, true), .closed]
        }
        // The proxy learns some things late.
        events.append("\(number)-late")
        steps.append(.event("\(number)-late"))
    }

    private static func bytes(_ largest: Int, using random: inout some RandomNumberGenerator) -> [UInt8] {
        let sizes = [1, 2, 3, 100, 1_448, 16_384, 59_999, 60_000, 60_001, 120_000, 150_000]
        let count = min(sizes.randomElement(using: &random) ?? 1, largest)
        let start = UInt8.random(in: 0...255, using: &random)
        return (0..<count).map { start &+ UInt8(truncatingIfNeeded: $0 &* 7) }
    }

    /// Plays it; `tick` gives times that never go back.
    func play(on recording: Recording, tick: () -> Instant) {
        let connection = recording.open(client: client, server: server, at: tick())
        for step in steps { Self.play(step, on: connection, at: tick()) }
    }

    /// Plays one step.
    static func play(_ step: Step, on connection: RecordedConnection, at time: Instant) {
        switch step {
        case .received(let bytes): bytes.withUnsafeBytes { connection.received($0, at: time) }
        case .sent(let bytes): bytes.withUnsafeBytes { connection.sent($0, at: time) }
        case .secrets(let bytes): connection.secrets(bytes)
        case .event(let word): connection.event(.fault, at: time, ["detail": word])
        case .acknowledged(let count, let finish):
            connection.acknowledged(count, includingFinish: finish, at: time)
        case .finished(let side): connection.finished(side, at: time)
        case .reset(let side): connection.reset(side, at: time)
        case .closed: connection.closed(at: time)
        }
    }
}

/// A generator whose numbers are the same in each run.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    // SplitMix64.
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
