internal import Assertions
internal import CaptureAnalyzer
internal import Crypto
internal import Reports
internal import SessionTrace
internal import Synchronization

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
            --certify can't succeed in this version: it judges the headline rules, and some rows of the matrix need others.
            A * behind a rule's id marks a gated rule: its inconclusive verdict counts. † marks a pass that rests on an
            assumption, named below the table. Packets that carry a mark pass every --filter.
            Exit status: 0 conforming, 1 violation, 2 wrong usage or policy, or a report that can't be written,
            3 unreadable input, 4 inconclusive. Over several traces the worst counts, in the order 5, 2, 1, 3, 4, 0.
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
        try refuseToOverwrite(reports, paths)
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
        var judged = judge(paths, policyOfTrace, Array(repeating: judging, count: paths.count))
        if let again = withForeignTokens(judged, judging) {
            judged = judge(paths, policyOfTrace, again, keeping: judged)
        }
        let set = SetVerdict(traces: judged.map(\.trace), options: options)
        show(set, asText: !reports.contains { $0.path == "-" })
        var status = ExitStatus(set.outcome)
        for report in reports {
            do {
                try write(report, set)
            } catch {
                handoff.console.complain(
                    "\(error); the \(report.format.rawValue) report is not written, give another path")
                status = status.worse(.usage)
            }
        }
        return status
    }

    /// A report may replace neither what is read nor another report.
    private func refuseToOverwrite(_ reports: [ReportRequest], _ traces: [String]) throws(UsageError) {
        let given = [arguments.value("policy")].compactMap(\.self) + arguments.all("keylog") + arguments.all("marks")
        var taken = Set((traces + given).compactMap(FileSystem.absolute))
        for report in reports where report.path != "-" {
            let path = FileSystem.absolute(report.path) ?? report.path
            guard !taken.contains(path) else {
                throw UsageError(message: "the \(report.format.rawValue) report would overwrite \(report.path)")
            }
            taken.insert(path)
        }
    }

    /// A judged trace, and the handoff tokens that it showed.
    private struct Judged: Sendable {
        var trace: JudgedTrace
        var tokens: [Secret] = []
    }

    /// Tokens of other traces that one trace is searched for; more would cost more than the search is worth.
    private static let foreignTokenLimit = 500

    /// The options for a second look, in which each trace is searched for the tokens of all others (a crash report of the
    /// next morning may hold yesterday's): nil for each trace that needs none, and nil altogether when none does.
    private func withForeignTokens(_ judged: [Judged], _ options: JudgeOptions) -> [JudgeOptions?]? {
        let all = judged.flatMap(\.tokens).reduce(into: [Secret]()) { if !$0.contains($1) { $0.append($1) } }
        let again = judged.map { one -> JudgeOptions? in
            let foreign = all.filter { !one.tokens.contains($0) }
            guard !foreign.isEmpty, one.trace.verdict != nil, one.trace.path != "-" else { return nil }
            var options = options
            options.foreignTokens = Array(foreign.prefix(Self.foreignTokenLimit))
            return options
        }
        guard again.contains(where: { $0 != nil }) else { return nil }
        if all.count > Self.foreignTokenLimit {
            handoff.console.complain(
                "the traces hold \(all.count) handoff tokens; each trace is searched for \(Self.foreignTokenLimit) of the others"
            )
        }
        return again
    }

    /// Judges all traces that have options, several at a time; the others stay as they are in `before`. The verdicts come
    /// in the order of the paths.
    private func judge(
        _ paths: [String], _ policies: [Policy], _ options: [JudgeOptions?], keeping before: [Judged] = []
    ) -> [Judged] {
        let reading = TraceArguments.options(from: arguments)
        let console = handoff.console
        let tellsProgress = console.talkIsTerminal && paths.count > 1
        let done = Mutex(0)
        let judged = mapConcurrently(Array(paths.indices)) { index in
            guard let options = options[index] else { return before[index] }
            let trace = Self.judge(paths[index], policy: policies[index], options: options, reading: reading)
            guard tellsProgress else { return trace }
            done.withLock { done in
                done += 1
                console.talk("\r\u{1B}[K\(done) of \(paths.count) judged: \(paths[index])")
            }
            return trace
        }
        if tellsProgress { console.talk("\r\u{1B}[K") }
        return judged
    }

    private static func judge(
        _ path: String, policy: Policy, options: JudgeOptions, reading: TraceOptions
    ) -> Judged {
        guard path == "-" || !FileSystem.isFolder(path) else {
            let error = "\(path): no capture in this folder; name files that are pcap or pcapng"
            return Judged(trace: JudgedTrace(path: path, error: error))
        }
        var judge = SessionJudge(policy: policy, options: options)
        do {
            _ = try TraceReader.read(path: path, options: reading) { judge.receive($0) }
            return Judged(trace: JudgedTrace(path: path, verdict: judge.finish()), tokens: judge.tokens)
        } catch {
            return Judged(trace: JudgedTrace(path: path, error: "\(error)"))
        }
    }

    private func show(_ set: SetVerdict, asText: Bool) {
        let console = handoff.console
        let style = console.style(handoff.environment)
        // Who sees both outputs on one terminal reads each error once.
        let isSeenInText = asText && console.resultIsTerminal && console.talkIsTerminal
        for trace in set.traces {
            if let error = trace.error, !isSeenInText { console.complain(error) }
            guard asText else { continue }
            if let verdict = trace.verdict {
                let table = VerdictTable(
                    path: trace.path, verdict: verdict, outcome: set.outcome(of: trace), style: style)
                console.result(table.text(isVerbose: arguments.has("verbose")) + "\n")
            } else {
                console.result(unreadableText(path: trace.path, error: trace.error ?? "", style: style) + "\n")
            }
        }
        if asText { console.result(SetSummary(set: set, style: style).text) }
    }

    private func write(_ report: ReportRequest, _ set: SetVerdict) throws(FileError) {
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
                let hint = NearestWord.to(parts.first ?? "", among: known).map { " (did you mean \($0)=PATH?)" }
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
