internal import EventLoop
internal import SessionTrace

/// A tunnel in clear text whose bytes are looked at on their way: for faults, and for what may have to be withheld.
/// Confined to its connection's loop.
final class ClearTunnel {
    let device: any DeviceStream
    let upstream: TCPStream
    let journey: JourneyStage?
    let faults: FaultInjection?
    /// A fault has ended both directions.
    var isOver = false
    /// Whether everything that the device sent before its end has been passed on.
    var isUpDone = false
    /// Raised when `isOver` becomes true.
    let isOverSignal = LoopSignal()
    private let deviceTurn = Turn()
    private let originTurn = Turn()

    init(device: any DeviceStream, upstream: TCPStream, journey: JourneyStage?, faults: FaultInjection?) {
        self.device = device
        self.upstream = upstream
        self.journey = journey
        self.faults = faults
    }

    /// Takes bytes that `side` sent, and does what they lead to. Those of the device are recorded once it is known
    /// whether they may be.
    nonisolated(nonsending) func pass(
        _ bytes: UnsafeRawBufferPointer, from side: Side, at time: Instant, on loop: EventLoop
    ) async throws(SocketError) {
        // With faults, the device's journey is what it was sent, not what the origin said.
        if side == .client || faults == nil { journey?.saw(bytes, from: side, at: time) }
        if side == .client { device.record(secrets: []) }
        if let faults {
            faults.take(bytes, from: side, at: time)
            try await perform(faults.takeActions(of: side), faults, on: loop)
        } else if side == .client {
            try await upstream.write(bytes)
        } else {
            try await device.write(bytes)
        }
    }

    /// `side` sends no more, and the other is told so.
    nonisolated(nonsending) func finish(_ side: Side, at time: Instant, on loop: EventLoop) async throws(SocketError) {
        journey?.finished(side, at: time)
        if let faults {
            faults.finished(side)
            try await perform(faults.takeActions(of: side), faults, on: loop)
        } else if side == .client {
            upstream.finishWriting()
        } else {
            device.finishWriting()
        }
    }

    private nonisolated(nonsending) func perform(
        _ actions: [FaultStage.Action], _ faults: FaultInjection, on loop: EventLoop
    ) async throws(SocketError) {
        for action in actions {
            if isOver { return }
            switch action {
            case .toOrigin(let bytes):
                let buffer = HeapBuffer(bytes)
                await originTurn.take(on: loop)
                defer { originTurn.giveBack() }
                try await upstream.write(UnsafeRawBufferPointer(buffer.bytes))
            case .toClient(let bytes):
                bytes.withUnsafeBytes { journey?.saw($0, from: .server, at: WallClock.now()) }
                let buffer = HeapBuffer(bytes)
                await deviceTurn.take(on: loop)
                defer { deviceTurn.giveBack() }
                try await device.write(UnsafeRawBufferPointer(buffer.bytes))
            case .wait(let duration):
                do { try await LoopTimer.sleep(duration) } catch { return }
            case .fault(let record): faults.report(record)
            case .finishOrigin: upstream.finishWriting()
            case .finishClient: device.finishWriting()
            case .close:
                device.finishWriting()
                upstream.close()
                end()
            case .reset:
                device.reset()
                upstream.close()
                end()
            }
        }
    }

    private func end() {
        isOver = true
        isOverSignal.raise()
    }
}
