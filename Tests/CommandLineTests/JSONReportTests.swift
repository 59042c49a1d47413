import Foundation
import SessionTrace
import Testing

@testable import Assertions
@testable import CommandLine
@testable import Reports

/// The JSON report against `docs/report.schema.json`, as a program would check it.
@Suite struct JSONReportTests {
    /// Words, files and exit status of runs that bring out every shape of a report.
    static let runs: [(words: [String], status: Int32)] = [
        (["conforming-share.pcapng"], 0),
        (["url-in-crash-report.pcapng"], 1),
        (["no-keys.pcapng"], 4),
        (["chia-page-own-analytics.pcapng", "--strict", "--certify"], 4),
        (["no-such-file.pcapng"], 3),
        (["no-such-file.pcapng", "no-marks.pcapng", "head-probe.pcapng", "cut"], 1),
        (["."], 1),
    ]

    /// Checks every file named on its command line; prints what is wrong.
    static let checker = """
        import json, sys
        import jsonschema
        schema = json.load(open(sys.argv[1]))
        kind = getattr(jsonschema, "Draft202012Validator", None) or jsonschema.Draft7Validator
        kind.check_schema(schema)
        for path in sys.argv[2:]:
            for error in kind(schema).iter_errors(json.load(open(path))):
                print(path, list(error.absolute_path), error.message[:200])
        """

    @Test(.enabled(if: ToolRun.pythonWithSchemas != nil, "python3-jsonschema is not installed"))
    func fitsItsSchema() throws {
        let python = try #require(ToolRun.pythonWithSchemas)
        let scratch = try Scratch()
        defer { scratch.remove() }
        let cut = scratch.path("cut.pcapng")
        let whole = try Data(contentsOf: Places.recordings.appending(path: "conforming-share.pcapng"))
        try whole.prefix(whole.count / 2).write(to: URL(filePath: cut))
        var reports: [String] = []
        for (number, run) in Self.runs.enumerated() {
            let report = scratch.path("report-\(number).json")
            let words = run.words.map { word in
                word == "cut" ? cut : word.hasPrefix("--") ? word : Places.recordings.appending(path: word).path
            }
            let status = CommandRun(["check"] + words + ["--report", "json=\(report)"]).status
            #expect(status.rawValue == run.status, "\(run.words)")
            reports.append(report)
        }
        let schema = Places.root.appending(path: "docs/report.schema.json").path
        let checked = try ToolRun(python, ["-c", Self.checker, schema] + reports)
        #expect(checked.status == 0)
        #expect(checked.output.isEmpty)
        #expect(checked.errors.isEmpty)
    }

    /// The schema would be worth nothing if it let anything through.
    @Test(.enabled(if: ToolRun.pythonWithSchemas != nil, "python3-jsonschema is not installed"))
    func schemaRefusesWhatIsNotAReport() throws {
        let python = try #require(ToolRun.pythonWithSchemas)
        let scratch = try Scratch()
        defer { scratch.remove() }
        let good = CommandRun([
            "check", Places.recordings.appending(path: "no-keys.pcapng").path, "--report", "json=-",
        ]).result
        let spoilt = [
            good.replacing("\"verdict\": \"inconclusive\"", with: "\"verdict\": \"undecided\""),
            good.replacing("\"tool\": {", with: "\"tool\": { \"extra\": 1,"),
            good.replacing("\"remedy\"", with: "\"remedies\""),
            good.replacing("\"packets\": [", with: "\"packets\": [ \"one\","),
            "{}",
        ]
        let schema = Places.root.appending(path: "docs/report.schema.json").path
        for (number, text) in spoilt.enumerated() {
            #expect(text != good)
            let report = try scratch.file("report-\(number).json", text)
            let checked = try ToolRun(python, ["-c", Self.checker, schema, report])
            #expect(checked.status == 0 && checked.errors.isEmpty, "report \(number)")
            #expect(!checked.output.isEmpty, "report \(number)")
        }
    }

    /// A rule with a warning says what is in doubt beside it; no other rule has such a member.
    @Test(.enabled(if: ToolRun.pythonWithSchemas != nil, "python3-jsonschema is not installed"))
    func aDoubtStandsBesideAWarningAlone() throws {
        let python = try #require(ToolRun.pythonWithSchemas)
        let scratch = try Scratch()
        defer { scratch.remove() }
        func errors(_ verdict: Verdict, _ severity: Severity) throws -> [UInt8] {
            let finding = Finding(
                kind: "no-token", severity: severity, message: "no token",
                evidence: [
                    Evidence(
                        label: "session response", packets: [3],
                        span: TimeSpan(Instant(nanoseconds: 1_795_000_000_000_000_000)),
                        subject: "POST /handoff-session")
                ], fingerprint: "0123456789abcdef")
            var result = RuleResult(
                id: "HR-35", name: "handoff-url-shape", severity: severity, verdict: verdict, sentence: "no token",
                findings: [finding])
            result.doubt = InconclusiveReason(code: "no-keys", sentence: "unread", remedy: "give keys")
            let judged = TraceVerdict(
                rules: [result], matrix: [:], attributes: [:], summary: TraceSummary(), gate: [],
                exercisedAnything: true)
            let set = SetVerdict(traces: [JudgedTrace(path: "a.pcap", verdict: judged)], options: SetOptions())
            let report = try scratch.file("report.json", JSONReport(set: set, version: "0", digests: [:]).text)
            let schema = Places.root.appending(path: "docs/report.schema.json").path
            let checked = try ToolRun(python, ["-c", Self.checker, schema, report])
            #expect(checked.status == 0 && checked.errors.isEmpty)
            return Array(checked.output.utf8)
        }
        #expect(try errors(.fail, .warning).isEmpty)
        #expect(try !errors(.fail, .error).isEmpty)
        #expect(try !errors(.pass, .warning).isEmpty)
    }

    @Test func namesTheDigestOfEachTrace() throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        let name = try scratch.file("x.pcap", "")
        // An empty classic capture: its header alone.
        let header: [UInt8] = [0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0]
        try Data(header).write(to: URL(filePath: name))
        let run = CommandRun(["check", name, "--report", "json=-"])
        // sha256sum of these 24 bytes.
        #expect(run.result.contains("\"sha256\": \"704e5e5b3234433c01fcfd1b20a306e77e985038120492dc53965c3edd38a4ea\""))
        #expect(run.status == .unreadable)
    }
}
