/// What a rule is, apart from how it judges.
public struct RuleDescription: Hashable, Sendable {
    /// `HR-01`, `HC-01`.
    public var id: String
    /// `no-chia-before-action`.
    public var name: String
    /// The weight of its violations.
    public var severity: Severity
    /// What it demands, in one sentence of our own.
    public var sentence: String
    /// The heading of `CONTRACT.md` that it comes from.
    public var heading: String
    /// The matrix rows (`M-05`) that it decides.
    public var matrix: [String]
    /// What makes it inconclusive, in one sentence.
    public var inconclusiveWhen: String
    /// Policy keys that change how it judges (`timing: {double-tap}`), in the policy's own notation.
    public var options: [String]
    /// A short story that violates it, and what the verdict says then; one sentence or two of our own.
    public var example: String

    /// Makes a description.
    public init(
        id: String, name: String, severity: Severity, sentence: String, heading: String, matrix: [String] = [],
        inconclusiveWhen: String, options: [String] = [], example: String = ""
    ) {
        self.id = id
        self.name = name
        self.severity = severity
        self.sentence = sentence
        self.heading = heading
        self.matrix = matrix
        self.inconclusiveWhen = inconclusiveWhen
        self.options = options
        self.example = example
    }
}

/// A rule of the catalogue. One type, one file, one rule; it reads a finished session and changes nothing.
protocol Rule: SendableMetatype {
    /// What it is.
    static var description: RuleDescription { get }
    /// Looks at the session and writes down what it saw.
    static func judge(_ session: Session, _ judgement: inout Judgement)
}
