internal import SessionTrace

/// What was wrong with a command line, in one sentence.
struct UsageError: Error, Equatable {
    var message: String
}

/// A parsed command line: options by name, operands in order.
struct Arguments: Equatable {
    /// Values by option name, in the order given; a switch has one empty value.
    private(set) var values: [String: [String]] = [:]
    /// What is not an option.
    private(set) var operands: [String] = []
    /// `--help` was given.
    var wantsHelp: Bool { values["help"] != nil }

    /// Parses `words` (after the command's own name) in GNU style: `--opt=value` or `--opt value`, options and operands
    /// in any order, `-` an operand, `--` ends the options.
    init(_ words: [String], syntax: CommandSyntax) throws(UsageError) {
        let options = syntax.options + [.flag("help", "")]
        var index = 0
        var optionsEnded = false
        while index < words.count {
            let word = words[index]
            index += 1
            guard !optionsEnded, word.hasPrefix("-"), word != "-" else {
                operands.append(word)
                continue
            }
            if word == "--" {
                optionsEnded = true
                continue
            }
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = word == "-h" ? "help" : String(parts[0].drop { $0 == "-" })
            guard word.hasPrefix("--") || word == "-h", let option = options.first(where: { $0.name == name }) else {
                let hint = NearestWord.to(name, among: options.map(\.name)).map { " (did you mean --\($0)?)" }
                throw UsageError(message: "unknown option \(parts[0])\(hint ?? "")")
            }
            guard option.repeats || values[name] == nil else {
                throw UsageError(message: "option --\(name) is given twice")
            }
            let inline = parts.count == 2 ? String(parts[1]) : nil
            if option.value == nil {
                guard inline == nil else { throw UsageError(message: "option --\(name) takes no value") }
                values[name, default: []].append("")
            } else if let inline {
                values[name, default: []].append(inline)
            } else if index < words.count {
                values[name, default: []].append(words[index])
                index += 1
            } else {
                throw UsageError(message: "option --\(name) needs a value (\(option.value ?? ""))")
            }
        }
        // What a variable of the shell should have given, and did not.
        if operands.contains("") { throw UsageError(message: "an operand is empty; give \(syntax.operands)") }
        for option in options where ["FILE", "TRACE"].contains(option.value) && all(option.name).contains("") {
            throw UsageError(message: "--\(option.name) is empty; leave it out, or give it a name")
        }
        guard wantsHelp || syntax.operandCount.contains(operands.count) else {
            let few = operands.count < syntax.operandCount.lowerBound
            throw UsageError(
                message: few
                    ? "\(syntax.name) needs \(syntax.operands)"
                    : "unexpected operand \(operands[syntax.operandCount.upperBound])")
        }
    }

    /// Whether a switch was given.
    func has(_ name: String) -> Bool { values[name] != nil }

    /// The value of an option that is given once.
    func value(_ name: String) -> String? { values[name]?.last }

    /// All values of a repeated option.
    func all(_ name: String) -> [String] { values[name] ?? [] }

    /// The value of an option that must be one of a few words.
    func choice<Choice: RawRepresentable & CaseIterable>(
        _ name: String, _: Choice.Type
    ) throws(UsageError) -> Choice? where Choice.RawValue == String {
        guard let text = value(name) else { return nil }
        guard let choice = Choice(rawValue: text) else {
            let words = Choice.allCases.map(\.rawValue)
            let known = words.dropLast().joined(separator: ", ") + " or " + (words.last ?? "")
            let hint = NearestWord.to(text, among: words).map { " (did you mean \($0)?)" } ?? ""
            throw UsageError(
                message: "--\(name) takes \(known), not \(text.isEmpty ? "an empty word" : text)\(hint)")
        }
        return choice
    }
}
