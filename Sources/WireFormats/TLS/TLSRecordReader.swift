/// TLS records out of one side's stream bytes, cut anyhow and with holes.

/// One record.
public struct TLSRecord {
    /// Its header.
    public var header: TLSRecordHeader
    /// Header and payload as they stood on the wire. Valid until the reader's next call, and no longer than the input.
    public var bytes: UnsafeRawBufferPointer

    /// Pairs a header with the whole record's bytes, `header.recordLength` of them.
    public init(header: TLSRecordHeader, bytes: UnsafeRawBufferPointer) {
        self.header = header
        self.bytes = bytes
    }

    /// The payload.
    public var payload: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[TLSRecordHeader.length...]) }
}

/// How many records a hole has swallowed.
public struct LostRecords: Hashable, Sendable {
    /// Headers of records that are certainly lost, since a part of them was seen.
    public var certain: [TLSRecordHeader] = []
    /// Bytes beyond those records that are missing or can't be framed: room for further ones.
    public var unframedBytes = 0
    /// Whether a hole of unknown length is among them, so that there may be any number of records.
    public var isUnbounded = false

    /// None.
    public init() {}
}

/// Finds the records in one side's stream.
///
/// ```
/// aligned ──header bytes──▶ header ──five──▶ body ──whole──▶ aligned
///    │                         │               │
///    │ hole, no header         │ hole          ├─ hole within the record ──▶ skipping ──▶ aligned
///    ▼                         ▼               ▼ hole beyond it
///    └──────────────▶ searching ◀──────────────┘     searching ──two headers in a row──▶ aligned
/// ```
public struct TLSRecordReader {
    /// What a call found.
    public enum Step {
        /// All input was taken.
        case needsInput
        /// A record.
        case record(TLSRecord)
        /// The next byte is not a record's; searching begins.
        case lostFraming
        /// Framing was found again.
        case resynchronised
    }

    private enum State {
        case aligned
        /// Fewer than five bytes of a header.
        case header(HeapBytes)
        case body(HeapBytes, TLSRecordHeader)
        /// A record was handed out of this memory, which may go at the next call.
        case handedOut(HeapBytes)
        /// Payload bytes of a record that a hole has spoilt.
        case skipping(Int)
        case searching(HeapBytes)
        /// Bytes that were gathered while searching, from a record's header on; they come before all further input.
        case replaying(HeapBytes, position: Int)
    }

    /// Bytes that a search looks at together: a longest record, and the header after it.
    private static let window = 2 * (TLSRecordHeader.length + TLSRecordHeader.maximumPayload)

    private var state = State.aligned
    /// What was lost since it was last asked for.
    private var lost = LostRecords()

    /// A reader at the start of a record.
    public init() {}

    /// Whether a record has begun and is not whole.
    public var isInsideRecord: Bool {
        switch state {
        case .header, .body, .skipping: true
        case .aligned, .handedOut, .searching, .replaying: false
        }
    }

    /// Whether framing is lost.
    public var isSearching: Bool {
        if case .searching = state { true } else { false }
    }

    /// The header of a record of which only the first part has come, and that part of its payload.
    @discardableResult public func withUnfinished<Result>(_ body: (TLSRecordHeader, UnsafeRawBufferPointer) -> Result)
        -> Result?
    {
        guard case .body(let bytes, let header) = state else { return nil }
        return body(header, UnsafeRawBufferPointer(rebasing: bytes.bytes[TLSRecordHeader.length...]))
    }

    /// Takes the account of what holes have swallowed since the last call. While a search goes on, bytes that may hold
    /// further records are left out, since more of them may come; `isFinal` takes them all the same.
    public mutating func takeLost(isFinal: Bool = false) -> LostRecords {
        var taken = lost
        lost = LostRecords()
        if isSearching, !isFinal {
            lost.unframedBytes = taken.unframedBytes
            lost.isUnbounded = taken.isUnbounded
            taken.unframedBytes = 0
            taken.isUnbounded = false
        }
        return taken
    }

    /// Takes the next step through `input`, from whose front it removes what was used.
    public mutating func next(_ input: inout UnsafeRawBufferPointer) -> Step {
        if case .handedOut = state { state = .aligned }
        while true {
            switch state {
            case .aligned, .handedOut:
                if input.isEmpty { return .needsInput }
                if input.count < TLSRecordHeader.length {
                    guard TLSRecordHeader.canStart(with: input) else { return loseFraming() }
                    state = .header(HeapBytes(capacity: TLSRecordHeader.length))
                    continue
                }
                guard let header = TLSRecordHeader(input) else { return loseFraming() }
                if input.count >= header.recordLength { return take(header, &input) }
                let bytes = HeapBytes(capacity: header.recordLength)
                _ = bytes.fill(upTo: header.recordLength, from: &input)
                state = .body(bytes, header)
                return .needsInput
            case .header(let bytes):
                guard bytes.fill(upTo: TLSRecordHeader.length, from: &input) else { return .needsInput }
                guard let header = TLSRecordHeader(bytes.bytes) else {
                    let window = HeapBytes(capacity: Self.window)
                    var start = bytes.bytes
                    _ = window.fill(upTo: start.count, from: &start)
                    state = .searching(window)
                    return .lostFraming
                }
                let whole = HeapBytes(capacity: header.recordLength)
                var start = bytes.bytes
                _ = whole.fill(upTo: TLSRecordHeader.length, from: &start)
                state = .body(whole, header)
            case .body(let bytes, let header):
                guard bytes.fill(upTo: header.recordLength, from: &input) else { return .needsInput }
                state = .handedOut(bytes)
                return .record(TLSRecord(header: header, bytes: bytes.bytes))
            case .skipping(let count):
                let step = min(count, input.count)
                input = UnsafeRawBufferPointer(rebasing: input[step...])
                state = step == count ? .aligned : .skipping(count - step)
                if input.isEmpty { return .needsInput }
            case .searching(let bytes):
                guard search(bytes, &input) else { return .needsInput }
                state = .replaying(bytes, position: 0)
                return .resynchronised
            case .replaying(let bytes, let position):
                if let step = replay(bytes, position, &input) { return step }
            }
        }
    }

    /// Stream bytes that never come; `length` nil when their number is not known.
    public mutating func hole(length: Int?) {
        lost.isUnbounded = lost.isUnbounded || length == nil
        let length = max(length ?? 0, 0)
        switch state {
        case .aligned, .handedOut:
            search(after: length)
        case .header(let bytes):
            search(after: length &+ bytes.count)
        case .body(let bytes, let header):
            lost.certain.append(header)
            skip(length, of: header.recordLength - bytes.count)
        case .skipping(let count):
            skip(length, of: count)
        case .searching(let bytes):
            search(after: length &+ bytes.count)
        case .replaying(let bytes, let position):
            search(after: length &+ max(bytes.count - position, 0))
        }
    }

    private mutating func skip(_ length: Int, of rest: Int) {
        if lost.isUnbounded || length > rest {
            search(after: max(length - rest, 0))
        } else {
            state = length == rest ? .aligned : .skipping(rest - length)
        }
    }

    private mutating func search(after bytes: Int) {
        lost.unframedBytes = lost.unframedBytes.addingReportingOverflow(bytes).partialValue & .max
        state = .searching(HeapBytes(capacity: Self.window))
    }

    private mutating func loseFraming() -> Step {
        state = .searching(HeapBytes(capacity: Self.window))
        return .lostFraming
    }

    private func take(_ header: TLSRecordHeader, _ input: inout UnsafeRawBufferPointer) -> Step {
        let bytes = UnsafeRawBufferPointer(rebasing: input[..<header.recordLength])
        input = UnsafeRawBufferPointer(rebasing: input[header.recordLength...])
        return .record(TLSRecord(header: header, bytes: bytes))
    }

    // MARK: Finding the framing again

    /// Gathers input and looks for a header that is followed by another, or whose record ends where the bytes end. True
    /// when one stands at the front of `bytes`.
    private mutating func search(_ bytes: HeapBytes, _ input: inout UnsafeRawBufferPointer) -> Bool {
        while !input.isEmpty {
            _ = bytes.fill(upTo: bytes.capacity, from: &input)
            let (position, isFound) = Self.findHeader(bytes.bytes)
            lost.unframedBytes = lost.unframedBytes.addingReportingOverflow(position).partialValue & .max
            bytes.removeFirst(position)
            if isFound { return true }
            // A full window always gives up at least its first byte, so that the loop ends: no record is that long.
            if bytes.count == bytes.capacity { bytes.removeFirst(1) }
        }
        return false
    }

    /// The first place where a record can start, and whether it certainly does; false when more bytes must tell.
    private static func findHeader(_ bytes: UnsafeRawBufferPointer) -> (position: Int, isFound: Bool) {
        var position = 0
        while position < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[position...])
            guard canResume(with: rest) else {
                position += 1
                continue
            }
            guard rest.count >= TLSRecordHeader.length, let header = TLSRecordHeader(rest) else {
                return (position, false)
            }
            if header.recordLength > rest.count { return (position, false) }
            let after = UnsafeRawBufferPointer(rebasing: rest[header.recordLength...])
            if after.isEmpty || canResume(with: after) { return (position, true) }
            position += 1
        }
        return (position, false)
    }

    /// A stricter form of the header: versions that are in use, and types that stand between other records.
    private static func canResume(with bytes: UnsafeRawBufferPointer) -> Bool {
        guard TLSRecordHeader.canStart(with: bytes), bytes[0] != TLSRecordHeader.ContentType.heartbeat.rawValue else {
            return false
        }
        return bytes.count < 3 || (1...3).contains(bytes[2])
    }

    /// Reads on in the bytes that the search had gathered, and goes over to the input when a record reaches beyond them.
    private mutating func replay(
        _ bytes: HeapBytes, _ position: Int, _ input: inout UnsafeRawBufferPointer
    ) -> Step? {
        var rest = UnsafeRawBufferPointer(rebasing: bytes.bytes[min(position, bytes.count)...])
        if rest.isEmpty {
            state = .aligned
            return nil
        }
        if let header = TLSRecordHeader(rest), header.recordLength <= rest.count {
            state = .replaying(bytes, position: position + header.recordLength)
            return take(header, &rest)
        }
        if rest.count >= TLSRecordHeader.length {
            guard let header = TLSRecordHeader(rest) else {
                bytes.removeFirst(position)
                state = .searching(bytes)
                return .lostFraming
            }
            let whole = HeapBytes(capacity: header.recordLength)
            _ = whole.fill(upTo: header.recordLength, from: &rest)
            state = .body(whole, header)
            return nil
        }
        let start = HeapBytes(capacity: TLSRecordHeader.length)
        _ = start.fill(upTo: TLSRecordHeader.length, from: &rest)
        state = .header(start)
        return nil
    }
}
