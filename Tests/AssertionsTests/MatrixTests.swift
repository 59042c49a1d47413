import SessionTrace
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

    /// What does not apply shows nothing of a row that asks for it.
    @Test(arguments: [
        ("M-02", ["HR-37"], "HR-24", nil), ("M-03", ["HR-41"], "HR-41", nil), ("M-04", ["HR-33"], "HR-34", nil),
        ("M-05", ["HR-01"], "HR-02", nil), ("M-07", ["HR-65"], "HR-65", "invalid-context"),
        ("M-08", ["HR-63", "HR-64"], "HR-61", "crafted-return"), ("M-09", ["HR-42", "HR-43"], "HR-44", nil),
        ("M-11", ["HR-13", "HR-14"], "HR-11", "uncertain-retry"),
    ]) func whatARowAsksForMustPass(row: String, essential: [String], other: String, need: String?) {
        let exercised = Set([need].compactMap(\.self))
        var verdicts: [String: Verdict] = [other: .pass]
        for id in essential { verdicts[id] = .pass }
        #expect(Matrix.rows(Self.results(verdicts), exercised: exercised)[row] == .proven)
        if need != nil { #expect(Matrix.rows(Self.results(verdicts), exercised: [])[row] == .notShown) }
        for id in essential {
            verdicts[id] = .notApplicable
            #expect(Matrix.rows(Self.results(verdicts), exercised: exercised)[row] == .notShown, "\(id)")
            verdicts[id] = .pass
        }
    }

    @Test func theLastRowNeedsAllItsRules() throws {
        let row = try #require(ContractMatrix.rows.first { $0.id == "M-13" })
        var verdicts = Dictionary(uniqueKeysWithValues: row.rules.map { ($0, Verdict.notApplicable) })
        verdicts["HR-03"] = .pass
        verdicts["HR-59"] = .pass
        #expect(Matrix.rows(Self.results(verdicts), exercised: [])["M-13"] == .proven)
        verdicts["HR-57"] = nil
        #expect(Matrix.rows(Self.results(verdicts), exercised: [])["M-13"] == .notShown)
    }

    private static func exercised(_ story: (inout ScriptedSession) -> Void) throws -> Set<String> {
        var session = ScriptedSession.inTheBrowser()
        story(&session)
        return try session.judge().exercised
    }

    @Test func aContextThatIsNotValidIsSeen() throws {
        #expect(try !Self.exercised { _ in }.contains("invalid-context"))
        #expect(try Self.exercised { $0.browse(ScriptedSession.url, at: 1_000) }.contains("invalid-context"))
        #expect(try !Self.exercised { $0.browse(ScriptedSession.url, at: 900) }.contains("invalid-context"))
        #expect(try Self.exercised { $0.browse(ScriptedSession.url, at: 60, status: 410) }.contains("invalid-context"))
        #expect(try !Self.exercised { $0.browse(ScriptedSession.url, at: 60, status: 500) }.contains("invalid-context"))
        #expect(try Self.exercised { $0.browse(ScriptedSession.otherURL, at: 60) }.contains("invalid-context"))
        #expect(
            try Self.exercised { $0.mark(.scenario, at: 0, attributes: ["context": "expired"]) }.contains(
                "invalid-context"))
        #expect(
            try !Self.exercised { $0.mark(.scenario, at: 0, attributes: ["context": "valid"]) }.contains(
                "invalid-context"))
    }

    @Test func comingBackAndCraftedReturnsAreSeen() throws {
        #expect(try Self.exercised { $0.mark(.foreground, at: 50) }.contains("foreground"))
        #expect(try !Self.exercised { _ in }.contains("foreground"))
        #expect(
            try Self.exercised { $0.mark(.return, at: 50, attributes: ["a": "canary-1"]) }.contains("crafted-return"))
        #expect(try !Self.exercised { $0.mark(.return, at: 50) }.contains("crafted-return"))
    }
}
