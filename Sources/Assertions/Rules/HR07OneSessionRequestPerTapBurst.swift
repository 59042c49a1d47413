internal import SessionTrace

/// **HR-07 one-session-request-per-tap-burst.** However often the share action is tapped in a burst, one operation with
/// one request comes of it.
///
/// The contract (CONTRACT.md, "The tap sequence" 3) disables both actions at once and lets further taps join the one
/// operation. A burst is counted whatever was answered between its taps. Within it there is one key, and a further
/// attempt only after the one before ended uncertain, with a status that allows both, or with an authentication
/// challenge. What counts as one attempt is in RULES 0.4; each collapse is in the evidence. A new key after an uncertain
/// end without a further tap is HR-14's matter, a second request after success without one HR-17's. A tap that no request
/// follows within `tap-to-request` was lost: a warning, unless sharing was withdrawn.
///
/// Inconclusive: no tap marks; a burst at the edge of the trace; unread traffic of the session's host; a share tap
/// without any request that looks like an attempt; several devices.
enum OneSessionRequestPerTapBurst: Rule {
    static let description = RuleDescription(
        id: "HR-07", name: "one-session-request-per-tap-burst", severity: .error,
        sentence: "A burst of taps on the share action makes exactly one session request.",
        heading: "The tap sequence", matrix: ["M-10"],
        inconclusiveWhen:
            "taps are not marked, the burst lies at the edge of the trace, or session traffic stayed unread or went around the proxy",
        options: ["timing: {double-tap, tap-to-request}"])

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no share tap and no session request"
        if session.shareBursts.isEmpty {
            judgeWithoutTaps(session, &judgement)
        } else {
            for burst in session.shareBursts { judge(burst, session, &judgement) }
            let taps = session.shareBursts.reduce(0) { $0 + $1.taps.count }
            let largest = session.shareBursts.max { $0.taps.count < $1.taps.count }
            judgement.passSentence =
                session.shareBursts.count == 1
                ? "\(counted(session.attempts.count, "session request")) for \(session.shareBursts[0].words)"
                : "\(counted(session.attempts.count, "session request")) for \(taps) taps in \(session.shareBursts.count) bursts, the largest of \(largest?.words ?? "1 tap")"
            judgement.passSentence += resends(session)
        }
        if session.attempts.isEmpty {
            session.doubtMissingAttempts(&judgement)
        } else {
            session.doubtSessionTraffic(&judgement)
        }
        session.doubtPolicy(&judgement)
        session.doubtMarks(&judgement)
        session.doubtBypass(&judgement)
        session.assumePartner(&judgement)
    }

    /// Attempts that repeat a success without a further tap, in words: HR-17's matter, but they explain the count.
    private static func resends(_ session: Session) -> String {
        let pairs = zip(session.attempts, session.attempts.dropFirst()).filter { previous, attempt in
            previous.outcome == .success && attempt.key != nil && attempt.key == previous.key
                && !session.taps.contains {
                    $0.span.earliest > previous.started && $0.span.earliest <= attempt.started
                }
        }
        guard let (previous, attempt) = pairs.first else { return "" }
        let more = pairs.count > 1 ? " (and \(pairs.count - 1) more)" : ""
        return
            "; attempt \(attempt.number) repeats attempt \(previous.number)\(more), a success, without a tap between: not counted here, but by HR-17"
    }

    private static func judge(_ burst: Burst, _ session: Session, _ judgement: inout Judgement) {
        for evidence in burst.evidence { judgement.looked(at: evidence) }
        let attempts = session.attempts.filter { $0.started >= burst.reach && $0.started < burst.end }
        for attempt in attempts { judgement.looked(at: attempt.evidence()) }
        guard let first = attempts.first else { return judgeSilence(burst, session, &judgement) }
        if let other = attempts.first(where: { $0.client != first.client && $0.client?.isIPv4 == first.client?.isIPv4 })
        {
            judgement.doubt(
                "several-devices",
                "attempts \(first.number) and \(other.number) came from two addresses, and the marks do not say which device was tapped",
                remedy: "judge one device at a time (--filter 'host ADDRESS')")
            return
        }
        judgeLateness(of: first, burst, session, &judgement)
        for (previous, attempt) in zip(attempts, attempts.dropFirst()) {
            judge(attempt, after: previous, in: burst, session, &judgement)
        }
    }

    private static func judge(
        _ attempt: Attempt, after previous: Attempt, in burst: Burst, _ session: Session, _ judgement: inout Judgement
    ) {
        let sameKey = attempt.key == previous.key
        let isTappedBetween = burst.taps.contains {
            $0.span.earliest > previous.started && $0.span.earliest <= attempt.started
        }
        let overlaps = attempt.started < previous.ended
        // Sent again as it was, though perhaps no answer had come.
        let isUnheard = previous.delivered == nil && sameKey && !isTappedBetween
        let isOpen = mayBeTapped(attempt, in: burst, session)
        let numbers =
            "\(counted(burst.taps.count, "tap")) (\(burst.words)), but attempts \(previous.number) and \(attempt.number)"
        func violation(_ kind: String, _ why: String) {
            judgement.violation(
                kind, "\(numbers) \(why)", place: [attempt.first.record.pathTemplate],
                evidence: burst.evidence + [previous.evidence(), attempt.evidence("further session request")])
        }
        if overlaps, previous.outcome != .notSeen {
            if FailoverOverlap.isFailover(previous, attempt) { return }
            if let why = previous.unseenEnd {
                judgement.doubt(
                    "outcome-not-seen",
                    "attempt \(attempt.number) began before the end of attempt \(previous.number), \(why)",
                    remedy:
                        "let the client close its connection with a reset, or wait for the answer, before it retries")
                return
            }
            return violation(
                sameKey ? "second-request" : "second-key",
                "overlap: the second began \(Nanoseconds(previous.ended.nanoseconds(since: attempt.started))) before the first ended"
            )
        }
        switch previous.outcome {
        case .uncertain, .either, .authChallenge:
            // The two taps of a double tap must join, whatever was answered between them.
            if !sameKey, isTappedBetween {
                violation("second-key", "have different keys, with a tap of the same burst between them")
            }
        case .notSeen:
            judgement.doubt(
                "outcome-not-seen",
                "attempt \(attempt.number) follows attempt \(previous.number), whose end was not seen",
                remedy: Session.remedy(.tcpHole))
        case .success where isUnheard, .definitive where isUnheard:
            judgement.doubt(
                "delivery-unknown",
                "attempt \(attempt.number) repeats attempt \(previous.number), and it can't be told whether the device had received the answer",
                remedy: "capture both directions near the device, so that its acknowledgements are seen")
        case .success where !isTappedBetween && sameKey:
            // Nobody tapped again: sending once more after success is HR-17's matter.
            return
        case .success where !isTappedBetween && session.isLeft(from: previous.ended, to: attempt.started):
            // The burst was over: either the app asks without a tap, or the tap's mark is missing.
            judgement.doubt(
                "tap-not-marked",
                "attempt \(attempt.number) has a new key, and no tap is marked for it after the app had been left",
                remedy: "mark each tap: {\"kind\":\"tap\",\"target\":\"share\"}")
        case .definitive where isOpen, .redirect where isOpen, .unnamed where isOpen:
            judgement.doubt(
                "late-mark",
                "attempts \(previous.number) and \(attempt.number) each follow one of \(counted(burst.taps.count, "tap")), marked by hand, and it can't be told which was made between them",
                remedy: "send the marks from the test script, or press each once what the one before led to is over")
        case .success, .definitive, .redirect, .unnamed:
            if !attempt.isSameSelection(as: previous), !sameKey, burst.taps.count > 1, isTappedBetween, burst.isGeneric
            {
                return
            }
            if let pause = pause(before: attempt, after: previous, in: burst), pause > session.policy.timing.doubleTap {
                if let item = attempt.catalogID, let other = previous.catalogID, item != other { return }
                if previous.outcome == .success, mayHaveLeft(previous, session) {
                    judgement.doubt(
                        "burst-end-not-seen",
                        "attempts \(previous.number) and \(attempt.number) each follow a tap, \(pause) apart, and it can't be told whether the browser had been opened between them",
                        remedy: "mark opened, background and foreground, or let the browser be seen too")
                    return
                }
            }
            violation(
                sameKey ? "second-request" : "second-key",
                "were both sent\(sameKey ? "" : ", with different keys"); the first ended as \(previous.outcome.word)")
        }
    }

    /// Whether a tap that was marked by hand before an attempt, more than the double-tap time after another one, was perhaps
    /// made only shortly before it.
    private static func mayBeTapped(_ attempt: Attempt, in burst: Burst, _ session: Session) -> Bool {
        let timing = session.policy.timing
        return zip(burst.taps, burst.taps.dropFirst()).contains { before, tap in
            tap.isByHand && tap.nanoseconds(after: before) > timing.doubleTap.count
                && attempt.started.nanoseconds(since: tap.span.earliest) <= timing.handMark.count
        }
    }

    /// How long nobody tapped before the first tap between two attempts; nil when there is none.
    private static func pause(before attempt: Attempt, after previous: Attempt, in burst: Burst) -> Nanoseconds? {
        guard
            let index = burst.taps.firstIndex(where: {
                $0.span.earliest > previous.started && $0.span.earliest <= attempt.started
            }), index > 0
        else { return nil }
        return Nanoseconds(burst.taps[index].span.earliest.nanoseconds(since: burst.taps[index - 1].span.latest))
    }

    /// Whether the browser may have been opened with an attempt's URL unseen: then a later tap is a new burst.
    private static func mayHaveLeft(_ attempt: Attempt, _ session: Session) -> Bool {
        let isOpened = session.chiaRequests.contains { record in
            record.actor.actor == .browser && record.isNavigation
                && session.handoffURL(askedBy: record)?.url.text == attempt.url
        }
        let isDark = session.dark.contains {
            session.roles.isChia($0.key) && ($0.value.lastData ?? .distantPast) >= attempt.ended
        }
        return !isOpened && (isDark || !session.summary.watchedForBypass)
    }

    /// A burst from which no request came.
    private static func judgeSilence(_ burst: Burst, _ session: Session, _ judgement: inout Judgement) {
        // A tap without a target may have been on something else.
        guard !session.attempts.isEmpty, !burst.isGeneric else { return }
        // A tap may join an operation that is still running or waits to be sent again.
        // A mark made by hand may be later than the request, which the burst before it has then.
        let joined = session.attempts.last { $0.started < burst.reach }
        if let joined, joined.ended >= burst.reach || joined.started >= burst.taps[0].reach { return }
        let wait = session.policy.timing.tapToRequest
        if session.span.latest.nanoseconds(since: burst.lastTap.span.latest) < wait.count {
            if session.doubtEnd("\(burst.words) on share without a session request", &judgement) { return }
            judgement.doubt(
                "trace-ended", "the trace ends less than \(wait) after \(burst.words), before any request",
                remedy: "record until the flow is over")
            return
        }
        reportLost(burst, burst.lastTap, "but no session request within \(wait)", session, &judgement)
    }

    /// A request that came later than one is waited for did not come of the tap, unless it repeats what was under way.
    private static func judgeLateness(
        of first: Attempt, _ burst: Burst, _ session: Session, _ judgement: inout Judgement
    ) {
        guard !burst.isGeneric, let tap = burst.taps.last(where: { $0.reach <= first.started }) else { return }
        let wait = session.policy.timing.tapToRequest
        let late = Nanoseconds(first.started.nanoseconds(since: tap.span.latest))
        guard late > wait else { return }
        // What took long to connect was begun in time.
        if let opened = first.first.record.connectionOpened, opened >= burst.reach,
            opened.nanoseconds(since: tap.span.latest) <= wait.count
        {
            return
        }
        let joined = session.attempts.last { $0.started < burst.reach }
        if let joined, joined.key != nil, joined.key == first.key { return }
        reportLost(
            burst, tap, "but the session request came \(late) after it, not within \(wait)", session, &judgement)
    }

    /// A tap of which no request came in time, and nothing else is to blame for it.
    private static func reportLost(
        _ burst: Burst, _ tap: Tap, _ what: String, _ session: Session, _ judgement: inout Judgement
    ) {
        let wait = session.policy.timing.tapToRequest
        let end = tap.span.latest.advanced(byNanoseconds: wait.count)
        if session.isOffline(from: burst.started, until: end) {
            return judgement.information(
                "offline-tap", "\(burst.words) on share while the network was cut, \(what)", evidence: burst.evidence)
        }
        if let failure = session.failure(
            from: burst.reach, to: end, where: { $0.map(session.mayServeSessions) ?? true })
        {
            judgement.doubt(
                failure.kind.rawValue, "\(burst.words) on share, \(what), and \(failure.sentence)",
                remedy: failure.remedy)
            return
        }
        let withdrew = session.projections.contains { projection in
            projection.record.ended.time >= burst.started
                && projection.record.ended.time.nanoseconds(since: burst.started) <= wait.count
                && projection.isComplete && !projection.decisions.isEmpty
                && projection.decisions.allSatisfy { $0.mode == "neutral_only" }
        }
        guard !withdrew else { return }
        judgement.violation(
            "lost-tap", severity: .warning, "\(burst.words) on share, \(what)",
            place: [session.policy.requests.session.path.text], evidence: burst.evidence, restsOnSilence: true)
    }

    /// Order alone: two keys for one item that overlap, or start within the double-tap time, are two requests of one burst.
    private static func judgeWithoutTaps(_ session: Session, _ judgement: inout Judgement) {
        for attempt in session.attempts { judgement.looked(at: attempt.evidence()) }
        let window = session.policy.timing.doubleTap
        for (index, attempt) in session.attempts.enumerated() {
            for previous in session.attempts[..<index]
            where previous.key != attempt.key && previous.isSameSelection(as: attempt)
                && previous.client == attempt.client
            {
                let overlaps = attempt.started < previous.ended
                let gap = Nanoseconds(attempt.started.nanoseconds(since: previous.started))
                let isUncertain = previous.outcome == .uncertain && previous.ended <= attempt.started
                guard overlaps || (gap <= window && !isUncertain) else { continue }
                judgement.violation(
                    "second-key",
                    "attempts \(previous.number) and \(attempt.number) for one item have different keys and begin \(gap) apart",
                    place: [attempt.first.record.pathTemplate],
                    evidence: [previous.evidence(), attempt.evidence("further session request")])
            }
        }
        guard !session.attempts.isEmpty else { return }
        judgement.doubt(
            "no-tap-mark",
            "\(counted(session.attempts.count, "session request")), but no share tap is marked to count them against",
            remedy: "mark each tap: {\"kind\":\"tap\",\"target\":\"share\"}")
    }
}

/// The few milliseconds for which a client's second try overlaps a first one whose connection the peer had closed.
enum FailoverOverlap {
    /// How long after the second attempt's start the close may be seen.
    static let window = Nanoseconds.seconds(1)

    /// Whether the earlier attempt got no byte back, and its connection ended before, or within a second after, the
    /// later one began; a client that fails over sends the same request.
    static func isFailover(_ earlier: Attempt, _ later: Attempt) -> Bool {
        earlier.key == later.key && isBroken(earlier, at: later.started)
    }

    /// Whether an attempt got no byte back, and its connection was closed by the peer before an instant, or within a second
    /// after it.
    static func isBroken(_ attempt: Attempt, at instant: Instant) -> Bool {
        guard !attempt.last.record.wasAnswered else { return false }
        switch attempt.last.record.end {
        case .closed(by: .server), .reset(by: .server, _), .unprocessed: break
        default: return false
        }
        return attempt.ended.nanoseconds(since: instant) <= window.count
    }
}
