internal import Assertions
internal import CaptureAnalyzer

/// `handoff check`: the verdict over saved traces.
struct CheckCommand {
    static let syntax = CommandSyntax(
        name: "check", operands: "TRACE…", operandCount: 1...100_000,
        summary: "Judge captures (pcap, pcapng; plain, .gz, .zst; - for standard input; a folder for all in it).",
        options: TraceArguments.options + [
            .value("profile", "headline|full", "which rules run; default full"),
            .flag("strict", "warnings count as violations, assumptions make a rule inconclusive"),
            .value("inconclusive", "fail|warn", "whether an inconclusive gated rule fails the check; default fail"),
            .flag("certify", "every row of the contract matrix that traffic can show must be proven"),
            .value("group-by", "ATTRIBUTE", "scenario attribute that makes the matrix's columns; default platform"),
            .value(
                "report", "FORMAT=PATH", repeats: true, "write a report too: json or junit; PATH - is standard output"),
            .flag("verbose", "show what passing rules looked at, and rules that do not apply"),
        ],
        notes: """
            With several traces, rules are judged too that compare them: HR-12, HR-26, HR-43 and HR-62 (label the runs by
            scenario marks: attrs.platform, scenario, device, outcome).
            A * behind a rule's id marks a gated rule: its inconclusive verdict counts. † marks a pass that rests on an
            assumption, named below the table. Packets that carry a mark pass every --filter.
            Exit status: 0 conforming, 1 violation, 2 wrong usage or policy, or a report that can't be written,
            3 unreadable input, 4 inconclusive. Over several traces the worst counts, in the order 5, 2, 1, 3, 4, 0.
            """)

    private let handoff: Handoff
    private let arguments: Arguments

    init(handoff: Handoff, arguments: Arguments) {
        self.handoff = handoff
        self.arguments = arguments
    }

    func run() throws -> ExitStatus {
        let reports = try ReportRequest.parse(arguments.all("report"))
        var judging = JudgeOptions()
        judging.profile = try arguments.choice("profile", JudgeOptions.Profile.self) ?? .full
        judging.strict = arguments.has("strict")
        judging.installationKey = try InstallationKey.load(handoff.environment)
        judging.now = WallClock.now
        var options = SetOptions()
        options.strict = judging.strict
        options.inconclusiveCounts = try arguments.choice("inconclusive", Inconclusive.self) != .warn
        options.certify = arguments.has("certify")
        if let attribute = arguments.value("group-by") { options.groupBy = attribute }

        try TraceArguments.validate(arguments)
        let paths = try TraceFiles.expand(arguments.operands)
        guard paths.filter({ $0 == "-" }).count <= 1 else {
            throw UsageError(message: "standard input can be read only once")
        }
        let given =
            [arguments.value("policy")].compactMap(\.self)
            + ["keylog", "marks", "actors"].flatMap { arguments.all($0) }
        try ReportRequest.refuseToOverwrite(paths + given, by: reports)
        var policies = PolicyBook(given: arguments.value("policy"))
        var policyOfTrace: [Policy] = []
        do {
            // An invalid policy is wrong usage, whatever the traces say.
            for path in paths { policyOfTrace.append(try policies.policy(for: path)) }
        } catch let error as InvalidPolicy {
            handoff.console.complain(error.message)
            return .usage
        }
        for item in policyOfTrace.flatMap(\.mustExercise) where !options.mustExercise.contains(item) {
            options.mustExercise.append(item)
        }
        let judged = SetJudging(
            paths: paths, policies: policyOfTrace, options: judging, reading: TraceArguments.options(from: arguments),
            console: handoff.console
        ).judge()
        let set = SetVerdict(traces: judged.map(\.trace), options: options)
        return VerdictOutput(
            handoff: handoff, reports: reports, isVerbose: arguments.has("verbose"), isStrict: judging.strict
        ).give(set)
    }
}
