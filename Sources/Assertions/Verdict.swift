public import SessionTrace

/// What a rule says of a trace (RULES 0.1).
public enum Verdict: String, Hashable, Sendable, CaseIterable {
    /// The rule was exercised, the evidence was sufficient, nothing violated it.
    case pass
    /// At least one definite violation.
    case fail
    /// A violation can be neither shown nor excluded; there is always a reason.
    case inconclusive
    /// The trace never reached the rule's trigger.
    case notApplicable = "not-applicable"
}

/// How much a violation of a rule weighs.
public enum Severity: String, Hashable, Sendable {
    case error, warning, info
}

/// Why a rule could not be decided, and what would decide it.
public struct InconclusiveReason: Hashable, Sendable {
    /// A stable code: a `BlindSpot.Reason`'s raw value, or one of the rules' own (`policy-mismatch`, `no-tap-mark`, …).
    public var code: String
    /// One sentence: what is missing.
    public var sentence: String
    /// One sentence: what to do so that the next run can decide; the policy line to add where that is it.
    public var remedy: String

    /// Makes a reason.
    public init(code: String, sentence: String, remedy: String) {
        self.code = code
        self.sentence = sentence
        self.remedy = remedy
    }
}

/// Something unobserved that a pass rests on.
public struct Assumption: Hashable, Sendable {
    /// A stable code: `tap-window`, `bypass-not-watched`, `observed-only`, …
    public var code: String
    /// One sentence with its numbers.
    public var sentence: String

    /// Makes an assumption.
    public init(code: String, sentence: String) {
        self.code = code
        self.sentence = sentence
    }
}

/// A place in the trace that shows something. Holds no secret: what is printed was redacted when this was made.
public struct Evidence: Hashable, Sendable {
    /// What this place is in the story: `session request`, `share tap`, `leak` …
    public var label: String
    /// Packet numbers in the trace file, first to last.
    public var packets: [Int]
    /// When.
    public var span: TimeSpan
    /// The connection.
    public var connection: ConnectionID?
    /// The two ends of the connection as text, device first.
    public var endpoints: String?
    /// The exchange.
    public var exchange: ExchangeID?
    /// Host, redacted method and path, or what else names the place (`POST api.partner.example/handoff-session`).
    public var subject: String
    /// The place in the message and the decode chain (`body → gzip → json:/events/3/link → base64url`).
    public var place: String?

    /// Makes a piece of evidence.
    public init(
        label: String, packets: [Int], span: TimeSpan, connection: ConnectionID? = nil, endpoints: String? = nil,
        exchange: ExchangeID? = nil, subject: String, place: String? = nil
    ) {
        self.label = label
        self.packets = packets
        self.span = span
        self.connection = connection
        self.endpoints = endpoints
        self.exchange = exchange
        self.subject = subject
        self.place = place
    }
}

/// One violation, or (severity info) one thing worth knowing such as `not-the-app`.
public struct Finding: Hashable, Sendable {
    /// A stable word for the kind of violation within the rule (`prefetch`, `second-key`, `body-differs`).
    public var kind: String
    /// How much it weighs.
    public var severity: Severity
    /// One sentence with the numbers compared.
    public var message: String
    /// Where it is seen.
    public var evidence: [Evidence]
    /// Stable over runs: rule, role, path template, field, needle kind; never a value, position or time. 16 hex digits.
    public var fingerprint: String

    /// Makes a finding.
    public init(kind: String, severity: Severity, message: String, evidence: [Evidence], fingerprint: String) {
        self.kind = kind
        self.severity = severity
        self.message = message
        self.evidence = evidence
        self.fingerprint = fingerprint
    }
}

/// What one rule says of one trace.
public struct RuleResult: Hashable, Sendable {
    /// `HR-01`, `HC-01`.
    public var id: String
    /// `no-chia-before-action`.
    public var name: String
    /// The weight of its violations.
    public var severity: Severity
    /// What it says.
    public var verdict: Verdict
    /// One sentence with the numbers compared: `1 session request for 2 taps within 180 ms`.
    public var sentence: String
    /// Set exactly when the verdict is inconclusive.
    public var reason: InconclusiveReason?
    /// What is in doubt beside a violation of severity warning: one that counts may be behind it, so that a gate takes
    /// the rule for open.
    public var doubt: InconclusiveReason?
    /// What a pass rests on.
    public var assumptions: [Assumption]
    /// Violations and things worth knowing.
    public var findings: [Finding]
    /// What the rule looked at, for passes too (`show --rule`).
    public var lookedAt: [Evidence]
    /// Violations that exceptions of the policy accept: such a pass proves no row of the matrix.
    public var acceptedViolations = 0

    /// Whether a violation of severity error can be neither shown nor excluded.
    public var isOpen: Bool { verdict == .inconclusive || doubt != nil }

    /// Why it is open: the reason of an inconclusive rule, or the doubt beside a warning.
    public var openBecause: InconclusiveReason? { reason ?? doubt }

    /// Makes a result.
    public init(
        id: String, name: String, severity: Severity, verdict: Verdict, sentence: String,
        reason: InconclusiveReason? = nil, assumptions: [Assumption] = [], findings: [Finding] = [],
        lookedAt: [Evidence] = []
    ) {
        self.id = id
        self.name = name
        self.severity = severity
        self.verdict = verdict
        self.sentence = sentence
        self.reason = reason
        self.assumptions = assumptions
        self.findings = findings
        self.lookedAt = lookedAt
    }
}

/// Whether a matrix row (CONTRACT "The test matrix") was shown by a trace.
public enum Exercise: String, Hashable, Sendable {
    case proven, violated, notShown = "never-shown", outOfScope = "out-of-scope"
}

/// The verdict over one trace.
public struct TraceVerdict: Hashable, Sendable {
    /// The rules in catalogue order, coverage rules last.
    public var rules: [RuleResult]
    /// Matrix rows by id (`M-01` …).
    public var matrix: [String: Exercise]
    /// Scenario labels from `scenario` marks (`platform`, …), for grouping.
    public var attributes: [String: String]
    /// What the trace was like.
    public var summary: TraceSummary
    /// Ids of the rules whose inconclusive verdict counts.
    public var gate: Set<String>
    /// Whether a share or neutral tap, session attempt or navigation was seen at all.
    public var exercisedAnything: Bool
    /// Which of the words of `Policy.exercises` were seen (`double-tap`, `uncertain-retry`, …).
    public var exercised: Set<String>
    /// Sentences about the policy itself: exceptions that matched nothing.
    public var notes: [String]
    /// What the trace contributes to rules over several traces; nil when there is nothing.
    public var facts: TraceFacts?

    /// Makes a verdict.
    public init(
        rules: [RuleResult], matrix: [String: Exercise], attributes: [String: String], summary: TraceSummary,
        gate: Set<String>, exercisedAnything: Bool, exercised: Set<String> = [], notes: [String] = []
    ) {
        self.rules = rules
        self.matrix = matrix
        self.attributes = attributes
        self.summary = summary
        self.gate = gate
        self.exercisedAnything = exercisedAnything
        self.exercised = exercised
        self.notes = notes
    }
}
