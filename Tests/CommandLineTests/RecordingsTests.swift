import Foundation
import SessionTrace
import Testing

@testable import Assertions
@testable import CaptureAnalyzer
@testable import CommandLine

/// The recorded sessions of `pcaps/`: each judged as its author says it must be, whole and cut.
@Suite struct RecordingsTests {
    struct Expectation {
        var rule: String
        var verdict: String
        var reason: String
    }

    static func index() -> [(file: String, status: Int32)] {
        let rows = (try? Places.table(Places.recordings.appending(path: "index.tsv"))) ?? []
        return rows.compactMap { row in Int32(row[1]).map { (row[0], $0) } }
    }

    static let files = index().map(\.file)

    static func expectations(of file: String) throws -> [Expectation] {
        try Places.table(Places.recordings.appending(path: "expected.tsv")).filter { $0[0] == file }
            .map { Expectation(rule: $0[1], verdict: $0[2], reason: $0.count > 3 ? $0[3] : "") }
    }

    static func policy() throws -> Policy {
        let path = Places.recordings.appending(path: "handoff.yml")
        return try Policy.parse(yaml: String(contentsOf: path, encoding: .utf8), file: "handoff.yml")
    }

    static func judge(_ path: String) throws -> TraceVerdict {
        var judge = SessionJudge(policy: try policy(), options: JudgeOptions())
        _ = try TraceReader.read(path: path, options: TraceOptions()) { judge.receive($0) }
        return judge.finish()
    }

    @Test func thereAreRecordings() {
        #expect(Self.files.count >= 16)
    }

    @Test(arguments: files)
    func areJudgedAsExpected(file: String) throws {
        let path = Places.recordings.appending(path: file).path
        let verdict = try Self.judge(path)
        let expectations = try Self.expectations(of: file)
        #expect(expectations.count == RuleCatalogue.headline.count)
        for expectation in expectations {
            let rule = try #require(verdict.rules.first { $0.id == expectation.rule })
            #expect(
                rule.verdict.rawValue == expectation.verdict && rule.reason?.code ?? "" == expectation.reason,
                "\(expectation.rule): \(rule.verdict.rawValue) \(rule.reason?.code ?? ""), \(rule.sentence)")
        }
    }

    @Test(arguments: index())
    func giveTheirExitStatus(file: String, status: Int32) {
        let run = CommandRun(["check", Places.recordings.appending(path: file).path])
        #expect(run.status.rawValue == status)
        #expect(run.talk.isEmpty)
    }

    /// A cut file may leave things open that the whole one decides, and never the reverse: no pass that the whole file
    /// does not have, and no violation either, but for those that a missing rest explains as still open.
    @Test(arguments: files)
    func cutShortTheyClaimNoMore(file: String) throws {
        let url = Places.recordings.appending(path: file)
        let bytes = try Data(contentsOf: url)
        let whole = try Self.judge(url.path)
        var generator = SeededGenerator(seed: UInt64(file.utf8.reduce(7) { $0 &* 31 &+ Int($1) }.magnitude))
        let folder = FileManager.default.temporaryDirectory.appending(path: "handoff-cuts-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for _ in 0..<20 {
            let length = Int.random(in: 32..<bytes.count, using: &generator)
            let cut = folder.appending(path: "cut.pcapng")
            try bytes.prefix(length).write(to: cut)
            let verdict = try Self.judge(cut.path)
            for rule in verdict.rules where rule.verdict == .pass && rule.id.hasPrefix("HR") {
                let before = whole.rules.first { $0.id == rule.id }
                #expect(
                    before?.verdict == .pass,
                    "\(rule.id) passes at \(length) of \(bytes.count) bytes, and is \(before?.verdict.rawValue ?? "missing") for the whole: \(rule.sentence)"
                )
            }
            for rule in verdict.rules where rule.verdict == .fail {
                let before = whole.rules.first { $0.id == rule.id }
                #expect(before?.verdict == .fail, "\(rule.id) fails at \(length) bytes only: \(rule.sentence)")
            }
        }
    }
}

/// A small generator with a seed (SplitMix64), so that a failure can be repeated.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
