internal import SessionTrace

/// **HR-27 opens-initiating-response-url.** What is opened is the URL that came back to the latest session request, after
/// it came back, and because of a tap.
///
/// The contract (CONTRACT.md, "The tap sequence" 5) lets the app open only the URL that came back to that request. Each
/// opening of a handoff URL is held against the attempts before it: an older URL than the latest that was
/// delivered, one opened after a later attempt had failed, one opened after the app was started anew without a share
/// tap, one that was opened before any answer brought it, and one that no answer in the trace brought at all, though the
/// app had just been tapped, are violations. That a URL is opened more than once is HR-26's; which one the app opens then, and
/// whether it was tapped for, is this rule's too.
///
/// Inconclusive: session traffic or connections to Chia that could not be read; an address with a token that no answer
/// brought and no tap explains (a browser that restores its tabs, a trace that began midway).
enum OpensInitiatingResponseURL: Rule {
    static let description = RuleDescription(
        id: "HR-27", name: "opens-initiating-response-url", severity: .error,
        sentence: "The URL that is opened is the one that the latest session request brought, once it was there.",
        heading: "The tap sequence",
        inconclusiveWhen: "session traffic stayed unread, or nothing tells where an opened handoff URL came from",
        options: ["requests: {session}"],
        example:
            "The second share brings U#2, and the app opens U#1 again from a cache. Fail: U#1 was opened, though U#2 had come 400 ms before."
    )

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no handoff URL was opened"
        var sentences: [String] = []
        let acts = session.acts()
        for (index, url) in session.urls.enumerated() {
            let openings = session.openings(of: index)
            guard let opening = openings.first else { continue }
            judgement.looked(at: url.evidence)
            judgement.looked(at: opening.evidence("opening"))
            if isFine(opening, url, session, &judgement) {
                let gap = Nanoseconds(opening.started.nanoseconds(since: url.since))
                sentences.append("\(url.label) \(gap) after the answer to attempt \(url.attempt)")
            }
            for (before, further) in zip(openings, openings.dropFirst())
            where isOfApp(further, after: before, acts, session) {
                _ = isFine(further, after: before, url, session, &judgement)
            }
        }
        judgeStrangers(session, &judgement)
        judgement.passSentence = "opened: \(sentences.joined(separator: "; "))"
        if judgement.isExercised {
            session.doubtSessionTraffic(&judgement)
            session.doubtPolicy(&judgement)
            if session.taps.isEmpty {
                judgement.assume("tap-assumed", "no tap is marked; each session request is taken to have followed one")
            }
        }
        session.doubtOpenings(&judgement)
    }

    /// Whether a further opening of a URL is the app's, and not the browser's own (HR-26 judges that it happened).
    private static func isOfApp(
        _ opening: Navigation, after before: Navigation, _ acts: [AppAct], _ session: Session
    ) -> Bool {
        !opening.first.revalidates && !session.isOfAnotherDevice(opening.first.client?.address)
            && session.perhapsReturn(opening.first, after: before.first) == nil
            && session.act(before: opening, among: acts) != nil
    }

    private static func isFine(
        _ opening: Navigation, after before: Navigation? = nil, _ url: HandoffURL, _ session: Session,
        _ judgement: inout Judgement
    ) -> Bool {
        let own = session.attempts[url.attempt - 1]
        let evidence = [url.evidence, opening.evidence("opening")]
        func violation(_ kind: String, _ why: String, _ more: [Evidence] = []) -> Bool {
            judgement.violation(
                kind, "\(url.label) was opened, \(why)", place: [opening.first.pathTemplate],
                evidence: evidence + more)
            return false
        }
        func ago(_ instant: Instant) -> Nanoseconds { Nanoseconds(opening.started.nanoseconds(since: instant)) }
        if opening.started < own.started {
            let gap = Nanoseconds(own.started.nanoseconds(since: opening.started))
            return violation("opened-before-request", "\(gap) before the session request that brought it")
        }
        let since = opening.started < url.since ? own.started : url.since
        if let newer = session.urls.last(where: {
            $0.label != url.label && $0.since > since && $0.since <= opening.started
        }) {
            let attempt = session.attempts[newer.attempt - 1]
            if attempt.delivered == nil {
                judgement.doubt(
                    "delivery-unknown",
                    "\(url.label) was opened, and whether the newer \(newer.label) had reached the device is not known",
                    remedy: "capture both directions near the device")
                return false
            }
            if attempt.delivered == true {
                return violation(
                    "older-url", "though \(newer.label) had come \(ago(newer.since)) before", [newer.evidence])
            }
        }
        if let failed = session.attempts.last(where: {
            $0.started > since && $0.ended <= opening.started && ($0.outcome == .uncertain || $0.outcome == .definitive)
        }) {
            return violation(
                "after-failed-attempt", "\(ago(failed.ended)) after \(failed.name) had failed", [failed.evidence()])
        }
        // A tap has had its page with the first opening.
        let starts: Set<Mark.Kind> = before == nil ? [.launch] : [.launch, .foreground, .restore]
        let from = max(since, before?.started ?? since)
        func last(_ kinds: Set<Mark.Kind>) -> Mark? {
            session.marks(kinds).last {
                $0.span.earliest > from && $0.span.latest < opening.started
            }
        }
        func isTapped(since mark: Mark) -> Bool {
            session.shareBursts.contains { $0.reach > mark.span.earliest && $0.reach <= opening.started }
        }
        if before == nil || !session.taps.isEmpty, let start = last(starts), !isTapped(since: start) {
            let bound = session.bound(of: start).count
            guard start.span.earliest.nanoseconds(since: from) > bound,
                opening.started.nanoseconds(since: start.span.latest) > bound
            else {
                judgement.doubt(
                    "clock-bound",
                    "\(url.label) was opened \(ago(start.span.earliest)) after the app's \(start.kind.rawValue), which is known to ±\(Nanoseconds(bound))",
                    remedy: "send the marks through the trace's own clock, from the test script")
                return false
            }
            return violation(
                "without-tap",
                "\(ago(start.span.earliest)) after the app's \(start.kind.rawValue), without a share tap since")
        }
        // An app that was killed opens nothing: the browser had the URL, or the app was started again.
        if before == nil, let kill = last([.kill]), !isTapped(since: kill),
            !session.hasMark([.opened], from: since, to: kill.span.earliest)
        {
            judgement.doubt(
                "launch-not-marked",
                "\(url.label) was opened \(ago(kill.span.earliest)) after the app was killed, and neither its handover before nor a start since is marked",
                remedy: "mark opened and launch: {\"kind\":\"launch\"}")
            return false
        }
        return true
    }

    // MARK: addresses with a token that no answer brought

    private static func judgeStrangers(_ session: Session, _ judgement: inout Judgement) {
        for opening in session.foreignOpenings() {
            let evidence = opening.evidence("opening")
            judgement.looked(at: evidence)
            let what = "packet \(opening.first.started.number) opens a handoff URL that no answer in the trace brought"
            let burst = session.shareBursts.last {
                $0.reach <= opening.started
                    && opening.started.nanoseconds(since: $0.lastTap.span.latest)
                        <= OneExternalNavigationPerBurst.patience.count
            }
            let isExplained = session.hasMark([.linkOpened], from: .distantPast, to: opening.started)
            // A tap that has had its page does not explain another; a browser that starts brings its tabs again.
            let isRestored =
                !session.hasMark([.browserClean], from: .distantPast, to: opening.started)
                && session.urls.indices.contains { url in
                    session.openings(of: url).contains {
                        $0.started <= opening.started && $0.started >= burst?.reach ?? .distantPast
                    }
                }
            if let burst, !isExplained, !isRestored, !hidesAnswers(session),
                session.attempts.contains(where: { $0.started >= burst.reach && $0.ended <= opening.started })
            {
                judgement.violation(
                    "foreign-url",
                    "\(what), \(Nanoseconds(opening.started.nanoseconds(since: burst.lastTap.span.latest))) after the share tap",
                    place: [opening.first.pathTemplate], evidence: burst.evidence + [evidence])
            } else {
                judgement.doubt(
                    "url-of-another-session",
                    "\(what); an earlier session, the browser's own tabs or unread traffic may have",
                    remedy:
                        "start with a clean browser and the capture before the app, and give the keys of all session traffic"
                )
            }
        }
    }

    /// Whether a session answer may have gone unread, be torn, or stand in the trace without its request.
    private static func hidesAnswers(_ session: Session) -> Bool {
        session.attempts.contains {
            $0.outcome == .unnamed || $0.outcome == .notSeen || $0.last.record.end == .notSeen
        }
            || session.dark.contains { session.mayServeSessions($0.key) && $0.value.lastData != nil }
            || session.blindSpots.contains { record in
                record.spot.connection != nil && record.spot.from != .client
                    && Session.hidesRequests.contains(record.spot.reason)
                    && record.names.contains(where: session.mayServeSessions)
            }
            || session.contents.leaks.values.contains { leak in
                leak.record == nil && !leak.isPushed && leak.host.map(session.mayServeSessions) ?? true
            }
    }
}
