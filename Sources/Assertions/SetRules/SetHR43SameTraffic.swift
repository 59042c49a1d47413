internal import SessionTrace

/// **HR-43 over traces.** What the app sends after coming back is the same, however the handoff ended and however long it
/// took.
///
/// Runs of one scenario in one group are compared whose `outcome` labels differ, or that were away for 30 seconds less or
/// more than one another: the kinds of requests in the half minute after the first coming back (method, masked path, host
/// role, names in the body), with their number; of telemetry and without images the kinds alone.
///
/// Inconclusive: in a run that would be compared something could not be seen, or the half minute was cut short.
enum SameTrafficOverOutcomes: SetRule {
    static let description = RuleDescription(
        id: "HR-43", name: "no-outcome-inference-traffic", severity: .warning,
        sentence: "After coming back the app sends the same, whatever happened and however long it took.",
        heading: "The tap sequence", matrix: ["M-09"],
        inconclusiveWhen: "the half minute after coming back was cut short or not read in full in one of the runs")

    /// Times away that differ by this much are different.
    static let differentAbsence = Nanoseconds.seconds(30)

    static func judge(_ set: TraceSet, _ judgement: inout Judgement) {
        judgement.idleSentence =
            "no two runs of one scenario come back after different outcomes (scenario mark: attrs.outcome) or times away"
        var runs = 0
        for group in set.groups {
            for (_, traces) in Dictionary(grouping: group.traces, by: { $0.facts.scenario ?? "" })
                .sorted(by: { $0.key < $1.key })
            {
                let back = traces.filter { $0.facts.foreground != nil }
                guard let first = back.first, back.contains(where: { isDifferent(first, $0) }) else { continue }
                judgement.exercised()
                runs += back.count
                TrafficComparison(traces: back, traffic: \.facts.foreground, moment: "coming back")
                    .judge(severity: .warning, &judgement)
            }
        }
        judgement.passSentence =
            "\(counted(runs, "run")) with different outcomes or times away, all alike after coming back"
    }

    private static func isDifferent(_ one: TraceSet.Trace, _ other: TraceSet.Trace) -> Bool {
        if let mine = one.facts.outcome, let theirs = other.facts.outcome, mine != theirs { return true }
        guard let mine = one.facts.foreground?.absence, let theirs = other.facts.foreground?.absence else {
            return false
        }
        return Nanoseconds(abs(mine.count - theirs.count)) >= differentAbsence
    }
}

/// Whether what the app sent after a moment is the same in several runs.
struct TrafficComparison {
    var traces: [TraceSet.Trace]
    var traffic: KeyPath<TraceSet.Trace, TraceFacts.Traffic?>
    /// `coming back`, for sentences.
    var moment: String

    func judge(severity: Severity, _ judgement: inout Judgement) {
        // What can't be compared is a doubt; the others still are.
        for trace in traces {
            guard let gap = trace[keyPath: traffic]?.gap else { continue }
            judgement.doubt(gap.code, "\(trace.path): \(gap.sentence)", remedy: gap.remedy)
        }
        let whole = traces.filter { $0[keyPath: traffic]?.gap == nil }
        guard let first = whole.first, let expected = first[keyPath: traffic] else { return }
        judgement.looked(at: first.evidence(expected.evidence))
        for other in whole.dropFirst() {
            guard let seen = other[keyPath: traffic] else { continue }
            judgement.looked(at: other.evidence(seen.evidence))
            guard let difference = difference(expected, seen, first, other) else { continue }
            judgement.violation(
                "differs-by-outcome", severity: severity, difference.sentence, place: [difference.kind],
                evidence: [first.evidence(expected.evidence), other.evidence(seen.evidence)])
        }
    }

    private func difference(
        _ expected: TraceFacts.Traffic, _ seen: TraceFacts.Traffic, _ first: TraceSet.Trace, _ other: TraceSet.Trace
    ) -> (kind: String, sentence: String)? {
        let labels = "\(label(first)) and \(label(other))"
        for kind in Set(expected.counts.keys).union(seen.counts.keys).sorted() {
            let (mine, theirs) = (expected.counts[kind] ?? 0, seen.counts[kind] ?? 0)
            guard mine != theirs else { continue }
            return (
                kind,
                "after \(moment), \(kind) was sent \(counted(mine, "time")) and \(counted(theirs, "time")) in \(labels)"
            )
        }
        guard let kind = expected.telemetry.symmetricDifference(seen.telemetry).min() else { return nil }
        return (
            kind,
            "after \(moment), \(kind) went to telemetry in \(expected.telemetry.contains(kind) ? label(first) : label(other)), and not in \(expected.telemetry.contains(kind) ? label(other) : label(first))"
        )
    }

    private func label(_ trace: TraceSet.Trace) -> String {
        guard let outcome = trace.facts.outcome else { return trace.path }
        return "\(trace.path) (\(outcome))"
    }
}
