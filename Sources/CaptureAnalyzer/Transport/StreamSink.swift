public import SessionTrace

/// Why stream bytes are missing.
public enum HoleCause: Hashable, Sendable {
    /// No packet of the capture holds them.
    case notCaptured
    /// Their packet was captured only in part.
    case truncatedPacket
    /// A limit was reached before it was certain whether they come.
    case stateGivenUp
}

/// Takes what the transport layer gives: connections, their bytes in order, holes, ends. Calls for one connection come in
/// stream order a side; `bytes` are valid until the call returns.
///
/// Offsets count stream bytes of one side from 0, the byte after the SYN (or the first one known, when the start was not
/// captured).
public protocol StreamSink {
    /// The id for a connection that is about to be opened.
    mutating func nextConnectionID() -> ConnectionID
    /// A new TCP connection or UDP conversation. The client is the sender of the SYN, or of the first datagram; without
    /// either the side with the higher port, and `startSeen` is false.
    mutating func opened(_ connection: Connection)
    /// Stream bytes in order, up to `endOffset`, in the packet `at`.
    mutating func received(
        _ bytes: UnsafeRawBufferPointer, from side: Side, endOffset: UInt64, at: PacketReference, on id: ConnectionID)
    /// Stream bytes that are not in the capture.
    ///
    /// - Parameters:
    ///   - length: how many; nil when not even that is known.
    ///   - endOffset: the offset after them.
    ///   - noticed: the packet behind the hole, or the last one of the connection.
    ///   - span: when they can have passed.
    mutating func hole(
        length: Int?, from side: Side, endOffset: UInt64, noticed: PacketReference, span: TimeSpan, cause: HoleCause,
        on id: ConnectionID)
    /// `side` has acknowledged its peer's bytes up to `offset` (which may lie ahead of what was received).
    mutating func acknowledged(by side: Side, upTo offset: UInt64, at: PacketReference, on id: ConnectionID)
    /// A repeat of stream bytes differs from the bytes that came first; those were kept.
    mutating func overlapConflict(from side: Side, at: PacketReference, on id: ConnectionID)
    /// All bytes of `side` up to its FIN are through.
    mutating func finished(side: Side, at: PacketReference, on id: ConnectionID)
    /// A connection is over; nothing more comes for its id.
    mutating func closed(_ end: ConnectionEnd)
    /// A UDP datagram: its captured bytes, of `length` on the wire.
    mutating func datagram(
        _ bytes: UnsafeRawBufferPointer, length: Int, from side: Side, at: PacketReference, on id: ConnectionID)
    /// The process of a connection became known after it was opened.
    mutating func identified(_ process: ProcessIdentity, of id: ConnectionID)
    /// Something that could not be seen, other than a hole: missing fragments, unreadable packets.
    mutating func blind(_ spot: BlindSpot)
}
