internal import Glibc
public import SessionTrace

/// The order in which several addresses of one host are tried, and when (RFC 8305 §4, §5), as a value.
struct HappyEyeballs {
    /// The addresses in the order of the attempts.
    let order: [Endpoint]
    private var started = 0
    private var running = 0
    private(set) var firstFailure: SocketError?

    /// What is to be done next.
    enum Step: Equatable {
        /// Start the attempt at this address, and ask again after the stagger or when one fails.
        case attempt(Endpoint)
        case wait
        case fail
    }

    init(_ endpoints: [Endpoint]) {
        order = Self.interleaved(endpoints)
    }

    /// The families by turns, beginning with the first address's; within a family the given order; no address twice.
    static func interleaved(_ endpoints: [Endpoint]) -> [Endpoint] {
        guard let first = endpoints.first else { return [] }
        var seen: Set<Endpoint> = []
        let distinct = endpoints.filter { seen.insert($0).inserted }
        let own = distinct.filter { $0.address.isIPv4 == first.address.isIPv4 }
        let other = distinct.filter { $0.address.isIPv4 != first.address.isIPv4 }
        var order: [Endpoint] = []
        for index in 0..<max(own.count, other.count) {
            if index < own.count { order.append(own[index]) }
            if index < other.count { order.append(other[index]) }
        }
        return order
    }

    /// The next attempt: at the start, when the stagger is over, and after a failure.
    mutating func next() -> Step {
        if started < order.count {
            defer { started += 1 }
            running += 1
            return .attempt(order[started])
        }
        return running > 0 ? .wait : .fail
    }

    mutating func failed(_ error: SocketError) {
        running -= 1
        if firstFailure == nil { firstFailure = error }
    }

    var hasMore: Bool { started < order.count }
}

extension TCPStream {
    /// Connects to the first of several addresses of one host that answers (RFC 8305): IPv6 and IPv4 by turns, the next
    /// attempt `stagger` after the last or at once when one fails; the losers are closed.
    ///
    /// Throws what the first failed attempt gave when none is left, ETIMEDOUT after `timeout` altogether, ECANCELED.
    public nonisolated(nonsending) static func connect(
        toAny endpoints: [Endpoint], stagger: Duration = .milliseconds(250),
        options: ConnectOptions = ConnectOptions(),
        timeout: Duration, on loop: EventLoop? = .current
    ) async throws(SocketError) -> sending TCPStream {
        guard let loop, let first = endpoints.first else {
            throw SocketError(code: EINVAL, operation: "connect")
        }
        if endpoints.count == 1 {
            return try await connect(to: first, options: options, timeout: timeout, on: loop)
        }
        let outcome = await race(
            HappyEyeballs(endpoints), stagger, options, timeout, on: loop, isolation: #isolation)
        switch outcome {
        case .success(let (descriptor, peer)): return try stream(descriptor, to: peer)
        case .failure(let error): throw error
        }
    }

    private enum RaceEvent {
        case connected(PolledDescriptor, Endpoint)
        case failed(SocketError)
        case due(attempt: Int)
    }

    private static func race(
        _ eyeballs: HappyEyeballs, _ stagger: Duration, _ options: ConnectOptions, _ timeout: Duration,
        on loop: EventLoop, isolation: isolated (any Actor)?
    ) async -> Result<(PolledDescriptor, Endpoint), SocketError> {
        let deadline = ContinuousClock.now.advanced(by: timeout)
        var eyeballs = eyeballs
        return await withTaskGroup(of: RaceEvent.self, isolation: isolation) { group in
            _ = isolation
            var attempts = 0
            var winner: (PolledDescriptor, Endpoint)?
            var isDue = true
            while true {
                if isDue, winner == nil, !Task.isCancelled, case .attempt(let endpoint) = eyeballs.next() {
                    attempts += 1
                    let attempt = attempts
                    let left = max(.zero, deadline - ContinuousClock.now)
                    group.addTask(executorPreference: loop) {
                        do throws(SocketError) {
                            return .connected(
                                try await open(to: endpoint, options, left, on: loop, isolation: nil), endpoint)
                        } catch {
                            return .failed(error)
                        }
                    }
                    if eyeballs.hasMore {
                        group.addTask(executorPreference: loop) {
                            _ = await loop.sleep(stagger, isolation: nil)
                            return .due(attempt: attempt)
                        }
                    }
                }
                guard let event = await group.next(isolation: isolation) else { break }
                switch event {
                case .connected(let descriptor, let endpoint):
                    if winner == nil { winner = (descriptor, endpoint) } else { descriptor.close() }
                    group.cancelAll()
                    isDue = false
                case .failed(let error):
                    eyeballs.failed(error)
                    isDue = true
                case .due(let attempt): isDue = attempt == attempts
                }
            }
            if let winner { return .success(winner) }
            let fallback = SocketError(code: ECANCELED, operation: "connect")
            return .failure(Task.isCancelled ? fallback : eyeballs.firstFailure ?? fallback)
        }
    }
}
