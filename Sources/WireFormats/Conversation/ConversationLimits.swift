/// How much of a conversation is kept in memory. Everything beyond a limit is dropped, counted, and said.
public struct ConversationLimits: Hashable, Sendable {
    /// Bytes kept of a request's body; the rest is counted, `Body.isCut` is set and a blind spot says so.
    public var body = 8 << 20
    /// Bytes kept of a response's body; the rest is counted and `Body.isCut` is set.
    public var responseBody = 2 << 20
    /// Bytes of a message head (start line, header fields) or of a trailer section that are read before giving up on it.
    public var head = 256 << 10
    /// Header fields read of one head or trailer section.
    public var fields = 4_096
    /// Requests of one connection that wait for a response (HTTP/1 pipelining) or streams open at once (HTTP/2).
    public var openExchanges = 1_024
    /// Body bytes kept by requests of one HTTP/1 connection that wait for a response; beyond it the oldest are given up.
    public var openBytes = 32 << 20
    /// Responses of one HTTP/1 connection that wait for requests which a hole in the capture delays; the oldest ones beyond it
    /// are told without.
    public var waitingResponses = 64
    /// Interim (1xx) responses kept for one exchange.
    public var interimResponses = 64
    /// Bytes held of what a client sends before the answer tells which protocol they are (CONNECT, upgrade).
    public var heldBytes = 256 << 10
    /// Bytes kept of one WebSocket message, after inflating.
    public var message = 1 << 20

    /// The limits of the product.
    public init() {}
}
