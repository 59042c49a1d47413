internal import SessionTrace

/// **HR-54 no-key-in-telemetry.** The idempotency key of a session request reaches no telemetry host.
///
/// Not in the contract, but derived from it: with the key in a log, one session can be told from another there. Each
/// finding is information and weighs nothing.
///
/// Inconclusive: connections to telemetry, or to a host without a name, that stayed unread or came to nothing after the key
/// was first sent. Trap: the key in the session request itself, and
/// in requests to the partner (HR-59).
enum NoKeyInTelemetry: Rule {
    static let description = RuleDescription(
        id: "HR-54", name: "no-key-in-telemetry", severity: .info,
        sentence: "The idempotency key reaches no telemetry host.", heading: "Forbidden",
        inconclusiveWhen: "connections to telemetry stayed unread after the key was sent",
        options: ["hosts: {telemetry, opaque-ok}"],
        example:
            "A crash report holds the headers of the session request. Information: key-in-telemetry, with vendor and field."
    )

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no session request with a key"
        guard let since = session.operations.compactMap({ $0.attempts.first?.started }).min() else {
            session.doubtMissingAttempts(&judgement)
            return
        }
        judgement.exercised()
        var found = 0
        for leak in session.leaks where LeakRules.isTelemetry(leak.host, session) {
            guard !leak.actor.actor.isElsewhere else { continue }
            for hit in leak.hits where hit.needle?.kind == .idempotencyKey {
                found += 1
                judgement.information(
                    "key-in-telemetry",
                    "the idempotency key \(hit.needle?.label ?? "") was sent to \(LeakRules.receiver(leak, session)) in \(hit.place)",
                    place: LeakRules.place(leak, hit, session), evidence: [leak.evidence("leak", hit)])
            }
        }
        judgement.passSentence =
            "\(counted(session.operations.count, "key")), found in \(counted(found, "message")) to telemetry"
        session.doubtUnread(from: since, until: .distantFuture, &judgement) { host in
            host == nil || LeakRules.isTelemetry(host, session)
        }
    }
}
