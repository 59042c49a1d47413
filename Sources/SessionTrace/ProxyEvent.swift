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
    private static let known: [(String, ProxyEvent.Kind)] = [
        ("dialed", .dialed), ("dial-failed", .dialFailed), ("upstream-tls", .upstreamTLS),
        ("upstream-tls-failed", .upstreamTLSFailed), ("leaf-refused", .leafRefused),
        ("leaf-suspected", .leafSuspected), ("passthrough", .passthrough), ("fault", .fault),
        ("withheld", .withheld), ("exchange", .exchange), ("limit", .limit),
    ]

    /// The kind written in the event's `kind` member; an unknown word becomes `other`.
    public init(rawValue: String) {
        self = Self.known.first { $0.0 == rawValue }?.1 ?? .other(rawValue)
    }

    /// The word that the event's `kind` member holds.
    public var rawValue: String {
        if case .other(let word) = self { return word }
        return Self.known.first { $0.1 == self }?.0 ?? ""
    }
}
