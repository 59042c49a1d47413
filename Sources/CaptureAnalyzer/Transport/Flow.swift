internal import SessionTrace
internal import WireFormats

/// A TCP connection or UDP conversation in the flow table.
struct Flow {
    /// Where a flow stands; each phase is a list of the table, in order of time.
    ///
    ///     conversation ──────────────────────────────► (forgotten)
    ///     open ◄──► halfSeen ──► closing ──► ended ──► (forgotten)
    ///                  any ──── idle, table full ────► (forgotten)
    enum Phase: Int {
        /// A UDP conversation.
        case conversation
        case open
        /// One side has finished, and no packet of the other was captured.
        case halfSeen
        /// Over, but packets that were captured late are still taken.
        case closing
        /// Told as closed; remembered so that late packets open nothing new.
        case ended
    }

    let key: FlowKey
    let hash: UInt32
    let id: ConnectionID
    /// Whether the client is the lower of the key's two ends.
    let clientIsLower: Bool
    var phase: Phase
    var client: StreamHalf
    var server: StreamHalf
    /// Packets seen, both sides.
    var packets = 0
    var last: PacketReference
    /// The side whose RST ended it.
    var resetBy: Side?
    /// The sequence number of the SYN that opened the connection before this one on the same ports.
    var previousSYN: UInt32?
    /// Whether its process is known.
    var hasProcess: Bool
    /// When it came into its phase's list: table packet count and packet time.
    var since: PendingSegments.Moment
    /// Neighbours in the list; −1 at the ends.
    var previous: Int32 = -1
    var following: Int32 = -1

    /// The side that sends, given whether the sender is the lower end.
    @inline(__always)
    func side(sourceIsLower: Bool) -> Side { sourceIsLower == clientIsLower ? .client : .server }
}

/// What a segment is to the flow that its ports lead to.
enum Belonging {
    /// Part of it.
    case same
    /// Part of another connection with the same addresses and ports.
    case another
    /// Fits nothing: a stray, a forged reset, an old SYN come late.
    case stray
}

extension Flow {
    /// Decides whether a segment of `side` belongs to this connection.
    ///
    /// | segment | same | another |
    /// |---|---|---|
    /// | SYN | its number is the one known, or can be the start of what was joined in the middle | any other number |
    /// | SYN-ACK | the same, or it acknowledges this client's SYN and the server has sent nothing | any other number |
    /// | after the end | its numbers are near the connection's | not |
    mutating func belonging(
        of segment: TransportUnit.Segment, payloadLength: Int, side: Side, limits: TransportLimits
    ) -> Belonging {
        if segment.flags.contains(.syn), !segment.flags.contains(.rst) {
            return belonging(ofSYN: segment, side: side, limits: limits)
        }
        let isOver = phase == .closing || phase == .ended
        return side == .client
            ? client.belonging(of: segment, payloadLength: payloadLength, isOver: isOver, limits: limits)
            : server.belonging(of: segment, payloadLength: payloadLength, isOver: isOver, limits: limits)
    }

    private func belonging(
        ofSYN segment: TransportUnit.Segment, side: Side, limits: TransportLimits
    ) -> Belonging {
        let half = side == .client ? client : server
        let peer = side == .client ? server : client
        let first = segment.sequence &+ 1
        let isAnswer = segment.flags.contains(.ack)
        if half.start == .seen, half.initial == first { return .same }
        if !isAnswer, previousSYN == segment.sequence { return .stray }
        if isAnswer, peer.start != .unknown, half.isUntouched {
            let acknowledged = peer.offset(of: segment.acknowledgement)
            if acknowledged >= 0, acknowledged <= max(peer.next, 1 << 16) { return .same }
        }
        switch half.start {
        case .seen:
            return .another
        case .unknown:
            return phase == .open && peer.isUntouched ? .same : .another
        case .inferred:
            let distance = Int32(bitPattern: half.initial &- first)
            return distance >= 0 && distance <= limits.plausibleResetDistance ? .same : .another
        }
    }
}

extension Flow {
    /// Takes a segment of `side` that belongs here.
    mutating func receive(
        _ unit: TransportUnit, _ segment: TransportUnit.Segment, from side: Side, _ passage: Passage,
        counters: inout TransportCounters, into sink: inout some StreamSink
    ) {
        if segment.flags.contains(.rst), resetBy == nil { resetBy = side }
        if side == .client {
            Self.pass(
                unit, segment, from: &client, to: &server, passage, counters: &counters, into: &sink)
        } else {
            Self.pass(
                unit, segment, from: &server, to: &client, passage, counters: &counters, into: &sink)
        }
    }

    private static func pass(
        _ unit: TransportUnit, _ segment: TransportUnit.Segment, from sender: inout StreamHalf,
        to receiver: inout StreamHalf, _ passage: Passage, counters: inout TransportCounters,
        into sink: inout some StreamSink
    ) {
        sender.hasSent = true
        // A reset's acknowledgement proves nothing, and its payload, if any, is a diagnostic (RFC 9293 §3.5.3).
        guard !segment.flags.contains(.rst) else { return }
        var sequence = segment.sequence
        if segment.flags.contains(.syn) {
            sequence &+= 1
            sender.begin(at: sequence)
        }
        if segment.flags.contains(.ack) { receiver.acknowledge(segment.acknowledgement, passage, into: &sink) }
        if unit.payloadLength > 0 {
            sender.receive(
                unit.payload, length: unit.payloadLength, sequence: sequence, passage, counters: &counters,
                into: &sink)
            sequence &+= UInt32(truncatingIfNeeded: unit.payloadLength)
        }
        if segment.flags.contains(.fin) { sender.receiveFinish(at: sequence, passage, into: &sink) }
        sender.settle(peerIsSeen: receiver.hasSent, passage, counters: &counters, into: &sink)
        receiver.settle(peerIsSeen: true, passage, counters: &counters, into: &sink)
    }

    /// Counts a datagram.
    mutating func countDatagram(_ bytes: Int, from side: Side) {
        if side == .client { client.countDatagram(bytes) } else { server.countDatagram(bytes) }
    }

    /// The phase that the connection's state asks for while it is not over.
    var livePhase: Phase {
        if resetBy != nil || client.isDone && server.isDone { return .closing }
        if client.isFinished && !server.hasSent || server.isFinished && !client.hasSent { return .halfSeen }
        return .open
    }

    /// How it ended, when its state says so.
    var endCause: ConnectionEnd.Cause? {
        if let resetBy { return .reset(by: resetBy) }
        return client.isDone && server.isDone ? .finished : nil
    }
}
