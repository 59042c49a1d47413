internal import SessionTrace

/// **HR-06 fresh-eligibility-at-cta.** Between the tap on the call to action and the tap on an action a projection of the
/// item is delivered.
///
/// The contract (CONTRACT.md, "The tap sequence" 2) asks the partner afresh at the call to action. Looked at is every call
/// to action that a session request or a navigation followed, taps within the double-tap time as one. The projection must
/// have been delivered after the first CTA tap (less the clock's bound) and not after the first action tap; a 304 is fresh, what a cache on the way had stored before
/// the tap is not (a warning). With `eligibility: local` the app may go without while the last projection is younger than
/// its own Cache-Control or `projection-max-age`, and the violation is a warning.
///
/// Inconclusive: no CTA tap is marked; the order of projection and action tap can't be told; a projection may have gone by
/// another name, or unread. A tap without a target makes the violation a warning.
enum FreshEligibilityAtCTA: Rule {
    static let description = RuleDescription(
        id: "HR-06", name: "fresh-eligibility-at-cta", severity: .error,
        sentence: "A projection of the item is fetched between the tap on the call to action and the tap on an action.",
        heading: "The tap sequence",
        inconclusiveWhen:
            "CTA taps are not marked, a tap's time is not known well enough, or partner traffic stayed unread or has no known name",
        options: ["eligibility", "requests: {projection}", "timing: {projection-max-age}"],
        example:
            "The card's projection is eight minutes old; the user taps the call to action and then share, and nothing is asked "
            + "in between. The verdict says how old the last projection was at the share tap.")

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no call to action was followed by a session request or a navigation"
        let (flows, unfollowed) = CallToAction.all(session)
        var fetched = 0
        let coverage = ProjectionCoverage(session)
        for flow in flows where judge(flow, session, coverage, &judgement) { fetched += 1 }
        judgement.passSentence =
            "\(counted(flows.count, "call")) to action, \(fetched) with a projection before the action tap"
        let hasFlow = !session.attempts.isEmpty || !session.neutralNavigations.isEmpty
        if hasFlow, !session.taps.contains(where: { $0.target == .cta }), flows.isEmpty {
            judgement.doubt(
                "no-cta-mark",
                session.taps.isEmpty ? "no tap is marked" : "no tap on the call to action is marked",
                remedy: "mark it: {\"kind\":\"tap\",\"target\":\"cta\"}")
        }
        if let call = unfollowed.first(where: { $0.target == .cta }) {
            // What followed may have gone unread, whatever came of another one.
            session.doubtSessionTraffic(&judgement)
            if let reason = session.darkNeutralTraffic(since: call.reach) {
                judgement.doubt(reason.code, reason.sentence, remedy: reason.remedy)
            }
        }
        if judgement.isExercised {
            session.doubtMarks(&judgement)
            session.assumePartner(&judgement)
        }
    }

    /// Whether a projection was fetched in time.
    private static func judge(
        _ flow: CallToAction, _ session: Session, _ coverage: ProjectionCoverage, _ judgement: inout Judgement
    ) -> Bool {
        judgement.looked(at: flow.tap.evidence)
        if let action = flow.action { judgement.looked(at: action.evidence) }
        let book = session.projectionBook
        let due = flow.limit
        let isNamed = flow.item.map { book.knows($0) } ?? false
        let after =
            isNamed
            ? book.sightings(of: flow.item, to: flow.client, after: flow.tap.reach, until: due.latest)
            : book.sightings(to: flow.client, after: flow.tap.reach, until: due.latest)
        let fresh = after.filter { $0.delivered <= due.earliest }
        let gap = Nanoseconds(max(0, due.earliest.nanoseconds(since: flow.tap.span.earliest)))
        let what = "no projection between the CTA tap and \(flow.limitWords) \(gap) later"
        if let last = fresh.last {
            judgement.looked(at: session.projections[last.place].record.evidence("projection"))
            if flow.tap.isByHand, last.delivered < flow.tap.span.earliest {
                judgement.doubt(
                    "late-mark",
                    "the last projection came \(Nanoseconds(flow.tap.span.earliest.nanoseconds(since: last.delivered))) before the hand-made mark of the CTA tap, which may be up to \(Tap.lateMark) late",
                    remedy: "send the marks from the test script")
                return false
            }
            guard !isNamed, flow.item != nil, !book.items.isEmpty else {
                return judgeAge(of: fresh, flow, session, &judgement)
            }
            judgement.doubt(
                "policy-mismatch",
                "\(counted(fresh.count, "projection")) came after the CTA tap, but no projection names the item that it was on",
                remedy: "name where the item stands in \(session.policyLine):  fields: {catalog-id: /…}")
            return false
        }
        if let late = after.first {
            judgement.doubt(
                "clock-bound",
                "a projection came \(Nanoseconds(late.delivered.nanoseconds(since: flow.tap.span.earliest))) after the CTA tap, and whether that was before \(flow.limitWords) can't be told",
                remedy: "send the marks through the trace's own clock, from the test script")
            return false
        }
        let last =
            isNamed
            ? book.governing(flow.item, at: flow.tap.reach, to: flow.client)?.current
            : book.last(to: flow.client, until: flow.tap.reach)
        if session.policy.eligibility == .local, let last {
            let allowed = max(last.caching.freshness ?? Nanoseconds(0), session.policy.timing.projectionMaxAge)
            let age = Nanoseconds(due.earliest.nanoseconds(since: last.delivered))
            if age <= allowed {
                judgement.information(
                    "local-eligibility",
                    "\(what); the last one was \(age) old, of \(allowed) that it may be used",
                    evidence: [flow.tap.evidence, session.projections[last.place].record.evidence("projection")])
                return false
            }
        }
        if let reason = coverage.unseen(from: flow.tap.reach, to: due.latest) {
            judgement.doubt(reason.code, "\(what), but \(reason.sentence)", remedy: reason.remedy)
            return false
        }
        let old = last.map {
            "; the last one was \(Nanoseconds(due.earliest.nanoseconds(since: $0.delivered))) old"
        }
        judgement.violation(
            "no-fresh-projection",
            severity: session.policy.eligibility == .local || flow.isGeneric ? .warning : .error,
            what + (old ?? "; none came before either"), place: [session.policy.requests.projection.path.text],
            evidence: [flow.tap.evidence] + (flow.action.map { [$0.evidence] } ?? [])
                + (last.map { [session.projections[$0.place].record.evidence("projection")] } ?? []))
        return false
    }

    /// A cache on the way may have answered with what the partner said before the tap.
    private static func judgeAge(
        of fresh: [ProjectionBook.Sighting], _ flow: CallToAction, _ session: Session, _ judgement: inout Judgement
    ) -> Bool {
        let isStored = { (sighting: ProjectionBook.Sighting) in
            // Ages are whole seconds.
            Nanoseconds.seconds(Int64(min(sighting.caching.age, 1_000_000_000) - 1)).count
                > sighting.delivered.nanoseconds(since: flow.tap.span.earliest)
        }
        guard let last = fresh.last, fresh.allSatisfy(isStored) else { return true }
        judgement.violation(
            "stored-projection", severity: .warning,
            "the projection after the CTA tap came from a cache, which had stored it \(last.caching.age) s before",
            place: [session.policy.requests.projection.path.text, "header:age"],
            evidence: [flow.tap.evidence, session.projections[last.place].record.evidence("projection", place: "age")])
        return false
    }
}

/// A tap on the call to action and what the user did then.
struct CallToAction {
    var tap: Tap
    /// The first tap on an action after it.
    var action: Tap?
    /// When the first session request or navigation followed.
    var consequence: Instant
    var item: String?
    var client: IPAddress?

    /// Whether a tap without a target stands in for one of the two.
    var isGeneric: Bool { tap.target == nil || action.map { $0.target == nil } ?? false }

    /// By when the projection is due.
    var limit: TimeSpan {
        guard let action else { return TimeSpan(consequence) }
        return TimeSpan(
            action.span.earliest, action.span.latest.advanced(byNanoseconds: action.clockBound.count))
    }

    var limitWords: String {
        guard let action else { return "what followed" }
        return action.target.map { "the \($0.rawValue) tap" } ?? "the next tap"
    }

    /// The calls to action of a session that something came of, and the taps of the others. Without a named one, a tap
    /// without a target before a named action is taken for it.
    static func all(_ session: Session) -> (calls: [CallToAction], unfollowed: [Tap]) {
        let taps = session.taps.sorted { $0.span.earliest < $1.span.earliest }
        let isNamed = taps.contains { $0.target == .cta }
        let hasAction = taps.contains { $0.isAction && $0.target != nil }
        let all = taps.filter { $0.target == .cta || (!isNamed && hasAction && $0.target == nil) }
        // Of a double tap the first one counts: the app asks when it is called first.
        let calls = all.indices.filter { index in
            guard index > 0, all[index].repeats(all[index - 1], within: session.policy.timing.doubleTap) else {
                return true
            }
            // What else was tapped between ends a double tap.
            let (before, after) = (all[index - 1].span.earliest, all[index].span.earliest)
            return taps.contains {
                $0.target != all[index].target && $0.span.earliest > before && $0.span.earliest < after
            }
        }.map { all[$0] }
        var found: [CallToAction] = []
        var unfollowed: [Tap] = []
        let opened = session.neutralNavigations.map(\.started.time)
        for (index, tap) in calls.enumerated() {
            let next = index + 1 < calls.count ? calls[index + 1] : nil
            // What follows an action tap before the next call is not that one's, however late its mark may be.
            let end = next.map { $0.isByHand ? $0.span.earliest : $0.reach } ?? .distantFuture
            let attempt = session.attempts.first { $0.started >= tap.span.earliest && $0.started < end }
            let navigation = opened.first { $0 >= tap.span.earliest && $0 < end }
            guard let consequence = [attempt?.started, navigation].compactMap(\.self).min() else {
                unfollowed.append(tap)
                continue
            }
            let action = taps.first {
                $0.isAction && $0.span.earliest > tap.span.earliest && $0.span.earliest < end
                    && (isNamed || $0.target != nil)
            }
            found.append(
                CallToAction(
                    tap: tap, action: action, consequence: consequence,
                    item: attempt?.catalogID ?? tap.item ?? action?.item, client: attempt?.client))
        }
        return (found, unfollowed)
    }
}
