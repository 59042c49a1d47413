internal import SessionTrace

/// What of a connection reaches its recording: everything, nothing for now, or nothing any more.
///
/// ```
/// running ──hold──► holding ──release──► running
///                      └──withhold──► withheld
/// ```
struct RecordingTape {
    /// How a side ended.
    enum End {
        case finished(Side)
        case reset(Side)
    }

    private enum State {
        case running
        case holding(JourneyHold, isOver: Bool)
        case withheld
    }

    private var state = State.running
    /// Ends that happened while the recording was held back: they come after what is held.
    private var heldEnds: [(end: End, at: Instant)] = []

    /// Whether it is not known yet what may be written.
    var isHolding: Bool { if case .holding = state { true } else { false } }

    /// Whether more is held back than may be.
    var isOverLimit: Bool {
        if case .holding(_, let isOver) = state { isOver } else { false }
    }

    mutating func received(_ bytes: UnsafeRawBufferPointer, at time: Instant, to recorded: RecordedConnection) {
        if case .running = state {
            recorded.received(bytes, at: time)
        } else {
            hold(.received(Array(bytes), at: time))
        }
    }

    mutating func sent(_ bytes: UnsafeRawBufferPointer, at time: Instant, to recorded: RecordedConnection) {
        if case .running = state {
            recorded.sent(bytes, at: time)
        } else {
            hold(.sent(Array(bytes), at: time))
        }
    }

    mutating func secrets(_ lines: [UInt8], to recorded: RecordedConnection) {
        if case .running = state {
            recorded.secrets(lines)
        } else {
            hold(.secrets(lines))
        }
    }

    mutating func acknowledged(
        _ count: UInt64, includingFinish: Bool, at time: Instant, to recorded: RecordedConnection
    ) {
        switch state {
        case .running: recorded.acknowledged(count, includingFinish: includingFinish, at: time)
        // Counts of bytes that are not in the file would acknowledge others.
        case .withheld: if includingFinish { recorded.acknowledged(count, includingFinish: true, at: time) }
        case .holding: hold(.acknowledged(count, includingFinish: includingFinish, at: time))
        }
    }

    mutating func ended(_ end: End, at time: Instant, to recorded: RecordedConnection) {
        if case .holding = state {
            heldEnds.append((end, time))
        } else {
            Self.write(end, at: time, to: recorded)
        }
    }

    private mutating func hold(_ piece: JourneyHold.Piece) {
        guard case .holding(var held, let isOver) = state, !isOver else { return }
        state = .running  // so that the pieces are not copied
        let fits = held.append(piece)
        state = .holding(held, isOver: !fits)
    }

    // MARK: -

    mutating func hold() {
        if case .running = state { state = .holding(JourneyHold(), isOver: false) }
    }

    mutating func handshakeEnded() {
        guard case .holding(var held, let isOver) = state else { return }
        held.handshakeEnded()
        state = .holding(held, isOver: isOver)
    }

    mutating func release(to recorded: RecordedConnection) {
        guard case .holding(var held, _) = state else { return }
        state = .running
        write(held.takeAll(), to: recorded)
    }

    mutating func withhold(to recorded: RecordedConnection) {
        switch state {
        case .running: state = .withheld
        case .holding(var held, _):
            state = .withheld
            write(held.takeHandshake(), to: recorded)
        case .withheld: break
        }
    }

    private mutating func write(_ pieces: [JourneyHold.Piece], to recorded: RecordedConnection) {
        for piece in pieces {
            switch piece {
            case .received(let bytes, let time): bytes.withUnsafeBytes { recorded.received($0, at: time) }
            case .sent(let bytes, let time): bytes.withUnsafeBytes { recorded.sent($0, at: time) }
            case .secrets(let lines): recorded.secrets(lines)
            case .acknowledged(let count, let finish, let time):
                recorded.acknowledged(count, includingFinish: finish, at: time)
            }
        }
        for held in heldEnds { Self.write(held.end, at: held.at, to: recorded) }
        heldEnds = []
    }

    private static func write(_ end: End, at time: Instant, to recorded: RecordedConnection) {
        switch end {
        case .finished(let side): recorded.finished(side, at: time)
        case .reset(let side): recorded.reset(side, at: time)
        }
    }
}
