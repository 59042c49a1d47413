import Foundation
import SessionTrace
import Testing

@testable import CommandLine

/// Whoever reads reports alone must not find the pass of an earlier run after one that could not judge.
@Suite struct EarlierReportTests {
    private static let trace = Places.recordings.appending(path: "conforming-share.pcapng").path

    /// A folder with a pass of an earlier run in both formats, and files with which nothing can be judged.
    private static func bench() throws -> Scratch {
        let scratch = try Scratch()
        let run = CommandRun(["check", trace] + reports(scratch))
        #expect(run.status == .conforming)
        _ = try scratch.file("bad.yml", "version: 1\nhots: {}\n")
        _ = try scratch.file("bad.jsonl", "{")
        return scratch
    }

    private static func reports(_ scratch: Scratch) -> [String] {
        ["--report", "json=\(scratch.path("r.json"))", "--report", "junit=\(scratch.path("r.xml"))"]
    }

    @Test(arguments: [
        (["--policy", "%/bad.yml"], "wrong-usage", "unknown key"),
        (["--policy", "%/none.yml"], "wrong-usage", "No such file"),
        (["--profile", "ful"], "wrong-usage", "--profile takes"),
        (["--inconclusive", "ful"], "wrong-usage", "--inconclusive takes"),
        (["--filter", "tcp prt 3"], "wrong-usage", "filter 'tcp prt 3'"),
        (["-", "-"], "wrong-usage", "only once"),
        (["--marks", "%/bad.jsonl"], "unreadable", "bad.jsonl:1"),
        (["--keylog", "%/none"], "unreadable", "No such file"),
    ])
    func aCheckThatJudgesNothingSaysSo(words: [String], verdict: String, why: String) throws {
        let scratch = try Self.bench()
        defer { scratch.remove() }
        let placed = words.map { $0.replacing("%", with: scratch.folder.path) }
        let run = CommandRun(["check", Self.trace] + placed + Self.reports(scratch))
        #expect(run.status == (verdict == "unreadable" ? .unreadable : .usage))
        #expect(run.talk.split(separator: "\n").count == 1 && run.result.isEmpty, "\(run.talk)\(run.result)")
        let json = try JSONValue.parse(String(contentsOfFile: scratch.path("r.json"), encoding: .utf8))
        #expect(json["verdict"]?.stringValue == verdict)
        let first = json["traces"]?.elements?.first
        #expect(first?["path"]?.stringValue == Self.trace && first?["verdict"]?.stringValue == verdict)
        #expect(first?["error"]?.stringValue?.contains(why) == true, "\(json)")
        let junit = try String(contentsOfFile: scratch.path("r.xml"), encoding: .utf8)
        #expect(junit.contains("<error ") && !junit.contains("HR-01"), "\(junit)")
    }

    /// Words that can't be taken apart name their reports all the same; what was not there is not made.
    @Test(arguments: [["--strct"], ["--report"], ["--report", "jsn=x"], ["--policy="], ["--report", "junit=%/none"]])
    func wordsThatAreNoneLeaveNoPass(words: [String]) throws {
        let scratch = try Self.bench()
        defer { scratch.remove() }
        let placed = words.map { $0.replacing("%", with: scratch.folder.path) }
        for form in [["--report", "json=\(scratch.path("r.json"))"], ["--report=json=\(scratch.path("r.json"))"]] {
            try Data("{}".utf8).write(to: URL(filePath: scratch.path("r.json")))
            let run = CommandRun(["check", Self.trace, "--profile", "x"] + form + placed)
            #expect(run.status == .usage && run.talk.split(separator: "\n").count == 1)
            let json = try JSONValue.parse(String(contentsOfFile: scratch.path("r.json"), encoding: .utf8))
            #expect(json["verdict"]?.stringValue == "wrong-usage", "\(json)")
            #expect(json["traces"]?.elements?.first?["path"]?.stringValue?.isEmpty == false)
        }
        // What was not asked for stays, and nothing else is made.
        #expect(try String(contentsOfFile: scratch.path("r.xml"), encoding: .utf8).contains("HR-01"))
        #expect(!FileManager.default.fileExists(atPath: scratch.path("none")))
    }

    /// Nothing that the words name is replaced, in whatever way they name it, nor what lies beside it.
    @Test(arguments: [
        ["check", "t.pcapng", "--marks", "%/x.json", "--strct"], ["check", "t.pcapng", "--marks=%/x.json", "--strct"],
        ["check", "%/x.json", "--strct"], ["record", "--client-cert=a.example=%/x.json", "--strct"],
        ["record", "--client-cert", "a.example=%/x.json", "--strct"], ["record", "--ca-dir", "%/ca", "--strct"],
        ["check", "%/t.pcapng", "--strct"], ["check", "%/sub/t.pcapng", "--strct"],
    ])
    func whatTheWordsNameStays(words: [String]) throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        for folder in ["ca", "sub"] {
            try FileManager.default.createDirectory(atPath: scratch.path(folder), withIntermediateDirectories: false)
        }
        let files = ["x.json", "ca/handoff-ca.pem", "ca/handoff-ca-cert.pem", "t.pcapng.marks.jsonl", "handoff.yml"]
        for name in files { _ = try scratch.file(name, "mine") }
        let placed = words.map { $0.replacing("%", with: scratch.folder.path) }
        // A report under another name leads to each of them.
        for name in files { symlink(scratch.path(name), scratch.path("link-\(name.replacing("/", with: "-"))")) }
        let named = files.filter { name in
            switch name {
            case "x.json": words.contains { $0.hasSuffix("x.json") }
            case "handoff.yml", "t.pcapng.marks.jsonl":
                words.contains { $0.hasSuffix("/t.pcapng") }
                    && (name == "handoff.yml" || !words.contains("%/sub/t.pcapng"))
            default: words.contains("%/ca")
            }
        }
        #expect(!named.isEmpty)
        for name in named {
            let link = scratch.path("link-\(name.replacing("/", with: "-"))")
            #expect(CommandRun(placed + ["--report", "json=\(link)"]).status == .usage)
            #expect(try String(contentsOfFile: scratch.path(name), encoding: .utf8) == "mine", "\(name)")
        }
    }

    /// A run that is killed leaves no pass of an earlier one: from its beginning until its end the reports say so.
    @Test func aRunThatBeginsSaysSo() throws {
        let scratch = try Self.bench()
        defer { scratch.remove() }
        let handoff = Handoff(environment: [:], console: Console(result: { _ in }, talk: { _ in }))
        let reports = try ReportRequest.parse([
            "json=\(scratch.path("r.json"))", "junit=\(scratch.path("new.xml"))", "json=-",
        ])
        UnjudgedReports(handoff: handoff, traces: [Self.trace]).begin(reports)
        let json = try JSONValue.parse(String(contentsOfFile: scratch.path("r.json"), encoding: .utf8))
        #expect(json["verdict"]?.stringValue == "unreadable")
        #expect(json["traces"]?.elements?.first?["error"]?.stringValue?.contains("did not come to its end") == true)
        #expect(!FileManager.default.fileExists(atPath: scratch.path("new.xml")))
        // And the run itself does that, before it judges.
        try FileManager.default.removeItem(atPath: scratch.path("r.json"))
        #expect(CommandRun(["check", Self.trace] + Self.reports(scratch)).status == .conforming)
    }

    /// Messages go into reports, which others read.
    @Test func noPasswordIsInAMessage() throws {
        let scratch = try Self.bench()
        defer { scratch.remove() }
        for words in [["--proxy-auth", "sesame"], ["--upstream-proxy", "ftp://u:sesame@a:1"]] {
            let run = CommandRun(["record", "--out", scratch.path("new")] + words + Self.reports(scratch))
            #expect(run.status == .usage && run.talk.contains("\(words[0]): give") && !run.talk.contains("sesame"))
            #expect(try !String(contentsOfFile: scratch.path("r.json"), encoding: .utf8).contains("sesame"))
        }
        let other = CommandRun(["record", "--out", scratch.path("new"), "--allow", "sesame"])
        #expect(other.talk.contains("--allow sesame: give"))
    }

    /// Without a usable key no digest can be made; the reports say so.
    @Test func aDamagedKeySaysSo() throws {
        let scratch = try Self.bench()
        defer { scratch.remove() }
        let data = scratch.path("data")
        try FileManager.default.createDirectory(atPath: "\(data)/handoff", withIntermediateDirectories: true)
        try Data([1, 2, 3]).write(to: URL(filePath: "\(data)/handoff/installation-key"))
        let run = CommandRun(["check", Self.trace] + Self.reports(scratch), environment: ["XDG_DATA_HOME": data])
        #expect(run.status == .unreadable)
        let json = try JSONValue.parse(String(contentsOfFile: scratch.path("r.json"), encoding: .utf8))
        #expect(json["verdict"]?.stringValue == "unreadable")
    }

    /// A report that would replace what is read stays unwritten, whatever else is wrong.
    @Test func nothingThatIsReadIsReplaced() throws {
        let scratch = try Self.bench()
        defer { scratch.remove() }
        let policy = scratch.path("bad.yml")
        let before = try String(contentsOfFile: policy, encoding: .utf8)
        let run = CommandRun(["check", Self.trace, "--policy", policy, "--report", "json=\(policy)"])
        #expect(run.status == .usage)
        #expect(try String(contentsOfFile: policy, encoding: .utf8) == before)
    }

    @Test(arguments: [
        (["--policy", "%/bad.yml"], "unknown key"), (["--listen", "nowhere"], "--listen"),
        (["--profile", "ful"], "--profile takes"), (["--for", "never"], "--for"),
        (["--client-cert", "x"], "--client-cert"), (["--fault", "gibberish"], "gibberish"),
        (["--out", "%/r.xml.pcapng"], "is there already"),
    ])
    func aRecordingThatDoesNotBeginSaysSo(words: [String], why: String) throws {
        let scratch = try Self.bench()
        defer { scratch.remove() }
        _ = try scratch.file("r.xml.pcapng", "")
        let out = words.contains("--out") ? [] : ["--out", scratch.path("new")]
        let placed = words.map { $0.replacing("%", with: scratch.folder.path) }
        let run = CommandRun(
            ["record", "--control=none", "--marks=none"] + (words.contains("--for") ? [] : ["--for=1s"]) + out + placed
                + Self.reports(scratch),
            environment: ["XDG_DATA_HOME": scratch.path("data")])
        #expect(run.status == .usage && run.talk.contains(why), "\(run.talk)")
        let json = try JSONValue.parse(String(contentsOfFile: scratch.path("r.json"), encoding: .utf8))
        #expect(json["verdict"]?.stringValue == "wrong-usage", "\(json)")
        #expect(json["traces"]?.elements?.first?["error"]?.stringValue?.contains(why) == true, "\(json)")
    }
}
