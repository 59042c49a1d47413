/// How many messages of which kind an observer has read.
public struct ConversationCounts: Hashable, Sendable {
    /// HTTP/1 requests whose heads were read.
    public var http1Requests: Int
    /// HTTP/1 responses whose heads were read, interim ones (1xx) too.
    public var http1Responses: Int
    /// HTTP/2 request heads that were read, those of pushes too (that of an upgraded HTTP/1 request is not among them).
    public var http2Requests: Int
    /// HTTP/2 response heads that were read, interim ones too.
    public var http2Responses: Int
    /// WebSocket frames, control frames too.
    public var webSocketFrames: Int

    /// Makes counts.
    public init(
        http1Requests: Int = 0, http1Responses: Int = 0, http2Requests: Int = 0, http2Responses: Int = 0,
        webSocketFrames: Int = 0
    ) {
        self.http1Requests = http1Requests
        self.http1Responses = http1Responses
        self.http2Requests = http2Requests
        self.http2Responses = http2Responses
        self.webSocketFrames = webSocketFrames
    }
}
