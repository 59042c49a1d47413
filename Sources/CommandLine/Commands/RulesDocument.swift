internal import Assertions

/// `docs/rules.md`: every rule of the catalogue as Markdown, in catalogue order.
///
/// Enters: the catalogue. Leaves: the text of the document, which a test holds against the file.
enum RulesDocument {
    /// The document.
    static var text: String {
        let handoffRules = RuleCatalogue.listed.filter { !isCoverage($0) }
        let coverageRules = RuleCatalogue.listed.filter(isCoverage)
        return """
            # Rules

            <!-- Written by `handoff rules --markdown`; the text comes from the rules' own descriptions. -->

            What this version judges. [Verdicts](verdicts.md) tells what pass, fail, inconclusive and not applicable mean,
            and what to do about each reason code. The headings are those of the partner contract, the `M-` numbers the rows
            of its test matrix.

            \(table(of: RuleCatalogue.listed))

            ## Handoff rules

            \(handoffRules.map(section).joined(separator: "\n\n"))

            ## Coverage rules

            They say how far the trace can be trusted, and never blame the app. No coverage rule is in the default gate; under
            `--strict` all of them are.

            \(coverageRules.map(section).joined(separator: "\n\n"))

            """
    }

    private static func isCoverage(_ rule: RuleDescription) -> Bool { rule.id.hasPrefix("HC-") }

    private static func table(of rules: [RuleDescription]) -> String {
        let rows = rules.map { rule in
            "| [\(rule.id)](#\(anchor(of: rule))) | \(rule.name) | \(rule.severity.rawValue) | \(gate(of: rule)) |"
        }
        return (["| rule | name | severity | in the gate |", "|---|---|---|---|"] + rows).joined(separator: "\n")
    }

    private static func section(_ rule: RuleDescription) -> String {
        let matrix = rule.matrix.isEmpty ? "–" : rule.matrix.joined(separator: ", ")
        let options =
            rule.options.isEmpty ? "" : "\n- Options: \(rule.options.map { "`\($0)`" }.joined(separator: ", "))"
        let example = rule.example.isEmpty ? "" : "\n- Example: \(rule.example)"
        return """
            ### \(rule.id) \(rule.name)

            \(rule.sentence)

            - Severity: \(rule.severity.rawValue)
            - Contract: \(rule.heading)
            - Matrix rows: \(matrix)
            - Inconclusive when: \(rule.inconclusiveWhen)\(options)\(example)
            """
    }

    private static func gate(of rule: RuleDescription) -> String {
        RuleCatalogue.headline.contains(rule.id) ? "`headline`" : "–"
    }

    /// The anchor that a Markdown renderer gives the rule's heading.
    private static func anchor(of rule: RuleDescription) -> String { "\(rule.id.lowercased())-\(rule.name)" }
}
