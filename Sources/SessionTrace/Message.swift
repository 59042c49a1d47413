/// One message of a connection that is not request and response: a WebSocket message after an upgrade.
public struct Message: Hashable, Sendable {
    /// What kind of message.
    public enum Kind: String, Hashable, Sendable {
        case text, binary, ping, pong, close
    }

    /// The exchange that opened it (the upgrade request or extended CONNECT).
    public var exchange: ExchangeID
    /// Who sent it.
    public var from: Side
    /// Its kind.
    public var kind: Kind
    /// The payload, unmasked and inflated (RFC 6455, RFC 7692).
    public var payload: Body
    /// The packet with its first byte.
    public var started: PacketReference
    /// The packet with its last byte.
    public var ended: PacketReference
    /// Frames that made it up.
    public var frames: Int

    /// Makes a message.
    public init(
        exchange: ExchangeID, from: Side, kind: Kind, payload: Body, started: PacketReference, ended: PacketReference,
        frames: Int
    ) {
        self.exchange = exchange
        self.from = from
        self.kind = kind
        self.payload = payload
        self.started = started
        self.ended = ended
        self.frames = frames
    }
}
