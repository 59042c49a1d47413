internal import SessionTrace

/// What has to be shown over a set of traces, and what was asked for that can't be done.
extension SetVerdict {
    /// Something that has to be shown.
    public struct Demand: Hashable, Sendable {
        /// What: `must-exercise double-tap`, `certify M-05 for ios`.
        public var name: String
        /// One sentence, when no trace shows it.
        public var missing: String?
    }

    static func demands(
        _ traces: [JudgedTrace], _ rules: [RuleResult], _ matrix: [MatrixRow], _ options: SetOptions
    ) -> [Demand] {
        let verdicts = traces.compactMap(\.verdict)
        var demands: [Demand] = []
        if !verdicts.isEmpty, !verdicts.contains(where: \.exercisedAnything) {
            demands.append(
                Demand(
                    name: "anything exercised",
                    missing: "nothing was exercised: no tap, session request or navigation was recognised in any trace")
            )
        }
        for item in options.mustExercise {
            let inMatrix = matrix.first { $0.id == item }.map { row in
                row.cells.values.contains { $0.exercise != .notShown }
            }
            let byRule = verdicts.contains { verdict in
                verdict.rules.contains { $0.id == item && ($0.verdict == .pass || $0.verdict == .fail) }
            }
            let bySet = rules.contains { $0.id == item && ($0.verdict == .pass || $0.verdict == .fail) }
            let byWord = verdicts.contains { $0.exercised.contains(item) }
            let isShown = inMatrix == true || byRule || bySet || byWord
            let name = "must-exercise \(item)"
            demands.append(Demand(name: name, missing: isShown ? nil : "\(name): no trace shows it"))
        }
        if options.certify {
            for row in matrix where row.isDecidable {
                for (group, cell) in row.cells.sorted(by: { $0.key < $1.key }) {
                    let missing = "certify: \(row.id) \(row.title) was never shown for \(group)"
                    demands.append(
                        Demand(
                            name: "certify \(row.id) for \(group)",
                            missing: cell.exercise == .notShown ? missing : nil))
                }
            }
        }
        return demands + options.missing.map { Demand(name: "asked for", missing: $0) }
    }

    /// A group that no trace names would put all traces into one, and certify them together.
    static func misuses(_ traces: [JudgedTrace], _ options: SetOptions) -> [String] {
        let verdicts = traces.compactMap(\.verdict)
        let wanted = options.groupBy
        guard options.groupByIsAsked, !verdicts.isEmpty, !verdicts.contains(where: { $0.attributes[wanted] != nil })
        else { return [] }
        let known = Set(verdicts.flatMap(\.attributes.keys)).sorted()
        let hint = NearestWord.to(wanted, among: known).map { " (did you mean \($0)?)" } ?? ""
        let have =
            known.isEmpty
            ? "no trace has one with attributes" : "they have \(known.joined(separator: ", "))"
        return ["--group-by \(wanted): no trace's scenario marks have this attribute; \(have)\(hint)"]
    }
}
