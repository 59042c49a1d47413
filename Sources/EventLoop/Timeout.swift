internal import Glibc

/// Runs `body` and cancels it when `limit` has passed; then throws a `SocketError` with `isTimeout`, once `body` has
/// ended (it is never left running).
///
/// `body` runs with the caller's isolation, in a child task, so a cancelled caller cancels it too.
public nonisolated(nonsending) func withTimeout<Result>(
    _ limit: Duration, _ body: nonisolated(nonsending) @escaping () async throws -> Result
) async throws -> Result {
    let timed = TimedBody<Result>(body)
    if await timed.run(limit: limit, isolation: #isolation) {
        throw SocketError(code: ETIMEDOUT, operation: "wait")
    }
    guard let outcome = timed.outcome else { throw SocketError(code: ECANCELED, operation: "wait") }
    return try outcome.get()
}

/// A body on its way through a child task that has the isolation of its caller.
private final class TimedBody<Result>: @unchecked Sendable {
    // Sendable: the caller is suspended from `run` until the child task has ended, and the child enters the caller's
    // isolation before it touches the body; so body and result are never in two hands. `task` is touched on the loop's
    // thread alone.
    private let body: nonisolated(nonsending) () async throws -> Result
    private(set) var outcome: Swift.Result<Result, any Error>?
    private var task: UnsafeCurrentTask?
    private var isOver = false

    init(_ body: nonisolated(nonsending) @escaping () async throws -> Result) {
        self.body = body
    }

    /// True when the time was over before the body had a result.
    func run(limit: Duration, isolation: isolated (any Actor)?) async -> Bool {
        guard let loop = EventLoop.current else {
            return await runElsewhere(limit: limit, isolation: isolation)
        }
        return await run(limit: limit, on: loop, isolation: isolation)
    }

    private func run(limit: Duration, on loop: EventLoop, isolation: isolated (any Actor)?) async
        -> Bool
    {
        guard !loop.isStopping else { return false }
        let timer = loop.startTimer(after: limit) { [self] in
            isOver = true
            task?.cancel()
        }
        defer { loop.recycle(timer) }
        await withTaskGroup(of: Void.self, isolation: isolation) { group in
            _ = isolation
            group.addTask(executorPreference: loop) { [self] in
                // The handle is forgotten before the task it names ends.
                withUnsafeCurrentTask { task = $0 }
                if isOver { task?.cancel() }
                await perform(isolation: isolation)
                task = nil
            }
            await group.waitForAll(isolation: isolation)
        }
        return isOver && outcome.map { if case .failure = $0 { true } else { false } } ?? true
    }

    private func runElsewhere(limit: Duration, isolation: isolated (any Actor)?) async -> Bool {
        await withTaskGroup(of: Bool.self, isolation: isolation) { group in
            _ = isolation
            group.addTask { [self] in
                await perform(isolation: isolation)
                return false
            }
            group.addTask { (try? await Task.sleep(for: limit)) != nil }
            let isFirst = await group.next(isolation: isolation) ?? false
            group.cancelAll()
            await group.waitForAll(isolation: isolation)
            return isFirst && outcome.map { if case .failure = $0 { true } else { false } } ?? true
        }
    }

    private func perform(isolation: isolated (any Actor)?) async {
        do {
            outcome = .success(try await body())
        } catch {
            outcome = .failure(error)
        }
    }
}
