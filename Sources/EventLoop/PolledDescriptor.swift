internal import Glibc
internal import SessionTrace

/// A non-blocking descriptor on a loop: what is known of its readiness, and who waits for it.
///
/// Edge-triggered: operations are tried first; only after the kernel said "would block" does a task wait for the change.
/// The descriptor enters the loop's epoll set with the first wait and leaves it on `close`.
final class PolledDescriptor: @unchecked Sendable {
    // Sendable: touched only by the loop's thread; other threads hold references and reach it through `loop.execute`.

    /// What a task can wait for; one task each.
    enum Interest: Int {
        case reading, writing, ending, failing
    }

    private struct Waiter {
        let continuation: UnsafeContinuation<Int32, Never>
        let ticket: UInt64
    }

    let loop: EventLoop
    /// The descriptor's number; −1 once closed.
    private(set) var number: Int32
    /// Its name in the loop's set; nil while not entered.
    var token: UInt64?

    /// Whether reading may give something (true until the kernel said otherwise).
    var isReadable = true
    /// Whether writing may be taken.
    var isWritable = true
    /// FIN or worse has been seen from the peer.
    private(set) var isPeerFinished = false
    /// A short read says nothing about what is left (urgent data is in the stream).
    private(set) var hasUrgentData = false
    /// The socket's error, kept here because the kernel tells it once.
    var failure: Int32 = 0
    /// When the loop saw the latest change to readable.
    private(set) var readableSince: Instant?

    private var reading: Waiter?
    private var writing: Waiter?
    private var ending: Waiter?
    private var failing: Waiter?

    init(_ number: Int32, on loop: EventLoop) {
        self.number = number
        self.loop = loop
    }

    var isOpen: Bool { number >= 0 }
    var hasEnded: Bool { isPeerFinished || failure != 0 }

    /// Waits for a change; whoever calls has set `isReadable` or `isWritable` to false, since the wait ends at once while it
    /// is true. 0 when the change came, else an error number: ECANCELED, EBADF when closed meanwhile, ETIMEDOUT, EBUSY
    /// when another task waits for the same.
    func wait(for interest: Interest, timeout: Duration? = nil, isolation: isolated (any Actor)?)
        async -> Int32
    {
        loop.checkIsolated()
        guard number >= 0 else { return EBADF }
        if token == nil {
            let code = loop.add(self)
            if code != 0 { return code }
        }
        let ticket = loop.ticket()
        let timer = timeout.map { timeout in
            loop.startTimer(after: timeout) { [self] in wake(interest, ticket: ticket, with: ETIMEDOUT) }
        }
        let code = await withTaskCancellationHandler(
            operation: {
                _ = isolation
                return await withUnsafeContinuation(isolation: isolation) { continuation in
                    // The task may have been queued once more on its way here, so anything can have happened meanwhile.
                    if number < 0 {
                        continuation.resume(returning: loop.isStopping ? ECANCELED : EBADF)
                    } else if Task.isCancelled {
                        continuation.resume(returning: ECANCELED)
                    } else if hasHappened(interest) {
                        continuation.resume(returning: 0)
                    } else if let timer, !timer.isRunning {
                        continuation.resume(returning: ETIMEDOUT)
                    } else if !store(Waiter(continuation: continuation, ticket: ticket), for: interest) {
                        continuation.resume(returning: EBUSY)
                    }
                }
            },
            onCancel: {
                // On any thread. Before the waiter is stored it finds nobody, and the check above sees the cancellation.
                loop.execute { [self] in wake(interest, ticket: ticket, with: ECANCELED) }
            }, isolation: isolation)
        if let timer { loop.recycle(timer) }
        return code
    }

    private func hasHappened(_ interest: Interest) -> Bool {
        switch interest {
        case .reading: isReadable
        case .writing: isWritable
        case .ending: hasEnded
        case .failing: failure != 0
        }
    }

    private func store(_ waiter: Waiter, for interest: Interest) -> Bool {
        switch interest {
        case .reading:
            guard reading == nil else { return false }
            reading = waiter
        case .writing:
            guard writing == nil else { return false }
            writing = waiter
        case .ending:
            guard ending == nil else { return false }
            ending = waiter
        case .failing:
            guard failing == nil else { return false }
            failing = waiter
        }
        return true
    }

    private func wake(_ interest: Interest, ticket: UInt64? = nil, with code: Int32) {
        let waiter: Waiter?
        switch interest {
        case .reading: waiter = reading
        case .writing: waiter = writing
        case .ending: waiter = ending
        case .failing: waiter = failing
        }
        guard let waiter, ticket == nil || waiter.ticket == ticket else { return }
        switch interest {
        case .reading: reading = nil
        case .writing: writing = nil
        case .ending: ending = nil
        case .failing: failing = nil
        }
        waiter.continuation.resume(returning: code)
    }

    /// A change that the kernel told.
    func changed(_ events: EpollSet.Events, at instant: Instant) {
        let isOver = !events.isDisjoint(with: [.failed, .hungUp])
        if isOver, failure == 0 { failure = LinuxSocket.takeError(number) }
        if isOver || events.contains(.peerFinished) { isPeerFinished = true }
        if events.contains(.urgent) { hasUrgentData = true }
        if isOver || !events.isDisjoint(with: [.readable, .peerFinished, .urgent]) {
            isReadable = true
            readableSince = instant
            wake(.reading, with: 0)
        }
        if isOver || events.contains(.writable) {
            isWritable = true
            wake(.writing, with: 0)
        }
        if isPeerFinished { wake(.ending, with: 0) }
        if failure != 0 { wake(.failing, with: 0) }
    }

    /// Closes the descriptor and wakes whoever waits, with EBADF. A second call does nothing.
    func close() {
        guard number >= 0 else { return }
        loop.remove(self)
        Glibc.close(number)
        number = -1
        let code = loop.isStopping ? ECANCELED : EBADF
        wake(.reading, with: code)
        wake(.writing, with: code)
        wake(.ending, with: code)
        wake(.failing, with: code)
    }

    /// Closes from wherever the owner was let go.
    func abandon() {
        if loop.isCurrent {
            close()
        } else {
            loop.execute { [self] in close() }
        }
    }
}
