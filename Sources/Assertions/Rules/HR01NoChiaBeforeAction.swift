internal import SessionTrace

/// **HR-01 no-chia-before-action.** Until the user acts, nothing on the device reaches for Chia: no lookup, connection,
/// TLS hello, CONNECT or request.
///
/// The contract (CONTRACT.md, "Forbidden" and "The tap sequence") allows the first contact with Chia only as the
/// consequence of an explicit action. What is seen before a tap was sent before it, so a contact before the earliest
/// moment of the next action tap is a definite violation; one within what the mark's clock is known to is not decided.
///
/// A tap that perhaps was not made, or that nothing names where others are named, permits nothing and leaves a contact
/// after it undecided.
///
/// A tap permits contact until the app comes back (launch, foreground, restore, or a projection after the visit), a
/// policy tap until the next mark, a share tap until its request was rejected. What a Chia page in the browser does later is
/// not the app's.
///
/// Inconclusive: no tap mark and no attempt; contact within the clock's bound or just before a hand-made mark; contact of
/// nobody's after a rejection; a browser that was not clean; connections without any name; a bypass.
enum NoChiaBeforeAction: Rule {
    static let description = RuleDescription(
        id: "HR-01", name: "no-chia-before-action", severity: .error,
        sentence: "Nothing on the device contacts a Chia host before the user taps an action.",
        heading: "Forbidden", matrix: ["M-05"],
        inconclusiveWhen:
            "there is neither an action tap mark nor a session request, the tap's time is not known well enough, the browser was not clean, or hosts stayed unnamed"
    )

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "nothing happened that could be judged"
        let actions = session.marks.actions
        if actions.isEmpty {
            judgeByOrder(session, &judgement)
        } else {
            judgeByTaps(session, actions, &judgement)
        }
        let first = actions.first?.span.earliest ?? session.attempts.map(\.started).min()
        if let first { session.doubtNames(before: first, &judgement) }
        session.assumeNames(before: first ?? .distantFuture, &judgement)
        session.doubtMarks(&judgement)
        session.doubtBypass(&judgement)
        session.doubtCapture(&judgement)
        session.doubtChiaHost(&judgement)
    }

    /// Marks of the app's coming back, with which what an earlier tap permitted is over.
    private static let comingBack: Set<Mark.Kind> = [.launch, .foreground, .restore]

    // MARK: with tap marks

    private static func judgeByTaps(_ session: Session, _ actions: [Tap], _ judgement: inout Judgement) {
        for tap in actions { judgement.looked(at: tap.evidence) }
        let isGeneric = actions.allSatisfy { $0.target == nil }
        var visited = false
        var count = 0
        let returns = session.marks(comingBack)
        var allowance: (tap: Int, end: Instant, rejection: Instant)?
        for contact in session.contacts {
            count += 1
            if isSystem(contact, &judgement) { continue }
            let next = actions.partitioningIndex { $0.span.earliest > contact.time }
            if next > 0, allowance?.tap != next - 1 {
                let tap = actions[next - 1]
                allowance = (
                    next - 1, allowanceEnd(of: tap, returns, session),
                    rejection(of: tap, before: next < actions.count ? actions[next] : nil, session) ?? .distantFuture
                )
            }
            let isRejected = allowance.map { $0.rejection <= contact.time } ?? false
            if let allowance, contact.time < allowance.end && !isRejected || session.isOpening(contact) {
                let tap = actions[next - 1]
                if !visited { judgement.looked(at: contact.evidence) }
                visited = true
                doubtClock(contact, tap, actions, returns, session, &judgement)
                if tap.order(of: contact.time) == .within {
                    judgement.assume(
                        "tap-window",
                        "the tap is known to \(Nanoseconds(tap.span.latest.nanoseconds(since: tap.span.earliest))), and the first contact falls within that"
                    )
                }
                continue
            }
            judgeEarly(
                contact, next: next < actions.count ? actions[next] : nil, visited, isRejected: isRejected, isGeneric,
                session, &judgement)
        }
        judgement.passSentence =
            session.contacts.isEmpty
            ? "no contact with Chia in the whole trace; \(actions.count) action \(actions.count == 1 ? "tap" : "taps")"
            : firstContactSentence(session, actions, count)
    }

    private static func firstContactSentence(_ session: Session, _ actions: [Tap], _ count: Int) -> String {
        guard let contact = session.contacts.first(where: { !$0.isAssociation }), let tap = actions.first else {
            return "no contact with Chia before the tap"
        }
        let gap = Nanoseconds(contact.time.nanoseconds(since: tap.span.earliest))
        return "the first of \(count) contacts with Chia comes \(gap) after the tap"
    }

    /// When a tap's permission ends.
    private static func allowanceEnd(of tap: Tap, _ returns: [Mark], _ session: Session) -> Instant {
        let start = tap.span.earliest
        if tap.target == .policy {
            // Words about the app's own call and about going to the background belong to the page load itself.
            let silent: Set<Mark.Kind> = [.note, .opened, .background, .render, .scenario]
            return session.marks.marks.first { $0.span.earliest > start && !silent.contains($0.kind) }?.span.earliest
                ?? .distantFuture
        }
        let returns = returns.first { $0.span.earliest > start }?.span.earliest
        let next = session.contacts.partitioningIndex { $0.time >= start }
        let visit = next < session.contacts.count ? session.contacts[next].time : nil
        // A projection opens a new window only when the visit to Chia is behind it.
        let projection = visit.flatMap { visit in
            session.projections.first { $0.record.started.time > visit }?.record.started.time
        }
        return [returns, projection].compactMap(\.self).min() ?? .distantFuture
    }

    /// When the last request that came of a share tap was rejected, if all were: then there is no page to open.
    private static func rejection(of tap: Tap, before next: Tap?, _ session: Session) -> Instant? {
        guard tap.target == .share else { return nil }
        let own = session.attempts.filter {
            $0.started >= tap.span.earliest && $0.started < next?.span.earliest ?? .distantFuture
        }
        guard own.allSatisfy({ $0.outcome == .definitive && $0.delivered == true }) else { return nil }
        return own.map(\.ended).max()
    }

    private static func judgeEarly(
        _ contact: Contact, next: Tap?, _ visited: Bool, isRejected: Bool, _ isGeneric: Bool, _ session: Session,
        _ judgement: inout Judgement
    ) {
        let what = "\(contact.means) of \(contact.host)"
        var gap: String
        switch next?.order(of: contact.time) {
        case .before(let distance): gap = "\(distance) before the tap"
        case .tooClose(let distance, let bound, let code):
            judgement.doubt(
                code,
                code == "late-mark"
                    ? "\(what) was seen \(distance) before a mark made by hand, which may be up to \(bound) late"
                    : "\(what) was seen \(distance) before the tap, clock bound ±\(bound)",
                remedy: code == "late-mark"
                    ? "press the mark first, then tap; or let the test script send the marks"
                    : "send the marks through the trace's own clock (UDP datagrams in the capture)")
            return
        case .within, .after, nil: gap = "without any tap after it"
        }
        if isExcused(contact, "\(what) \(gap)", visited, session, &judgement) { return }
        if session.isOfAnotherDevice(contact.client) { return session.doubtDevice(contact, &judgement) }
        if let tap = session.unsureTap(before: contact.time, endedBy: comingBack) {
            return session.doubtUnsureTap(tap, "\(what) was seen", at: contact.time, &judgement)
        }
        if isRejected, !contact.actor.actor.isApp {
            judgement.doubt(
                "tap-not-marked",
                "\(what) \(gap) and after the session request was rejected, perhaps of a neutral tap that is not marked",
                remedy: "mark each tap, on the neutral action too")
            return
        }
        if hadBegun(contact, session) { return doubtStart("\(what) \(gap)", &judgement) }
        if contact.actor.actor == .browser { gap += " by the browser, which was clean" }
        judgement.violation(
            contact.request == nil ? (contact.kind == .lookup ? "lookup" : "connection") : "request",
            severity: isGeneric ? .warning : .error, "\(what) \(gap)",
            place: [contact.role.rawValue, contact.means, contact.request?.pathTemplate ?? ""],
            evidence: [contact.evidence] + (next.map { [$0.evidence] } ?? []))
    }

    /// A mark of another clock may be early too: what follows within its bound may have come before the tap.
    private static func doubtClock(
        _ contact: Contact, _ tap: Tap, _ actions: [Tap], _ returns: [Mark], _ session: Session,
        _ judgement: inout Judgement
    ) {
        let gap = Nanoseconds(contact.time.nanoseconds(since: tap.span.earliest))
        guard !tap.isByHand, gap < tap.clockBound,
            !actions.contains(where: {
                $0.span.earliest < tap.span.earliest && contact.time < allowanceEnd(of: $0, returns, session)
            })
        else { return }
        judgement.doubt(
            "clock-bound",
            "\(contact.means) of \(contact.host) was seen \(gap) after the tap, clock bound ±\(tap.clockBound)",
            remedy: "send the marks through the trace's own clock (UDP datagrams in the capture)")
    }

    /// Whether the trace began midway, and nothing before the contact says that the app waited for a tap.
    private static func hadBegun(_ contact: Contact, _ session: Session) -> Bool {
        guard !contact.beganInTrace || session.midway.map({ $0 <= contact.time }) ?? false else { return false }
        return session.mayHaveBegun(before: contact.time)
    }

    private static func doubtStart(_ what: String, _ judgement: inout Judgement) {
        judgement.doubt(
            "start-not-seen", "\(what), but the trace began midway, perhaps after a tap that is not in it",
            remedy: Session.remedy(.startNotSeen))
    }

    /// Whether a contact before the tap, which `what` tells, may not be the app's; says so then.
    private static func isExcused(
        _ contact: Contact, _ what: String, _ visited: Bool, _ session: Session, _ judgement: inout Judgement
    ) -> Bool {
        switch contact.actor.actor {
        case .app, .webview, .os: return false
        case .browser where visited:
            judgement.information(
                "not-the-app", "\(what) by the browser, which has had a Chia page open (\(contact.actor.reason))",
                place: [contact.role.rawValue], evidence: [contact.evidence])
        case .browser:
            guard !session.hasMark([.browserClean], from: .distantPast, to: contact.time) else { return false }
            judgement.doubt(
                "browser-not-clean", "\(what) is the browser's, perhaps from an earlier visit",
                remedy: "clear the browser before the test and say so with a browser-clean mark")
        case .unknown:
            guard visited else { return false }
            judgement.doubt(
                "actor-unknown", "\(what), and it can't be told whether a Chia page in the browser sent it",
                remedy: "give the keys of the browser too, or capture with process names (PKTAP, PCAPdroid)")
        }
        return true
    }

    private static func isSystem(_ contact: Contact, _ judgement: inout Judgement) -> Bool {
        guard contact.isAssociation || contact.actor.actor == .os else { return false }
        judgement.information(
            "not-the-app", "\(contact.means) of \(contact.host) by the system (\(contact.actor.reason))",
            place: [contact.role.rawValue], evidence: [contact.evidence])
        return true
    }

    // MARK: without tap marks

    private static func judgeByOrder(_ session: Session, _ judgement: inout Judgement) {
        guard let first = session.attempts.map(\.started).min() else {
            judgement.doubt(
                "no-tap-mark", "there is no action tap mark and no session request, so nothing tells what came first",
                remedy: "mark the taps (UDP datagram to port 4774, or NAME.marks.jsonl)")
            return
        }
        for attempt in session.attempts.prefix(1) { judgement.looked(at: attempt.evidence()) }
        let answered = session.urls.map(\.since).min() ?? .distantFuture
        // A page that the browser opened loads what it needs.
        let visited = session.index.openings.values.compactMap(\.first).min()
        for contact in session.contacts where contact.time < answered {
            if isSystem(contact, &judgement) || session.isOpening(contact) { continue }
            let distance = Nanoseconds(
                first.nanoseconds(since: contact.time).magnitude > UInt64(Int64.max)
                    ? Int64.max : abs(first.nanoseconds(since: contact.time)))
            let place =
                contact.time < first
                ? "\(distance) before the first session request"
                : "\(distance) after the session request, before its answer"
            let what = "\(contact.means) of \(contact.host)"
            if session.isOfAnotherDevice(contact.client) {
                session.doubtDevice(contact, &judgement)
                continue
            }
            if contact.actor.actor == .unknown, contact.request == nil, session.dark[contact.host]?.lastData != nil,
                session.neutralURLs.contains(where: { $0.address.host == contact.host && $0.since <= contact.time })
            {
                judgement.doubt(
                    "actor-unknown",
                    "\(what) \(place) could not be read, and may be the browser's opening of the neutral URL",
                    remedy: Session.remedy(.noKeys))
                continue
            }
            let isVisited = visited.map { $0 <= contact.time } ?? false
            if isExcused(contact, "\(what) \(place)", isVisited, session, &judgement) { continue }
            if hadBegun(contact, session) {
                doubtStart("\(what) \(place)", &judgement)
                continue
            }
            if let tap = session.unsureTap(before: contact.time, endedBy: comingBack) {
                session.doubtUnsureTap(tap, "\(what) was seen", at: contact.time, &judgement)
                continue
            }
            judgement.violation(
                contact.request == nil ? (contact.kind == .lookup ? "lookup" : "connection") : "request",
                "\(what) \(place)", place: [contact.role.rawValue, contact.means, contact.request?.pathTemplate ?? ""],
                evidence: [contact.evidence, session.attempts[0].evidence()])
        }
        judgement.assume("tap-assumed", "no tap is marked; the first session request is taken to have followed one")
        judgement.passSentence = "no contact with Chia before the first session request was answered"
    }
}
