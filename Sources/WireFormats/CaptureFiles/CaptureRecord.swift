public import SessionTrace

/// One thing that a capture file says, in the order of the file. Only packets are many, so the rest is boxed.
public enum CaptureRecord {
    /// A packet.
    case packet(CapturedPacket)
    /// The start of a section (pcapng; a classic file has none).
    indirect case section(CaptureSection)
    /// An interface; packets refer to it by index.
    indirect case interface(CaptureInterface)
    /// Counts that the capturing system kept for an interface, usually at the end.
    indirect case statistics(InterfaceStatistics)
    /// Keys; they may also come after the packets that need them.
    indirect case secrets(DecryptionSecrets)
    /// Names of addresses.
    indirect case names(NameResolution)
    /// A block that holds no packet and yet takes a number, because tshark shows it as a frame.
    case opaque(OpaqueBlock)
}

/// A custom block (pcapng §4.8), system journal entry or system call event: nothing of it is read, but it has a number,
/// so that the numbers of the packets around it are those that tshark shows.
public struct OpaqueBlock: Hashable, Sendable {
    /// Its number, and the last time known.
    public var reference: PacketReference
    /// The block type.
    public var blockType: UInt32
    /// Bytes of its content.
    public var length: Int

    /// Makes one.
    public init(reference: PacketReference, blockType: UInt32, length: Int) {
        self.reference = reference
        self.blockType = blockType
        self.length = length
    }
}

/// The head of a section: who wrote it. pcapng §4.1.
public struct CaptureSection: Hashable, Sendable {
    /// Counted from 0.
    public var index: Int
    /// `shb_userappl`: the program that wrote it; `handoff/VERSION` for recordings of our own.
    public var userApplication: String?
    /// `shb_hardware`.
    public var hardware: String?
    /// `shb_os`.
    public var operatingSystem: String?
    /// Its comments.
    public var comments: [String]

    /// Makes a section head.
    public init(
        index: Int, userApplication: String? = nil, hardware: String? = nil, operatingSystem: String? = nil,
        comments: [String] = []
    ) {
        self.index = index
        self.userApplication = userApplication
        self.hardware = hardware
        self.operatingSystem = operatingSystem
        self.comments = comments
    }
}

/// An interface that packets were captured on. pcapng §4.2.
public struct CaptureInterface: Hashable, Sendable {
    /// Its index over the whole file, from 0.
    public var index: Int
    /// What its packets start with.
    public var linkType: LinkType
    /// Most bytes captured of a packet; 0 means no limit.
    public var snapLength: Int
    /// Its time unit.
    public var resolution: TimestampResolution
    /// `if_name`.
    public var name: String?
    /// `if_description`.
    public var description: String?
    /// `if_filter`: the filter that was in force, as text; packets that it refused are nowhere in the file.
    public var filter: String?
    /// Bytes of link-layer checksum at the end of each packet (`if_fcslen`), if told.
    public var frameCheckSequenceLength: Int?
    /// Its comments.
    public var comments: [String]

    /// Makes an interface.
    public init(
        index: Int, linkType: LinkType, snapLength: Int = 0, resolution: TimestampResolution = .microseconds,
        name: String? = nil, description: String? = nil, filter: String? = nil,
        frameCheckSequenceLength: Int? = nil, comments: [String] = []
    ) {
        self.index = index
        self.linkType = linkType
        self.snapLength = snapLength
        self.resolution = resolution
        self.name = name
        self.description = description
        self.filter = filter
        self.frameCheckSequenceLength = frameCheckSequenceLength
        self.comments = comments
    }
}

/// Counts for one interface; each is nil when the file does not say. pcapng §4.6.
public struct InterfaceStatistics: Hashable, Sendable {
    /// The interface's index over the whole file.
    public var interface: Int
    /// When they were taken.
    public var time: Instant
    /// When capturing began and ended.
    public var started: Instant?, ended: Instant?
    /// Packets that reached the interface, and of these the ones that the filter took.
    public var received: UInt64?, accepted: UInt64?
    /// Packets lost for want of room in the interface, and in the operating system.
    public var droppedByInterface: UInt64?, droppedBySystem: UInt64?
    /// Comments.
    public var comments: [String]

    /// Makes statistics.
    public init(
        interface: Int, time: Instant, started: Instant? = nil, ended: Instant? = nil, received: UInt64? = nil,
        accepted: UInt64? = nil, droppedByInterface: UInt64? = nil, droppedBySystem: UInt64? = nil,
        comments: [String] = []
    ) {
        self.interface = interface
        self.time = time
        self.started = started
        self.ended = ended
        self.received = received
        self.accepted = accepted
        self.droppedByInterface = droppedByInterface
        self.droppedBySystem = droppedBySystem
        self.comments = comments
    }
}

/// Secrets that open encrypted packets. pcapng §4.7.
public struct DecryptionSecrets: Hashable, Sendable {
    /// The `Secrets Type` number.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        public var rawValue: UInt32

        public init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        /// NSS key log text for TLS and QUIC (`TLSK`).
        public static let tlsKeyLog = Kind(rawValue: 0x544C_534B)
        /// SSH key log (`SSHK`).
        public static let sshKeyLog = Kind(rawValue: 0x5353_484B)
        /// WireGuard key log (`WGKL`).
        public static let wireGuardKeyLog = Kind(rawValue: 0x5747_4B4C)
    }

    /// What they are.
    public var kind: Kind
    /// The secrets as the file holds them.
    public var bytes: [UInt8]
    /// Comments.
    public var comments: [String]

    /// Makes secrets.
    public init(kind: Kind, bytes: [UInt8], comments: [String] = []) {
        self.kind = kind
        self.bytes = bytes
        self.comments = comments
    }
}

/// Names that the capturing system knew for addresses. pcapng §4.5.
public struct NameResolution: Hashable, Sendable {
    /// One address and its names.
    public struct Entry: Hashable, Sendable {
        public var address: IPAddress
        public var names: [String]

        public init(address: IPAddress, names: [String]) {
            self.address = address
            self.names = names
        }
    }

    /// The addresses in order.
    public var entries: [Entry]
    /// Comments.
    public var comments: [String]

    /// Makes a list.
    public init(entries: [Entry], comments: [String] = []) {
        self.entries = entries
        self.comments = comments
    }
}
