import Foundation
import Lab
import SessionTrace
import Testing

@testable import Assertions
@testable import CaptureAnalyzer
@testable import CommandLine

/// The part of the corpus that is kept in `pcaps/corpus`: every rule says of each session what its story says that it must.
@Suite struct CorpusTests {
    struct Recording: CustomTestStringConvertible, Sendable {
        var story: String
        var transport: String
        var path: String

        var testDescription: String { "\(story)/\(transport)" }
    }

    static let folder = Places.recordings.appending(path: "corpus")

    static let recordings: [Recording] = {
        let stories = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return stories.sorted().flatMap { story -> [Recording] in
            let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.appending(path: story).path)) ?? []
            return files.sorted().filter { $0.hasSuffix(".pcap") || $0.hasSuffix(".pcapng") }.map { file in
                Recording(
                    story: story, transport: String(file.prefix { $0 != "." }),
                    path: folder.appending(path: "\(story)/\(file)").path)
            }
        }
    }()

    /// The rules that the stories' labels were held against when the part was recorded.
    static let rules: Set<String> = {
        let text = (try? String(contentsOf: folder.appending(path: "rules.txt"), encoding: .utf8)) ?? ""
        return Set(text.split(whereSeparator: \.isWhitespace).map(String.init))
    }()

    static func book() throws -> StoryBook {
        let stories = Places.recordings.deletingLastPathComponent().appending(path: "corpus")
        let names = try FileManager.default.contentsOfDirectory(atPath: stories.path).sorted()
        return try StoryBook(
            files: names.filter { $0.hasSuffix(".story") }.map { name in
                (name, try String(contentsOf: stories.appending(path: name), encoding: .utf8))
            })
    }

    @Test func everyRecordingHasItsStoryAndPolicy() throws {
        let book = try Self.book()
        #expect(Self.recordings.count >= 40)
        #expect(Self.rules.count >= 48)
        for recording in Self.recordings {
            let story = try #require(book.story(recording.story), "\(recording.story) is no story any more")
            #expect(LabTransport(recording.transport) != nil)
            let policy = Self.folder.appending(path: "\(recording.story)/handoff.yml")
            #expect(try String(contentsOf: policy, encoding: .utf8) == book.policyText(of: story))
        }
    }

    @Test(arguments: recordings)
    func isJudgedAsItsStorySays(recording: Recording) throws {
        let book = try Self.book()
        let story = try #require(book.story(recording.story))
        let transport = try #require(LabTransport(recording.transport))
        let policy = try Policy.parse(yaml: book.policyText(of: story), file: "handoff.yml")
        var options = TraceOptions()
        let base = recording.path.split(separator: ".", omittingEmptySubsequences: false).dropLast().joined(
            separator: ".")
        if FileManager.default.fileExists(atPath: base + ".keys") { options.keyLogs = [base + ".keys"] }
        var judge = SessionJudge(policy: policy, options: JudgeOptions())
        _ = try TraceReader.read(path: recording.path, options: options) { judge.receive($0) }
        var table = CorpusTable()
        for rule in judge.finish().rules where Self.rules.contains(rule.id) {
            table.add(
                rule: rule.id, verdict: rule.verdict.rawValue, reason: rule.reason?.code ?? "", sentence: rule.sentence,
                of: story, over: transport)
        }
        for miss in table.misses { Issue.record("\(miss.rule): \(miss.reason)") }
        #expect(table.unlabelled.isEmpty)
    }
}
