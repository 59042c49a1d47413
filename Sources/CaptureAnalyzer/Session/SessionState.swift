internal import SessionTrace
internal import WireFormats

/// What all connections of a trace share while it is read.
struct SessionState {
    /// Key log and the budget of ciphertext that waits for keys.
    var decryption: DecryptionContext
    /// Counts for `--facts`.
    var facts = CaptureFacts()
    /// How much is kept of messages.
    let limits: ConversationLimits
    /// Ids given so far.
    private var connections = 0
    /// Events that the reader has not handed on yet.
    private(set) var events: [SessionEvent] = []
    /// Tells marks that came twice from second marks.
    var repeats = MarkRepeats()
    /// The last mark without an id that a datagram brought.
    var latestMark: (content: String, conversation: ConnectionID, time: Instant)?
    /// What was odd about marks, in words; at most `noteLimit` lines.
    var notes: [String] = []
    /// Marks that could not be read, in words; at most `noteLimit` lines.
    var unreadableMarks: [String] = []
    /// Most lines of `notes`.
    static let noteLimit = 64
    /// What the proxy said of connections.
    var proxy = ProxyWords()
    /// How the TLS connections fared.
    private(set) var secureSessions = TraceSummary.Decryption()

    init(decryption: DecryptionContext, limits: ConversationLimits) {
        self.decryption = decryption
        self.limits = limits
    }

    /// A fresh connection id.
    mutating func nextConnection() -> ConnectionID {
        defer { connections += 1 }
        return ConnectionID(connections)
    }

    /// Appends an event to the trace.
    mutating func emit(_ event: SessionEvent) {
        facts.count(event)
        switch event {
        case .secureSession(let session):
            count(session)
            events.append(event)
        case .blindSpot(let spot):
            if let told = proxy.told(spot) { events.append(.blindSpot(told)) }
        case .exchange(let exchange):
            events.append(event)
            if !proxy.isOwnRecording { takeMark(inBand: exchange) }
        default:
            events.append(event)
        }
    }

    /// The events since the last call.
    mutating func takeEvents() -> [SessionEvent] {
        // Given away with its memory: after one burst of events every later array would be as large.
        defer { events = [] }
        return events
    }

    private mutating func count(_ session: SecureSession) {
        secureSessions.connections += 1
        switch session.readability {
        case .decrypted, .noApplicationData:
            secureSessions.decrypted += 1
        case .partly(let reason), .opaque(let reason):
            secureSessions.dark[proxy.darkness(of: session.connection) ?? Self.sentence(reason), default: 0] += 1
        }
    }

    private static func sentence(_ reason: SecureSession.UnreadableReason) -> String {
        switch reason {
        case .noKeys: "no key for it in any key log"
        case .keysDoNotFit: "the keys given for it do not open it"
        case .handshakeNotSeen: "its handshake is not in the capture"
        case .unsupported(let what): "\(what) is not decrypted"
        case .hole: "packets are missing from it"
        }
    }
}
