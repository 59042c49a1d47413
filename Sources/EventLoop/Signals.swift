internal import Synchronization

/// Signals to the process as a stream.
public struct Signals {
    /// Signals kept for a reader that is behind; the oldest go first.
    static let backlog = 16

    /// How many streams watch each signal.
    private static let watched = Mutex<[Int32: Int]>([:])

    /// Each arrival of one of `numbers` (SIGINT, SIGTERM, …), instead of its default effect, until the stream is let go.
    public static func stream(_ numbers: [Int32]) -> AsyncStream<Int32> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Int32.self, bufferingPolicy: .bufferingNewest(backlog))
        guard let loop = EventLoop.shared else {
            continuation.finish()
            return stream
        }
        let watches = SignalWatches()
        count(numbers, 1)
        loop.execute {
            for number in numbers {
                guard !watches.isClosed else { break }
                let watch = try? loop.uv.watchSignal(number) { continuation.yield(number) }
                if let watch { watches.open.append(watch) }
            }
        }
        continuation.onTermination = { _ in
            count(numbers, -1)
            loop.execute { watches.close() }
        }
        return stream
    }

    private static func count(_ numbers: [Int32], _ change: Int) {
        watched.withLock { watched in
            for number in numbers { watched[number, default: 0] += change }
        }
    }

    /// Whether a stream takes this signal.
    static func isWatched(_ number: Int32) -> Bool {
        watched.withLock { $0[number, default: 0] > 0 }
    }
}

/// The open watches of one stream.
final class SignalWatches: @unchecked Sendable {
    // Sendable: touched by the thread of the process's loop alone.
    var open: [LibUVSignal] = []
    var isClosed = false

    func close() {
        isClosed = true
        for watch in open { watch.close() }
        open = []
    }
}
