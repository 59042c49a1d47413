public import Assertions
internal import SessionTrace

/// The verdict of one trace as a table for people: violations first, then what stayed open, then one line a passing rule.
///
/// Nothing is said twice: what another rule of the table said already, and assumptions that several rules share, are
/// named once and referred to.
public struct VerdictTable: Sendable {
    private let path: String
    private let verdict: TraceVerdict
    private let outcome: Outcome?
    private let conditions: JudgingConditions?
    private let stopped: String?
    private let style: TextStyle

    private static let verdictWidth = 12
    private static let indent = String(repeating: " ", count: 23)
    /// Rows of evidence shown for one finding unless everything is asked for.
    private static let evidenceRows = 6

    /// Makes a table of `verdict`; `path` is shown as given, `outcome` is what a gate makes of the trace.
    public init(path: String, verdict: TraceVerdict, outcome: Outcome? = nil, style: TextStyle) {
        self.path = path
        self.verdict = verdict
        self.outcome = outcome
        self.style = style
        conditions = nil
        stopped = nil
    }

    /// Makes a table of a trace's verdict, with what is known of how it was judged.
    public init(_ trace: JudgedTrace, _ verdict: TraceVerdict, outcome: Outcome, style: TextStyle) {
        path = trace.path
        self.verdict = verdict
        self.outcome = outcome
        self.style = style
        conditions = trace.conditions
        stopped = trace.stopped
    }

    /// The table, newline at its end. With `isVerbose` everything that each rule looked at, in catalogue order.
    public func text(isVerbose: Bool = false) -> String {
        var lines = header
        var told = Told()
        for rule in ordered(isVerbose: isVerbose) {
            lines += isVerbose ? verboseRows(of: rule) : rows(of: rule, &told)
        }
        lines += legend
        if !isVerbose {
            lines += assumptionLines
            let idle = verdict.rules.filter { $0.verdict == .notApplicable }.map(\.id)
            if !idle.isEmpty {
                lines += hanging("never triggered here: ", idle.joined(separator: ", ")).map { style.paint($0, .faint) }
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func ordered(isVerbose: Bool) -> [RuleResult] {
        if isVerbose { return verdict.rules }
        return [Verdict.fail, .inconclusive, .pass].flatMap { kind in verdict.rules.filter { $0.verdict == kind } }
    }

    // MARK: header

    private var header: [String] {
        let summary = verdict.summary
        var facts = ["\(summary.packets) packet\(summary.packets == 1 ? "" : "s")"]
        if let span = summary.span {
            let length = durationText(nanoseconds: span.latest.nanoseconds(since: span.earliest))
            facts.append("\(span.earliest.rfc3339.prefix(19))Z, \(length)")
        }
        let decryption = summary.decryption
        if decryption.connections > 0 {
            facts.append(
                "\(decryption.decrypted) of \(decryption.connections) TLS connection\(decryption.connections == 1 ? "" : "s") decrypted"
            )
        }
        if decryption.unusedKeys > 0 {
            facts.append("\(decryption.unusedKeys) key\(decryption.unusedKeys == 1 ? "" : "s") never used")
        }
        if !summary.isComplete { facts.append("cut short or unread in part") }
        var lines = [style.paint(Redactor.printable(path), .bold) + outcomeWord + "  " + counts]
        lines += hanging("", facts.joined(separator: " · "))
        if let policy { lines += hanging("", policy) }
        if let stopped { lines += hanging("", Redactor.printable(stopped)) }
        if let filter = conditions?.filter {
            let count = conditions?.filteredPackets ?? 0
            let what = Redactor.printable("--filter '\(filter)' left out \(count) packet\(count == 1 ? "" : "s")")
            lines += hanging("", "\(what): nothing is said of them")
        }
        for (reason, count) in decryption.dark.sorted(by: { $0.key < $1.key }) {
            lines += hanging("", "\(count) connection\(count == 1 ? "" : "s") stayed dark: \(reason)")
        }
        for note in summary.notes + verdict.notes { lines += hanging("note: ", note) }
        return lines + [""]
    }

    /// By which policy the trace was judged; nil where nobody says.
    private var policy: String? {
        guard let conditions else { return nil }
        let path = Redactor.printable(conditions.policy ?? "")
        return switch conditions.policyOrigin {
        case .named: "policy \(path)"
        case .beside: "policy \(path) (beside the trace)"
        case .above: "policy \(path) (in a folder above)"
        case .none: "no policy: the built-in defaults"
        }
    }

    private var outcomeWord: String {
        switch outcome {
        case .conforming: "  " + style.paint("PASS", .green)
        case .violation: "  " + style.paint("FAIL", .red)
        case .unreadable:
            "  "
                + style.paint(
                    stopped != nil
                        ? "STOPPED EARLY" : verdict.summary.isComplete ? "WITHOUT PACKETS" : "NOT READ TO ITS END", .red
                )
        case .misused: "  " + style.paint("NOT JUDGED", .red)
        case .inconclusive: "  " + style.paint("INCONCLUSIVE", .yellow)
        case nil: ""
        }
    }

    private var counts: String {
        [Verdict.fail, .inconclusive, .pass, .notApplicable].compactMap { kind in
            let count = verdict.rules.count { $0.verdict == kind }
            guard count > 0 else { return nil }
            return style.paint("\(count) \(kind == .notApplicable ? "not triggered" : kind.rawValue)", kind)
        }.joined(separator: ", ")
    }

    // MARK: rows

    /// What the table has said so far, and under which rule.
    private struct Told {
        var findings: [String: String] = [:]
        var reasons: [InconclusiveReason: String] = [:]
    }

    private func rows(of rule: RuleResult, _ told: inout Told) -> [String] {
        let width = style.width - Self.indent.count
        switch rule.verdict {
        case .pass, .notApplicable:
            return row(rule, lines: passLines(of: rule, width)) + notes(of: rule, &told)
        case .inconclusive:
            guard let reason = rule.reason else { return row(rule, lines: wrapped(rule.sentence, width: width)) }
            if let earlier = told.reasons[reason] {
                return row(rule, lines: ["as \(earlier)  [\(reason.code)]"]) + notes(of: rule, &told)
            }
            told.reasons[reason] = rule.id
            var lines = wrapped("\(rule.sentence)  [\(reason.code)]", width: width)
            if rule.sentence != reason.sentence { lines += block("why: ", reason.sentence, width) }
            lines += block("do:  ", reason.remedy, width)
            return row(rule, lines: lines) + notes(of: rule, &told)
        case .fail:
            return failRows(of: rule, width, &told) + notes(of: rule, &told)
        }
    }

    private func failRows(of rule: RuleResult, _ width: Int, _ told: inout Told) -> [String] {
        let violations = rule.findings.filter { $0.severity != .info }
        let lead = violations.first { rule.sentence.hasPrefix($0.message) } ?? violations.first
        guard let lead else { return row(rule, lines: wrapped(rule.sentence, width: width)) }
        let fresh = violations.filter { told.findings[$0.message] == nil }
        if fresh.isEmpty, let earlier = told.findings[lead.message] {
            let marks = violations.map(\.fingerprint).joined(separator: ", ")
            let what = violations.count == 1 ? "the same finding" : "the same \(violations.count) findings"
            return row(rule, lines: wrapped("as \(earlier): \(what)  (\(marks))", width: width))
        }
        var lines = row(rule, lines: wrapped(rule.sentence, width: width))
        for finding in [lead] + violations.filter({ $0 != lead }) {
            if let earlier = told.findings[finding.message] {
                lines += indented(block("✗ ", "as \(earlier): \(finding.message)  (\(finding.fingerprint))", width))
                continue
            }
            told.findings[finding.message] = rule.id
            if finding != lead { lines += indented(block("✗ ", finding.message, width)) }
            lines += indented(evidence(of: finding, width))
        }
        return lines
    }

    /// The packets that show a finding, one row each: numbers, time, what.
    private func evidence(of finding: Finding, _ width: Int) -> [String] {
        let shown = finding.evidence.prefix(Self.evidenceRows)
        let numbers = shown.map { packetList($0.packets, limit: 2) }
        let column = numbers.map(\.count).max() ?? 0
        var lines: [String] = []
        for (evidence, packets) in zip(shown, numbers) {
            let head = "  \(padded("#" + packets, column + 1))  \(evidence.time)  "
            var parts = [evidence.what]
            if let place = evidence.place, !finding.message.contains(place) { parts.append("at \(place)") }
            if let endpoints = evidence.endpoints { parts.append(endpoints) }
            lines += block(head, parts.joined(separator: " · "), width)
        }
        let rest = finding.evidence.count - shown.count
        lines.append(
            "  " + (rest > 0 ? "… and \(rest) more (--verbose)  " : "")
                + style.paint("fingerprint \(finding.fingerprint)", .faint))
        return lines
    }

    /// Things worth knowing that weigh nothing: not the app's doing, accepted by an exception.
    private func notes(of rule: RuleResult, _ told: inout Told) -> [String] {
        var lines: [String] = []
        for finding in rule.findings where finding.severity == .info && told.findings[finding.message] == nil {
            told.findings[finding.message] = rule.id
            let packets = packetList(finding.evidence.flatMap(\.packets), limit: 2)
            let text = finding.message + (packets.isEmpty ? "" : "  [packets \(packets)]")
            lines += indented(block("· ", text, style.width - Self.indent.count)).map { style.paint($0, .faint) }
        }
        return lines
    }

    /// One line where the sentence fits in one, with as many packet numbers as have room.
    private func passLines(of rule: RuleResult, _ width: Int) -> [String] {
        let packets = rule.lookedAt.flatMap(\.packets)
        for limit in [4, 2, 1] {
            let list = packetList(packets, limit: limit)
            let line = "\(rule.sentence)  [packets \(list)]"
            if !list.isEmpty, line.count <= width { return [line] }
        }
        return wrapped(rule.sentence, width: width)
    }

    private func row(_ rule: RuleResult, lines: [String]) -> [String] {
        let gated = verdict.gate.contains(rule.id) ? "*" : " "
        let head =
            "  \(padded(rule.id + gated, 7)) " + style.paint(padded(word(of: rule), Self.verdictWidth), rule.verdict)
        return [head + " " + (lines.first ?? "")] + indented(Array(lines.dropFirst()))
    }

    private func word(of rule: RuleResult) -> String {
        switch rule.verdict {
        case .pass: rule.assumptions.isEmpty ? "pass" : "pass †"
        case .fail: rule.severity == .error ? "FAIL" : rule.severity == .warning ? "FAIL (W)" : "FAIL (I)"
        case .inconclusive: "inconclusive"
        case .notApplicable: "n/a"
        }
    }

    /// What the words of the table mean that do not speak for themselves, where one of them stands in it.
    private var legend: [String] {
        let failed = verdict.rules.filter { $0.verdict == .fail }.map(\.severity)
        var lines: [String] = []
        if failed.contains(.warning) { lines.append("FAIL (W): of severity warning; counts under --strict alone") }
        if failed.contains(.info) { lines.append("FAIL (I): for information; never counts") }
        return lines.flatMap { hanging("", $0) }.map { style.paint($0, .faint) }
    }

    /// What passes rest on, each assumption once with the rules that share it.
    private var assumptionLines: [String] {
        var order: [Assumption] = []
        var rules: [String: [String]] = [:]
        for rule in verdict.rules {
            for assumption in rule.assumptions {
                if rules[assumption.code] == nil { order.append(assumption) }
                rules[assumption.code, default: []].append(rule.id)
            }
        }
        return order.flatMap { assumption in
            let shared = rules[assumption.code, default: []].joined(separator: ", ")
            return hanging("† ", "\(shared) assume: \(assumption.sentence)  [\(assumption.code)]", hang: 4)
                .map { style.paint($0, .faint) }
        }
    }

    // MARK: everything

    private func verboseRows(of rule: RuleResult) -> [String] {
        let width = style.width - Self.indent.count
        var lines = wrapped(rule.sentence, width: width)
        if let reason = rule.reason {
            lines += block("why: ", "\(reason.sentence)  [\(reason.code)]", width)
            lines += block("do:  ", reason.remedy, width)
        }
        for assumption in rule.assumptions {
            lines += block("† ", "assumes: \(assumption.sentence)  [\(assumption.code)]", width)
        }
        for finding in rule.findings {
            let sign = finding.severity == .info ? "· " : "✗ "
            lines += block(sign, "\(finding.message)  (\(finding.fingerprint))", width)
            for evidence in finding.evidence { lines += block("    ", evidence.line, width) }
        }
        if !rule.lookedAt.isEmpty { lines.append("looked at:") }
        for evidence in rule.lookedAt { lines += block("    ", evidence.line, width) }
        return row(rule, lines: lines)
    }

    // MARK: layout

    private func indented(_ lines: [String]) -> [String] { lines.map { Self.indent + $0 } }

    /// `text` wrapped behind `lead`, later lines under its first word, or four columns in where `lead` is long.
    private func block(_ lead: String, _ text: String, _ width: Int) -> [String] {
        let hang = lead.count <= width / 2 ? lead.count : 4
        let lines = wrapped(text, width: width - lead.count, following: width - hang)
        return lines.enumerated().map { index, line in
            (index == 0 ? lead : String(repeating: " ", count: hang)) + line
        }
    }

    /// The same at the left edge, two columns in.
    private func hanging(_ lead: String, _ text: String, hang: Int? = nil) -> [String] {
        let hang = hang ?? lead.count
        let width = style.width - 2
        let lines = wrapped(text, width: width - lead.count, following: width - hang)
        return lines.enumerated().map { index, line in
            "  " + (index == 0 ? lead : String(repeating: " ", count: hang)) + line
        }
    }
}

extension Evidence {
    /// One line for people: packets, time, what, where.
    var line: String {
        let list = packetList(packets)
        var parts: [String] = []
        if !list.isEmpty { parts.append("#\(list)") }
        parts.append(
            span.earliest == span.latest
                ? span.earliest.timeOfDay : "\(span.earliest.timeOfDay)–\(span.latest.timeOfDay)")
        parts.append(what)
        if let place { parts.append("at \(place)") }
        if let endpoints { parts.append(endpoints) }
        return parts.joined(separator: " · ")
    }

    /// When it began, to the millisecond, and how long it took: `01:53:09.417 +602 ms`.
    var time: String {
        let length = span.latest.nanoseconds(since: span.earliest)
        let start = String(span.earliest.timeOfDay.prefix(12))
        return length < 1_000_000 ? start : "\(start) +\(durationText(nanoseconds: length))"
    }

    /// Label and subject, without saying the same word twice.
    var what: String { label.hasPrefix(subject) ? label : "\(label): \(subject)" }
}

/// What stands in the place of a table for a trace that could not be judged at all, newline at its end.
public func unjudgedText(_ trace: JudgedTrace, style: TextStyle) -> String {
    let (path, error) = (trace.path, trace.error ?? "")
    let word = trace.obstacle == .input ? "NOT READ" : "NOT JUDGED"
    let head = style.paint(Redactor.printable(path), .bold) + "  " + style.paint(word, .red)
    let reason = Redactor.printable(error.hasPrefix("\(path): ") ? String(error.dropFirst(path.count + 2)) : error)
    return ([head] + wrapped(reason, width: style.width - 2).map { "  \($0)" }).joined(separator: "\n") + "\n"
}
