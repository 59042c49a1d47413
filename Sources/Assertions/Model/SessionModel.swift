internal import SessionTrace

/// Takes events as they come and keeps only what some rule can need.
struct SessionModel {
    let policy: Policy
    private var summary = TraceSummary()

    init(policy: Policy, options: JudgeOptions) {
        self.policy = policy
    }

    mutating func receive(_ event: SessionEvent) {
        if case .traceEnded(let summary) = event { self.summary = summary }
    }

    mutating func finish() -> Session {
        Session(policy: policy, summary: summary)
    }
}
