internal import SessionTrace

/// **HR-41 unsafe-evidence-fails-safe.** After an answer that no share may rest on, the app shares nothing until a valid
/// decision to share has come.
///
/// The contract (CONTRACT.md, "The test matrix") wants stale, missing or unsupported evidence to fail safely. Such an
/// answer to a projection request is an error, none at all, no JSON, one without a decision for its item, a decision with
/// a `mode` or members that no app can act on, or one that says so itself (a member whose name holds `evidence` or
/// `serviceState`, or the one that `fields: {evidence}` names; `Warning: 110`). After it, a session request for the item
/// is a violation until a `share_or_neutral` decision has come; so is opening an earlier handoff URL on a new share tap.
/// A resend of an operation that began before it is the same share, and no new one. A `neutral_only` decision makes
/// nothing good, but is no fault either. What sharing after a valid `neutral_only` means is HR-24's matter.
///
/// Inconclusive: a session request so soon after the answer that the app may not have had it; an answer that is not whole
/// in the trace; the trace ends before a share could have followed; session traffic stayed unread.
enum UnsafeEvidenceFailsSafe: Rule {
    static let description = RuleDescription(
        id: "HR-41", name: "unsafe-evidence-fails-safe", severity: .error,
        sentence:
            "After a projection that is stale, missing, unsupported or an error, nothing is shared until a valid one has come.",
        heading: "The test matrix", matrix: ["M-03"],
        inconclusiveWhen:
            "the answer and the session request cross, an answer is not whole, the trace ends right after it, or traffic stayed unread",
        options: ["requests: {projection}", "fields: {evidence}", "timing: {tap-to-request}"],
        example:
            "The projection at the tap is answered 500, and the app posts the session request all the same. Fail: attempt 1 came 300 ms after a projection that was answered 500 (share-on-unsafe-evidence)."
    )

    /// An answer that came this shortly before a session request on another connection may not have been read yet.
    static let race = Nanoseconds.milliseconds(50)

    private enum Event {
        case projection(Projection)
        case attempt(Attempt)
        case opening(HandoffURL, RequestRecord)

        var order: Int {
            switch self {
            case .projection: 0
            case .attempt: 1
            case .opening: 2
            }
        }
    }

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "every projection in the trace was current and valid"
        var timeline = EvidenceTimeline()
        var last: (projection: Projection, why: String)?
        var count = 0
        for (_, event) in events(session) {
            switch event {
            case .projection(let projection):
                timeline.add(projection)
                if let why = timeline.reason {
                    count += 1
                    last = (projection, why)
                    judgement.looked(at: projection.record.evidence("projection", place: why))
                } else if projection.decisions.contains(where: \.offersSharing) {
                    last = nil
                }
            case .attempt(let attempt): judge(attempt, timeline.state(for: attempt.catalogID), session, &judgement)
            case .opening(let url, let record): judge(url, record, timeline, session, &judgement)
            }
        }
        judgement.passSentence =
            "\(counted(count, "projection")) that no share may rest on, and no share after \(count == 1 ? "it" : "them")"
        if !judgement.isExercised, session.hasJourney {
            // A projection that was not read may have forbidden what was shared then.
            session.doubtProjections(&judgement)
        }
        guard judgement.isExercised || !judgement.doubts.isEmpty else { return }
        if let last { doubtEnd(after: last.projection, last.why, session, &judgement) }
        session.doubtSessionTraffic(&judgement)
        session.doubtPolicy(&judgement)
        session.assumePartner(&judgement)
    }

    private static func events(_ session: Session) -> [(Instant, Event)] {
        var events: [(time: Instant, event: Event)] =
            session.appProjections.filter { !session.isOfAnotherDevice($0.record.client?.address) }
            .map { ($0.record.ended.time, .projection($0)) }
            + session.attempts.map { ($0.started, .attempt($0)) }
        for (index, url) in session.urls.enumerated() {
            let opened = (session.index.requestsByURL[index] ?? []).lazy.map { session.chiaRequests[$0] }.first {
                $0.isNavigation && $0.actor.actor == .browser
            }
            if let opened { events.append((opened.started.time, .opening(url, opened))) }
        }
        return events.sorted { ($0.time, $0.event.order) < ($1.time, $1.event.order) }.map { ($0.time, $0.event) }
    }

    private static func judge(
        _ attempt: Attempt, _ state: EvidenceTimeline.State?, _ session: Session, _ judgement: inout Judgement
    ) {
        switch state {
        case .safe?, nil: return
        case .unknown(let projection)?:
            judgement.doubt(
                "body-not-whole",
                "attempt \(attempt.number) follows an answer to \(projection.record.subject) that is not whole in the trace",
                remedy: Session.remedy(.tcpHole))
        case .unsafe(let projection, let why)?:
            let gap = Nanoseconds(attempt.started.nanoseconds(since: projection.record.ended.time))
            let sentence = "attempt \(attempt.number) came \(gap) after a projection that was \(why)"
            let evidence = [
                projection.record.evidence("projection", place: why), attempt.evidence("session request"),
            ]
            if let key = attempt.key,
                session.attempts.contains(where: {
                    $0.number < attempt.number && $0.key == key && $0.started <= projection.record.ended.time
                })
            {
                return judgement.information(
                    "earlier-operation", "\(sentence), as a resend of an operation that had begun before",
                    evidence: evidence)
            }
            if gap < race, attempt.first.record.id.connection != projection.record.id.connection,
                !hasTap(session, from: projection.record.ended.time, to: attempt.started)
            {
                return judgement.doubt(
                    "projection-race", "\(sentence), within the \(race) in which the two may have crossed",
                    remedy: "mark each share tap, or let the test wait for the projection before it taps")
            }
            judgement.violation(
                "share-on-unsafe-evidence", sentence,
                place: [
                    session.role(of: attempt.host).rawValue, attempt.first.record.pathTemplate,
                    projection.record.pathTemplate,
                ], evidence: evidence)
        }
    }

    /// A URL that an earlier attempt brought, opened on a share tap after the answer.
    private static func judge(
        _ url: HandoffURL, _ record: RequestRecord, _ timeline: EvidenceTimeline, _ session: Session,
        _ judgement: inout Judgement
    ) {
        let attempt = session.attempts[url.attempt - 1]
        guard case .unsafe(let projection, let why)? = timeline.state(for: attempt.catalogID),
            projection.record.ended.time > attempt.started,
            !session.attempts.contains(where: {
                $0.started > projection.record.ended.time && $0.started <= record.started.time
            }),
            let tap = session.taps.first(where: {
                $0.target == .share && $0.span.earliest > projection.record.ended.time
                    && $0.span.latest <= record.started.time
            })
        else { return }
        let gap = Nanoseconds(record.started.time.nanoseconds(since: projection.record.ended.time))
        judgement.violation(
            "opened-on-unsafe-evidence",
            "\(url.label) was opened on a share tap, \(gap) after a projection that was \(why)",
            place: [session.role(of: record.host).rawValue, projection.record.pathTemplate],
            evidence: [
                projection.record.evidence("projection", place: why), tap.evidence, record.evidence("navigation"),
            ])
    }

    private static func hasTap(_ session: Session, from: Instant, to: Instant) -> Bool {
        session.marks.shares.contains { $0.span.earliest >= from && $0.span.latest <= to }
    }

    /// Nothing was shared after it, but was there time to?
    private static func doubtEnd(
        after projection: Projection, _ why: String, _ session: Session, _ judgement: inout Judgement
    ) {
        let ended = projection.record.ended.time
        let rest = Nanoseconds(session.span.latest.nanoseconds(since: ended))
        guard rest < session.policy.timing.tapToRequest,
            !session.attempts.contains(where: { $0.started > ended })
        else { return }
        if session.doubtEnd("nothing was shared after a projection that was \(why)", &judgement) { return }
        judgement.doubt(
            "trace-ended",
            "the trace ends \(rest) after a projection that was \(why), sooner than the \(session.policy.timing.tapToRequest) that a share may take",
            remedy: "tap share (if it is there to be tapped), and record on for \(session.policy.timing.tapToRequest)")
    }
}
