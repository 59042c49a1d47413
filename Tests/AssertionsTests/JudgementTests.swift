import SessionTrace
import Testing

@testable import Assertions

/// What a rule may write down, and how much of it is kept.
@Suite struct JudgementTests {
    private static func judgement() -> Judgement { Judgement(NoPreconnect.description) }

    @Test func aDoubtIsToldOnce() {
        var judgement = Self.judgement()
        for (code, sentence) in [("a", "x"), ("a", "x"), ("a", "y"), ("b", "x")] {
            judgement.doubt(code, sentence, remedy: "")
        }
        #expect(judgement.doubts.map { $0.code + $0.sentence } == ["ax", "ay", "bx"])
    }

    @Test func fiftyDoubtsAreKept() {
        var judgement = Self.judgement()
        for number in 0..<60 { judgement.doubt("a", "\(number)", remedy: "") }
        #expect(judgement.doubts.count == 50)
    }

    @Test func anAssumptionIsToldOnceForEachCode() {
        var judgement = Self.judgement()
        for (code, sentence) in [("a", "x"), ("a", "y"), ("b", "x")] { judgement.assume(code, sentence) }
        #expect(judgement.assumptions.map { $0.code + $0.sentence } == ["ax", "bx"])
    }

    /// One message at one place is one finding; another message, or another place, is another.
    @Test func aFindingIsToldOnce() {
        var judgement = Self.judgement()
        for (message, place) in [("x", "1"), ("x", "1"), ("y", "1"), ("x", "2")] {
            judgement.violation("kind", message, place: [place], evidence: [])
        }
        #expect(judgement.findings.map(\.message) == ["x", "y", "x"])
        #expect(Set(judgement.findings.map(\.fingerprint)).count == 2)
    }

    /// What is beyond the limit is counted, but for what weighs nothing; each severity has its own room.
    @Test func aHundredFindingsOfASeverityAreKept() {
        var judgement = Self.judgement()
        for number in 0..<99 { judgement.violation("kind", "\(number)", evidence: []) }
        for number in 0..<101 { judgement.information("kind", "note \(number)", evidence: []) }
        #expect(judgement.findings.count == 199 && judgement.uncounted == 0)
        judgement.violation("kind", "the last one", evidence: [])
        #expect(judgement.findings.count == 200 && judgement.uncounted == 0)
        #expect(judgement.overflow(atLeast: .warning) == nil)
        for number in 0..<100 { judgement.violation("kind", severity: .warning, "warning \(number)", evidence: []) }
        #expect(judgement.findings.count == 300 && judgement.uncounted == 0)
        judgement.violation("kind", severity: .warning, "more", evidence: [])
        #expect(judgement.findings.count == 300 && judgement.uncounted == 1)
        #expect(judgement.overflow(atLeast: .error) == nil)
        #expect(judgement.overflow(atLeast: .warning)?.sentence.hasPrefix("1 violation more") ?? false)
        judgement.violation("kind", "more still", evidence: [])
        #expect(judgement.uncounted == 2)
        #expect(judgement.overflow(atLeast: .error)?.code == "findings-full")
        #expect(judgement.overflow(atLeast: .warning)?.sentence.hasPrefix("2 violations more") ?? false)
    }

    @Test func whatAnExceptionTakesTheWeightFromIsAccepted() {
        var judgement = Self.judgement()
        judgement.violation("kind", "x", evidence: [])
        judgement.violation("kind", "y", evidence: [])
        judgement.information("kind", "z", evidence: [])
        judgement.changeFindings { finding in if finding.message != "y" { finding.severity = .info } }
        #expect(judgement.accepted == 1)
    }

    @Test func twoHundredPiecesOfEvidenceAreKept() {
        var judgement = Self.judgement()
        #expect(!judgement.isExercised)
        let piece = Evidence(label: "a", packets: [1], span: TimeSpan(ScriptedSession.instant(0)), subject: "")
        for _ in 0..<210 { judgement.looked(at: piece) }
        #expect(judgement.lookedAt.count == 200 && judgement.isExercised)
    }

    /// The first eight bytes of SHA-256, two digits a byte.
    @Test func aFingerprintIsSixteenDigits() {
        #expect(Judgement.fingerprint(["abc"]) == "ba7816bf8f01cfea")
        for number in 0..<100 { #expect(Judgement.fingerprint(["\(number)"]).utf8.count == 16) }
        #expect(Judgement.fingerprint(["a", "b"]) != Judgement.fingerprint(["ab"]))
    }
}
