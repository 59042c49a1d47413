internal import EventLoop
internal import SessionTrace

/// Bytes to and from the device: the recorded socket itself, or the inside of its TLS connection to the proxy.
///
/// Confined to the connection's loop, like the socket below it. One task may read and one may write at the same time.
protocol DeviceStream: AnyObject {
    /// The socket that carries it, which is where recording happens.
    var socket: RecordedSocket { get }

    /// Waits for bytes and reads at most `buffer.count` of them; 0 is the device's end (FIN, or close_notify).
    ///
    /// What arrived stays out of the recording until `record(secrets:)`, or the next read.
    nonisolated(nonsending) func read(
        into buffer: UnsafeMutableRawBufferPointer
    ) async throws(SocketError) -> (count: Int, arrival: Instant)

    /// Returns when the kernel has taken all of `bytes` (or what they became), and records them.
    nonisolated(nonsending) func write(_ bytes: UnsafeRawBufferPointer) async throws(SocketError)

    /// Waits until reading would give something at once: bytes, the end or a reset. Takes nothing.
    nonisolated(nonsending) func waitReadable() async throws(SocketError)

    /// Writes NSS key log lines into the recording, and then what has been read. To be called once the TLS engine has taken
    /// what was read, since secrets come before the frames that need them.
    func record(secrets: [UInt8])

    /// Tells the device that nothing more follows (FIN, after close_notify inside TLS).
    func finishWriting()
    /// Closes in order; what the kernel has taken is still sent.
    func close()
    /// Breaks off with RST.
    func reset()
}

extension DeviceStream {
    /// The connection as the recording knows it.
    var recorded: RecordedConnection { socket.recorded }

    /// Returns when the kernel has taken all of `bytes`, and records them.
    nonisolated(nonsending) func write(_ bytes: [UInt8]) async throws(SocketError) {
        // A heap buffer: the call waits, and `withUnsafeBytes` can't.
        let buffer = HeapBuffer(bytes)
        defer { withExtendedLifetime(buffer) {} }
        try await write(UnsafeRawBufferPointer(buffer.bytes))
    }
}

/// Memory for reading and writing that lives as long as this object. Confined to one loop.
final class HeapBuffer {
    /// The memory.
    let bytes: UnsafeMutableRawBufferPointer

    /// Room for `count` bytes (at least one).
    init(count: Int) {
        bytes = .allocate(byteCount: max(1, count), alignment: 16)
    }

    /// A copy of `content`; `bytes` is exactly as long.
    init(_ content: [UInt8]) {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, content.count), alignment: 16)
        memory.copyBytes(from: content)
        bytes = UnsafeMutableRawBufferPointer(rebasing: memory[..<content.count])
    }

    deinit {
        bytes.deallocate()
    }

    /// The first `count` bytes.
    func prefix(_ count: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[..<count])
    }
}
