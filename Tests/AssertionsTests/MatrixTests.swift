import Testing

@testable import Assertions

/// The rows of the contract's matrix that one trace shows.
@Suite struct MatrixTests {
    private static func results(_ verdicts: [String: Verdict]) -> [RuleResult] {
        verdicts.map { RuleResult(id: $0.key, name: $0.key, severity: .error, verdict: $0.value, sentence: "") }
    }

    @Test func aRowIsProvenWhenNoRuleOfItIsInDoubt() {
        #expect(Matrix.rows(Self.results(["HR-46": .pass, "HR-47": .notApplicable]), exercised: [])["M-06"] == .proven)
        #expect(
            Matrix.rows(Self.results(["HR-46": .pass, "HR-47": .inconclusive]), exercised: [])["M-06"] == .notShown)
        #expect(Matrix.rows(Self.results(["HR-46": .pass, "HR-47": .fail]), exercised: [])["M-06"] == .violated)
        #expect(Matrix.rows(Self.results(["HR-46": .notApplicable]), exercised: [])["M-06"] == .notShown)
        #expect(Matrix.rows([], exercised: [])["M-01"] == .outOfScope)
    }

    @Test func anAcceptedViolationProvesNoRow() {
        var results = Self.results(["HR-46": .pass, "HR-47": .pass])
        #expect(Matrix.rows(results, exercised: [])["M-06"] == .proven)
        results[0].acceptedViolations = 1
        #expect(Matrix.rows(results, exercised: [])["M-06"] == .notShown)
    }

    @Test func aDoubleTapIsNeededForItsRow() {
        let results = Self.results(["HR-07": .pass, "HR-08": .pass, "HR-09": .pass])
        #expect(Matrix.rows(results, exercised: [])["M-10"] == .notShown)
        #expect(Matrix.rows(results, exercised: ["double-tap"])["M-10"] == .proven)
    }
}
