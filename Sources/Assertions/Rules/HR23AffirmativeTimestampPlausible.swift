internal import SessionTrace

/// **HR-23 affirmative-timestamp-plausible.** The time of the affirmation lies between the tap and the request.
///
/// The contract (CONTRACT.md, "The tap sequence" 3) sends when the user affirmed. By the device's clock that is not earlier
/// than two seconds before the share tap, nor than the disclosure was shown, and not later than the operation's first
/// attempt. Two operations check each other without any clock: their times must be as far apart as their taps. That a
/// retry repeats the time is HR-13's matter.
///
/// Inconclusive: how far the device's clock is from the trace's is not known, and the time does not fit as it stands; it has
/// no zone; no share tap is marked; the content is not whole.
enum AffirmativeTimestampPlausible: Rule {
    static let description = RuleDescription(
        id: "HR-23", name: "affirmative-timestamp-plausible", severity: .error,
        sentence: "The time of the affirmation lies between the share tap and the first session request.",
        heading: "The tap sequence",
        inconclusiveWhen:
            "the device's clock is not known against the trace's, the time has no zone, no share tap is marked, or session traffic stayed unread or went around the proxy",
        options: ["fields: {affirmed-at}", "timing: {clock-error}"],
        example:
            "The app stamps the affirmation when the sheet is built, eleven seconds before the user taps share. The verdict says "
            + "by how much the time is too early, and what is known of the device's clock.")

    /// How long before the share tap the affirmation may be stamped.
    static let slack = Nanoseconds.seconds(2)

    /// How far the device's clock can be ahead of the trace's for a stamp to be right.
    private struct Feasible {
        var attempt: Attempt
        var least: Int64
        var greatest: Int64
    }

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no session request"
        let clock = DeviceClock(session.marks.marks, session.policy.timing)
        var stamps: [Feasible] = []
        for attempt in firsts(session) {
            judgement.looked(at: attempt.evidence())
            if let stamp = read(attempt, session, &judgement) { stamps.append(stamp) }
        }
        if let clock, !clock.isStepped {
            for stamp in stamps { compare(stamp, with: clock, session, &judgement) }
        } else {
            compare(stamps, session, &judgement)
        }
        judgement.passSentence =
            "\(counted(stamps.count, "affirmation")) between tap and request"
            + (clock.map { "; \($0.words) by \(counted($0.samples, "sample"))" } ?? "")
        if session.taps.isEmpty, !session.attempts.isEmpty {
            judgement.doubt(
                "no-tap-mark",
                "\(counted(session.attempts.count, "session request")), but no tap is marked to hold their times against",
                remedy: "mark each tap: {\"kind\":\"tap\",\"target\":\"share\"}")
        }
        session.doubtSessionFields(&judgement)
        session.doubtMarks(&judgement)
    }

    /// The attempts that stamped something: the first of each operation, and those without a key. One that repeats the
    /// bytes of an attempt that had ended uncertain stamped nothing, whatever its key (HR-14).
    private static func firsts(_ session: Session) -> [Attempt] {
        var uncertain: Set<[UInt8]> = []
        var repeats: Set<Int> = []
        for attempt in session.attempts {
            if uncertain.contains(attempt.first.body) { repeats.insert(attempt.number) }
            if attempt.outcome == .uncertain { uncertain.insert(attempt.first.body) }
        }
        return
            (session.operations.compactMap { $0.attempts.first { $0.first.bodyIsWhole } ?? $0.attempts.first }
            + session.attempts.filter { $0.key == nil })
            .filter { !repeats.contains($0.number) }.sorted { $0.number < $1.number }
    }

    private static func read(_ attempt: Attempt, _ session: Session, _ judgement: inout Judgement) -> Feasible? {
        let pointer = session.policy.fields.affirmedAt
        func violation(_ kind: String, _ why: String) {
            judgement.violation(
                kind, "attempt \(attempt.number) \(why)", place: [attempt.first.record.pathTemplate, pointer],
                evidence: [attempt.evidence(place: "body:\(pointer)")])
        }
        let value: JSONValue?
        switch attempt.first.content {
        case .json(let json): value = json.value(at: pointer)
        case .other: value = nil
        case .torn, .coded:
            judgement.doubt(
                "body-not-whole", "the content of attempt \(attempt.number) is not whole in the trace",
                remedy: Session.remedy(.tcpHole))
            return nil
        }
        guard let value else {
            if session.policy.fields.areConfigured {
                violation("affirmed-at-missing", "has nothing at \(pointer)")
            } else {
                judgement.doubt(
                    "policy-mismatch", "attempt \(attempt.number) has nothing at \(pointer)",
                    remedy: "name the field in \(session.policyLine):  fields: {affirmed-at: /…}")
            }
            return nil
        }
        switch AffirmationTime(value) {
        case .unreadable(let why):
            violation("not-a-time", "has \(why) at \(pointer)")
            return nil
        case .zoneless:
            judgement.doubt(
                "time-zone-missing", "the time at \(pointer) of attempt \(attempt.number) has no zone",
                remedy: "let the app write it with one (RFC 3339: …Z or …+01:00)")
            return nil
        case .instant(let instant, let resolution):
            let window = window(of: attempt, session)
            let coarse = resolution.count
            return Feasible(
                attempt: attempt,
                least: instant.advanced(byNanoseconds: -coarse).nanoseconds(since: window.latest),
                greatest: window.earliest == .distantPast
                    ? .max : instant.advanced(byNanoseconds: coarse).nanoseconds(since: window.earliest))
        }
    }

    /// When, by the trace's clock, the user can have affirmed what an operation's first attempt says.
    private static func window(of attempt: Attempt, _ session: Session) -> TimeSpan {
        let first = session.operations.first { $0.key == attempt.key }?.attempts.first ?? attempt
        let tap = session.marks.shares.last { $0.reach <= first.started }
        guard let tap else { return TimeSpan(.distantPast, first.started) }
        var earliest = tap.reach.advanced(byNanoseconds: -slack.count)
        let shown = session.marks([.jitShown]).last { $0.by == .script && $0.span.earliest <= tap.span.latest }
        if let shown {
            let bound = MarkBook.clockBound(shown, session.policy.timing)
            earliest = max(earliest, shown.span.earliest.advanced(byNanoseconds: -bound.count))
        }
        return TimeSpan(min(earliest, first.started), first.started)
    }

    private static func compare(
        _ stamp: Feasible, with clock: DeviceClock, _ session: Session, _ judgement: inout Judgement
    ) {
        let isEarly = stamp.greatest < clock.least
        guard isEarly || stamp.least > clock.greatest else { return }
        let distance = Nanoseconds(
            isEarly ? difference(clock.least, stamp.greatest) : difference(stamp.least, clock.greatest))
        judgement.violation(
            isEarly ? "affirmed-too-early" : "affirmed-too-late",
            "attempt \(stamp.attempt.number) says that the user affirmed \(distance) "
                + (isEarly ? "before the share tap can have been" : "after the request was sent") + "; \(clock.words)",
            place: [stamp.attempt.first.record.pathTemplate, session.policy.fields.affirmedAt],
            evidence: [stamp.attempt.evidence(place: "body:\(session.policy.fields.affirmedAt)")])
    }

    /// Without a sample of the device's clock the stamps check each other; one clock must make all of them right.
    private static func compare(_ stamps: [Feasible], _ session: Session, _ judgement: inout Judgement) {
        guard var common = stamps.first else { return }
        for stamp in stamps.dropFirst() {
            if stamp.least > common.greatest || stamp.greatest < common.least {
                let apart = Nanoseconds(stamp.attempt.started.nanoseconds(since: common.attempt.started))
                judgement.violation(
                    "affirmed-apart",
                    "attempts \(common.attempt.number) and \(stamp.attempt.number) began \(apart) apart, and no clock makes the times right at which they say that the user affirmed",
                    place: [stamp.attempt.first.record.pathTemplate, session.policy.fields.affirmedAt],
                    evidence: [common.attempt.evidence(), stamp.attempt.evidence()])
                return
            }
            common.least = max(common.least, stamp.least)
            common.greatest = min(common.greatest, stamp.greatest)
        }
        if common.least <= 0, common.greatest >= 0 {
            judgement.assume(
                "device-clock", "the device's clock is taken to agree with the trace's, by which the times fit")
            return
        }
        let off = Nanoseconds(common.least > 0 ? common.least : common.greatest)
        judgement.doubt(
            "device-clock-unknown",
            "the affirmation of attempt \(common.attempt.number) fits only if the device's clock is \(off) ahead of the trace's, which nothing tells",
            remedy: "say the device's time in a mark: {\"kind\":\"note\",\"attrs\":{\"deviceTime\":\"…\"}}")
    }

    private static func difference(_ one: Int64, _ other: Int64) -> Int64 {
        let (difference, overflow) = one.subtractingReportingOverflow(other)
        return overflow ? .max : difference
    }
}
