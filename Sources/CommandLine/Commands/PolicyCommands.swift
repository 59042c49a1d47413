internal import Assertions
internal import CaptureAnalyzer
internal import SessionTrace

/// `handoff policy check`: whether a policy file can be used.
struct PolicyCheckCommand {
    static let syntax = CommandSyntax(
        name: "policy check", operands: "[FILE]", operandCount: 0...1,
        summary: "Check a policy file (default: handoff.yml here or above).", options: [],
        notes: """
            Standard error tells what is wrong, and what of a valid policy may not be meant or has expired.
            Exit status: 0 it can be used, 2 it can't.
            """)

    private let handoff: Handoff
    private let arguments: Arguments

    init(handoff: Handoff, arguments: Arguments) {
        self.handoff = handoff
        self.arguments = arguments
    }

    func run() throws -> ExitStatus {
        guard let path = arguments.operands.first ?? TraceFiles.policy(for: "-") else {
            throw InvalidPolicy.none
        }
        let policy = try PolicyBook.load(path)
        for line in policy.remarkLines + policy.lapses(on: WallClock.now) { handoff.console.complain(line) }
        handoff.console.result("\(path): valid\n")
        return .conforming
    }
}

/// `handoff policy init`: a policy to begin with.
struct PolicyInitCommand {
    static let syntax = CommandSyntax(
        name: "policy init", operands: "", operandCount: 0...0,
        summary: "Print a policy to begin with; with --from, the partner's host and paths as a trace shows them.",
        options: [
            .value("from", "TRACE", "take hosts and paths from this trace")
        ] + TraceArguments.options.filter { $0.name != "policy" },
        notes: """
            handoff policy init > handoff.yml replaces a handoff.yml that is there, and leaves an empty one where --from can't
            be read: print into another file, look at it, and move it.
            """)

    private let handoff: Handoff
    private let arguments: Arguments

    init(handoff: Handoff, arguments: Arguments) {
        self.handoff = handoff
        self.arguments = arguments
    }

    func run() throws -> ExitStatus {
        try TraceArguments.refuseWithoutTrace(arguments, "from")
        let reading = try TraceArguments.reading(arguments, traces: arguments.all("from"))
        var suggestion = PolicySuggestion()
        if let path = arguments.value("from") {
            var observation = PolicyObservation()
            _ = try TraceReader.read(path: path, options: reading) { event in
                observation.receive(event)
            }
            suggestion = observation.finish()
        }
        handoff.console.result(PolicyText.make(from: suggestion))
        return .conforming
    }
}
