public import SessionTrace
internal import Synchronization

/// How one fault stands.
public struct FaultStatus: Hashable, Sendable {
    /// Names the fault within a run; counted from 1.
    public var id: Int
    /// The fault.
    public var rule: FaultRule
    /// How many exchanges it has acted on.
    public var fired: Int
    /// Requests on hosts that it concerns which it nearly matched, as `METHOD host/path`, without queries and without
    /// segments that may be tokens; at most `FaultTable.nearMissLimit`.
    public var nearMisses: [String]
    /// Where it could not be injected and why, as `host: reason`; at most `FaultTable.nearMissLimit`.
    public var notInjected: [String]
    /// Whether it acts no more.
    public var isSpent: Bool { rule.times.map { fired >= $0 } ?? false }
}

/// What the run's faults came to, for its end: any line makes the exit status 4.
public struct FaultReport: Hashable, Sendable {
    /// Faults that never acted.
    public var unfired: [FaultStatus]
    /// Faults that could not be injected on some connection.
    public var notInjected: [FaultStatus]

    /// Whether every fault acted, wherever it could have.
    public var isClean: Bool { unfired.isEmpty && notInjected.isEmpty }

    /// One sentence a fault that was not injected or never fired.
    public var sentences: [String] {
        let missed = notInjected.map {
            "fault '\($0.rule)' could not be injected (\($0.notInjected.joined(separator: "; ")))."
        }
        let missedIDs = Set(notInjected.map(\.id))
        let silent = unfired.filter { !missedIDs.contains($0.id) }.map { status in
            status.nearMisses.isEmpty
                ? "fault '\(status.rule)' never fired: no request like it was seen."
                : "fault '\(status.rule)' never fired. Near it: \(status.nearMisses.joined(separator: ", "))."
        }
        return missed + silent
    }
}

/// The faults of a run. Thread-safe: the control API adds and clears while connections act on them.
///
/// A fault acts on connections that are opened after it was added, and no more once it is removed. A fault without a host
/// concerns every host that `mayHaveFault` names, because the hosts whose connections must be held to HTTP/1.1 have to be
/// known before the first request.
public final class FaultTable: Sendable {
    /// Faults that a run may have.
    public static let ruleLimit = 256
    /// Near misses, and places of failed injections, that are kept for each fault.
    public static let nearMissLimit = 8

    private struct State {
        var statuses: [FaultStatus] = []
        var lastID = 0
    }

    private let state = Mutex(State())
    private let mayHaveFault: @Sendable (HostName) -> Bool

    /// A table without faults.
    ///
    /// - Parameter mayHaveFault: Which hosts a fault without a host concerns: the partner's, where they are known. All
    ///   by default.
    public init(mayHaveFault: @escaping @Sendable (HostName) -> Bool = { _ in true }) {
        self.mayHaveFault = mayHaveFault
    }

    /// Adds a fault; it acts on connections opened from now on. Nil when there are `ruleLimit` already.
    public func add(_ rule: FaultRule) -> FaultStatus? {
        state.withLock { state in
            guard state.statuses.count < Self.ruleLimit else { return nil }
            state.lastID += 1
            let status = FaultStatus(id: state.lastID, rule: rule, fired: 0, nearMisses: [], notInjected: [])
            state.statuses.append(status)
            return status
        }
    }

    /// Takes a fault away; false when there is none of this id. It is in no report then.
    public func remove(id: Int) -> Bool {
        state.withLock { state in
            guard let index = state.statuses.firstIndex(where: { $0.id == id }) else { return false }
            state.statuses.remove(at: index)
            return true
        }
    }

    /// Takes all faults away.
    public func clear() {
        state.withLock { $0.statuses = [] }
    }

    /// How each fault stands, in the order in which they were added.
    public var statuses: [FaultStatus] { state.withLock { $0.statuses } }

    /// What the faults have come to so far.
    public var report: FaultReport {
        let statuses = statuses
        return FaultReport(
            unfired: statuses.filter { $0.fired == 0 }, notInjected: statuses.filter { !$0.notInjected.isEmpty })
    }

    /// Whether a new connection to this host must speak HTTP/1.1, because a fault may act on it.
    public func restrictsToHTTP1(host: HostName, port: UInt16) -> Bool { !concerning(host, port).isEmpty }

    /// What acts on a new connection to this host; nil when nothing may, and the bytes need not be looked at.
    ///
    /// To be asked once for each connection, when it is opened.
    public func stage(host: HostName, port: UInt16) -> FaultStage? {
        let concerned = concerning(host, port)
        return concerned.isEmpty ? nil : FaultStage(table: self, faults: concerned, host: host)
    }

    /// A connection to this host can't have its faults (its client offers HTTP/2 alone, or its bytes are no HTTP/1):
    /// remembers it, and gives what the trace has to say.
    public func missed(host: HostName, port: UInt16, reason: String) -> [FaultRecord] {
        let concerned = concerning(host, port)
        return concerned.map { missed($0, host: host, reason: reason) }
    }

    private func concerning(_ host: HostName, _ port: UInt16) -> [FaultStatus] {
        let statuses = state.withLock { state in
            state.statuses.filter { !$0.isSpent && $0.rule.concerns(host: host, port: port) }
        }
        return statuses.filter { $0.rule.host != nil || mayHaveFault(host) }
    }

    func missed(_ fault: FaultStatus, host: HostName, reason: String) -> FaultRecord {
        edit(fault.id) { Self.note("\(host): \(reason)", in: &$0.notInjected) }
        return FaultRecord(
            rule: fault.rule, host: host, exchange: nil, detail: "fault-not-injected: \(reason)")
    }

    /// Counts the fault as acting once more; false when it is spent or was taken away.
    func claim(_ id: Int) -> Bool {
        var isClaimed = false
        edit(id) { status in
            guard !status.isSpent else { return }
            status.fired += 1
            isClaimed = true
        }
        return isClaimed
    }

    /// Remembers a request that a fault did not match.
    func near(_ id: Int, _ request: String) {
        edit(id) { if $0.fired == 0 { Self.note(request, in: &$0.nearMisses) } }
    }

    private func edit(_ id: Int, _ change: (inout FaultStatus) -> Void) {
        state.withLock { state in
            guard let index = state.statuses.firstIndex(where: { $0.id == id }) else { return }
            change(&state.statuses[index])
        }
    }

    private static func note(_ text: String, in list: inout [String]) {
        if list.count < nearMissLimit, !list.contains(text) { list.append(text) }
    }
}

/// What the trace says about a fault: the event `fault`.
public struct FaultRecord: Hashable, Sendable {
    /// The fault.
    public var rule: FaultRule
    /// The host of the connection.
    public var host: HostName
    /// Which exchange of its connection it acted on, counted from 0; nil when it could not act.
    public var exchange: Int?
    /// What was done, in words; begins with `fault-not-injected` when it was not.
    public var detail: String

    /// The attributes of the event.
    public var attributes: [String: String] {
        var attributes = ["rule": rule.description, "action": rule.effect, "host": host.text, "detail": detail]
        if let exchange { attributes["exchange"] = String(exchange) }
        return attributes
    }

    /// One sentence for people.
    public var sentence: String {
        exchange == nil ? "\(rule.target) on \(host): \(detail)" : "\(rule.target) on \(host): \(rule.effect) injected"
    }
}
