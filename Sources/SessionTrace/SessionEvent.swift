/// One thing that a trace shows. A trace is a stream of these; rules know nothing else.
///
/// Order: events come in the order in which they were *finished* being seen, which is capture order for each
/// connection. Times inside the events are the packets' own, so a reader that needs another order sorts by them.
/// The stream ends with exactly one `traceEnded`.
public enum SessionEvent: Hashable, Sendable {
    /// A connection's first packet.
    case connectionOpened(Connection)
    /// The process of a connection became known only after its first packet.
    case processIdentified(ConnectionID, ProcessIdentity)
    /// A ClientHello is whole.
    case clientHello(ClientHello)
    /// A DNS message.
    case nameLookup(NameLookup)
    /// A request's head is whole; the exchange follows when it has ended.
    case requestStarted(ExchangeID, HTTPVersion, Request)
    /// An exchange has ended, however it did.
    case exchange(Exchange)
    /// Whether the response of an exchange reached the device; follows the exchange.
    case delivery(ExchangeID, Delivery, PacketReference)
    /// A WebSocket message.
    case message(Message)
    /// A mark.
    case mark(Mark)
    /// A word from the proxy that recorded the trace.
    case proxyEvent(ProxyEvent)
    /// What became of a connection's encryption.
    case secureSession(SecureSession)
    /// An activity was started on the device, as a log of its system tells.
    case activityStarted(ActivityStart)
    /// Something that could not be seen.
    case blindSpot(BlindSpot)
    /// A connection has ended.
    case connectionClosed(ConnectionEnd)
    /// The trace has ended.
    case traceEnded(TraceSummary)
}
