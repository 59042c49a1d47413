internal import Assertions
internal import CaptureAnalyzer
internal import HandoffProxy
internal import Synchronization

/// The judges of one run: one for each trace file that the recorder begins.
final class LiveJudges: Sendable {
    private let policy: Policy
    private let options: JudgeOptions
    private let actorFiles: [String]
    private let display: LiveDisplay
    private let judges = Mutex<[LiveJudge]>([])
    private let unjudged = Mutex<[JudgedTrace]>([])

    init(policy: Policy, options: JudgeOptions, actorFiles: [String], display: LiveDisplay) {
        self.policy = policy
        self.options = options
        self.actorFiles = actorFiles
        self.display = display
    }

    /// Begins to judge a file that has just been made. What can't be judged while it grows is judged at the end.
    func follow(_ file: RecordingFile) -> RecordingFollower {
        let display = display
        let isFirst = judges.withLock { $0.isEmpty }
        let name = isFirst ? nil : file.device.map { "\($0)" } ?? file.path
        let judge = LiveJudge(
            path: file.path, policy: policy, options: options, style: display.level >= .timeline ? display.style : nil
        ) { output in
            display.show(output, of: name)
        }
        guard let judge, judge.start() else {
            display.say("! \(file.path) is judged at the end only: the system has no thread or descriptor left")
            unjudged.withLock { $0.append(JudgedTrace(path: file.path, error: "")) }
            return RecordingFollower()
        }
        judges.withLock { $0.append(judge) }
        return RecordingFollower(
            onWritten: { judge.growth.wrote(upTo: $0) }, onEnded: { _ in judge.growth.end() })
    }

    /// How the recordings are read again with the process evidence; nil when there is none, or none that can be read.
    private func readingWithActors(_ console: Console) -> TraceOptions? {
        guard !actorFiles.isEmpty else { return nil }
        var reading = TraceOptions()
        reading.actorFiles = actorFiles
        do {
            return try TraceReader.prepare(reading)
        } catch {
            console.complain("\(error); judged without it")
            return nil
        }
    }

    /// The judge of the file at `path`.
    func judge(of path: String) -> LiveJudge? {
        judges.withLock { $0.first { $0.path == path } }
    }

    /// The verdicts in the order in which the files were begun. Waits until all have been read to their end.
    func finish(console: Console) -> [Judged] {
        let live = judges.withLock { $0 }.map { $0.finish() }
        if let reading = readingWithActors(console) {
            // What the files say of a connection was not known while it was judged: the recording is read again.
            let paths = live.map(\.trace.path) + unjudged.withLock { $0 }.map(\.path)
            return SetJudging(
                paths: paths, policies: paths.map { _ in policy }, options: options, reading: reading, console: console
            ).judge()
        }
        let late = unjudged.withLock { $0 }.map(\.path)
        let judged = SetJudging(
            paths: late, policies: late.map { _ in policy }, options: options, reading: .init(), console: console
        ).judge()
        let all = live + judged
        return SetJudging(
            paths: all.map(\.trace.path), policies: all.map { _ in policy }, options: options, reading: .init(),
            console: console
        ).judgeAgain(all)
    }
}
