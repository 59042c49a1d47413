internal import SessionTrace

/// A whole session as the rules see it.
struct Session {
    let policy: Policy
    var summary = TraceSummary()
}
