internal import SessionTrace
internal import WireFormats

/// What one call into a stream has in common with all others for the same packet.
struct Passage {
    /// The connection.
    let id: ConnectionID
    /// The packet.
    let reference: PacketReference
    /// Where in the connection it stands.
    let moment: PendingSegments.Moment
    let limits: TransportLimits
}

/// One direction of a TCP connection: sequence numbers in any order in, stream bytes in order and holes out.
///
///              bytes at `next`: delivered from the packet itself, nothing copied but the history
///     ┌───────┐ bytes ahead of `next`: wait in `pending`            ┌──────────┐
///     │ flows │ ──────────────────────────────────────────────────► │ finished │  FIN position reached
///     └───────┘ a gap that is certain to stay: told as a hole       └──────────┘
///
/// Sequence numbers become 64-bit offsets from the byte after the SYN, so that nothing here wraps (RFC 9293 §3.4).
struct StreamHalf {
    /// How the sequence number of offset 0 is known.
    enum Start {
        case unknown
        /// From the first bytes, or from what the peer acknowledged first; may move back while nothing was delivered.
        case inferred
        /// From the SYN.
        case seen
    }

    let side: Side
    private(set) var start = Start.unknown
    /// The sequence number of offset 0.
    private(set) var initial: UInt32 = 0
    /// The offset of the next byte to deliver.
    var next: Int64 = 0
    /// The offset up to which the peer has acknowledged.
    var acknowledged: Int64 = 0
    /// The offset of the FIN, once seen.
    var finish: Int64?
    var isFinished = false
    /// Whether any packet of this side was captured.
    var hasSent = false
    /// Stream bytes delivered.
    private(set) var deliveredBytes = 0
    /// Where a segment that fits no window ended: one that goes on there is believed.
    private var strayEnd: UInt32?
    /// When the last bytes were delivered; before, when the connection was opened.
    private var lastDelivery: Instant
    var pending = PendingSegments()
    var history = DeliveredHistory()
    /// When the FIN came, and when the peer acknowledged all bytes before it.
    var finishArrived: PendingSegments.Moment?
    var finishAcknowledged: PendingSegments.Moment?

    init(side: Side, opened: Instant) {
        self.side = side
        lastDelivery = opened
    }

    /// Whether nothing of this side is still to come: all delivered, or the peer has everything up to the FIN.
    var isDone: Bool {
        if isFinished { return true }
        guard let finish else { return false }
        return acknowledged >= finish
    }

    /// Whether nothing has been delivered and nothing waits.
    var isUntouched: Bool { next == 0 && pending.isEmpty }

    /// Whether a gap is open.
    var isWaiting: Bool { !pending.isEmpty || (finish != nil && !isFinished) }

    /// The offset of a sequence number, by the nearest interpretation.
    func offset(of sequence: UInt32) -> Int64 {
        let expected = initial &+ UInt32(truncatingIfNeeded: next)
        return next + Int64(Int32(bitPattern: sequence &- expected))
    }

    // MARK: - What belongs here

    /// Whether a segment without SYN fits this side's numbers.
    mutating func belonging(
        of segment: TransportUnit.Segment, payloadLength: Int, isOver: Bool, limits: TransportLimits
    ) -> Belonging {
        guard start != .unknown else { return .same }
        let offset = offset(of: segment.sequence)
        if segment.flags.contains(.rst) {
            let distance = Int64(limits.plausibleResetDistance)
            let isNear = offset >= next - distance && offset <= max(next, acknowledged) + distance
            return isNear ? .same : .stray
        }
        guard payloadLength > 0 else { return .same }
        let distance = Int64(isOver ? limits.plausibleResetDistance : limits.plausibleDistance)
        let isBehind = offset < next - distance
        guard isBehind || offset > max(next, acknowledged) + distance else { return .same }
        if isOver { return .another }
        // One stray is nobody's; two that join up are a stream: this one after a long gap, or another one behind it.
        let joins = strayEnd == segment.sequence
        strayEnd = joins ? nil : segment.sequence &+ UInt32(truncatingIfNeeded: payloadLength)
        guard joins else { return .stray }
        return isBehind ? .another : .same
    }

    // MARK: - Where the stream begins

    /// A SYN gives the first byte's sequence number.
    mutating func begin(at first: UInt32) {
        switch start {
        case .unknown:
            initial = first
        case .inferred:
            // Once bytes are out, their offsets stay.
            guard next == 0, !isFinished else { return }
            rebase(by: Int64(Int32(bitPattern: initial &- first)))
            initial = first
        case .seen:
            guard isUntouched, !isFinished else { return }
            acknowledged = 0
            finish = nil
            initial = first
        }
        start = .seen
    }

    /// Offsets grow by `distance`: the stream begins that much earlier than was thought.
    private mutating func rebase(by distance: Int64) {
        pending.shift(by: distance)
        acknowledged = max(acknowledged + distance, 0)
        if let finish { self.finish = finish + distance }
    }

    // MARK: - The peer's acknowledgements

    /// The peer waits for the byte at `number` next.
    mutating func acknowledge(_ number: UInt32, _ passage: Passage, into sink: inout some StreamSink) {
        guard start != .unknown else {
            initial = number
            start = .inferred
            return
        }
        let offset = offset(of: number)
        guard offset > acknowledged, offset - next < 1 << 30 else { return }
        acknowledged = offset
        if !pending.isEmpty { pending.acknowledge(upTo: offset, at: passage.moment) }
        var told = offset
        if let finish, offset >= finish {
            if finishAcknowledged == nil { finishAcknowledged = passage.moment }
            told = finish
        }
        if told > 0 {
            sink.acknowledged(
                by: side.peer, upTo: UInt64(told), at: passage.reference, on: passage.id)
        }
    }

    // MARK: - Bytes

    /// A segment's payload: `bytes` of `length` on the wire, from `sequence` on.
    mutating func receive(
        _ bytes: UnsafeRawBufferPointer, length: Int, sequence: UInt32, _ passage: Passage,
        counters: inout TransportCounters, into sink: inout some StreamSink
    ) {
        if start == .unknown {
            initial = sequence
            start = .inferred
        }
        var offset = offset(of: sequence)
        if length == 1, offset == next - 1 {
            counters.keepAlives += 1
            return
        }
        if offset < 0, start == .inferred, next == 0, !isFinished, offset >= -Int64(passage.limits.plausibleDistance) {
            rebase(by: -offset)
            initial = sequence
            offset = 0
        }
        var bytes = bytes
        var length = length
        if let finish, offset + Int64(length) > finish {
            let kept = Int(max(finish - offset, 0))
            counters.lateBytes += length - kept
            bytes = UnsafeRawBufferPointer(rebasing: bytes[..<min(kept, bytes.count)])
            length = kept
            guard length > 0 else { return }
        }
        if offset == next, pending.isEmpty {
            deliver(bytes, length: length, at: passage.reference, passage, counters: &counters, into: &sink)
            finishIfReached(passage, into: &sink)
        } else {
            receiveOutOfOrder(
                bytes, length: length, offset: offset, passage, counters: &counters, into: &sink)
        }
    }

    /// Everything but the next bytes with nothing waiting: repeats, overlaps, what fills a gap, what is ahead of one.
    private mutating func receiveOutOfOrder(
        _ bytes: UnsafeRawBufferPointer, length: Int, offset: Int64, _ passage: Passage,
        counters: inout TransportCounters, into sink: inout some StreamSink
    ) {
        var bytes = bytes
        var length = length
        var offset = offset
        let end = offset + Int64(length)
        var isConflict = false
        if offset < next {
            isConflict = history.differs(from: bytes, at: offset)
            if end <= next {
                counters.repeatedSegments += 1
            } else {
                let known = Int(next - offset)
                bytes = UnsafeRawBufferPointer(rebasing: bytes[min(known, bytes.count)...])
                length -= known
                offset = next
            }
        }
        if end > next {
            let before = pending.byteCount
            if offset == next {
                // Fills the gap, or its start, from the packet itself.
                let fitting = pending.first.map { min(length, Int($0.offset - offset)) } ?? length
                let captured = min(fitting, bytes.count)
                deliver(
                    UnsafeRawBufferPointer(rebasing: bytes[..<captured]), length: fitting, at: passage.reference,
                    passage, counters: &counters, into: &sink)
                bytes = UnsafeRawBufferPointer(rebasing: bytes[captured...])
                length -= fitting
                offset += Int64(fitting)
            } else {
                counters.outOfOrderSegments += 1
            }
            if length > 0 {
                let inserted = pending.insert(
                    bytes, at: offset, length: length, reference: passage.reference, arrived: passage.moment,
                    acknowledged: acknowledged)
                isConflict = isConflict || inserted.isConflict
                if inserted.newBytes == 0 { counters.repeatedSegments += 1 }
            }
            drain(passage, counters: &counters, into: &sink)
            note(pendingBefore: before, counters: &counters)
        }
        if isConflict {
            counters.overlapConflicts += 1
            sink.overlapConflict(from: side, at: passage.reference, on: passage.id)
        }
        finishIfReached(passage, into: &sink)
    }

    /// A FIN stands after the byte before `sequence`.
    mutating func receiveFinish(at sequence: UInt32, _ passage: Passage, into sink: inout some StreamSink) {
        if start == .unknown {
            initial = sequence
            start = .inferred
        }
        let offset = offset(of: sequence)
        // A second FIN further on is believed while the first was not reached; one behind is a repeat.
        guard offset >= max(next, pending.end), !isFinished, offset > (finish ?? -1) else { return }
        finish = offset
        finishArrived = passage.moment
        finishAcknowledged = acknowledged >= offset ? passage.moment : nil
        finishIfReached(passage, into: &sink)
    }

    /// Counts a datagram's bytes: of a UDP conversation nothing else is kept.
    mutating func countDatagram(_ bytes: Int) {
        deliveredBytes += bytes
    }

    func note(pendingBefore before: Int, counters: inout TransportCounters) {
        counters.pendingBytes += pending.byteCount - before
        counters.mostPendingBytes = max(counters.mostPendingBytes, counters.pendingBytes)
    }

    /// Goes on at `target`; what lies between is a hole.
    mutating func pass(
        to target: Int64, noticed: PacketReference, cause: HoleCause, _ passage: Passage,
        counters: inout TransportCounters, into sink: inout some StreamSink
    ) {
        let length = Int(target - next)
        guard length > 0 else { return }
        next = target
        counters.holes += 1
        counters.holeBytes += length
        sink.hole(
            length: length, from: side, endOffset: UInt64(next), noticed: noticed,
            span: TimeSpan(lastDelivery, noticed.time), cause: cause, on: passage.id)
    }

    /// Delivers what waits at `next`.
    mutating func drain(
        _ passage: Passage, counters: inout TransportCounters, into sink: inout some StreamSink
    ) {
        while let first = pending.first, first.offset <= next, let segment = pending.removeFirst() {
            // Segments are apart from each other and ahead of what was delivered, so this is exactly `next`.
            segment.bytes.withUnsafeBytes { bytes in
                deliver(
                    bytes, length: segment.length, at: segment.reference, passage, counters: &counters, into: &sink)
            }
        }
    }

    /// Gives bytes at `next` away, and tells the part that was cut off when the packet was captured.
    private mutating func deliver(
        _ bytes: UnsafeRawBufferPointer, length: Int, at reference: PacketReference, _ passage: Passage,
        counters: inout TransportCounters, into sink: inout some StreamSink
    ) {
        if !bytes.isEmpty {
            next += Int64(bytes.count)
            deliveredBytes += bytes.count
            lastDelivery = reference.time
            history.append(bytes, endingAt: next, limit: passage.limits.historyBytes)
            sink.received(bytes, from: side, endOffset: UInt64(next), at: reference, on: passage.id)
        }
        if length > bytes.count {
            pass(
                to: next + Int64(length - bytes.count), noticed: reference, cause: .truncatedPacket, passage,
                counters: &counters, into: &sink)
        }
    }

    mutating func finishIfReached(_ passage: Passage, into sink: inout some StreamSink) {
        guard let finish, finish <= next, !isFinished else { return }
        isFinished = true
        sink.finished(side: side, at: passage.reference, on: passage.id)
    }
}
