internal import EventLoop
internal import SessionTrace

/// The device's TCP connection, with the recording at its side: what is read is recorded once the TLS engine has said what
/// secrets it needs, what is written once the kernel has taken it.
///
/// Confined to the connection's loop.
final class RecordedSocket: DeviceStream {
    /// The socket.
    let stream: TCPStream
    /// When bytes last passed.
    let activity: ConnectionActivity
    /// Told whenever bytes have been sent, so that their acknowledgement is looked for.
    let sentSignal = LoopSignal()

    private let open: () -> RecordedConnection
    private var opened: RecordedConnection?
    private var tape = RecordingTape()
    /// What has been read and not recorded, in order.
    private var pending: [(bytes: [UInt8], at: Instant)] = []
    /// The latest piece, behind `pending`, while it still lies in its reader's memory (`readLending`).
    private var lent: (bytes: UnsafeRawBufferPointer, at: Instant)?
    /// Whether nothing of the connection is recorded.
    private(set) var isLeftOut = false
    /// Offset in the device's stream of the first byte of `pending`.
    private var recordedCount = 0

    /// While it is set, what is read waits for `record`, also over further reads. The reader bounds how much that is.
    var keepsPending = false
    /// Blots credentials out of what is recorded of the device's bytes; nil when there can be none.
    var credentialMask: CredentialMask?

    /// A socket whose recording is begun by `open`, at the first use of `recorded`.
    init(_ stream: TCPStream, activity: ConnectionActivity, open: @escaping () -> RecordedConnection) {
        self.stream = stream
        self.activity = activity
        self.open = open
    }

    var socket: RecordedSocket { self }

    /// The connection as the recording knows it; begins its recording.
    var recorded: RecordedConnection {
        if let opened { return opened }
        let connection = open()
        opened = connection
        return connection
    }

    /// Whether its recording has begun.
    var isRecorded: Bool { opened != nil }

    /// Bytes of the device's stream that have been read.
    var readCount: Int { recordedCount + pending.reduce(lent?.bytes.count ?? 0) { $0 + $1.bytes.count } }

    // MARK: Reading

    nonisolated(nonsending) func read(
        into buffer: UnsafeMutableRawBufferPointer
    ) async throws(SocketError) -> (count: Int, arrival: Instant) {
        if !keepsPending { record(secrets: []) }
        let (count, arrival) = try await receive(into: buffer)
        if count > 0 { pending.append((Array(buffer[..<count]), arrival)) }
        return (count, arrival)
    }

    /// Reads like `read`, without a copy: the bytes in `buffer` must stay until they have been recorded, or until
    /// `endLending`, which is due before the caller waits again.
    nonisolated(nonsending) func readLending(
        into buffer: UnsafeMutableRawBufferPointer
    ) async throws(SocketError) -> (count: Int, arrival: Instant) {
        guard !keepsPending, credentialMask == nil else { return try await read(into: buffer) }
        record(secrets: [])
        let (count, arrival) = try await receive(into: buffer)
        if count > 0 { lent = (UnsafeRawBufferPointer(rebasing: buffer[..<count]), arrival) }
        return (count, arrival)
    }

    /// Copies what was lent and has not been recorded: its memory may change from here on.
    func endLending() {
        guard let lent else { return }
        pending.append((Array(lent.bytes), lent.at))
        self.lent = nil
    }

    /// Reads bytes that no secret is needed for, and records them at once.
    nonisolated(nonsending) func readRecording(
        into buffer: UnsafeMutableRawBufferPointer
    ) async throws(SocketError) -> (count: Int, arrival: Instant) {
        record(secrets: [])
        guard credentialMask == nil else {
            let result = try await read(into: buffer)
            record(secrets: [])
            return result
        }
        let (count, arrival) = try await receive(into: buffer)
        if count > 0 {
            recordedCount += count
            tape.received(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: arrival, to: recorded)
        }
        return (count, arrival)
    }

    private nonisolated(nonsending) func receive(
        into buffer: UnsafeMutableRawBufferPointer
    ) async throws(SocketError) -> (count: Int, arrival: Instant) {
        do throws(SocketError) {
            let (count, arrival) = try await stream.read(into: buffer)
            activity.note(arrival)
            if count == 0 {
                record(secrets: [])
                recordEnd(.finished(.client), at: arrival)
            }
            return (count, arrival)
        } catch {
            noteFailure(error)
            throw error
        }
    }

    nonisolated(nonsending) func waitReadable() async throws(SocketError) {
        try await stream.waitReadable()
    }

    // MARK: Recording

    /// Nothing of the connection is recorded, what has been read included. Only before its recording has begun.
    func leaveOut() {
        isLeftOut = !isRecorded
        if isLeftOut { record(secrets: []) }
    }

    func record(secrets: [UInt8]) {
        if isLeftOut {
            pending = []
            lent = nil
            return
        }
        if !secrets.isEmpty { tape.secrets(secrets, to: recorded) }
        for piece in pending { write(piece.bytes, at: piece.at) }
        pending.removeAll(keepingCapacity: true)
        if let lent {
            recordedCount += lent.bytes.count
            self.lent = nil
            tape.received(lent.bytes, at: lent.at, to: recorded)
        }
    }

    /// Records what has been read up to `offset` in the device's stream, with the bytes of `masked` (offsets in the same
    /// stream) blotted out; what was read beyond stays pending.
    func record(upTo offset: Int, masking masked: Range<Int>? = nil) {
        endLending()
        while let first = pending.first, recordedCount < offset {
            let count = min(first.bytes.count, offset - recordedCount)
            var bytes = Array(first.bytes[..<count])
            if let masked {
                let own = masked.clamped(to: recordedCount..<recordedCount + count)
                for index in own { bytes[index - recordedCount] = 0x2A }
            }
            if count == first.bytes.count {
                pending.removeFirst()
            } else {
                pending[0].bytes.removeFirst(count)
            }
            write(bytes, at: first.at)
        }
    }

    private func write(_ bytes: [UInt8], at time: Instant) {
        recordedCount += bytes.count
        var bytes = bytes
        credentialMask?.mask(&bytes)
        bytes.withUnsafeBytes { tape.received($0, at: time, to: recorded) }
    }

    // MARK: Holding the recording back

    /// From here on nothing is written: it waits until it is known whether it may be (`JourneyWatch`).
    func holdRecording() { tape.hold() }

    /// The TLS handshake with the device is over: what follows is content.
    func handshakeEnded() { tape.handshakeEnded() }

    /// Whether more waits than may.
    var isHoldOverLimit: Bool { tape.isOverLimit }

    /// Writes what was held back, and everything from here on.
    func releaseRecording() { tape.release(to: recorded) }

    /// Writes the handshake of what is still held back, if anything is.
    func withholdIfHeld() {
        if tape.isHolding { tape.withhold(to: recorded) }
    }

    /// Writes the handshake of what was held back, and nothing but events and the end from here on.
    func withholdRecording() { tape.withhold(to: recorded) }

    // MARK: Writing

    nonisolated(nonsending) func write(_ bytes: UnsafeRawBufferPointer) async throws(SocketError) {
        do throws(SocketError) {
            // Piece by piece: what the device answers to the first may arrive before there is room for the last.
            try await stream.write(bytes) { noteSent($0, at: $1) }
        } catch {
            noteFailure(error)
            throw error
        }
    }

    /// `time` is that of the call that sent them. What the device does because of them must not be recorded as earlier.
    private func noteSent(_ bytes: UnsafeRawBufferPointer, at time: Instant) {
        guard bytes.count > 0 else { return }
        activity.note(time)
        guard !isLeftOut else { return }
        tape.sent(bytes, at: time, to: recorded)
        sentSignal.raise()
    }

    private func noteFailure(_ error: SocketError) {
        guard error.isReset || error.isTimeout else { return }
        record(secrets: [])
        // A client that has its answer and closes at once resets: what it acknowledged before counts, and nothing after the
        // reset would.
        _ = recordAcknowledgement()
        recordEnd(.reset(.client), at: WallClock.now())
    }

    func finishWriting() {
        guard !stream.isWritingFinished, stream.isOpen else { return }
        let now = WallClock.now()
        stream.finishWriting()
        recordEnd(.finished(.server), at: now)
        sentSignal.raise()
    }

    // MARK: Ending

    /// The end of a connection of which nothing is recorded is not recorded either: somebody looked whether the port is open.
    private func recordEnd(_ end: RecordingTape.End, at time: Instant) {
        guard isRecorded else { return }
        tape.ended(end, at: time, to: recorded)
    }

    /// The socket is closed, and what the kernel does then has been done.
    func recordClosed(at time: Instant) { opened?.closed(at: time) }

    func close() {
        guard stream.isOpen else { return }
        record(secrets: [])
        recordEnd(.finished(.server), at: WallClock.now())
        stream.close()
    }

    func reset() {
        guard stream.isOpen else { return }
        record(secrets: [])
        recordEnd(.reset(.server), at: WallClock.now())
        stream.reset()
    }

    /// Records what the device's kernel has acknowledged. True when that is everything that was sent, FIN included.
    func recordAcknowledgement() -> Bool {
        guard isRecorded, stream.isOpen, let state = stream.acknowledgement() else { return true }
        let count = min(state.bytesAcknowledged, stream.bytesWritten)
        tape.acknowledged(
            count, includingFinish: state.isFinishAcknowledged, at: WallClock.now(), to: recorded)
        return count == stream.bytesWritten && (!stream.isWritingFinished || state.isFinishAcknowledged)
    }
}
