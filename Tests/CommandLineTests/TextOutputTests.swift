import Foundation
import Testing

@testable import CommandLine

/// What `check` prints for people, against golden files: one violation, one trace that stays open.
///
/// `HANDOFF_WRITE_GOLDEN=1` writes them anew; read the difference before it is committed.
@Suite struct TextOutputTests {
    /// The recordings themselves, without those of the corpus below them.
    static let recordings: [String] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: Places.recordings.path)) ?? []
        return names.filter { $0.hasSuffix(".pcapng") }.sorted().map { Places.recordings.appending(path: $0).path }
    }()

    static let golden = Places.root.appending(path: "Tests/CommandLineTests/Golden")

    @Test(arguments: ["url-in-crash-report", "no-keys"])
    func isStable(name: String) throws {
        let path = Places.recordings.appending(path: "\(name).pcapng").path
        let run = CommandRun(["check", path])
        // Of the policy's path, too.
        let text = run.result.replacing(Places.root.path + "/", with: "")
        let file = Self.golden.appending(path: "\(name).txt")
        if ProcessInfo.processInfo.environment["HANDOFF_WRITE_GOLDEN"] == "1" {
            try FileManager.default.createDirectory(at: Self.golden, withIntermediateDirectories: true)
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        #expect(try text == String(contentsOf: file, encoding: .utf8))
        #expect(run.talk.isEmpty)
    }

    /// A width is kept but for words that are longer; what is beyond it would be wrapped by the terminal.
    @Test(arguments: [80, 100, 160])
    func keepsItsWidth(columns: Int) {
        let lines = Self.onTerminal(["check"] + Self.recordings, columns: columns).split(separator: "\n")
        let long = lines.filter { line in
            line.count > columns && line.split(separator: " ").allSatisfy { $0.count < columns / 4 }
                && !line.contains(Places.recordings.path)
        }
        #expect(long.isEmpty, "\(long.prefix(3))")
        #expect(lines.count > 100)
    }

    /// What a terminal of so many columns shows, without its colours.
    static func onTerminal(_ words: [String], columns: Int) -> String {
        CommandRun(words, columns: columns).result.replacing(/\u{1B}\[[0-9;]*m/, with: "")
    }

    @Test func saysNothingTwice() throws {
        let path = Places.recordings.appending(path: "url-in-crash-report.pcapng").path
        let text = CommandRun(["check", path]).result
        // HR-46 and HR-47 find the same leak; it is told once, and referred to.
        #expect(text.ranges(of: "was sent to o4507.ingest.sentry.io").count == 1)
        #expect(text.contains("as HR-46: the same finding"))
        // An assumption that several rules share is told once.
        #expect(text.ranges(of: "[browser-by-headers]").count == 1)
        let open = CommandRun(["check", Places.recordings.appending(path: "no-keys.pcapng").path]).result
        let row = try #require(open.split(separator: "\n").first { $0.hasPrefix("  HR-07") })
        #expect(row.contains("as HR-02  [no-keys]"))
    }

    @Test func isTheSameOnEveryRun() {
        let one = CommandRun(["check"] + Self.recordings).result
        #expect(one == CommandRun(["check"] + Self.recordings).result)
    }

    /// The last line says why the run ends as it does: a warning does not decide that without --strict.
    @Test func theLastLineNamesWhatDecides() {
        let files = ["url-in-app-referer", "status-polling"].map {
            Places.recordings.appending(path: "\($0).pcapng").path
        }
        func last(_ words: [String]) -> String {
            CommandRun(["check"] + words + files).result.split(separator: "\n").last.map(String.init) ?? ""
        }
        #expect(last([]) == "FAIL: 2 of 2 traces: violated HR-47, HR-59")
        #expect(!last([]).contains("HR-44"), "\(last([]))")
        #expect(last(["--strict"]).contains("HR-44"), "\(last(["--strict"]))")
    }
}
