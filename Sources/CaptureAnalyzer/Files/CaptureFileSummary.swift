public import SessionTrace

/// What is known about a capture file as a file once it has been read; before the end, what is known so far.
public struct CaptureFileSummary: Hashable, Sendable {
    /// How the file is packed.
    public enum Compression: String, Hashable, Sendable {
        case none, gzip, zstd
    }

    /// Packets in the file, those that the filter refused included.
    public var packets = 0
    /// Of these, the ones that the filter refused.
    public var filteredOut = 0
    /// The file ends inside a block, a packet, or its compressed form.
    public var isCutShort = false
    /// Something contradicts the format, so that part of the file could not be used.
    public var isDamaged = false
    /// Sections of an unknown version were skipped.
    public var hasUnreadSections = false
    /// Whether the file was read to a proper end with nothing unread: none of the three above.
    public var isComplete: Bool { !isCutShort && !isDamaged && !hasUnreadSections }
    /// Packets lost in capturing, summed over interfaces; nil when the file says nothing.
    public var droppedPackets: UInt64?
    /// Whether there was a statistics block; recordings of our own end with one.
    public var hasStatistics = false
    /// Interfaces of the file, by index, that have no statistics. In a recording of our own that was ended in order, their
    /// capture was over before its time.
    public var interfacesWithoutStatistics: Set<Int> = []
    /// When capturing ended, by the latest statistics that say so.
    public var ended: Instant?
    /// The program that wrote the (first) section, `shb_userappl`.
    public var userApplication: String?
    /// Whether this is a recording of our own (`handoff/…`).
    public var isOwnRecording: Bool { userApplication?.hasPrefix("handoff/") ?? false }
    /// Names of interfaces, each once, in order of first sight; at most `CaptureFile.interfaceNameLimit`.
    public var interfaceNames: [String] = []
    /// How the file is packed.
    public var compression = Compression.none
    /// Sentences about what was skipped, cut or odd, each with its place in the unpacked file (`byte 1234: …`).
    public var notes: [String] = []

    /// A summary of nothing.
    public init() {}
}
