internal import Glibc
internal import Lab

let usage = """
    usage: handoff-corpus list    [--stories DIR]
           handoff-corpus labels  [--stories DIR]
           handoff-corpus record  --out DIR [--stories DIR] [--handoff FILE] [--jobs N] [--kept] [--resume] [NAME…]
           handoff-corpus judge   --out DIR [--stories DIR] [--handoff FILE] [--document FILE]
           handoff-corpus play STORY TRANSPORT --out DIR …   (one session, in a network namespace of its own)
    """

/// Options and operands, in the simplest way.
struct Words {
    var operands: [String] = []
    var options: [String: String] = [:]

    init(_ words: [String]) throws(CorpusError) {
        var rest = words[...]
        while let word = rest.popFirst() {
            guard word.hasPrefix("--") else {
                operands.append(word)
                continue
            }
            let name = String(word.dropFirst(2))
            if ["kept", "resume"].contains(name) {
                options[name] = "yes"
            } else if let value = rest.popFirst() {
                options[name] = value
            } else {
                throw CorpusError("\(word) needs a value")
            }
        }
    }

    func needed(_ name: String) throws(CorpusError) -> String {
        guard let value = options[name] else { throw CorpusError("--\(name) is missing") }
        return value
    }
}

func run() async throws -> Int32 {
    let words = try Words(Array(CommandLine.arguments.dropFirst()))
    let stories = words.options["stories"] ?? "corpus"
    let beside = CommandLine.arguments[0].split(separator: "/", omittingEmptySubsequences: false).dropLast()
    let handoff = words.options["handoff"] ?? (beside + ["handoff"]).joined(separator: "/")
    switch words.operands.first {
    case "list":
        let sessions = CorpusPlan.sessions(of: try Files.book(stories).stories, isKeptPart: false)
        for session in sessions { print("\(session.name)\t\(session.story.about)") }
        print("\(Set(sessions.map(\.story.name)).count) stories, \(sessions.count) sessions")
    case "labels":
        for story in try Files.book(stories).stories {
            for expectation in story.expectations {
                print(
                    [story.name, expectation.rule, expectation.verdict, expectation.reason, expectation.trap]
                        .joined(separator: "\t"))
            }
        }
    case "record":
        let failed = try RecordCommand(
            program: CommandLine.arguments[0], stories: stories, folder: try words.needed("out"), handoff: handoff,
            jobs: words.options["jobs"].flatMap(Int.init) ?? 12, isKeptPart: words.options["kept"] != nil,
            only: Array(words.operands.dropFirst()), isResuming: words.options["resume"] != nil
        ).run()
        return failed.isEmpty ? 0 : 1
    case "play":
        guard words.operands.count == 3, let transport = LabTransport(words.operands[2]) else {
            throw CorpusError(usage)
        }
        let book = try Files.book(stories)
        guard let story = book.story(words.operands[1]) else { throw CorpusError("no such story") }
        let folder = "\(try words.needed("out"))/\(story.name)"
        try await PlayCommand(
            session: PlannedSession(story: story, transport: transport), book: book,
            path: "\(folder)/\(transport.name)", policy: "\(folder)/handoff.yml", handoff: handoff
        ).run()
    case "judge":
        let isRight = try JudgeCommand(
            stories: stories, folder: try words.needed("out"), handoff: handoff, document: words.options["document"]
        ).run()
        return isRight ? 0 : 1
    default:
        print(usage)
        return 2
    }
    return 0
}

signal(SIGPIPE, SIG_IGN)
do {
    exit(try await run())
} catch {
    let text = Array("handoff-corpus: \(error)\n".utf8)
    _ = write(2, text, text.count)
    exit(2)
}
