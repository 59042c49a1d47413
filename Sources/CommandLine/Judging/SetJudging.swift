internal import Assertions
internal import CaptureAnalyzer
internal import Synchronization

/// A judged trace, and the handoff tokens that it showed.
struct Judged: Sendable {
    var trace: JudgedTrace
    var tokens: [Secret] = []
}

/// Judges traces as a set: each for itself, and then for the tokens of the others.
struct SetJudging {
    /// Tokens of other traces that one trace is searched for; more would cost more than the search is worth.
    private static let foreignTokenLimit = 500

    let paths: [String]
    /// One for each path.
    let policies: [Policy]
    let options: JudgeOptions
    let reading: TraceOptions
    let console: Console

    /// Judges all traces; the verdicts come in the order of the paths.
    func judge() -> [Judged] {
        judgeAgain(judge(Array(repeating: options, count: paths.count), keeping: []))
    }

    /// Looks a second time at those traces that must be searched for the tokens of the others (a crash report of the next
    /// morning may hold yesterday's).
    func judgeAgain(_ judged: [Judged]) -> [Judged] {
        guard let again = withForeignTokens(judged) else { return judged }
        return judge(again, keeping: judged)
    }

    /// The options for a second look: nil for each trace that needs none, and nil altogether when none does.
    private func withForeignTokens(_ judged: [Judged]) -> [JudgeOptions?]? {
        let all = judged.flatMap(\.tokens).reduce(into: [Secret]()) { if !$0.contains($1) { $0.append($1) } }
        let again = judged.map { one -> JudgeOptions? in
            let foreign = all.filter { !one.tokens.contains($0) }
            guard !foreign.isEmpty, one.trace.verdict != nil, one.trace.path != "-" else { return nil }
            var options = options
            options.foreignTokens = Array(foreign.prefix(Self.foreignTokenLimit))
            return options
        }
        guard again.contains(where: { $0 != nil }) else { return nil }
        if all.count > Self.foreignTokenLimit {
            console.complain(
                "the traces hold \(all.count) handoff tokens; each trace is searched for \(Self.foreignTokenLimit) of the others"
            )
        }
        return again
    }

    /// Judges all traces that have options, several at a time; the others stay as they are in `before`.
    private func judge(_ options: [JudgeOptions?], keeping before: [Judged]) -> [Judged] {
        let console = console
        let tellsProgress = console.talkIsTerminal && paths.count > 1
        let done = Mutex(0)
        let (paths, policies, reading) = (paths, policies, reading)
        let judged = mapConcurrently(Array(paths.indices)) { index in
            guard let options = options[index] else { return before[index] }
            let trace = Self.judge(paths[index], policy: policies[index], options: options, reading: reading)
            guard tellsProgress else { return trace }
            done.withLock { done in
                done += 1
                console.talk("\r\u{1B}[K\(done) of \(paths.count) judged: \(paths[index])")
            }
            return trace
        }
        if tellsProgress { console.talk("\r\u{1B}[K") }
        return judged
    }

    private static func judge(
        _ path: String, policy: Policy, options: JudgeOptions, reading: TraceOptions
    ) -> Judged {
        guard path == "-" || !FileSystem.isFolder(path) else {
            let error = "\(path): no capture in this folder; name files that are pcap or pcapng"
            return Judged(trace: JudgedTrace(path: path, error: error))
        }
        var judge = SessionJudge(policy: policy, options: options)
        do {
            _ = try TraceReader.read(path: path, options: reading) { judge.receive($0) }
            return Judged(trace: JudgedTrace(path: path, verdict: judge.finish()), tokens: judge.tokens)
        } catch {
            return Judged(trace: JudgedTrace(path: path, error: "\(error)"))
        }
    }
}
