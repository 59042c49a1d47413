/// Something that the trace could not see, and therefore no rule may take for absent.
public struct BlindSpot: Hashable, Sendable {
    /// Why it could not be seen. The raw value is the reason code that reports print.
    public enum Reason: String, Hashable, Sendable, CaseIterable {
        /// Encrypted, and no key log entry belongs to it.
        case noKeys = "no-keys"
        /// Encrypted; the keys that claim to belong to it do not open it.
        case keysDoNotFit = "keys-do-not-fit"
        /// Encrypted; its start is not in the capture.
        case handshakeNotSeen = "handshake-not-seen"
        /// Encrypted with a version or suite that is not decrypted.
        case unsupportedEncryption = "unsupported-encryption"
        /// A QUIC connection; its content is not read.
        case quic = "quic"
        /// The client refused the proxy's certificate.
        case leafRefused = "leaf-refused"
        /// The handshake was completed and then closed without a byte: the sign of a pinning client.
        case leafSuspected = "leaf-suspected"
        /// Passed through unread, as told.
        case passthrough = "passthrough"
        /// Traffic of the device that went around the proxy.
        case bypass = "bypass"
        /// Stream bytes that no captured packet holds.
        case tcpHole = "tcp-hole"
        /// Packets that were captured only in part (snapshot length).
        case truncatedPacket = "truncated-packet"
        /// IP fragments whose rest is missing.
        case fragmentMissing = "fragment-missing"
        /// Only one direction of the connection was captured.
        case oneSided = "one-sided"
        /// The connection was joined after its start.
        case startNotSeen = "start-not-seen"
        /// Header fields that refer to table entries which were never seen.
        case headerTableUnknown = "header-table-unknown"
        /// Stream bytes that were sent twice with different content; the first ones seen were read.
        case conflictingBytes = "conflicting-bytes"
        /// Bytes of no protocol that is read here.
        case unknownProtocol = "unknown-protocol"
        /// Message bytes that can't be framed.
        case unreadableMessage = "unreadable-message"
        /// A body longer than the limit; the rest was not kept.
        case bodyOverLimit = "body-over-limit"
        /// A content coding that could not be undone, or only in part.
        case undecodableContent = "undecodable-content"
        /// A decoding budget ran out.
        case decodeBudget = "decode-budget"
        /// State was given up because a table was full.
        case stateGivenUp = "state-given-up"
        /// Packets that the capturing system says it dropped.
        case captureDrops = "capture-drops"
        /// A link type, block or section that is not read.
        case unreadablePackets = "unreadable-packets"
        /// The file ends inside a block or packet.
        case fileCutShort = "file-cut-short"
        /// The recorder stopped before the session did.
        case recordingStopped = "recording-stopped"
        /// Withheld on purpose (`--chia-journey=heads`): policy, not a hole.
        case withheld = "withheld"
    }

    /// Why.
    public var reason: Reason
    /// The connection that it concerns; nil when it may concern any.
    public var connection: ConnectionID?
    /// The exchange that it concerns, when it is one alone.
    public var exchange: ExchangeID?
    /// The direction whose bytes are missing (the sender); nil for both or unknown.
    public var from: Side?
    /// From when to when something may have passed unseen.
    public var span: TimeSpan
    /// How many bytes are concerned, where known.
    public var bytes: Int?
    /// The packet at which it was noticed.
    public var noticed: PacketReference
    /// Names, numbers or limits that make the reason concrete, in plain words; holds no payload.
    public var detail: String

    /// Makes a blind spot.
    public init(
        reason: Reason, connection: ConnectionID? = nil, from: Side? = nil, span: TimeSpan, bytes: Int? = nil,
        noticed: PacketReference, detail: String = "", exchange: ExchangeID? = nil
    ) {
        self.reason = reason
        self.connection = connection
        self.from = from
        self.span = span
        self.bytes = bytes
        self.noticed = noticed
        self.detail = detail
        self.exchange = exchange
    }
}
