internal import SessionTrace

/// The policy's exceptions, applied to what rules found: an accepted violation stays visible, but weighs nothing.
struct ExceptionBook {
    private let exceptions: [Policy.Exception]
    private let now: Instant
    private var used: Set<Int> = []
    private let file: String

    init(_ policy: Policy, now: Instant) {
        exceptions = policy.exceptions
        file = policy.file ?? "handoff.yml"
        self.now = now
    }

    /// Sentences about exceptions that were not used, for the report.
    var notes: [String] {
        // What no single trace shows may be accepted too: whether it matched is known over all of them.
        exceptions.indices.filter { !used.contains($0) && !SetRuleCatalogue.ids.contains(exceptions[$0].rule) }.map {
            index in
            let exception = exceptions[index]
            let state = exception.expires.isOver(at: now) ? "expired on \(exception.expires)" : "matched nothing"
            return "\(file):\(exception.line): the exception for \(exception.rule) (\(exception.reason)) \(state)"
        }
    }

    mutating func apply(to judgement: inout Judgement) {
        for (index, exception) in exceptions.enumerated() where exception.rule == judgement.rule.id {
            judgement.changeFindings { finding in
                guard finding.severity != .info, Self.covers(exception, finding) else { return }
                used.insert(index)
                if exception.expires.isOver(at: now) {
                    finding.message +=
                        "; its exception (\(exception.owner): \(exception.reason)) expired on \(exception.expires)"
                } else if exception.expires.start.nanoseconds(since: now) > Policy.longestException.count {
                    finding.message += "; its exception is not applied, since it expires more than 180 days from now"
                } else {
                    finding.severity = .info
                    finding.message +=
                        "; accepted until \(exception.expires) by \(exception.owner): \(exception.reason)"
                }
            }
        }
    }

    private static func covers(_ exception: Policy.Exception, _ finding: Finding) -> Bool {
        if let fingerprint = exception.fingerprint {
            let digits = fingerprint.hasSuffix("…") ? String(fingerprint.dropLast()) : fingerprint
            return finding.fingerprint.hasPrefix(digits.lowercased())
        }
        return exception.scope == finding.kind
    }
}
