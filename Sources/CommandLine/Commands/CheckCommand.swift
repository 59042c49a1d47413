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
            assumption, named below the table. Packets that carry a mark pass every --filter. Named files may be links and pipes,
            read once; in a folder links to folders and pipes are passed over. Where nothing can be judged, reports of an earlier
            run say so.
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
        judging.installationKey = try handoff.installationKey()
        judging.now = WallClock.now
        var options = SetOptions()
        options.strict = judging.strict
        options.inconclusiveCounts = try arguments.choice("inconclusive", Inconclusive.self) != .warn
        options.certify = arguments.has("certify")
        if let attribute = arguments.value("group-by") {
            options.groupBy = attribute
            options.groupByIsAsked = true
        }

        let paths = try TraceFiles.expand(arguments.operands)
        let reading = try TraceArguments.reading(arguments, traces: paths)
        var policies = PolicyBook(given: arguments.value("policy"))
        let choices = paths.map { policies.choice(for: $0) }
        // A policy that was named is for all traces; one that was found spoils no others.
        if let choice = choices.first, choice.place.origin == .named, case .failure(let error) = choice.policy {
            throw error
        }
        // Before hours are spent on judging what then could not be written.
        var files = RunFiles()
        TraceArguments.protect(paths, reading, in: &files)
        for path in policies.paths { files.protect(path, as: "the policy") }
        if let key = InstallationKey.path(handoff.environment) { files.protect(key, as: InstallationKey.name) }
        try ReportRequest.claim(reports, in: &files)
        UnjudgedReports(handoff: handoff, traces: paths).begin(reports)
        for note in policies.notes { handoff.console.complain(note) }
        for policy in choices.compactMap({ try? $0.policy.get() }) {
            for item in policy.mustExercise where !options.mustExercise.contains(item) {
                options.mustExercise.append(item)
            }
        }
        let set = SetVerdict(traces: judge(paths, choices, judging, reading), options: options)
        return VerdictOutput(handoff: handoff, reports: reports, isVerbose: arguments.has("verbose")).give(set)
    }

    /// Judges what there is a policy for; the others stand beside it with what is wrong with theirs.
    private func judge(
        _ paths: [String], _ choices: [(place: PolicyPlace, policy: Result<Policy, InvalidPolicy>)],
        _ judging: JudgeOptions, _ reading: TraceOptions
    ) -> [JudgedTrace] {
        let usable = zip(paths, choices).compactMap { path, choice in
            (try? choice.policy.get()).map { (path: path, policy: $0) }
        }
        var judged = SetJudging(
            paths: usable.map(\.path), policies: usable.map(\.policy), options: judging, reading: reading,
            console: handoff.console
        ).judge()[...]
        return zip(paths, choices).map { path, choice in
            let conditions = JudgingConditions(
                policy: choice.place.path, policyOrigin: choice.place.origin, filter: reading.filter)
            if case .failure(let error) = choice.policy {
                var trace = JudgedTrace(path: path, error: error.message, obstacle: .policy)
                trace.conditions = conditions
                return trace
            }
            let one = judged.removeFirst()
            var trace = one.trace
            trace.conditions = conditions
            trace.conditions?.filteredPackets = one.filteredPackets
            return trace
        }
    }
}
