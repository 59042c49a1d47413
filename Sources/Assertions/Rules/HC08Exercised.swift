internal import SessionTrace

/// **HC-08 exercised.** The trace shows a handoff at all: a share or neutral tap, a session request, or a page of Chia
/// opened in the browser.
///
/// No data is never a pass. What the whole input set must show (`must-exercise`) is judged over the set.
enum Exercised: Rule {
    static let description = RuleDescription(
        id: "HC-08", name: "exercised", severity: .warning,
        sentence: "The trace exercises a handoff.", heading: "The test matrix",
        inconclusiveWhen: "there is neither a tap, nor a session request, nor a navigation to Chia")

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.exercised()
        let opened = session.chiaRequests.filter { $0.isNavigation && $0.actor.actor == .browser }.count
        judgement.passSentence =
            "\(counted(session.bursts.count, "burst")) of taps, \(counted(session.attempts.count, "session request")), \(counted(opened, "navigation")) to Chia"
        if let fault = session.proxyFaults.first(where: {
            $0.attributes["detail"]?.hasPrefix("fault-not-injected") ?? false
        }
        ) {
            judgement.doubt(
                "fault-not-injected", "the fault \(fault.attributes["rule"] ?? "?") could not be injected",
                remedy: "let the client offer HTTP/1.1 to the host of the fault")
        }
        guard session.bursts.isEmpty, session.attempts.isEmpty, opened == 0 else { return }
        judgement.doubt(
            "nothing-exercised",
            "no tap, no session request and no navigation to Chia in \(session.summary.packets) packets",
            remedy: "record the handoff itself, mark its taps, and give the keys")
    }
}
