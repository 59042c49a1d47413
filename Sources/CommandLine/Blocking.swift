internal import Dispatch
internal import Synchronization

/// Runs asynchronous work for a caller that is not: the commands of the command line.
enum Blocking {
    /// Runs `work` and waits for it. Not to be called from a task.
    static func run<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) throws -> Value {
        let box = Box<Value>()
        let done = DispatchSemaphore(value: 0)
        Task {
            let outcome: Result<Value, any Error>
            do { outcome = .success(try await work()) } catch { outcome = .failure(error) }
            box.result.withLock { $0 = outcome }
            done.signal()
        }
        done.wait()
        guard let outcome = box.result.withLock({ $0 }) else { throw CancellationError() }
        return try outcome.get()
    }

    private final class Box<Value: Sendable>: Sendable {
        let result = Mutex<Result<Value, any Error>?>(nil)
    }
}
