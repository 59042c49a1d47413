/// The rows of the contract's test matrix, as one trace shows them.
enum Matrix {
    /// Row, the rules that this version judges for it, and the exercise without which it is not shown.
    static let rows: [(id: String, rules: [String], needs: String?)] = [
        ("M-02", [], nil), ("M-03", [], nil), ("M-04", [], nil),
        ("M-05", ["HR-01", "HR-02", "HR-05"], nil),
        ("M-06", ["HR-46", "HR-47"], nil),
        ("M-07", [], nil), ("M-08", [], nil), ("M-09", [], nil),
        ("M-10", ["HR-07", "HR-08", "HR-09"], "double-tap"),
        ("M-11", ["HR-11", "HR-13", "HR-14"], "uncertain-retry"),
        ("M-13", ["HR-03", "HR-59"], nil),
    ]

    /// Rows that traffic can't show.
    static let outOfScope = ["M-01", "M-12"]

    static func rows(_ results: [RuleResult], exercised: Set<String>) -> [String: Exercise] {
        let verdicts = Dictionary(results.map { ($0.id, $0) }) { first, _ in first }
        var matrix: [String: Exercise] = [:]
        for id in outOfScope { matrix[id] = .outOfScope }
        for (id, rules, needs) in rows {
            let own = rules.compactMap { verdicts[$0] }
            let isViolated = own.contains { result in
                result.verdict == .fail && result.findings.contains { $0.severity == .error }
            }
            let passes = own.filter { $0.verdict == .pass }
            let isProven =
                own.count == rules.count && !passes.isEmpty
                && own.allSatisfy { $0.verdict == .pass || $0.verdict == .notApplicable }
                && needs.map(exercised.contains) ?? true
            matrix[id] = isViolated ? .violated : isProven ? .proven : .notShown
        }
        return matrix
    }
}
