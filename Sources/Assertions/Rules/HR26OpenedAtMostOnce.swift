internal import SessionTrace

/// **HR-26 opened-at-most-once.** A handoff URL is opened once, and never again.
///
/// The contract (CONTRACT.md, "The tap sequence" 5) has the URL opened once and never stored; a stored one shows when it
/// is opened again after a relaunch. Openings are counted as HR-09 counts navigations: the browser's own retry and
/// Chia's redirects make one of several requests, what a page of Chia starts and what follows a `reload` mark is not
/// counted. A browser that restores its tabs opens a page again too: without any act of the app in the ten seconds before
/// (a tap, a launch, an answer to a session request) it is taken for that, and only a warning.
///
/// Inconclusive: a second opening that looks like a reload, or like the browser's own return to the page (HR-09); one
/// without any mark that would tell the app's act from the browser's; a URL of another session, which may have been opened
/// before; connections to Chia that could not be read.
enum OpenedAtMostOnce: Rule {
    static let description = RuleDescription(
        id: "HR-26", name: "opened-at-most-once", severity: .error,
        sentence: "A handoff URL is opened at most once, whatever happens to the app.",
        heading: "The tap sequence",
        inconclusiveWhen:
            "connections to Chia could not be read, a second opening may be the browser's own (a reload, Back), or an "
            + "opened URL is of another session",
        example:
            "After a relaunch the app opens the stored handoff URL again. Fail: opened 2 times, the second 26 s after the first, 1 s after the app's launch."
    )

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no handoff URL was opened"
        let acts = session.acts()
        var counts: [String] = []
        for (index, url) in session.urls.enumerated() {
            let openings = session.openings(of: index)
            guard let first = openings.first else { continue }
            for opening in openings { judgement.looked(at: opening.evidence("opening")) }
            counts.append("\(url.label) was opened \(counted(openings.count, "time"))")
            for (number, opening) in openings.enumerated().dropFirst() {
                let before = openings[number - 1]
                let because = [url.evidence, first.evidence("opening"), opening.evidence("opening")]
                report(
                    opening, number: number + 1, first, after: before, url.label, because, acts, session, &judgement)
            }
        }
        // A stored URL of an earlier session.
        var seen: [String: (first: Navigation, last: Navigation, count: Int)] = [:]
        for opening in session.foreignOpenings() {
            judgement.looked(at: opening.evidence("opening"))
            guard let token = opening.first.address?.token else { continue }
            let known = seen[token] ?? (opening, opening, 0)
            seen[token] = (known.first, opening, known.count + 1)
            if known.count == 0 {
                counts.append("a handoff URL of another session was opened")
            } else {
                let because = [known.first.evidence("opening"), opening.evidence("opening")]
                report(
                    opening, number: known.count + 1, known.first, after: known.last,
                    "a handoff URL of another session", because, acts, session, &judgement)
            }
        }
        judgement.passSentence = counts.joined(separator: "; ")
        // It may have been opened before the trace began.
        session.doubtForeignOpenings(&judgement)
        session.doubtOpenings(&judgement)
    }

    private static func report(
        _ opening: Navigation, number: Int, _ first: Navigation, after before: Navigation, _ name: String,
        _ evidence: [Evidence], _ acts: [AppAct], _ session: Session, _ judgement: inout Judgement
    ) {
        let gap = Nanoseconds(opening.started.nanoseconds(since: first.started))
        let sentence = "\(name) was opened \(number) times, the last one \(gap) after the first"
        if opening.first.client?.address != first.first.client?.address,
            session.isOfAnotherDevice(opening.first.client?.address)
        {
            judgement.doubt(
                "several-devices", "\(sentence), but on another device",
                remedy: "judge one device at a time: --filter 'host ADDRESS'")
            return
        }
        if let why = session.perhapsReload(opening.first) {
            judgement.doubt(
                "perhaps-reload", "\(sentence), and \(why)",
                remedy: "mark reloads ({\"kind\":\"reload\"}), or leave the page alone")
            return
        }
        if let why = session.perhapsReturn(opening.first, after: before.first) {
            judgement.doubt(
                "perhaps-back", "\(sentence), which may be the browser's own return to the page: \(why)",
                remedy: "leave the page alone, and mark taps, launches and the app's coming to the foreground")
            return
        }
        if let act = session.act(before: opening, among: acts) {
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
                "\(sentence), without any act of the app within \(Session.actWindow) before: the browser may have restored its tabs",
                place: [opening.first.pathTemplate], evidence: evidence)
        } else {
            judgement.violation(
                "opened-again", "\(sentence), by a view inside the app (\(opening.actor.reason))",
                place: [opening.first.pathTemplate], evidence: evidence)
        }
    }
}
