internal import SessionTrace

/// **HR-43 no-outcome-inference-traffic.** Coming back after a handoff, the app sends nothing that guesses how it ended.
///
/// The contract (CONTRACT.md, "The tap sequence" 6 and "Forbidden") lets the app draw no conclusion from timing, focus or a
/// return. For half a minute after each `foreground` or `restore` mark, until the next mark, what the app sends may be a
/// projection, images, a session request of its own operation, and what `requests: foreground-allow` names. A field that
/// speaks of an outcome or a length of time (`outcome`, `converted`, `elapsed_ms` …) in one message element with an item's
/// id is an error, in a WebSocket message too; any other request is a warning, since counters of openings are generic:
/// name them in the policy.
///
/// Inconclusive: what was sent so near the mark that it may have come before or after; a sender that is not known, traffic of the app in that time that stayed unread or came to nothing. Over several runs the requests after
/// coming back must be the same whatever happened: the set of traces is compared by the rule of sets.
/// Traps: events of an SDK that any opening of the app sends; an outcome word in another element of a batch.
enum NoOutcomeInference: Rule {
    static let description = RuleDescription(
        id: "HR-43", name: "no-outcome-inference-traffic", severity: .error,
        sentence: "Coming back after a handoff, the app sends nothing that tells or guesses how it ended.",
        heading: "The tap sequence", matrix: ["M-09"],
        inconclusiveWhen: "nothing tells who sent a request after coming back, or traffic stayed unread",
        options: ["requests: {foreground-allow, home, projection}", "timing: {after-return}"],
        example:
            "After coming back the app posts {\"item\":\"item-4711\",\"elapsed_ms\":48211} to its own collector. Fail, error: outcome-words; a plain app_open event would be a warning."
    )

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "the app did not come back after a handoff"
        let items = Set(session.selectionIDs.map { ContentHash(text: $0) })
        let window = session.policy.timing.afterReturn
        var requests = 0
        var times = 0
        var longest = Nanoseconds(0)
        for foreground in session.foregrounds where foreground.isAfterHandoff {
            let watch = session.watch(foreground, for: window)
            times += 1
            judgement.looked(at: session.evidence(foreground.mark))
            for request in session.appRequests(from: watch.from, until: watch.until) {
                requests += 1
                judge(request, foreground, watch, items, session, &judgement)
            }
            for message in session.appMessages(from: watch.from, until: watch.until) {
                requests += 1
                _ = judgeWords(of: message, foreground, watch, items, session, &judgement)
            }
            session.doubtMessageLog(until: watch.until, &judgement)
            session.doubtUnread(from: watch.from, until: watch.until, &judgement)
            let end = min(foreground.next?.span.earliest ?? .distantFuture, session.ended)
            longest = max(longest, Nanoseconds(end.nanoseconds(since: foreground.mark.span.latest)))
        }
        guard times > 0 else { return }
        if longest < window { session.assumeWatched(longest, of: window, "coming back", &judgement) }
        judgement.passSentence =
            "\(counted(requests, "request")) of the app within \(window) of \(counted(times, "time")) back, all expected, none speaks of an outcome"
        session.doubtMarks(&judgement)
        session.doubtLeftOut(session.foregroundMarks, "times back", &judgement)
    }

    private static func judge(
        _ request: LoggedRequest, _ foreground: Foreground, _ watch: Watch, _ items: Set<ContentHash>,
        _ session: Session, _ judgement: inout Judgement
    ) {
        if judgeWords(of: request, foreground, watch, items, session, &judgement) { return }
        switch session.purpose(of: request) {
        case .projection, .image, .allowed, .session: return
        case .home:
            // The screen behind the item is the shop's home, or the return led there.
            return
        case .homeElsewhere: session.doubtHomeElsewhere(request, &judgement)
        case .telemetry, .other:
            if request.actor.actor == .unknown { return session.doubtSender(request, &judgement) }
            guard watch.holds(request.started.time) else {
                return watch.leaveOpen(
                    "\(request.subject(session.redactor)) was sent about when the app came back", &judgement)
            }
            judgement.violation(
                "unlisted-request", severity: .warning,
                "\(request.subject(session.redactor)), \(delay(request, foreground)) after coming back, is neither a projection nor an image nor named under requests: foreground-allow in \(session.policyLine)",
                place: [session.role(of: request.host).rawValue, request.template(session.redactor)],
                evidence: [
                    session.evidence(foreground.mark), request.evidence("after coming back", session.redactor),
                ])
        }
    }

    /// Judges a word of outcomes beside an item's id; false where there is none.
    private static func judgeWords(
        of request: LoggedRequest, _ foreground: Foreground, _ watch: Watch, _ items: Set<ContentHash>,
        _ session: Session, _ judgement: inout Judgement
    ) -> Bool {
        guard
            let word = request.outcomeWords.first(where: { word in
                word.isBesideItemName || !word.beside.isDisjoint(with: items)
            })
        else { return false }
        if request.actor.actor == .unknown {
            session.doubtSender(request, &judgement)
            return true
        }
        // Who tells an outcome between the press of a key and coming back has guessed it all the same.
        let sent = request.started.time
        let isPressed = foreground.mark.by == .person && sent >= foreground.mark.span.earliest
        guard watch.holds(sent) || isPressed && sent < watch.surelyUntil else {
            watch.leaveOpen("\(request.subject(session.redactor)) says an outcome", &judgement)
            return true
        }
        judgement.violation(
            "outcome-words",
            "\(request.subject(session.redactor)), \(delay(request, foreground)) after coming back, says \(session.redactor.name(word.name)) beside an item's id (\(place(word, session)))",
            place: [
                session.role(of: request.host).rawValue, request.template(session.redactor), place(word, session),
            ],
            evidence: [
                session.evidence(foreground.mark),
                request.evidence("after coming back", session.redactor, place: place(word, session)),
            ])
        return true
    }

    private static func delay(_ request: LoggedRequest, _ foreground: Foreground) -> Nanoseconds {
        Nanoseconds(max(0, request.started.time.nanoseconds(since: foreground.mark.span.earliest)))
    }

    private static func place(_ word: OutcomeWord, _ session: Session) -> String {
        word.place.split(separator: "/", omittingEmptySubsequences: false).map { session.redactor.name($0) }
            .joined(separator: "/")
    }
}

extension Session {
    /// Ids of items that the trace names.
    var selectionIDs: [String] {
        var ids: Set<String> = []
        for projection in projections {
            ids.formUnion(([projection.item] + projection.decisions.map(\.item)).compactMap(\.self))
        }
        ids.formUnion(attempts.compactMap(\.catalogID))
        ids.formUnion(taps.compactMap(\.item))
        // Shorter ones stand for too much else.
        return ids.filter { $0.utf8.count >= 4 }.sorted()
    }

    /// From the mark until `length` after it, or until what the app sends has another cause. The first projection shows
    /// that the app is back.
    func watch(_ foreground: Foreground, for length: Nanoseconds) -> Watch {
        let mark = foreground.mark
        let back = firstRequest(after: mark) { purpose(of: $0) == .projection }
        return Watch(after: mark, for: length, until: foreground.next, sign: back, self)
    }

    /// When the app first sent something of a kind after a mark made by hand was pressed.
    func firstRequest(after mark: Mark, where isWanted: (LoggedRequest) -> Bool) -> Instant? {
        guard mark.by == .person else { return nil }
        return appRequests(from: mark.span.earliest, until: reach(of: mark).latest).first(where: isWanted)?.started.time
    }
}
