internal import Assertions
internal import CaptureAnalyzer
internal import SessionTrace

/// The command `handoff`: words in, output and an exit status out.
public struct Handoff {
    let environment: [String: String]
    let console: Console

    /// Makes the command with the environment and the console of a process, or of a test.
    public init(environment: [String: String], console: Console) {
        self.environment = environment
        var shown = console
        shown.result = { console.result(FileName.shown($0)) }
        shown.talk = { console.talk(FileName.shown($0)) }
        self.console = shown
    }

    private static let commands: [(syntax: CommandSyntax, run: @Sendable (Handoff, Arguments) throws -> ExitStatus)] = [
        (RecordCommand.syntax, { try RecordCommand(handoff: $0, arguments: $1).run() }),
        (CheckCommand.syntax, { try CheckCommand(handoff: $0, arguments: $1).run() }),
        (ShowCommand.syntax, { try ShowCommand(handoff: $0, arguments: $1).run() }),
        (RulesCommand.syntax, { try RulesCommand(handoff: $0, arguments: $1).run() }),
        (DemoCommand.syntax, { try DemoCommand(handoff: $0, arguments: $1).run() }),
        (PolicyInitCommand.syntax, { try PolicyInitCommand(handoff: $0, arguments: $1).run() }),
        (PolicyCheckCommand.syntax, { try PolicyCheckCommand(handoff: $0, arguments: $1).run() }),
        (ExceptAddCommand.syntax, { try ExceptAddCommand(handoff: $0, arguments: $1).run() }),
        (CAExportCommand.syntax, { try CAExportCommand(handoff: $0, arguments: $1).run() }),
        (CAShowCommand.syntax, { try CAShowCommand(handoff: $0, arguments: $1).run() }),
        (CAResetCommand.syntax, { try CAResetCommand(handoff: $0, arguments: $1).run() }),
        (MarkCommand.syntax, { try MarkCommand(handoff: $0, arguments: $1).run() }),
        (MarkImportCommand.syntax, { try MarkImportCommand(handoff: $0, arguments: $1).run() }),
    ]

    /// Commands that do nothing with their words but open the files that they name; others hand them on as text.
    private static let namesFiles: Set = [
        CheckCommand.syntax.name, ShowCommand.syntax.name, PolicyInitCommand.syntax.name,
        PolicyCheckCommand.syntax.name, ExceptAddCommand.syntax.name, MarkImportCommand.syntax.name,
    ]

    /// Runs the command line `words` (without the program's name).
    public func run(_ words: [String]) -> ExitStatus {
        guard let first = words.first else {
            console.talk(Self.overview)
            return .usage
        }
        if first == "help", words.count > 1, words[1] != "help" {
            // `handoff help check` asks what `handoff check --help` asks.
            return run(words.dropFirst() + ["--help"])
        }
        if first == "--help" || first == "-h" || first == "help" {
            console.result(Self.overview)
            return .conforming
        }
        if first == "--version" {
            console.result("handoff \(handoffVersion)\n")
            return .conforming
        }
        guard let command = Self.command(for: words) else { return unknown(words, first) }
        let count = command.syntax.name.split(separator: " ").count
        let rest = Array(words.dropFirst(count))
        do {
            let arguments = try Arguments(Self.asksForHelp(rest) ? ["--help"] : rest, syntax: command.syntax)
            if let odd = rest.first(where: FileName.isOdd), !Self.namesFiles.contains(command.syntax.name) {
                throw UsageError(message: "\(odd) is not UTF-8; give another name")
            }
            if arguments.wantsHelp {
                console.result(command.syntax.help)
                return .conforming
            }
            return try command.run(self, arguments)
        } catch {
            let end = end(of: command.syntax, error)
            console.complain(end.sentence)
            UnjudgedReports(handoff: self, command: command.syntax, words: rest)
                .replace(because: end.sentence, end.obstacle)
            return end.status
        }
    }

    /// What to say of a run that `error` ended, its status, and what stood in the way.
    private func end(
        of command: CommandSyntax, _ error: any Error
    ) -> (sentence: String, status: ExitStatus, obstacle: JudgedTrace.Obstacle) {
        switch error {
        case let error as UsageError: ("\(error.message); see handoff \(command.name) --help", .usage, .usage)
        case let error as InvalidPolicy: (error.message, .usage, .policy)
        case let error as StartFailure: (error.message, .usage, .usage)
        case is FileError, is TraceError: ("\(error)", .unreadable, .input)
        default: ("\(error)", .internalError, .input)
        }
    }

    /// The key of this installation's digests; a line on standard error where it is this run's alone.
    func installationKey() throws(FileError) -> [UInt8] {
        try InstallationKey.load(environment) { console.complain($0) }
    }

    /// `handoff check help`, unless that is the name of a file.
    private static func asksForHelp(_ rest: [String]) -> Bool {
        rest == ["help"] && !FileSystem.exists("help")
    }

    /// Words that call no command: a group of commands, or a slip.
    private func unknown(_ words: [String], _ first: String) -> ExitStatus {
        let known = Self.commands.map(\.syntax)
        let group = known.filter { $0.name.hasPrefix("\(first) ") }
        if !group.isEmpty {
            if words.dropFirst().contains(where: { $0 == "--help" || $0 == "-h" }) || words.dropFirst() == ["help"] {
                for syntax in group { console.result(syntax.help + "\n") }
                return .conforming
            }
            let names = group.map(\.name).joined(separator: " or ")
            guard let word = words.dropFirst().first(where: { !$0.hasPrefix("-") }) else {
                console.complain("\(first) needs a word more: \(names); see handoff \(first) --help")
                return .usage
            }
            let nearest = group.count > 1 ? NearestWord.to("\(first) \(word)", among: group.map(\.name)) : nil
            let hint = nearest.map { " (did you mean \($0)?)" }
            console.complain(
                "unknown command \(first) \(word)\(hint ?? ""); there is \(names); see handoff \(first) --help")
            return .usage
        }
        let isOption = first.hasPrefix("-")
        let names = isOption ? ["--help", "--version"] : known.map(\.name)
        let hint = NearestWord.to(first, among: names).map { " (did you mean \($0)?)" } ?? ""
        console.complain("unknown \(isOption ? "option" : "command") \(first)\(hint); see handoff --help")
        return .usage
    }

    private static func command(for words: [String]) -> (
        syntax: CommandSyntax, run: @Sendable (Handoff, Arguments) throws -> ExitStatus
    )? {
        // The longest name wins: `mark import` is no mark of kind `import`.
        commands.filter { entry in
            let name = entry.syntax.name.split(separator: " ").map(String.init)
            return Array(words.prefix(name.count)) == name
        }.max { $0.syntax.name.count < $1.syntax.name.count }
    }

    /// What `handoff --help` prints.
    static var overview: String {
        let width = commands.map(\.syntax.name.count).max() ?? 0
        let lines = commands.map { entry in
            let name = entry.syntax.name
            return "  \(name)\(String(repeating: " ", count: width - name.count + 2))\(entry.syntax.summary)"
        }
        return """
            usage: handoff COMMAND [OPTION…] [ARGUMENT…]

            Proves from network traffic that a mobile app hands its user over to Chia the way the partner contract demands.

            \(lines.joined(separator: "\n"))

            handoff COMMAND --help tells more; handoff --version prints the version.

            Exit status: 0 conforming · 1 violation · 2 wrong usage or policy · 3 an input could not be read to its end ·
            4 a gated rule is inconclusive or nothing was exercised · 5 a fault of handoff itself

            """
    }
}
