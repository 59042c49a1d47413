/// One option of a command, as its help and its parser see it.
struct OptionSyntax: Sendable {
    /// The long name without dashes.
    var name: String
    /// What stands for the value in the help; nil for a switch.
    var value: String?
    /// Whether it may be given more than once.
    var repeats = false
    /// One line of help.
    var help: String

    static func flag(_ name: String, _ help: String) -> OptionSyntax {
        OptionSyntax(name: name, value: nil, help: help)
    }

    static func value(_ name: String, _ value: String, repeats: Bool = false, _ help: String) -> OptionSyntax {
        OptionSyntax(name: name, value: value, repeats: repeats, help: help)
    }
}

/// A command: its name, what it takes, and its help.
struct CommandSyntax: Sendable {
    /// The words that call it: `check`, `policy init`.
    var name: String
    /// What follows the options in the usage line: `TRACE…`.
    var operands: String
    /// How many operands it takes.
    var operandCount: ClosedRange<Int>
    /// One sentence: what it does.
    var summary: String
    /// Its options, `--help` aside.
    var options: [OptionSyntax]
    /// Further help, printed below the options.
    var notes: String = ""

    /// The help text.
    var help: String {
        var text = "usage: handoff \(name)\(options.isEmpty ? "" : " [OPTION…]")"
        text += operands.isEmpty ? "\n\n" : " \(operands)\n\n"
        text += "\(summary)\n"
        let shown = options + [.flag("help", "print this help")]
        let heads = shown.map { "--\($0.name)" + ($0.value.map { "=\($0)" } ?? "") }
        let width = heads.map(\.count).max() ?? 0
        text += "\nOptions:\n"
        for (head, option) in zip(heads, shown) {
            let padding = String(repeating: " ", count: width - head.count + 2)
            text += "  \(head)\(padding)\(option.help)\(option.repeats ? " (may be repeated)" : "")\n"
        }
        if !notes.isEmpty { text += "\n\(notes)\n" }
        return text
    }
}
