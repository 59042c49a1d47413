internal import FoundationEssentials
internal import Lab

/// Has the sets of `corpus/sets.tsv` judged, each by one run of `handoff check` over its recordings.
struct SetJudging {
    var folder: String
    var handoff: String

    private struct Report: Decodable {
        struct Rule: Decodable {
            var id: String
            var verdict: String
            var sentence: String
        }

        var setRules: [Rule]
    }

    /// One line for each set whose rule does not say what it must.
    func misses(_ sets: [CorpusSet]) throws -> [String] {
        var misses: [String] = []
        for set in sets {
            let traces = try set.stories.flatMap(recordings)
            let report = "\(folder)/set.json"
            try? FileManager.default.removeItem(atPath: report)
            let status = try ChildProcess(
                [handoff, "check"] + traces + ["--report", "json=\(report)"], output: "\(folder)/set.txt"
            ).wait()
            guard [0, 1, 3, 4].contains(status), let data = FileManager.default.contents(atPath: report) else {
                throw CorpusError("\(set.name): handoff check ended with \(status)")
            }
            let rules = try JSONDecoder().decode(Report.self, from: data).setRules
            // What is not applicable over several traces is left out of the report.
            let rule = rules.first { $0.id == set.rule }
            let verdict = rule?.verdict ?? "not-applicable"
            if verdict != set.verdict {
                misses.append(
                    "\(set.rule) set \(set.name): must be \(set.verdict), is \(verdict): \(rule?.sentence ?? "")")
            }
        }
        return misses
    }

    /// The recordings of a story, in the order of their names.
    private func recordings(of story: String) throws -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(folder)/\(story)")) ?? []
        let files = names.filter { $0.hasSuffix(".pcap") || $0.hasSuffix(".pcapng") }.sorted()
        guard !files.isEmpty else { throw CorpusError("\(folder)/\(story): no recording of it") }
        return files.map { "\(folder)/\(story)/\($0)" }
    }
}
