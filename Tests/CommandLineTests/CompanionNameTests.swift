import Testing

@testable import CommandLine

/// By which names a file is read with a trace though nobody names it, so that no output has one of them.
@Suite struct CompanionNameTests {
    @Test(
        arguments: [
            ("a.keylog", TraceFiles.Companion.keyLog), ("x/a.keys", .keyLog), ("a.marks.jsonl", .marks),
            ("a.actors.jsonl", .actors), ("handoff.yml", .policy), ("x/handoff.yml", .policy), ("xhandoff.yml", nil),
            ("handoff.yml.json", nil), ("a.jsonl", nil), ("akeys", nil), ("a.json", nil), ("a.keys/r.json", nil),
        ] as [(String, TraceFiles.Companion?)])
    func names(path: String, companion: TraceFiles.Companion?) {
        #expect(TraceFiles.Companion(path) == companion)
        do {
            try TraceFiles.refuse(path, as: "the report")
            #expect(companion == nil)
        } catch {
            let read = "would be read as \(companion?.rawValue ?? "-") by the next run"
            #expect(error.message == "the report at \(path) \(read); give it another name")
        }
        #expect(throws: Never.self) { try TraceFiles.refuse(path, as: "the report", takenFor: companion) }
    }

    /// A key log may be called what it is, and nothing else.
    @Test(arguments: [
        ("SSLKEYLOGFILE", "the key log of SSLKEYLOGFILE"), ("--keylog-upstream", "the key log of origins"),
    ])
    func aKeyLogIsCalledOne(option: String, what: String) throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        for (name, isRefused) in [("k.marks.jsonl", true), ("handoff.yml", true), ("k.keylog", false), ("k", false)] {
            let path = scratch.path(name)
            var environment = ["XDG_DATA_HOME": scratch.path("data")]
            var words = ["record", "--out", scratch.path("new"), "--control=none", "--marks=none", "--for=never"]
            if option.hasPrefix("--") { words += [option, path] } else { environment[option] = path }
            let run = CommandRun(words, environment: environment)
            // What is not refused for its name is for the time.
            #expect(run.status == .usage)
            #expect(run.talk.contains("\(what) at \(path) would be read") == isRefused, "\(run.talk)")
            #expect(run.talk.contains("--for never") == !isRefused, "\(run.talk)")
        }
    }
}
