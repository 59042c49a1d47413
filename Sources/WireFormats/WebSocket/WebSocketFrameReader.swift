/// Splits one direction of a WebSocket into frames (RFC 6455 §5.2): bytes in, frame heads and unmasked payload out.
struct WebSocketFrameReader {
    /// A frame's head.
    struct Frame: Hashable {
        var isFinal: Bool
        /// RSV1 to RSV3 as the three low bits, RSV1 highest.
        var reserved: UInt8
        var opcode: UInt8
        var mask: UInt32?
        /// Payload bytes.
        var length: UInt64

        var isControl: Bool { opcode & 0x8 != 0 }
    }

    /// What a call came to.
    enum Step {
        case needsInput
        case frame(Frame)
        /// Payload of the current frame, unmasked, is in `payload`; `isLast` when the frame ends with it.
        case payload(isLast: Bool)
    }

    private enum State {
        case head
        case payload(remaining: UInt64, mask: UInt32?, offset: UInt8)
    }

    /// Payload bytes handed out at once.
    private static let pieceLimit = 64 << 10

    private var state = State.head
    private var head: [UInt8] = []
    /// The payload of the last `payload` step.
    private(set) var payload: [UInt8] = []

    /// Payload bytes that the current frame still holds: a hole no longer than this leaves the framing intact.
    var remainingInFrame: UInt64 {
        switch state {
        case .head: 0
        case .payload(let remaining, _, _): remaining
        }
    }

    /// Whether some bytes of a head were read.
    var isInsideHead: Bool { !head.isEmpty }

    /// Passes over `count` payload bytes that are missing. True when the frame ends with them.
    mutating func skip(_ count: UInt64) -> Bool {
        guard case .payload(let remaining, let mask, let offset) = state, count <= remaining else { return false }
        let rest = remaining - count
        state =
            rest == 0
            ? .head : .payload(remaining: rest, mask: mask, offset: UInt8((UInt64(offset) + count % 4) % 4))
        return rest == 0
    }

    /// Reads from `offset` on, to the next step.
    mutating func read(_ input: UnsafeRawBufferPointer, from offset: inout Int) -> Step {
        switch state {
        case .head:
            while offset < input.count {
                head.append(input[offset])
                offset &+= 1
                guard let frame = parseHead() else { continue }
                head.removeAll(keepingCapacity: true)
                state = .payload(remaining: frame.length, mask: frame.mask, offset: 0)
                return .frame(frame)
            }
            return .needsInput
        case .payload(let remaining, let mask, let maskOffset):
            let available = min(input.count &- offset, Self.pieceLimit)
            guard remaining == 0 || available > 0 else { return .needsInput }
            let count = remaining < UInt64(available) ? Int(remaining) : available
            payload.removeAll(keepingCapacity: true)
            payload.append(contentsOf: input.slice(offset..<offset &+ count))
            offset &+= count
            if let mask, mask != 0 { unmask(mask, from: maskOffset) }
            let rest = remaining - UInt64(count)
            guard rest > 0 else {
                state = .head
                return .payload(isLast: true)
            }
            state = .payload(remaining: rest, mask: mask, offset: UInt8((Int(maskOffset) + count) % 4))
            return .payload(isLast: false)
        }
    }

    /// The head, once it is whole.
    private func parseHead() -> Frame? {
        guard head.count >= 2 else { return nil }
        let isMasked = head[1] & 0x80 != 0
        let short = head[1] & 0x7F
        let lengthBytes = short == 126 ? 2 : short == 127 ? 8 : 0
        guard head.count == 2 + lengthBytes + (isMasked ? 4 : 0) else { return nil }
        var length = UInt64(short)
        if lengthBytes > 0 { length = head[2..<2 + lengthBytes].reduce(0) { $0 << 8 | UInt64($1) } }
        let mask = isMasked ? head.suffix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) } : nil
        return Frame(
            isFinal: head[0] & 0x80 != 0, reserved: head[0] >> 4 & 0x7, opcode: head[0] & 0xF, mask: mask,
            length: length)
    }

    /// RFC 6455 §5.3, eight bytes at a time.
    private mutating func unmask(_ mask: UInt32, from offset: UInt8) {
        let key = (0..<8).reduce(UInt64(0)) { wide, index in
            wide << 8 | UInt64(mask >> UInt32(24 - (Int(offset) + index) % 4 * 8) & 0xFF)
        }
        payload.withUnsafeMutableBytes { bytes in
            var at = 0
            while at &+ 8 <= bytes.count {
                let word = bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self) ^ key.bigEndian
                bytes.storeBytes(of: word, toByteOffset: at, as: UInt64.self)
                at &+= 8
            }
            while at < bytes.count {
                bytes[at] ^= UInt8(truncatingIfNeeded: key >> UInt64(56 - at % 8 * 8))
                at &+= 1
            }
        }
    }
}
