public import SessionTrace
public import WireFormats

/// One TCP segment or UDP datagram as it left the network layer: out of its link headers, fragments and tunnels.
/// Pointers are valid until `received(_:)` returns.
public struct TransportUnit {
    /// What only a TCP segment has.
    public struct Segment {
        /// Sequence number of the first payload byte, or of the SYN.
        public var sequence: UInt32
        /// The next byte that the sender waits for; meaningful with `.ack` only.
        public var acknowledgement: UInt32
        /// Control bits.
        public var flags: TCPHeader.Flags
    }

    /// The sender.
    public var source: Endpoint
    /// The receiver.
    public var destination: Endpoint
    /// The TCP fields; nil for a UDP datagram.
    public var segment: Segment?
    /// The payload as far as it was captured.
    public var payload: UnsafeRawBufferPointer
    /// The payload's length on the wire in bytes, as the headers say; more than `payload.count` when it was cut.
    public var payloadLength: Int
    /// The packet that carried it (or completed it, for fragments).
    public var reference: PacketReference
    /// The interface that saw it: index over the whole file.
    public var interface: Int
    /// The process that the frame names, still as bytes.
    public var processRecord: ProcessRecord
    /// The process that the capture file names beside the frame.
    public var process: ProcessIdentity?
    /// The outside of a tunnel whose inside follows as a unit of its own; its payload is not for reading.
    public var isTunnel = false
}

/// Takes what the network layer gives.
public protocol TransportSink {
    /// A segment or datagram.
    mutating func received(_ unit: TransportUnit)
    /// Packets or fragments that could not be read, or parts that never came.
    mutating func blind(_ spot: BlindSpot)
    /// Fragments whose rest never came, but the first of which holds a transport header: `unit` is the datagram up to
    /// its first missing byte. It may be read if the connection is known; it is not enough to open one.
    mutating func receivedPart(_ unit: TransportUnit, spot: BlindSpot)
}
