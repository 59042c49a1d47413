internal import SessionTrace

/// **HC-06 capture-complete.** Nothing is missing from the capture: no drops, truncated packets, holes, cut bodies,
/// spent decode budgets, full tables, and the file ends where it should.
///
/// What is missing makes the rules inconclusive that need the affected flows.
enum CaptureComplete: Rule {
    static let description = RuleDescription(
        id: "HC-06", name: "capture-complete", severity: .warning,
        sentence: "Nothing is missing from the capture.", heading: "The test matrix",
        inconclusiveWhen: "packets, bytes, bodies or the end of the file are missing")

    private static let reasons: Set<BlindSpot.Reason> = [
        .tcpHole, .truncatedPacket, .fragmentMissing, .oneSided, .headerTableUnknown, .unreadableMessage,
        .bodyOverLimit,
        .undecodableContent, .decodeBudget, .stateGivenUp, .captureDrops, .unreadablePackets, .fileCutShort,
        .recordingStopped,
    ]

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.exercised()
        if !session.isWhole {
            judgement.doubt(
                BlindSpot.Reason.fileCutShort.rawValue,
                "the trace was cut short\(session.summary.notes.first.map { ": \($0)" } ?? "")",
                remedy: Session.remedy(.fileCutShort))
        }
        session.doubtCapture(&judgement)
        var counts: [BlindSpot.Reason: Int] = [:]
        for record in session.blindSpots where reasons.contains(record.spot.reason) {
            counts[record.spot.reason, default: 0] += 1
        }
        for (reason, count) in counts.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            guard let first = session.blindSpots.first(where: { $0.spot.reason == reason }) else { continue }
            judgement.doubt(
                reason.rawValue,
                "\(count) × \(reason.rawValue), the first at packet \(first.spot.noticed.number)"
                    + (first.names.first.map { " (\($0))" } ?? ""), remedy: Session.remedy(reason))
        }
        if let gap = session.scanGaps.first {
            judgement.doubt(
                BlindSpot.Reason.undecodableContent.rawValue,
                "\(session.scanGaps.count) bodies could not be searched in full, the first \(gap.evidence.subject)",
                remedy: Session.remedy(.undecodableContent))
        }
        judgement.passSentence = "\(session.summary.packets) packets, no drops, holes or cuts known"
    }
}
