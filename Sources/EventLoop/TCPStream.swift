internal import Glibc
public import SessionTrace

/// A TCP connection, confined to one loop: made anywhere, used only by code that runs on that loop.
///
/// Nothing is buffered here: what is not read stays in the kernel, and the peer's window closes. Every wait ends when its
/// task is cancelled, when the stream is closed, and when the loop stops.
///
/// One task may read, one may write and one may wait for the end, at the same time. A stream that is let go is closed.
public final class TCPStream {
    /// Our address and port; for a connection taken by a transparent listener (TPROXY), where the client was going.
    public let local: Endpoint
    /// The other side's.
    public let peer: Endpoint
    /// Whether this side connected (true) or accepted.
    public let isOutgoing: Bool
    /// Bytes that the kernel has taken for sending so far.
    public private(set) var bytesWritten: UInt64 = 0
    /// Bytes read so far.
    public private(set) var bytesRead: UInt64 = 0
    /// Whether `finishWriting` has been called.
    public private(set) var isWritingFinished = false

    let descriptor: PolledDescriptor

    /// Takes over an accepted connection, to be used on `loop`. Throws EBADF when another stream has taken it.
    public init(adopting accepted: AcceptedSocket, on loop: EventLoop) throws(SocketError) {
        guard let number = accepted.take() else { throw SocketError(code: EBADF, operation: "adopt") }
        local = accepted.local
        peer = accepted.peer
        isOutgoing = false
        descriptor = PolledDescriptor(number, on: loop)
        LinuxSocket.prepareStream(number)
    }

    init(connected descriptor: PolledDescriptor, local: Endpoint, peer: Endpoint) {
        self.descriptor = descriptor
        self.local = local
        self.peer = peer
        isOutgoing = true
    }

    deinit {
        descriptor.abandon()
    }

    /// The loop that this stream belongs to.
    public var loop: EventLoop { descriptor.loop }

    /// Whether this side has not closed it yet.
    public var isOpen: Bool { descriptor.isOpen }

    /// Where a redirected connection was going (`SO_ORIGINAL_DST`, IPv4 and IPv6); nil when it was not redirected.
    public var originalDestination: Endpoint? {
        let found = LinuxSocket.originalDestination(descriptor.number, isIPv4: local.address.isIPv4)
        return found == local ? nil : found
    }

    // MARK: - Reading

    /// Waits for bytes and reads at most `buffer.count` of them; 0 is the peer's FIN, and every later call gives 0 again.
    ///
    /// `arrival` is when the loop saw the latest of them come. Throws ECONNRESET for an RST (after what came before it has
    /// been read), ETIMEDOUT when `timeout` passes without a byte, ECANCELED, EBADF once closed, EINVAL for an empty buffer.
    public nonisolated(nonsending) func read(
        into buffer: UnsafeMutableRawBufferPointer, timeout: Duration? = nil
    ) async throws(SocketError) -> (count: Int, arrival: Instant) {
        guard buffer.count > 0 else { throw SocketError(code: EINVAL, operation: "read") }
        let descriptor = descriptor
        await makeWayIfDue(isolation: #isolation)
        while true {
            guard descriptor.isOpen else { throw SocketError(code: EBADF, operation: "read") }
            if descriptor.isReadable {
                switch LinuxSocket.read(descriptor.number, buffer) {
                case .done(0):
                    // EPIPE: the RST came after the FIN, which is what the reader is told.
                    if descriptor.failure != 0, descriptor.failure != EPIPE {
                        throw SocketError(code: descriptor.failure, operation: "read")
                    }
                    return (0, descriptor.readableSince ?? WallClock.now())
                case .done(let count):
                    bytesRead &+= UInt64(count)
                    // A short read has emptied the socket: the next change will be told. (At the end there is none.)
                    if count < buffer.count, !descriptor.hasEnded, !descriptor.hasUrgentData {
                        descriptor.isReadable = false
                    }
                    return (count, descriptor.readableSince ?? WallClock.now())
                case .wouldBlock: descriptor.isReadable = false
                case .failed(let code):
                    descriptor.failure = code
                    throw SocketError(code: code, operation: "read")
                }
            }
            let code = await descriptor.wait(for: .reading, timeout: timeout, isolation: #isolation)
            if code != 0 { throw SocketError(code: code, operation: "read") }
        }
    }

    /// Waits until reading would give something at once: bytes, FIN or an RST. Takes nothing, and may be cancelled freely.
    public nonisolated(nonsending) func waitReadable(timeout: Duration? = nil)
        async throws(SocketError)
    {
        let descriptor = descriptor
        while true {
            guard descriptor.isOpen else { throw SocketError(code: EBADF, operation: "wait") }
            if descriptor.isReadable, isReadableNow { return }
            let code = await descriptor.wait(for: .reading, timeout: timeout, isolation: #isolation)
            if code != 0 { throw SocketError(code: code, operation: "wait") }
        }
    }

    /// Whether reading would give something at once: bytes, FIN or an RST.
    public var isReadableNow: Bool {
        guard descriptor.isOpen else { return false }
        if descriptor.hasEnded { return true }
        return withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { buffer in
            switch LinuxSocket.read(descriptor.number, buffer, peek: true) {
            case .done: return true
            case .wouldBlock:
                descriptor.isReadable = false
                return false
            case .failed(let code):
                // The kernel tells it once, so it is kept for the next read.
                descriptor.failure = code
                return true
            }
        }
    }

    /// Whether there are bytes to read; false at the end (FIN, RST) too.
    public var hasBytesNow: Bool {
        guard descriptor.isOpen else { return false }
        return withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { buffer in
            switch LinuxSocket.read(descriptor.number, buffer, peek: true) {
            case .done(let count): return count > 0
            case .wouldBlock: return false
            case .failed(let code):
                // The kernel tells it once, so it is kept for the next read.
                descriptor.failure = code
                return false
            }
        }
    }

    /// How the peer has ended the connection.
    public enum End: Hashable, Sendable {
        /// FIN: it sends no more, but may still read.
        case finished
        /// RST, or the kernel gave up on it: the error number.
        case failed(Int32)
    }

    /// Waits until the peer has ended its side, whether or not the bytes before that have been read.
    ///
    /// This is how a task learns that a client went away while it does not read from it.
    public nonisolated(nonsending) func waitClosed() async throws(SocketError) -> End {
        while true {
            if let end = endNow { return end }
            guard descriptor.isOpen else { throw SocketError(code: EBADF, operation: "wait") }
            let code = await descriptor.wait(for: .ending, isolation: #isolation)
            if code != 0 { throw SocketError(code: code, operation: "wait") }
        }
    }

    /// How the peer has ended the connection, as far as the loop has been told; nil while it has not.
    public var endNow: End? {
        if descriptor.failure != 0 { return .failed(descriptor.failure) }
        return descriptor.isPeerFinished ? .finished : nil
    }

    /// Waits for the RST (or other failure) alone; a FIN does not end the wait.
    public nonisolated(nonsending) func waitFailed() async throws(SocketError) -> Int32 {
        while true {
            if descriptor.failure != 0 { return descriptor.failure }
            guard descriptor.isOpen else { throw SocketError(code: EBADF, operation: "wait") }
            let code = await descriptor.wait(for: .failing, isolation: #isolation)
            if code != 0 { throw SocketError(code: code, operation: "wait") }
        }
    }

    // MARK: - Writing

    /// Returns when the kernel has taken all of `bytes`; waits while the peer does not make room.
    ///
    /// `taken` gets each piece as soon as the kernel has taken it, and when it was given to the kernel: the peer has it no
    /// earlier, and may have answered by the time that this thread runs again. On failure `error.written` says how many
    /// bytes that were: ECONNRESET or EPIPE when the peer is gone, ETIMEDOUT when `timeout` passes without room for a byte, ECANCELED, EBADF
    /// once closed.
    public nonisolated(nonsending) func write(
        _ bytes: UnsafeRawBufferPointer, timeout: Duration? = nil,
        taken: (UnsafeRawBufferPointer, Instant) -> Void = { _, _ in }
    ) async throws(SocketError) {
        let descriptor = descriptor
        var written = 0
        await makeWayIfDue(isolation: #isolation)
        while written < bytes.count {
            guard descriptor.isOpen else {
                throw SocketError(code: EBADF, operation: "write", written: written)
            }
            if descriptor.isWritable {
                let begun = WallClock.now()
                switch LinuxSocket.write(
                    descriptor.number, UnsafeRawBufferPointer(rebasing: bytes[written...]))
                {
                case .done(let count):
                    taken(UnsafeRawBufferPointer(rebasing: bytes[written..<written + count]), begun)
                    written += count
                    bytesWritten &+= UInt64(count)
                    if written < bytes.count { descriptor.isWritable = false }
                    continue
                case .wouldBlock: descriptor.isWritable = false
                case .failed(let code):
                    // EPIPE is what the kernel says after it has told the true cause to someone else.
                    if descriptor.failure == 0, code != EPIPE || !isWritingFinished {
                        descriptor.failure = code
                    }
                    throw SocketError(
                        code: descriptor.failure == 0 ? code : descriptor.failure, operation: "write",
                        written: written)
                }
            }
            let code = await descriptor.wait(for: .writing, timeout: timeout, isolation: #isolation)
            if code != 0 { throw SocketError(code: code, operation: "write", written: written) }
        }
    }

    /// Tells the peer that nothing more follows (FIN); reading goes on.
    public func finishWriting() {
        guard descriptor.isOpen, !isWritingFinished else { return }
        isWritingFinished = true
        shutdown(descriptor.number, Int32(SHUT_WR))
    }

    // MARK: - Ending

    /// Closes the connection. What the kernel has taken is still sent, then FIN; if unread bytes are left, the kernel sends
    /// RST, and the peer may lose what it has not read yet: `closeLingering` avoids that.
    public func close() {
        descriptor.close()
    }

    /// Closes the connection with RST; what the kernel has not sent yet is lost.
    public func reset() {
        guard descriptor.isOpen else { return }
        LinuxSocket.setAbortOnClose(descriptor.number)
        descriptor.close()
    }

    /// Sends FIN, then reads and throws away what the peer still sends, until its FIN, `limit` bytes or `duration`: only then
    /// closes. So an answer that ends the connection early reaches a peer that is still sending.
    public nonisolated(nonsending) func closeLingering(
        for duration: Duration = .seconds(2), discardingAtMost limit: Int = 1 << 20
    ) async {
        finishWriting()
        let deadline = ContinuousClock.now.advanced(by: duration)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16384, alignment: 16)
        defer { buffer.deallocate() }
        var left = limit
        while left > 0 {
            let time = deadline - ContinuousClock.now
            guard time > .zero, let piece = try? await read(into: buffer, timeout: time), piece.count > 0
            else { break }
            left -= piece.count
        }
        close()
    }

    private func makeWayIfDue(isolation: isolated (any Actor)?) async {
        let loop = descriptor.loop
        if loop.operationsLeft <= 0 {
            loop.operationsLeft = EventLoop.operationsPerJob
            await loop.makeWay(isolation: isolation)
        }
        loop.operationsLeft &-= 1
    }
}
