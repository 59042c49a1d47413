public import Assertions

/// What a whole set of traces comes to, for people: causes first, then the contract matrix, then one line.
public struct SetSummary: Sendable {
    private let set: SetVerdict
    private let style: TextStyle

    /// Makes a summary.
    public init(set: SetVerdict, style: TextStyle) {
        self.set = set
        self.style = style
    }

    /// The summary, newline at its end.
    public var text: String {
        (causeLines + matrixLines + missingLines + [closingLine]).joined(separator: "\n") + "\n"
    }

    private var causeLines: [String] {
        let readable = set.traces.filter { $0.verdict != nil }
        let judged = readable.filter { set.outcome(of: $0) != .inconclusive }
        var lines = [
            style.paint("Summary by cause", .bold),
            "  \(judged.count) of \(set.traces.count) trace\(set.traces.count == 1 ? "" : "s") judged on every gated rule",
        ]
        for trace in set.traces where trace.verdict == nil {
            lines += wrapped("could not be read: \(trace.error ?? trace.path)", width: style.width - 2)
                .map { "  " + style.paint($0, .red) }
        }
        for cause in set.causes {
            let mark = cause.isGated ? style.paint("gated", .yellow) : "not gated"
            lines += block("[\(cause.code)] \(cause.paths.count)× (\(mark)): \(cause.sentence)", indent: 2)
            lines += block("do: \(cause.remedy)", indent: 6)
            lines += block("rules \(cause.rules.joined(separator: ", ")) in \(list(cause.paths))", indent: 6)
                .map { style.paint($0, .faint) }
        }
        return lines + [""]
    }

    private func list(_ paths: [String], limit: Int = 4) -> String {
        paths.prefix(limit).joined(separator: ", ") + (paths.count > limit ? " and \(paths.count - limit) more" : "")
    }

    private func block(_ text: String, indent: Int) -> [String] {
        let lead = String(repeating: " ", count: indent)
        return wrapped(text, width: style.width - indent - 4).enumerated()
            .map { lead + ($0.offset == 0 ? "" : "    ") + $0.element }
    }

    private var matrixLines: [String] {
        guard !set.groups.isEmpty else { return [] }
        let titleWidth = max(30, min(60, style.width - 8 - 18 * set.groups.count))
        let heads = set.groups.map { padded($0, 16) }.joined(separator: "  ")
        var lines = [style.paint("Contract matrix", .bold), "  \(padded("", titleWidth + 6))  \(heads)"]
        for row in set.matrix {
            let title = padded(String(row.title.prefix(titleWidth)), titleWidth)
            let cells = set.groups.map { group -> String in
                guard row.isDecidable else { return style.paint(padded("out of scope", 16), .faint) }
                let cell = row.cells[group]
                switch cell?.exercise {
                case .proven: return style.paint(padded("proven by \(cell?.proven ?? 0)", 16), .green)
                case .violated: return style.paint(padded("violated in \(cell?.violated ?? 0)", 16), .red)
                case .notShown, .outOfScope, nil: return style.paint(padded("never shown", 16), .yellow)
                }
            }
            lines.append("  \(row.id)  \(title)  \(cells.joined(separator: "  "))")
        }
        return lines + [""]
    }

    private var missingLines: [String] {
        return set.notExercised.flatMap { block("✗ \($0)", indent: 2) }.map { style.paint($0, .yellow) }
    }

    private var closingLine: String {
        let violations = set.traces.compactMap(\.verdict).reduce(0) { sum, verdict in
            sum + verdict.rules.filter { $0.verdict == .fail }.count
        }
        switch set.outcome {
        case .conforming:
            return style.paint("PASS", .green) + ": no violation that counts, and every gated rule was decided"
        case .violation:
            return style.paint("FAIL", .red) + ": \(violations) rule\(violations == 1 ? "" : "s") violated"
        case .unreadable:
            return style.paint("UNREADABLE", .red)
                + ": an input could not be read to its end; everything whole was judged"
        case .inconclusive:
            return style.paint("INCONCLUSIVE", .yellow) + ": no violation was seen, but not everything could be judged"
        }
    }
}
