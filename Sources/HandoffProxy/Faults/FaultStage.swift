public import SessionTrace
internal import WireFormats

/// Injects faults into one HTTP/1.1 connection: plaintext of both sides in, what to do with it out.
///
/// Only the exchange that a fault names is touched; everything else leaves as it came, byte for byte. Request heads are
/// held until they are whole, since a fault is told by them; everything else passes at once. Bytes that can't be read as
/// HTTP/1 in one way only pass untouched from there on, and the faults say that they could not be injected.
///
/// The actions of one call are to be carried out in order. Both calls may act on both sides (an answer of ours comes from
/// `client`, a request that waited for an upgrade's outcome leaves from `server`), so whoever performs them must let the
/// writes of one side take turns.
///
/// ```
///            client bytes                                server bytes
///                 │                                           │
///   head ──► which fault? ──► exchanges (in order) ──► fate of the oldest ──► pass │ wait, pass │ cut │ drop
///                 └─ pass, or withhold the request                └─ ours to answer: answered when it is the oldest
/// ```
public struct FaultStage {
    /// What to do.
    public enum Action: Hashable, Sendable {
        /// Send to the origin.
        case toOrigin([UInt8])
        /// Send to the device.
        case toClient([UInt8])
        /// Wait so long before the actions that follow; stop waiting when the connection ends.
        case wait(Duration)
        /// A fault acted, or could not: an event for the trace and the terminal.
        case fault(FaultRecord)
        /// The device sends no more: tell the origin.
        case finishOrigin
        /// The origin sends no more: tell the device.
        case finishClient
        /// End both connections in order. Nothing follows.
        case close
        /// Reset the device's connection, end the origin's. Nothing follows.
        case reset
    }

    /// What becomes of an exchange.
    enum Fate {
        case pass
        /// Its answer waits.
        case delay(Duration)
        /// Ours to answer; the origin has never seen it.
        case answer(FaultAnswer)
        /// The origin answers, and the device does not hear it.
        case swallow(Duration?)
        /// The answer is cut.
        case truncate(afterBytes: Int?, Duration?)
        /// The connection ends in its place.
        case end(reset: Bool, Duration?)
    }

    struct Exchange {
        var method: String
        var fate: Fate
        /// The client has sent all of the request that matters.
        var isWhole = false
        /// It asks for an upgrade: what follows it may be no HTTP.
        var asksUpgrade = false
    }

    /// Bytes of the client that are held until it is known whether the connection is upgraded.
    static let heldLimit = 256 << 10
    /// Exchanges of one connection that wait for their answers; a client with more is followed no further.
    static let openLimit = 1_024

    let table: FaultTable
    let faults: [FaultStatus]
    let host: HostName

    var requests = RequestReader()
    var responses: MessageReader
    var exchanges: [Exchange] = []
    private var exchangeCount = 0
    /// The client's bytes are looked at no more.
    var isClientOpaque = false
    /// The server's bytes are looked at no more.
    var isServerOpaque = false
    /// No request is taken after the one that is being read.
    private var takesNoMore = false
    /// The request that is being read is withheld from the origin.
    private var isWithholding = false
    /// What the client sent after a request for an upgrade.
    var held: [UInt8] = []
    /// Both connections have ended.
    var isOver = false
    /// The origin has finished.
    var isOriginFinished = false
    /// What is being done with the response that is being read.
    var response = ResponseState()

    init(table: FaultTable, faults: [FaultStatus], host: HostName) {
        self.table = table
        self.faults = faults
        self.host = host
        var limits = ConversationLimits()
        // Only where messages end matters here.
        limits.body = 0
        limits.responseBody = 0
        responses = MessageReader(side: .server, limits: limits, startSeen: true)
    }

    /// Whether a request for an upgrade waits for its outcome, so that the client's bytes can't be told.
    var isHolding: Bool { !isClientOpaque && exchanges.last?.asksUpgrade == true && exchanges.last?.isWhole == true }

    /// Takes bytes that the device sent. `now` dates answers of ours.
    public mutating func client(_ bytes: UnsafeRawBufferPointer, at now: Instant) -> [Action] {
        var actions: [Action] = []
        readClient(bytes, at: now, into: &actions)
        return actions
    }

    /// The device sends no more.
    public mutating func clientFinished() -> [Action] {
        guard !isOver else { return [] }
        var actions: [Action] = []
        let unread = requests.takeUnread() + held
        held = []
        if !isWithholding, !takesNoMore, !isClientOpaque, !unread.isEmpty { actions.append(.toOrigin(unread)) }
        isClientOpaque = true
        actions.append(.finishOrigin)
        return actions
    }

    mutating func readClient(_ bytes: UnsafeRawBufferPointer, at now: Instant, into actions: inout [Action]) {
        var offset = 0
        while !isOver {
            if takesNoMore, !isWithholding, !requests.isInContent { return }
            if isClientOpaque {
                if offset < bytes.count { actions.append(.toOrigin(Array(bytes[offset...]))) }
                return
            }
            if isHolding {
                held.append(contentsOf: bytes[offset...])
                if held.count > Self.heldLimit { giveUpClient("too much after a request for an upgrade", &actions) }
                return
            }
            switch requests.read(bytes, from: &offset) {
            case .needsInput:
                return
            case .padding(let padding):
                actions.append(.toOrigin(padding))
            case .head(let head):
                begin(head, at: now, into: &actions)
            case .content(let content):
                if !isWithholding { actions.append(.toOrigin(content)) }
            case .ended:
                endRequest(at: now, into: &actions)
            case .refused(let refusal):
                let unread = requests.takeUnread()
                if !unread.isEmpty, !isWithholding { actions.append(.toOrigin(unread)) }
                giveUpClient(refusal.sentence, &actions)
            }
        }
    }

    /// Looks no more at what the client sends.
    private mutating func giveUpClient(_ reason: String, _ actions: inout [Action]) {
        isClientOpaque = true
        if !held.isEmpty { actions.append(.toOrigin(held)) }
        held = []
        for fault in faults { actions.append(.fault(table.missed(fault, host: host, reason: reason))) }
    }

    private mutating func begin(_ head: RequestHead, at now: Instant, into actions: inout [Action]) {
        let number = exchangeCount
        exchangeCount += 1
        var exchange = Exchange(method: head.methodText, fate: .pass)
        exchange.asksUpgrade = head.has("upgrade")
        let fault = claim(head)
        if let fault {
            let rule = fault.rule
            exchange.fate = fate(of: rule, head, at: now)
            actions.append(
                .fault(FaultRecord(rule: rule, host: host, exchange: number, detail: Self.detail(of: rule.action))))
        }
        switch exchange.fate {
        case .pass, .delay:
            actions.append(.toOrigin(head.bytes))
        case .swallow, .truncate:
            actions.append(.toOrigin(head.bytes))
            takesNoMore = true
        case .answer(let answer):
            isWithholding = true
            exchange.asksUpgrade = false
            if answer.closes { takesNoMore = true }
            // A client that waits for 100 (Continue) would wait for ever: the answer comes in its place.
            exchange.isWhole = answer.isDueAtHead
        case .end:
            isWithholding = true
            takesNoMore = true
            exchange.asksUpgrade = false
            exchange.isWhole = true
        }
        exchanges.append(exchange)
        settle(into: &actions)
        if exchanges.count > Self.openLimit { giveUpClient("too many requests without an answer", &actions) }
    }

    private mutating func endRequest(at now: Instant, into actions: inout [Action]) {
        isWithholding = false
        if !exchanges.isEmpty { exchanges[exchanges.count - 1].isWhole = true }
        settle(into: &actions)
    }

    /// Ends or answers, for as long as the oldest exchange is ours to end or to answer.
    mutating func settle(into actions: inout [Action]) {
        while !isOver, let oldest = exchanges.first, oldest.isWhole {
            switch oldest.fate {
            case .pass, .delay, .swallow, .truncate:
                return
            case .answer(let answer):
                exchanges.removeFirst()
                if let delay = answer.delay { actions.append(.wait(delay)) }
                actions.append(.toClient(answer.bytes))
                if answer.closes || isOriginFinished { end(reset: false, into: &actions) }
            case .end(let reset, let delay):
                if let delay { actions.append(.wait(delay)) }
                end(reset: reset, into: &actions)
            }
        }
    }

    mutating func end(reset: Bool, into actions: inout [Action]) {
        isOver = true
        exchanges = []
        held = []
        actions.append(reset ? .reset : .close)
    }
}

extension FaultStage {
    /// The first fault that means this request and is not spent.
    private func claim(_ head: RequestHead) -> FaultStatus? {
        guard let path = Self.path(head) else { return nil }
        let method = head.methodText
        for fault in faults {
            if fault.rule.matches(method: method, path: path) {
                if table.claim(fault.id) { return fault }
            } else if let near = NearMiss.text(method: method, host: host, path: path, rule: fault.rule) {
                table.near(fault.id, near)
            }
        }
        return nil
    }

    /// The path of a request in origin or absolute form, without query; nil when its target has none.
    static func path(_ head: RequestHead) -> String? {
        var target = head.bytes[head.target]
        if target.first != 0x2F, let colon = target.firstIndex(of: 0x3A),
            target[colon...].starts(with: [0x3A, 0x2F, 0x2F])
        {
            let rest = target[(colon + 3)...]
            guard let end = rest.firstIndex(where: endsAuthority), rest[end] == 0x2F else { return "/" }
            target = rest[end...]
        }
        guard target.first == 0x2F else { return nil }
        return String(decoding: target.prefix { $0 != 0x3F && $0 != 0x23 }, as: UTF8.self)
    }

    /// One of `/?#`.
    private static func endsAuthority(_ byte: UInt8) -> Bool { byte == 0x2F || byte == 0x3F || byte == 0x23 }

    private func fate(of rule: FaultRule, _ head: RequestHead, at now: Instant) -> Fate {
        switch rule.action {
        case .answer: .answer(FaultAnswer(rule: rule, to: head, at: now))
        case .dropBeforeRequest: .end(reset: false, nil)
        case .reset: .end(reset: true, rule.delay)
        case .dropAfterRequest: .swallow(rule.delay)
        case .delay: .delay(rule.delay ?? .zero)
        case .truncateResponse(let count): .truncate(afterBytes: count, rule.delay)
        }
    }

    private static func detail(of action: FaultRule.Action) -> String {
        switch action {
        case .answer: "answered in the origin's place; the origin does not get the request"
        case .dropBeforeRequest: "the connection ends; the origin does not get the request"
        case .reset: "the connection is reset; the origin does not get the request"
        case .dropAfterRequest: "the origin gets the request; the device does not get the answer"
        case .delay: "the answer waits"
        case .truncateResponse: "the answer is cut"
        }
    }
}
