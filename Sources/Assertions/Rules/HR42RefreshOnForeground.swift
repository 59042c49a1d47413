internal import SessionTrace

/// **HR-42 refresh-on-foreground.** When the app comes back, or a view is restored, with an item on the screen, it asks
/// for a current projection.
///
/// The contract (CONTRACT.md, "The tap sequence" 6) wants a current projection then. Each `foreground` and `restore`
/// mark with an item on the screen must be followed, within `timing: refresh` (5 s), by a projection request that is answered; 304
/// counts, a copy from a cache without a request does not. An item is on the screen when the mark's `screen` or `item`
/// says so, or when the app had shown one and no generic return led home since.
///
/// Inconclusive: the network was cut, the app left again or something was tapped that fetches a projection itself, or the trace ends before the five seconds are over; a projection
/// request was sent but not answered; unread traffic of the partner; a projection in no place that the policy names.
/// Traps: the generic return (another screen); a launch that the system made ahead of time; 304.
enum RefreshOnForeground: Rule {
    static let description = RuleDescription(
        id: "HR-42", name: "refresh-on-foreground", severity: .error,
        sentence: "Coming back to an item, the app asks for a current projection in time.",
        heading: "The tap sequence", matrix: ["M-09"],
        inconclusiveWhen:
            "the network was cut, the app left again, the projection was asked for in vain, or the partner's traffic stayed unread",
        options: ["requests: {projection}", "timing: {refresh, clock-error, hand-mark}"],
        example:
            "The person comes back from the browser to the item, and the app shows it from memory. Fail: no projection request within 5 s of the foreground mark."
    )

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "the app did not come back with an item on the screen"
        if let other = session.foregrounds.compactMap({ foreground -> String? in
            if case .other(let why) = foreground.screen { why } else { nil }
        }).first {
            judgement.idleSentence += " (\(other))"
        }
        let all = session.projections.filter { !$0.record.actor.actor.isElsewhere }
        let projections = all.filter { !session.isOfAnotherDevice($0.record.client?.address) }
        let others = all.filter { session.isOfAnotherDevice($0.record.client?.address) }
        var refreshed = 0
        var slowest = Nanoseconds(0)
        for foreground in session.foregrounds {
            guard case .item(let item) = foreground.screen else { continue }
            let view = View(foreground, item, session, projections)
            judgement.looked(at: session.evidence(foreground.mark))
            if let answer = view.answer {
                refreshed += 1
                slowest = max(
                    slowest, Nanoseconds(max(0, answer.ended.time.nanoseconds(since: foreground.mark.span.earliest))))
                judgement.looked(at: answer.evidence("projection"))
            } else if let answer = View(foreground, item, session, others).answer {
                judgement.doubt(
                    "several-devices",
                    "after the \(foreground.mark.kind.rawValue) mark only \(answer.client?.address.description ?? "another device"), which sent no session request, asked for a projection",
                    remedy: "judge one device at a time: --filter 'host ADDRESS'")
            } else {
                judgeMissing(view, session, &judgement)
            }
        }
        judgement.passSentence =
            "\(counted(refreshed, "time")) back with an item on the screen, each followed by a projection within \(slowest)"
        session.doubtMarks(&judgement)
        session.doubtLeftOut(session.foregroundMarks, "times back", &judgement)
        session.assumePartner(&judgement)
    }

    /// What is tapped when a projection is fetched all the same (HR-06), or a session asked for.
    private static let fetching: Set<Mark.Target?> = [.cta, .share, .neutral, nil]

    /// One coming back, with the projection requests around it.
    private struct View {
        var mark: Mark
        var reach: TimeSpan
        /// How soon the projection request must follow.
        var window: Nanoseconds
        /// What ended the app's being there.
        var left: Mark?
        /// The projection that came; nil when none did.
        var answer: RequestRecord?
        /// One that was asked for in time, but whose answer failed or came late.
        var unanswered: RequestRecord?
        /// The first one that was asked for too late.
        var late: RequestRecord?
        /// A tap that may have asked for the first one that came.
        var tap: Tap?
        /// The last one before.
        var before: Projection?

        var deadline: Instant { reach.latest.advanced(byNanoseconds: window.count) }

        init(_ foreground: Foreground, _ item: String?, _ session: Session, _ projections: [Projection]) {
            mark = foreground.mark
            left = foreground.left
            reach = session.reach(of: foreground.mark)
            window = session.policy.timing.refresh
            let taps = (session.taps + session.marks.unsureTaps.filter(\.isUncertain)).filter {
                RefreshOnForeground.fetching.contains($0.target) && $0.span.earliest >= foreground.mark.span.earliest
            }
            let start = projections.partitioningIndex { $0.record.started.time >= reach.earliest }
            before = start > 0 ? projections[start - 1] : nil
            for projection in projections[start...] {
                let record = projection.record
                // Another item's projection shows nothing of this one.
                if let item, let other = projection.item ?? projection.decisions.first?.item, other != item { continue }
                if let left, record.started.time > left.span.earliest { break }
                guard record.started.time <= deadline else {
                    late = record
                    break
                }
                let isAnswered =
                    record.end == .complete && (record.status == 304 || (200..<300).contains(record.status))
                if isAnswered, record.ended.time <= deadline {
                    let owner = taps.first { tap in
                        // Where the tap's own request follows its mark, an earlier one is none of the tap's.
                        let started = record.started.time
                        return tap.reach <= started
                            && (tap.span.earliest <= started
                                || !projections[start...].contains { $0.record.started.time >= tap.span.earliest })
                    }
                    if owner == nil {
                        answer = record
                        break
                    }
                    tap = tap ?? owner
                    continue
                }
                unanswered = unanswered ?? record
            }
        }
    }

    private static func judgeMissing(_ view: View, _ session: Session, _ judgement: inout Judgement) {
        let name = "the \(view.mark.kind.rawValue) mark"
        let window = view.window
        if session.isOffline(from: view.reach.earliest, until: view.deadline) {
            return judgement.doubt(
                "offline", "the network was cut around \(name), so that no projection could be fetched",
                remedy: "come back to the item with the network on, too")
        }
        if let record = view.unanswered {
            return judgement.doubt(
                "refresh-unanswered",
                "a projection was asked for \(distance(record, view.mark)) after \(name), but \(record.status == 0 ? "not answered" : "answered by \(record.status)") within \(window)",
                remedy: "let the test backend answer the projection")
        }
        if let tap = view.tap {
            return judgement.doubt(
                "left-again",
                "\(distance(tap.span.earliest, view.mark)) after \(name) comes a tap, which may be what the projection was fetched for",
                remedy: "stay on the item for \(window) after coming back, and tap then")
        }
        if let left = view.left, left.span.earliest < view.deadline {
            return judgement.doubt(
                "left-again",
                "\(distance(left.span.earliest, view.mark)) after \(name), sooner than \(window), comes \(left.kind.rawValue)",
                remedy: "stay in the app for \(window) after coming back")
        }
        if session.ended < view.deadline || !session.isWhole {
            return judgement.doubt(
                "trace-ended", "the trace ends within \(window) of \(name)",
                remedy: "record for some seconds after coming back")
        }
        if session.projections.isEmpty, !session.policy.namesProjection {
            return judgement.doubt(
                "policy-mismatch",
                "no request is \(session.policy.requests.projection) or holds a projection, so that none can be missed after \(name)",
                remedy:
                    "add to \(session.policyLine) the path of the projection:  requests: {projection: {path: /…}}")
        }
        if let failure = session.failure(
            from: view.reach.earliest, to: view.deadline,
            where: {
                $0.map(session.mayServeSessions) ?? true
            })
        {
            return judgement.doubt(
                failure.kind.rawValue, "no projection after \(name), but \(failure.sentence)", remedy: failure.remedy)
        }
        let before = judgement.doubts.count
        let hosts = Set(session.projections.compactMap(\.record.host))
        session.doubtUnread(from: view.reach.earliest, until: view.deadline, &judgement) { host in
            host.map { session.mayServeSessions($0) || hosts.contains($0) } ?? true
        }
        if judgement.doubts.count > before { return }
        let cached = isFresh(view, session)
        var evidence = [session.evidence(view.mark)]
        if let late = view.late { evidence.append(late.evidence("projection, too late")) }
        let after =
            view.late.map { "the next projection request comes \(distance($0, view.mark)) after it" }
            ?? "no projection request follows it"
        judgement.violation(
            cached != nil ? "cached" : "no-refresh",
            "\(name), with an item on the screen: \(after), \(window) allowed\(cached.map { "; \($0)" } ?? "")",
            place: [view.mark.kind.rawValue], evidence: evidence)
    }

    /// Whether the last answer may have been taken from a cache; in words.
    private static func isFresh(_ view: View, _ session: Session) -> String? {
        guard view.late == nil, let last = view.before, let freshness = last.caching.freshness else { return nil }
        let age = Nanoseconds(max(0, view.mark.span.earliest.nanoseconds(since: last.record.ended.time)))
        return age < freshness ? "the last one was \(age) old and may be cached for \(freshness)" : nil
    }

    private static func distance(_ record: RequestRecord, _ mark: Mark) -> Nanoseconds {
        distance(record.started.time, mark)
    }

    private static func distance(_ instant: Instant, _ mark: Mark) -> Nanoseconds {
        Nanoseconds(max(0, instant.nanoseconds(since: mark.span.earliest)))
    }
}
