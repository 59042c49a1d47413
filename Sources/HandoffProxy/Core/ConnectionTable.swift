internal import SessionTrace
internal import Synchronization

/// The connections that are open: how many, of whom, and whether bytes still pass.
final class ConnectionTable: Sendable {
    /// Which limit keeps a connection out.
    enum Limit: Hashable, Sendable {
        case connections(Int)
        case connectionsPerDevice(Int)
    }

    /// On `stop`, a connection without bytes for this long is waited for no more.
    static let silenceNanoseconds: Int64 = 300_000_000

    private struct State {
        var activities: [ObjectIdentifier: ConnectionActivity] = [:]
        var perDevice: [IPAddress: Int] = [:]
        var refusals = 0
    }

    private let state = Mutex(State())
    private let limits: ProxyLimits

    init(limits: ProxyLimits) {
        self.limits = limits
    }

    /// Connections that are open.
    var count: Int { state.withLock { $0.activities.count } }

    /// Enters a connection; returns the limit that keeps it out, in which case it is not entered.
    func enter(_ activity: ConnectionActivity, of client: IPAddress) -> Limit? {
        state.withLock { state in
            guard state.activities.count < limits.connections else { return .connections(limits.connections) }
            let count = state.perDevice[client, default: 0]
            guard count < limits.connectionsPerDevice else {
                return .connectionsPerDevice(limits.connectionsPerDevice)
            }
            state.perDevice[client] = count + 1
            state.activities[ObjectIdentifier(activity)] = activity
            return nil
        }
    }

    /// Takes a connection out.
    func leave(_ activity: ConnectionActivity, of client: IPAddress) {
        state.withLock { state in
            guard state.activities.removeValue(forKey: ObjectIdentifier(activity)) != nil else { return }
            let count = state.perDevice[client, default: 1] - 1
            state.perDevice[client] = count > 0 ? count : nil
        }
    }

    /// Counts a client in that is about to be told that it may not use the proxy; false when too many are being told.
    func beginRefusal() -> Bool {
        state.withLock { state in
            guard state.refusals < limits.refusals else { return false }
            state.refusals += 1
            return true
        }
    }

    /// Such a client has been told.
    func endRefusal() {
        state.withLock { $0.refusals -= 1 }
    }

    /// Whether bytes have passed on any connection within the last `silenceNanoseconds`.
    func isBusy(at now: Instant) -> Bool {
        state.withLock { state in
            state.activities.values.contains { now.nanoseconds(since: $0.last) < Self.silenceNanoseconds }
        }
    }
}
