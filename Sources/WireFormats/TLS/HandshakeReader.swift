/// Handshake messages out of the payloads of handshake records (or CRYPTO frames), cut anyhow.

/// Types of handshake messages (IANA "TLS HandshakeType").
public enum HandshakeType {
    public static let helloRequest: UInt8 = 0
    public static let clientHello: UInt8 = 1
    public static let serverHello: UInt8 = 2
    public static let newSessionTicket: UInt8 = 4
    public static let endOfEarlyData: UInt8 = 5
    public static let helloRetryRequest: UInt8 = 6
    public static let encryptedExtensions: UInt8 = 8
    public static let clientKeyExchange: UInt8 = 16
    public static let finished: UInt8 = 20
    public static let keyUpdate: UInt8 = 24
}

/// One handshake message.
public struct HandshakeMessage {
    /// Its type (`HandshakeType`).
    public var type: UInt8
    /// Its body. Empty for types that nobody here reads (certificates can be large) and for messages over the limit.
    /// Valid until the reader's next call.
    public var body: UnsafeRawBufferPointer
}

/// Puts handshake messages together from payloads that may split them anywhere (RFC 8446 §5.1).
public struct HandshakeReader {
    /// The longest body that is kept, in bytes; a longer message is stepped over.
    public static let maximumBody = 128 << 10
    /// Bodies of up to this many bytes are kept for every type.
    private static let smallBody = 64
    private static let headerLength = 4

    private enum State {
        /// Between two messages.
        case between
        /// Some of the four header bytes, or all of them and some of the body.
        case gathering(HeapBytes)
        /// A message was handed out of this memory, which may go at the next call.
        case handedOut(HeapBytes)
        /// Bytes of a body that is not wanted.
        case skipping(Int)
    }

    private var state = State.between

    /// A reader at the start of a message.
    public init() {}

    /// Whether a message has begun and is not whole.
    public var isInsideMessage: Bool {
        switch state {
        case .between, .handedOut: false
        case .gathering, .skipping: true
        }
    }

    /// Takes the next whole message off `input`; nil when there is none, and then all of `input` has been taken.
    public mutating func next(_ input: inout UnsafeRawBufferPointer) -> HandshakeMessage? {
        if case .handedOut = state { state = .between }
        while !input.isEmpty {
            switch state {
            case .skipping(let count):
                let step = min(count, input.count)
                input = UnsafeRawBufferPointer(rebasing: input[step...])
                state = step == count ? .between : .skipping(count - step)
            case .between, .handedOut:
                // A message that lies whole in the input is handed out where it is.
                if let message = Self.wholeMessage(&input) { return message }
                state = .gathering(HeapBytes(capacity: Self.headerLength))
            case .gathering(let bytes):
                if let message = gather(bytes, &input) { return message }
            }
        }
        return nil
    }

    private static func wholeMessage(_ input: inout UnsafeRawBufferPointer) -> HandshakeMessage? {
        guard input.count >= headerLength else { return nil }
        let end = headerLength + bodyLength(input)
        guard end <= input.count else { return nil }
        let message = HandshakeMessage(
            type: input[0], body: UnsafeRawBufferPointer(rebasing: input[headerLength..<end]))
        input = UnsafeRawBufferPointer(rebasing: input[end...])
        return message
    }

    private mutating func gather(_ bytes: HeapBytes, _ input: inout UnsafeRawBufferPointer) -> HandshakeMessage? {
        guard bytes.fill(upTo: Self.headerLength, from: &input) else { return nil }
        let type = bytes.bytes[0]
        let length = Self.bodyLength(bytes.bytes)
        guard length <= Self.maximumBody, Self.isWanted(type) || length <= Self.smallBody else {
            state = .skipping(length)
            return HandshakeMessage(type: type, body: UnsafeRawBufferPointer(start: nil, count: 0))
        }
        if bytes.capacity < Self.headerLength + length {
            let whole = HeapBytes(capacity: Self.headerLength + length)
            var header = bytes.bytes
            _ = whole.fill(upTo: Self.headerLength, from: &header)
            state = .gathering(whole)
            return gatherBody(whole, type, length, &input)
        }
        return gatherBody(bytes, type, length, &input)
    }

    private mutating func gatherBody(
        _ bytes: HeapBytes, _ type: UInt8, _ length: Int, _ input: inout UnsafeRawBufferPointer
    ) -> HandshakeMessage? {
        guard bytes.fill(upTo: Self.headerLength + length, from: &input) else { return nil }
        state = .handedOut(bytes)
        return HandshakeMessage(type: type, body: UnsafeRawBufferPointer(rebasing: bytes.bytes[Self.headerLength...]))
    }

    /// What has come of a message that is not whole: its type and the part of its body; nil when there is none.
    @discardableResult public func withUnfinished<Result>(_ body: (UInt8, UnsafeRawBufferPointer) -> Result) -> Result?
    {
        guard case .gathering(let bytes) = state, bytes.count >= Self.headerLength else { return nil }
        return body(bytes.bytes[0], UnsafeRawBufferPointer(rebasing: bytes.bytes[Self.headerLength...]))
    }

    private static func bodyLength(_ bytes: UnsafeRawBufferPointer) -> Int {
        Int(bytes[1]) << 16 | Int(bytes[2]) << 8 | Int(bytes[3])
    }

    private static func isWanted(_ type: UInt8) -> Bool {
        switch type {
        case HandshakeType.clientHello, HandshakeType.serverHello, HandshakeType.newSessionTicket,
            HandshakeType.encryptedExtensions, HandshakeType.clientKeyExchange, HandshakeType.keyUpdate,
            HandshakeType.finished:
            true
        default:
            false
        }
    }
}
