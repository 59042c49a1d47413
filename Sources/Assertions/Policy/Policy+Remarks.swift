public import SessionTrace

/// What a policy says that may not be meant, or no longer holds: lines for `policy check` and for every report.
extension Policy {
    /// Entries of `opaque-ok` that had expired when the trace ended: such traffic is in doubt again.
    func lapsedAllowances(at end: Instant) -> [String] {
        hosts.opaqueOK.compactMap { allowance in
            guard let day = allowance.expires, day.isOver(at: end) else { return nil }
            return "\(place(allowance.line)): opaque-ok for \(allowance.host) (\(allowance.reason)) expired on \(day)"
        }
    }

    /// The remarks on the file as lines: `handoff.yml:3:5: …`.
    public var remarkLines: [String] {
        remarks.map { "\(file ?? "handoff.yml"):\($0.line):\($0.column): \($0.message)" }
    }

    /// What no longer counts on a day, or not yet.
    public func lapses(on today: Instant) -> [String] {
        let ofExceptions = exceptions.compactMap { exception -> String? in
            let name = "\(place(exception.line)): the exception for \(exception.rule) (\(exception.reason))"
            if exception.expires.isOver(at: today) {
                return "\(name) expired on \(exception.expires); mend what it accepts, or renew it"
            }
            guard exception.expires.start.nanoseconds(since: today) > Self.longestException.count else { return nil }
            return "\(name) is not applied, since it expires more than 180 days from now; take a nearer day"
        }
        return ofExceptions + lapsedAllowances(at: today).map { "\($0); give the trace its keys, or renew it" }
    }

    /// Words that explain why a host's unread traffic is in doubt though the policy names it; empty where it does not.
    func lapseWords(for host: HostName?, at end: Instant) -> String {
        guard let host, allowance(for: host, at: end) == nil,
            let day = hosts.opaqueOK.first(where: { $0.host.covers(host) })?.expires
        else { return "" }
        return "; its opaque-ok expired on \(day)"
    }

    /// Whether, and why, a host's traffic may stay unread.
    func allowance(for host: HostName, at instant: Instant) -> OpaqueAllowance? {
        hosts.opaqueOK.first { $0.host.covers(host) && !($0.expires?.isOver(at: instant) ?? false) }
    }

    private func place(_ line: Int) -> String { "\(file ?? "handoff.yml"):\(line)" }
}
