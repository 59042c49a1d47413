internal import Assertions
internal import CaptureAnalyzer

/// The reports of a run that has judged nothing: an earlier run's must not stand there for this one's, since whoever reads
/// reports alone would take its pass for today's.
struct UnjudgedReports {
    private let handoff: Handoff
    private let traces: [String]
    /// The words of a run that was refused, which may name anything that must stay as it is.
    private let words: [String]

    /// The reports of a run over `traces` that is about to begin.
    init(handoff: Handoff, traces: [String]) {
        self.handoff = handoff
        self.traces = traces
        words = []
    }

    /// The reports of a run that was refused; `words` are those behind the command, be they right or not.
    init(handoff: Handoff, command: CommandSyntax, words: [String]) {
        self.handoff = handoff
        let isReporting = command.options.contains { $0.name == "report" }
        self.words = isReporting ? words : []
        var traces: [String] = []
        if isReporting, let arguments = try? Arguments(words, syntax: command) {
            let operands = arguments.operands
            traces = command.operandCount.upperBound == 0 ? [RecordCommand.path(arguments)] : operands
            if let files = try? TraceFiles.expand(traces) { traces = files }
        }
        self.traces = traces.isEmpty ? ["handoff \(command.name)"] : traces
    }

    /// Says in the reports of earlier runs that this one has not ended, for the case that it never does.
    func begin(_ reports: [ReportRequest]) {
        for report in reports where isEarlier(report) {
            // One that can't be written is told at the end.
            try? write(report, because: "the run that was to write this report did not come to its end", .input)
        }
    }

    /// Replaces the reports of earlier runs that the refused run was to replace, but nothing else that its words name.
    func replace(because sentence: String, _ obstacle: JudgedTrace.Obstacle) {
        let earlier = requests.filter(isEarlier)
        guard !earlier.isEmpty else { return }
        var files = protected
        for report in earlier where (try? ReportRequest.claim([report], in: &files)) != nil {
            do throws(FileError) {
                try write(report, because: sentence, obstacle)
            } catch {
                handoff.console.complain("\(error); \(report.name) there is of an earlier run")
            }
        }
    }

    private func isEarlier(_ report: ReportRequest) -> Bool { report.path != "-" && FileSystem.isFile(report.path) }

    private func write(
        _ report: ReportRequest, because sentence: String, _ obstacle: JudgedTrace.Obstacle
    ) throws(FileError) {
        let error = Redactor.withoutTokens(sentence)
        let set = SetVerdict(
            traces: traces.map { JudgedTrace(path: $0, error: error, obstacle: obstacle) }, options: SetOptions())
        try VerdictOutput(handoff: handoff, reports: [], isVerbose: false).write(report, set)
    }

    /// The reports that the words ask for; whatever else is wrong with them.
    private var requests: [ReportRequest] {
        reportTexts.flatMap { (try? ReportRequest.parse([$0])) ?? [] }
    }

    private var reportTexts: [String] {
        zip(words, words.dropFirst() + [""]).compactMap { word, next in
            if word == "--report" { return next }
            return word.hasPrefix("--report=") ? String(word.dropFirst("--report=".count)) : nil
        }
    }

    /// Everything that the run might have read or written: whatever its words name, what lies beside that, and what is this
    /// user's own.
    private var protected: RunFiles {
        let reports = Set(reportTexts)
        let own = [handoff.environment["SSLKEYLOGFILE"], InstallationKey.path(handoff.environment)]
        var paths = traces + own.compactMap(\.self)
        for word in words where !reports.contains(word) && !word.hasPrefix("--report=") {
            // FILE, --keylog=FILE, HOST=FILE, --client-cert=HOST=FILE.
            let parts = word.split(separator: "=", omittingEmptySubsequences: false)
            paths += parts.indices.map { parts[$0...].joined(separator: "=") }
        }
        for folder in paths + [DataFolder.path(handoff.environment)].compactMap(\.self) {
            paths += ["handoff-ca.pem", "handoff-ca-cert.pem"].map { "\(folder)/\($0)" }
        }
        var files = RunFiles()
        TraceArguments.protect(paths, TraceOptions(), in: &files)
        for path in paths {
            if let policy = TraceFiles.policy(for: path) { files.protect(policy, as: "the policy") }
        }
        return files
    }
}
