internal import Glibc

extension Duration {
    /// Whole milliseconds, rounded up, at least 0; what is too long to say becomes the longest (about 292 million years).
    var milliseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (product, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1000)
        guard !overflow else { return UInt64(Int64.max) }
        let rest =
            UInt64(attoseconds / 1_000_000_000_000_000)
            + (attoseconds % 1_000_000_000_000_000 > 0 ? 1 : 0)
        return min(product.addingReportingOverflow(rest).partialValue, UInt64(Int64.max))
    }
}

extension EventLoop {
    /// Calls `action` on the loop when `delay` has passed. For the loop's thread; give the timer back with `recycle`.
    func startTimer(after delay: Duration, _ action: @escaping () -> Void) -> LibUVTimer {
        uv.startTimer(milliseconds: delay.milliseconds, action: action)
    }

    func recycle(_ timer: LibUVTimer) {
        uv.recycle(timer)
    }
}

/// Waiting for time to pass, on a loop.
public enum LoopTimer {
    /// Waits until `duration` has passed (whole milliseconds, never early); throws `CancellationError` when cancelled
    /// before, or when the loop stops. Off a loop the runtime's own clock is used.
    public nonisolated(nonsending) static func sleep(_ duration: Duration)
        async throws(CancellationError)
    {
        guard let loop = EventLoop.current else {
            do { try await Task.sleep(for: duration) } catch { throw CancellationError() }
            return
        }
        guard await loop.sleep(duration, isolation: #isolation) else { throw CancellationError() }
    }
}

extension EventLoop {
    private final class Sleeper: @unchecked Sendable {
        // Sendable: touched by the loop's thread alone.
        var continuation: UnsafeContinuation<Bool, Never>?
        /// How it ended, when it did before anybody waited.
        var isOver: Bool?

        func wait(_ continuation: UnsafeContinuation<Bool, Never>) {
            if let isOver {
                continuation.resume(returning: isOver)
            } else {
                self.continuation = continuation
            }
        }

        func finish(_ isOver: Bool) {
            if self.isOver == nil { self.isOver = isOver }
            let continuation = self.continuation
            self.continuation = nil
            continuation?.resume(returning: isOver)
        }
    }

    /// True when the time is over, false when the task was cancelled or the loop stops.
    func sleep(_ duration: Duration, isolation: isolated (any Actor)?) async -> Bool {
        guard !isStopping else { return false }
        let sleeper = Sleeper()
        let ticket = ticket()
        let timer = startTimer(after: duration) { sleeper.finish(true) }
        onStop(ticket) { sleeper.finish(false) }
        let isOver = await withTaskCancellationHandler(
            operation: {
                _ = isolation
                return await withUnsafeContinuation(isolation: isolation) { continuation in
                    sleeper.wait(continuation)
                }
            },
            onCancel: { execute { sleeper.finish(false) } }, isolation: isolation)
        forgetOnStop(ticket)
        recycle(timer)
        return isOver
    }
}
