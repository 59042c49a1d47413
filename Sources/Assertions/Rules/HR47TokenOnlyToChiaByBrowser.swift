internal import SessionTrace

/// **HR-47 token-only-to-chia-by-browser.** The handoff URL and its token leave the device in one way: the browser's
/// request to Chia.
///
/// The contract (CONTRACT.md, "Forbidden" and "The tap sequence" 5) allows no other use. Any other message with the URL
/// or token is a violation, whatever host gets it: the partner's own log endpoint, push registration, a preview service.
/// What a Chia page in the browser starts, and what the browser does for itself, is not the app's.
///
/// The conditions of a pass are HR-46's.
enum TokenOnlyToChiaByBrowser: Rule {
    static let description = RuleDescription(
        id: "HR-47", name: "token-only-to-chia-by-browser", severity: .error,
        sentence: "The handoff URL and its token are sent nowhere but to Chia, and by the browser alone.",
        heading: "Forbidden", matrix: ["M-06"],
        inconclusiveWhen:
            "traffic to hosts other than the system's stayed unread after the handoff URL was known, or nothing tells whether the app or a page of Chia sent what holds it"
    )

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no handoff URL or token was seen"
        for leak in session.leaks {
            for hit in leak.hits where hit.isHandoffToken { report(leak, hit, session, &judgement) }
        }
        LeakRules.reportSplits(session, &judgement) { !session.role(of: $0.leaks.first?.host).isChia }
        session.doubtUnnamedAnswer(&judgement)
        guard let since = LeakRules.knownSince(session) else {
            LeakRules.doubtUnknownURL(session, &judgement)
            return
        }
        judgement.exercised()
        for url in session.urls { judgement.looked(at: url.evidence) }
        let opened = session.chiaRequests.filter {
            $0.actor.actor == .browser && session.handoffURL(askedBy: $0) != nil
        }
        for record in opened.prefix(20) { judgement.looked(at: record.evidence("navigation")) }
        judgement.passSentence =
            "seen in \(opened.count) \(opened.count == 1 ? "request" : "requests") of the browser to Chia, and in none of \(session.appRequests) others"
        LeakRules.doubtUnread(since: since, session, &judgement)
        session.doubtChiaHoles(exceptBrowser: true, &judgement)
        if session.urls.isEmpty { session.doubtMissingAttempts(&judgement) }
        session.doubtChiaHost(&judgement)
    }

    private static func report(_ leak: LeakRecord, _ hit: LeakHit, _ session: Session, _ judgement: inout Judgement) {
        let sentence =
            "\(LeakRules.name(hit, session)) was sent to \(LeakRules.receiver(leak, session)) in \(hit.place)"
        let place = LeakRules.place(leak, hit, session)
        let named = [leak.evidence("token-like name", hit)]
        if LeakRules.settleName(hit, sentence, place: place, evidence: named, session, &judgement) { return }
        let blame = LeakRules.blame(leak, session)
        let settled = LeakRules.settle(
            blame, sentence, place: place, evidence: [leak.evidence("not the app's", hit)], &judgement)
        if settled { return }
        var sender = blame == .system ? "the system" : LeakRules.sender(leak, session)
        if blame == .unknown, session.role(of: leak.host).isChia {
            guard let agent = leak.request?.previewAgent else {
                return LeakRules.doubtSender("\(sentence): \(leak.actor.reason)", &judgement)
            }
            sender = "the link preview service \(agent)"
        }
        judgement.violation(
            "token-sent", "\(sentence), by \(sender) (\(leak.actor.reason))", place: place,
            evidence: [leak.evidence("leak", hit)])
    }
}
