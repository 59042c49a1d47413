internal import SessionTrace

/// **HR-26 opened-at-most-once.** A handoff URL is opened once, and never again.
///
/// The contract (CONTRACT.md, "The tap sequence" 5) has the URL opened once and never stored; a stored one shows when it
/// is opened again after a relaunch. Openings are counted as HR-09 counts navigations: the browser's own retry and
/// Chia's redirects make one of several requests, what a page of Chia starts and what follows a `reload` mark is not
/// counted. A browser that restores its tabs opens a page again too: without any act of the app in the ten seconds before
/// (a tap, a launch, an answer to a session request) it is taken for that, and only a warning.
///
/// Inconclusive: a second opening that looks like a reload; one without any mark that would tell the app's act from the
/// browser's; connections to Chia that could not be read.
enum OpenedAtMostOnce: Rule {
    static let description = RuleDescription(
        id: "HR-26", name: "opened-at-most-once", severity: .error,
        sentence: "A handoff URL is opened at most once, whatever happens to the app.",
        heading: "The tap sequence",
        inconclusiveWhen:
            "connections to Chia could not be read, or a second opening may be a reload that nobody marked",
        example:
            "After a relaunch the app opens the stored handoff URL again. Fail: opened 2 times, the second 26 s after the first, 1 s after the app's launch."
    )

    /// How long after something that the app did a page may still be opened because of it.
    static let reach = Nanoseconds.seconds(10)

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no handoff URL was opened"
        let acts = acts(of: session)
        var counts: [String] = []
        for (index, url) in session.urls.enumerated() {
            let openings = session.openings(of: index)
            guard let first = openings.first else { continue }
            for opening in openings { judgement.looked(at: opening.evidence("opening")) }
            counts.append("\(url.label) was opened \(counted(openings.count, "time"))")
            for (number, opening) in openings.enumerated().dropFirst() {
                report(opening, number: number + 1, first, url, acts, session, &judgement)
            }
        }
        judgement.passSentence = counts.joined(separator: "; ")
        session.doubtOpenings(&judgement)
    }

    /// What the app did, in order of time.
    private static func acts(of session: Session) -> [(time: Instant, words: String)] {
        let marks = session.marks([.launch, .foreground, .restore]).map {
            ($0.span.earliest, "the app's \($0.kind.rawValue)")
        }
        let taps = session.taps.map { ($0.span.earliest, "a tap") }
        let answers = session.attempts.map { ($0.ended, "the answer to attempt \($0.number)") }
        return (marks + taps + answers).sorted { $0.0 < $1.0 }.map { (time: $0.0, words: $0.1) }
    }

    private static func report(
        _ opening: Navigation, number: Int, _ first: Navigation, _ url: HandoffURL,
        _ acts: [(time: Instant, words: String)], _ session: Session, _ judgement: inout Judgement
    ) {
        let gap = Nanoseconds(opening.started.nanoseconds(since: first.started))
        let sentence = "\(url.label) was opened \(number) times, the last one \(gap) after the first"
        let evidence = [url.evidence, first.evidence("opening"), opening.evidence("opening")]
        if opening.first.client?.address != first.first.client?.address,
            session.isOfAnotherDevice(opening.first.client?.address)
        {
            judgement.doubt(
                "several-devices", "\(sentence), but on another device",
                remedy: "judge one device at a time: --filter 'host ADDRESS'")
            return
        }
        if opening.first.revalidates {
            judgement.doubt(
                "perhaps-reload", "\(sentence), with Cache-Control as a browser's reload",
                remedy: "mark reloads ({\"kind\":\"reload\"}), or leave the page alone")
            return
        }
        let next = acts.partitioningIndex { $0.time > opening.started }
        if next > 0, opening.started.nanoseconds(since: acts[next - 1].time) <= reach.count {
            let act = acts[next - 1]
            judgement.violation(
                "opened-again",
                "\(sentence), \(Nanoseconds(opening.started.nanoseconds(since: act.time))) after \(act.words)",
                place: [opening.first.pathTemplate], evidence: evidence)
        } else if session.taps.isEmpty, opening.actor.actor == .browser {
            judgement.doubt(
                "no-tap-mark",
                "\(sentence), and without marks of what the app did it can't be told from a browser that restores its tabs",
                remedy: "mark taps, launches and the app's coming to the foreground")
        } else if opening.actor.actor == .browser {
            judgement.violation(
                "browser-restore", severity: .warning,
                "\(sentence), without any act of the app within \(reach) before: the browser may have restored its tabs",
                place: [opening.first.pathTemplate], evidence: evidence)
        } else {
            judgement.violation(
                "opened-again", "\(sentence), by a view inside the app (\(opening.actor.reason))",
                place: [opening.first.pathTemplate], evidence: evidence)
        }
    }
}
