public import Assertions
internal import SessionTrace

/// JUnit XML for a gate: one suite a trace, one case a rule (RULES 5.1).
///
/// A failed rule of severity error is a `failure`; an inconclusive rule is an `error` when it is gated, else `skipped`.
public struct JUnitReport: Sendable {
    private let traces: [JudgedTrace]
    private let isStrict: Bool
    private let setRules: [RuleResult]

    /// Makes a report over traces, with what `setRules` say of them together; with `isStrict` warnings are failures too.
    public init(traces: [JudgedTrace], setRules: [RuleResult] = [], isStrict: Bool) {
        self.traces = traces
        self.setRules = setRules
        self.isStrict = isStrict
    }

    /// The document, UTF-8 text.
    public var text: String {
        var lines = ["<?xml version=\"1.0\" encoding=\"UTF-8\"?>", "<testsuites name=\"handoff\">"]
        for trace in traces {
            let path = trace.path
            guard let verdict = trace.verdict else {
                lines += unreadable(trace)
                continue
            }
            let kinds = verdict.rules.map { element(of: $0, gate: verdict.gate) }
            let counts = (
                failures: kinds.filter { $0 == .failure }.count, errors: kinds.filter { $0 == .error }.count,
                skipped: kinds.filter { $0 == .skipped }.count
            )
            let seconds = verdict.summary.span.map {
                let nanoseconds = max(0, $0.latest.nanoseconds(since: $0.earliest))
                return "\(nanoseconds / 1_000_000_000).\(String(nanoseconds / 1_000_000 % 1_000 + 1_000).dropFirst())"
            }
            lines.append(
                "  <testsuite name=\"\(xml(path))\" tests=\"\(verdict.rules.count)\" failures=\"\(counts.failures)\""
                    + " errors=\"\(counts.errors)\" skipped=\"\(counts.skipped)\" time=\"\(seconds ?? "0.000")\">")
            lines.append("    <properties>")
            for (name, value) in properties(of: verdict) {
                lines.append("      <property name=\"\(xml(name))\" value=\"\(xml(value))\"/>")
            }
            lines.append("    </properties>")
            for (rule, kind) in zip(verdict.rules, kinds) { lines += testCase(rule, kind, path: path) }
            lines.append("  </testsuite>")
        }
        lines += together
        lines.append("</testsuites>")
        return lines.joined(separator: "\n") + "\n"
    }

    /// A suite of the rules that compare traces.
    private var together: [String] {
        guard !setRules.isEmpty else { return [] }
        let gate = traces.reduce(into: Set<String>()) { $0.formUnion($1.verdict?.gate ?? []) }
        let kinds = setRules.map { element(of: $0, gate: gate) }
        func count(_ kind: Element) -> Int { kinds.filter { $0 == kind }.count }
        let open =
            "  <testsuite name=\"all traces\" tests=\"\(setRules.count)\" failures=\"\(count(.failure))\""
            + " errors=\"\(count(.error))\" skipped=\"\(count(.skipped))\" time=\"0.000\">"
        return [open] + zip(setRules, kinds).flatMap { testCase($0, $1, path: "all traces") } + ["  </testsuite>"]
    }

    /// A suite with one case that says why the trace could not be read.
    private func unreadable(_ trace: JudgedTrace) -> [String] {
        let name = xml(trace.path)
        return [
            "  <testsuite name=\"\(name)\" tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\" time=\"0.000\">",
            "    <testcase classname=\"\(name)\" name=\"readable\" time=\"0\">",
            "      <error type=\"unreadable\" message=\"\(xml(trace.error ?? "could not be read"))\"/>",
            "    </testcase>", "  </testsuite>",
        ]
    }

    private enum Element {
        case passed, failure, error, skipped
    }

    private func element(of rule: RuleResult, gate: Set<String>) -> Element {
        switch rule.verdict {
        case .pass: .passed
        case .fail where rule.severity == .error || (isStrict && rule.severity == .warning): .failure
        case .fail: rule.isOpen && gate.contains(rule.id) ? .error : .passed
        case .inconclusive: gate.contains(rule.id) ? .error : .skipped
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
