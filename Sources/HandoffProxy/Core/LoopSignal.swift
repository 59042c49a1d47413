internal import EventLoop

/// Wakes one waiting task of the same loop; a signal that nobody waits for is remembered, once.
final class LoopSignal {
    /// The waiting task, and whether it is to be woken. Touched by the loop's thread alone, which is why it may be handed
    /// to the closure that runs when the task is cancelled: that closure only asks the loop to run another.
    private final class State: @unchecked Sendable {
        // Sendable: as above.
        var isRaised = false
        var isCancelled = false
        var waiter: UnsafeContinuation<Void, Never>?

        func wake() {
            let waiter = waiter
            self.waiter = nil
            waiter?.resume()
        }
    }

    private let state = State()

    /// Wakes the waiting task, or the next that waits.
    func raise() {
        guard state.waiter != nil else {
            state.isRaised = true
            return
        }
        state.wake()
    }

    /// Waits for the signal. Throws when the task is cancelled.
    nonisolated(nonsending) func wait(on loop: EventLoop) async throws(CancellationError) {
        if state.isRaised {
            state.isRaised = false
            return
        }
        let state = state
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                // The task may have been queued once more on its way here, and the signal raised meanwhile.
                if state.isCancelled {
                    continuation.resume()
                } else if state.isRaised {
                    state.isRaised = false
                    continuation.resume()
                } else {
                    state.waiter = continuation
                }
            }
        } onCancel: {
            loop.execute {
                state.isCancelled = true
                state.wake()
            }
        }
        if Task.isCancelled { throw CancellationError() }
    }
}
