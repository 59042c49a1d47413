internal import Glibc
internal import Lab

/// Records the sessions of a corpus, many at a time, each by a process in a network namespace of its own.
struct RecordCommand {
    var program: String
    var stories: String
    var folder: String
    var handoff: String
    var jobs: Int
    var isKeptPart: Bool
    /// Whose names begin so; empty: all.
    var only: [String]
    /// Leave recordings that are there and were made from the same story.
    var isResuming: Bool

    private static let attempts = 3
    private static let secondsAtMost = 90

    private struct Running {
        var session: PlannedSession
        var attempt: Int
        var started: Int
    }

    /// The sessions of one story far from one another: what two runs did within a second would look like one run that was
    /// recorded twice (HR-26 over traces).
    private static func apart(_ sessions: [PlannedSession]) -> [PlannedSession] {
        var count: [String: Int] = [:]
        let rounds = sessions.map { session in
            defer { count[session.story.name, default: 0] += 1 }
            return (round: count[session.story.name, default: 0], session: session)
        }
        return Dictionary(grouping: rounds, by: \.round).sorted { $0.key < $1.key }.flatMap(\.value).map(\.session)
    }

    /// The names of sessions that could not be recorded.
    func run() throws -> [String] {
        let book = try Files.book(stories)
        var sessions = CorpusPlan.sessions(of: book.stories, isKeptPart: isKeptPart)
        if !only.isEmpty { sessions.removeAll { session in !only.contains { session.name.hasPrefix($0) } } }
        for story in Set(sessions.map(\.story)) {
            try Files.makeFolder("\(folder)/\(story.name)")
            try Files.write(book.policyText(of: story).utf8, to: "\(folder)/\(story.name)/handoff.yml")
        }
        if only.isEmpty { removeOthers(than: sessions) }
        if isResuming {
            sessions.removeAll { session in
                (try? Files.text(stampPath(of: session))) == CorpusPlan.stamp(of: session, book)
            }
        }
        var waiting = Self.apart(sessions).map { (session: $0, attempt: 1) }
        var running: [pid_t: Running] = [:]
        var failed: [String] = []
        var done = 0
        let began = time(nil)
        while !waiting.isEmpty || !running.isEmpty {
            while running.count < jobs, !waiting.isEmpty {
                let next = waiting.removeFirst()
                let child = try start(next.session)
                running[child.id] = Running(session: next.session, attempt: next.attempt, started: time(nil))
            }
            var status: Int32 = 0
            let id = waitpid(-1, &status, WNOHANG)
            guard id > 0, let ended = running.removeValue(forKey: id) else {
                for (id, one) in running where time(nil) - one.started > Self.secondsAtMost { kill(id, SIGKILL) }
                usleep(5_000)
                continue
            }
            if ChildProcess.exitStatus(status) == 0 {
                done += 1
                try Files.write(
                    CorpusPlan.stamp(of: ended.session, book).utf8, to: stampPath(of: ended.session))
                if done % 50 == 0 { say("\(done) of \(sessions.count) sessions, \(time(nil) - began) s") }
            } else if ended.attempt < Self.attempts {
                waiting.append((ended.session, ended.attempt + 1))
            } else {
                let log = (try? Files.text("\(folder)/\(ended.session.name).log")) ?? ""
                say("\(ended.session.name): not recorded: \(log.split(separator: "\n").last ?? "")")
                failed.append(ended.session.name)
            }
        }
        print("\(done) of \(sessions.count) sessions recorded in \(time(nil) - began) s, \(jobs) at a time")
        return failed
    }

    private func stampPath(of session: PlannedSession) -> String { "\(folder)/\(session.name).stamp" }

    /// Takes recordings away that no story asks for any more: only what has a stamp beside it.
    private func removeOthers(than sessions: [PlannedSession]) {
        let planned = Set(sessions.map(\.name))
        for story in Files.names(in: folder) {
            for file in Files.names(in: "\(folder)/\(story)") where file.hasSuffix(".stamp") {
                let name = "\(story)/\(file.dropLast(".stamp".count))"
                guard !planned.contains(name) else { continue }
                for end in ["stamp", "pcap", "pcapng", "keys", "marks.jsonl", "log"] {
                    Files.remove("\(folder)/\(name).\(end)")
                }
            }
        }
    }

    private func say(_ line: String) {
        print(line)
        fflush(nil)
    }

    private func start(_ session: PlannedSession) throws(CorpusError) -> ChildProcess {
        // Without root a user namespace gives the right to make a network.
        let own = geteuid() == 0 ? [] : ["--user", "--map-root-user"]
        return try ChildProcess(
            ["unshare", "--net"] + own + [
                program, "play", session.story.name, session.transport.name, "--stories", stories, "--out", folder,
                "--handoff", handoff,
            ], error: "\(folder)/\(session.name).log")
    }
}
