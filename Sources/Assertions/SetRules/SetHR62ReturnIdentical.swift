internal import SessionTrace

/// **HR-62 return-identical.** The generic return is the same, whatever happened: one link, and the same requests of the app
/// after it.
///
/// The contract (CONTRACT.md, "Generic return") lets the return tell nothing. Traces of one group whose `scenario` marks give
/// them different `outcome` labels (abandoned, ineligible, paid …) are compared: the return links in Chia's answers byte for
/// byte, and the requests of the app in the half minute after the return by kind and number.
///
/// Inconclusive: the half minute was cut short, or something in it could not be read. Not applicable: fewer than two
/// outcomes are labelled. Traps: copies of a trace; runs of other scenarios or platforms.
enum ReturnIdentical: SetRule {
    static let description = RuleDescription(
        id: "HR-62", name: "return-identical", severity: .error,
        sentence: "The generic return and what the app does after it are the same for every outcome.",
        heading: "Generic return", matrix: ["M-08"],
        inconclusiveWhen: "the half minute after the return was cut short or not read in full in one of the runs",
        options: ["hosts: {return}", "return-link"],
        example:
            "A run that was paid ends on the shop's home, and one that was abandoned too, but only after the first the app asks GET /orders. Fail: differs-by-outcome, with both traces."
    )

    static func judge(_ set: TraceSet, _ judgement: inout Judgement) {
        judgement.idleSentence =
            "fewer than two outcomes with a return are labelled (scenario mark: attrs.outcome)"
        var runs = 0
        for group in set.groups {
            let returned = group.traces.filter {
                $0.facts.outcome != nil && ($0.facts.afterReturn != nil || !$0.facts.returnLinks.isEmpty)
            }
            guard Set(returned.compactMap(\.facts.outcome)).count > 1 else { continue }
            judgement.exercised()
            runs += returned.count
            judgeLinks(returned.filter { !$0.facts.returnLinks.isEmpty }, &judgement)
            TrafficComparison(
                traces: returned.filter { $0.facts.afterReturn != nil }, traffic: \.facts.afterReturn,
                moment: "the return"
            ).judge(severity: .error, &judgement)
        }
        judgement.passSentence =
            "\(counted(runs, "run")) with different outcomes: one return link, and the same requests of the app after it"
    }

    private static func judgeLinks(_ traces: [TraceSet.Trace], _ judgement: inout Judgement) {
        guard let first = traces.first else { return }
        for other in traces.dropFirst() where Set(other.facts.returnLinks.keys) != Set(first.facts.returnLinks.keys) {
            let mine = first.facts.returnLinks.sorted { $0.key < $1.key }
            let theirs = other.facts.returnLinks.sorted { $0.key < $1.key }
            judgement.violation(
                "link-differs",
                "the return links of \(first.path) (\(first.facts.outcome ?? "?")) and \(other.path) (\(other.facts.outcome ?? "?")) differ",
                evidence: mine.prefix(3).map { first.evidence($0.value) }
                    + theirs.prefix(3).map { other.evidence($0.value) })
        }
    }
}
