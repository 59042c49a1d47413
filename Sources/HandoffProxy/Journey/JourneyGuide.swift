public import SessionTrace

/// Who decides what of the person's journey on Chia is recorded (`--chia-journey=heads`).
///
/// The proxy relays and records; which host is whose, and who sent a request, is knowledge of the rules. Whoever runs
/// both gives the proxy a guide. Without one (`--chia-journey=record`) everything is recorded.
public protocol JourneyGuide: Sendable {
    /// Whether the content of a connection may have to be withheld; asked once, before its handshake with the device.
    /// True means: no secret and no application data goes into the recording before `decide` was asked.
    func mayWithhold(_ connection: JourneyConnection) -> Bool

    /// Sorts a connection by its first request head; nil when its bytes are no request, or none came within the limit.
    /// Asked once. Must not wait for anything.
    func decide(_ connection: JourneyConnection, first request: Request?) -> JourneyDecision

    /// The attributes of the `exchange` event for one request of a withheld connection and its answer, both without
    /// content. May wait until what was recorded before it has been read, since the relation to the handoff URL depends on
    /// that.
    func attributes(of exchange: Exchange, on connection: JourneyConnection) async -> [String: String]
}
