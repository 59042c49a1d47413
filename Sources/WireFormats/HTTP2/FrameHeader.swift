/// The header of an HTTP/2 frame (RFC 9113 §4.1).
struct FrameHeader: Hashable {
    /// Octets of a frame header on the wire.
    static let size = 9

    /// Frame types (RFC 9113 §6; PRIORITY_UPDATE, ALTSVC and ORIGIN need no reading here).
    enum Kind: UInt8 {
        case data = 0
        case headers = 1
        case priority = 2
        case resetStream = 3
        case settings = 4
        case pushPromise = 5
        case ping = 6
        case goAway = 7
        case windowUpdate = 8
        case continuation = 9
    }

    /// Frame flags (RFC 9113 §6).
    enum Flag {
        static let endStream: UInt8 = 0x1
        static let acknowledgement: UInt8 = 0x1
        static let endHeaders: UInt8 = 0x4
        static let padded: UInt8 = 0x8
        static let priority: UInt8 = 0x20
    }

    /// Octets of payload, 0 to 16,777,215.
    var length: Int
    /// Type number as sent.
    var type: UInt8
    /// Flags.
    var flags: UInt8
    /// Stream identifier, 31 bits.
    var streamID: UInt32
    /// Whether the reserved bit before the identifier is set, which receivers ignore and senders must not do.
    var hasReservedBit: Bool

    /// Reads a header from nine octets at `offset`; the caller has checked that they are there.
    init(_ bytes: UnsafeRawBufferPointer, at offset: Int = 0) {
        length = Int(bytes[offset]) << 16 | Int(bytes[offset + 1]) << 8 | Int(bytes[offset + 2])
        type = bytes[offset + 3]
        flags = bytes[offset + 4]
        let word =
            UInt32(bytes[offset + 5]) << 24 | UInt32(bytes[offset + 6]) << 16 | UInt32(bytes[offset + 7]) << 8
            | UInt32(bytes[offset + 8])
        streamID = word & 0x7FFF_FFFF
        hasReservedBit = word != streamID
    }

    /// The type, when it is one that RFC 9113 defines.
    var kind: Kind? { Kind(rawValue: type) }

    func has(_ flag: UInt8) -> Bool { flags & flag != 0 }

    /// Whether this can be a frame header at all, for finding the frames again after a hole: a defined type, only
    /// flags that the type has, a length that fits the type and `largestFrame`, a stream identifier where one belongs.
    func isPlausible(largestFrame: Int) -> Bool {
        guard !hasReservedBit, length <= largestFrame, let kind else { return false }
        switch kind {
        case .data: return streamID != 0 && flags & ~0x9 == 0
        case .headers: return streamID != 0 && flags & ~0x2D == 0 && length > 0
        case .priority: return streamID != 0 && flags == 0 && length == 5
        case .resetStream: return streamID != 0 && flags == 0 && length == 4
        case .settings: return streamID == 0 && flags & ~0x1 == 0 && length % 6 == 0 && (flags == 0 || length == 0)
        case .pushPromise: return streamID != 0 && flags & ~0xC == 0 && length > 4
        case .ping: return streamID == 0 && flags & ~0x1 == 0 && length == 8
        case .goAway: return streamID == 0 && flags == 0 && length >= 8
        case .windowUpdate: return flags == 0 && length == 4
        case .continuation: return streamID != 0 && flags & ~0x4 == 0
        }
    }
}
