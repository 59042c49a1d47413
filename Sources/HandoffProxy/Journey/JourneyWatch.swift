public import SessionTrace
internal import WireFormats

/// Reads the heads on one connection that may have to be withheld: plaintext of both sides in, a verdict and, for withheld
/// connections, pairs of heads out. No content is kept.
///
/// ```
/// waiting ──first head──► recorded     (nothing is read any more)
///    │         └────────► withheld     (every request and its answer become one exchange)
///    └──no head within `undecidedLimit`, or the end──► recorded or withheld, as the guide says
/// ```
public struct JourneyWatch {
    /// What is to become of the connection's content.
    public enum Verdict: Hashable, Sendable {
        /// Not known yet: hold the recording back.
        case wait
        /// Write everything.
        case record
        /// Write the handshake alone, then a `withheld` event with these attributes.
        case withhold(attributes: [String: String])
    }

    /// Plaintext bytes of the client in which a first request head must be whole.
    public static let undecidedLimit = 64 << 10
    /// Exchanges that may wait to be taken; the oldest go first, and are counted.
    public static let exchangeLimit = 4_096

    private enum State {
        case waiting(clientBytes: Int)
        case recorded
        case withheld
    }

    private let guide: any JourneyGuide
    /// The connection, as the guide sees it.
    public let connection: JourneyConnection
    private var state = State.waiting(clientBytes: 0)
    private var observer: ConversationObserver
    private var exchanges: [Exchange] = []
    /// Exchanges that were given up because nobody took them.
    public private(set) var lostExchanges = 0

    /// A watch over a connection for which `guide.mayWithhold` said yes.
    public init(guide: any JourneyGuide, connection: JourneyConnection) {
        self.guide = guide
        self.connection = connection
        var limits = ConversationLimits()
        limits.body = 0
        limits.responseBody = 0
        limits.message = 0
        observer = ConversationObserver(
            connection: ConnectionID(0), isSecure: connection.isSecure,
            applicationProtocol: connection.applicationProtocol, serverName: connection.serverName, limits: limits)
    }

    /// Takes plaintext that `side` sent at `time`.
    ///
    /// - Returns: the verdict; `record` and `withhold` are final, and given again on every further call.
    public mutating func receive(_ bytes: UnsafeRawBufferPointer, from side: Side, at time: Instant) -> Verdict {
        if case .recorded = state { return .record }
        var output: [ConversationOutput] = []
        observer.receive(bytes, from: side, at: PacketReference(number: 0, time: time), into: &output)
        return take(output, clientBytes: side == .client ? bytes.count : 0)
    }

    /// Takes the end (FIN or close_notify) of what `side` sends.
    public mutating func finished(_ side: Side, at time: Instant) -> Verdict {
        if case .recorded = state { return .record }
        var output: [ConversationOutput] = []
        observer.finished(side: side, at: PacketReference(number: 0, time: time), into: &output)
        return take(output, clientBytes: 0)
    }

    /// Takes the end of the connection: what was open has ended, and the verdict is final. A connection on which the
    /// client said nothing is recorded: there is nothing to withhold.
    public mutating func closed(_ cause: ConnectionEnd.Cause, at time: Instant) -> Verdict {
        if case .recorded = state { return .record }
        var output: [ConversationOutput] = []
        observer.closed(cause: cause, at: PacketReference(number: 0, time: time), into: &output)
        let verdict = take(output, clientBytes: 0)
        guard case .waiting(let count) = state, verdict == .wait else { return verdict }
        return count == 0 ? settle(.record) : settle(guide.decide(connection, first: nil))
    }

    /// Gives up waiting: the recording can't be held back any longer (`JourneyHold.limit`).
    public mutating func overLimit() -> Verdict {
        guard case .waiting = state else { return verdict }
        return settle(.withhold(attributes: withheldAttributes(why: "no request within the bytes that may wait")))
    }

    /// The exchanges of a withheld connection that have ended since the last call, without content.
    public mutating func takeExchanges() -> [Exchange] {
        guard !exchanges.isEmpty else { return [] }
        defer { exchanges = [] }
        return exchanges
    }

    // MARK: -

    private var finalAttributes: [String: String] = [:]

    private var verdict: Verdict {
        switch state {
        case .waiting: .wait
        case .recorded: .record
        case .withheld: .withhold(attributes: finalAttributes)
        }
    }

    private mutating func take(_ output: [ConversationOutput], clientBytes: Int) -> Verdict {
        for item in output {
            guard case .event(let event) = item else { continue }
            switch event {
            case .requestStarted(_, _, let request):
                if case .waiting = state { _ = settle(guide.decide(connection, first: request)) }
            case .exchange(let exchange):
                // Without a head of its own (a server's word alone) there is nothing to tell.
                if exchange.request != nil, !exchange.isPushed { keep(exchange) }
            default: continue
            }
        }
        if case .waiting(let count) = state {
            let total = count + clientBytes
            state = .waiting(clientBytes: total)
            if total > Self.undecidedLimit { return settle(guide.decide(connection, first: nil)) }
        }
        if case .recorded = state { exchanges = [] }
        return verdict
    }

    private mutating func keep(_ exchange: Exchange) {
        if exchanges.count >= Self.exchangeLimit {
            exchanges.removeFirst()
            lostExchanges += 1
        }
        exchanges.append(exchange)
    }

    private mutating func settle(_ decision: JourneyDecision) -> Verdict {
        switch decision {
        case .record:
            state = .recorded
            exchanges = []
        case .withhold(let attributes):
            state = .withheld
            finalAttributes = attributes
        }
        return verdict
    }

    private func withheldAttributes(why: String) -> [String: String] {
        var attributes = ["why": why, "actor": "unknown"]
        if let host = connection.names.first { attributes["host"] = host.text }
        return attributes
    }
}
