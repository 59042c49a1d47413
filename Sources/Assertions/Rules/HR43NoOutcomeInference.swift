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
/// Inconclusive: a sender that is not known, traffic of the app in that time that stayed unread or came to nothing. Over several runs the requests after
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
        for foreground in session.foregrounds where foreground.isAfterHandoff {
            let (start, end) = session.watched(foreground, for: window)
            times += 1
            judgement.looked(at: session.evidence(foreground.mark))
            for request in session.appRequests(from: start, until: end) {
                requests += 1
                judge(request, foreground, items, session, &judgement)
            }
            for message in session.appMessages(from: start, until: end) {
                requests += 1
                _ = judgeWords(of: message, foreground, items, session, &judgement)
            }
            session.doubtMessageLog(until: end, &judgement)
            session.doubtUnread(from: start, until: end, &judgement)
            if foreground.next == nil {
                session.assumeWatched(window, since: foreground.mark.span.latest, "coming back", &judgement)
            }
        }
        judgement.passSentence =
            "\(counted(requests, "request")) of the app within \(window) of \(counted(times, "time")) back, all expected, none speaks of an outcome"
        guard times > 0 else { return }
        session.doubtMarks(&judgement)
        session.doubtLeftOut(session.foregroundMarks, "times back", &judgement)
    }

    private static func judge(
        _ request: LoggedRequest, _ foreground: Foreground, _ items: Set<ContentHash>, _ session: Session,
        _ judgement: inout Judgement
    ) {
        if judgeWords(of: request, foreground, items, session, &judgement) { return }
        switch session.purpose(of: request) {
        case .projection, .image, .allowed, .session: return
        case .home:
            // The screen behind the item is the shop's home, or the return led there.
            return
        case .telemetry, .other:
            if request.actor.actor == .unknown { return session.doubtSender(request, &judgement) }
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
        of request: LoggedRequest, _ foreground: Foreground, _ items: Set<ContentHash>, _ session: Session,
        _ judgement: inout Judgement
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

    /// From the mark until `length` after it, or until what the app sends has another cause.
    func watched(_ foreground: Foreground, for length: Nanoseconds) -> (from: Instant, until: Instant) {
        let start = foreground.mark.span.earliest
        let end = foreground.mark.span.latest.advanced(byNanoseconds: length.count)
        let next = foreground.next?.span.earliest ?? .distantFuture
        return (start, max(start, min(end, next, ended.advanced(byNanoseconds: 1))))
    }
}
