internal import Assertions
internal import CaptureAnalyzer
internal import SessionTrace

/// `handoff except add`: accepts a finding for a while, in the policy.
struct ExceptAddCommand {
    static let syntax = CommandSyntax(
        name: "except add", operands: "FINGERPRINT", operandCount: 1...1,
        summary: "Accept a finding for a while: writes an exception into the policy.",
        options: [
            .value("reason", "TEXT", "why it is accepted"),
            .value("owner", "NAME", "who answers for it"),
            .value("expires", "YYYY-MM-DD", "the last day on which it applies, at most 180 days from now"),
            .value("rule", "ID", "the rule of the finding; or let --from find it"),
            .value("from", "TRACE", repeats: true, "a trace that shows the finding; it tells the rule"),
        ] + TraceArguments.options,
        notes: """
            The fingerprint is printed behind each finding; its first digits are enough where --from finds one alone.
            It holds no value, position or time: the same fault in the next run has the same one. An exception is of one rule:
            one for HR-46 does not cover HR-47, which fails for the same leak.
            """)

    private static let digits = 16

    private let handoff: Handoff
    private let arguments: Arguments

    init(handoff: Handoff, arguments: Arguments) {
        self.handoff = handoff
        self.arguments = arguments
    }

    func run() throws -> ExitStatus {
        try TraceArguments.refuseWithoutTrace(arguments, "from")
        let traces = try TraceFiles.expand(arguments.all("from"))
        let reading = try TraceArguments.reading(arguments, traces: traces)
        guard let path = arguments.value("policy") ?? TraceFiles.policy(for: traces.first ?? "-") else {
            throw InvalidPolicy.none
        }
        guard FileSystem.isFile(path) || !FileSystem.exists(path) else {
            throw InvalidPolicy(message: "\(path): is no file that an exception can be written into")
        }
        let policy = try PolicyBook.load(path)
        let (rule, fingerprint) = try finding(in: traces, reading, policy)
        let exception = PolicyEdit.NewException(
            rule: rule, fingerprint: fingerprint, reason: try text("reason"), owner: try text("owner"),
            expires: try expiry())
        do {
            try write(exception, into: path)
        } catch let error where error is PolicyEdit.Refusal || error is FileError {
            throw InvalidPolicy(message: "\(error)")
        }
        handoff.console.result("\(path): \(rule) \(fingerprint) is accepted until \(exception.expires)\n")
        return .conforming
    }

    private func write(_ exception: PolicyEdit.NewException, into path: String) throws {
        let bytes = try FileSystem.read(path, as: .policy)[...]
        let mark = bytes.starts(with: PolicyBook.byteOrderMark) ? PolicyBook.byteOrderMark : []
        guard let text = String(validating: bytes.dropFirst(mark.count), as: UTF8.self) else {
            throw InvalidPolicy(message: "\(path): is not UTF-8, and what else is in it might change; save it as UTF-8")
        }
        let edited = try PolicyEdit.adding(exception, to: text, file: path)
        try FileSystem.replace(mark + Array(edited.utf8), at: path)
    }

    private func text(_ option: String) throws(UsageError) -> String {
        guard let text = arguments.value(option), !text.allSatisfy(\.isWhitespace) else {
            throw UsageError(message: "an exception needs --\(option)")
        }
        guard !FileName.isOdd(text) else { throw UsageError(message: "--\(option) is not UTF-8; write it in UTF-8") }
        return text
    }

    private func expiry() throws(UsageError) -> CalendarDay {
        guard let day = CalendarDay(try text("expires")) else {
            throw UsageError(message: "--expires takes a day such as 2027-01-31")
        }
        let left = day.start.nanoseconds(since: WallClock.now)
        guard !day.isOver(at: WallClock.now) else {
            throw UsageError(message: "--expires \(day) is over")
        }
        guard left <= Policy.longestException.count else {
            throw UsageError(message: "--expires \(day) is more than 180 days from now; take a nearer day")
        }
        return day
    }

    /// The rule and the whole fingerprint of the finding that is meant.
    private func finding(
        in traces: [String], _ reading: TraceOptions, _ policy: Policy
    ) throws -> (rule: String, fingerprint: String) {
        let given = arguments.operands[0].lowercased().filter { $0 != "…" }
        guard given.utf8.count >= 4, given.utf8.count <= Self.digits, given.allSatisfy(\.isHexDigit) else {
            throw UsageError(message: "\(arguments.operands[0]) is no fingerprint: 4 to 16 hexadecimal digits")
        }
        guard !traces.isEmpty else {
            guard let rule = arguments.value("rule")?.uppercased() else {
                throw UsageError(
                    message: "tell the rule (--rule HR-48) or a trace that shows the finding (--from TRACE)")
            }
            guard RuleCatalogue.description(of: rule) != nil else {
                let hint =
                    NearestWord.to(rule, among: RuleCatalogue.all.map(\.id)).map { "; did you mean \($0)?" } ?? ""
                throw UsageError(message: "no rule \(rule)\(hint)")
            }
            return (rule, given)
        }
        var found: Set<[String]> = []
        for trace in traces {
            var options = JudgeOptions()
            options.now = WallClock.now
            var judge = SessionJudge(policy: policy, options: options)
            _ = try TraceReader.read(path: trace, options: reading) {
                judge.receive($0)
            }
            for rule in judge.finish().rules {
                for finding in rule.findings where finding.fingerprint.hasPrefix(given) {
                    found.insert([rule.id, finding.fingerprint])
                }
            }
        }
        if let rule = arguments.value("rule")?.uppercased() { found = found.filter { $0[0] == rule } }
        guard let one = found.first else {
            throw UsageError(message: "no finding with \(given) in \(traces.joined(separator: ", "))")
        }
        guard found.count == 1 else {
            let names = found.map { "\($0[0]) \($0[1])" }.sorted().joined(separator: ", ")
            throw UsageError(message: "\(given) could be \(names); give more digits, or --rule")
        }
        return (one[0], one[1])
    }
}
