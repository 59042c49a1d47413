internal import SessionTrace

/// **HR-48 no-selection-in-telemetry.** While the flow is on, no telemetry host is told which item it is about.
///
/// The contract (CONTRACT.md, "Forbidden") keeps the selection out of analytics and logs; it may mean the item's id or a
/// URL that holds it, so an id alone is a warning (an error with `strict-selection`), a URL with it an error. The flow
/// begins at the call to action and ends with the trace. What the app told its analytics before, as a shop does, is none
/// of it. An id of fewer than eight characters is found behind its field's name only.
///
/// Inconclusive: no item is known though there was a flow, or data to telemetry or unknown hosts stayed unread in it.
///
/// Traps: a Chia page's or the browser's own analytics is not the app's; the app's requests to its partner name the item
/// by right.
enum NoSelectionInTelemetry: Rule {
    static let description = RuleDescription(
        id: "HR-48", name: "no-selection-in-telemetry", severity: .warning,
        sentence: "From the call to action on, no telemetry host gets the item's id, the disclosure version, or a URL "
            + "that holds the id.",
        heading: "Forbidden", matrix: ["M-06"],
        inconclusiveWhen:
            "no item is known though there was a flow, or traffic to telemetry or unknown hosts stayed unread in it",
        options: ["strict-selection", "fields: {catalog-id, disclosure-version}", "hosts: {telemetry}"],
        example:
            "The app reports the event handoff_tap with item_id 4711-abcdef to its analytics right after the tap: a "
            + "warning that names the vendor and the field."
    )

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no flow was begun"
        guard let start = flowStart(session) else { return }
        let end = session.marks([.end]).last?.span.latest ?? session.span.latest
        var before = 0
        var mayBeIn: SelectionBook.Entry?
        for entry in session.selections.all {
            guard let first = entry.leaks.first, LeakRules.isTelemetry(first.host, session) else { continue }
            if let omitted = entry.omitted, omitted.earliest <= end, omitted.latest >= start { mayBeIn = entry }
            for leak in entry.leaks where !session.isOfAnotherDevice(leak.client) {
                guard leak.started >= start else {
                    before += 1
                    continue
                }
                guard leak.started <= end else { continue }
                report(leak, entry.hit, session, &judgement)
            }
        }
        guard session.knowsSelection else {
            if session.attempts.isEmpty, session.projections.isEmpty {
                judgement.idleSentence = "no item's id is known"
                session.doubtMissingAttempts(&judgement)
                return
            }
            judgement.doubt(
                "selection-unknown", "no item's id was found in the session request or the projection",
                remedy: "say where it is: fields: {catalog-id: /…} in \(session.policyLine)")
            return
        }
        judgement.exercised()
        if let attempt = session.attempts.first { judgement.looked(at: attempt.evidence("session request")) }
        judgement.passSentence =
            "no id of an item in telemetry within \(Nanoseconds(max(0, end.nanoseconds(since: start)))) of the flow"
            + (before > 0 ? " (\(before) before it)" : "")
        if session.taps.isEmpty {
            judgement.assume("flow-by-traffic", "without marks the flow is taken to begin with the session request")
        }
        if session.selections.isFull {
            judgement.doubt(
                BlindSpot.Reason.stateGivenUp.rawValue,
                "the item was named in more places than are kept (\(SelectionBook.limit))",
                remedy: Session.remedy(.stateGivenUp))
        }
        if isUnsearched(since: start, session) {
            judgement.doubt(
                BlindSpot.Reason.stateGivenUp.rawValue,
                "more items were shown than are looked for, among them the one that the flow may be about",
                remedy: Session.remedy(.stateGivenUp))
        }
        if let mayBeIn, let leak = mayBeIn.leaks.first {
            judgement.doubt(
                BlindSpot.Reason.stateGivenUp.rawValue,
                "\(leak.evidence("", mayBeIn.hit).subject) named the item more often than is kept (\(SelectionBook.leakLimit)), perhaps in the flow",
                remedy: Session.remedy(.stateGivenUp))
        }
        LeakRules.doubtUnread(since: start, "the flow began", session, &judgement)
    }

    /// Whether an item that is not looked for was the last one shown before the flow, or was shown in it.
    private static func isUnsearched(since start: Instant, _ session: Session) -> Bool {
        guard !session.unsearchedItems.isEmpty, !session.attempts.contains(where: { $0.catalogID != nil }) else {
            return false
        }
        let projections = session.appProjections.filter { !session.isOfAnotherDevice($0.record.client?.address) }
        let first = projections.lastIndex { $0.record.ended.time < start } ?? 0
        return projections.dropFirst(first).contains { projection in
            ([projection.item] + projection.decisions.map(\.item)).compactMap(\.self)
                .contains { session.unsearchedItems.contains($0) }
        }
    }

    /// The first tap on the call to action; else the first tap on an action, or the first session request.
    private static func flowStart(_ session: Session) -> Instant? {
        let taps = session.taps.filter { $0.target == .cta }.map(\.span.earliest)
        if let first = taps.min() { return first }
        let actions = session.bursts.map(\.started) + session.attempts.map(\.started)
        return actions.min()
    }

    private static func report(_ leak: LeakRecord, _ hit: LeakHit, _ session: Session, _ judgement: inout Judgement) {
        let what = hit.needle?.kind == .disclosureVersion ? "the disclosure version" : "the item's id"
        let inside = hit.isInURL ? ", in a URL" : ""
        let sentence = "\(what) was sent to \(LeakRules.receiver(leak, session)) in \(hit.place)\(inside)"
        let place = LeakRules.place(leak, hit, session) + (hit.isInURL ? ["url"] : [])
        switch leak.actor.actor {
        case .app, .webview, .unknown:
            let isUnknown = leak.actor.actor == .unknown
            if isUnknown, leak.request?.hasUnknownFields ?? false {
                LeakRules.doubtUntold(sentence, &judgement)
                return
            }
            let isURL = hit.isInURL && hit.needle?.kind == .catalogID
            judgement.violation(
                isURL ? "selection-url" : "selection-sent",
                severity: isURL || session.policy.strictSelection ? .error : .warning,
                "\(sentence), by \(isUnknown ? "an unknown sender" : "the app") (\(leak.actor.reason))", place: place,
                evidence: [leak.evidence("selection in telemetry", hit)])
        case .browser, .os:
            judgement.information(
                "not-the-app", "\(sentence), by \(leak.actor.actor == .os ? "the system" : "the browser")",
                place: place,
                evidence: [leak.evidence("not the app's", hit)])
        }
    }
}
