internal import Synchronization

/// Hands live events to everyone who listens; a listener that falls behind loses its oldest events, and holds nobody up.
final class LiveEvents: Sendable {
    private struct State {
        var listeners: [Int: AsyncStream<LiveEvent>.Continuation] = [:]
        var next = 0
        var isFinished = false
    }

    private let state = Mutex(State())
    private let backlog: Int

    /// `backlog`: events that each listener may fall behind.
    init(backlog: Int) {
        self.backlog = max(1, backlog)
    }

    /// A new listener; its stream ends with `finish`.
    func subscribe() -> AsyncStream<LiveEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: LiveEvent.self, bufferingPolicy: .bufferingNewest(backlog))
        let number: Int? = state.withLock { state in
            guard !state.isFinished else { return nil }
            state.next += 1
            state.listeners[state.next] = continuation
            return state.next
        }
        guard let number else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.listeners.removeValue(forKey: number) }
        }
        return stream
    }

    /// Hands `event` to all listeners.
    func post(_ event: LiveEvent) {
        let listeners = state.withLock { Array($0.listeners.values) }
        for listener in listeners { listener.yield(event) }
    }

    /// Ends all streams.
    func finish() {
        // Outside the lock: `finish` calls `onTermination`, which takes it.
        let listeners = state.withLock { state in
            state.isFinished = true
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }
}
