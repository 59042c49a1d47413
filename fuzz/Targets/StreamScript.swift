import SessionTrace

/// A conversation as bytes: `[kind and side][length, 2 bytes, little-endian][bytes]…`, so that the fuzzer can cut, swap and
/// repeat its steps.
struct StreamScript {
    enum Step {
        case bytes(UnsafeRawBufferPointer)
        case hole(Int?)
        case end
    }

    private var rest: UnsafeRawBufferPointer
    private var number = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        rest = bytes
    }

    /// The next step, whose it is, and its packet.
    mutating func next() -> (Step, Side, PacketReference)? {
        guard rest.count >= 3 else { return nil }
        let kind = rest[0]
        let length = Int(rest[1]) | Int(rest[2]) << 8
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(3))
        number += 1
        let side: Side = kind & 1 == 0 ? .client : .server
        let packet = PacketReference(number: number, time: Instant(nanoseconds: Int64(number) * 1_000_000))
        switch kind >> 1 & 7 {
        case 6: return (.hole(length == 0 ? nil : length), side, packet)
        case 7: return (.end, side, packet)
        default:
            let bytes = UnsafeRawBufferPointer(rebasing: rest.prefix(length))
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(length))
            return (.bytes(bytes), side, packet)
        }
    }

    /// One step as bytes, for seeds.
    static func encode(_ bytes: some Collection<UInt8>, from side: Side) -> [UInt8] {
        var encoded: [UInt8] = []
        var rest = bytes[...]
        repeat {
            let piece = rest.prefix(0xFFFF)
            encoded += [side == .client ? 0 : 1, UInt8(piece.count & 0xFF), UInt8(piece.count >> 8)]
            encoded += piece
            rest = rest.dropFirst(piece.count)
        } while !rest.isEmpty
        return encoded
    }
}
