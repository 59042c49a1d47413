internal import SessionTrace

/// The chunked transfer coding (RFC 9112 §7.1) as a state machine: coded bytes in, content out.
///
/// ```
/// size ──CRLF──► data ──► dataEnd ──CRLF──► size …      size 0 ──CRLF──► trailers ──empty line──► (ended)
/// ```
struct ChunkedReader {
    private enum State {
        /// In the size line: digits, then extensions up to the line's end.
        case size(value: Int, digits: Int, inExtension: Bool)
        case data(remaining: Int)
        /// After a chunk's data; `sawCarriageReturn` once its CR was seen.
        case dataEnd(sawCarriageReturn: Bool)
        /// In the trailer section; its bytes are gathered.
        case trailers
    }

    /// What a call came to.
    enum Result: Equatable {
        case needsInput
        case ended
        /// The coding is broken: why.
        case broken(String)
    }

    private var state = State.size(value: 0, digits: 0, inExtension: false)
    private var lineLength = 0
    private var collector: HeadCollector
    private let fieldLimit: Int
    /// The trailer fields, once it has ended.
    private(set) var trailers = FieldSection()
    private(set) var anomalies: [Anomaly] = []

    init(limits: ConversationLimits) {
        collector = HeadCollector(limit: limits.head, side: nil)
        fieldLimit = limits.fields
    }

    /// Bytes left in the chunk whose data is being read: a hole no longer than this leaves the framing intact.
    var remainingInChunk: Int {
        switch state {
        case .data(let remaining): remaining
        case .size, .dataEnd, .trailers: 0
        }
    }

    /// Counts `count` (at most `remainingInChunk`) bytes as passed.
    mutating func skip(_ count: Int) {
        advance(by: count)
    }

    /// Reads from `offset` on.
    mutating func read(
        _ input: UnsafeRawBufferPointer, from offset: inout Int, at packet: PacketReference,
        into body: inout BodyCollector
    ) -> Result {
        while offset < input.count {
            switch state {
            case .size(let value, let digits, let inExtension):
                let byte = input[offset]
                offset &+= 1
                if let reason = readSize(byte, value: value, digits: digits, inExtension: inExtension) {
                    return .broken(reason)
                }
            case .data(let remaining):
                let count = min(remaining, input.count &- offset)
                body.append(input.slice(offset..<offset &+ count))
                offset &+= count
                advance(by: count)
            case .dataEnd(let sawCarriageReturn):
                let byte = input[offset]
                offset &+= 1
                if byte == 0x0D, !sawCarriageReturn {
                    state = .dataEnd(sawCarriageReturn: true)
                } else if byte == 0x0A {
                    lineLength = 0
                    state = .size(value: 0, digits: 0, inExtension: false)
                } else {
                    return .broken("chunk data does not end where its size says")
                }
            case .trailers:
                let fieldLimit = fieldLimit
                var section = FieldSection()
                var reader = FieldLineReader(limit: fieldLimit)
                let result = collector.read(input, from: &offset, at: packet) { head, _ in
                    var lines = HeadLines(head)
                    while let line = lines.next(), !line.isEmpty { reader.read(line, into: &section) { _, _ in } }
                    reader.finish(into: &section) { _, _ in }
                }
                switch result {
                case .needsInput: return .needsInput
                case .overLimit: return .broken("trailers over the limit")
                case .whole, .notAHead:
                    trailers = section
                    anomalies = reader.anomalies
                    return .ended
                }
            }
        }
        return .needsInput
    }

    private mutating func advance(by count: Int) {
        guard case .data(let remaining) = state else { return }
        let rest = max(0, remaining &- count)
        state = rest == 0 ? .dataEnd(sawCarriageReturn: false) : .data(remaining: rest)
    }

    /// Reads a byte of a size line; the reason when it can't be one.
    private mutating func readSize(_ byte: UInt8, value: Int, digits: Int, inExtension: Bool) -> String? {
        lineLength &+= 1
        guard lineLength <= collector.limit else { return "chunk extension over the limit" }
        if byte == 0x0A {
            guard digits > 0 else { return "chunk size without a digit" }
            state = value == 0 ? .trailers : .data(remaining: value)
            return nil
        }
        if inExtension { return nil }
        let digit: Int
        switch byte {
        case 0x30...0x39: digit = Int(byte &- 0x30)
        case 0x41...0x46: digit = Int(byte &- 0x37)
        case 0x61...0x66: digit = Int(byte &- 0x57)
        case 0x3B, 0x20, 0x09, 0x0D:
            guard digits > 0 else { return "chunk size without a digit" }
            state = .size(value: value, digits: digits, inExtension: true)
            return nil
        default:
            return "chunk size that is no hexadecimal number"
        }
        guard value <= Int.max >> 5 else { return "chunk size too large" }
        state = .size(value: value << 4 | digit, digits: digits &+ 1, inExtension: false)
        return nil
    }
}
