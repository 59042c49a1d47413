import Foundation
import Testing

@testable import CommandLine

/// Every slip on the command line is one clear line on standard error and its exit status; results go to standard output.
@Suite struct CommandLineErrorTests {
    static let share = Places.recordings.appending(path: "conforming-share.pcapng").path

    struct Slip: Sendable, CustomTestStringConvertible {
        var words: [String]
        var says: String
        var status: Status = .usage
        var testDescription: String { words.joined(separator: " ") }
    }

    static let slips: [Slip] = [
        Slip(words: ["chek", share], says: "unknown command chek (did you mean check?); see handoff --help"),
        Slip(words: ["--versoin"], says: "unknown option --versoin (did you mean --version?)"),
        Slip(words: ["policy"], says: "policy needs a word more: policy init or policy check"),
        Slip(
            words: ["policy", "chek"],
            says: "unknown command policy chek (did you mean policy check?); there is policy init or policy check"),
        Slip(
            words: ["policy", "suggest"], says: "unknown command policy suggest; there is policy init or policy check"),
        Slip(words: ["except", "rm", "3fd1"], says: "unknown command except rm; there is except add"),
        Slip(words: ["ca", "sho"], says: "unknown command ca sho (did you mean ca show?)"),
        Slip(words: ["help", "chek"], says: "unknown command chek (did you mean check?)"),
        Slip(words: ["check", "--polcy", "x", share], says: "unknown option --polcy (did you mean --policy?)"),
        Slip(words: ["check", "-x", share], says: "unknown option -x"),
        Slip(words: ["check"], says: "check needs TRACE…; see handoff check --help"),
        Slip(words: ["show"], says: "show needs TRACE"),
        Slip(words: ["check", share, "--policy"], says: "option --policy needs a value (FILE)"),
        Slip(words: ["check", "--strict", "--strict", share], says: "option --strict is given twice"),
        Slip(words: ["check", "--policy=a", "--policy", "b", share], says: "option --policy is given twice"),
        Slip(words: ["check", "--strict=yes", share], says: "option --strict takes no value"),
        Slip(
            words: ["check", "--profile", "ful", share],
            says: "--profile takes headline or full, not ful (did you mean full?)"),
        Slip(words: ["check", "--inconclusive=maybe", share], says: "--inconclusive takes fail or warn, not maybe;"),
        Slip(words: ["check", "--report", "jsn=x", share], says: "did you mean json=PATH?"),
        Slip(words: ["check", "--report", "json", share], says: "--report takes FORMAT=PATH"),
        Slip(words: ["check", "--report", "json=", share], says: "--report takes FORMAT=PATH"),
        Slip(
            words: ["check", "--report", "json=-", "--report", "junit=-", share],
            says: "only one report can go to standard output"),
        Slip(words: ["check", "-", "-"], says: "standard input can be read only once"),
        Slip(
            words: ["check", "--filter", "tcp prt 3", share],
            says: "filter 'tcp prt 3': 'prt' is no word of pcap-filter(7) and no address, and names are not looked up;"),
        Slip(
            words: ["check", "--filter", "tcp port", share], says: "filter 'tcp port': can't parse filter expression"),
        Slip(words: ["check", ""], says: "an operand is empty; give TRACE…"),
        Slip(words: ["check", "--policy", "", share], says: "--policy is empty; leave it out, or give it a name"),
        Slip(words: ["check", "--keylog=", share], says: "--keylog is empty"),
        Slip(words: ["except", "add", "3fd1", "--from", ""], says: "--from is empty"),
        Slip(
            words: ["policy", "init", "--marks", "m.jsonl"],
            says: "--marks is for reading a trace; name one with --from"),
        Slip(
            words: ["except", "add", "3fd1", "--rule", "HR-46", "--filter", "tcp"],
            says: "--filter is for reading a trace; name one with --from"),
        Slip(words: ["show", "--filter", "tcp prt 3", share], says: "filter 'tcp prt 3'"),
        Slip(words: ["show", share, "more"], says: "unexpected operand more"),
        Slip(words: ["show", "--json", "--facts", share], says: "--rule, --json and --facts exclude each other"),
        Slip(words: ["show", "--rule", "HR-4x", share], says: "no rule HR-4x (did you mean HR-"),
        Slip(words: ["show", Places.recordings.path], says: "is a folder, and show takes one capture"),
        Slip(words: ["rules", "HR-99"], says: "no rule HR-99"),
        Slip(words: ["check", "--policy", "/no/such.yml", share], says: "/no/such.yml: No such file or directory"),
        Slip(words: ["policy", "check", "/no/such.yml"], says: "/no/such.yml: No such file or directory"),
        Slip(
            words: ["check", "/no/such.pcap"], says: "/no/such.pcap: No such file or directory", status: .unreadable),
        Slip(words: ["show", "/no/such.pcap"], says: "/no/such.pcap: No such file or directory", status: .unreadable),
        Slip(
            words: ["check", "--keylog", "/no/such.keys", share, share],
            says: "/no/such.keys: No such file or directory; give a readable file", status: .unreadable),
        Slip(
            words: ["check", "--marks=/no/such.jsonl", share], says: "/no/such.jsonl: No such file or directory",
            status: .unreadable),
        Slip(
            words: ["policy", "check", "/dev/zero"],
            says: "/dev/zero: is larger than 1 MiB, the most that a policy may have; name a handoff.yml"),
        Slip(words: ["check", "--policy", "/dev/zero", share], says: "/dev/zero: is larger than 1 MiB"),
        Slip(
            words: ["except", "add", "3fd1", "--policy", "/dev/zero", "--rule", "HR-46"],
            says: "/dev/zero: is no file that an exception can be written into"),
        Slip(
            words: ["mark", "import", "/dev/zero", "--format", "logcat"],
            says: "/dev/zero: is larger than 128 MiB, the most that a log may have; cut out the lines of the test run",
            status: .unreadable),
        Slip(
            words: ["mark", "import", share, "--format", "logcat", "--probes", "/dev/zero"],
            says: "/dev/zero: is larger than 16 MiB, the most that a file of probes may have", status: .unreadable),
        Slip(
            words: ["check", "--marks", "/dev/zero", share],
            says: "/dev/zero: is larger than 64 MiB, the most that a file of marks may have", status: .unreadable),
        Slip(
            words: ["check", "--actors", "/dev/zero", share],
            says: "/dev/zero: is larger than 128 MiB, the most that a file of process evidence may have",
            status: .unreadable),
        Slip(
            words: ["check", "--keylog", "/dev/zero", share],
            says: "/dev/zero: is larger than 256 MiB, the most that a key log may have", status: .unreadable),
        Slip(
            words: ["policy", "init", "--from", "/no/such.pcap"], says: "/no/such.pcap: No such file or directory",
            status: .unreadable),
    ]

    @Test(arguments: slips)
    func isOneClearLine(slip: Slip) {
        let run = CommandRun(slip.words)
        #expect(run.status == slip.status)
        #expect(run.talk.contains(slip.says), "\(run.talk)")
        #expect(run.talk.hasPrefix("handoff: "))
        #expect(run.talk.split(separator: "\n").count == 1, "\(run.talk)")
        if slip.status == .usage { #expect(run.result.isEmpty) }
    }

    @Test func withoutWordsItTellsHowToBegin() {
        let run = CommandRun([])
        #expect(run.status == .usage && run.result.isEmpty && run.talk.hasPrefix("usage: handoff COMMAND"))
    }

    @Test(arguments: ["check", "show", "rules", "policy init", "policy check", "policy", "except add", "mark"])
    func helpIsAResult(command: String) {
        for flag in ["--help", "-h"] {
            let run = CommandRun(command.split(separator: " ").map(String.init) + [flag])
            #expect(run.status == .conforming && run.talk.isEmpty)
            #expect(run.result.contains("usage: handoff \(command)"))
            #expect(run.result.split(separator: "\n").allSatisfy { $0.count <= 132 })
        }
        // As people also ask for it.
        let words = command.split(separator: " ").map(String.init)
        for asked in [words + ["help"], ["help"] + words] {
            let run = CommandRun(asked)
            #expect(run.status == .conforming && run.talk.isEmpty, "\(asked): \(run.talk)")
            #expect(run.result == CommandRun(words + ["--help"]).result)
        }
        #expect(CommandRun(["--help"]).result.contains(command))
    }

    @Test func helpNamesEveryOption() {
        for syntax in [CheckCommand.syntax, ShowCommand.syntax, PolicyInitCommand.syntax] {
            for option in syntax.options { #expect(syntax.help.contains("--\(option.name)") && !option.help.isEmpty) }
        }
    }

    @Test func versionIsAResult() {
        let run = CommandRun(["--version"])
        #expect(run.status == .conforming && run.result == "handoff \(handoffVersion)\n" && run.talk.isEmpty)
    }

    @Test func optionsEndAtTwoDashes() throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        try FileManager.default.copyItem(atPath: Self.share, toPath: scratch.path("--strict"))
        let run = CommandRun(["check", "--policy=\(Places.recordings.path)/handoff.yml", "--", "--strict"])
        // Taken for a path, which lies in no folder that the test runs in.
        #expect(run.status == .unreadable)
        #expect(run.talk == "handoff: --strict: No such file or directory\n")
    }

    @Test func optionsAndOperandsMix() {
        let policy = Places.recordings.appending(path: "handoff.yml").path
        let one = CommandRun(["check", Self.share, "--policy", policy, "--profile=headline"])
        let other = CommandRun(["check", "--profile", "headline", "--policy=\(policy)", Self.share])
        #expect(one.status == .conforming && one.result == other.result)
        #expect(!one.result.isEmpty && one.talk.isEmpty)
    }

    // MARK: inputs

    @Test func unreadableInputsAreNamed() throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        let empty = try scratch.file("empty.pcap", "")
        let text = try scratch.file("notes.pcapng", "hello, this is no capture\n")
        try FileManager.default.createDirectory(atPath: scratch.path("none"), withIntermediateDirectories: true)
        for (path, words) in [
            (empty, "is not a capture file (is empty); give a pcap or pcapng file"),
            (text, "is not a capture file (starts with 68 65"),
            (scratch.path("none"), "no capture in this folder"),
        ] {
            let run = CommandRun(["check", path])
            #expect(run.status == .unreadable)
            #expect(run.result.contains("\nUNREADABLE: could not be read\n"))
            #expect(run.talk.hasPrefix("handoff: \(path): \(words)"), "\(run.talk)")
            #expect(run.talk.split(separator: "\n").count == 1)
            #expect(run.result.contains("\(path)  NOT READ\n"))
            // Beside a good one: that is judged all the same, and the worse counts.
            let both = CommandRun(["check", Self.share, path])
            #expect(both.status == .unreadable)
            #expect(both.result.contains("\(Self.share)  PASS"))
            #expect(both.result.contains("1 of 2 traces judged on every gated rule, 1 could not be read"))
        }
    }

    /// A capture that was begun and saw nothing is whole, and no pass.
    @Test func aCaptureWithoutPacketsIsNamed() throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        let path = scratch.path("begun.pcap")
        let header: [UInt8] = [
            0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0, 0, 1, 0, 0, 0,
        ]
        try Data(header).write(to: URL(fileURLWithPath: path))
        let run = CommandRun(["check", path])
        #expect(run.status == .unreadable)
        #expect(run.result.contains("\(path)  WITHOUT PACKETS"))
        #expect(run.result.contains("UNREADABLE: without a packet, which shows nothing"))
        #expect(!run.result.contains("read to the end"))
    }

    @Test(.enabled(if: geteuid() != 0, "a file that root can't read is hard to make"))
    func aFileWithoutPermissionIsNamed() throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        let path = try scratch.file("mine.pcap", "x")
        chmod(path, 0)
        let run = CommandRun(["check", path])
        #expect(run.status == .unreadable && run.talk == "handoff: \(path): Permission denied\n")
    }

    @Test func aFolderStandsForItsCaptures() throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        try FileManager.default.createDirectory(atPath: scratch.path("deeper"), withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: Self.share, toPath: scratch.path("b.pcapng"))
        try FileManager.default.copyItem(atPath: Self.share, toPath: scratch.path("deeper/a.pcapng"))
        _ = try scratch.file("handoff.yml", "version: 1\nhosts:\n  partner: [api.partner.example]\n")
        _ = try scratch.file("notes.txt", "no capture")
        let run = CommandRun(["check", scratch.folder.path])
        #expect(run.status == .conforming)
        let places = ["b.pcapng  PASS", "deeper/a.pcapng  PASS"].compactMap {
            run.result.firstRange(of: $0)?.lowerBound
        }
        #expect(places.count == 2 && places == places.sorted())
        #expect(!run.result.contains("notes.txt"))
    }

    /// What looks like a trace in a folder, and can't be read, is no smaller set of traces.
    @Test func aFolderPassesNoTraceOver() throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        let manager = FileManager.default
        try manager.copyItem(atPath: Self.share, toPath: scratch.path("A.PcapNG"))
        _ = try scratch.file("handoff.yml", "version: 1\nhosts:\n  partner: [api.partner.example]\n")
        let loud = CommandRun(["check", scratch.folder.path])
        #expect(loud.status == .conforming && loud.result.contains("A.PcapNG  PASS"), "\(loud.talk)")
        try manager.createSymbolicLink(atPath: scratch.path("b.pcap"), withDestinationPath: "gone")
        try manager.createSymbolicLink(atPath: scratch.path("notes.txt"), withDestinationPath: "gone")
        let link = CommandRun(["check", scratch.folder.path])
        #expect(link.status == .unreadable && link.result.contains("b.pcap  NOT READ"), "\(link.result)")
        #expect(!link.result.contains("notes.txt"))
        try manager.removeItem(atPath: scratch.path("b.pcap"))
        #expect(mkfifo(scratch.path("c.pcap"), 0o600) == 0)
        #expect(CommandRun(["check", scratch.folder.path]).status == .conforming)
        // As deep as it is looked for, and deeper.
        var deep = scratch.folder.path + String(repeating: "/d", count: TraceFiles.deepest - 1)
        try manager.createDirectory(atPath: deep, withIntermediateDirectories: true)
        try manager.copyItem(atPath: Self.share, toPath: "\(deep)/e.pcap")
        let within = CommandRun(["check", scratch.folder.path])
        #expect(within.status == .conforming && within.result.contains("/e.pcap  PASS"), "\(within.talk)")
        deep += "/d"
        try manager.createDirectory(atPath: deep, withIntermediateDirectories: true)
        let beyond = CommandRun(["check", scratch.folder.path])
        #expect(beyond.status == .unreadable)
        #expect(beyond.talk == "handoff: \(deep): lies 16 folders below the one that was named; name it itself\n")
    }

    @Test func aBadPolicyIsWrongUsage() throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        let policy = try scratch.file("handoff.yml", "version: 1\nhosts:\n  partnr: [a.example]\n")
        for words in [["check", "--policy", policy, Self.share], ["policy", "check", policy]] {
            let run = CommandRun(words)
            #expect(run.status == .usage && run.result.isEmpty)
            #expect(
                run.talk == "handoff: \(policy):3:3: unknown key \"partnr\" in \"hosts\"; did you mean \"partner\"?\n")
        }
        // Found beside the trace, too, and whatever else is wrong.
        try FileManager.default.copyItem(atPath: Self.share, toPath: scratch.path("a.pcapng"))
        #expect(CommandRun(["check", "/no/such.pcap", scratch.path("a.pcapng")]).status == .usage)
    }

    @Test func aBadMarkNamesItsPlace() throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        let lines = """
            {"kind":"tap","target":"share","at":"2026-11-30T01:00:00Z"}
            {"kind":"tap","target":,"at":"2026-11-30T01:00:01Z"}

            """
        let marks = try scratch.file("a.jsonl", lines)
        let run = CommandRun(["check", "--marks", marks, Self.share])
        #expect(run.status == .unreadable)
        #expect(run.talk.hasPrefix("handoff: \(marks):2:"), "\(run.talk)")
        #expect(run.talk.hasSuffix("; mend the line or leave it out\n"))
        #expect(run.talk.split(separator: "\n").count == 1)
    }

    // MARK: reports

    @Test func aReportThatCannotBeWrittenIsWrongUsage() throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        for path in [scratch.path("none/report.json"), scratch.folder.path, "/dev/full"] {
            let run = CommandRun(["check", Self.share, "--report", "json=\(path)"])
            #expect(run.status == .usage)
            #expect(run.talk.hasPrefix("handoff: \(path): "), "\(run.talk)")
            #expect(run.talk.hasSuffix("; the json report is not written, give another path\n"))
            // The verdict is told all the same.
            #expect(run.result.contains("PASS"))
        }
    }

    @Test func severalReportsInOneRun() throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        let run = CommandRun([
            "check", Self.share, "--report=json=\(scratch.path("a=b.json"))", "--report",
            "junit=\(scratch.path("c.xml"))",
        ])
        #expect(run.status == .conforming && run.result.contains("Summary by cause"))
        #expect(try String(contentsOfFile: scratch.path("a=b.json"), encoding: .utf8).hasPrefix("{"))
        #expect(try String(contentsOfFile: scratch.path("c.xml"), encoding: .utf8).hasPrefix("<?xml"))
    }
}
