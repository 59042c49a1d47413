internal import Assertions
internal import CaptureAnalyzer
internal import Reports
internal import SessionTrace

/// `handoff show`: what a trace holds, for people or for programs.
struct ShowCommand {
    static let syntax = CommandSyntax(
        name: "show", operands: "TRACE", operandCount: 1...1,
        summary: "Show a trace: its timeline, what one rule looked at, its events as JSON, or its facts.",
        options: TraceArguments.options + [
            .value("rule", "ID", "only what this rule looked at, with the numbers it compared"),
            .flag("json", "one event a line, as JSON"),
            .flag("facts", "counts that any other analyser would give, as key<TAB>value"),
        ])

    private let handoff: Handoff
    private let arguments: Arguments

    init(handoff: Handoff, arguments: Arguments) {
        self.handoff = handoff
        self.arguments = arguments
    }

    func run() throws -> ExitStatus {
        guard ["rule", "json", "facts"].filter(arguments.has).count <= 1 else {
            throw UsageError(message: "--rule, --json and --facts exclude each other")
        }
        let reading = try TraceArguments.reading(arguments, traces: [path])
        guard path == "-" || !FileSystem.isFolder(path) else {
            throw UsageError(message: "\(path) is a folder, and show takes one capture")
        }
        if arguments.has("facts") { return try facts(reading) }
        if arguments.has("json") { return try events(reading) }
        if let id = arguments.value("rule") { return try rule(id, reading) }
        return try timeline(reading)
    }

    private var path: String { arguments.operands[0] }

    private func redactor() throws(FileError) -> Redactor {
        Redactor(installationKey: try handoff.installationKey())
    }

    private func facts(_ options: TraceOptions) throws -> ExitStatus {
        var options = options
        options.keepsRequestLines = true
        let reading = try TraceReader.read(path: path, options: options) { _ in }
        handoff.console.result(
            reading.facts.lines(version: handoffVersion).map(Redactor.withoutTokens).joined(separator: "\n") + "\n")
        tellNotes(reading)
        return status(of: reading.summary)
    }

    private func events(_ options: TraceOptions) throws -> ExitStatus {
        let writer = EventJSON(redactor: try redactor())
        let console = handoff.console
        let reading = try TraceReader.read(path: path, options: options) { event in
            console.result(writer.line(event) + "\n")
        }
        tellNotes(reading)
        return status(of: reading.summary)
    }

    private func timeline(_ options: TraceOptions) throws -> ExitStatus {
        var policies = PolicyBook(given: arguments.value("policy"))
        let policy = try policies.policy(for: path)
        for note in policies.notes { handoff.console.complain(note) }
        var timeline = Timeline(style: handoff.console.style(handoff.environment), redactor: try redactor()) { host in
            policy.roleName(of: host)
        }
        let reading = try TraceReader.read(path: path, options: options) { event in
            timeline.receive(event)
        }
        handoff.console.result(timeline.text)
        tellNotes(reading)
        return status(of: reading.summary)
    }

    private func rule(_ id: String, _ reading: TraceOptions) throws -> ExitStatus {
        let ids = RuleCatalogue.all.map(\.id)
        let wanted = id.uppercased()
        guard ids.contains(wanted) else {
            let hint = NearestWord.to(wanted, among: ids).map { " (did you mean \($0)?)" } ?? ""
            throw UsageError(message: "no rule \(id)\(hint)")
        }
        var policies = PolicyBook(given: arguments.value("policy"))
        var options = JudgeOptions()
        options.installationKey = try handoff.installationKey()
        var judge = SessionJudge(policy: try policies.policy(for: path), options: options)
        for note in policies.notes { handoff.console.complain(note) }
        let read = try TraceReader.read(path: path, options: reading) { event in
            judge.receive(event)
        }
        var verdict = judge.finish()
        verdict.rules.removeAll { $0.id != wanted }
        let style = handoff.console.style(handoff.environment)
        handoff.console.result(VerdictTable(path: path, verdict: verdict, style: style).text(isVerbose: true))
        let packets = verdict.rules.flatMap { rule in
            rule.lookedAt.flatMap(\.packets) + rule.findings.flatMap { $0.evidence.flatMap(\.packets) }
        }
        if !packets.isEmpty { handoff.console.result("\nWireshark filter: \(wiresharkFilter(packets))\n") }
        return status(of: read.summary)
    }

    /// What was skipped, cut or odd: beside the result, which a program may read.
    private func tellNotes(_ reading: TraceReading) {
        for note in reading.summary.notes { handoff.console.complain("\(path): \(note)") }
    }

    private func status(of summary: TraceSummary) -> ExitStatus {
        summary.isComplete ? .conforming : .unreadable
    }
}
