internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// The word between the writer of a trace and a reader that follows the file while it grows.
///
/// The writer says how far the file has grown, and when it ends; the reader waits for that instead of taking the end of
/// what is there for the end of the trace. Whoever needs to know what the reader learnt up to a place in the file asks
/// with `whenRead`.
public final class TraceGrowth: Sendable {
    private struct State {
        var written: UInt64 = 0
        var read: UInt64 = 0
        var hasEnded = false
        var isWaiting = false
        /// How far the file had grown when the writer rested; what lies before need not be gathered.
        var rested: UInt64 = 0
        var actions: [(offset: UInt64, run: @Sendable () -> Void)] = []
        var idle: @Sendable () -> Void = {}
    }

    /// How long nothing may be written before the reader takes what there is, in milliseconds: the writer's next batch comes
    /// sooner when there is one.
    private static let quiet: Int32 = 20
    /// How long the reader waits for quiet, in nanoseconds. A relay that is busy for a moment has the processor for itself
    /// meanwhile.
    private static let patience: Int64 = 500_000_000
    /// How many bytes a reader may be behind that can still be there in the time of a handshake or two.
    static let hurryLimit: UInt64 = 4 << 20

    private let state = Mutex(State())
    /// A pipe that wakes the reader; a byte in it means: look again.
    private let wakeReader: Int32
    private let wakeWriter: Int32

    /// Makes the word for one file; nil when the process has no descriptor left.
    public init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        wakeReader = ends[0]
        wakeWriter = ends[1]
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    }

    deinit {
        close(wakeReader)
        close(wakeWriter)
    }

    /// The file holds `count` bytes now, all of them whole blocks.
    public func wrote(upTo count: UInt64) {
        wake { $0.written = max($0.written, count) }
    }

    /// Nothing more will be written.
    public func end() {
        wake { $0.hasEnded = true }
    }

    /// Runs `action` on the reader's thread once it has read, and given as events, everything up to byte `offset`; at once
    /// when it has, and at the latest when it has ended.
    public func whenRead(upTo offset: UInt64, _ action: @escaping @Sendable () -> Void) {
        let isDue = state.withLock { state in
            if state.read >= offset { return true }
            state.actions.append((offset, action))
            return false
        }
        if isDue { action() } else { wake { _ in } }
    }

    /// Has the reader read on at once up to byte `offset`, whether or not the writer rests. One that is far behind would not be
    /// there in time, and only take the processor from a relay that needs it: it goes on as before.
    public func hurry(upTo offset: UInt64) {
        let isNear = state.withLock { state in
            guard offset > state.read, offset - state.read <= Self.hurryLimit else { return false }
            state.actions.append((offset, {}))
            return true
        }
        if isNear { wake { _ in } }
    }

    /// Whether somebody waits for the reader, so that it does not wait for the writer to rest.
    var isHurried: Bool { state.withLock { !$0.actions.isEmpty } }

    /// Has `action` called on the reader's thread each time it has read all that was written, before it waits.
    public func whenIdle(_ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.idle = action }
    }

    // MARK: The reader's side

    /// Nothing more will be read, whatever is still written: what waits to be read is waited for no longer.
    public func giveUpReading() {
        readerReached(.max)
    }

    /// How many bytes of whole blocks lie behind the `offset` bytes that have been read: waits until there are some; nil
    /// when there never will be.
    ///
    /// The reader takes no byte beyond, so that a block that its writer has to take back is never seen.
    func bytesToRead(behind offset: UInt64) -> UInt64? {
        readerReached(offset)
        var hasToldIdle = false
        while true {
            let (written, ended) = state.withLock { state in
                state.isWaiting = state.written <= offset && !state.hasEnded && hasToldIdle
                return (state.written, state.hasEnded)
            }
            if written > offset { return gather(from: written, behind: offset) }
            if ended {
                readerReached(.max)
                return nil
            }
            if !hasToldIdle {
                hasToldIdle = true
                state.withLock(\.idle)()
                continue
            }
            var byte: UInt8 = 0
            _ = read(wakeReader, &byte, 1)
        }
    }

    /// Waits until the writer rests, so that many small batches are read as one, unless somebody asks for what is there.
    private func gather(from first: UInt64, behind offset: UInt64) -> UInt64 {
        guard state.withLock({ $0.rested != $0.written }) else { return first - offset }
        var written = first
        let start = Self.now()
        while Self.now() - start < Self.patience {
            let mayWait = state.withLock { state in
                state.isWaiting = state.actions.isEmpty && !state.hasEnded && state.written == written
                return state.isWaiting
            }
            if mayWait {
                var wish = pollfd(fd: wakeReader, events: Int16(POLLIN), revents: 0)
                guard poll(&wish, 1, Self.quiet) > 0 else {
                    state.withLock { $0.rested = written }
                    break
                }
                var byte: UInt8 = 0
                _ = read(wakeReader, &byte, 1)
            }
            let (now, isUrgent) = state.withLock { ($0.written, !$0.actions.isEmpty || $0.hasEnded) }
            written = now
            if isUrgent { break }
        }
        return state.withLock { state in
            // A byte that is on its way wakes the next wait for nothing, once.
            state.isWaiting = false
            return state.written - offset
        }
    }

    private static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Everything whole up to `offset` has been given as events.
    private func readerReached(_ offset: UInt64) {
        let due = state.withLock { state -> [@Sendable () -> Void] in
            state.read = max(state.read, offset)
            guard !state.actions.isEmpty else { return [] }
            let reached = state.read
            let due = state.actions.filter { $0.offset <= reached }.map(\.run)
            state.actions.removeAll { $0.offset <= reached }
            return due
        }
        for action in due { action() }
    }

    private func wake(_ change: (inout State) -> Void) {
        let isWaiting = state.withLock { state in
            change(&state)
            defer { state.isWaiting = false }
            return state.isWaiting
        }
        guard isWaiting else { return }
        var byte: UInt8 = 0
        _ = write(wakeWriter, &byte, 1)
    }
}
