/// The rows of the contract's test matrix, as one trace shows them.
enum Matrix {
    /// What a trace must exercise before a row counts as shown by it.
    private static let needs = [
        "M-07": "invalid-context", "M-08": "crafted-return", "M-10": "double-tap", "M-11": "uncertain-retry",
    ]
    /// Rules that must pass before a row counts as shown: that they do not apply shows nothing.
    private static let essential = [
        "M-02": ["HR-37"], "M-03": ["HR-41"], "M-04": ["HR-33"], "M-05": ["HR-01"], "M-06": ["HR-46"],
        "M-07": ["HR-65"], "M-08": ["HR-63", "HR-64"], "M-09": ["HR-42", "HR-43"], "M-10": ["HR-07"],
        "M-11": ["HR-13", "HR-14"], "M-13": ["HR-03", "HR-59"],
    ]
    /// Rows of which every rule must have been judged: some of them alone say little of what the row demands.
    private static let whole: Set<String> = ["M-13"]

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
            let isClean = own.allSatisfy {
                ($0.verdict == .pass || $0.verdict == .notApplicable) && $0.acceptedViolations == 0
            }
            let isShown = (essential[row.id] ?? []).allSatisfy { verdicts[$0]?.verdict == .pass }
            let isProven =
                isClean && isShown && (!whole.contains(row.id) || own.count == row.rules.count)
                && needs[row.id].map(exercised.contains) ?? true
            matrix[row.id] = isViolated ? .violated : isProven ? .proven : .notShown
        }
        return matrix
    }
}
