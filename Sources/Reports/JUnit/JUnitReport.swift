public import Assertions
internal import SessionTrace

/// JUnit XML for a gate: one suite a trace, one case a rule (RULES 5.1), and a suite of what concerns all traces.
///
/// Whoever reads nothing else must see what the exit status says: a failed rule of severity error is a `failure`, and so is
/// something that had to be shown and was not; what is inconclusive and counts, could not be read or was asked for wrongly
/// is an `error`. Without either of them the status is 0.
public struct JUnitReport: Sendable {
    private let set: SetVerdict

    /// Makes a report.
    public init(set: SetVerdict) {
        self.set = set
    }

    /// The document, UTF-8 text.
    public var text: String {
        let head = ["<?xml version=\"1.0\" encoding=\"UTF-8\"?>", "<testsuites name=\"handoff\">"]
        return (head + set.traces.flatMap(suite) + together + ["</testsuites>"]).joined(separator: "\n") + "\n"
    }

    /// One case of a suite.
    private struct Case {
        var kind: Element
        var lines: [String]
    }

    private func suite(_ trace: JudgedTrace) -> [String] {
        let path = trace.path
        guard let verdict = trace.verdict else {
            let (name, type) =
                switch trace.obstacle {
                case .policy: ("policy", "policy")
                case .usage: ("usage", "wrong-usage")
                case .input, nil: ("readable", "unreadable")
                }
            let failed = plain(.error, path, name, type: type, trace.error ?? "could not be read")
            return suite(path, time: "0.000", [], [failed])
        }
        var cases = verdict.rules.map { rule in
            let kind = element(of: rule, gate: verdict.gate)
            return Case(kind: kind, lines: testCase(rule, kind, path: path))
        }
        if let shortcoming = trace.shortcoming {
            cases.append(plain(.error, path, "readable", type: "unreadable", shortcoming))
        }
        let seconds = verdict.summary.span.map {
            let nanoseconds = max(0, $0.latest.nanoseconds(since: $0.earliest))
            return "\(nanoseconds / 1_000_000_000).\(String(nanoseconds / 1_000_000 % 1_000 + 1_000).dropFirst())"
        }
        return suite(path, time: seconds ?? "0.000", properties(of: verdict) + properties(of: trace.conditions), cases)
    }

    /// A suite of what concerns all traces: rules that compare them, what had to be shown, what can't be done.
    private var together: [String] {
        let gate = set.traces.reduce(into: Set<String>()) { $0.formUnion($1.verdict?.gate ?? []) }
        let name = "all traces"
        var cases = set.rules.map { rule in
            let kind = element(of: rule, gate: gate)
            return Case(kind: kind, lines: testCase(rule, kind, path: name))
        }
        cases += set.demands.map { demand in
            plain(
                demand.missing == nil ? .passed : .failure, name, demand.name, type: "not-shown", demand.missing ?? "")
        }
        cases += set.misuses.map { plain(.error, name, "usage", type: "wrong-usage", $0) }
        return cases.isEmpty ? [] : suite(name, time: "0.000", [], cases)
    }

    private func suite(_ name: String, time: String, _ properties: [(String, String)], _ cases: [Case]) -> [String] {
        func count(_ kind: Element) -> Int { cases.count { $0.kind == kind } }
        var lines = [
            "  <testsuite name=\"\(xml(name))\" tests=\"\(cases.count)\" failures=\"\(count(.failure))\""
                + " errors=\"\(count(.error))\" skipped=\"\(count(.skipped))\" time=\"\(time)\">"
        ]
        if !properties.isEmpty {
            lines.append("    <properties>")
            for (name, value) in properties {
                lines.append("      <property name=\"\(xml(name))\" value=\"\(xml(value))\"/>")
            }
            lines.append("    </properties>")
        }
        return lines + cases.flatMap(\.lines) + ["  </testsuite>"]
    }

    /// A case that is no rule: passed, or with a message.
    private func plain(_ kind: Element, _ suite: String, _ name: String, type: String, _ message: String) -> Case {
        let open = "    <testcase classname=\"\(xml(suite))\" name=\"\(xml(name))\" time=\"0\""
        guard kind == .failure || kind == .error else { return Case(kind: kind, lines: [open + "/>"]) }
        let tag = kind == .failure ? "failure" : "error"
        return Case(
            kind: kind,
            lines: [
                open + ">", "      <\(tag) type=\"\(type)\" message=\"\(xml(message))\"/>", "    </testcase>",
            ])
    }

    private enum Element {
        case passed, failure, error, skipped
    }

    private func element(of rule: RuleResult, gate: Set<String>) -> Element {
        // What is inconclusive and not to count is told, and nothing more.
        let counts = set.options.inconclusiveCounts && gate.contains(rule.id)
        return switch rule.verdict {
        case .pass: .passed
        case .fail where set.options.countsAsViolated(rule): .failure
        case .fail: rule.isOpen && counts ? .error : .passed
        case .inconclusive: counts ? .error : .skipped
        case .notApplicable: .skipped
        }
    }

    private func properties(of verdict: TraceVerdict) -> [(String, String)] {
        let decryption = verdict.summary.decryption
        return [
            ("gate", verdict.gate.sorted().joined(separator: " ")),
            ("packets", "\(verdict.summary.packets)"),
            ("tls-connections", "\(decryption.connections)"),
            ("tls-decrypted", "\(decryption.decrypted)"),
            ("complete", "\(verdict.summary.isComplete)"),
        ] + verdict.attributes.sorted { $0.key < $1.key }.map { ("scenario.\($0.key)", $0.value) }
    }

    private func properties(of conditions: JudgingConditions?) -> [(String, String)] {
        guard let conditions else { return [] }
        var properties = [
            ("policy", conditions.policy ?? "built-in"), ("policy-found", conditions.policyOrigin.rawValue),
        ]
        if let filter = conditions.filter {
            properties += [("filter", filter), ("packets-filtered-out", "\(conditions.filteredPackets)")]
        }
        return properties
    }

    private func testCase(_ rule: RuleResult, _ kind: Element, path: String) -> [String] {
        let open = "    <testcase classname=\"\(xml(path))\" name=\"\(xml("\(rule.id) \(rule.name)"))\" time=\"0\""
        let message = xml((kind == .failure ? nil : rule.openBecause)?.sentence ?? rule.sentence)
        let body = xml(details(of: rule))
        switch kind {
        case .passed where rule.findings.isEmpty && rule.assumptions.isEmpty:
            return [open + "/>"]
        case .passed:
            return [open + ">", "      <system-out>\(body)</system-out>", "    </testcase>"]
        case .failure:
            return [
                open + ">",
                "      <failure type=\"\(rule.findings.first.map { xml($0.kind) } ?? "violation")\" message=\"\(message)\">\(body)</failure>",
                "    </testcase>",
            ]
        case .error:
            return [
                open + ">",
                "      <error type=\"\(xml(rule.openBecause?.code ?? "inconclusive"))\" message=\"\(message)\">\(body)</error>",
                "    </testcase>",
            ]
        case .skipped:
            return [open + ">", "      <skipped message=\"\(message)\"/>", "    </testcase>"]
        }
    }

    private func details(of rule: RuleResult) -> String {
        var lines = [rule.sentence]
        if let reason = rule.openBecause { lines += ["[\(reason.code)] \(reason.sentence)", reason.remedy] }
        lines += rule.assumptions.map { "assumes [\($0.code)] \($0.sentence)" }
        for finding in rule.findings {
            lines.append("\(finding.severity.rawValue): \(finding.message) (\(finding.fingerprint))")
            lines += finding.evidence.map { "  \($0.line)" }
        }
        return lines.joined(separator: "\n")
    }

    /// Text made safe for XML 1.0: markup escaped, characters that XML can't carry replaced.
    private func xml(_ text: String) -> String {
        var safe = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "<": safe += "&lt;"
            case ">": safe += "&gt;"
            case "&": safe += "&amp;"
            case "\"": safe += "&quot;"
            case "\n": safe += "&#10;"
            case "\t", "\u{20}"..."\u{D7FF}", "\u{E000}"..."\u{FFFD}", "\u{10000}"..."\u{10FFFF}":
                safe.unicodeScalars.append(scalar)
            default: safe += "\u{FFFD}"
            }
        }
        return safe
    }
}
