public import Assertions
internal import SessionTrace

/// What a whole set of traces comes to, for people: violations, causes, the contract matrix, then one line.
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
        (violationLines + setRuleLines + causeLines + matrixLines + missingLines + closingLines).joined(separator: "\n")
            + "\n"
    }

    /// Over several traces: which rule is violated where.
    private var violationLines: [String] {
        guard set.traces.count > 1 else { return [] }
        var order: [RuleResult] = []
        var paths: [String: [String]] = [:]
        for trace in set.traces {
            for rule in trace.verdict?.rules ?? [] where rule.verdict == .fail {
                if paths[rule.id] == nil { order.append(rule) }
                paths[rule.id, default: []].append(trace.path)
            }
        }
        guard !order.isEmpty else { return [] }
        var lines = [style.paint("Violations", .bold)]
        for rule in order.sorted(by: { $0.id < $1.id }) {
            let places = paths[rule.id, default: []]
            lines += block("\(rule.id) \(rule.name), \(times(places.count)): \(list(places))", indent: 2)
                .painting(rule.id, .red, style)
        }
        return lines + [""]
    }

    /// What rules say that compare traces, but for those that do not apply.
    private var setRuleLines: [String] {
        let rules = set.rules.filter { $0.verdict != .notApplicable }
        guard !rules.isEmpty else { return [] }
        var lines = [style.paint("Over all traces", .bold)]
        for rule in rules {
            let colour: TextStyle.Colour =
                switch rule.verdict {
                case .pass, .notApplicable: .green
                case .fail: rule.severity == .error ? .red : .yellow
                case .inconclusive: .yellow
                }
            let word = rule.verdict == .fail && rule.severity == .warning ? "warning" : rule.verdict.rawValue
            lines += block("\(rule.id) \(rule.name), \(word): \(rule.sentence)", indent: 2)
                .painting(rule.id, colour, style)
            if let reason = rule.reason { lines += block("do: \(reason.remedy)", indent: 6) }
            for finding in rule.findings.filter({ $0.severity != .info }).prefix(5) {
                for evidence in finding.evidence.prefix(4) {
                    lines += block("\(evidence.line) (\(finding.fingerprint))", indent: 6).map {
                        style.paint($0, .faint)
                    }
                }
            }
        }
        return lines + [""]
    }

    private var causeLines: [String] {
        let readable = set.traces.filter { $0.verdict != nil }
        let judged = readable.filter { trace in
            trace.verdict.map { verdict in
                !verdict.rules.contains { $0.isOpen && verdict.gate.contains($0.id) }
            } ?? false
        }
        let unreadable = set.traces.count { $0.obstacle == .input }
        let withoutPolicy = set.traces.count { $0.obstacle == .policy }
        var lines = [
            style.paint("Summary by cause", .bold),
            "  \(judged.count) of \(set.traces.count) trace\(set.traces.count == 1 ? "" : "s") judged on every gated rule"
                + (unreadable > 0 ? ", \(unreadable) could not be read" : "")
                + (withoutPolicy > 0 ? ", \(withoutPolicy) had no policy that can be used" : ""),
        ]
        for cause in set.causes {
            let weight = cause.isGated ? "" : " (no gated rule)"
            let head = "[\(cause.code)]"
            lines += block("\(head) \(times(cause.paths.count))\(weight): \(cause.sentence)", indent: 2)
                .painting(head, .yellow, style)
            lines += block("do: \(cause.remedy)", indent: 6)
            let what = "\(cause.rules.joined(separator: ", ")) in \(list(cause.paths))"
            lines += block("open: \(what)", indent: 6).map { style.paint($0, .faint) }
        }
        return lines + [""]
    }

    private func times(_ count: Int) -> String { count == 1 ? "in 1 trace" : "in \(count) traces" }

    private func list(_ paths: [String], limit: Int = 4) -> String {
        paths.prefix(limit).joined(separator: ", ") + (paths.count > limit ? " and \(paths.count - limit) more" : "")
    }

    private func block(_ text: String, indent: Int) -> [String] {
        let lead = String(repeating: " ", count: indent)
        return wrapped(text, width: style.width - indent, following: style.width - indent - 4).enumerated()
            .map { lead + ($0.offset == 0 ? "" : "    ") + $0.element }
    }

    // MARK: the contract matrix

    private static let idWidth = 8
    private static let narrowestTitle = 24

    private var matrixLines: [String] {
        guard !set.groups.isEmpty else { return [] }
        let decidable = set.matrix.filter(\.isDecidable)
        let longest = decidable.map(\.title.count).max() ?? 0
        let columns = set.groups.map { (name: $0, width: max($0.count, 12) + 2) }
        let room = style.width - Self.idWidth
        // As many groups side by side as fit beside a readable title; the others below.
        var blocks: [[(name: String, width: Int)]] = []
        for column in columns {
            let used = blocks.last?.reduce(0) { $0 + $1.width } ?? room
            if used + column.width > room - Self.narrowestTitle || blocks.isEmpty {
                blocks.append([column])
            } else {
                blocks[blocks.count - 1].append(column)
            }
        }
        var lines = [style.paint("Contract matrix", .bold)]
        for columns in blocks {
            let titleWidth = max(
                Self.narrowestTitle, min(longest + 2, room - columns.reduce(0) { $0 + $1.width }))
            let heads = columns.map { padded($0.name, $0.width) }.joined()
            lines.append("\(padded("", Self.idWidth + titleWidth))\(heads)".trimmedRight)
            for row in decidable {
                let cells = columns.map { cell(row.cells[$0.name], $0.width) }.joined()
                lines.append(
                    "  \(padded(row.id, Self.idWidth - 2))\(shortened(row.title, titleWidth))\(cells)".trimmedRight)
            }
        }
        let beyond = set.matrix.filter { !$0.isDecidable }.map { "\($0.id) \($0.title)" }
        if !beyond.isEmpty {
            lines += block("traffic can't show: \(beyond.joined(separator: "; "))", indent: 2)
                .map { style.paint($0, .faint) }
        }
        return lines + [""]
    }

    private func cell(_ cell: SetVerdict.Cell?, _ width: Int) -> String {
        switch cell?.exercise {
        case .proven: style.paint(padded("proven ×\(cell?.proven ?? 0)", width), .green)
        case .violated: style.paint(padded("VIOLATED ×\(cell?.violated ?? 0)", width), .red)
        case .notShown, .outOfScope, nil: style.paint(padded("never shown", width), .yellow)
        }
    }

    private func shortened(_ text: String, _ width: Int) -> String {
        text.count < width ? padded(text, width) : padded(text.prefix(width - 2) + "…", width)
    }

    // MARK: the end

    private var missingLines: [String] {
        (set.notExercised + set.misuses).flatMap { block("✗ \($0)", indent: 2) }.map { style.paint($0, .yellow) }
    }

    private var closingLines: [String] {
        let (word, colour, sentence) = closing
        return block("\(word): \(sentence)", indent: 0).painting(word, colour, style)
    }

    /// `3 of 60 traces: `, or nothing where there is one.
    private func traces(_ outcome: Outcome) -> String {
        let count = set.traces.count { set.outcome(of: $0) == outcome }
        return set.traces.count == 1 ? "" : "\(count) of \(set.traces.count) traces: "
    }

    private var closing: (word: String, colour: TextStyle.Colour, sentence: String) {
        let isAnywhere = set.traces.contains { set.outcome(of: $0) == set.outcome }
        switch set.outcome {
        case .conforming:
            return ("PASS", .green, passSentence)
        case .violation:
            return ("FAIL", .red, "\(isAnywhere ? traces(.violation) : "the traces together: ")\(violated)")
        case .unreadable:
            return ("UNREADABLE", .red, traces(.unreadable) + unreadableSentence)
        case .inconclusive:
            let sentence = "no violation was seen, but not everything could be judged; what to do stands above"
            return ("INCONCLUSIVE", .yellow, "\(isAnywhere ? traces(.inconclusive) : "")\(sentence)")
        case .misused:
            var parts = isAnywhere ? ["\(traces(.misused))the policy can't be used, so nothing was judged by it"] : []
            if !set.misuses.isEmpty { parts.append("what was asked for can't be done, as said above") }
            if !violatedRules.isEmpty { parts.append(violated) }
            return ("WRONG USAGE", .red, parts.joined(separator: "; "))
        }
    }

    /// What decides the outcome: a warning is told above.
    private var violatedRules: [String] {
        let rules = set.traces.flatMap { $0.verdict?.rules ?? [] } + set.rules
        return Swift.Set(rules.filter(set.options.countsAsViolated).map(\.id)).sorted()
    }

    private var violated: String { "violated \(violatedRules.joined(separator: ", "))" }

    private var passSentence: String {
        let open = set.traces.compactMap(\.verdict).reduce(0) { sum, verdict in
            sum + verdict.rules.count { $0.isOpen && verdict.gate.contains($0.id) }
        }
        let left = set.traces.compactMap(\.conditions).filter { $0.filter != nil }.map(\.filteredPackets)
        let filtered = left.isEmpty ? "" : "; --filter left out packets of which nothing is said: \(left.reduce(0, +))"
        return open == 0
            ? "no violation that counts, and every gated rule was decided\(filtered)"
            : "no violation that counts; \(open) gated rule\(open == 1 ? " is" : "s are") inconclusive, which was not "
                + "to count\(filtered)"
    }

    /// What the unreadable traces lack, each kind once.
    private var unreadableSentence: String {
        var parts: [(text: String, count: Int)] = []
        for trace in set.traces where set.outcome(of: trace) == .unreadable {
            let text =
                trace.verdict == nil
                ? "could not be read" : trace.shortcoming ?? "could not be read to the end; everything whole was judged"
            if let place = parts.firstIndex(where: { $0.text == text }) {
                parts[place].count += 1
            } else {
                parts.append((text, 1))
            }
        }
        return parts.map { parts.count == 1 ? $0.text : "\($0.count) \($0.text)" }.joined(separator: "; ")
    }
}

extension [String] {
    /// Colours `word` where the first line begins with it; done after wrapping, which counts columns.
    fileprivate func painting(_ word: String, _ colour: TextStyle.Colour, _ style: TextStyle) -> [String] {
        guard let first, let start = first.firstIndex(where: { $0 != " " }), first[start...].hasPrefix(word) else {
            return self
        }
        return [first[..<start] + style.paint(word, colour) + first[start...].dropFirst(word.count)] + dropFirst()
    }
}

extension String {
    /// Without the spaces at its end.
    fileprivate var trimmedRight: String {
        var text = self
        while text.hasSuffix(" ") { text.removeLast() }
        return text
    }
}
