internal import FoundationEssentials
internal import Lab

/// Has the sessions of a folder judged by `handoff check`, and holds the verdicts against the stories.
struct JudgeCommand {
    var stories: String
    var folder: String
    var handoff: String
    /// Where the document goes; nil: nowhere.
    var document: String?

    private struct Report: Decodable {
        struct Trace: Decodable {
            var path: String
            var error: String?
            var rules: [Rule]
        }

        struct Rule: Decodable {
            var id: String
            var verdict: String
            var sentence: String
            var reason: Reason?
        }

        struct Reason: Decodable {
            var code: String
        }

        var traces: [Trace]
    }

    /// Prints the table; false when something is wrong.
    func run() throws -> Bool {
        let book = try Files.book(stories)
        let report = "\(folder)/report.json"
        let status = try ChildProcess(
            [handoff, "check", folder, "--report", "json=\(report)"], output: "\(folder)/check.txt"
        ).wait()
        guard [0, 1, 3, 4].contains(status) else { throw CorpusError("handoff check ended with \(status)") }
        guard let data = FileManager.default.contents(atPath: report) else {
            throw CorpusError("\(report): is not there")
        }
        let judged = try JSONDecoder().decode(Report.self, from: data)
        var table = CorpusTable()
        var troubles: [String] = []
        for trace in judged.traces {
            let parts = trace.path.split(separator: "/").suffix(2).map(String.init)
            let name = parts.last?.split(separator: ".").first.map(String.init) ?? ""
            guard parts.count == 2, let story = book.story(parts[0]), let transport = LabTransport(name) else {
                troubles.append("\(trace.path) belongs to no story")
                continue
            }
            if let error = trace.error { troubles.append("\(trace.path): \(error)") }
            table.addSession()
            for rule in trace.rules {
                table.add(
                    rule: rule.id, verdict: rule.verdict, reason: rule.reason?.code ?? "", sentence: rule.sentence,
                    of: story, over: transport)
            }
        }
        let reasons = try EmptyCells(try Files.text("\(stories)/empty-cells.tsv"), file: "empty-cells.tsv")
        let text = table.markdown(reasons)
        print(text)
        let sets = try CorpusSet.read(try Files.text("\(stories)/sets.tsv"), file: "sets.tsv")
        for set in sets {
            for story in set.stories where book.story(story) == nil {
                throw CorpusError("sets.tsv: \(set.name): there is no story \(story)")
            }
        }
        // The kept sessions alone make no sets.
        let isWhole = sets.allSatisfy { set in
            set.stories.allSatisfy { FileManager.default.fileExists(atPath: "\(folder)/\($0)") }
        }
        let setMisses = isWhole ? try SetJudging(folder: folder, handoff: handoff).misses(sets) : []
        if !isWhole { print("the sets of sets.tsv are not judged: not all of their sessions are here") }
        if !isWhole, document != nil { troubles.append("the sets of sets.tsv were not judged") }
        let gaps = table.gaps(reasons) + sets.gaps
        for miss in table.misses.sorted(by: { ($0.rule, $0.session) < ($1.rule, $1.session) }) {
            print("WRONG \(miss.rule) \(miss.session): \(miss.reason)")
        }
        for miss in setMisses { print("WRONG \(miss)") }
        for gap in gaps { print("EMPTY \(gap)") }
        for trouble in troubles { print("TROUBLE \(trouble)") }
        for (rule, count) in table.unlabelled.sorted(by: { $0.key < $1.key }) {
            print("UNLABELLED \(rule): \(count) sessions")
        }
        let verdicts = table.cells.values.flatMap(\.values).reduce(0) { $0 + $1.sessions }
        print(
            "\(table.sessionCount) sessions, \(verdicts) verdicts, \(table.misses.count + setMisses.count) wrong, \(gaps.count) empty cells"
        )
        if let document {
            try Files.write(try page(table, reasons, text, verdicts, sets, setMisses.count).utf8, to: document)
        }
        return table.misses.isEmpty && setMisses.isEmpty && gaps.isEmpty && troubles.isEmpty && table.unlabelled.isEmpty
    }

    private func page(
        _ table: CorpusTable, _ reasons: EmptyCells, _ text: String, _ verdicts: Int, _ sets: [CorpusSet],
        _ setMisses: Int
    ) throws(CorpusError) -> String {
        let notes = reasons.texts.enumerated().map { "[^\($0.offset + 1)]: \($0.element)" }.joined(separator: "\n")
        let rows = sets.map { "| \($0.rule) | \($0.kind) | \($0.about) | \($0.stories.joined(separator: ", ")) |" }
        return """
            # The corpus

            Written by `make test-corpus`; do not edit. \(table.sessionCount) sessions were played by real software over real
            connections and recorded, through the recording proxy or by tcpdump. Each story says what every rule must say of it
            ([how](../corpus/README.md)); \(verdicts) verdicts of `handoff check` were held against that, and \(table.misses.count) differ.

            A number is a count of sessions. *Trap*: the session invites the rule to a wrong verdict, most often to a false alarm; it
            counts in that column alone.

            \(text)
            ## Why a cell is empty

            \(notes)

            ## Rules over several traces

            Judged by one `handoff check` over all recordings of the stories; of \(sets.count) verdicts \(setMisses) differ.

            | rule | kind | what it shows | stories |
            |---|---|---|---|
            \(rows.joined(separator: "\n"))

            """
    }
}
