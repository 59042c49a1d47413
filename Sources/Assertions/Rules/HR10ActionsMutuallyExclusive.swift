internal import SessionTrace

/// **HR-10 actions-mutually-exclusive.** While a share request is on its way the neutral action does nothing, and no second
/// operation begins.
///
/// The contract (CONTRACT.md, "The tap sequence" 3) disables both actions at once. Between the first byte of an attempt and
/// its end, of whatever kind, there is no navigation to the neutral URL and no attempt with another key; a neutral tap in
/// that span is followed by no navigation later either. A neutral tap *before* the request has its effect by right; that
/// the neutral way works again after a failure is HR-25's matter.
///
/// Inconclusive: the neutral URL is not known, or only its host's name is seen; the end of the attempt was not seen; a tap's
/// time is not known well enough. A tap without a target may have been on either action: a warning.
enum ActionsMutuallyExclusive: Rule {
    static let description = RuleDescription(
        id: "HR-10", name: "actions-mutually-exclusive", severity: .error,
        sentence:
            "While a session request is in flight, neither the neutral action nor a second operation has any effect.",
        heading: "The tap sequence", matrix: ["M-10"],
        inconclusiveWhen:
            "the neutral URL or the attempt's end is not known, a tap's time is not known well enough, or traffic stayed unread",
        options: ["timing: {clock-error}"],
        example:
            "The user taps share and, while the request is on its way, the neutral action; the browser opens the neutral page. "
            + "The verdict names the tap, the attempt's span and the navigation.")

    /// A navigation this late after a tap is not that tap's.
    static let patience = Nanoseconds.seconds(10)

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no session request"
        let navigations = session.neutralNavigations
        var longest = Nanoseconds(0)
        for attempt in session.attempts {
            judgement.looked(at: attempt.evidence())
            longest = max(longest, Nanoseconds(attempt.ended.nanoseconds(since: attempt.started)))
            judgeNavigations(navigations, during: attempt, session, &judgement)
            doubtUnknown(during: attempt, session, &judgement)
            judgeOperations(during: attempt, session, &judgement)
            judgeTaps(navigations, during: attempt, session, &judgement)
        }
        judgement.passSentence =
            "\(counted(session.attempts.count, "session request")), in flight for \(longest) at most, and nothing else meanwhile"
        guard let first = session.attempts.first else {
            session.doubtMissingAttempts(&judgement)
            return
        }
        if session.neutralURLs.isEmpty {
            judgement.doubt(
                "neutral-url-unknown",
                "no projection in the trace names the neutral URL, so that its opening can't be told",
                remedy: "start the trace before the projection is fetched, and give the keys for it")
        }
        if let reason = session.darkNeutralTraffic(since: first.started) {
            judgement.doubt(reason.code, reason.sentence, remedy: reason.remedy)
        }
        session.doubtSessionFields(&judgement)
        session.doubtMarks(&judgement)
    }

    /// Whether a neutral tap before the attempt may still be on its way to the browser.
    private static func isOfEarlierTap(_ navigation: RequestRecord, _ attempt: Attempt, _ session: Session) -> Bool {
        session.taps.contains {
            ($0.target == .neutral || $0.target == nil) && $0.span.earliest < attempt.started
                && navigation.started.time.nanoseconds(since: $0.span.earliest) <= patience.count
                && !isAttemptsOwn($0, attempt, session)
        }
    }

    /// A tap without a target just before the attempt is the share tap that made it.
    private static func isAttemptsOwn(_ tap: Tap, _ attempt: Attempt, _ session: Session) -> Bool {
        tap.target == nil && session.taps.last { $0.isAction && $0.span.earliest <= attempt.started } == tap
    }

    private static func judgeNavigations(
        _ navigations: [RequestRecord], during attempt: Attempt, _ session: Session, _ judgement: inout Judgement
    ) {
        let start = navigations.partitioningIndex { $0.started.time >= attempt.started }
        for navigation in navigations[start...].prefix(while: { $0.started.time < attempt.ended })
        where !isOfEarlierTap(navigation, attempt, session) {
            let after = Nanoseconds(navigation.started.time.nanoseconds(since: attempt.started))
            if let why = attempt.unseenEnd {
                judgement.doubt(
                    "outcome-not-seen",
                    "the neutral URL was opened \(after) after the start of attempt \(attempt.number), \(why)",
                    remedy: Session.remedy(.tcpHole))
                continue
            }
            judgement.violation(
                "neutral-while-sharing",
                "the browser opened the neutral URL \(after) after the start of attempt \(attempt.number), which took \(Nanoseconds(attempt.ended.nanoseconds(since: attempt.started)))",
                place: [navigation.pathTemplate],
                evidence: [attempt.evidence("session request in flight"), navigation.evidence("neutral navigation")])
        }
    }

    /// A request for the neutral URL of which nothing tells the sender may be its opening.
    private static func doubtUnknown(during attempt: Attempt, _ session: Session, _ judgement: inout Judgement) {
        let unknown = session.index.unknownRequests.lazy.map { session.chiaRequests[$0] }.first { record in
            record.started.time >= attempt.started && record.started.time < attempt.ended
                && session.neutralURL(askedBy: record) != nil && !isOfEarlierTap(record, attempt, session)
        }
        guard let unknown else { return }
        judgement.doubt(
            "actor-unknown",
            "a request for the neutral URL while attempt \(attempt.number) was under way may be its opening: \(unknown.actor.reason)",
            remedy: "capture with process names (PKTAP, PCAPdroid), or give the browser's keys")
    }

    private static func judgeOperations(during attempt: Attempt, _ session: Session, _ judgement: inout Judgement) {
        for other in session.attempts.dropFirst(attempt.number) where other.started < attempt.ended {
            guard other.isSameDevice(as: attempt), other.key != attempt.key else { continue }
            let before = Nanoseconds(attempt.ended.nanoseconds(since: other.started))
            if let why = attempt.unseenEnd {
                judgement.doubt(
                    "outcome-not-seen",
                    "attempt \(other.number) has another key than attempt \(attempt.number), \(why)",
                    remedy: Session.remedy(.tcpHole))
                continue
            }
            judgement.violation(
                "second-operation",
                "attempt \(other.number) with another key began \(before) before attempt \(attempt.number) had ended",
                place: [other.first.record.pathTemplate],
                evidence: [attempt.evidence("session request in flight"), other.evidence("second operation")])
        }
    }

    /// Neutral taps in the span of an attempt, whose page came after it.
    private static func judgeTaps(
        _ navigations: [RequestRecord], during attempt: Attempt, _ session: Session, _ judgement: inout Judgement
    ) {
        let acting = session.taps.filter(\.isAction)
        for (index, tap) in acting.enumerated() where tap.target == .neutral || tap.target == nil {
            guard tap.span.latest >= attempt.started, tap.span.earliest <= attempt.ended,
                !isAttemptsOwn(tap, attempt, session)
            else { continue }
            let next = index + 1 < acting.count ? acting[index + 1] : nil
            let start = navigations.partitioningIndex { $0.started.time >= max(tap.span.earliest, attempt.ended) }
            guard start < navigations.count, navigations[start].started.time < next?.span.earliest ?? .distantFuture,
                navigations[start].started.time.nanoseconds(since: tap.span.earliest) <= patience.count
            else { continue }
            let bound = tap.clockBound.count
            // The mark of the next tap may be late, and the page that one's.
            let isNexts =
                next.map { $0.target != .share && $0.target != .policy && $0.reach <= navigations[start].started.time }
                ?? false
            let isInside =
                tap.span.earliest.advanced(byNanoseconds: -bound) >= attempt.started
                && tap.span.latest.advanced(byNanoseconds: bound) <= attempt.ended
            let what =
                "a \(tap.target == nil ? "tap without a target" : "neutral tap") \(Nanoseconds(tap.span.earliest.nanoseconds(since: attempt.started))) after the start of attempt \(attempt.number) opened the neutral URL"
            if isNexts {
                judgement.doubt(
                    "late-mark", "\(what), or the next tap did, whose mark may be later than the page",
                    remedy: "send the marks from the test script")
                continue
            }
            guard isInside else {
                judgement.doubt(
                    "clock-bound",
                    "\(what), and whether it was made before the attempt's end can't be told (clock bound ±\(tap.clockBound))",
                    remedy: "send the marks through the trace's own clock, from the test script")
                continue
            }
            judgement.violation(
                "neutral-tap-had-effect", severity: tap.target == nil ? .warning : .error,
                "\(what), though the attempt was in flight for \(Nanoseconds(attempt.ended.nanoseconds(since: attempt.started)))",
                place: [navigations[start].pathTemplate],
                evidence: [
                    tap.evidence, attempt.evidence("session request in flight"),
                    navigations[start].evidence("neutral navigation"),
                ])
        }
    }
}
