import Assertions
import SessionTrace
import Testing

@Suite struct ConformingSessionTests {
    @Test func aConformingSharePassesTheHeadline() throws {
        let verdict = try ScriptedSession.conformingShare().judge()
        for id in ["HR-01", "HR-02", "HR-03", "HR-05", "HR-07", "HR-08", "HR-09", "HR-11", "HR-46", "HR-47", "HR-59"] {
            #expect(verdict[id].verdict == .pass, "\(verdict.story)")
        }
        for id in ["HR-13", "HR-14"] { #expect(verdict[id].verdict == .notApplicable, "\(verdict.story)") }
        for id in ["HC-01", "HC-02", "HC-03", "HC-04", "HC-05", "HC-06", "HC-07", "HC-08"] {
            #expect(verdict[id].verdict == .pass, "\(verdict.story)")
        }
        #expect(verdict.exercisedAnything)
        #expect(
            SetVerdict(traces: [JudgedTrace(path: "a", verdict: verdict)], options: SetOptions()).outcome == .conforming
        )
    }
}
