internal import EventLoop
internal import SessionTrace

/// The stream of bytes below an end of TLS: the device's, with its recording, or the origin's socket.
enum ByteTransport {
    case device(any DeviceStream)
    case origin(TCPStream)

    /// Waits for bytes and reads at most `buffer.count` of them; 0 is the peer's FIN. Throws ETIMEDOUT when `timeout` passes
    /// without a byte.
    nonisolated(nonsending) func read(
        into buffer: UnsafeMutableRawBufferPointer, timeout: Duration? = nil
    ) async throws(SocketError) -> (count: Int, arrival: Instant) {
        switch self {
        case .origin(let stream): return try await stream.read(into: buffer, timeout: timeout)
        case .device(let stream):
            guard let timeout else { return try await stream.read(into: buffer) }
            if let secure = stream as? SecureDeviceStream {
                return try await secure.read(into: buffer, timeout: timeout)
            }
            try await stream.socket.stream.waitReadable(timeout: timeout)
            return try await stream.read(into: buffer)
        }
    }

    /// Reads like `read`; a device's bytes are recorded out of `buffer`, which must stay as it is until `endLending`, to be
    /// called before the next wait.
    nonisolated(nonsending) func readLending(
        into buffer: UnsafeMutableRawBufferPointer, timeout: Duration? = nil
    ) async throws(SocketError) -> (count: Int, arrival: Instant) {
        guard case .device(let stream) = self, let socket = stream as? RecordedSocket, timeout == nil else {
            return try await read(into: buffer, timeout: timeout)
        }
        return try await socket.readLending(into: buffer)
    }

    /// See `readLending`.
    func endLending() {
        if case .device(let stream) = self { stream.socket.endLending() }
    }

    /// Returns when all bytes are taken; on failure the error says how many were. Only the origin's writes time out.
    nonisolated(nonsending) func write(
        _ bytes: UnsafeRawBufferPointer, timeout: Duration
    ) async throws(SocketError) {
        switch self {
        case .origin(let stream): try await stream.write(bytes, timeout: timeout)
        case .device(let stream): try await stream.write(bytes)
        }
    }

    private var socket: TCPStream {
        switch self {
        case .origin(let stream): stream
        case .device(let stream): stream.socket.stream
        }
    }

    /// Whether the peer is known to have broken the connection off (RST), read or not.
    var hasFailed: Bool {
        if case .failed = socket.endNow { true } else { false }
    }

    /// Whether the peer is known to send no more (FIN or RST), read or not.
    var hasEnded: Bool { socket.endNow != nil }

    /// FIN.
    func finishWriting() {
        switch self {
        case .origin(let stream): stream.finishWriting()
        case .device(let stream): stream.finishWriting()
        }
    }

    /// RST.
    func reset() {
        switch self {
        case .origin(let stream): stream.reset()
        case .device(let stream): stream.reset()
        }
    }

    /// Closes in order.
    func close() {
        switch self {
        case .origin(let stream): stream.close()
        case .device(let stream): stream.close()
        }
    }
}
