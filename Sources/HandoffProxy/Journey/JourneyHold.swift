public import SessionTrace

/// What a connection's recording consists of while nobody knows whether it may be written (`JourneyWatch.Verdict.wait`).
///
/// Holds what follows the ClientHello: ciphertext of both sides, secrets and acknowledgements, in order. On `record` it is
/// all written, secrets first as the grammar asks; on `withhold` only the ciphertext of the handshake is, and no secret.
public struct JourneyHold {
    /// One thing to write.
    public enum Piece: Hashable, Sendable {
        /// Bytes that the device sent, with the time at which they arrived.
        case received([UInt8], at: Instant)
        /// Bytes that the kernel took for the device, and when.
        case sent([UInt8], at: Instant)
        /// NSS key log lines, to be written before what follows.
        case secrets([UInt8])
        /// What the device has acknowledged of the server's stream, counted from its start.
        case acknowledged(UInt64, includingFinish: Bool, at: Instant)

        var size: Int {
            switch self {
            case .received(let bytes, _), .sent(let bytes, _), .secrets(let bytes): bytes.count + 64
            case .acknowledged: 64
            }
        }
    }

    /// Bytes that may wait on one connection; over it the connection is withheld (`JourneyWatch.overLimit`).
    public static let limit = 512 << 10

    private var pieces: [Piece] = []
    private var size = 0
    /// How many of the pieces belong to the handshake; nil while it runs.
    private var handshakePieces: Int?

    /// Holds nothing.
    public init() {}

    /// Holds a piece back.
    ///
    /// - Returns: false when the limit is crossed: nothing more may wait.
    public mutating func append(_ piece: Piece) -> Bool {
        pieces.append(piece)
        size += piece.size
        return size <= Self.limit
    }

    /// The TLS handshake with the device is over: what is appended from here on carries application data.
    public mutating func handshakeEnded() {
        if handshakePieces == nil { handshakePieces = pieces.count }
    }

    /// Everything, in order; the hold is empty then.
    public mutating func takeAll() -> [Piece] {
        defer { clear() }
        return pieces
    }

    /// The ciphertext of the handshake, without secrets; the hold is empty then, and the rest is forgotten.
    public mutating func takeHandshake() -> [Piece] {
        defer { clear() }
        return pieces.prefix(handshakePieces ?? pieces.count).filter {
            if case .secrets = $0 { false } else { true }
        }
    }

    private mutating func clear() {
        pieces = []
        size = 0
        handshakePieces = 0
    }
}
