public import SessionTrace

/// Something that the person at the terminal should know at once, beside the timeline that is read from the recording.
public struct LiveEvent: Hashable, Sendable {
    /// What it is about.
    public enum Kind: String, Hashable, Sendable {
        /// A listener is bound.
        case listening
        /// A client that `--allow` does not name, or without the right credential.
        case clientRefused = "client-refused"
        /// A destination on this host or its link.
        case destinationRefused = "destination-refused"
        /// An origin that could not be reached.
        case dialFailed = "dial-failed"
        /// An origin whose TLS failed.
        case upstreamTLSFailed = "upstream-tls-failed"
        /// A client that refused our certificate.
        case leafRefused = "leaf-refused"
        /// A client that closed after a finished handshake.
        case leafSuspected = "leaf-suspected"
        /// A connection that is relayed unread.
        case passthrough
        /// A client that accepted our certificate: it trusts the authority.
        case trustSeen = "trust-seen"
        /// A fault that was injected.
        case fault
        /// A named limit that was reached.
        case limit
        /// A device that was not seen before.
        case deviceSeen = "device-seen"
        /// A mark that was taken.
        case mark
        /// The recording, or a part of it, has stopped.
        case recordingStopped = "recording-stopped"
        /// Anything else, in words.
        case note
    }

    /// What it is about.
    public var kind: Kind
    /// When.
    public var at: Instant
    /// The client that it concerns.
    public var client: Endpoint?
    /// The host that it concerns.
    public var host: String?
    /// One plain sentence, with what to do about it where something can be done. Holds no secret.
    public var text: String
    /// Whether someone must act: shown in red.
    public var isAlarm: Bool

    /// Makes an event.
    public init(
        _ kind: Kind, at: Instant, client: Endpoint? = nil, host: String? = nil, text: String, isAlarm: Bool = false
    ) {
        self.kind = kind
        self.at = at
        self.client = client
        self.host = host
        self.text = text
        self.isAlarm = isAlarm
    }
}
