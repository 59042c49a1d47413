internal import SessionTrace

/// One direction of an HTTP/2 connection: stream bytes and holes in, frames out (RFC 9113 §3.4, §4, §6).
///
/// ```
/// preface ──matched──► frames ──hole beyond the frame──► searching ──chain found──► frames
///    │ mismatch: abandoned (start seen), searching (joined in the middle)    │ budget used up: abandoned
/// ```
struct HTTP2Direction {
    /// What a client sends first (RFC 9113 §3.4).
    static let preface: [UInt8] = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    /// The largest frame until SETTINGS say otherwise (RFC 9113 §6.5.2).
    static let initialLargestFrame = 16_384
    /// Payload octets kept of a control frame that is no header block; none needs more.
    static let controlLimit = 16 << 10

    private enum Mode {
        case preface(matched: Int)
        case firstFrame
        case frames
        case searching
        case abandoned
    }

    private struct Frame {
        var header: FrameHeader
        var started: PacketReference
        /// DATA: octets of content still to come; nil until the pad length was read.
        var contentLeft: Int?
        /// Whether octets of the payload were lost in a hole.
        var isDamaged = false
    }

    private struct Block {
        var streamID: UInt32
        var promisedID: UInt32?
        var endsStream: Bool
        var started: PacketReference
        var bytes: [UInt8]
        /// Whether a part is missing or was not kept; the block ends there.
        var isCut = false
        var complaint: String?
    }

    private let side: Side
    private let startSeen: Bool
    private let blockLimit: Int
    private var mode: Mode
    private var reader = FrameReader()
    private var headerStarted: PacketReference?
    private var decoder: HeaderDecoder
    private var frame: Frame?
    private var held: [UInt8] = []
    private var block: Block?
    private var queued: FrameEvent?
    private var search = FrameSearch()
    private var reportedDrops = 0
    /// The largest frame that the peer of this side allowed; for finding frames again, and for complaints.
    private(set) var largestFrame = initialLargestFrame
    /// Whether frames may have been missed: then streams can begin or end unseen.
    private(set) var isUncertain: Bool
    /// Bytes received since the direction was given up.
    private(set) var abandonedBytes = 0

    /// A direction from its first byte (`startSeen`) or from somewhere in the middle.
    init(side: Side, startSeen: Bool, limits: ConversationLimits) {
        self.side = side
        self.startSeen = startSeen
        blockLimit = limits.head
        decoder = HeaderDecoder(startSeen: startSeen, byteLimit: limits.head, countLimit: limits.fields)
        isUncertain = !startSeen
        mode = side == .client ? .preface(matched: 0) : startSeen ? .firstFrame : .searching
    }

    /// Whether nothing more is read from this direction.
    var isAbandoned: Bool {
        if case .abandoned = mode { return true }
        return false
    }

    /// The peer's SETTINGS_MAX_FRAME_SIZE.
    mutating func allow(largestFrame: Int) {
        self.largestFrame = max(self.largestFrame, largestFrame)
    }

    /// Takes the next event from `input`, which is advanced past what was used.
    mutating func next(_ input: inout UnsafeRawBufferPointer, at packet: PacketReference) -> FrameEvent {
        if let event = queued {
            queued = nil
            return event
        }
        while true {
            switch mode {
            case .abandoned:
                abandonedBytes += input.count
                input = UnsafeRawBufferPointer(start: nil, count: 0)
                return .starved
            case .preface(let matched):
                guard let octet = input.first else { return .starved }
                guard octet == Self.preface[matched] else {
                    if startSeen { return abandon("the client's first bytes are no HTTP/2 preface") }
                    mode = .searching
                    Self.preface[..<matched].withUnsafeBytes { bytes in
                        var bytes = bytes
                        _ = search.receive(&bytes, at: packet, largestFrame: largestFrame)
                    }
                    continue
                }
                input = UnsafeRawBufferPointer(rebasing: input.dropFirst())
                mode = matched + 1 < Self.preface.count ? .preface(matched: matched + 1) : .frames
                if case .frames = mode, !startSeen { restartExactly() }
            case .searching:
                guard search.receive(&input, at: packet, largestFrame: largestFrame) else {
                    if search.isExhausted { return abandon("no frames found in \(search.dropped) bytes") }
                    return .starved
                }
                return resume()
            case .firstFrame, .frames:
                if reader.isBetweenFrames, !input.isEmpty { headerStarted = packet }
                switch reader.next(&input) {
                case .starved: return .starved
                case .header(let header):
                    if let event = begin(header, at: packet) { return event }
                case .payload(let piece, let isLast):
                    if let event = take(piece, isLast: isLast, at: packet) { return event }
                }
            }
        }
    }

    /// The preface was seen after all: the connection starts here.
    private mutating func restartExactly() {
        decoder.restart()
        isUncertain = false
    }

    private mutating func abandon(_ why: String) -> FrameEvent {
        mode = .abandoned
        search = FrameSearch()
        held = []
        block = nil
        return .abandoned(why)
    }

    private mutating func resume() -> FrameEvent {
        mode = .frames
        reader.restart()
        frame = nil
        let dropped = search.dropped - reportedDrops
        reportedDrops = search.dropped
        return .found(search.take(), dropped: dropped)
    }

    // MARK: Frames

    private mutating func begin(_ header: FrameHeader, at packet: PacketReference) -> FrameEvent? {
        if case .firstFrame = mode {
            guard header.kind == .settings, header.isPlausible(largestFrame: 1 << 14) else {
                return abandon("the server's first bytes are no HTTP/2 SETTINGS frame")
            }
            mode = .frames
        }
        held.removeAll(keepingCapacity: true)
        var current = Frame(header: header, started: headerStarted ?? packet)
        if header.kind == .data, !header.has(FrameHeader.Flag.padded) { current.contentLeft = header.length }
        frame = current
        if block != nil, header.kind != .continuation || header.streamID != block?.streamID {
            // Whatever the block still held is lost, and with it what the table holds now.
            block?.isCut = true
            queued = closeBlock()
            return .malformed(streamID: header.streamID, "frame of type \(header.type) inside a header block")
        }
        if let complaint = breach(header) { return .malformed(streamID: header.streamID, complaint) }
        return nil
    }

    /// What the header alone shows to be wrong.
    private func breach(_ header: FrameHeader) -> String? {
        if header.length > max(largestFrame, Self.initialLargestFrame), !isUncertain {
            return "frame of \(header.length) bytes, more than the peer allows"
        }
        switch header.kind {
        case .data, .headers, .resetStream, .priority, .pushPromise:
            return header.streamID == 0 ? "frame of type \(header.type) on stream 0" : nil
        case .continuation:
            return block == nil && !isUncertain ? "CONTINUATION without a header block" : nil
        case .settings, .ping, .goAway:
            return header.streamID != 0 ? "frame of type \(header.type) on stream \(header.streamID)" : nil
        case .windowUpdate, nil:
            return nil
        }
    }

    private mutating func take(
        _ piece: UnsafeRawBufferPointer, isLast: Bool, at packet: PacketReference
    ) -> FrameEvent? {
        guard let header = frame?.header else { return nil }
        guard header.kind == .data else {
            hold(piece, of: header)
            return isLast ? finish(at: packet) : nil
        }
        var content = piece
        if frame?.contentLeft == nil, let padding = content.first {
            content = UnsafeRawBufferPointer(rebasing: content.dropFirst())
            let left = header.length - 1 - Int(padding)
            frame?.contentLeft = max(0, left)
            if left < 0 { queued = .malformed(streamID: header.streamID, "padding longer than its DATA frame") }
        }
        let contentLeft = frame?.contentLeft ?? 0
        let count = min(content.count, contentLeft)
        // An empty DATA frame that claims padding never says how much; there is no content in it either way.
        if frame?.contentLeft != nil { frame?.contentLeft = contentLeft - count }
        let complaint = queued
        queued = nil
        let end = isLast ? finish(at: packet) : nil
        guard count > 0, header.streamID != 0 else {
            queued = complaint == nil ? nil : end
            return complaint ?? end
        }
        // A complaint about padding means that no content is left, so that at most two events meet here.
        queued = end
        return .data(streamID: header.streamID, UnsafeRawBufferPointer(rebasing: content[..<count]))
    }

    private mutating func hold(_ piece: UnsafeRawBufferPointer, of header: FrameHeader) {
        guard frame?.isDamaged == false else { return }
        let limit: Int
        switch header.kind {
        case .headers, .pushPromise, .continuation: limit = blockLimit + 1
        case .settings, .goAway, .resetStream, .priority, .ping, .windowUpdate: limit = Self.controlLimit
        case .data, nil: limit = 0
        }
        held.append(contentsOf: piece.prefix(max(0, limit - held.count)))
    }

    /// The current frame has ended; what it says.
    private mutating func finish(at packet: PacketReference) -> FrameEvent? {
        guard let frame else { return nil }
        self.frame = nil
        let header = frame.header
        switch header.kind {
        case .data:
            return header.has(FrameHeader.Flag.endStream) && header.streamID != 0
                ? .dataEnded(streamID: header.streamID) : nil
        case .headers, .pushPromise: return openBlock(frame)
        case .continuation:
            guard block?.streamID == header.streamID else {
                // Its beginning was lost, and with it what the table holds now.
                decoder.forget()
                return nil
            }
            extendBlock(held[...], isDamaged: frame.isDamaged)
            return header.has(FrameHeader.Flag.endHeaders) ? closeBlock() : nil
        case .settings, .resetStream, .goAway, .priority, .ping, .windowUpdate:
            return frame.isDamaged ? nil : control(header)
        case nil: return nil
        }
    }

    private func control(_ header: FrameHeader) -> FrameEvent? {
        let id = header.streamID
        switch header.kind {
        case .settings:
            guard header.length % 6 == 0, !header.has(FrameHeader.Flag.acknowledgement) || header.length == 0 else {
                return .malformed(streamID: 0, "SETTINGS frame of \(header.length) bytes")
            }
            return largestFrameSetting.map { .settings(largestFrame: $0) }
        case .resetStream:
            guard header.length == 4 else { return .malformed(streamID: id, "RST_STREAM of \(header.length) bytes") }
            return id == 0 ? nil : .reset(streamID: id, code: word(0))
        case .goAway:
            guard header.length >= 8 else { return .malformed(streamID: 0, "GOAWAY of \(header.length) bytes") }
            return .goAway(lastStreamID: word(0) & 0x7FFF_FFFF)
        case .priority:
            return header.length == 5 ? nil : .malformed(streamID: id, "PRIORITY of \(header.length) bytes")
        case .ping: return header.length == 8 ? nil : .malformed(streamID: 0, "PING of \(header.length) bytes")
        case .windowUpdate:
            return header.length == 4 ? nil : .malformed(streamID: id, "WINDOW_UPDATE of \(header.length) bytes")
        case .data, .headers, .pushPromise, .continuation, nil: return nil
        }
    }

    /// SETTINGS_MAX_FRAME_SIZE (5) of the SETTINGS payload that is held; the last one counts (RFC 9113 §6.5).
    private var largestFrameSetting: Int? {
        var setting: Int?
        for offset in stride(from: 0, to: held.count - held.count % 6, by: 6) where word(offset) >> 16 == 5 {
            setting = Int(min(word(offset + 2), 0xFF_FFFF))
        }
        return setting
    }

    private func word(_ offset: Int) -> UInt32 {
        guard held.count >= offset + 4 else { return 0 }
        return held[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    // MARK: Header blocks

    private mutating func openBlock(_ frame: Frame) -> FrameEvent? {
        let header = frame.header
        var start = 0
        var end = held.count
        var complaint: String?
        if header.has(FrameHeader.Flag.padded) {
            let padding = Int(held.first ?? 0)
            start = 1
            // Padding lies at the frame's end, which may not have been kept.
            end = min(end, header.length - padding)
            if end < start { complaint = "padding longer than its frame" }
        }
        var promised: UInt32?
        if header.kind == .pushPromise {
            promised = word(start) & 0x7FFF_FFFF
            start += 4
        } else if header.has(FrameHeader.Flag.priority) {
            start += 5
        }
        if start > end { complaint = complaint ?? "frame of type \(header.type) too short for its fields" }
        block = Block(
            streamID: header.streamID, promisedID: promised,
            endsStream: header.kind == .headers && header.has(FrameHeader.Flag.endStream), started: frame.started,
            bytes: [], complaint: complaint)
        extendBlock(start <= end ? held[start..<end] : [], isDamaged: frame.isDamaged)
        return header.has(FrameHeader.Flag.endHeaders) ? closeBlock() : nil
    }

    private mutating func extendBlock(_ bytes: ArraySlice<UInt8>, isDamaged: Bool) {
        guard let size = block?.bytes.count, block?.isCut == false else { return }
        block?.bytes.append(contentsOf: bytes.prefix(blockLimit - size))
        if bytes.count > blockLimit - size {
            block?.isCut = true
            block?.complaint = "header block over \(blockLimit) bytes; the rest was not read"
        }
        if isDamaged { block?.isCut = true }
    }

    private mutating func closeBlock() -> FrameEvent? {
        guard let block else { return nil }
        self.block = nil
        let section = block.bytes.withUnsafeBytes { decoder.decode($0, isCut: block.isCut) }
        guard block.streamID != 0 else { return nil }
        return .headers(
            FrameEvent.HeaderBlock(
                streamID: block.streamID, promisedID: block.promisedID, fields: section.fields,
                endsStream: block.endsStream, started: block.started, complaint: block.complaint ?? section.complaint))
    }

    // MARK: Holes

    /// Bytes were lost; `length` is their number where known. A hole inside one frame's payload costs only that payload.
    mutating func hole(length: Int?, at packet: PacketReference) -> [FrameEvent] {
        switch mode {
        case .abandoned: return []
        case .searching:
            var events: [FrameEvent] = []
            if search.settleForLess() {
                // The caller reads what was found, and then says again that there is a hole.
                events.append(resume())
            } else {
                search.restart()
            }
            return events
        case .preface: return lose(length: nil)
        case .firstFrame, .frames: break
        }
        guard let length, let left = reader.payloadLeft, length <= left, frame != nil else {
            return lose(length: length)
        }
        var events: [FrameEvent] = []
        loseContent(length, into: &events)
        frame?.isDamaged = true
        if frame?.header.kind != .data { isUncertain = true }
        reader.skip(length)
        if length == left, let event = finish(at: packet) { events.append(event) }
        return events
    }

    private mutating func loseContent(_ length: Int, into events: inout [FrameEvent]) {
        guard let header = frame?.header, header.kind == .data, header.streamID != 0 else { return }
        guard let contentLeft = frame?.contentLeft else {
            // The pad length itself is lost; the rest can't be told from padding.
            frame?.contentLeft = 0
            events.append(.dataLost(streamID: header.streamID, count: max(0, header.length - 1)))
            return
        }
        let count = min(contentLeft, length)
        frame?.contentLeft = contentLeft - count
        if count > 0 { events.append(.dataLost(streamID: header.streamID, count: count)) }
    }

    private mutating func lose(length: Int?) -> [FrameEvent] {
        var events: [FrameEvent] = []
        if length != nil { loseContent(reader.payloadLeft ?? 0, into: &events) }
        if frame?.header.kind == .headers || frame?.header.kind == .pushPromise {
            frame?.isDamaged = true
            if let frame, let event = openBlock(frame) { events.append(event) }
        } else if frame?.header.kind == .continuation {
            extendBlock(held[...], isDamaged: true)
        }
        if block != nil {
            block?.isCut = true
            if let event = closeBlock() { events.append(event) }
        }
        decoder.forget()
        isUncertain = true
        frame = nil
        held.removeAll(keepingCapacity: true)
        reader.restart()
        mode = .searching
        events.append(.lostSynchronisation)
        return events
    }

    /// Nothing more comes: what the search holds is read if it fits.
    mutating func settle() -> FrameEvent? {
        guard case .searching = mode, search.settleForLess() else { return nil }
        return resume()
    }
}
