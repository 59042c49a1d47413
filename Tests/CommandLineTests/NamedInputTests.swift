import Foundation
import SessionTrace
import Testing

@testable import CommandLine

/// What is named can be a pipe, which gives its content once: `--keylog <(…)`. Each such input is read one time.
@Suite struct NamedInputTests {
    private static let trace = Places.recordings.appending(path: "no-marks.pcapng").path
    private static let tap = #"{"kind":"tap","target":"share","at":"2026-11-30T01:53:09.000Z"}"#

    /// A pipe that holds `bytes` and ends there, as the shell's `<(…)` gives it; `body` gets its name.
    private static func withPipe(_ bytes: [UInt8], _ body: (String) throws -> Void) throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        defer { close(ends[0]) }
        // F_SETPIPE_SZ: all of it has to fit, since nobody writes while the command reads.
        _ = fcntl(ends[1], 1031, Int32(1 << 20))
        let written = bytes.withUnsafeBytes { write(ends[1], $0.baseAddress, $0.count) }
        close(ends[1])
        try #require(written == bytes.count)
        try body("/dev/fd/\(ends[0])")
    }

    @Test func marksCountForEveryTrace() throws {
        try Self.withPipe(Array(Self.tap.utf8)) { marks in
            let run = CommandRun(["show", "--json", "--marks", marks, Self.trace])
            #expect(run.status == .conforming, "\(run.talk)")
            #expect(run.result.ranges(of: #""kind":"tap""#).count == 1)
        }
        let scratch = try Scratch()
        defer { scratch.remove() }
        for name in ["a", "b"] {
            try FileManager.default.copyItem(atPath: Self.trace, toPath: scratch.path("\(name).pcapng"))
        }
        let file = try scratch.file("taps", Self.tap)
        let named = CommandRun(["check", "--marks", file, scratch.folder.path])
        try Self.withPipe(Array(Self.tap.utf8)) { marks in
            let run = CommandRun(["check", "--marks", marks, scratch.folder.path])
            #expect(run.status == named.status && run.result == named.result, "\(run.result)")
        }
    }

    @Test func aKeyLogKeepsItsKeys() throws {
        let random = String(repeating: "ab", count: 32)
        let key = "CLIENT_RANDOM \(random) \(String(repeating: "cd", count: 48))\n"
        for words in [["check"], ["show"], ["show", "--rule", "HC-01"], ["show", "--json"], ["show", "--facts"]] {
            try Self.withPipe(Array(key.utf8)) { log in
                let run = CommandRun(words + ["--keylog", log, Self.trace])
                #expect(run.status != .unreadable && run.status != .usage, "\(run.talk)")
                #expect(!(run.result + run.talk).contains("holds no key"), "\(words)")
            }
        }
    }

    @Test func processEvidenceCounts() throws {
        let socket =
            #"{"kind":"socket","at":"2026-11-30T01:50:34Z","local":"10.77.0.2:57128","remote":"10.77.0.20:443","process":"com.apple.WebKit.Networking","effective":"MobileSafari","source":"pcapd"}"#
        try Self.withPipe(Array(socket.utf8)) { actors in
            let run = CommandRun([
                "show", "--json", "--actors", actors,
                Places.recordings.appending(path: "conforming-share.pcapng").path,
            ])
            #expect(run.result.contains("MobileSafari"))
        }
    }

    @Test func aPolicyIsReadOnce() throws {
        try Self.withPipe(Array("version: 1\ngate: full\n".utf8)) { policy in
            let run = CommandRun(["check", "--policy", policy, Self.trace, Self.trace])
            #expect(run.status != .usage, "\(run.talk)")
        }
        // What can't be written back is no place for an exception.
        try Self.withPipe(Array("version: 1\n".utf8)) { policy in
            let run = CommandRun(
                ["except", "add", "3fd1", "--rule", "HR-46", "--policy", policy, "--expires"]
                    + [ExceptCommandTests.day(in: 30)] + ExceptCommandTests.why)
            #expect(run.status == .usage && run.talk.contains("is no file"), "\(run.talk)")
        }
    }

    /// A report says of a file what its digest is; of a pipe nobody can know it.
    @Test func aTraceFromAPipeHasNoDigest() throws {
        let bytes = try [UInt8](Data(contentsOf: URL(filePath: Self.trace)))
        try Self.withPipe(bytes) { trace in
            let run = CommandRun(["check", "--report", "json=-", trace])
            let first = try JSONValue.parse(run.result)["traces"]?.elements?.first
            #expect(first?["error"] == nil && first?["rules"]?.elements?.isEmpty == false)
            #expect(first?["sha256"] == nil)
        }
    }

    @Test(arguments: [["-", "--keylog", "-"], ["no.pcap", "--keylog", "-", "--marks", "-"]])
    func standardInputIsReadOnce(words: [String]) {
        let run = CommandRun(["check"] + words)
        #expect(run.status == .usage && run.talk.contains("standard input can be read only once"), "\(run.talk)")
        let shown = CommandRun(["show"] + words)
        #expect(shown.status == .usage && shown.talk.contains("standard input can be read only once"))
    }
}
