/// The record layer's header (RFC 8446 §5.1, RFC 5246 §6.2.1) and what a stream's first bytes say about TLS.

/// The five bytes before each record.
public struct TLSRecordHeader: Hashable, Sendable {
    /// What a record holds.
    public enum ContentType: UInt8, Hashable, Sendable {
        case changeCipherSpec = 20
        case alert = 21
        case handshake = 22
        case applicationData = 23
        case heartbeat = 24
    }

    /// Length of a header in bytes.
    public static let length = 5
    /// The longest payload that any version allows, in bytes: 2^14 + 2048 (RFC 5246 §6.2.3).
    public static let maximumPayload = 16_384 + 2_048

    /// What it holds.
    public var type: ContentType
    /// The version field: 0x0301 to 0x0303, whatever was negotiated; 0x0300 for SSL 3.0.
    public var version: UInt16
    /// Length of the payload in bytes, at most `maximumPayload`.
    public var payloadLength: Int

    /// Header and payload together, in bytes.
    public var recordLength: Int { Self.length + payloadLength }

    /// Reads a header off the first five bytes; nil when there are fewer, or when they can't be one.
    public init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.length, let type = ContentType(rawValue: bytes[0]),
            bytes[1] == 3, bytes[2] <= 4
        else { return nil }
        let length = Int(bytes[3]) << 8 | Int(bytes[4])
        // Only application data may be empty (RFC 8446 §5.1, RFC 5246 §6.2.1).
        guard length <= Self.maximumPayload, length > 0 || type == .applicationData else { return nil }
        self.type = type
        version = UInt16(bytes[1]) << 8 | UInt16(bytes[2])
        payloadLength = length
    }

    /// Whether `bytes`, which may be fewer than five, can be the start of a header.
    static func canStart(with bytes: UnsafeRawBufferPointer) -> Bool {
        if bytes.count >= length { return TLSRecordHeader(bytes) != nil }
        if let first = bytes.first, ContentType(rawValue: first) == nil { return false }
        if bytes.count > 1, bytes[1] != 3 { return false }
        if bytes.count > 2, bytes[2] > 4 { return false }
        return bytes.count < 4 || bytes[3] <= UInt8(maximumPayload >> 8)
    }
}

/// What the first bytes of a stream say about TLS.
public enum TLSRecognition: Hashable, Sendable {
    /// A TLS record header of a plausible kind, or an SSLv2 hello.
    case tls
    /// Fewer bytes than are needed to tell, and all of them fit so far.
    case undecided
    /// Something else.
    case other

    /// Looks at the first bytes of one side of a stream; 11 bytes always decide.
    ///
    /// `startSeen`: the stream's first byte is the first of these, so only a hello (or an alert, when a server refuses
    /// at once) can stand there; without it any record will do.
    public init(_ prefix: UnsafeRawBufferPointer, startSeen: Bool = true) {
        if prefix.isEmpty {
            self = .undecided
        } else if TLSRecordHeader.canStart(with: prefix) {
            self = Self.judge(record: prefix, startSeen: startSeen)
        } else if startSeen {
            self = Self.judge(sslv2Hello: prefix)
        } else {
            self = .other
        }
    }

    private static func judge(record prefix: UnsafeRawBufferPointer, startSeen: Bool) -> TLSRecognition {
        guard let header = TLSRecordHeader(prefix) else { return .undecided }
        guard startSeen else { return .tls }
        switch header.type {
        case .alert:
            return header.payloadLength == 2 ? .tls : .other
        case .handshake:
            guard prefix.count > TLSRecordHeader.length else { return .undecided }
            // ClientHello, ServerHello, or the HelloRequest and old HelloRetryRequest that may come first.
            return [0, 1, 2, 6].contains(prefix[TLSRecordHeader.length]) ? .tls : .other
        case .changeCipherSpec, .applicationData, .heartbeat:
            return .other
        }
    }

    /// An SSLv2 CLIENT-HELLO: two bytes of length with the top bit set, type 1, version, three even or plausible lengths.
    private static func judge(sslv2Hello prefix: UnsafeRawBufferPointer) -> TLSRecognition {
        guard prefix[0] & 0x80 != 0 else { return .other }
        if prefix.count > 2, prefix[2] != 1 { return .other }
        if prefix.count > 3, prefix[3] != 0, prefix[3] != 3 { return .other }
        if prefix.count > 4, prefix[3] == 0 ? prefix[4] != 2 : prefix[4] > 4 { return .other }
        guard prefix.count >= 11 else { return .undecided }
        return SSLv2ClientHello.hasHeader(prefix) ? .tls : .other
    }
}
