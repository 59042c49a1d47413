internal import SessionTrace

/// What the peer's kernel has confirmed of what we sent.
public struct Acknowledgement: Hashable, Sendable {
    /// Bytes of the stream that the peer has acknowledged; SYN and FIN are not counted.
    public var bytesAcknowledged: UInt64
    /// Bytes that our kernel has taken and the peer has not acknowledged.
    public var bytesOutstanding: UInt64
    /// The peer has acknowledged our FIN, so everything before it too.
    public var isFinishAcknowledged: Bool

    /// Makes one from the kernel's count, which has the SYN of a connection that we opened, and the FIN.
    init(counted: UInt64, isOutgoing: Bool, written: UInt64) {
        let withoutSYN = isOutgoing && counted > 0 ? counted - 1 : counted
        // Only the FIN's place in the sequence can exceed what was written.
        isFinishAcknowledged = withoutSYN > written
        bytesAcknowledged = min(withoutSYN, written)
        bytesOutstanding = written - bytesAcknowledged
    }
}

extension TCPStream {
    /// What the peer has acknowledged so far (TCP_INFO, `tcpi_bytes_acked`); nil once the stream is closed, or where the
    /// kernel does not tell. To be asked before `close`; after an RST it still gives the last state.
    public func acknowledgement() -> Acknowledgement? {
        guard isOpen, let (counted, _) = LinuxSocket.acknowledged(descriptor.number) else { return nil }
        return Acknowledgement(counted: counted, isOutgoing: isOutgoing, written: bytesWritten)
    }
}
