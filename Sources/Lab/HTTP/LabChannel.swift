internal import Crypto
internal import EventLoop

/// A TCP connection of the lab with TLS on it, or without. Confined to the loop of its stream.
final class LabChannel {
    private static let pieceLength = 64 << 10

    private let stream: TCPStream
    private var engine: TLSEngine?
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: LabChannel.pieceLength, alignment: 16)
    private let plaintext = UnsafeMutableRawBufferPointer.allocate(byteCount: LabChannel.pieceLength, alignment: 16)
    /// What was read and is in no message yet.
    private var received: [UInt8] = []

    init(_ stream: TCPStream) {
        self.stream = stream
    }

    deinit {
        buffer.deallocate()
        plaintext.deallocate()
    }

    /// Sends a request and waits for the final response. Throws when the connection ends before it.
    nonisolated(nonsending) func exchange(_ request: LabRequest) async throws -> LabResponse {
        try await write(request.bytes)
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
        try await write(response.bytes)
    }

    /// Puts TLS on the connection and finishes its handshake.
    nonisolated(nonsending) func secure(with engine: TLSEngine) async throws {
        self.engine = engine
        while true {
            do {
                let isComplete = try engine.handshake()
                try await flush(engine)
                if isComplete { return }
            } catch let failure as TLSFailure {
                try? await flush(engine)
                throw failure
            }
            let count = try await stream.read(into: buffer).count
            if count == 0 {
                engine.endOfInput()
            } else {
                engine.feed(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            }
        }
    }

    /// Closes in order: close_notify, then FIN.
    nonisolated(nonsending) func close() async {
        if let engine {
            engine.closeNotify()
            try? await flush(engine)
        }
        stream.finishWriting()
        stream.close()
    }

    /// Breaks the connection off: RST.
    func reset() {
        stream.reset()
    }

    private nonisolated(nonsending) func write(_ bytes: [UInt8]) async throws {
        guard let engine else {
            try await Self.send(bytes, on: stream)
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
        if !output.isEmpty { try await Self.send(output, on: stream) }
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
                    let count = try await stream.read(into: buffer).count
                    if count == 0 {
                        engine.endOfInput()
                    } else {
                        engine.feed(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                    }
                }
            }
        }
        let count = try await stream.read(into: buffer).count
        received += buffer[..<count]
        return count > 0
    }
}
