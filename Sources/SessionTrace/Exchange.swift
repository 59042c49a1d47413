/// Names one exchange in a trace.
public struct ExchangeID: Hashable, Comparable, Sendable {
    /// The connection that carries it.
    public let connection: ConnectionID
    /// Counted from 0 on that connection in the order in which requests began.
    public let index: Int

    /// Makes an id.
    public init(connection: ConnectionID, index: Int) {
        self.connection = connection
        self.index = index
    }

    public static func < (lhs: ExchangeID, rhs: ExchangeID) -> Bool {
        (lhs.connection, lhs.index) < (rhs.connection, rhs.index)
    }
}

/// The protocol that carried an exchange.
public enum HTTPVersion: String, Hashable, Sendable {
    case http09 = "HTTP/0.9"
    case http10 = "HTTP/1.0"
    case http11 = "HTTP/1.1"
    case http2 = "HTTP/2"
    case http3 = "HTTP/3"
}

/// The content of a message: the bytes after transfer coding, before content coding.
public struct Body: Hashable, Sendable {
    /// What was kept of it, from its start; bytes inside a hole are left out and counted in `missing`.
    public var bytes: [UInt8]
    /// Content bytes that were on the wire, kept or not.
    public var length: Int
    /// Content bytes lost in holes of the capture.
    public var missing: Int
    /// Whether the end of the content was seen.
    public var isComplete: Bool
    /// Whether bytes beyond the capture's body limit were dropped (a `BlindSpot` says so too).
    public var isCut: Bool

    /// An empty body that has ended.
    public static let empty = Body(bytes: [], length: 0, missing: 0, isComplete: true, isCut: false)

    /// Makes a body.
    public init(bytes: [UInt8], length: Int, missing: Int, isComplete: Bool, isCut: Bool) {
        self.bytes = bytes
        self.length = length
        self.missing = missing
        self.isComplete = isComplete
        self.isCut = isCut
    }

    /// All of it is here: nothing lost, nothing cut, the end seen.
    public var isWhole: Bool { isComplete && !isCut && missing == 0 }
}

/// A request as the device sent it.
public struct Request: Hashable, Sendable {
    /// The method, as sent. Empty when it could not be read (an unknown header table entry).
    public var method: String
    /// The request target as sent: origin-form, absolute-form, authority-form or `*` (RFC 9112 §3.2); `:path` in HTTP/2.
    public var target: String
    /// `http` or `https`: from the target, `:scheme`, or the connection.
    public var scheme: String
    /// The authority as sent: `:authority`, absolute-form's, or `Host`; nil when none was sent or it is unknown.
    public var authority: String?
    /// Header fields in wire order, pseudo-header fields included.
    public var fields: FieldSection
    /// Trailer fields.
    public var trailers: FieldSection
    /// The content.
    public var body: Body
    /// The packet with its first byte.
    public var started: PacketReference
    /// The packet with its last byte seen.
    public var ended: PacketReference
    /// HTTP/2's `:protocol` (extended CONNECT, RFC 8441), if sent.
    public var connectProtocol: String?

    /// Makes a request.
    public init(
        method: String, target: String, scheme: String, authority: String?, fields: FieldSection,
        trailers: FieldSection = FieldSection(), body: Body = .empty, started: PacketReference,
        ended: PacketReference, connectProtocol: String? = nil
    ) {
        self.method = method
        self.target = target
        self.scheme = scheme
        self.authority = authority
        self.fields = fields
        self.trailers = trailers
        self.body = body
        self.started = started
        self.ended = ended
        self.connectProtocol = connectProtocol
    }

    /// The host of the authority, normalised; nil when there is none.
    public var host: HostName? { authority.flatMap { HostName.parse(authority: $0)?.host } }

    /// The path with its query, whatever form the target has; `*` and authority-form are returned as they are.
    public var pathAndQuery: String {
        guard !target.hasPrefix("/"), let colon = target.firstIndex(of: ":"), target[colon...].hasPrefix("://") else {
            return target
        }
        let afterScheme = target[colon...].dropFirst(3)
        guard let slash = afterScheme.firstIndex(where: { $0 == "/" || $0 == "?" }) else { return "/" }
        return target[slash] == "?" ? "/" + String(target[slash...]) : String(target[slash...])
    }

    /// The path alone.
    public var path: String { String(pathAndQuery.prefix { $0 != "?" && $0 != "#" }) }
}

/// A response as the device received it.
public struct Response: Hashable, Sendable {
    /// The status code, 100 to 999; 0 when it could not be read.
    public var status: Int
    /// The reason phrase of HTTP/1; empty in HTTP/2.
    public var reason: String
    /// Header fields in wire order, pseudo-header fields included.
    public var fields: FieldSection
    /// Trailer fields.
    public var trailers: FieldSection
    /// The content.
    public var body: Body
    /// The packet with its first byte.
    public var started: PacketReference
    /// The packet with its last byte seen.
    public var ended: PacketReference

    /// Makes a response.
    public init(
        status: Int, reason: String, fields: FieldSection, trailers: FieldSection = FieldSection(), body: Body = .empty,
        started: PacketReference, ended: PacketReference
    ) {
        self.status = status
        self.reason = reason
        self.fields = fields
        self.trailers = trailers
        self.body = body
        self.started = started
        self.ended = ended
    }
}

/// How an exchange ended.
public enum ExchangeEnd: Hashable, Sendable {
    /// Request and final response are whole.
    case complete
    /// The stream or connection was closed in order before the response was whole.
    case closed(by: Side)
    /// RST, RST_STREAM, or a closed QUIC stream; `code` is HTTP/2's or HTTP/3's error code.
    case reset(by: Side, code: UInt32?)
    /// The peer says that it did not process the request: REFUSED_STREAM, or a GOAWAY below it (RFC 9113 §8.7).
    case unprocessed
    /// A hole in the capture or lost synchronisation hides how it ended.
    case notSeen
    /// The trace ended, or its state was given up, while it was open.
    case traceEnded
}

/// Something in a message that the standards forbid or leave ambiguous; reported, never "corrected".
public enum Anomaly: Hashable, Sendable {
    /// Both Content-Length and Transfer-Encoding, or two lengths that differ (RFC 9112 §6.3; CASES rows 8, 57).
    case ambiguousFraming(String)
    /// A header field or start line that the grammar does not allow.
    case malformedHead(String)
    /// A response that answers no request that was seen.
    case unexpectedResponse
    /// Bytes that are not a message.
    case notHTTP(String)
    /// A framing-layer error (HTTP/2 frame, HPACK, chunk size).
    case framingError(String)
    /// Overlapping TCP bytes that differ; the first ones seen were used (CASES row 46).
    case conflictingOverlap
}

/// One request with what came back, as seen between the device and whatever it talked to.
public struct Exchange: Hashable, Sendable {
    /// Its name.
    public var id: ExchangeID
    /// The protocol.
    public var version: HTTPVersion
    /// HTTP/2 or HTTP/3 stream id.
    public var streamID: UInt64?
    /// The request; nil for a response whose request was not captured (one-sided, mid-stream).
    public var request: Request?
    /// 1xx responses in order.
    public var informational: [Response]
    /// The final response, whole or not; nil when none began.
    public var response: Response?
    /// How it ended.
    public var end: ExchangeEnd
    /// When it ended.
    public var ended: PacketReference
    /// Whether it was pushed by the server (RFC 9113 §8.4): the device never sent this request.
    public var isPushed: Bool
    /// What was wrong with it.
    public var anomalies: [Anomaly]

    /// Makes an exchange.
    public init(
        id: ExchangeID, version: HTTPVersion, streamID: UInt64? = nil, request: Request?,
        informational: [Response] = [], response: Response? = nil, end: ExchangeEnd, ended: PacketReference,
        isPushed: Bool = false, anomalies: [Anomaly] = []
    ) {
        self.id = id
        self.version = version
        self.streamID = streamID
        self.request = request
        self.informational = informational
        self.response = response
        self.end = end
        self.ended = ended
        self.isPushed = isPushed
        self.anomalies = anomalies
    }
}

/// Whether the last byte of a response reached the device.
public enum Delivery: String, Hashable, Sendable {
    /// The device acknowledged it.
    case yes
    /// The connection ended without an acknowledgement of it, although the device's acknowledgements were seen.
    case no
    /// The device's acknowledgements were not seen.
    case unknown
}
