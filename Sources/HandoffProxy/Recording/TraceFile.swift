internal import Glibc
internal import SessionTrace
internal import Synchronization
internal import WireFormats

/// The trace file of one device: any thread appends, one thread of its own writes.
///
///     append ─► TraceWriter ─► whole blocks ─► writing thread ─► write(2) ─► follower
///
/// What is appended while nothing waits is written at once; under load, blocks gather for `pause` or until
/// `batchSize`. So the file is never further behind than that and one write, and a busy relay is woken for few writes.
final class TraceFile: Sendable {
    /// Shortest time between two writes, in nanoseconds, unless `batchSize` bytes wait.
    static let pause: UInt64 = 10_000_000
    /// Bytes that are worth a write at once: few enough to be in the processor's cache still.
    static let batchSize = 256 << 10
    /// Space of the queue that is kept for the next batch; more was needed by a burst and is given back.
    private static let keptSpace = 1 << 20

    private struct Following {
        var follower = RecordingFollower()
        /// What a follower that comes later has missed.
        var written: UInt64 = 0
        var ended: FileStatus?
    }

    private enum Writer {
        case busy, waitsForAny, waitsForMany
    }

    private struct State {
        var trace: TraceWriter
        var writer = Writer.busy
        var isEnding = false
        var bytes: UInt64 = 0
        /// Bytes that the writing thread has taken so far.
        var taken: UInt64 = 0
        var stopped: RecordingStop?
        var isComplete = false
    }

    /// Where it is.
    let path: String
    private let queueLimit: Int
    private let monitor: Monitor<State>
    /// False once nothing more can be recorded: appending costs one load then.
    private let isOpen = Atomic(true)
    private let following = Mutex(Following())
    private let onStop: @Sendable (RecordingStop) -> Void
    private let thread = Mutex<pthread_t?>(nil)

    /// Begins to write `trace` to `file`.
    init(
        _ file: consuming BlockFile, trace: TraceWriter, queueLimit: Int,
        onStop: @escaping @Sendable (RecordingStop) -> Void
    ) {
        path = file.path
        self.queueLimit = queueLimit
        self.onStop = onStop
        monitor = Monitor(State(trace: trace))
        start(file)
    }

    /// Whom to tell of what is written. What the file's thread has said before is told again, here: on a disk that is full
    /// already it may have ended by now.
    func follow(_ follower: RecordingFollower) {
        let (written, ended) = following.withLock { following in
            following.follower = follower
            return (following.written, following.ended)
        }
        if written > 0 { follower.onWritten(written) }
        if let ended { follower.onEnded(ended) }
    }

    private func tellWritten(_ size: UInt64) {
        let follower = following.withLock { following in
            following.written = size
            return following.follower
        }
        follower.onWritten(size)
    }

    private func tellEnded() {
        let status = status(device: nil)
        let follower = following.withLock { following in
            following.ended = status
            return following.follower
        }
        follower.onEnded(status)
    }

    /// Records. Waits when `queueLimit` bytes wait to be written: bytes that were relayed are not dropped from the trace
    /// and not heaped up in memory, so a slow disk has to slow down the relay itself. Nothing happens once recording has
    /// stopped; false then.
    @discardableResult
    func append(_ record: (inout TraceWriter) -> Void) -> Bool {
        guard isOpen.load(ordering: .relaxed) else { return false }
        let (isTaken, wakes) = monitor.whenRoom({ [queueLimit] state in
            state.trace.byteCount < queueLimit || state.stopped != nil || state.isEnding
        }) { state -> (Bool, Bool) in
            guard state.stopped == nil, !state.isEnding else { return (false, false) }
            record(&state.trace)
            switch state.writer {
            case .busy: return (true, false)
            case .waitsForAny: return (true, state.trace.byteCount > 0)
            case .waitsForMany: return (true, state.trace.byteCount >= Self.batchSize)
            }
        }
        if wakes { monitor.signalWork() }
        return isTaken
    }

    /// Forgets a connection; what is recorded of it stays. Never waits.
    func forget(_ id: ConnectionID) {
        monitor.withLock { $0.trace.forget(id) }
    }

    /// Ends the file: `finish` writes its last words, everything is written, and the thread has ended on return.
    func end(_ finish: (inout TraceWriter) -> Void) {
        monitor.withLock { state in
            guard !state.isEnding else { return }
            if state.stopped == nil { finish(&state.trace) }
            state.isEnding = true
        }
        isOpen.store(false, ordering: .relaxed)
        monitor.signalWork()
        monitor.signalRoom()
        let running = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        if let running { pthread_join(running, nil) }
    }

    /// Where in the file what is appended next will stand.
    var end: UInt64 {
        monitor.withLock { $0.taken + UInt64($0.trace.byteCount) }
    }

    /// What has become of it.
    func status(device: DeviceKey?) -> FileStatus {
        monitor.withLock { state in
            FileStatus(
                path: path, device: device, bytes: state.bytes, packets: state.trace.packetCount,
                stopped: state.stopped, isComplete: state.isComplete)
        }
    }

    // MARK: The writing thread

    private final class Work {
        let owner: TraceFile
        var file: BlockFile

        init(_ owner: TraceFile, _ file: consuming BlockFile) {
            self.owner = owner
            self.file = file
        }
    }

    private func start(_ file: consuming BlockFile) {
        // Retained here, released by the thread, which is the only one to touch it from then on.
        let work = Unmanaged.passRetained(Work(self, file))
        var identity = pthread_t()
        let result = pthread_create(
            &identity, nil,
            { argument in
                if let argument { TraceFile.run(Unmanaged<Work>.fromOpaque(argument).takeRetainedValue()) }
                return nil
            }, work.toOpaque())
        guard result == 0 else {
            work.release()
            stop(.system(result))
            tellEnded()
            return
        }
        let started = identity
        thread.withLock { $0 = started }
    }

    private static func run(_ work: Work) {
        // Signals belong to others, and a file size limit must be an error, not the end of the process (SIGXFSZ).
        var signals = sigset_t()
        sigfillset(&signals)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        work.owner.write(to: work)
    }

    private func write(to work: Work) {
        var batch: [UInt8] = []
        var nextWrite: UInt64 = 0
        while true {
            let isEnding = take(&batch, notBefore: nextWrite)
            if !batch.isEmpty {
                let stop = batch.withUnsafeBytes { work.file.append($0) }
                let size = work.file.size
                monitor.withLock { $0.bytes = size }
                tellWritten(size)
                if let stop {
                    self.stop(stop)
                    break
                }
                nextWrite = Monitor<State>.now() &+ Self.pause
            } else if isEnding {
                monitor.withLock { $0.isComplete = true }
                break
            }
        }
        tellEnded()
    }

    /// Takes all blocks that wait, as soon as there are enough of them. Returns whether the file is ending.
    private func take(_ batch: inout [UInt8], notBefore: UInt64) -> Bool {
        if batch.capacity > Self.keptSpace { batch = [] }
        batch.removeAll(keepingCapacity: true)
        // Shortly after a write many are waited for at once: to be woken by the first, only to wait on, costs a busy relay
        // as much as the write.
        monitor.withLock { $0.writer = .waitsForMany }
        monitor.whenWork(by: notBefore, { $0.trace.byteCount >= Self.batchSize || $0.isEnding }) {
            $0.writer = .waitsForAny
        }
        let isEnding = monitor.whenWork({ $0.trace.byteCount > 0 || $0.isEnding }) { state in
            state.writer = .busy
            state.trace.exchangeBytes(&batch)
            state.taken += UInt64(batch.count)
            return state.isEnding
        }
        monitor.signalRoom()
        return isEnding
    }

    private func stop(_ reason: RecordingStop) {
        isOpen.store(false, ordering: .relaxed)
        monitor.withLock { state in
            state.stopped = reason
            state.trace.forgetAll()
        }
        monitor.signalRoom()
        onStop(reason)
    }
}
