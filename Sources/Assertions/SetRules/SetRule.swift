internal import SessionTrace

/// A rule that is judged over several traces; it has the number of the rule of which it is the part that no single trace can
/// show.
protocol SetRule: SendableMetatype {
    /// What it is.
    static var description: RuleDescription { get }
    /// Looks at the traces and writes down what it saw.
    static func judge(_ set: TraceSet, _ judgement: inout Judgement)
}

/// The traces of a set without copies of one another.
struct TraceSet {
    struct Trace {
        var path: String
        var facts: TraceFacts
        /// The column of the matrix that it belongs to.
        var group: String

        /// Whether this and another trace may be one device's: none names another device or group.
        func mayShareDevice(with other: Trace) -> Bool {
            guard let mine = facts.device, let theirs = other.facts.device else { return group == other.group }
            return mine == theirs
        }

        /// Evidence of this trace, with the trace's path.
        func evidence(_ evidence: Evidence) -> Evidence {
            var evidence = evidence
            evidence.subject = "\(path): \(evidence.subject)"
            return evidence
        }
    }

    /// In the order given.
    private(set) var traces: [Trace] = []
    /// Traces that are left out, each with the one that it is a copy of.
    private(set) var copies: [(path: String, original: String)] = []

    init(_ judged: [JudgedTrace], groupBy attribute: String) {
        var known: [String: String] = [:]
        for trace in judged {
            guard let verdict = trace.verdict, let facts = verdict.facts else { continue }
            // A name that the test gave, or the same packets at the same times.
            let names = [
                facts.name.map { "name \($0)" }, facts.identity.isEmpty ? nil : "identity \(facts.identity)",
            ].compactMap(\.self)
            if let original = names.lazy.compactMap({ known[$0] }).first {
                copies.append((trace.path, original))
                continue
            }
            for name in names { known[name] = trace.path }
            traces.append(
                Trace(path: trace.path, facts: facts, group: verdict.attributes[attribute] ?? SetVerdict.wholeGroup))
        }
    }

    /// The traces by the column that they belong to.
    var groups: [(name: String, traces: [Trace])] {
        Dictionary(grouping: traces) { $0.group }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}

/// The rules over several traces, in catalogue order.
enum SetRuleCatalogue {
    static let rules: [any SetRule.Type] = [
        KeyUniqueOverTraces.self, OpenedOnceOverTraces.self, SameTrafficOverOutcomes.self, ReturnIdentical.self,
    ]

    static let ids = Set(rules.map { $0.description.id })

    /// What the rules say of a set; empty for one trace, of which the other rules say all.
    static func judge(_ traces: [JudgedTrace], options: SetOptions) -> [RuleResult] {
        guard traces.count > 1 else { return [] }
        let set = TraceSet(traces, groupBy: options.groupBy)
        var policy = Policy()
        policy.exceptions = set.traces.flatMap(\.facts.exceptions).reduce(into: []) {
            if !$0.contains($1) { $0.append($1) }
        }
        var exceptions = ExceptionBook(policy, now: set.traces.map(\.facts.now).max() ?? .distantPast)
        return rules.map { rule in
            var judgement = Judgement(rule.description)
            rule.judge(set, &judgement)
            exceptions.apply(to: &judgement)
            return Verdicts.result(of: judgement, over: set, strict: options.strict)
        }
    }
}

extension Verdicts {
    /// The laws for a rule over several traces: the same, but for what only one trace can have.
    static func result(of judgement: Judgement, over set: TraceSet, strict: Bool) -> RuleResult {
        var result = Self.result(of: judgement)
        if strict { result.questionAssumptions(remedy: "make the tests show it, or judge without --strict") }
        if result.verdict != .pass { result.assumptions = [] }
        if !set.copies.isEmpty, result.verdict != .notApplicable {
            result.sentence += "; \(counted(set.copies.count, "copy", "copies")) of a trace left out"
        }
        return result
    }
}
