internal import Assertions
internal import CaptureAnalyzer
internal import Crypto
internal import Reports
internal import SessionTrace

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
            A * behind a rule's id marks a gated rule: its inconclusive verdict counts.
            Exit status: 0 conforming, 1 violation, 2 wrong usage or policy, 3 unreadable input, 4 inconclusive.
            """)

    private enum Inconclusive: String, CaseIterable {
        case fail, warn
    }

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
        judging.installationKey = InstallationKey.load(handoff.environment)
        var options = SetOptions()
        options.strict = judging.strict
        options.inconclusiveCounts = try arguments.choice("inconclusive", Inconclusive.self) != .warn
        options.certify = arguments.has("certify")
        if let attribute = arguments.value("group-by") { options.groupBy = attribute }

        let paths = try TraceFiles.expand(arguments.operands)
        guard !paths.isEmpty else {
            handoff.console.complain(
                "no captures in \(arguments.operands.joined(separator: ", ")); give pcap or pcapng files")
            return .unreadable
        }
        guard paths.filter({ $0 == "-" }).count <= 1 else {
            throw UsageError(message: "standard input can be read only once")
        }
        var policies = PolicyBook(given: arguments.value("policy"))
        var traces: [JudgedTrace] = []
        do {
            // An invalid policy is wrong usage, whatever the traces say.
            for path in paths { options.mustExercise += try policies.policy(for: path).mustExercise }
            options.mustExercise = options.mustExercise.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
            for (index, path) in paths.enumerated() {
                progress(index, of: paths.count, path)
                traces.append(judge(path, policy: try policies.policy(for: path), options: judging))
            }
        } catch let error as InvalidPolicy {
            handoff.console.complain(error.message)
            return .usage
        }
        let set = SetVerdict(traces: traces, options: options)
        if !reports.contains(where: { $0.path == "-" }) { show(set) }
        for report in reports { try write(report, set) }
        return ExitStatus(set.outcome)
    }

    private func judge(_ path: String, policy: Policy, options: JudgeOptions) -> JudgedTrace {
        var judge = SessionJudge(policy: policy, options: options)
        do {
            _ = try TraceReader.read(path: path, options: TraceArguments.options(from: arguments)) { judge.receive($0) }
            return JudgedTrace(path: path, verdict: judge.finish())
        } catch {
            return JudgedTrace(path: path, error: "\(error)")
        }
    }

    private func progress(_ index: Int, of count: Int, _ path: String) {
        guard handoff.console.talkIsTerminal, count > 1 else { return }
        handoff.console.talk("\r\u{1B}[K\(index + 1) of \(count): \(path)" + (index + 1 == count ? "\r\u{1B}[K" : ""))
    }

    private func show(_ set: SetVerdict) {
        let style = handoff.console.style(handoff.environment)
        for trace in set.traces {
            if let verdict = trace.verdict {
                let table = VerdictTable(path: trace.path, verdict: verdict, style: style)
                handoff.console.result(table.text(isVerbose: arguments.has("verbose")) + "\n")
            } else {
                handoff.console.complain(trace.error ?? trace.path)
            }
        }
        handoff.console.result(SetSummary(set: set, style: style).text)
    }

    private func write(_ report: ReportRequest, _ set: SetVerdict) throws {
        let text: String
        switch report.format {
        case .json:
            var digests: [String: String] = [:]
            for trace in set.traces where trace.path != "-" && trace.verdict != nil {
                digests[trace.path] = try? FileSystem.withMapped(trace.path) { bytes in
                    HashFunction.sha256.digest(of: bytes).map { byte in
                        (byte < 16 ? "0" : "") + String(byte, radix: 16)
                    }.joined()
                }
            }
            text = JSONReport(set: set, version: handoffVersion, digests: digests).text
        case .junit:
            text = JUnitReport(traces: set.traces, isStrict: arguments.has("strict")).text
        }
        if report.path == "-" {
            handoff.console.result(text)
        } else {
            try FileSystem.write(Array(text.utf8), to: report.path)
        }
    }
}

extension ExitStatus {
    /// The status of an outcome.
    init(_ outcome: Outcome) {
        switch outcome {
        case .conforming: self = .conforming
        case .inconclusive: self = .inconclusive
        case .unreadable: self = .unreadable
        case .violation: self = .violation
        }
    }
}

/// A report that was asked for: `json=PATH`.
struct ReportRequest: Equatable {
    enum Format: String, CaseIterable {
        case json, junit
    }

    var format: Format
    var path: String

    static func parse(_ requests: [String]) throws(UsageError) -> [ReportRequest] {
        var parsed: [ReportRequest] = []
        for request in requests {
            let parts = request.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, let format = Format(rawValue: parts[0]) else {
                let known = Format.allCases.map(\.rawValue)
                let hint = NearestWord.to(parts.first ?? "", among: known).map { "; did you mean \($0)=PATH?" }
                throw UsageError(
                    message: "--report takes FORMAT=PATH with a format of \(known.joined(separator: ", "))\(hint ?? "")"
                )
            }
            parsed.append(ReportRequest(format: format, path: parts[1]))
        }
        guard parsed.filter({ $0.path == "-" }).count <= 1 else {
            throw UsageError(message: "only one report can go to standard output")
        }
        return parsed
    }
}
