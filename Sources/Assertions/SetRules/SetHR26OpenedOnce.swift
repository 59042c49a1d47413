internal import SessionTrace

/// **HR-26 over traces.** A handoff URL that one trace shows being opened is opened in no other trace of the device.
///
/// A URL that was never stored can't be opened again by a later run. A navigation of the browser that a tap or the app's
/// `opened` mark precedes by ten seconds at most is an error; one that nothing of the app precedes is a warning, since a
/// browser restores its tabs. Reloads that are marked do not count.
///
/// Traps: copies of a trace, or one run recorded twice; another device; a browser that restores its session.
enum OpenedOnceOverTraces: SetRule {
    static let description = RuleDescription(
        id: "HR-26", name: "opened-at-most-once", severity: .error,
        sentence: "A handoff URL is opened in one trace of a device only.", heading: "The tap sequence",
        inconclusiveWhen: "the browser's requests to Chia stayed unread in a trace")

    private struct Opening {
        var trace: TraceSet.Trace
        var opening: TraceFacts.Opening
    }

    static func judge(_ set: TraceSet, _ judgement: inout Judgement) {
        judgement.idleSentence = "fewer than two traces show a handoff URL being opened"
        let openings = set.traces.flatMap { trace in
            trace.facts.openings.map { Opening(trace: trace, opening: $0) }
        }.sorted { $0.opening.at < $1.opening.at }
        guard Set(openings.map(\.trace.path)).count > 1 else { return }
        judgement.exercised()
        var first: [String: Opening] = [:]
        for opening in openings {
            guard let known = first[opening.opening.token] else {
                first[opening.opening.token] = opening
                continue
            }
            // Within one trace it is the trace's own rule's matter.
            guard known.trace.path != opening.trace.path else { continue }
            judge(opening, after: known, &judgement)
        }
        judgement.passSentence =
            "\(counted(first.count, "handoff URL")) opened in \(Set(openings.map(\.trace.path)).count) traces, none in two"
        for trace in set.traces {
            guard let gap = trace.facts.browserGap else { continue }
            judgement.doubt(gap.code, "\(trace.path): \(gap.sentence)", remedy: gap.remedy)
        }
    }

    private static func judge(_ opening: Opening, after known: Opening, _ judgement: inout Judgement) {
        let gap = Nanoseconds(max(0, opening.opening.at.nanoseconds(since: known.opening.at)))
        // Two recorders of one run, or a URL that another device was given.
        guard gap > KeyUniqueOverTraces.sameRequest, opening.trace.mayShareDevice(with: known.trace) else { return }
        let sentence =
            "the handoff URL that \(known.trace.path) shows being opened is opened again in \(opening.trace.path), \(gap) later"
        let evidence = [known.trace.evidence(known.opening.evidence), opening.trace.evidence(opening.opening.evidence)]
        if opening.opening.isTapped {
            judgement.violation("opened-again", sentence, evidence: evidence)
        } else {
            judgement.violation(
                "browser-restore", severity: .warning,
                "\(sentence), with no tap before it: the browser may have restored its tabs", evidence: evidence)
        }
    }
}
