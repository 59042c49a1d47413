internal import SessionTrace

/// **HR-44 no-background-observation.** While the person is in the browser, the app asks nobody again and again.
///
/// The contract (CONTRACT.md, "The tap sequence" 6) leaves what follows to the system browser and has the app not watch
/// it. From each `opened` or `background` mark to the next that brings the app back, requests of the app with one template
/// are looked at: three or more at even distances (their standard deviation under 0.3 of the mean) are polling, whatever
/// the host. Without such marks the browser's opening of a Chia page begins the time.
///
/// Inconclusive: traffic of the app in that time that stayed unread or came to nothing, or a periodic sender that is not
/// known; WebSocket messages at even distances, which may be heartbeats. Services of the system,
/// such as push, are left out. Traps: three requests that are not evenly apart; requests within a quarter of a second,
/// which load a screen and watch nothing; a poll by the page in the browser.
enum NoBackgroundObservation: Rule {
    static let description = RuleDescription(
        id: "HR-44", name: "no-background-observation", severity: .warning,
        sentence: "While the person is in the browser, the app makes no periodic request.",
        heading: "The tap sequence", matrix: ["M-09"],
        inconclusiveWhen: "traffic of the app stayed unread while it was in the background, or a poller is not known",
        options: ["timing: {away}"],
        example:
            "Behind the browser the app asks GET /account every 10 s. Fail, warning: 4 requests, 10 s apart on average, deviation 0.02 of it."
    )

    /// Requests that make a period.
    static let count = 3
    /// Requests closer together than this load a screen.
    static let shortest = Nanoseconds.milliseconds(250)
    /// The deviation, in parts of the mean distance, below which distances are even.
    static let evenness = 0.3

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "the app was not left for the browser"
        let absences = absences(session, &judgement)
        session.doubtLeftOut(absences.count, "absences", &judgement)
        var longest = Nanoseconds(0)
        var requests = 0
        for absence in absences.prefix(session.windowLimit) {
            longest = max(longest, Nanoseconds(absence.until.nanoseconds(since: absence.from)))
            judgement.looked(at: absence.evidence)
            var groups: [String: [LoggedRequest]] = [:]
            for request in session.appRequests(from: absence.from, until: absence.until) {
                requests += 1
                let host = request.host?.text ?? "?"
                groups["\(request.template(session.redactor)) \(host)", default: []].append(request)
            }
            for (_, group) in groups.sorted(by: { $0.key < $1.key }) { judge(group, absence, session, &judgement) }
            doubtMessages(absence, session, &judgement)
            session.doubtUnread(from: absence.from, until: absence.until, &judgement)
        }
        guard !absences.isEmpty else { return }
        judgement.passSentence =
            "\(counted(requests, "request")) of the app while it was left for \(longest), none of them periodic"
        let watch = session.policy.timing.away
        if longest < watch {
            judgement.assume("observed-only", "the app was left for \(longest) only, not \(watch)")
        }
    }

    /// WebSocket messages as short as this keep the connection open, and ask nothing.
    static let heartbeat = 32

    /// Messages at even distances may ask, or may say that the app is still there.
    private static func doubtMessages(_ absence: Absence, _ session: Session, _ judgement: inout Judgement) {
        session.doubtMessageLog(until: absence.until, &judgement)
        let messages = session.appMessages(from: absence.from, until: absence.until).filter {
            $0.body.bytes > heartbeat
        }
        let groups = Dictionary(grouping: messages) { [$0.subject(session.redactor)] + $0.body.keys }
        for (_, group) in groups.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            guard let first = group.first, let period = Period(group.map(\.started.time)), period.isEven else {
                continue
            }
            judgement.doubt(
                "perhaps-polling",
                "\(first.subject(session.redactor)): \(group.count) messages of one kind while the app was left, \(period.mean) apart on average, may ask again and again",
                remedy: "close the WebSocket when the app is left, or let its heartbeats be pings (RFC 6455 §5.5.2)")
        }
    }

    private struct Absence {
        var from: Instant
        var until: Instant
        var evidence: Evidence
    }

    /// The times in which the app was left.
    private static func absences(_ session: Session, _ judgement: inout Judgement) -> [Absence] {
        let starts: Set<Mark.Kind> = [.opened, .background]
        let ends: Set<Mark.Kind> = [.foreground, .restore, .launch, .return, .tap, .linkOpened, .end]
        var absences: [Absence] = []
        var open: Mark?
        for mark in session.marks(starts.union(ends).union([.kill])) {
            if starts.contains(mark.kind) {
                open = open ?? mark
            } else if let start = open {
                absences.append(
                    Absence(
                        from: start.span.latest, until: mark.span.earliest, evidence: session.evidence(start)))
                open = nil
            }
        }
        if let start = open {
            absences.append(
                Absence(from: start.span.latest, until: .distantFuture, evidence: session.evidence(start)))
        }
        if absences.isEmpty,
            let opened = session.chiaRequests.first(where: {
                $0.actor.actor == .browser && $0.isNavigation
            })
        {
            judgement.assume(
                "background-by-navigation",
                "neither opened nor background is marked: the app is taken to be left when the browser opened a page of Chia"
            )
            let end = session.marks(ends).first { $0.span.earliest > opened.started.time }?.span.earliest
            absences.append(
                Absence(
                    from: opened.started.time, until: end ?? .distantFuture, evidence: opened.evidence("navigation")))
        }
        // What follows the end of the trace can't be watched.
        return absences.map { absence in
            var absence = absence
            absence.until = max(absence.from, min(absence.until, session.span.latest.advanced(byNanoseconds: 1)))
            return absence
        }
    }

    private static func judge(
        _ group: [LoggedRequest], _ absence: Absence, _ session: Session, _ judgement: inout Judgement
    ) {
        guard let first = group.first, let period = Period(group.map(\.started.time)), period.isEven else { return }
        if let unknown = group.first(where: { $0.actor.actor == .unknown }) {
            return session.doubtSender(unknown, &judgement)
        }
        judgement.violation(
            "periodic",
            "\(first.subject(session.redactor)) \(group.count) times while the app was left, \(period.mean) apart on average, deviation \(period.shownDeviation) of it",
            place: [session.role(of: first.host).rawValue, first.template(session.redactor)],
            evidence: [absence.evidence] + group.map { $0.evidence("periodic request", session.redactor) })
    }
}

/// How evenly moments follow each other.
struct Period {
    /// The mean distance.
    let mean: Nanoseconds
    /// The standard deviation of the distances, in parts of the mean.
    let deviation: Double

    /// Nil for too few moments; they are in order.
    init?(_ moments: [Instant]) {
        guard moments.count >= NoBackgroundObservation.count else { return nil }
        let gaps = zip(moments, moments.dropFirst()).map { Double($1.nanoseconds(since: $0)) }
        let average = gaps.reduce(0, +) / Double(gaps.count)
        guard average > 0, average < Double(Int64.max) / 2 else { return nil }
        let variance = gaps.reduce(0) { $0 + ($1 - average) * ($1 - average) } / Double(gaps.count)
        mean = Nanoseconds(Int64(average))
        deviation = variance.squareRoot() / average
    }

    /// Whether this is a period and not the loading of a screen.
    var isEven: Bool { deviation < NoBackgroundObservation.evenness && mean >= NoBackgroundObservation.shortest }

    /// `0.02`.
    var shownDeviation: String {
        let hundredths = Int((min(deviation, 99) * 100).rounded())
        return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
    }
}
