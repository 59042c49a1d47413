internal import SessionTrace

/// What the first bytes of one side of a connection look like.
enum FirstBytes: Equatable {
    /// A TLS record (RFC 8446 §5.1) or an SSLv2-framed ClientHello.
    case secure
    /// Neither, for certain.
    case other
    /// Too few bytes to tell.
    case undecided

    /// Looks at `bytes`, which stand at the very start of what was captured of one side.
    init(_ bytes: [UInt8]) {
        guard let first = bytes.first else {
            self = .undecided
            return
        }
        switch first {
        case 20...24:
            self = Self.record(bytes)
        case 0x80...0xFF where bytes.count >= 3:
            // SSLv2 header: two bytes of length, then message type 1 and a version 0x0002 or 0x03xx.
            guard bytes[2] == 1 else {
                self = .other
                return
            }
            guard bytes.count >= 5 else {
                self = .undecided
                return
            }
            let isVersion = (bytes[3] == 3 && bytes[4] <= 4) || (bytes[3] == 0 && bytes[4] == 2)
            self = isVersion ? .secure : .other
        case 0x80...0xFF:
            self = .undecided
        default:
            self = .other
        }
    }

    private static func record(_ bytes: [UInt8]) -> FirstBytes {
        if bytes.count >= 2, bytes[1] != 3 { return .other }
        if bytes.count >= 3, bytes[2] > 4 { return .other }
        guard bytes.count >= 5 else { return .undecided }
        let length = Int(bytes[3]) << 8 | Int(bytes[4])
        return length > 0 && length <= 16_384 + 2_048 ? .secure : .other
    }
}

/// Bytes of one side that wait for the protocol to be known, with the packets that brought them.
struct HeldBytes {
    private(set) var bytes: [UInt8] = []
    private var pieces: [(end: Int, packet: PacketReference)] = []

    /// The packet that brought the last piece.
    var last: PacketReference? { pieces.last?.packet }

    mutating func append(_ more: UnsafeRawBufferPointer, at packet: PacketReference) {
        bytes.append(contentsOf: more)
        pieces.append((bytes.count, packet))
    }

    mutating func drop(first count: Int) {
        bytes.removeFirst(count)
        pieces = pieces.compactMap { $0.end > count ? ($0.end - count, $0.packet) : nil }
    }

    struct Piece {
        var bytes: ArraySlice<UInt8>
        var side: Side
        var packet: PacketReference
    }

    /// The pieces of both sides in the order in which they came.
    static func inOrder(_ client: HeldBytes, _ server: HeldBytes) -> [Piece] {
        (client.split(.client) + server.split(.server)).sorted { $0.packet.number < $1.packet.number }
    }

    private func split(_ side: Side) -> [Piece] {
        var start = 0
        return pieces.map { piece in
            defer { start = piece.end }
            return Piece(bytes: bytes[start..<piece.end], side: side, packet: piece.packet)
        }
    }
}
