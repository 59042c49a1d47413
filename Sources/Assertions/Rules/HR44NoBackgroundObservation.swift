internal import SessionTrace

/// **HR-44 no-background-observation.** While the person is in the browser, the app asks nobody again and again.
///
/// The contract (CONTRACT.md, "The tap sequence" 6) leaves what follows to the system browser and has the app not watch
/// it. From each `opened` or `background` mark to the next that brings the app back, requests of the app with one template
/// are looked at: three or more at even distances (their standard deviation under 0.3 of the mean) are polling, whatever
/// the host; so are four or more in a row, at least half of them all, at distances of which none is a quarter longer than
/// another. Without such marks the browser's opening of a Chia page begins the time.
///
/// Inconclusive: a period that begins or ends so near a mark made by hand that the app may not have been left; traffic of
/// the app in that time that stayed unread or came to nothing, or a periodic sender that is not known; WebSocket messages at
/// even distances, which may be heartbeats. Services of the system,
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
    /// Requests in a row that make a period among others.
    static let runCount = 4
    /// Requests closer together than this load a screen: they count as one.
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
            guard let first = group.first, let period = Period(group.map(\.started.time)) else { continue }
            judgement.doubt(
                "perhaps-polling",
                "\(first.subject(session.redactor)): \(period.range.count) messages of one kind while the app was left, \(period.mean) apart on average, may ask again and again",
                remedy: "close the WebSocket when the app is left, or let its heartbeats be pings (RFC 6455 §5.5.2)")
        }
    }

    private struct Absence {
        var from: Instant
        var until: Instant
        /// When the app surely was left, where a mark was made by hand.
        var surely: TimeSpan?
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
                absences.append(absence(from: start, until: mark, session))
                open = nil
            }
        }
        if let start = open {
            absences.append(absence(from: start, until: nil, session))
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

    /// The time between two marks. A page of Chia's that the browser opens shows that the app was left.
    private static func absence(from start: Mark, until end: Mark?, _ session: Session) -> Absence {
        var absence = Absence(
            from: start.span.latest, until: end?.span.earliest ?? .distantFuture, evidence: session.evidence(start))
        guard start.by == .person || end?.by == .person else { return absence }
        let page = session.chiaRequests.first {
            $0.actor.actor == .browser && $0.isNavigation && $0.started.time >= start.span.earliest
        }
        let latest = session.reach(of: start).latest
        let from = start.by == .person ? min(page?.started.time ?? latest, latest) : absence.from
        let until = end.map { $0.by == .person ? session.reach(of: $0).earliest : $0.span.earliest } ?? .distantFuture
        absence.surely = TimeSpan(from, max(from, until))
        return absence
    }

    private static func judge(
        _ group: [LoggedRequest], _ absence: Absence, _ session: Session, _ judgement: inout Judgement
    ) {
        let sure = absence.surely.map { span in
            group.filter { $0.started.time >= span.earliest && $0.started.time < span.latest }
        }
        guard let period = Period(sure?.map(\.started.time) ?? group.map(\.started.time)) else {
            guard let sure, sure.count < group.count, let first = group.first, Period(group.map(\.started.time)) != nil
            else { return }
            return judgement.doubt(
                "late-mark",
                "\(first.subject(session.redactor)) was asked for again and again, about when a mark made by hand says that the app was left",
                remedy: "let the test script send the marks")
        }
        let group = Array((sure ?? group)[period.range])
        let first = group[0]
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

/// Moments that follow each other evenly.
struct Period {
    /// Which moments, from the first to the last.
    let range: ClosedRange<Int>
    /// The mean distance.
    let mean: Nanoseconds
    /// The standard deviation of the distances, in parts of the mean.
    let deviation: Double

    /// The period in moments that are in order; nil when there is none.
    init?(_ moments: [Instant]) {
        // What follows at once loads the same screen.
        let shortest = NoBackgroundObservation.shortest.count
        let firsts = moments.indices.filter { $0 == 0 || moments[$0].nanoseconds(since: moments[$0 - 1]) >= shortest }
        let gaps = zip(firsts, firsts.dropFirst()).map { Double(moments[$1].nanoseconds(since: moments[$0])) }
        guard firsts.count >= NoBackgroundObservation.count else { return nil }
        let (average, spread) = Self.spread(gaps)
        if spread < NoBackgroundObservation.evenness {
            range = 0...(moments.count - 1)
            (mean, deviation) = (Nanoseconds(Int64(min(average, 9e18))), spread)
            return
        }
        let run = Self.longestRun(gaps)
        guard run.count + 1 >= NoBackgroundObservation.runCount, (run.count + 1) * 2 >= firsts.count else { return nil }
        let (length, rest) = Self.spread(gaps[run])
        range = firsts[run.lowerBound]...firsts[run.upperBound]
        (mean, deviation) = (Nanoseconds(Int64(min(length, 9e18))), rest)
    }

    private static func spread(_ gaps: some Collection<Double>) -> (average: Double, deviation: Double) {
        let average = gaps.reduce(0, +) / Double(gaps.count)
        let variance = gaps.reduce(0) { $0 + ($1 - average) * ($1 - average) } / Double(gaps.count)
        return (average, variance.squareRoot() / average)
    }

    /// The first of the longest rows of distances of which none is a quarter longer than another.
    private static func longestRun(_ gaps: [Double]) -> Range<Int> {
        var longest = 0..<0
        var start = 0
        var (least, most) = (Double.infinity, 0.0)
        for (place, gap) in gaps.enumerated() {
            least = min(least, gap)
            most = max(most, gap)
            if most > least * 1.25 {
                start = place
                (least, most) = (gap, gap)
            }
            if place + 1 - start > longest.count { longest = start..<(place + 1) }
        }
        return longest
    }

    /// `0.02`.
    var shownDeviation: String {
        let hundredths = Int((min(deviation, 99) * 100).rounded())
        return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
    }
}
