internal import SessionTrace

/// Finds the end of a head (or trailer section) across pieces of any size, in linear time: a head that lies in one piece
/// is handed out where it is, any other is gathered, and the scan goes on where it stopped.
struct HeadCollector {
    /// What a call came to.
    enum Result {
        case needsInput
        /// The head was handed to the closure.
        case whole
        /// More bytes than allowed without an end; `gathered` has what was read.
        case overLimit
        /// The first bytes, or the first line, can't begin a message.
        case notAHead
    }

    /// Bytes of a head that are read.
    let limit: Int
    private let side: Side?
    private var buffer: [UInt8] = []
    private var scan: HeadScan
    /// The packet with the head's first byte.
    private(set) var started: PacketReference?

    /// A collector for heads of messages from `side`; for nil a collector for trailer sections, which have no start line.
    init(limit: Int, side: Side?) {
        self.limit = max(1, limit)
        self.side = side
        scan = HeadScan(side: side)
    }

    /// Bytes read so far of a head that is not whole.
    var gathered: [UInt8] { buffer }

    /// Forgets what was gathered.
    mutating func reset() {
        if !buffer.isEmpty { buffer.removeAll(keepingCapacity: buffer.capacity <= 16 << 10) }
        scan = HeadScan(side: side)
        started = nil
    }

    /// Reads from `offset` on; calls `whole` with a complete head and the packet of its first byte.
    ///
    /// After `overLimit` and `notAHead` everything consumed is in `gathered`; after `notAHead` that holds no line end.
    mutating func read(
        _ input: UnsafeRawBufferPointer, from offset: inout Int, at packet: PacketReference,
        whole: (UnsafeRawBufferPointer, PacketReference) -> Void
    ) -> Result {
        guard buffer.isEmpty else { return readOn(input, from: &offset, at: packet, whole: whole) }
        if side != nil {
            // RFC 9112 §2.2: empty lines before a start line are passed over.
            while offset < input.count, input[offset] == 0x0D || input[offset] == 0x0A { offset &+= 1 }
        }
        guard offset < input.count else { return .needsInput }
        let rest = input.slice(offset..<min(input.count, offset &+ limit))
        switch scan.find(in: rest) {
        case .whole(let end):
            whole(rest.slice(0..<end), packet)
            offset &+= end
            reset()
            return .whole
        case .notAHead:
            scan = HeadScan(side: side)
            return .notAHead
        case .open:
            buffer.append(contentsOf: rest)
            started = packet
            offset &+= rest.count
            return rest.count < limit ? .needsInput : .overLimit
        }
    }

    /// Reads on in a head that began in an earlier piece.
    private mutating func readOn(
        _ input: UnsafeRawBufferPointer, from offset: inout Int, at packet: PacketReference,
        whole: (UnsafeRawBufferPointer, PacketReference) -> Void
    ) -> Result {
        let oldCount = buffer.count
        let taken = min(input.count &- offset, limit &- oldCount)
        buffer.append(contentsOf: input.slice(offset..<offset &+ taken))
        var scan = scan
        let found = buffer.withUnsafeBytes { scan.find(in: $0) }
        self.scan = scan
        switch found {
        case .whole(let end):
            offset &+= end &- oldCount
            let first = started ?? packet
            buffer.withUnsafeBytes { whole($0.slice(0..<end), first) }
            reset()
            return .whole
        case .notAHead:
            buffer.removeLast(taken)
            return .notAHead
        case .open:
            offset &+= taken
            return buffer.count < limit ? .needsInput : .overLimit
        }
    }
}

/// Looks for the empty line that ends a head, and judges its first line as soon as that is whole.
private struct HeadScan {
    enum Found {
        case whole(end: Int)
        case open
        case notAHead
    }

    private enum FirstLine {
        case message, simpleRequest, none
    }

    private let side: Side?
    /// The first byte of the line that is being looked at.
    private var lineStart = 0
    /// No line feed lies between `lineStart` and here.
    private var searched = 0
    private var firstLineSeen: Bool

    init(side: Side?) {
        self.side = side
        firstLineSeen = side == nil
    }

    /// `bytes` is the head from its first byte on; each call's bytes begin with the last call's.
    mutating func find(in bytes: UnsafeRawBufferPointer) -> Found {
        if !firstLineSeen, !mayBegin(bytes) { return .notAHead }
        while true {
            if firstLineSeen, lineStart < bytes.count {
                if bytes[lineStart] == 0x0A { return .whole(end: lineStart &+ 1) }
                if bytes[lineStart] == 0x0D {
                    guard lineStart &+ 1 < bytes.count else { return .open }
                    if bytes[lineStart &+ 1] == 0x0A { return .whole(end: lineStart &+ 2) }
                }
            }
            guard let lineFeed = ByteSearch.first(0x0A, in: bytes, from: max(lineStart, searched)) else {
                searched = bytes.count
                return .open
            }
            if !firstLineSeen {
                firstLineSeen = true
                switch judge(bytes.slice(lineStart..<lineFeed)) {
                case .message: break
                case .simpleRequest: return .whole(end: lineFeed &+ 1)
                case .none: return .notAHead
                }
            }
            lineStart = lineFeed &+ 1
        }
    }

    private func mayBegin(_ bytes: UnsafeRawBufferPointer) -> Bool {
        switch side {
        case .client: StartLine.mayBeginRequest(bytes)
        case .server: StartLine.mayBeginStatus(bytes)
        case nil: true
        }
    }

    private func judge(_ withLineEnd: UnsafeRawBufferPointer) -> FirstLine {
        let line = withLineEnd.last == 0x0D ? withLineEnd.slice(0..<withLineEnd.count &- 1) : withLineEnd
        switch side {
        case .client:
            guard let request = StartLine.request(line) else { return .none }
            return request.version == nil ? .simpleRequest : .message
        case .server:
            return StartLine.status(line) == nil ? .none : .message
        case nil:
            return .message
        }
    }
}
