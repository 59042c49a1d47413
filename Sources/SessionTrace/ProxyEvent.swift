/// Something that the recording proxy did or learnt, as its packet comment says (`handoff-event/1 {…}`).
public struct ProxyEvent: Hashable, Sendable {
    /// What it was. Kinds that are not known are kept as `other`.
    public enum Kind: Hashable, Sendable {
        case dialed, dialFailed, upstreamTLS, upstreamTLSFailed, leafRefused, leafSuspected, passthrough, fault
        case withheld, exchange, limit
        /// A kind that this version does not know.
        case other(String)
    }

    /// What it was.
    public var kind: Kind
    /// When.
    public var at: Instant
    /// The connection whose packet carries the comment.
    public var connection: ConnectionID?
    /// The packet that carries the comment.
    public var packet: PacketReference?
    /// The other members of the JSON object; nested values keep their JSON text.
    public var attributes: [String: String]

    /// Makes an event.
    public init(
        kind: Kind, at: Instant, connection: ConnectionID? = nil, packet: PacketReference? = nil,
        attributes: [String: String] = [:]
    ) {
        self.kind = kind
        self.at = at
        self.connection = connection
        self.packet = packet
        self.attributes = attributes
    }
}

extension ProxyEvent.Kind: RawRepresentable {
    /// The kind written in the event's `kind` member; an unknown word becomes `other`.
    public init(rawValue: String) {
        switch rawValue {
        case "dialed": self = .dialed
        case "dial-failed": self = .dialFailed
        case "upstream-tls": self = .upstreamTLS
        case "upstream-tls-failed": self = .upstreamTLSFailed
        case "leaf-refused": self = .leafRefused
        case "leaf-suspected": self = .leafSuspected
        case "passthrough": self = .passthrough
        case "fault": self = .fault
        case "withheld": self = .withheld
        case "exchange": self = .exchange
        case "limit": self = .limit
        default: self = .other(rawValue)
        }
    }

    /// The word that the event's `kind` member holds.
    ///
    /// Equality of a raw-representable type goes through its raw value, so this must not compare kinds itself.
    public var rawValue: String {
        switch self {
        case .dialed: "dialed"
        case .dialFailed: "dial-failed"
        case .upstreamTLS: "upstream-tls"
        case .upstreamTLSFailed: "upstream-tls-failed"
        case .leafRefused: "leaf-refused"
        case .leafSuspected: "leaf-suspected"
        case .passthrough: "passthrough"
        case .fault: "fault"
        case .withheld: "withheld"
        case .exchange: "exchange"
        case .limit: "limit"
        case .other(let word): word
        }
    }
}
