public import SessionTrace

/// One packet as the capture file holds it. Its `bytes` belong to the reader and are valid until its next step.
public struct CapturedPacket {
    /// Its number in the file, from 1 over all sections and interfaces (as tshark counts), and its time.
    public var reference: PacketReference
    /// Whether the file gives it a time of its own; if not (simple packet blocks), the time is the last one known.
    public var hasTimestamp: Bool
    /// What its bytes start with.
    public var linkType: LinkType
    /// Its length on the wire in bytes, never less than what was captured of it.
    public var originalLength: Int
    /// The captured part.
    public var bytes: UnsafeRawBufferPointer
    /// The interface that saw it: its index over the whole file, from 0, all sections counted through.
    public var interface: Int
    /// What hardly any packet has, kept apart so that passing a packet on copies little.
    private var rarities: Rarities?

    private final class Rarities {
        let droppedBefore: UInt64
        let comments: [String]
        let process: ProcessIdentity?

        init?(droppedBefore: UInt64, comments: [String], process: ProcessIdentity?) {
            if droppedBefore == 0, comments.isEmpty, process == nil { return nil }
            self.droppedBefore = droppedBefore
            self.comments = comments
            self.process = process
        }
    }

    /// Packets that the interface lost since its packet before this one (`epb_dropcount`); 0 when nothing is said.
    public var droppedBefore: UInt64 {
        get { rarities?.droppedBefore ?? 0 }
        set { rarities = Rarities(droppedBefore: newValue, comments: comments, process: process) }
    }

    /// Its comments; empty almost always.
    public var comments: [String] {
        get { rarities?.comments ?? [] }
        set { rarities = Rarities(droppedBefore: droppedBefore, comments: newValue, process: process) }
    }

    /// The process that sent or received it, where Apple's tcpdump recorded one.
    public var process: ProcessIdentity? {
        get { rarities?.process }
        set { rarities = Rarities(droppedBefore: droppedBefore, comments: comments, process: newValue) }
    }

    /// Makes a packet.
    public init(
        reference: PacketReference, hasTimestamp: Bool = true, linkType: LinkType, originalLength: Int,
        bytes: UnsafeRawBufferPointer, interface: Int = 0, droppedBefore: UInt64 = 0, comments: [String] = [],
        process: ProcessIdentity? = nil
    ) {
        self.reference = reference
        self.hasTimestamp = hasTimestamp
        self.linkType = linkType
        self.originalLength = originalLength
        self.bytes = bytes
        self.interface = interface
        rarities = Rarities(droppedBefore: droppedBefore, comments: comments, process: process)
    }

    /// Whether less was captured than was on the wire (snapshot length).
    public var isTruncated: Bool { bytes.count < originalLength }
}
