public import Assertions
internal import SessionTrace

/// The verdict of one trace as a table for people: rule, verdict, one sentence with its numbers, the packets.
public struct VerdictTable: Sendable {
    private let path: String
    private let verdict: TraceVerdict
    private let style: TextStyle

    private static let verdictWidth = 12
    private static let indent = String(repeating: " ", count: 23)

    /// Makes a table of `verdict`; `path` is shown as given.
    public init(path: String, verdict: TraceVerdict, style: TextStyle) {
        self.path = path
        self.verdict = verdict
        self.style = style
    }

    /// The table, newline at its end. Rules that do not apply are named in one line unless `isVerbose`.
    public func text(isVerbose: Bool = false) -> String {
        var lines = header
        for rule in verdict.rules where isVerbose || rule.verdict != .notApplicable {
            lines += rows(of: rule, isVerbose: isVerbose)
        }
        let idle = verdict.rules.filter { $0.verdict == .notApplicable }.map(\.id)
        if !isVerbose, !idle.isEmpty {
            lines += wrapped(
                "not applicable (never triggered here): \(idle.joined(separator: ", "))", width: style.width - 2
            )
            .map { style.paint("  \($0)", .faint) }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private var header: [String] {
        let summary = verdict.summary
        var facts = ["\(summary.packets) packets"]
        if let span = summary.span {
            facts.append(
                "\(span.earliest.rfc3339.prefix(19))Z, \(durationText(nanoseconds: span.latest.nanoseconds(since: span.earliest)))"
            )
        }
        let decryption = summary.decryption
        if decryption.connections > 0 {
            facts.append("\(decryption.decrypted) of \(decryption.connections) TLS connections decrypted")
        }
        if decryption.unusedKeys > 0 { facts.append("\(decryption.unusedKeys) keys never used") }
        if !summary.isComplete { facts.append("cut short or unread in part") }
        var lines = [style.paint(path, .bold) + "  " + worstWord, "  " + facts.joined(separator: " · ")]
        for (reason, count) in decryption.dark.sorted(by: { $0.key < $1.key }) {
            lines.append("  \(count) connection\(count == 1 ? "" : "s") stayed dark: \(reason)")
        }
        for note in summary.notes {
            lines += wrapped("note: \(note)", width: style.width - 2).map { "  \($0)" }
        }
        return lines + [""]
    }

    private var worstWord: String {
        let counts = Verdict.allCases.map { kind in (kind, verdict.rules.filter { $0.verdict == kind }.count) }
        return counts.filter { $0.1 > 0 }
            .map { style.paint("\($0.1) \($0.0 == .notApplicable ? "not applicable" : $0.0.rawValue)", $0.0) }
            .joined(separator: ", ")
    }

    private func rows(of rule: RuleResult, isVerbose: Bool) -> [String] {
        let word =
            rule.verdict == .fail && rule.severity != .error
            ? "fail (\(rule.severity == .warning ? "W" : "I"))" : shortWord(rule.verdict)
        let gated = verdict.gate.contains(rule.id) ? "*" : " "
        let head = "  \(padded(rule.id + gated, 7)) " + style.paint(padded(word, Self.verdictWidth), rule.verdict) + " "
        let width = style.width - Self.indent.count
        var sentence = rule.sentence
        let packets = packetList(rule.lookedAt.flatMap(\.packets))
        if !packets.isEmpty, rule.verdict == .pass { sentence += "  [packets \(packets)]" }
        let body = wrapped(sentence, width: width)
        var lines = [head + (body.first ?? "")] + body.dropFirst().map { Self.indent + $0 }
        if let reason = rule.reason {
            lines += block("why: [\(reason.code)] \(reason.sentence)", width)
            lines += block("do:  \(reason.remedy)", width)
        }
        for assumption in rule.assumptions {
            lines += block("assumes: [\(assumption.code)] \(assumption.sentence)", width).map {
                style.paint($0, .faint)
            }
        }
        for finding in rule.findings where finding.severity != .info || isVerbose || rule.verdict == .fail {
            lines += block(
                "\(finding.severity == .info ? "·" : "✗") \(finding.message)  (\(finding.fingerprint))", width)
            for evidence in finding.evidence { lines += block("    \(evidence.line)", width) }
        }
        if isVerbose {
            for evidence in rule.lookedAt { lines += block("· \(evidence.line)", width) }
        }
        return lines
    }

    private func shortWord(_ verdict: Verdict) -> String {
        verdict == .notApplicable ? "n/a" : verdict.rawValue
    }

    /// Wrapped text under the sentence column, leading spaces kept on every line.
    private func block(_ text: String, _ width: Int) -> [String] {
        let lead = String(text.prefix { $0 == " " })
        return wrapped(text, width: width - lead.count).enumerated().map { index, line in
            Self.indent + lead + (index == 0 ? "" : "     ") + line
        }
    }
}

extension Evidence {
    /// One line for people: packets, time, what, where.
    var line: String {
        let list = packetList(packets)
        var parts = [label]
        if !list.isEmpty { parts.append("packet\(Set(packets).count == 1 ? "" : "s") \(list)") }
        parts.append(
            span.earliest == span.latest
                ? span.earliest.timeOfDay : "\(span.earliest.timeOfDay)–\(span.latest.timeOfDay)")
        parts.append(subject)
        if let place { parts.append("at \(place)") }
        if let endpoints { parts.append(endpoints) }
        return parts.joined(separator: " · ")
    }
}
