import CaptureAnalyzer
import SessionTrace
import WireFormats

/// Every TCP connection of a capture read as clear text, one observer each.
struct ConversationSink: StreamSink {
    private var observers: [ConnectionID: ConversationObserver] = [:]
    private var next = 0
    private(set) var output: [ConversationOutput] = []
    private(set) var counts = ConversationCounts()
    /// Bytes are passed on in pieces of this size; nil: as they come.
    let piece: Int?

    init(piece: Int? = nil) {
        self.piece = piece
    }

    var exchanges: [Exchange] {
        output.compactMap { if case .event(.exchange(let exchange)) = $0 { exchange } else { nil } }
    }

    mutating func nextConnectionID() -> ConnectionID {
        defer { next += 1 }
        return ConnectionID(next)
    }

    mutating func opened(_ connection: Connection) {
        guard connection.transport == .tcp else { return }
        observers[connection.id] = ConversationObserver(
            connection: connection.id, isSecure: false, applicationProtocol: nil, serverName: nil,
            startSeen: connection.startSeen)
    }

    mutating func received(
        _ bytes: UnsafeRawBufferPointer, from side: Side, endOffset: UInt64, at: PacketReference, on id: ConnectionID
    ) {
        var offset = 0
        while offset < bytes.count {
            let end = min(bytes.count, offset + (piece ?? bytes.count))
            let slice = UnsafeRawBufferPointer(rebasing: bytes[offset..<end])
            observers[id]?.receive(slice, from: side, at: at, into: &output)
            offset = end
        }
    }

    mutating func hole(
        length: Int?, from side: Side, endOffset: UInt64, noticed: PacketReference, span: TimeSpan, cause: HoleCause,
        on id: ConnectionID
    ) {
        observers[id]?.hole(length: length, from: side, at: noticed, into: &output)
    }

    mutating func finished(side: Side, at: PacketReference, on id: ConnectionID) {
        observers[id]?.finished(side: side, at: at, into: &output)
    }

    mutating func closed(_ end: ConnectionEnd) {
        guard var observer = observers.removeValue(forKey: end.id) else { return }
        observer.closed(cause: end.cause, at: end.last, into: &output)
        counts.http1Requests += observer.counts.http1Requests
        counts.http1Responses += observer.counts.http1Responses
        counts.webSocketFrames += observer.counts.webSocketFrames
    }

    mutating func acknowledged(by side: Side, upTo offset: UInt64, at: PacketReference, on id: ConnectionID) {}
    mutating func overlapConflict(from side: Side, at: PacketReference, on id: ConnectionID) {}
    mutating func datagram(
        _ bytes: UnsafeRawBufferPointer, length: Int, from side: Side, at: PacketReference, on id: ConnectionID
    ) {}
    mutating func identified(_ process: ProcessIdentity, of id: ConnectionID) {}
    mutating func blind(_ spot: BlindSpot) {}
}
