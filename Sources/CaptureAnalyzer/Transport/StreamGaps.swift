internal import SessionTrace

/// Gaps: how long one may still be filled, and what is told when it is not. Enters: the connection's latest packet, or its
/// end; leaves: holes, and the bytes that waited behind them.
///
/// | a gap | is a hole when |
/// |---|---|
/// | that the peer has acknowledged | enough packets or time went by since (a capture may be out of order, but not by much) |
/// | that the peer has not acknowledged | the connection is over: a retransmission may always come |
/// | of a connection whose peer was not captured | more packets or time went by |
/// | at the end of the stream, nothing behind it | the connection is over and the peer has acknowledged it |
/// | of any kind | a limit is reached (`HoleCause.stateGivenUp` unless acknowledged) |
extension StreamHalf {
    /// Tells the first gap as a hole when it is certain that no packet fills it any more (or a limit is reached), goes on
    /// behind it, and so on. `peerIsSeen`: the peer's packets are in the capture, so that its acknowledgement is awaited.
    mutating func settle(
        peerIsSeen: Bool, _ passage: Passage, counters: inout TransportCounters, into sink: inout some StreamSink
    ) {
        guard isWaiting else { return }
        let before = pending.byteCount
        var pendingElsewhere = counters.pendingBytes - before
        while isWaiting {
            let target: Int64
            let arrived: PendingSegments.Moment?
            let covered: PendingSegments.Moment?
            let reference: PacketReference
            if let first = pending.first {
                (target, arrived, covered, reference) = (
                    first.offset, first.arrived, first.acknowledged, first.reference
                )
            } else {
                (target, arrived, covered, reference) = (
                    finish ?? next, finishArrived, finishAcknowledged, passage.reference
                )
            }
            guard let arrived else { break }
            let isCertain = Self.isCertain(
                arrived: arrived, covered: covered, peerIsSeen: peerIsSeen, passage)
            let isOverLimit =
                pending.byteCount > passage.limits.pendingBytesPerSide
                || pending.count > passage.limits.pendingSegmentsPerSide
                || pendingElsewhere + pending.byteCount > passage.limits.pendingBytes
            guard isCertain || isOverLimit && !pending.isEmpty else { break }
            pass(
                to: target, noticed: reference, cause: isCertain || covered != nil ? .notCaptured : .stateGivenUp,
                passage, counters: &counters, into: &sink)
            drain(passage, counters: &counters, into: &sink)
            finishIfReached(passage, into: &sink)
            pendingElsewhere = max(pendingElsewhere, 0)
        }
        note(pendingBefore: before, counters: &counters)
    }

    private static func isCertain(
        arrived: PendingSegments.Moment, covered: PendingSegments.Moment?, peerIsSeen: Bool, _ passage: Passage
    ) -> Bool {
        let limits = passage.limits
        let since: PendingSegments.Moment
        let packetLimit: Int
        let timeLimit: Int64
        if peerIsSeen {
            guard let covered else { return false }
            since = arrived.later(covered)
            packetLimit = limits.acknowledgedGapPackets
            timeLimit = limits.acknowledgedGapNanoseconds
        } else {
            since = arrived
            packetLimit = limits.oneSidedGapPackets
            timeLimit = limits.oneSidedGapNanoseconds
        }
        let packets = passage.moment.packets - since.packets
        if packets >= packetLimit { return true }
        return packets >= limits.gapMinimumPackets
            && passage.moment.time.nanoseconds(since: since.time) >= timeLimit
    }

    /// The connection is over: what waits is delivered, every gap told. `acknowledged` bytes that never came are a hole
    /// too, but for a single one at the very end, which is a FIN that was not captured.
    mutating func flush(_ passage: Passage, counters: inout TransportCounters, into sink: inout some StreamSink) {
        let before = pending.byteCount
        while let first = pending.first {
            pass(
                to: first.offset, noticed: first.reference, cause: .notCaptured, passage, counters: &counters,
                into: &sink)
            drain(passage, counters: &counters, into: &sink)
        }
        finishIfReached(passage, into: &sink)
        if !isFinished {
            let known = min(finish ?? Int64.max, acknowledged)
            if finish == nil, known == next + 1, start != .unknown {
                isFinished = true
                sink.finished(side: side, at: passage.reference, on: passage.id)
            } else if max(known, finish ?? 0) > next {
                pass(
                    to: max(known, finish ?? 0), noticed: passage.reference, cause: .notCaptured, passage,
                    counters: &counters, into: &sink)
                finishIfReached(passage, into: &sink)
            }
        }
        note(pendingBefore: before, counters: &counters)
        release()
    }

    /// State is given up in the middle: what waits is delivered, and how much follows is not known.
    mutating func giveUp(_ passage: Passage, counters: inout TransportCounters, into sink: inout some StreamSink) {
        guard !isDone else { return }
        let before = pending.byteCount
        while let first = pending.first {
            pass(
                to: first.offset, noticed: first.reference, cause: .stateGivenUp, passage, counters: &counters,
                into: &sink)
            drain(passage, counters: &counters, into: &sink)
        }
        note(pendingBefore: before, counters: &counters)
        counters.holes += 1
        sink.hole(
            length: nil, from: side, endOffset: UInt64(next), noticed: passage.reference,
            span: TimeSpan(passage.reference.time, .distantFuture), cause: .stateGivenUp, on: passage.id)
        acknowledged = min(acknowledged, next)
        finish = nil
    }

    private mutating func release() {
        pending.clear()
        history.clear()
    }

}
