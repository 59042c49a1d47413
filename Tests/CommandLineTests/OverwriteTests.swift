import Foundation
import Testing

@testable import CommandLine

/// No output of a run replaces a file that it reads, whatever that is called and however it was found.
@Suite struct OverwriteTests {
    /// A folder with a trace and everything that may lie beside one.
    private struct Bench {
        let scratch: Scratch
        static let texts = [
            "handoff.yml": "version: 1\nhosts:\n  partner: [api.partner.example]\n",
            "s.keylog": "# no key\n", "s.pcapng.keys": "# no key\n", "s.marks.jsonl": "\n", "s.actors.jsonl": "\n",
            "other.keys": "# no key\n",
        ]

        init() throws {
            scratch = try Scratch()
            for (name, text) in Self.texts { _ = try scratch.file(name, text) }
            try FileManager.default.copyItem(
                atPath: Places.recordings.appending(path: "no-marks.pcapng").path, toPath: trace)
        }

        var trace: String { scratch.path("s.pcapng") }

        func isWhole() throws -> Bool {
            try Self.texts.allSatisfy { try String(contentsOfFile: scratch.path($0), encoding: .utf8) == $1 }
                && FileManager.default.contentsEqual(
                    atPath: trace, andPath: Places.recordings.appending(path: "no-marks.pcapng").path)
        }
    }

    @Test(arguments: [
        ("handoff.yml", "the policy"), ("s.keylog", "read with a trace"), ("s.pcapng.keys", "read with a trace"),
        ("s.marks.jsonl", "read with a trace"), ("s.actors.jsonl", "read with a trace"),
        ("other.keys", "read with a trace"), ("s.pcapng", "a trace that is read"),
    ])
    func whatIsReadStays(name: String, owner: String) throws {
        let bench = try Bench()
        defer { bench.scratch.remove() }
        let path = bench.scratch.path(name)
        let (link, hardLink) = (bench.scratch.path("link"), bench.scratch.path("hard"))
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: name)
        try FileManager.default.linkItem(atPath: path, toPath: hardLink)
        for report in [path, link, hardLink, "\(bench.scratch.folder.path)/./\(name)"] {
            let run = CommandRun([
                "check", bench.trace, "--keylog", bench.scratch.path("other.keys"), "--report", "json=\(report)",
            ])
            #expect(run.status == .usage)
            #expect(run.talk.hasPrefix("handoff: the json report would overwrite \(report), which is \(owner);"))
            #expect(run.talk.split(separator: "\n").count == 1 && run.result.isEmpty)
        }
        #expect(try bench.isWhole())
    }

    @Test func theKeyOfTheDigestsStays() throws {
        let bench = try Bench()
        defer { bench.scratch.remove() }
        let environment = ["XDG_DATA_HOME": bench.scratch.folder.path]
        #expect(CommandRun(["check", bench.trace], environment: environment).status != .usage)
        let key = bench.scratch.path("handoff/installation-key")
        let before = try Data(contentsOf: URL(filePath: key))
        let run = CommandRun(["check", bench.trace, "--report", "json=\(key)"], environment: environment)
        #expect(run.status == .usage && run.talk.contains("would overwrite"))
        #expect(try Data(contentsOf: URL(filePath: key)) == before)
    }

    /// Two reports in one place, be it by a link that leads nowhere yet; a device holds nothing.
    @Test func reportsKeepApart() throws {
        let bench = try Bench()
        defer { bench.scratch.remove() }
        let (link, target) = (bench.scratch.path("later.json"), bench.scratch.path("r.json"))
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "r.json")
        for (one, other) in [(target, target), (link, target), (target, link)] {
            let run = CommandRun(["check", bench.trace, "--report", "json=\(one)", "--report", "junit=\(other)"])
            #expect(run.status == .usage)
            #expect(run.talk.contains("the junit report would overwrite \(other), which is the json report"))
        }
        #expect(!FileManager.default.fileExists(atPath: target))
        let run = CommandRun(["check", bench.trace, "--report=json=/dev/null", "--report=junit=/dev/null"])
        #expect(run.status != .usage && run.talk.isEmpty)
    }

    /// What the next run would read beside its trace, or as its policy, is no name for a report.
    @Test(arguments: ["b.marks.jsonl", "b.actors.jsonl", "b.pcapng.keys", "b.keylog", "handoff.yml"])
    func noReportTakesTheNameOfACompanion(name: String) throws {
        let bench = try Bench()
        defer { bench.scratch.remove() }
        try FileManager.default.createDirectory(
            atPath: bench.scratch.path("out"), withIntermediateDirectories: false)
        let path = bench.scratch.path("out/\(name)")
        for words in [["check", bench.trace], ["record", "--out", bench.scratch.path("new"), "--for=1s"]] {
            let run = CommandRun(words + ["--report", "json=\(path)"])
            #expect(run.status == .usage && run.talk.split(separator: "\n").count == 1)
            #expect(run.talk.contains("\(path)") && run.talk.contains("would be read"), "\(run.talk)")
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test(.enabled(if: ToolRun.handoff != nil, "the program was not built"))
    func whatStandardInputReadsStays() throws {
        let bench = try Bench()
        defer { bench.scratch.remove() }
        let run = try ToolRun(
            try #require(ToolRun.handoff), ["check", "-", "--report", "json=\(bench.trace)"],
            environment: ["XDG_DATA_HOME": bench.scratch.path("data")], input: bench.trace)
        #expect(run.status == 2 && run.errors.contains("which is standard input"))
        #expect(try bench.isWhole())
    }

    @Test func theKeyLogOfTheEnvironmentReplacesNothing() throws {
        let bench = try Bench()
        defer { bench.scratch.remove() }
        let run = CommandRun(
            ["record", "--out", bench.scratch.path("new"), "--control=none", "--marks=none", "--for=1s"],
            environment: [
                "SSLKEYLOGFILE": bench.scratch.path("handoff.yml"), "XDG_DATA_HOME": bench.scratch.path("data"),
            ])
        #expect(run.status == .usage && run.talk.contains("the key log of SSLKEYLOGFILE would overwrite"))
        #expect(try bench.isWhole())
    }

    /// What a recording reads and writes: refused before anything is served.
    @Test(arguments: [
        (["--policy", "handoff.yml", "--report", "json=handoff.yml"], "the policy"),
        (["--report", "json=handoff.yml"], "the policy"),
        (["--actors", "s.actors.jsonl", "--report", "junit=s.actors.jsonl"], "process evidence"),
        (["--actors", "s.actors.jsonl", "--keylog-upstream", "s.actors.jsonl"], "process evidence"),
        (["--upstream-ca", "other.keys", "--report", "json=other.keys"], "--upstream-ca"),
        (["--client-cert", "a.example=other.keys", "--report", "json=other.keys"], "--client-cert"),
        (["--keylog-upstream", "up.log", "--report", "json=up.log"], "the key log of origins"),
        (["--report", "json=new.pcapng"], "the recording"),
        (["--keylog-upstream", "new.pcapng"], "the recording"),
        (["--report", "json=a", "--report", "junit=a"], "the json report"),
        (["--report", "json=new.marks.jsonl"], "read with the recording"),
    ])
    func aRecordingReplacesNothing(words: [String], owner: String) throws {
        let bench = try Bench()
        defer { bench.scratch.remove() }
        _ = try bench.scratch.file("new.marks.jsonl", "\n")
        let folder = bench.scratch.folder.path
        let placed = words.map { word in
            let parts = word.split(separator: "=", maxSplits: 1)
            if word.hasPrefix("--") { return word }
            return parts.count == 2 ? "\(parts[0])=\(folder)/\(parts[1])" : "\(folder)/\(word)"
        }
        let run = CommandRun(
            ["record", "--out", "\(folder)/new", "--control=none", "--marks=none", "--for=1s"] + placed)
        #expect(run.status == .usage)
        #expect(run.talk.contains("would overwrite") && run.talk.contains(owner), "\(run.talk)")
        #expect(run.talk.split(separator: "\n").count == 1)
        #expect(try bench.isWhole())
        #expect(!FileManager.default.fileExists(atPath: "\(folder)/new.pcapng"))
    }
}
