internal import Crypto
internal import EventLoop
internal import SessionTrace

/// A TCP connection of the lab with TLS on it, or without. Confined to the loop of its stream.
final class LabChannel {
    private static let pieceLength = 64 << 10

    private let connection: TCPStream
    private var engine: TLSEngine?
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: LabChannel.pieceLength, alignment: 16)
    private let plaintext = UnsafeMutableRawBufferPointer.allocate(byteCount: LabChannel.pieceLength, alignment: 16)
    /// What was read and is in no message yet.
    private var received: [UInt8] = []
    /// Set once HTTP/2 was agreed on.
    private var http2: HTTP2Session?
    private var messages: [HTTP2Session.Message] = []
    /// The stream of the request that is to be answered next.
    private var stream: Int32 = 0
    /// The lines of the TLS key log, as far as nobody has taken them.
    private(set) var secrets: [UInt8] = []

    init(_ connection: TCPStream) {
        self.connection = connection
    }

    deinit {
        buffer.deallocate()
        plaintext.deallocate()
    }

    /// Between which two times the last request was handed to the kernel.
    private(set) var requestSent: TimeSpan?

    /// Whether HTTP/2 was agreed on.
    var isHTTP2: Bool { http2 != nil }

    /// Sends a request and waits for the final response. Throws when the connection ends before it.
    nonisolated(nonsending) func exchange(_ request: LabRequest) async throws -> LabResponse {
        if let http2 { return try await exchange(request, over: http2) }
        let begun = WallClock.now()
        try await write(request.bytes)
        requestSent = TimeSpan(begun, WallClock.now())
        while true {
            let isBodyless = request.method == "HEAD" || request.method == "CONNECT"
            if let message = try LabMessage.take(from: &received, bodyless: isBodyless) {
                guard message.startLine.count >= 2, let status = Int(message.startLine[1]) else {
                    throw LabError("no status line: \(message.startLine.joined(separator: " "))")
                }
                if status < 200, status != 101 { continue }
                return LabResponse(status, fields: message.fields, body: message.body)
            }
            guard try await readMore() else { throw LabError("the connection ended without a response") }
        }
    }

    /// The next request of a client; nil when it has closed.
    nonisolated(nonsending) func nextRequest() async throws -> LabRequest? {
        if let http2 { return try await nextRequest(over: http2) }
        while true {
            if let message = try LabMessage.take(from: &received) {
                guard message.startLine.count == 3 else { throw LabError("no request line") }
                return LabRequest(
                    message.startLine[0], message.startLine[1], fields: message.fields, body: message.body)
            }
            guard try await readMore() else { return nil }
        }
    }

    nonisolated(nonsending) func answer(_ response: LabResponse) async throws {
        guard let http2 else { return try await write(response.bytes) }
        let head = [(name: ":status", value: String(response.status))] + response.fields.map(Self.lowered)
        try http2.submitResponse(on: stream, head, body: response.body)
        try await write(http2.takeOutput())
    }

    /// Sends the head and half of the body, and breaks off.
    nonisolated(nonsending) func answerHalf(_ response: LabResponse) async throws {
        if let http2 {
            http2.reset(stream, code: 2)
            try await write(http2.takeOutput())
        } else {
            try await write(response.bytes.dropLast(max(response.body.count - response.body.count / 2, 1)))
        }
    }

    /// Says that the request was not looked at, and may be sent again: REFUSED_STREAM (RFC 9113 §8.7); by HTTP/1.1 the
    /// connection just ends.
    nonisolated(nonsending) func refuse() async throws {
        guard let http2 else { return await close() }
        http2.reset(stream, code: 7)
        try await write(http2.takeOutput())
    }

    /// Puts TLS on the connection and finishes its handshake.
    nonisolated(nonsending) func secure(with engine: TLSEngine) async throws {
        self.engine = engine
        while true {
            do {
                let isComplete = try engine.handshake()
                secrets += engine.takeSecrets()
                try await flush(engine)
                if isComplete { return try await beginHTTP2(engine) }
            } catch let failure as TLSFailure {
                try? await flush(engine)
                throw failure
            }
            let count = try await connection.read(into: buffer).count
            if count == 0 {
                engine.endOfInput()
            } else {
                engine.feed(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            }
        }
    }

    private nonisolated(nonsending) func beginHTTP2(_ engine: TLSEngine) async throws {
        guard engine.negotiated?.alpn == "h2" else { return }
        let session = try HTTP2Session(isServer: engine.isServer)
        http2 = session
        try await write(session.takeOutput())
    }

    private nonisolated(nonsending) func exchange(
        _ request: LabRequest, over http2: HTTP2Session
    ) async throws -> LabResponse {
        var fields = [
            (name: ":method", value: request.method), (":scheme", "https"),
            (":authority", request.field("Host") ?? ""), (":path", request.target),
        ]
        fields += request.fields.filter { $0.name.lowercased() != "host" }.map(Self.lowered)
        let stream = try http2.submitRequest(fields, body: request.body)
        let begun = WallClock.now()
        try await write(http2.takeOutput())
        requestSent = TimeSpan(begun, WallClock.now())
        while true {
            switch try await nextMessage(http2) {
            case .whole(stream, let fields, let body)?:
                guard let status = fields.first(where: { $0.name == ":status" }).flatMap({ Int($0.value) }) else {
                    throw LabError("HTTP/2: a response without a status")
                }
                return LabResponse(status, fields: fields.filter { !$0.name.hasPrefix(":") }, body: body)
            case .reset(stream, let code)?: throw LabError("the stream was reset with code \(code)")
            case .whole, .reset: continue
            case nil: throw LabError("the connection ended without a response")
            }
        }
    }

    private nonisolated(nonsending) func nextRequest(over http2: HTTP2Session) async throws -> LabRequest? {
        while let message = try await nextMessage(http2) {
            guard case .whole(let number, let fields, let body) = message else { continue }
            let pseudo = Dictionary(
                fields.filter { $0.name.hasPrefix(":") }.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
            stream = number
            return LabRequest(
                pseudo[":method"] ?? "", pseudo[":path"] ?? "",
                fields: [("Host", pseudo[":authority"] ?? "")] + fields.filter { !$0.name.hasPrefix(":") }, body: body)
        }
        return nil
    }

    /// The next message of the peer; nil when it has closed.
    private nonisolated(nonsending) func nextMessage(_ http2: HTTP2Session) async throws -> HTTP2Session.Message? {
        while true {
            if !messages.isEmpty { return messages.removeFirst() }
            guard try await readMore() else { return nil }
            messages += try http2.receive(received)
            received = []
            let output = http2.takeOutput()
            if !output.isEmpty { try await write(output) }
        }
    }

    private static func lowered(_ field: (name: String, value: String)) -> (name: String, value: String) {
        (field.name.lowercased(), field.value)
    }

    /// Closes in order: close_notify, then FIN.
    nonisolated(nonsending) func close() async {
        if let http2 {
            http2.submitGoAway()
            try? await write(http2.takeOutput())
        }
        if let engine {
            engine.closeNotify()
            try? await flush(engine)
        }
        connection.finishWriting()
        connection.close()
    }

    /// Takes the lines of the TLS key log that are new.
    func takeSecrets() -> [UInt8] {
        defer { secrets = [] }
        return secrets
    }

    /// Sends bytes of no protocol of ours: SOCKS.
    nonisolated(nonsending) func sendRaw(_ bytes: [UInt8]) async throws {
        try await Self.send(bytes, on: connection)
    }

    /// Reads exactly that many bytes of no protocol of ours.
    nonisolated(nonsending) func receiveRaw(_ count: Int) async throws -> [UInt8] {
        while received.count < count {
            guard try await readMore() else { throw LabError("the connection ended in the middle of SOCKS") }
        }
        defer { received.removeFirst(count) }
        return Array(received.prefix(count))
    }

    /// Breaks the connection off: RST.
    func reset() {
        connection.reset()
    }

    private nonisolated(nonsending) func write(_ bytes: some Collection<UInt8>) async throws {
        let bytes = Array(bytes)
        guard let engine else {
            try await Self.send(bytes, on: connection)
            return
        }
        try bytes.withUnsafeBytes { try engine.write($0) }
        try await flush(engine)
    }

    private nonisolated(nonsending) func flush(_ engine: TLSEngine) async throws {
        var output: [UInt8] = []
        engine.withOutput { pending in
            output = Array(pending)
            return pending.count
        }
        if !output.isEmpty { try await Self.send(output, on: connection) }
    }

    private nonisolated(nonsending) static func send(_ bytes: [UInt8], on stream: TCPStream) async throws {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        defer { copy.deallocate() }
        copy.copyBytes(from: bytes)
        try await stream.write(UnsafeRawBufferPointer(copy))
    }

    /// Reads what comes next into `received`; false at the end.
    private nonisolated(nonsending) func readMore() async throws -> Bool {
        if let engine {
            while true {
                switch try engine.read(into: plaintext) {
                case .bytes(let count):
                    received += plaintext[..<count]
                    return true
                case .closed, .truncated:
                    return false
                case .needsInput:
                    // What the engine has to say of itself (KeyUpdate) goes out before the wait.
                    try await flush(engine)
                    let count = try await connection.read(into: buffer).count
                    if count == 0 {
                        engine.endOfInput()
                    } else {
                        engine.feed(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                    }
                }
            }
        }
        let count = try await connection.read(into: buffer).count
        received += buffer[..<count]
        return count > 0
    }
}
