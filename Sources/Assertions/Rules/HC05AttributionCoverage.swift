internal import SessionTrace

/// **HC-05 attribution-coverage.** Who sent the flows of each role is known.
///
/// A flow to Chia of an unknown sender makes the rules inconclusive that tell app from browser.
enum AttributionCoverage: Rule {
    static let description = RuleDescription(
        id: "HC-05", name: "attribution-coverage", severity: .warning,
        sentence: "Who sent each flow to Chia is known.", heading: "The test matrix",
        inconclusiveWhen: "nothing tells who sent a flow to Chia")

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no contact with Chia"
        var counts: [Actor: Int] = [:]
        for contact in session.contacts {
            judgement.looked(at: contact.evidence)
            counts[contact.actor.actor, default: 0] += 1
        }
        if let unknown = session.contacts.first(where: { $0.actor.actor == .unknown }) {
            judgement.doubt(
                "actor-unknown",
                "\(counts[.unknown] ?? 0) of \(session.contacts.count) contacts with Chia have no known sender, the first "
                    + "\(unknown.means) of \(unknown.host): \(unknown.actor.reason)",
                remedy: "give the keys of the browser too, or capture with process names (PKTAP, PCAPdroid)")
        }
        if session.contacts.contains(where: { $0.actor.actor == .browser && !$0.actor.isDefinite }) {
            judgement.assume("browser-by-headers", "the browser is told by its headers, not by a recorded process")
        }
        judgement.passSentence = counts.sorted { $0.key.rawValue < $1.key.rawValue }
            .map { "\($0.value) by \($0.key.rawValue)" }.joined(separator: ", ")
    }
}
