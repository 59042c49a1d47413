internal import SessionTrace

/// **HR-46 no-handoff-url-in-telemetry.** Neither the handoff URL nor its token reaches a telemetry host.
///
/// The contract (CONTRACT.md, "Forbidden") keeps the URL out of analytics, attribution, crash reports and logs. Each
/// message of the device is searched in every decoding; the shape of a token counts even when this trace holds no
/// session response. What counts is what the app, or an unknown sender, sent: a Chia page's own analytics is Chia's.
///
/// A pass needs `observe-after` of trace after the URL was known, or a background and a relaunch; else it says how long
/// it watched. Inconclusive: data to telemetry, partner or unknown hosts that stayed unread after that moment. Unread
/// services of the system are an assumption.
enum NoHandoffURLInTelemetry: Rule {
    static let description = RuleDescription(
        id: "HR-46", name: "no-handoff-url-in-telemetry", severity: .error,
        sentence: "The handoff URL and its token never reach a telemetry host, in any encoding.",
        heading: "Forbidden", matrix: ["M-06"],
        inconclusiveWhen:
            "traffic to telemetry, partner or unknown hosts stayed unread after the handoff URL was known, or nothing tells whether the app or a page of Chia sent what holds it"
    )

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no handoff URL or token was seen"
        for leak in session.leaks where LeakRules.isTelemetry(leak.host, session) {
            for hit in leak.hits where hit.isHandoffToken { report(leak, hit, session, &judgement) }
        }
        LeakRules.reportSplits(session, &judgement) { LeakRules.isTelemetry($0.leaks.first?.host, session) }
        LeakRules.reportHints(session, &judgement) { LeakRules.isTelemetry($0, session) }
        session.doubtUnnamedAnswer(&judgement)
        guard let since = LeakRules.knownSince(session) else {
            LeakRules.doubtUnknownURL(session, &judgement)
            return
        }
        judgement.exercised()
        for url in session.urls { judgement.looked(at: url.evidence) }
        let telemetry = session.tallies.keys.filter { LeakRules.isTelemetry($0, session) }.count
        judgement.passSentence =
            "not found in \(counted(session.appRequests, "request")) of the app; \(counted(telemetry, "telemetry host")) contacted"
        LeakRules.doubtUnread(since: since, session, &judgement)
        if session.urls.isEmpty { session.doubtMissingAttempts(&judgement) }
    }

    private static func report(_ leak: LeakRecord, _ hit: LeakHit, _ session: Session, _ judgement: inout Judgement) {
        let sentence =
            "\(LeakRules.name(hit, session)) was sent to \(LeakRules.receiver(leak, session)) in \(hit.place)"
        let place = LeakRules.place(leak, hit, session)
        let named = [leak.evidence("token-like name", hit)]
        if LeakRules.settleName(hit, sentence, place: place, evidence: named, session, &judgement) { return }
        let blame = LeakRules.blame(leak, session)
        let evidence = [leak.evidence(blame == .app || blame == .unknown ? "leak" : "not the app's", hit)]
        if LeakRules.settle(blame, sentence, place: place, evidence: evidence, &judgement) { return }
        if blame == .system {
            judgement.information("not-the-app", "\(sentence), by the system", place: place, evidence: evidence)
        } else {
            judgement.violation(
                "telemetry-leak", "\(sentence), by \(LeakRules.sender(leak, session)) (\(leak.actor.reason))",
                place: place, evidence: evidence)
        }
    }
}
