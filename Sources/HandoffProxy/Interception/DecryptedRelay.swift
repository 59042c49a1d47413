internal import Crypto
internal import EventLoop
internal import SessionTrace

/// Relays plaintext between a device and its origin, verbatim, once both handshakes are done. Confined to the connection
/// that owns it; each direction is one task.
///
/// What one side ends, the other is told in the same way: close_notify as close_notify, FIN as FIN, RST as RST; the other
/// direction goes on. Nothing is read from one side while the other has not taken everything.
final class DecryptedRelay {
    /// A direction.
    enum Direction: Hashable, Sendable {
        case up, down

        /// Who sends in it.
        var sender: Side { self == .up ? .client : .server }
    }

    /// How a direction ended.
    enum End: Hashable, Sendable {
        /// The sender's end was passed on.
        case finished
        /// One side is gone, or its TLS is broken: the whole connection has ended.
        case broken(Side, reason: String)
    }

    /// Longest wait in one piece while a fault delays something.
    private static let delaySlice: Duration = .milliseconds(100)

    let device: TLSEnd
    let origin: TLSEnd
    /// How the device took our leaf.
    private(set) var reception: LeafReception
    /// The watch over plaintext that may have to be withheld; nil for most connections.
    private let journey: JourneyStage?
    /// What tampers with the plaintext; nil for most connections.
    private let faults: FaultInjection?
    private var isOver = false
    /// Whether the origin ended its side before the device said anything: a device that closes then only answers.
    private var originEndedFirst = false
    /// Why the origin ended TLS before it said anything; nil when it did not. In TLS 1.3 that is how it refuses a client's
    /// certificate, or the lack of one: our handshake is complete by then (RFC 8446 §4.4.2.4).
    private(set) var originFailure: TLSEndError?
    private var hasOriginSpoken = false

    init(
        device: TLSEnd, origin: TLSEnd, reception: LeafReception, journey: JourneyStage? = nil,
        faults: FaultInjection? = nil
    ) {
        self.device = device
        self.origin = origin
        self.reception = reception
        self.journey = journey
        self.faults = faults
    }

    /// Whether the device closed after a finished handshake, without a byte and before the origin did.
    var isLeafSuspected: Bool { reception.outcome == .suspected && !originEndedFirst }

    /// Runs one direction to its end. When it breaks, both sides are closed, so that the other direction ends too.
    nonisolated(nonsending) func run(_ direction: Direction) async -> End {
        let (sender, receiver) = direction == .up ? (device, origin) : (origin, device)
        do throws(TLSEndError) {
            var received = try drain(sender, direction, receiver)
            while true {
                try await passOn(received, direction, sender, receiver)
                if received == .finished || isOver { return .finished }
                received = try await sender.receive { plaintext throws(TLSFailure) in
                    try self.pass(plaintext, direction, to: receiver)
                }
            }
        } catch {
            return await breakOff(error, direction, sender, receiver)
        }
    }

    private func drain(
        _ sender: TLSEnd, _ direction: Direction, _ receiver: TLSEnd
    ) throws(TLSEndError) -> TLSEnd.Received {
        do throws(TLSFailure) {
            return try sender.drain { plaintext throws(TLSFailure) in
                try self.pass(plaintext, direction, to: receiver)
            }
        } catch {
            throw .tls(error)
        }
    }

    private func pass(
        _ plaintext: UnsafeRawBufferPointer, _ direction: Direction, to receiver: TLSEnd
    ) throws(TLSFailure) {
        if direction == .up { reception.observe(.applicationByte) } else { hasOriginSpoken = true }
        guard journey != nil || faults != nil else { return try receiver.engine.write(plaintext) }
        let time = time(of: direction)
        // With faults, the device's journey is what it was sent, not what the origin said.
        if direction == .up || faults == nil { journey?.saw(plaintext, from: direction.sender, at: time) }
        if let faults {
            faults.take(plaintext, from: direction.sender, at: time)
        } else {
            try receiver.engine.write(plaintext)
        }
    }

    private func time(of direction: Direction) -> Instant {
        (direction == .up ? device : origin).latestArrival ?? WallClock.now()
    }

    private nonisolated(nonsending) func passOn(
        _ received: TLSEnd.Received, _ direction: Direction, _ sender: TLSEnd, _ receiver: TLSEnd
    ) async throws(TLSEndError) {
        if received != .open { noteEnd(direction) }
        do throws(SocketError) {
            if let faults {
                try await perform(faults.takeActions(of: direction.sender), faults)
            } else {
                if received == .closed { receiver.engine.closeNotify() }
                if receiver.engine.hasOutput {
                    try await receiver.flush { !sender.transport.hasFailed && !self.isOver }
                }
                if received == .finished { receiver.transport.finishWriting() }
            }
            // An answer of the engine's own: to a KeyUpdate, or to an attempt at renegotiation.
            if sender.engine.hasOutput { try await sender.flush { !self.isOver } }
        } catch {
            throw .socket(error)
        }
    }

    private func noteEnd(_ direction: Direction) {
        switch direction {
        case .up: reception.observe(.closed)
        case .down: if case .open = reception.outcome { originEndedFirst = true }
        }
        journey?.finished(direction.sender, at: time(of: direction))
        faults?.finished(direction.sender)
    }

    // MARK: Faults

    private nonisolated(nonsending) func perform(
        _ actions: [FaultStage.Action], _ faults: FaultInjection
    ) async throws(SocketError) {
        for action in actions {
            if isOver { return }
            switch action {
            case .toOrigin(let bytes): try await send(bytes, to: origin)
            case .toClient(let bytes):
                bytes.withUnsafeBytes { journey?.saw($0, from: .server, at: WallClock.now()) }
                try await send(bytes, to: device)
            case .wait(let duration): await wait(duration)
            case .fault(let record): faults.report(record)
            case .finishOrigin: try await finish(origin)
            case .finishClient: try await finish(device)
            case .close:
                isOver = true
                try? await finish(device)
                try? await finish(origin)
                close()
            case .reset:
                isOver = true
                device.transport.reset()
                origin.transport.close()
            }
        }
    }

    private nonisolated(nonsending) func send(_ bytes: [UInt8], to end: TLSEnd) async throws(SocketError) {
        do {
            try bytes.withUnsafeBytes { try end.engine.write($0) }
        } catch {
            // The end was announced already: nothing more can be said to that side.
            return
        }
        try await end.flush { !self.isOver }
    }

    private nonisolated(nonsending) func finish(_ end: TLSEnd) async throws(SocketError) {
        end.engine.closeNotify()
        try await end.flush()
        end.transport.finishWriting()
    }

    private nonisolated(nonsending) func wait(_ duration: Duration) async {
        var left = duration
        while left > .zero, !isOver, !device.transport.hasFailed {
            do { try await LoopTimer.sleep(min(left, Self.delaySlice)) } catch { return }
            left -= Self.delaySlice
        }
    }

    // MARK: The end

    private nonisolated(nonsending) func breakOff(
        _ error: TLSEndError, _ direction: Direction, _ sender: TLSEnd, _ receiver: TLSEnd
    ) async -> End {
        // The other direction broke first and has closed both sides.
        guard !isOver else { return .finished }
        isOver = true
        let isReceiversFault = receiver.transport.hasFailed && !sender.transport.hasFailed
        let culprit = isReceiversFault ? direction.sender.peer : direction.sender
        if culprit == .client {
            if let alert = device.engine.peerAlert { reception.observe(.alert(alert)) }
            reception.observe(.closed)
        }
        if culprit == .server, !hasOriginSpoken, case .tls(let failure) = error, failure.kind == .peerAlert {
            originFailure = error
        }
        switch error {
        case .tls:
            // What the engines have to say about it: an alert.
            try? await sender.flush { false }
            try? await receiver.flush { false }
        case .socket, .unwanted:
            // The broken side's RST is passed on.
            if sender.transport.hasFailed { receiver.transport.reset() }
            if receiver.transport.hasFailed { sender.transport.reset() }
        }
        close()
        return .broken(culprit, reason: error.reason)
    }

    /// Ends both directions at once.
    func close() {
        isOver = true
        device.transport.close()
        origin.transport.close()
    }
}
