import Foundation
import SessionTrace
import Testing

@testable import CommandLine

/// Files whose names are not UTF-8 are read like any other, and no other file is taken for them.
@Suite struct FileNameArgumentTests {
    /// A folder with a recording and its marks under a name that is not UTF-8, and a decoy under the repaired one.
    private static func folder() throws -> (scratch: Scratch, trace: String) {
        let scratch = try Scratch()
        let trace = "\(scratch.folder.path)/\(FileName.text([0x61, 0xFF])).pcapng"
        _ = try scratch.file("handoff.yml", "version: 1\nhosts:\n  partner: [api.partner.example]\n")
        _ = try scratch.file("a\u{FFFD}.pcapng", "decoy")
        let recording = try FileSystem.withMapped(
            Places.recordings.appending(path: "conforming-share.pcapng").path
        ) { Array($0) }
        try FileSystem.write(recording, to: trace)
        return (scratch, trace)
    }

    @Test func itIsReadByEveryCommand() throws {
        let (scratch, trace) = try Self.folder()
        defer { scratch.remove() }
        let shown = "\(scratch.folder.path)/a‹FF›.pcapng"
        let report = "\(scratch.folder.path)/\(FileName.text([0xFE])).json"
        let run = CommandRun(["check", trace, "--report", "json=\(report)"])
        #expect(run.status == .conforming && run.talk.isEmpty, "\(run.talk)")
        #expect(run.result.contains("\(shown)  PASS"))
        let text = try FileSystem.withMapped(report) { String(decoding: $0, as: UTF8.self) }
        #expect(text.contains("\"path\": \"\(shown)\"") && text.contains("\"sha256\": "))
        #expect(CommandRun(["show", trace, "--facts"]).status == .conforming)
        #expect(CommandRun(["policy", "init", "--from", trace]).result.contains("api.partner.example"))
        // A folder with both: the decoy is told, and is another file.
        let both = CommandRun(["check", scratch.folder.path])
        #expect(both.status == .unreadable && both.result.contains("\(shown)  PASS"))
        #expect(both.result.contains("a\u{FFFD}.pcapng  NOT READ"))
    }

    @Test func whatIsNotThereIsOneClearLine() throws {
        let run = CommandRun(["check", "/none/\(FileName.text([0xFF])).pcapng"])
        #expect(run.status == .unreadable)
        #expect(run.talk == "handoff: /none/‹FF›.pcapng: No such file or directory\n")
    }

    /// Commands that hand their words on as text say so instead of making another file.
    @Test(arguments: [
        ["record", "--out"], ["ca", "show", "--ca-dir"], ["mark", "tap", "--control"], ["rules"],
    ])
    func othersRefuseIt(words: [String]) {
        let run = CommandRun(words + ["\(FileName.text([0xFF])).x"])
        #expect(run.status == .usage)
        #expect(run.talk.hasPrefix("handoff: ‹FF›.x is not UTF-8; give another name;"), "\(run.talk)")
    }

    /// The words of a process are bytes until here.
    @Test(.enabled(if: ToolRun.handoff != nil, "the program was not built"))
    func itReachesTheProgram() throws {
        let (scratch, _) = try Self.folder()
        defer { scratch.remove() }
        let run = try ToolRun(
            "/bin/sh",
            [
                "-c", #"exec "$0" check "$1/a$(printf '\377').pcapng""#, try #require(ToolRun.handoff),
                scratch.folder.path,
            ], environment: ["XDG_DATA_HOME": scratch.path("data")])
        #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
        #expect(run.output.contains("a‹FF›.pcapng  PASS"))
    }
}
