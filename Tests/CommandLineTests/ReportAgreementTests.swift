import Foundation
import FoundationXML
import SessionTrace
import Testing

@testable import CommandLine

/// Whoever reads one report alone sees what the exit status says: nothing red where it is 0, something red where it is not.
@Suite struct ReportAgreementTests {
    private static let policy = "version: 1\nhosts:\n  partner: [api.partner.example]\n"

    /// A folder with copies of recordings and files of the test's own.
    private static func folder(_ traces: [String: String], _ files: [String: String] = [:]) throws -> Scratch {
        let scratch = try Scratch()
        for (name, recording) in traces {
            let path = scratch.path(name)
            try FileManager.default.createDirectory(
                atPath: URL(filePath: path).deletingLastPathComponent().path, withIntermediateDirectories: true)
            try FileManager.default.copyItem(
                atPath: Places.recordings.appending(path: "\(recording).pcapng").path, toPath: path)
        }
        for (name, text) in files { _ = try scratch.file(name, text) }
        return scratch
    }

    /// What was said, without the ends of lines.
    private static func flat(_ run: CommandRun) -> String {
        run.result.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    private static func json(_ scratch: Scratch) throws -> JSONValue {
        try JSONValue.parse(Array(Data(contentsOf: URL(filePath: scratch.path("r.json")))))
    }

    private static func check(_ scratch: Scratch, _ words: [String]) throws -> (CommandRun, [JUnitReportTests.Suite]) {
        let run = CommandRun(
            ["check"] + words + [
                "--report", "json=\(scratch.path("r.json"))", "--report", "junit=\(scratch.path("r.xml"))",
            ])
        let reader = JUnitReportTests.Reader()
        let parser = XMLParser(data: try Data(contentsOf: URL(filePath: scratch.path("r.xml"))))
        parser.delegate = reader
        #expect(parser.parse() && reader.faults.isEmpty, "\(reader.faults)")
        let red = reader.suites.reduce(0) { $0 + $1.count("failure") + $1.count("error") }
        #expect((red > 0) == (run.status != .conforming), "\(words): \(run.status), \(red) red")
        let outcomes: [Status: String] = [
            .conforming: "conforming", .inconclusive: "inconclusive", .unreadable: "unreadable",
            .violation: "violation", .usage: "wrong-usage",
        ]
        #expect(try json(scratch)["verdict"]?.stringValue == outcomes[run.status])
        return (run, reader.suites)
    }

    @Test func whatMustBeExercisedIsACase() throws {
        let scratch = try Self.folder(
            ["s.pcapng": "conforming-share"],
            ["handoff.yml": Self.policy + "must-exercise: [double-tap, HR-01]\n"])
        defer { scratch.remove() }
        let (run, suites) = try Self.check(scratch, [scratch.path("s.pcapng")])
        #expect(run.status == .inconclusive)
        let together = try #require(suites.last)
        #expect(together.attributes["name"] == "all traces")
        #expect(together.first("must-exercise double-tap")?.children == ["failure"])
        #expect(together.first("must-exercise double-tap")?.message == "must-exercise double-tap: no trace shows it")
        #expect(together.first("must-exercise HR-01")?.children == [])
    }

    @Test func whatIsNotCertifiedIsACase() throws {
        let scratch = try Self.folder(["s.pcapng": "conforming-share"], ["handoff.yml": Self.policy])
        defer { scratch.remove() }
        let (run, suites) = try Self.check(scratch, [scratch.path("s.pcapng"), "--certify"])
        #expect(run.status == .inconclusive)
        let cases = try #require(suites.last).cases.filter { $0.name.hasPrefix("certify ") }
        #expect(cases.count == 11 && cases.contains { $0.children.isEmpty })
        #expect(
            cases.filter { $0.children == ["failure"] }.count
                == (try Self.json(scratch)["notExercised"]?.elements?.count))
    }

    @Test func whatIsNotToCountIsSkipped() throws {
        let scratch = try Self.folder(["s.pcapng": "no-keys"], ["handoff.yml": Self.policy])
        defer { scratch.remove() }
        let (strict, red) = try Self.check(scratch, [scratch.path("s.pcapng")])
        #expect(strict.status == .inconclusive && red[0].count("error") > 0)
        let (lax, suites) = try Self.check(scratch, [scratch.path("s.pcapng"), "--inconclusive=warn"])
        #expect(lax.status == .conforming)
        #expect(suites[0].first("HR-46")?.children == ["skipped"])
        #expect(suites[0].first("HR-46")?.message?.isEmpty == false)
    }

    @Test func whatIsCutOrEmptyIsAnError() throws {
        let scratch = try Self.folder(["s.pcapng": "conforming-share"], ["handoff.yml": Self.policy])
        defer { scratch.remove() }
        let whole = try Data(contentsOf: URL(filePath: scratch.path("s.pcapng")))
        try whole.prefix(whole.count - 7).write(to: URL(filePath: scratch.path("cut.pcapng")))
        let header: [UInt8] = [
            0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0, 0, 1, 0, 0, 0,
        ]
        try Data(header).write(to: URL(filePath: scratch.path("empty.pcap")))
        for (name, words) in [
            ("cut.pcapng", "could not be read to the end; everything whole was judged"),
            ("empty.pcap", "without a packet"),
        ] {
            let (run, suites) = try Self.check(scratch, [scratch.path(name), "--inconclusive=warn"])
            #expect(run.status == .unreadable)
            #expect(suites[0].first("readable")?.children == ["error"])
            #expect(suites[0].first("readable")?.message?.hasPrefix(words) == true)
            #expect(Self.flat(run).contains("UNREADABLE: \(words)"))
        }
        // Each kind is told by itself, and none of a file that is not there that it was read in part.
        let (run, _) = try Self.check(
            scratch, [scratch.path("cut.pcapng"), scratch.path("none.pcap"), "--inconclusive=warn"])
        #expect(
            Self.flat(run).hasSuffix(
                "UNREADABLE: 2 of 2 traces: 1 could not be read to the end; everything whole was judged; 1 could not be read"
            ))
    }

    // MARK: wrong usage that only the traces bring out

    @Test func aGroupThatNoTraceNamesIsWrongUsage() throws {
        let scratch = try Self.folder(["s.pcapng": "conforming-share"], ["handoff.yml": Self.policy])
        defer { scratch.remove() }
        let trace = scratch.path("s.pcapng")
        let (run, suites) = try Self.check(scratch, [trace, "--group-by", "platfrom"])
        #expect(run.status == .usage)
        #expect(
            run.talk.hasPrefix(
                "handoff: --group-by platfrom: no trace's scenario marks have this attribute; they have "))
        #expect(run.talk.contains("platform") && run.talk.hasSuffix("(did you mean platform?)\n"), "\(run.talk)")
        #expect(run.result.contains("WRONG USAGE: what was asked for can't be done"))
        #expect(suites.last?.first("usage")?.children == ["error"])
        #expect(try Self.check(scratch, [trace, "--group-by", "platform"]).0.status == .conforming)
        // The default asks for nothing.
        let unmarked = Places.recordings.appending(path: "no-marks.pcapng").path
        #expect(try Self.check(scratch, [unmarked]).0.status != .usage)
        let (none, _) = try Self.check(scratch, [unmarked, "--group-by=platform"])
        #expect(none.status == .usage && none.talk.contains("no trace has one with attributes"))
    }

    /// One policy that can't be used spoils the traces below it alone.
    @Test func aBadPolicySpoilsNoOtherTrace() throws {
        let scratch = try Self.folder(
            [
                "good/a.pcapng": "conforming-share", "bad/b.pcapng": "conforming-share",
                "bad/c.pcapng": "conforming-share", "good/d.pcapng": "url-in-crash-report",
            ])
        defer { scratch.remove() }
        _ = try scratch.file("good/handoff.yml", Self.policy)
        _ = try scratch.file("bad/handoff.yml", "version: 1\nhots: {}\n")
        let (run, suites) = try Self.check(scratch, [scratch.folder.path])
        #expect(run.status == .usage)
        let fault = "\(scratch.path("bad/handoff.yml")):2:1: "
        #expect(run.talk.hasPrefix("handoff: \(fault)") && run.talk.split(separator: "\n").count == 1, "\(run.talk)")
        for line in [
            "good/a.pcapng PASS", "bad/b.pcapng NOT JUDGED", "bad/c.pcapng NOT JUDGED", "good/d.pcapng FAIL",
            "2 of 4 traces judged on every gated rule", "2 had no policy that can be used",
            "WRONG USAGE: 2 of 4 traces: the policy can't be used", "violated HR-46, HR-47",
        ] {
            #expect(Self.flat(run).contains(line), "\(line)")
        }
        #expect(suites.first { $0.attributes["name"]?.hasSuffix("b.pcapng") == true }?.cases.map(\.name) == ["policy"])
        let verdicts = try Self.json(scratch)["traces"]?.elements?.map { $0["verdict"]?.stringValue }
        #expect(verdicts == ["wrong-usage", "wrong-usage", "conforming", "violation"])
        // One that was named is for all traces, and nothing is judged.
        let named = CommandRun(["check", scratch.folder.path, "--policy", scratch.path("bad/handoff.yml")])
        #expect(named.status == .usage && named.result.isEmpty && named.talk.contains(fault))
    }

    // MARK: by what a trace was judged

    @Test func policyAndFilterAreNamed() throws {
        let scratch = try Self.folder(["deep/s.pcapng": "conforming-share"], ["handoff.yml": Self.policy])
        defer { scratch.remove() }
        let trace = scratch.path("deep/s.pcapng")
        let policy = scratch.path("handoff.yml")
        func conditions(_ words: [String]) throws -> (text: String, policy: [String?], suite: JUnitReportTests.Suite) {
            let (run, suites) = try Self.check(scratch, words)
            let member = try Self.json(scratch)["traces"]?.elements?.first?["policy"]
            let text = Self.flat(run)
            return (text, [member?["path"]?.stringValue, member?["found"]?.stringValue], try #require(suites.first))
        }
        let above = try conditions([trace])
        #expect(above.text.contains("policy \(policy) (in a folder above)") && above.policy == [policy, "above"])
        #expect(above.suite.properties["policy"] == policy && above.suite.properties["policy-found"] == "above")
        #expect(above.suite.properties["filter"] == nil)
        let named = try conditions([trace, "--policy", policy])
        #expect(named.text.contains("policy \(policy)") && named.policy == [policy, "named"])
        _ = try scratch.file("deep/handoff.yml", Self.policy)
        #expect(try conditions([trace]).policy == [scratch.path("deep/handoff.yml"), "beside"])

        let filter = "host 10.77.0.20"
        let filtered = try conditions([trace, "--filter", filter])
        let member = try Self.json(scratch)["traces"]?.elements?.first?["filter"]
        #expect(member?["expression"]?.stringValue == filter)
        guard case .number(let count)? = member?["packetsLeftOut"] else {
            Issue.record("no count of packets that were left out")
            return
        }
        #expect((Int(count) ?? 0) > 0)
        #expect(filtered.text.contains("--filter '\(filter)' left out \(count) packets"))
        #expect(filtered.suite.properties["filter"] == filter)
        #expect(filtered.suite.properties["packets-filtered-out"] == count)
    }

    /// A pass says that it rests on a part of the packets alone.
    @Test func aPassWithAFilterSaysWhatWasLeftOut() throws {
        let scratch = try Self.folder(["s.pcapng": "conforming-share"], ["handoff.yml": Self.policy])
        defer { scratch.remove() }
        let (run, _) = try Self.check(scratch, [scratch.path("s.pcapng"), "--filter", "ip or ip6"])
        #expect(run.status == .conforming)
        #expect(Self.flat(run).contains("--filter left out packets of which nothing is said"))
        #expect(!Self.flat(try Self.check(scratch, [scratch.path("s.pcapng")]).0).contains("--filter"))
    }

    @Test func theOtherSpellingIsToldOnce() throws {
        let scratch = try Self.folder(
            ["deep/s.pcapng": "conforming-share", "deep/t.pcapng": "no-marks"], ["handoff.yaml": Self.policy])
        defer { scratch.remove() }
        let said = "\(scratch.path("handoff.yaml")) is not read: call it handoff.yml, or name it with --policy"
        for words in [["check", scratch.folder.path], ["show", scratch.path("deep/s.pcapng")]] {
            let run = CommandRun(words)
            #expect(run.talk.ranges(of: said).count == 1, "\(run.talk)")
        }
        let named = CommandRun(["check", scratch.path("deep/s.pcapng"), "--policy", scratch.path("handoff.yaml")])
        #expect(named.talk.isEmpty && Self.flat(named).contains("policy \(scratch.path("handoff.yaml"))"))
    }
}
