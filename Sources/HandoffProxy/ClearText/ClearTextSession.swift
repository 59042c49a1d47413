internal import EventLoop
internal import SessionTrace

/// One client of clear-text requests, and the origin that it talks to at the moment. Confined to the connection's loop.
final class ClearTextSession {
    /// How the client's connection ends.
    enum Ending: Equatable {
        /// In order, once the client has what it was sent.
        case close
        case reset
        /// It is handed to the proxy itself.
        case local([UInt8], HostName)
    }

    let device: any DeviceStream
    var relay: ProxyFormRelay
    /// The faults of the connection to the origin.
    var stage: FaultStage?
    /// The watch over what may have to be withheld; nil while all of it may be recorded.
    var journey: JourneyStage?
    /// The words of each watch, in order; ends with the session.
    let tellings: AsyncStream<JourneyTelling>
    let newTelling: AsyncStream<JourneyTelling>.Continuation
    /// The origin's connection.
    var upstream: TCPStream?
    /// The origin's connection whose end has been read.
    var finished: TCPStream?
    /// The client's end has been read.
    var isClientFinished = false
    private(set) var ending: Ending?

    /// Raised when the client's next bytes may go on.
    let resumeSignal = LoopSignal()
    /// Raised when another origin is connected, or the end has come.
    let upstreamSignal = LoopSignal()
    /// Raised when the end has come.
    let isOverSignal = LoopSignal()
    /// Never raised.
    let neverSignal = LoopSignal()
    private let clientTurn = Turn()
    private let originTurn = Turn()

    init(device: any DeviceStream) {
        self.device = device
        (tellings, newTelling) = AsyncStream.makeStream()
        relay = ProxyFormRelay { Destination.localNames.contains($0.text) }
    }

    /// Whether nothing more is to be done.
    var isOver: Bool { ending != nil }

    /// Whether both ends have been passed on: nothing is cut.
    var hasFinishedBothWays: Bool {
        guard let upstream else { return true }
        return isClientFinished && finished === upstream
    }

    /// The end has come. The first reason counts.
    func end(_ ending: Ending) {
        guard self.ending == nil else { return }
        self.ending = ending
        isOverSignal.raise()
    }

    /// A socket failed: the other side breaks off too. Cancellation is no failure.
    func fail(_ error: SocketError) {
        if !error.isCancelled { end(.reset) }
    }

    /// Lets the client's task look again whether it may go on.
    func wakeClientSide() {
        if relay.canResume || !relay.isClientPaused { resumeSignal.raise() }
    }

    /// Ends the connection to the origin.
    func leaveOrigin(reset: Bool) {
        guard let upstream else { return }
        self.upstream = nil
        stage = nil
        if reset { upstream.reset() } else { upstream.close() }
        upstreamSignal.raise()
    }

    /// Sends to the origin that is connected; to nobody when it has been left.
    nonisolated(nonsending) func toOrigin(_ bytes: [UInt8], on loop: EventLoop) async throws(SocketError) {
        guard let upstream else { return }
        let buffer = HeapBuffer(bytes)
        defer { withExtendedLifetime(buffer) {} }
        await originTurn.take(on: loop)
        defer {
            originTurn.giveBack()
            // The memory is borrowed until the write has ended.
            withExtendedLifetime(buffer) {}
        }
        do throws(SocketError) {
            try await upstream.write(UnsafeRawBufferPointer(buffer.bytes))
        } catch {
            // An origin that takes no more may have answered: what it said is read to its end, which ends this too.
            if error.isCancelled || finished === upstream { throw error }
        }
    }

    /// Sends to the client.
    nonisolated(nonsending) func toClient(_ bytes: [UInt8], on loop: EventLoop) async throws(SocketError) {
        await clientTurn.take(on: loop)
        defer { clientTurn.giveBack() }
        try await device.write(bytes)
    }
}

/// Lets tasks of one loop take turns, in the order in which they asked.
final class Turn {
    private var isTaken = false
    private var waiting: [LoopSignal] = []

    /// Returns when it is the caller's turn.
    nonisolated(nonsending) func take(on loop: EventLoop) async {
        if !isTaken {
            isTaken = true
            return
        }
        let signal = LoopSignal()
        waiting.append(signal)
        // Cancelled or not, the turn comes: whoever has it gives it back.
        try? await signal.wait(on: loop)
    }

    /// The next in line may go on.
    func giveBack() {
        guard !waiting.isEmpty else {
            isTaken = false
            return
        }
        waiting.removeFirst().raise()
    }
}
