/// Cuts one direction of an HTTP/2 connection into frames (RFC 9113 §4) without holding any payload.
///
/// Enters: stream bytes in any pieces. Leaves: each frame's header, then its payload in the pieces in which it came.
/// The caller keeps what it needs; a frame of 16 MiB costs nothing here.
///
/// ```
/// header(0…8 octets held) ──9 octets──► payload(left) ──left = 0──► header
/// ```
struct FrameReader {
    /// What the next bytes are. A pointer is valid as long as the input is.
    enum Step {
        /// The input is used up.
        case starved
        /// A frame begins; its payload follows, also when it is empty (then one empty, last piece follows).
        case header(FrameHeader)
        /// A piece of the current frame's payload.
        case payload(UnsafeRawBufferPointer, isLast: Bool)
    }

    private enum State {
        case header(held: UInt64, count: Int)
        case payload(left: Int)
    }

    private var state = State.header(held: 0, count: 0)

    /// Whether the reader stands exactly between two frames.
    var isBetweenFrames: Bool {
        if case .header(_, 0) = state { return true }
        return false
    }

    /// Payload octets of the current frame that are still to come; nil between or inside headers.
    var payloadLeft: Int? {
        if case .payload(let left) = state { return left }
        return nil
    }

    /// Takes the next step over `input`, which is advanced past what was used.
    mutating func next(_ input: inout UnsafeRawBufferPointer) -> Step {
        switch state {
        case .header(var held, var count):
            // Eight octets are held in a word, the ninth completes the header.
            while count < FrameHeader.size - 1, let octet = input.first {
                held = held << 8 | UInt64(octet)
                count += 1
                input = UnsafeRawBufferPointer(rebasing: input.dropFirst())
            }
            guard let last = input.first else {
                state = .header(held: held, count: count)
                return .starved
            }
            input = UnsafeRawBufferPointer(rebasing: input.dropFirst())
            let header = withUnsafeBytes(of: (held.bigEndian, last)) { FrameHeader($0) }
            state = .payload(left: header.length)
            return .header(header)
        case .payload(let left):
            guard left > 0 else {
                state = .header(held: 0, count: 0)
                return .payload(UnsafeRawBufferPointer(start: nil, count: 0), isLast: true)
            }
            guard !input.isEmpty else { return .starved }
            let count = min(left, input.count)
            let piece = UnsafeRawBufferPointer(rebasing: input[..<count])
            input = UnsafeRawBufferPointer(rebasing: input[count...])
            state = count == left ? .header(held: 0, count: 0) : .payload(left: left - count)
            return .payload(piece, isLast: count == left)
        }
    }

    /// Steps over `count` payload octets that were lost; the caller has checked that they lie in the current payload.
    mutating func skip(_ count: Int) {
        guard case .payload(let left) = state else { return }
        state = count >= left ? .header(held: 0, count: 0) : .payload(left: left - count)
    }

    /// Back to the start of a frame header, after a loss.
    mutating func restart() {
        state = .header(held: 0, count: 0)
    }
}
