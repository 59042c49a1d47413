internal import SessionTrace

/// **HC-09 instrument-neutral.** What recorded the session changed nothing: no retry, no merging, no rewriting, no answer of
/// its own.
///
/// A passive capture can't change anything. The recording proxy relays byte for byte and says of itself what it did: faults
/// that it injected as asked are listed. Of another program's proxy (CONNECT or absolute requests in a capture that is none
/// of our own) nothing is known: an assumption of the rules about session requests.
enum InstrumentNeutral: Rule {
    static let description = RuleDescription(
        id: "HC-09", name: "instrument-neutral", severity: .warning,
        sentence: "What recorded the session changed nothing in it.", heading: "The test matrix",
        inconclusiveWhen: "the recording proxy did something to a session request that it was not asked for")

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.exercised()
        let faults = session.proxyFaults.filter { !($0.attributes["detail"]?.hasPrefix("fault-not-injected") ?? false) }
        for fault in faults.prefix(50) {
            let rule = fault.attributes["rule"] ?? fault.attributes["fault"] ?? "a fault"
            judgement.information(
                "fault-injected", "the proxy injected, as asked: \(session.redactor.text(rule))",
                evidence: [
                    Evidence(
                        label: "injected fault", packets: fault.packet.map { [$0.number] } ?? [],
                        span: TimeSpan(fault.at), connection: fault.connection, subject: "injected fault")
                ])
        }
        if session.summary.isOwnRecording {
            judgement.passSentence =
                "recorded by the relaying proxy, byte for byte; \(counted(faults.count, "fault")) injected as asked"
            if let failure = session.proxyFailures.first(where: { failure in
                failure.kind != .leafRefused && failure.kind != .leafSuspected
                    && failure.host.map(session.mayServeSessions) ?? false
            }) {
                judgement.doubt(failure.kind.rawValue, failure.sentence, remedy: failure.remedy)
            }
        } else if session.usesForeignProxy {
            judgement.passSentence = "recorded through another program's proxy, which is taken to change nothing"
            judgement.assume(
                "foreign-proxy",
                "requests went through another program's proxy; whether it retries or rewrites is not known")
        } else {
            judgement.passSentence = "captured passively: nothing stands between the device and its hosts"
        }
    }
}
