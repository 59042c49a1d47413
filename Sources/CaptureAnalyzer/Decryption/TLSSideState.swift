/// What a decoder knows about one side of a TLS connection.
internal import SessionTrace
internal import WireFormats

/// How a side's records are to be read.
///
/// ```
/// clear ──ChangeCipherSpec──▶ classic ──ChangeCipherSpec inside──▶ classic (renegotiated)
///   ├────ServerHello of 1.3─▶ early ─EndOfEarlyData─▶ handshake ─Finished─▶ application (KeyUpdate: the next secret)
///   └────data without a handshake, SSL 2.0, too many failures ──▶ unreadable
/// ```
enum Protection {
    /// Nothing is encrypted.
    case clear
    /// TLS 1.0 to 1.2 after a ChangeCipherSpec.
    case classic
    /// TLS 1.3 (client only): early data, where offered.
    case early
    /// TLS 1.3 under the handshake secret.
    case handshake
    /// TLS 1.3 under a traffic secret.
    case application
    /// Not to be opened, whatever keys come.
    case unreadable(SecureSession.UnreadableReason)
}

/// One side. An object: the state is large, and every record looks at it many times.
final class TLSSideState {
    var records = TLSRecordReader()
    var handshake = HandshakeReader()
    /// The packet with the first byte of the record that is being gathered.
    var recordStart: PacketReference?
    /// The packet with the first byte of the handshake message that is being gathered.
    var messageStart: PacketReference?
    /// Whether stream bytes were lost before the encryption began.
    var lostClearBytes = false

    var protection = Protection.clear
    /// What TLS 1.0 to 1.2 keys follow from; nil while the ServerHello has not come.
    var negotiation: Negotiation?
    /// Keys of the present epoch, once found.
    var opener: RecordOpener?
    /// The traffic secret behind `opener` in TLS 1.3.
    var secret: [UInt8] = []
    /// The number of the next record in its epoch, and how many more may be missing before it.
    var sequence: UInt64 = 0
    var slack: UInt64 = 0
    /// Whether `opener` has opened a record.
    var isProven = false
    /// The key log's generation at the last look for keys that found none.
    var searchedGeneration = -1
    /// How many master secrets of this connection were known at that look.
    var peerMasterCount = 0
    /// What that look came to.
    var searchFailure = SecureSession.UnreadableReason.noKeys
    /// What is left of the limit on trials since the last success.
    var trialBytes = DecryptionLimits().trialBytes
    /// Records in a row that did not verify.
    var failures = 0

    /// Plaintext that is missing before the next that is given: known length, or nil in the inner optional.
    var gap: Int??
    var traffic = TrafficTally()

    /// Begins another epoch, whose keys are not known yet.
    func enter(_ next: Protection) {
        protection = next
        opener = nil
        secret = []
        sequence = 0
        slack = 0
        isProven = false
        searchedGeneration = -1
        failures = 0
    }
}

/// Counts of one side's application data, in records and in bytes of their payloads.
struct TrafficTally {
    var openedRecords = 0
    var openedBytes = 0
    var closedRecords = 0
    var closedBytes = 0
    /// Bytes of records that a hole has spoilt, and of the hole.
    var lostBytes = 0
    var hasLoss = false
    var first: PacketReference?
    var last: PacketReference?
    var firstClosed: PacketReference?
    var lastClosed: PacketReference?
    var reason: SecureSession.UnreadableReason?
    /// Sealed records of TLS 1.3 that were taken for handshake messages because of when they came and how long they are.
    var presumedHandshake = 0
    /// A record as long as an alert's, which counts as data only when more comes after it.
    var presumedAlert: (bytes: Int, packet: PacketReference)?

    mutating func countOpened(_ bytes: Int, at packet: PacketReference) {
        openedRecords += 1
        openedBytes += bytes
        first = first ?? packet
        last = packet
    }

    mutating func countClosed(
        _ bytes: Int, at packet: PacketReference, because reason: SecureSession.UnreadableReason
    ) {
        closedRecords += 1
        closedBytes += bytes
        first = first ?? packet
        last = packet
        firstClosed = firstClosed ?? packet
        lastClosed = packet
        self.reason = self.reason ?? reason
    }

    var bytes: Int { openedBytes + closedBytes }
}

/// A record, or the account of a hole, that waits.
struct HeldItem {
    enum Content {
        case record(bytes: [UInt8], started: PacketReference)
        case lost(LostRecords)
    }

    var side: Side
    var content: Content
    var packet: PacketReference

    /// Bytes that count towards the limits.
    var size: Int {
        switch content {
        case .record(let bytes, _): bytes.count
        case .lost: 0
        }
    }
}
