internal import ContentCodings
internal import SessionTrace

/// One direction of a WebSocket: frames joined to messages, control frames between fragments, payloads inflated.
struct WebSocketDirection {
    /// The inflater has an identity (zlib's state), so it sits in an object. A copy of the direction shares it; the
    /// observer that owns the direction is never read on after it was copied.
    private final class Inflation {
        var inflater: MessageInflater

        init(keepsContext: Bool) {
            inflater = MessageInflater(keepsContext: keepsContext)
        }
    }

    /// A message whose end was not seen.
    private struct Assembly {
        var kind: Message.Kind
        var isDeflated: Bool
        var bytes: [UInt8] = []
        /// Payload bytes beyond the limit.
        var dropped = 0
        var missing = 0
        var frames = 0
        /// A part of it could not be inflated.
        var isBroken = false
        var started: PacketReference
    }

    private enum State {
        case reading
        /// Framing is lost; bytes are only counted.
        case lost
    }

    private let exchange: ExchangeID
    private let side: Side
    private let limit: Int
    private let keepsContext: Bool
    private let inflation: Inflation?
    /// The window is not the sender's any more.
    private var windowIsLost = false
    private var state = State.reading
    private var reader = WebSocketFrameReader()
    private var frame: WebSocketFrameReader.Frame?
    private var frameStarted: PacketReference?
    private var message: Assembly?
    private var control: Assembly?
    /// Frames whose head was read.
    private(set) var frameCount = 0
    /// Bytes that came after the framing was lost.
    private(set) var lostBytes = 0
    private(set) var lostSince: PacketReference?
    private(set) var lostLast: PacketReference?
    private var said: Set<BlindSpot.Reason> = []

    init(exchange: ExchangeID, side: Side, extensions: WebSocketExtensions, limit: Int) {
        self.exchange = exchange
        self.side = side
        self.limit = limit
        let forgets =
            side == .client ? extensions.deflate?.clientForgetsContext : extensions.deflate?.serverForgetsContext
        keepsContext = forgets != true
        inflation = extensions.deflate == nil ? nil : Inflation(keepsContext: keepsContext)
    }

    mutating func receive(
        _ bytes: UnsafeRawBufferPointer, at packet: PacketReference, into output: inout [ConversationOutput]
    ) {
        var offset = 0
        while true {
            guard state == .reading else {
                lostBytes &+= bytes.count &- offset
                lostSince = lostSince ?? packet
                lostLast = packet
                return
            }
            if frame == nil, !reader.isInsideHead, offset < bytes.count { frameStarted = packet }
            switch reader.read(bytes, from: &offset) {
            case .needsInput: return
            case .frame(let head): begin(head, at: packet, into: &output)
            case .payload(let isLast): take(isLast: isLast, at: packet, into: &output)
            }
        }
    }

    private mutating func begin(
        _ head: WebSocketFrameReader.Frame, at packet: PacketReference, into output: inout [ConversationOutput]
    ) {
        let started = frameStarted ?? packet
        let isContinuation = head.opcode == 0
        let kind: Message.Kind? =
            switch head.opcode {
            case 0: message?.kind
            case 1: .text
            case 2: .binary
            case 8: .close
            case 9: .ping
            case 10: .pong
            default: nil
            }
        let isDeflated = head.reserved == 0b100 && inflation != nil && !isContinuation && !head.isControl
        let isOdd =
            head.reserved != 0 && !isDeflated || head.isControl && (head.length > 125 || !head.isFinal)
            || !head.isControl && !isContinuation && message != nil || head.length > UInt64(Int64.max)
        guard let kind, !isOdd else {
            lose("a frame that RFC 6455 does not allow", at: packet, into: &output)
            return
        }
        frameCount += 1
        frame = head
        if head.isControl {
            control = Assembly(kind: kind, isDeflated: false, frames: 1, started: started)
        } else if isContinuation {
            message?.frames += 1
        } else {
            message = Assembly(kind: kind, isDeflated: isDeflated, frames: 1, started: started)
        }
    }

    private mutating func take(
        isLast: Bool, at packet: PacketReference, into output: inout [ConversationOutput]
    ) {
        guard let head = frame else { return }
        if head.isControl {
            control?.bytes.append(contentsOf: reader.payload)
        } else if message?.isDeflated == true {
            inflate(isEnd: false, at: packet, into: &output)
        } else if var open = message {
            message = nil
            let room = max(0, limit - open.bytes.count)
            open.bytes.append(contentsOf: reader.payload.prefix(room))
            open.dropped += max(0, reader.payload.count - room)
            message = open
        }
        if isLast { endFrame(at: packet, into: &output) }
    }

    private mutating func endFrame(at packet: PacketReference, into output: inout [ConversationOutput]) {
        guard let head = frame else { return }
        frame = nil
        if head.isControl {
            if let control { emit(control, isComplete: true, at: packet, into: &output) }
            control = nil
        } else if head.isFinal {
            if message?.isDeflated == true { inflate(isEnd: true, at: packet, into: &output) }
            if let message { emit(message, isComplete: !message.isBroken, at: packet, into: &output) }
            message = nil
        }
    }

    private mutating func inflate(
        isEnd: Bool, at packet: PacketReference, into output: inout [ConversationOutput]
    ) {
        guard var open = message, let inflation else { return }
        message = nil
        defer { message = open }
        guard !windowIsLost, !open.isBroken else {
            open.isBroken = true
            return
        }
        do throws(ContentCodingError) {
            let room = max(0, limit - open.bytes.count)
            if isEnd {
                try inflation.inflater.endMessage(into: &open.bytes, limit: room, dropped: &open.dropped)
            } else {
                try inflatePayload(inflation, &open, room)
            }
        } catch {
            open.isBroken = true
            windowIsLost = keepsContext
            say(.undecodableContent, "permessage-deflate: \(error.detail)", bytes: nil, at: packet, into: &output)
        }
    }

    private func inflatePayload(_ inflation: Inflation, _ open: inout Assembly, _ room: Int) throws(ContentCodingError)
    {
        var failure: ContentCodingError?
        reader.payload.withUnsafeBytes { bytes in
            do throws(ContentCodingError) {
                try inflation.inflater.inflate(bytes, into: &open.bytes, limit: room, dropped: &open.dropped)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    /// `length` bytes are missing, or nobody knows how many.
    mutating func hole(length: Int?, at packet: PacketReference, into output: inout [ConversationOutput]) {
        guard state == .reading else { return }
        guard let length, length >= 0, let head = frame, UInt64(length) <= reader.remainingInFrame else {
            lose("a hole in the capture hides a frame", at: packet, into: &output)
            return
        }
        if head.isControl {
            control?.missing += length
        } else {
            message?.missing += length
            if message?.isDeflated == true {
                message?.isBroken = true
                windowIsLost = keepsContext
            }
        }
        if reader.skip(UInt64(length)) { endFrame(at: packet, into: &output) }
    }

    /// Nothing more comes from this side: what is open is handed out as it is.
    mutating func finish(at packet: PacketReference, into output: inout [ConversationOutput]) {
        if let control { emit(control, isComplete: false, at: packet, into: &output) }
        if let message { emit(message, isComplete: false, at: packet, into: &output) }
        control = nil
        message = nil
        frame = nil
    }

    private mutating func lose(_ why: String, at packet: PacketReference, into output: inout [ConversationOutput]) {
        finish(at: packet, into: &output)
        state = .lost
        lostSince = packet
        lostLast = packet
        say(.unreadableMessage, "WebSocket: \(why)", bytes: nil, at: packet, into: &output)
    }

    private mutating func emit(
        _ open: Assembly, isComplete: Bool, at packet: PacketReference, into output: inout [ConversationOutput]
    ) {
        let payload = Body(
            bytes: open.bytes, length: open.bytes.count + open.dropped, missing: open.missing, isComplete: isComplete,
            isCut: open.dropped > 0)
        output.append(
            .event(
                .message(
                    Message(
                        exchange: exchange, from: side, kind: open.kind, payload: payload, started: open.started,
                        ended: packet, frames: open.frames))))
        if open.dropped > 0, side == .client {
            said.remove(.bodyOverLimit)
            say(.bodyOverLimit, "WebSocket message over \(limit) bytes", bytes: open.dropped, at: packet, into: &output)
        }
    }

    /// Reports a blind spot, each kind once.
    private mutating func say(
        _ reason: BlindSpot.Reason, _ detail: String, bytes: Int?, at packet: PacketReference,
        into output: inout [ConversationOutput]
    ) {
        guard said.insert(reason).inserted else { return }
        output.append(
            .event(
                .blindSpot(
                    BlindSpot(
                        reason: reason, connection: exchange.connection, from: side, span: TimeSpan(packet.time),
                        bytes: bytes, noticed: packet, detail: detail))))
    }
}
