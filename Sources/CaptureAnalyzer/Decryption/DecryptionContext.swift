/// What all TLS connections of one trace share: the key log, the budget for records that wait for keys, one scratch buffer.
internal import WireFormats

/// Limits on memory and work that input can cause.
public struct DecryptionLimits: Hashable, Sendable {
    /// Ciphertext in bytes that one connection may hold while it waits for keys or for the other side's handshake.
    public var heldPerConnection = 1 << 20
    /// Records that one connection may hold.
    public var heldRecordsPerConnection = 4_096
    /// Ciphertext in bytes that all connections together may hold.
    public var heldOverall = 32 << 20
    /// Ciphertext in bytes that may be tried, for each loss, to find the number of the next record.
    public var trialBytes = 64 << 20
    /// Records in a row that do not verify before a side is given up.
    public var failuresInARow = 256
    /// Key log entries without a hello that are tried on a connection with an encrypted ClientHello.
    public var innerRandomCandidates = 64
    /// Sessions and tickets of TLS 1.2 whose master secret is remembered for connections that resume them.
    public var rememberedSessions = 4_096

    /// The defaults, as above.
    public init() {}
}

/// State that is shared by all connections of a trace and passed to each call.
public struct DecryptionContext {
    /// The secrets.
    public var keys: KeyLog
    /// Set when no more keys can come (all of them were read before the packets): nothing waits for keys then.
    public var keysAreComplete = false
    /// Limits.
    public let limits: DecryptionLimits

    /// Ciphertext in bytes that connections hold now.
    public internal(set) var heldBytes = 0
    var resumable: ResumableSessions
    let scratch = RecordScratch()

    /// A context without keys.
    public init(keys: KeyLog = KeyLog(), limits: DecryptionLimits = DecryptionLimits()) {
        self.keys = keys
        self.limits = limits
        resumable = ResumableSessions(limit: limits.rememberedSessions)
    }
}

/// Room for the plaintext of one record; used by one connection at a time, within one call.
final class RecordScratch {
    let memory = UnsafeMutableRawBufferPointer.allocate(
        byteCount: TLSRecordHeader.maximumPayload, alignment: 16)

    deinit {
        memory.deallocate()
    }
}

/// Master secrets of TLS 1.0 to 1.2 by what a later connection can resume them with.
struct ResumableSessions {
    private var byID: [[UInt8]: [UInt8]] = [:]
    private var byTicket: [[UInt8]: [UInt8]] = [:]
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    /// Remembers a secret under a session id; further ones are dropped when the table is full.
    mutating func remember(_ master: [UInt8], id: [UInt8]) {
        if byID.count < limit || byID[id] != nil { byID[id] = master }
    }

    /// Remembers a secret under the SHA-256 of a ticket.
    mutating func remember(_ master: [UInt8], ticket digest: [UInt8]) {
        if byTicket.count < limit || byTicket[digest] != nil { byTicket[digest] = master }
    }

    func master(id: [UInt8]) -> [UInt8]? { byID[id] }
    func master(ticket digest: [UInt8]) -> [UInt8]? { byTicket[digest] }
}
