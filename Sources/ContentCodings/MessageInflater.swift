/// Inflates the messages of one direction of a WebSocket with permessage-deflate (RFC 7692 §7.2.2): raw deflate, each
/// message ended by an empty stored block whose last four bytes the sender left out.
///
/// The window is always 32 KiB, which reads every stream made with a smaller one (`*_max_window_bits`).
public struct MessageInflater: ~Copyable {
    private let stream = InflateStream(.raw)
    private let keepsContext: Bool
    private var messageConsumed = 0

    /// Makes an inflater; `keepsContext` is false when `*_no_context_takeover` was agreed on for this direction.
    public init(keepsContext: Bool) {
        self.keepsContext = keepsContext
    }

    /// Inflates a piece of a message and appends at most `limit` bytes to `output`.
    ///
    /// To stay in step with the sender's window the whole piece is inflated even when the limit was reached; what is
    /// beyond the limit is counted in `dropped` and let go.
    public mutating func inflate(
        _ piece: UnsafeRawBufferPointer, into output: inout [UInt8], limit: Int, dropped: inout Int
    ) throws(ContentCodingError) {
        var rest = piece
        var room = max(0, limit)
        var overflow: [UInt8] = []
        while true {
            var step = Step(offset: messageConsumed)
            if room > 0 {
                let before = output.count
                stream.decode(rest, into: &output, limit: room, step: &step)
                room -= output.count - before
            } else {
                overflow.removeAll(keepingCapacity: true)
                stream.decode(rest, into: &overflow, limit: 64 << 10, step: &step)
                dropped += overflow.count
            }
            messageConsumed += step.consumed
            if let error = step.error { throw error }
            rest = UnsafeRawBufferPointer(rebasing: rest[step.consumed...])
            switch step.status {
            case .outputFull: continue
            case .needsInput: return
            case .atBoundary, .trailingBytes:
                // A final block inside a message (BFINAL, RFC 7692 §7.2.3.4): a new stream starts after it.
                stream.reset()
                guard !rest.isEmpty else { return }
            }
        }
    }

    /// Ends a message: adds the four bytes that the sender left out.
    public mutating func endMessage(
        into output: inout [UInt8], limit: Int, dropped: inout Int
    ) throws(ContentCodingError) {
        let tail: [UInt8] = [0x00, 0x00, 0xFF, 0xFF]
        let result: Result<Void, ContentCodingError> = tail.withUnsafeBytes { bytes in
            do throws(ContentCodingError) {
                try inflate(bytes, into: &output, limit: limit, dropped: &dropped)
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        messageConsumed = 0
        if !keepsContext { stream.reset() }
        try result.get()
    }
}
