import Dispatch
import Foundation
import SessionTrace

@testable import Assertions

/// Traffic in which nothing is to be found: made and searched, several seeds at a time.
struct InnocentRun: Sendable {
    /// Bytes of one seed's traffic.
    static let slice = 128 << 20

    private(set) var requests = 0
    private(set) var sent = 0
    private(set) var searching = 0.0
    private(set) var found: [String] = []

    /// Searches `size` bytes made from `seed` and, beyond a slice, the seeds that follow.
    static func all(size: Int, seed: Int) -> InnocentRun {
        let count = max(1, (size + slice - 1) / slice)
        var runs = [InnocentRun](repeating: InnocentRun(), count: count)
        runs.withUnsafeMutableBufferPointer { runs in
            // Each seed has a place of its own, so that no two threads write to one.
            nonisolated(unsafe) let places = runs
            DispatchQueue.concurrentPerform(iterations: count) { number in
                var run = InnocentRun()
                run.search(min(slice, size), seed: seed + number)
                places[number] = run
            }
        }
        return runs.reduce(into: InnocentRun()) { all, run in
            all.requests += run.requests
            all.sent += run.sent
            all.searching += run.searching
            all.found += run.found
        }
    }

    private mutating func search(_ size: Int, seed: Int) {
        var traffic = InnocentBodies(seed: UInt64(seed))
        var scanner = InnocentBodies.scanner()
        while sent < size {
            let request = traffic.next(size: 40_000)
            let start = Self.threadSeconds()
            let result = scanner.scan(request)
            searching += Self.threadSeconds() - start
            found +=
                (result.hits + result.hints).map(\.place) + result.gaps.map { "gap: \($0)" }
                + result.pieces.map { "piece: \($0.location)" }
            sent += request.body.bytes.count + request.fields.storage.count + request.target.utf8.count
            requests += 1
        }
    }

    /// Processor time of this thread.
    private static func threadSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
