internal import SessionTrace

/// **HC-04 marks-consistent.** The marks agree with each other and come in an order that can have happened.
///
/// One id with two contents, a half without its other half, a tap in an app that was killed and not launched again, or
/// anything after `end`, or a mark that can't be read makes the rules that use marks inconclusive. Kinds that are not known are kept, with a warning.
enum MarksConsistent: Rule {
    static let description = RuleDescription(
        id: "HC-04", name: "marks-consistent", severity: .warning,
        sentence: "The marks do not contradict each other.", heading: "The test matrix",
        inconclusiveWhen:
            "two marks with one id say different things, their order can't have happened, or one can't be read")

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no marks"
        if !session.marks.marks.isEmpty { judgement.exercised() }
        for conflict in session.marks.conflicts {
            judgement.doubt(
                "marks-inconsistent", conflict, remedy: "give each mark an id of its own, and each pre its post")
        }
        for mark in session.summary.unreadableMarks {
            judgement.doubt(
                "unreadable-mark", "a mark could not be read: \(mark)", remedy: "mend the mark, and record again")
        }
        var isKilled = false
        var hasEnded = false
        for mark in session.marks.marks {
            if hasEnded, mark.kind != .note, mark.kind != .end {
                judgement.doubt(
                    "marks-inconsistent", "\(withArticle(mark.kind.rawValue)) mark comes after the end mark",
                    remedy: "send end last")
            }
            switch mark.kind {
            case .kill: isKilled = true
            case .launch: isKilled = false
            case .end: hasEnded = true
            case .tap where isKilled:
                judgement.doubt(
                    "marks-inconsistent", "a tap is marked after kill and before any launch",
                    remedy: "mark the launch too")
            default: continue
            }
        }
        if !session.marks.unknownKinds.isEmpty {
            judgement.information(
                "unknown-mark",
                "marks of unknown kinds are kept, but mean nothing here: \(session.marks.unknownKinds.joined(separator: ", "))",
                evidence: [])
        }
        judgement.passSentence = "\(counted(session.marks.marks.count, "mark")), none contradicts another"
    }
}
