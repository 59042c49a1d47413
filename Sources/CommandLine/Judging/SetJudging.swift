internal import Assertions
internal import CaptureAnalyzer
internal import Synchronization

/// A judged trace, and the handoff tokens that it showed.
struct Judged: Sendable {
    var trace: JudgedTrace
    var tokens: [Secret] = []
    /// Which of the tokens that it was searched for it holds.
    var seen: [Secret] = []
    /// How many packets the filter left out.
    var filteredPackets = 0
}

/// Judges traces as a set: each for itself, and then again where it holds tokens of the others.
struct SetJudging {
    /// Tokens of a set that its traces are searched for; more would cost more than the search is worth.
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

    /// Looks a second time at all traces for the tokens of the others (a crash report of the next morning may hold
    /// yesterday's), and judges those again that hold one.
    ///
    /// What all are searched for is prepared once: a search costs what reading the trace costs, however many there are.
    func judgeAgain(_ judged: [Judged]) -> [Judged] {
        guard let searching = searching(judged) else { return judged }
        let searched = judge(searching, keeping: judged)
        let again = zip(judged, zip(searching, searched)).map { before, found -> JudgeOptions? in
            guard found.0 != nil else { return nil }
            let own = Set(before.tokens)
            var options = options
            options.foreignTokens = found.1.seen.filter { !own.contains($0) }
            return options.foreignTokens.isEmpty ? nil : options
        }
        return again.contains { $0 != nil } ? judge(again, keeping: judged) : judged
    }

    /// The options for a search: nil for each trace that needs none, and nil altogether when none does.
    private func searching(_ judged: [Judged]) -> [JudgeOptions?]? {
        var known: Set<Secret> = []
        let all = judged.flatMap(\.tokens).filter { known.insert($0).inserted }
        let isNeeded = judged.map { one in
            // What comes through a pipe can't be read again.
            one.trace.verdict != nil && one.trace.path != "-" && FileSystem.isFile(one.trace.path)
                && all.count > Set(one.tokens).count
        }
        guard isNeeded.contains(true) else { return nil }
        if all.count > Self.foreignTokenLimit {
            console.complain(
                "the traces hold \(all.count) handoff tokens; each trace is searched for \(Self.foreignTokenLimit) of them"
            )
        }
        // Traces of one policy share one scanner.
        var prepared: [[String]: ForeignTokens] = [:]
        return zip(policies, isNeeded).map { policy, isNeeded in
            guard isNeeded else { return nil }
            let keys = policy.forbidden.digestKeys
            let foreign =
                prepared[keys]
                ?? ForeignTokens(
                    Array(all.prefix(Self.foreignTokenLimit)), digestKeys: keys,
                    installationKey: options.installationKey)
            prepared[keys] = foreign
            var options = options
            options.foreign = foreign
            return options
        }
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
            let read = try TraceReader.read(path: path, options: reading) { judge.receive($0) }
            let verdict = judge.finish()
            return Judged(
                trace: JudgedTrace(path: path, verdict: verdict), tokens: judge.tokens, seen: judge.foreignTokensSeen,
                filteredPackets: read.filteredPackets)
        } catch {
            return Judged(trace: JudgedTrace(path: path, error: "\(error)"))
        }
    }
}
