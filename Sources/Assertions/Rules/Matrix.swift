/// The rows of the contract's test matrix, as one trace shows them.
enum Matrix {
    /// What a trace must exercise before a row counts as shown by it.
    private static let needs = ["M-10": "double-tap", "M-11": "uncertain-retry"]
    /// Rows of which too few rules are judged by this version for a pass to prove them; a violation still shows.
    private static let unproven: Set<String> = ["M-13"]

    static func rows(_ results: [RuleResult], exercised: Set<String>) -> [String: Exercise] {
        let verdicts = Dictionary(results.map { ($0.id, $0) }) { first, _ in first }
        var matrix: [String: Exercise] = [:]
        for row in ContractMatrix.rows {
            guard row.isDecidable else {
                matrix[row.id] = .outOfScope
                continue
            }
            let own = row.rules.compactMap { verdicts[$0] }
            let isViolated = own.contains { $0.verdict == .fail && $0.severity == .error }
            let isProven =
                own.contains { $0.verdict == .pass } && !unproven.contains(row.id)
                && own.allSatisfy {
                    ($0.verdict == .pass || $0.verdict == .notApplicable) && $0.acceptedViolations == 0
                }
                && needs[row.id].map(exercised.contains) ?? true
            matrix[row.id] = isViolated ? .violated : isProven ? .proven : .notShown
        }
        return matrix
    }
}
