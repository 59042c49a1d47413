internal import SessionTrace
internal import WireFormats

/// Relays requests in absolute form to their origins, one client connection at a time: bytes of both sides in, what to do
/// out (RFC 9112 §3.2.2; what changes on the way is in `ProxyFormRequest`).
///
/// ```
///             ┌────────── upgrade declined, or the answers before it are through ──────────┐
///             ▼                                                                            │
/// reading ──► a request for another origin │ for the proxy itself │ for an upgrade ──► waiting
///    │                                                     upgrade accepted ──► raw (both ways, for good)
///    ├── a request with two readings, or none ──► refused: answered in its turn, then closed
///    └── the end of the client ──► the end for the origin
/// ```
/// The hop to the origin and the hop to the client are one to one: nothing is sent twice, nothing is answered from
/// memory, an end of either goes through. Requests of a pipeline leave at once; answers come back as they came.
/// What comes from the origin passes byte for byte; it is read only to know where answers end.
struct ProxyFormRelay {
    /// What to do, in order.
    enum Action: Hashable {
        /// Close the origin's connection, if there is one, and connect to this one. When that fails, the actions after it
        /// are void, and `dialFailed` says what to do instead.
        case dial(ProxyFormTarget)
        case toOrigin([UInt8])
        case toClient([UInt8])
        /// Tell the origin that nothing more comes.
        case finishOrigin
        /// Tell the client that nothing more comes.
        case finishClient
        /// The origin's connection is over. By reset when it must not take what it got for a whole request.
        case closeOrigin(reset: Bool)
        /// Close the client's connection in order, once it has what was sent.
        case closeClient
        /// Break the client's connection off, as the origin did.
        case resetClient
        /// The proxy itself has answered: an event for the trace.
        case answered(status: Int, sentence: String)
        /// The request that begins with these bytes, and what follows it, is for the proxy itself. Nothing follows.
        case serveLocally([UInt8], host: HostName)
    }

    /// What the client's side waits for.
    enum Waiting {
        /// To send this request to another origin.
        case origin(RequestHead, ProxyFormTarget)
        /// To hand this request to the proxy itself.
        case local(RequestHead, ProxyFormTarget)
        /// To learn whether the connection is upgraded.
        case upgrade
        /// To refuse, when so many answers are left to come.
        case refusal(RequestRefusal, answersLeft: Int)
    }

    enum State {
        case reading
        case waiting(Waiting)
        /// No HTTP any more: bytes pass.
        case raw
        /// The client is served no further.
        case over
    }

    struct Exchange {
        var method: String
        /// It is the first on its connection to the origin.
        var isFirst: Bool
        /// Something of its answer has been sent.
        var hasBegun = false
    }

    /// Requests of one client that wait for their answers; a client with more is not read on.
    static let openLimit = 128

    var state = State.reading
    var requests = RequestReader()
    var responses = ProxyFormRelay.responseReader()
    /// Requests that the origin has and that are not answered whole, oldest first.
    var exchanges: [Exchange] = []
    /// The origin that is connected.
    var origin: ProxyFormTarget?
    /// How many requests it was sent.
    private var requestsOnConnection = 0
    /// What the client sent and nobody has read yet.
    var held: [UInt8] = []
    /// The request that is being read asks for an upgrade.
    var asksUpgrade = false
    /// The client has finished.
    var isClientFinished = false
    /// The client's end has been passed on.
    var isClientEndPassed = false
    /// The origin has finished sending.
    var isOriginFinished = false
    /// The client was told that nothing more comes.
    var hasFinishedClient = false
    /// The origin's answers can't be told apart: its bytes pass until it closes.
    var isOriginOpaque = false
    /// The framing of the answer that is being read, once its head is through.
    var answerFraming: BodyFraming?
    private let isLocal: @Sendable (HostName) -> Bool

    /// - Parameter isLocal: Which hosts the proxy itself answers for.
    init(isLocal: @escaping @Sendable (HostName) -> Bool = { _ in false }) {
        self.isLocal = isLocal
    }

    static func responseReader() -> MessageReader {
        var limits = ConversationLimits()
        // Only where answers end matters here.
        limits.body = 0
        limits.responseBody = 0
        return MessageReader(side: .server, limits: limits, startSeen: true)
    }

    /// Whether more bytes of the client would only pile up: it is not to be read until `canResume`.
    var isClientPaused: Bool {
        switch state {
        case .reading: exchanges.count >= Self.openLimit
        case .waiting: true
        case .raw, .over: false
        }
    }

    private var isClientEndDue: Bool { isClientFinished && !isClientEndPassed }

    /// Whether `resume` would do something.
    var canResume: Bool {
        switch state {
        case .reading: exchanges.count < Self.openLimit && (!held.isEmpty || isClientEndDue)
        case .waiting(.origin), .waiting(.local): exchanges.isEmpty
        case .waiting(.refusal(_, let left)): exchanges.count <= left
        case .waiting(.upgrade), .raw, .over: false
        }
    }

    // MARK: - The client

    /// Takes bytes of the client.
    mutating func client(_ bytes: UnsafeRawBufferPointer) -> [Action] {
        var actions: [Action] = []
        switch state {
        case .raw: actions.append(.toOrigin(Array(bytes)))
        case .over: break
        case .waiting: held.append(contentsOf: bytes)
        case .reading:
            if held.isEmpty {
                read(bytes, into: &actions)
            } else {
                held.append(contentsOf: bytes)
                readHeld(into: &actions)
            }
        }
        return actions
    }

    /// Goes on with what the client sent before it was paused.
    mutating func resume() -> [Action] {
        var actions: [Action] = []
        guard canResume else { return actions }
        switch state {
        case .waiting(.origin(let head, let target)):
            state = .reading
            send(head, to: target, into: &actions)
            if case .reading = state { readHeld(into: &actions) }
        case .waiting(.local(let head, let target)):
            hand(head, target, rest: held, into: &actions)
        case .waiting(.refusal(let refusal, _)):
            answer(refusal, into: &actions)
        case .reading:
            readHeld(into: &actions)
        case .waiting(.upgrade), .raw, .over:
            break
        }
        return actions
    }

    /// The client sends no more.
    mutating func clientFinished() -> [Action] {
        isClientFinished = true
        var actions: [Action] = []
        switch state {
        case .waiting, .over: break
        case .raw:
            isClientEndPassed = true
            actions.append(.finishOrigin)
        case .reading: if held.isEmpty { finishClientSide(into: &actions) }
        }
        return actions
    }

    /// The connection to the origin of the last `dial` failed: what its actions come to instead.
    mutating func dialFailed(status: Int, sentence: String) -> [Action] {
        origin = nil
        var actions: [Action] = []
        answer(RequestRefusal(status: status, sentence: sentence), into: &actions)
        return actions
    }

    mutating func readHeld(into actions: inout [Action]) {
        let bytes = held
        held = []
        bytes.withUnsafeBytes { read($0, into: &actions) }
        if isClientEndDue, case .reading = state, held.isEmpty { finishClientSide(into: &actions) }
    }

    /// Passes the client's end on. Half a head goes nowhere: it is no request.
    private mutating func finishClientSide(into actions: inout [Action]) {
        isClientEndPassed = true
        if origin != nil {
            actions.append(.finishOrigin)
        } else {
            state = .over
            actions.append(.closeClient)
        }
    }

    private mutating func read(_ bytes: UnsafeRawBufferPointer, into actions: inout [Action]) {
        var offset = 0
        while true {
            guard case .reading = state, exchanges.count < Self.openLimit || requests.isInContent else {
                if case .over = state { return }
                held.append(contentsOf: bytes[offset...])
                return
            }
            switch requests.read(bytes, from: &offset) {
            case .needsInput: return
            case .padding: break
            case .head(let head): take(head, rest: bytes[offset...], into: &actions)
            case .content(let content): actions.append(.toOrigin(content))
            case .ended: if asksUpgrade, !exchanges.isEmpty { state = .waiting(.upgrade) }
            case .refused(let refusal): refuse(refusal, into: &actions)
            }
        }
    }

    private mutating func take(
        _ head: RequestHead, rest: Slice<UnsafeRawBufferPointer>, into actions: inout [Action]
    ) {
        do throws(RequestRefusal) {
            let target = try ProxyFormTarget(head)
            // Checked before anything waits, so that nothing is dialled for a request that can't be sent.
            _ = try ProxyFormRequest.head(head, to: target)
            asksUpgrade = head.has("upgrade")
            if isLocal(target.host) {
                if exchanges.isEmpty {
                    hand(head, target, rest: Array(rest), into: &actions)
                } else {
                    state = .waiting(.local(head, target))
                }
            } else if exchanges.isEmpty || origin?.isSameOrigin(as: target) == true {
                send(head, to: target, into: &actions)
            } else {
                state = .waiting(.origin(head, target))
            }
        } catch {
            refuse(error, into: &actions)
        }
    }

    private mutating func send(_ head: RequestHead, to target: ProxyFormTarget, into actions: inout [Action]) {
        do throws(RequestRefusal) {
            let bytes = try ProxyFormRequest.head(head, to: target)
            if origin?.isSameOrigin(as: target) != true {
                guard !hasFinishedClient else {
                    // No answer could reach the client any more.
                    state = .over
                    held = []
                    actions += [.closeOrigin(reset: false), .closeClient]
                    return
                }
                if origin != nil { actions.append(.closeOrigin(reset: false)) }
                actions.append(.dial(target))
                origin = target
                requestsOnConnection = 0
                isOriginFinished = false
                isOriginOpaque = false
                answerFraming = nil
                responses = Self.responseReader()
            }
            exchanges.append(Exchange(method: head.methodText, isFirst: requestsOnConnection == 0))
            requestsOnConnection += 1
            actions.append(.toOrigin(bytes))
        } catch {
            refuse(error, into: &actions)
        }
    }

    private mutating func hand(
        _ head: RequestHead, _ target: ProxyFormTarget, rest: [UInt8], into actions: inout [Action]
    ) {
        if origin != nil { actions.append(.closeOrigin(reset: false)) }
        origin = nil
        held = []
        state = .over
        actions.append(.serveLocally(head.bytes + rest, host: target.host))
    }

    // MARK: - Answers of the proxy itself

    /// Nothing more is taken of the client; it is told why, in its turn.
    private mutating func refuse(_ refusal: RequestRefusal, into actions: inout [Action]) {
        // A fault inside a content is told in place of that request's own answer.
        let isInContent = requests.isInRefusedContent
        let left = isInContent ? 1 : 0
        held = []
        if exchanges.count > left {
            state = .waiting(.refusal(refusal, answersLeft: left))
        } else {
            answer(refusal, into: &actions)
        }
    }

    /// Answers in the place of the oldest request without an answer, and closes. When something of an answer has been sent
    /// already, only the close says it.
    mutating func answer(_ refusal: RequestRefusal, into actions: inout [Action]) {
        let method = exchanges.first?.method
        let hasBegun = exchanges.first?.hasBegun ?? false
        if origin != nil { actions.append(.closeOrigin(reset: !exchanges.isEmpty)) }
        origin = nil
        exchanges = []
        held = []
        state = .over
        if !hasBegun {
            actions.append(.answered(status: refusal.status, sentence: refusal.sentence))
            var bytes = PlainAnswer.bytes(status: refusal.status, sentence: refusal.sentence)
            // RFC 9110 §9.3.2: no content for HEAD.
            if method == "HEAD" { bytes.removeLast(refusal.sentence.utf8.count + 1) }
            actions.append(.toClient(bytes))
        }
        actions.append(.closeClient)
    }
}
