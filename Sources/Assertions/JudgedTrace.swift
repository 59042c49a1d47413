internal import SessionTrace

/// One trace of a set: its verdict, or why there is none.
public struct JudgedTrace: Sendable {
    /// What stood in the way of judging an input.
    public enum Obstacle: Hashable, Sendable {
        /// The input itself: it is not there, no capture, or not to be read.
        case input
        /// The policy that it is to be judged by.
        case policy
        /// What was asked for: it can't be done.
        case usage
    }

    /// The path as given.
    public var path: String
    /// The verdict; nil when the trace could not be judged at all.
    public var verdict: TraceVerdict?
    /// One line: why it could not be judged.
    public var error: String?
    /// What stood in the way; nil for a trace that was judged.
    public var obstacle: Obstacle?
    /// Why the recording stopped before its time, one line; nil for every other trace.
    public var stopped: String?
    /// By what it was judged, and what was left out on request; nil where nobody says so.
    public var conditions: JudgingConditions?

    /// A trace that was judged.
    public init(path: String, verdict: TraceVerdict) {
        self.path = path
        self.verdict = verdict
    }

    /// A trace that could not be judged.
    public init(path: String, error: String, obstacle: Obstacle = .input) {
        self.path = path
        self.error = error
        self.obstacle = obstacle
    }

    /// Why the trace shows less than a whole one, though it was judged, one sentence; nil for a whole one.
    public var shortcoming: String? {
        guard let verdict else { return nil }
        if let stopped { return stopped }
        if !verdict.summary.isComplete { return "could not be read to the end; everything whole was judged" }
        // A recording of our own that holds no packet is whole, and shows nothing.
        return verdict.summary.packets == 0 && !verdict.summary.isOwnRecording
            ? "without a packet, which shows nothing: did the capture run where the device's traffic passes?" : nil
    }
}

/// By what a trace was judged, and what of it was left out on request: whoever reads a report does not see the command
/// line.
public struct JudgingConditions: Hashable, Sendable {
    /// How the policy was found.
    public enum PolicyOrigin: String, Hashable, Sendable, CaseIterable {
        /// It was named.
        case named
        /// It lies beside the trace.
        case beside
        /// It lies in a folder above the trace's.
        case above
        /// There is none.
        case none
    }

    /// The policy's path; nil where the built-in defaults apply.
    public var policy: String?
    /// How it was found.
    public var policyOrigin: PolicyOrigin
    /// The filter expression that packets had to match; nil without one.
    public var filter: String?
    /// How many packets did not match it.
    public var filteredPackets: Int

    /// Describes conditions.
    public init(
        policy: String? = nil, policyOrigin: PolicyOrigin = .none, filter: String? = nil, filteredPackets: Int = 0
    ) {
        self.policy = policy
        self.policyOrigin = policyOrigin
        self.filter = filter
        self.filteredPackets = filteredPackets
    }
}
