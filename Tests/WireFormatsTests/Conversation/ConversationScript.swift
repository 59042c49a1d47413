import SessionTrace
import WireFormats

/// What happens on one connection, a packet a step, and what an observer makes of it.
struct ConversationScript {
    enum Step {
        case client([UInt8])
        case server([UInt8])
        case hole(Side, Int?)
        case finished(Side)
        case closed(ConnectionEnd.Cause)

        static func client(_ text: String) -> Step { .client(Array(text.utf8)) }
        static func server(_ text: String) -> Step { .server(Array(text.utf8)) }
    }

    var steps: [Step]
    var isSecure = false
    var applicationProtocol: String?
    var limits = ConversationLimits()
    var startSeen = true

    /// How the bytes of a step are cut into pieces.
    enum Splitting {
        case none
        case every(Int)
        case random
    }

    static func packet(_ number: Int) -> PacketReference {
        PacketReference(number: number, time: Instant(nanoseconds: Int64(number) * 1_000_000))
    }

    /// Everything that the observer says; bytes of a tunnel that follow each other are joined.
    func run(_ splitting: Splitting = .none) -> [ConversationOutput] {
        var observer = ConversationObserver(
            connection: ConnectionID(7), isSecure: isSecure, applicationProtocol: applicationProtocol, serverName: nil,
            limits: limits, startSeen: startSeen)
        var output: [ConversationOutput] = []
        for (index, step) in steps.enumerated() {
            let packet = Self.packet(index + 1)
            Self.tell(&observer, step, packet, splitting, into: &output)
        }
        return Self.joined(output)
    }

    private static func tell(
        _ observer: inout ConversationObserver, _ step: Step, _ packet: PacketReference, _ splitting: Splitting,
        into output: inout [ConversationOutput]
    ) {
        switch step {
        case .client(let bytes), .server(let bytes):
            let side: Side = if case .client = step { .client } else { .server }
            bytes.withUnsafeBytes { all in
                var at = 0
                while at < all.count {
                    let size =
                        switch splitting {
                        case .none: all.count
                        case .every(let size): size
                        case .random: Int.random(in: 1...40)
                        }
                    let end = min(all.count, at + size)
                    observer.receive(
                        UnsafeRawBufferPointer(rebasing: all[at..<end]), from: side, at: packet, into: &output)
                    at = end
                }
            }
        case .hole(let side, let length): observer.hole(length: length, from: side, at: packet, into: &output)
        case .finished(let side): observer.finished(side: side, at: packet, into: &output)
        case .closed(let cause): observer.closed(cause: cause, at: packet, into: &output)
        }
    }

    /// What an observer says of steps whose packets have numbers of their own, in the order in which it gets them, a line
    /// each: behind a hole, what one side sent comes late.
    static func lines(
        limits: ConversationLimits = ConversationLimits(), of steps: [(step: Step, packet: Int)]
    ) -> [String] {
        var observer = ConversationObserver(
            connection: ConnectionID(7), isSecure: false, applicationProtocol: nil, serverName: nil, limits: limits,
            startSeen: true)
        var output: [ConversationOutput] = []
        for (step, number) in steps { tell(&observer, step, packet(number), .none, into: &output) }
        return output.map(line)
    }

    private static func joined(_ output: [ConversationOutput]) -> [ConversationOutput] {
        var result: [ConversationOutput] = []
        for item in output {
            if case .tunnelled(let more, let side, let packet) = item,
                case .tunnelled(let bytes, side, packet) = result.last
            {
                result[result.count - 1] = .tunnelled(bytes + more, side, packet)
            } else {
                result.append(item)
            }
        }
        return result
    }

    /// The same, a line each, with what tests compare.
    func lines(_ splitting: Splitting = .none) -> [String] { run(splitting).map(Self.line) }

    /// Whether the same comes out however the bytes are split.
    var isIndifferentToSplits: Bool {
        let whole = run()
        return run(.every(1)) == whole && run(.every(3)) == whole && (0..<5).allSatisfy { _ in run(.random) == whole }
    }

    static func line(_ output: ConversationOutput) -> String {
        switch output {
        case .tunnelOpened(let target):
            return "tunnel to \(target.map { "\($0.host):\($0.port)" } ?? "unknown")"
        case .tunnelled(let bytes, let side, let packet):
            return "\(side) inside \(packet.number): \(text(bytes))"
        case .tunnelHole(let length, let side, _):
            return "\(side) inside: hole \(length.map(String.init) ?? "?")"
        case .event(.requestStarted(let id, let version, let request)):
            return
                "start \(id.index) \(version.rawValue) \(request.method) \(request.target) \(request.authority ?? "-")"
        case .event(.exchange(let exchange)):
            return line(exchange)
        case .event(.message(let message)):
            return "\(message.from) \(message.kind.rawValue) \(line(message.payload)) frames \(message.frames) "
                + "packets \(message.started.number)-\(message.ended.number)"
        case .event(.blindSpot(let spot)):
            return
                "blind \(spot.reason.rawValue) \(spot.from.map { "\($0)" } ?? "both") \(spot.bytes.map(String.init) ?? "-")"
        case .event(let event):
            return "\(event)"
        }
    }

    static func line(_ exchange: Exchange) -> String {
        var parts = ["exchange \(exchange.id.index)"]
        if let request = exchange.request {
            parts.append("\(request.method) \(request.target) \(line(request.body))")
            if !request.trailers.fields.isEmpty { parts.append("trailers \(request.trailers.fields.count)") }
            parts.append("\(request.started.number)-\(request.ended.number)")
        } else {
            parts.append("no request")
        }
        for interim in exchange.informational { parts.append("(\(interim.status))") }
        if let response = exchange.response {
            parts.append("\(response.status) \(line(response.body))")
            if !response.trailers.fields.isEmpty { parts.append("trailers \(response.trailers.fields.count)") }
            parts.append("\(response.started.number)-\(response.ended.number)")
        } else {
            parts.append("no response")
        }
        parts.append(end(exchange.end))
        for anomaly in exchange.anomalies {
            switch anomaly {
            case .ambiguousFraming: parts.append("!framing")
            case .malformedHead(let what): parts.append("!head: \(what)")
            case .unexpectedResponse: parts.append("!unexpected")
            case .notHTTP: parts.append("!not http")
            case .framingError: parts.append("!error")
            case .conflictingOverlap: parts.append("!overlap")
            }
        }
        return parts.joined(separator: " ")
    }

    private static func end(_ end: ExchangeEnd) -> String {
        switch end {
        case .complete: "complete"
        case .closed(let side): "closed by \(side)"
        case .reset(let side, _): "reset by \(side)"
        case .unprocessed: "unprocessed"
        case .notSeen: "not seen"
        case .traceEnded: "trace ended"
        }
    }

    static func line(_ body: Body) -> String {
        var text = "[\(Self.text(body.bytes))]"
        if body.length != body.bytes.count { text += "/\(body.length)" }
        if body.missing > 0 { text += "-\(body.missing)" }
        if !body.isComplete { text += "…" }
        return text
    }

    static func text(_ bytes: [UInt8]) -> String {
        bytes.count > 60 ? "\(bytes.count) bytes" : String(decoding: bytes, as: UTF8.self)
    }
}
