internal import SessionTrace

/// **HR-49 no-deferred-leak.** What was queued in the flow does not leave at the next start of the app.
///
/// Crash reporters and analytics keep breadcrumbs and events, and send them when the app starts again: HR-46 and HR-47
/// see nothing of it while nothing is sent. So (CONTRACT.md, "Forbidden") the trace must hold a background, a kill and a
/// launch after the handoff URL was known; then nothing after that launch may hold it. A token of an earlier session in
/// this trace is such a leak too. A token in pieces counts like a whole one (HR-47).
///
/// Inconclusive: crash reporters were contacted, and no such window was recorded.
///
/// Traps: a launch before the URL was known is no window; a Chia page that the browser restores sends its own analytics.
enum NoDeferredLeak: Rule {
    static let description = RuleDescription(
        id: "HR-49", name: "no-deferred-leak", severity: .error,
        sentence: "After a background, a kill and a new launch, nothing that was queued in the flow sends the handoff "
            + "URL or its token.",
        heading: "Forbidden", matrix: ["M-06"],
        inconclusiveWhen:
            "crash reporters were contacted, and the trace holds no background, kill and launch after the handoff URL "
            + "was known",
        options: ["hosts: {telemetry}", "timing: {observe-after}"],
        example:
            "The app is killed after the flow; at the next start its crash reporter uploads a session whose breadcrumbs "
            + "name the handoff URL: fail, with the upload, its place and the time since the launch."
    )

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        let since = LeakRules.knownSince(session)
        let launch = since.flatMap { relaunch(since: $0, session) }
        for leak in session.leaks {
            for hit in leak.hits where hit.isHandoffToken {
                if let launch, leak.started >= launch {
                    report(leak, hit, launch, session, &judgement)
                } else if isOfEarlierSession(hit.matched, session) {
                    report(leak, hit, nil, session, &judgement)
                }
            }
        }
        LeakRules.reportSplits(session, &judgement) { split in
            guard !session.role(of: split.leaks.first?.host).isChia else { return false }
            if let launch, split.leaks.contains(where: { $0.started >= launch }) { return true }
            return split.needle.kind == .token && isOfEarlierSession(split.needle.value, session)
        }
        judgement.idleSentence = "no handoff URL or token was seen"
        guard let since else {
            LeakRules.doubtUnknownURL(session, &judgement)
            return
        }
        let reporters = crashReporters(session)
        guard let launch else {
            judgement.idleSentence = "no crash reporter was contacted, and the app was not killed and launched again"
            guard let first = reporters.first else { return }
            judgement.doubt(
                "no-deferred-window",
                "\(first) sends at the next launch what it queued\(reporters.count > 1 ? " (and \(reporters.count - 1) more)" : ""), "
                    + "and no background, kill and launch was recorded after the handoff URL was known",
                remedy:
                    "after the flow mark a background, kill the app, mark the kill, launch it again, mark the launch, "
                    + "and record for \(session.policy.timing.observeAfter)")
            return
        }
        judgement.exercised()
        for url in session.urls { judgement.looked(at: url.evidence) }
        let watched = Nanoseconds(max(0, session.span.latest.nanoseconds(since: launch)))
        judgement.passSentence =
            "nothing of a handoff URL was sent within \(watched) after the app was launched again; "
            + "\(counted(reporters.count, "crash reporter")) contacted"
        if watched < session.policy.timing.observeAfter {
            judgement.assume(
                "observed-only",
                "observed only \(watched) after the launch, not \(session.policy.timing.observeAfter)")
        }
        if !reporters.isEmpty, !session.marks.attributes.values.contains(where: { $0.lowercased().contains("crash") }) {
            judgement.assume("crash-not-forced", "no scenario forced a crash, so that no crash report was due")
        }
        LeakRules.doubtUnread(since: max(since, launch), "the app was launched again", session, &judgement)
    }

    /// When the app was launched after a background and a kill that came after an instant.
    private static func relaunch(since: Instant, _ session: Session) -> Instant? {
        guard session.marks([.background]).contains(where: { $0.span.earliest >= since }),
            let kill = session.marks([.kill]).first(where: { $0.span.earliest >= since })
        else { return nil }
        return session.marks([.launch]).first { $0.span.earliest >= kill.span.earliest }?.span.earliest
    }

    /// Whether a token is none of those that this trace's own sessions brought or opened.
    private static func isOfEarlierSession(_ value: Secret, _ session: Session) -> Bool {
        // A piece of a token of this trace's is that token's.
        if session.urls.contains(where: { $0.token.utf8.starts(with: value.bytes) }) { return false }
        return !session.chiaRequests.contains { record in
            guard record.actor.actor == .browser, let path = record.address?.path, let token = Token.first(in: path)
            else { return false }
            return Secret(token) == value
        }
    }

    /// Hosts of crash reporters that were contacted, with their vendors.
    private static func crashReporters(_ session: Session) -> [String] {
        session.tallies.keys.sorted { $0.text < $1.text }.compactMap { host in
            guard let vendor = session.roles.vendor(of: host), vendor.hasSuffix(", crash") else { return nil }
            return "\(session.redactor.host(host.text)) (\(vendor))"
        }
    }

    private static func report(
        _ leak: LeakRecord, _ hit: LeakHit, _ launch: Instant?, _ session: Session, _ judgement: inout Judgement
    ) {
        let when =
            launch.map { "\(Nanoseconds(leak.started.nanoseconds(since: $0))) after the app was launched again" }
            ?? "though it is of no session of this trace"
        let sentence =
            "\(LeakRules.name(hit, session)) was sent to \(LeakRules.receiver(leak, session)) in \(hit.place), \(when)"
        let place = LeakRules.place(leak, hit, session)
        let named = [leak.evidence("token-like name", hit)]
        if LeakRules.settleName(hit, sentence, place: place, evidence: named, session, &judgement) { return }
        let blame = LeakRules.blame(leak, session)
        let settled = LeakRules.settle(
            blame, sentence, place: place, evidence: [leak.evidence("not the app's", hit)], &judgement)
        if settled { return }
        if blame == .unknown, session.role(of: leak.host).isChia {
            return LeakRules.doubtSender("\(sentence): \(leak.actor.reason)", &judgement)
        }
        let sender = blame == .unknown ? "an unknown sender" : leak.actor.actor.rawValue
        judgement.violation(
            "deferred-leak", "\(sentence), by \(sender) (\(leak.actor.reason))", place: place,
            evidence: [leak.evidence("deferred leak", hit)])
    }
}
