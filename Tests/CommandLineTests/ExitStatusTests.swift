import Foundation
import Reports
import Testing

@testable import CommandLine

/// Each exit status by a real run of the program, and the worst of several.
@Suite(.enabled(if: ToolRun.handoff != nil, "the program was not built"))
struct ExitStatusTests {
    static func run(
        _ words: [String], environment: [String: String] = [:], input: String? = nil,
        output: ToolRun.StandardOutput = .file
    ) throws -> ToolRun {
        let home = FileManager.default.temporaryDirectory
            .appending(path: "handoff-tests-\(ProcessInfo.processInfo.processIdentifier)").path
        return try ToolRun(
            try #require(ToolRun.handoff),
            words.map { $0.hasSuffix(".pcapng") ? Places.recordings.appending(path: $0).path : $0 },
            environment: ["XDG_DATA_HOME": home].merging(environment) { $1 }, input: input, standardOutput: output)
    }

    @Test(
        arguments: [
            (["check", "conforming-share.pcapng"], 0),
            (["check", "url-in-app-referer.pcapng"], 1),
            (["check", "--nonsense"], 2),
            (["check", "no-such.pcapng"], 3),
            (["check", "no-keys.pcapng"], 4),
            (["check", "--inconclusive=warn", "no-keys.pcapng"], 0),
            // The worst: 2 before 1 before 3 before 4 before 0.
            (["check", "conforming-share.pcapng", "no-keys.pcapng"], 4),
            (["check", "no-keys.pcapng", "no-such.pcapng", "conforming-share.pcapng"], 3),
            (["check", "no-such.pcapng", "url-in-app-referer.pcapng", "no-keys.pcapng"], 1),
            (["check", "url-in-app-referer.pcapng", "--report", "json=/no/such/place"], 2),
        ] as [([String], Int32)])
    func status(words: [String], status: Int32) throws {
        let run = try Self.run(words)
        #expect(run.status == status)
        // Nothing is said on standard error but what could not be done.
        #expect(run.errors.isEmpty == (status != 2 && !words.contains("no-such.pcapng")))
    }

    @Test func aReportReplacesNothingThatIsRead() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "handoff-overwrite-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let trace = folder.appending(path: "t.pcapng")
        try FileManager.default.copyItem(at: Places.recordings.appending(path: "no-marks.pcapng"), to: trace)
        let before = try Data(contentsOf: trace)
        for words in [["json=\(trace.path)"], ["json=\(folder.path)/r", "--report", "junit=\(folder.path)/r"]] {
            let run = CommandRun(["check", trace.path, "--report"] + words)
            #expect(run.status == .usage)
            #expect(run.talk.contains("would overwrite"))
        }
        #expect(try Data(contentsOf: trace) == before)
    }

    @Test func foldersAreReadWithoutGoingRound() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "handoff-loop-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.copyItem(
            at: Places.recordings.appending(path: "no-marks.pcapng"), to: folder.appending(path: "t.pcapng"))
        try FileManager.default.createSymbolicLink(
            at: folder.appending(path: "self"), withDestinationURL: folder)
        #expect(mkfifo(folder.appending(path: "pipe.pcap").path, 0o600) == 0)
        #expect(try TraceFiles.expand([folder.path]).count == 1)
    }

    @Test func theWorseOfTwoStatuses() {
        let order: [Status] = [.internalError, .usage, .violation, .unreadable, .inconclusive, .conforming]
        for (place, one) in order.enumerated() {
            for other in order[place...] {
                #expect(one.worse(other) == one && other.worse(one) == one)
            }
        }
    }

    @Test func standardInputIsATrace() throws {
        let trace = Places.recordings.appending(path: "url-in-app-referer.pcapng").path
        let run = try Self.run(["check", "-"], input: trace)
        #expect(run.status == 1 && run.output.hasPrefix("-  FAIL"))
        let empty = try Self.run(["check", "-"])
        #expect(
            empty.status == 3
                && empty.errors
                    == "handoff: standard input: is not a capture file (is empty); give a pcap or pcapng file\n"
        )
    }

    @Test func aReaderThatGoesChangesNothing() throws {
        for output in [ToolRun.StandardOutput.closed, .brokenPipe] {
            #expect(try Self.run(["check", "url-in-app-referer.pcapng"], output: output).status == 1)
            #expect(
                try Self.run(["check", "conforming-share.pcapng", "--report", "json=-"], output: output).status == 0)
            #expect(try Self.run(["show", "--json", "conforming-share.pcapng"], output: output).status == 0)
        }
    }

    @Test func aResultThatCannotBeWrittenIsNoSuccess() throws {
        let full = try Self.run(["check", "conforming-share.pcapng"], output: .full)
        #expect(full.status == 2)
        #expect(
            full.errors.hasSuffix("handoff: standard output: No space left on device; the result is not complete\n"))
        let violation = try Self.run(["check", "url-in-app-referer.pcapng"], output: .full)
        #expect(violation.status == 1, "a violation stays one")
    }

    @Test func aFileGetsPlainText() throws {
        for environment in [[:], ["NO_COLOR": "1"], ["TERM": "xterm-256color"]] {
            let run = try Self.run(["check", "url-in-app-referer.pcapng"], environment: environment)
            #expect(!run.output.contains("\u{1B}") && !run.output.contains("\r") && run.errors.isEmpty)
            #expect(run.output.split(separator: "\n").allSatisfy { $0.count <= 140 })
        }
    }

    @Test func onlyATerminalGetsColours() {
        var console = Console(result: { _ in }, talk: { _ in }, resultIsTerminal: true, width: 80)
        #expect(console.style([:]).usesColour && console.style([:]).width == 80)
        #expect(!console.style(["NO_COLOR": "1"]).usesColour)
        #expect(console.style(["NO_COLOR": ""]).usesColour)
        #expect(!console.style(["TERM": "dumb"]).usesColour)
        console.resultIsTerminal = false
        #expect(!console.style([:]).usesColour && console.style([:]).width == 110)
    }
}
