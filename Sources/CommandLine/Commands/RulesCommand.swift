internal import Assertions
internal import SessionTrace

/// `handoff rules`: what the rules are.
struct RulesCommand {
    static let syntax = CommandSyntax(
        name: "rules", operands: "[ID]", operandCount: 0...1,
        summary: "List the rules, or tell one: what it checks and what makes it inconclusive.",
        options: [.flag("markdown", "all rules as a Markdown document, as in docs/rules.md")])

    private let handoff: Handoff
    private let arguments: Arguments

    init(handoff: Handoff, arguments: Arguments) {
        self.handoff = handoff
        self.arguments = arguments
    }

    func run() throws -> ExitStatus {
        if arguments.has("markdown") {
            guard arguments.operands.isEmpty else {
                throw UsageError(message: "--markdown lists all rules and takes no ID")
            }
            handoff.console.result(RulesDocument.text)
            return .conforming
        }
        guard let id = arguments.operands.first else {
            for rule in RuleCatalogue.listed {
                handoff.console.result("\(rule.id)  \(rule.severity.rawValue.uppercased().prefix(1))  \(rule.name)\n")
            }
            return .conforming
        }
        let ids = RuleCatalogue.listed.map(\.id)
        guard let rule = RuleCatalogue.listed.first(where: { $0.id == id.uppercased() || $0.name == id }) else {
            let hint = NearestWord.to(id.uppercased(), among: ids).map { "; did you mean \($0)?" } ?? ""
            throw UsageError(message: "no rule \(id)\(hint)")
        }
        var lines = [
            "\(rule.id) \(rule.name)", "", "  \(rule.sentence)", "", "  severity      \(rule.severity.rawValue)",
            "  contract      \(rule.heading)",
        ]
        if !rule.matrix.isEmpty { lines.append("  matrix        \(rule.matrix.joined(separator: ", "))") }
        lines.append("  gate          \(RuleCatalogue.headline.contains(rule.id) ? "headline" : "none by default")")
        lines += ["", "  Inconclusive when: \(rule.inconclusiveWhen)"]
        if !rule.options.isEmpty { lines += ["", "  Options: \(rule.options.joined(separator: "; "))"] }
        if !rule.example.isEmpty { lines += ["", "  Example: \(rule.example)"] }
        handoff.console.result(lines.joined(separator: "\n") + "\n")
        return .conforming
    }
}
