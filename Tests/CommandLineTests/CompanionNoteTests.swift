import CaptureAnalyzer
import Foundation
import SessionTrace
import Testing

@testable import CommandLine

/// What is said of files beside a trace: everything that needs a look, and each thing once.
@Suite struct CompanionNoteTests {
    private static func folder() throws -> (scratch: Scratch, trace: String) {
        let scratch = try Scratch()
        let trace = scratch.path("s.pcapng")
        try FileManager.default.copyItem(
            atPath: Places.recordings.appending(path: "no-marks.pcapng").path, toPath: trace)
        return (scratch, trace)
    }

    @Test func aKeyLogWithoutAKeyIsTold() throws {
        let (scratch, trace) = try Self.folder()
        defer { scratch.remove() }
        let binary = Data((0..<5_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 3) })
        for content in [binary, Data(), Data("\n\n\r\n# only a comment\n".utf8), Data("LABEL x\n\nFOO 1 2\n".utf8)] {
            try content.write(to: URL(filePath: scratch.path("k")))
            let run = CommandRun(["check", trace, "--keylog", scratch.path("k")])
            #expect(run.result.contains("k holds no key: give an NSS key log"), "\(content.count) bytes")
        }
        let random = String(repeating: "ab", count: 32)
        for key in ["CLIENT_RANDOM \(random) \(String(repeating: "cd", count: 48))", "EXPORTER_SECRET \(random) 00"] {
            _ = try scratch.file("k", "\n\(key)\n")
            #expect(!CommandRun(["check", trace, "--keylog", scratch.path("k")]).result.contains("holds no key"))
        }
    }

    /// Who names a file expects something of it.
    @Test(arguments: [
        ("--marks", "mark", #"{"kind":"note","at":"2026-11-30T01:53:09Z"}"#), ("--actors", "process evidence", ""),
    ])
    func aNamedFileThatHoldsNothingIsTold(option: String, what: String, line: String) throws {
        let (scratch, trace) = try Self.folder()
        defer { scratch.remove() }
        let socket = #"{"kind":"socket","at":"2026-11-30T01:50:34Z","local":"10.77.0.2:1","process":"a"}"#
        let start = #"{"kind":"activity","at":"2026-11-30T01:50:34Z","component":"a/b"}"#
        let listener = #"{"kind":"listener","port":1,"actor":"app"}"#
        for (content, isTold) in [("", true), ("\n\n", true)]
            + (option == "--marks" ? [line] : [socket, start, listener]).map({ ($0, false) })
        {
            let run = CommandRun(["check", trace, option, try scratch.file("n", content)])
            #expect((run.talk + run.result).contains("n holds no \(what)") == isTold, "\(content)")
        }
    }

    /// What is found and can't be read is not passed over: it was to count. A pipe is not waited for.
    @Test(arguments: ["s.marks.jsonl", "s.keylog", "s.keys", "s.actors.jsonl", "handoff.yml"])
    func whatIsFoundAndNoFileIsToldOf(name: String) throws {
        let (scratch, trace) = try Self.folder()
        defer { scratch.remove() }
        let path = scratch.path(name)
        let isPolicy = name == "handoff.yml"
        symlink("gone", path)
        let link = CommandRun(["check", trace])
        #expect(link.status == (isPolicy ? .usage : .unreadable) && link.talk.contains("\(name): is "), "\(link.talk)")
        unlink(path)
        #expect(mkfifo(path, 0o600) == 0)
        let pipe = CommandRun(["check", trace])
        #expect(pipe.status == (isPolicy ? .usage : .unreadable) && pipe.talk.contains("\(name): is "), "\(pipe.talk)")
        unlink(path)
        #expect(CommandRun(["check", trace]).status != .unreadable)
    }

    /// A link to /dev/null says "none", and a folder of that name is somebody's folder.
    @Test(arguments: ["s.marks.jsonl", "s.keylog", "s.keys", "s.actors.jsonl", "handoff.yml"])
    func whatIsFoundAndEmptyOrAFolderIsNoError(name: String) throws {
        let (scratch, trace) = try Self.folder()
        defer { scratch.remove() }
        let plain = CommandRun(["check", trace])
        symlink("/dev/null", scratch.path(name))
        let none = CommandRun(["check", trace])
        #expect(none.status == plain.status && none.talk.isEmpty, "\(none.talk)")
        unlink(scratch.path(name))
        try FileManager.default.createDirectory(atPath: scratch.path(name), withIntermediateDirectories: false)
        let folder = CommandRun(["check", trace])
        #expect(folder.status == plain.status, "\(folder.talk)")
        #expect(
            (folder.talk + folder.result).contains("\(name) is a folder, and not read"),
            "\(folder.talk)\(folder.result)")
        // A device that never ends is waited for no more than a pipe.
        rmdir(scratch.path(name))
        symlink("/dev/zero", scratch.path(name))
        #expect([.usage, .unreadable].contains(CommandRun(["check", trace]).status))
    }

    /// The same marks, found and named by other paths, are no second taps.
    @Test func aFileThatIsNamedAndFoundIsReadOnce() throws {
        let (scratch, trace) = try Self.folder()
        defer { scratch.remove() }
        let mark = #"{"kind":"tap","target":"share","at":"2026-11-30T01:53:09.000Z","colour":"red"}"#
        let side = try scratch.file("s.marks.jsonl", mark + "\n")
        let link = scratch.path("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: side)
        for words in [
            [], ["--marks", side], ["--marks", link],
            ["--marks", "\(scratch.folder.path)/../\(scratch.folder.lastPathComponent)/s.marks.jsonl"],
        ] {
            let run = CommandRun(["show", trace, "--json"] + words)
            #expect(run.result.ranges(of: #""kind":"tap""#).count == 1, "\(words)")
            // What was not understood of it is told once, with its place.
            let told = run.talk.split(separator: "\n").filter { $0.contains("colour") }
            #expect(told.count == 1 && told.first?.contains(":1: ") == true, "\(told)")
        }
    }

    /// A program that reads the events must not take a part for the whole.
    @Test(arguments: ["--json", "--facts"])
    func aCutFileIsToldBesideTheResult(option: String) throws {
        let (scratch, trace) = try Self.folder()
        defer { scratch.remove() }
        let whole = try Data(contentsOf: URL(filePath: trace))
        try whole.prefix(whole.count - 7).write(to: URL(filePath: trace))
        let run = CommandRun(["show", trace, option])
        #expect(run.status == .unreadable && !run.result.isEmpty)
        #expect(run.talk.hasPrefix("handoff: \(trace): ") && run.talk.contains("ends inside"), "\(run.talk)")
    }
}
