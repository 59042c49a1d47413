internal import SessionTrace

/// The outcome of one trace or of the whole set, as a gate sees it.
public enum Outcome: String, Hashable, Sendable {
    /// No violation of severity error, no gated rule inconclusive.
    case conforming
    /// A gated rule is inconclusive, or what must be exercised was not.
    case inconclusive
    /// An input could not be read, or ends inside a block or packet.
    case unreadable
    /// At least one violation that counts.
    case violation
    /// A policy that can't be used, or an option that names nothing there is.
    case misused = "wrong-usage"

    /// The worse of two: wrong usage, violation, unreadable, inconclusive, conforming.
    public func worse(_ other: Outcome) -> Outcome {
        let order: [Outcome] = [.conforming, .inconclusive, .unreadable, .violation, .misused]
        func rank(_ outcome: Outcome) -> Int { order.firstIndex(of: outcome) ?? 0 }
        return rank(self) >= rank(other) ? self : other
    }
}

/// How a set of traces is judged as one.
public struct SetOptions: Sendable {
    /// Whether violations of severity warning count too.
    public var strict = false
    /// Whether a gated rule that is inconclusive counts; false turns it into a warning.
    public var inconclusiveCounts = true
    /// The scenario attribute by which the matrix is grouped.
    public var groupBy = "platform"
    /// Whether that was asked for, so that a trace has to have the attribute.
    public var groupByIsAsked = false
    /// Whether every decidable cell of the matrix must be proven.
    public var certify = false
    /// What the set must have exercised: matrix rows, rule ids or words of `Policy.exercises`.
    public var mustExercise: [String] = []
    /// What else had to happen and did not, one sentence each: a fault that never fired.
    public var missing: [String] = []

    /// The defaults.
    public init() {}

    /// Whether a rule is violated so that it decides the outcome.
    public func countsAsViolated(_ rule: RuleResult) -> Bool {
        rule.verdict == .fail && (rule.severity == .error || (strict && rule.severity == .warning))
    }
}

/// The verdict over all traces of an input set: what each says, why some could not be judged, and what was never shown.
public struct SetVerdict: Sendable {
    /// One reason why rules were inconclusive, over all traces.
    public struct Cause: Hashable, Sendable {
        /// The reason code.
        public var code: String
        /// What is missing, in the words of the first trace that said so.
        public var sentence: String
        /// What to do.
        public var remedy: String
        /// The traces that it concerns.
        public var paths: [String]
        /// The rules that it left open.
        public var rules: [String]
        /// Whether one of these rules is gated.
        public var isGated: Bool
    }

    /// One row of the contract matrix.
    public struct MatrixRow: Hashable, Sendable {
        /// `M-05`.
        public var id: String
        /// What it demands.
        public var title: String
        /// Per group: in how many traces it was proven, violated.
        public var cells: [String: Cell]
        /// Whether traffic can show it at all.
        public var isDecidable: Bool
    }

    /// One cell of the matrix.
    public struct Cell: Hashable, Sendable {
        /// Traces that prove it.
        public var proven = 0
        /// Traces that violate it.
        public var violated = 0

        /// What the cell says.
        public var exercise: Exercise { violated > 0 ? .violated : proven > 0 ? .proven : .notShown }
    }

    /// The traces in the order given.
    public let traces: [JudgedTrace]
    /// Why rules were inconclusive, the widest cause first.
    public let causes: [Cause]
    /// The groups of the matrix, in order; `all` when no trace names one.
    public let groups: [String]
    /// The contract matrix.
    public let matrix: [MatrixRow]
    /// What the rules over several traces say; empty for one trace.
    public let rules: [RuleResult]
    /// What had to be shown over the set, and whether it was.
    public let demands: [Demand]
    /// What was asked for and can't be done, one sentence each.
    public let misuses: [String]
    /// The outcome of the set.
    public let outcome: Outcome
    /// How the set was judged.
    public let options: SetOptions

    /// What must be exercised over the set and was not, one sentence each.
    public var notExercised: [String] { demands.compactMap(\.missing) }

    /// The group of traces that name none.
    public static let wholeGroup = "all"

    /// Judges a set.
    public init(traces: [JudgedTrace], options: SetOptions) {
        self.traces = traces
        self.options = options
        causes = Self.causes(of: traces)
        let attribute = options.groupBy
        groups = Set(traces.compactMap(\.verdict).map { $0.attributes[attribute] ?? Self.wholeGroup }).sorted()
        rules = SetRuleCatalogue.judge(traces, options: options).map(\.printable)
        matrix = Self.matrix(of: traces, rules: rules, groupBy: attribute)
        let demands = Self.demands(traces, rules, matrix, options)
        self.demands = demands
        misuses = Self.misuses(traces, options)
        var outcome = traces.reduce(Outcome.conforming) { $0.worse(Self.outcome(of: $1, options: options)) }
        if demands.contains(where: { $0.missing != nil }) { outcome = outcome.worse(.inconclusive) }
        let gate = traces.reduce(into: Set<String>()) { $0.formUnion($1.verdict?.gate ?? []) }
        for rule in rules { outcome = outcome.worse(Self.outcome(of: rule, gate: gate, options: options)) }
        if !misuses.isEmpty { outcome = .misused }
        self.outcome = outcome
    }

    /// The outcome of one trace of the set.
    public func outcome(of trace: JudgedTrace) -> Outcome {
        Self.outcome(of: trace, options: options)
    }

    private static func outcome(of trace: JudgedTrace, options: SetOptions) -> Outcome {
        guard let verdict = trace.verdict else { return trace.obstacle == .input ? .unreadable : .misused }
        var outcome = Outcome.conforming
        for rule in verdict.rules {
            outcome = outcome.worse(Self.outcome(of: rule, gate: verdict.gate, options: options))
        }
        return trace.shortcoming == nil ? outcome : outcome.worse(.unreadable)
    }

    /// What one rule's result comes to for a gate.
    private static func outcome(of rule: RuleResult, gate: Set<String>, options: SetOptions) -> Outcome {
        if options.countsAsViolated(rule) { return .violation }
        return rule.isOpen && options.inconclusiveCounts && gate.contains(rule.id) ? .inconclusive : .conforming
    }

    private static func causes(of traces: [JudgedTrace]) -> [Cause] {
        var causes: [Cause] = []
        var places: [String: Int] = [:]
        for trace in traces {
            guard let verdict = trace.verdict else { continue }
            for rule in verdict.rules {
                guard let reason = rule.openBecause else { continue }
                let isGated = verdict.gate.contains(rule.id)
                if let place = places[reason.code] {
                    if !causes[place].paths.contains(trace.path) { causes[place].paths.append(trace.path) }
                    if !causes[place].rules.contains(rule.id) { causes[place].rules.append(rule.id) }
                    causes[place].isGated = causes[place].isGated || isGated
                } else {
                    places[reason.code] = causes.count
                    causes.append(
                        Cause(
                            code: reason.code, sentence: reason.sentence, remedy: reason.remedy, paths: [trace.path],
                            rules: [rule.id], isGated: isGated))
                }
            }
        }
        return causes.enumerated().sorted {
            ($1.element.paths.count, $0.offset) < ($0.element.paths.count, $1.offset)
        }.map(\.element)
    }

    private static func matrix(
        of traces: [JudgedTrace], rules: [RuleResult], groupBy attribute: String
    ) -> [MatrixRow] {
        let violated = Dictionary(
            RuleCatalogue.overTraces.map { rule in
                (rule.id, rules.filter { $0.id == rule.id && $0.verdict == .fail && $0.severity == .error })
            }
        ) { first, _ in first }
        return ContractMatrix.rows.map { row in
            var cells: [String: Cell] = [:]
            for verdict in traces.compactMap(\.verdict) {
                let group = verdict.attributes[attribute] ?? wholeGroup
                switch verdict.matrix[row.id] {
                case .proven: cells[group, default: Cell()].proven += 1
                case .violated: cells[group, default: Cell()].violated += 1
                case .notShown, .outOfScope, nil: cells[group, default: Cell()].proven += 0
                }
            }
            // What only several traces show is held against the groups of those that show it.
            for rule in row.rules.flatMap({ violated[$0] ?? [] }) {
                for trace in traces where rule.shows(trace.path) {
                    guard let verdict = trace.verdict else { continue }
                    cells[verdict.attributes[attribute] ?? wholeGroup, default: Cell()].violated += 1
                }
            }
            return MatrixRow(id: row.id, title: row.title, cells: cells, isDecidable: row.isDecidable)
        }
    }
}

extension RuleResult {
    /// Whether a violation of a rule over several traces was seen in one of them.
    fileprivate func shows(_ path: String) -> Bool {
        findings.contains { finding in
            finding.severity == .error && finding.evidence.contains { $0.subject.hasPrefix("\(path): ") }
        }
    }
}
