internal import Assertions
internal import CaptureAnalyzer
internal import Dispatch
internal import EventLoop
internal import Reports
internal import SessionTrace
internal import Synchronization

/// Judges a trace while it is recorded: it follows the file that the recorder writes, with the reader that `check` uses,
/// so that the verdict at the end is the verdict of the file.
///
/// What happens meanwhile goes to `show`: the timeline as it grows, violations as soon as they are seen, and that one is
/// gone again when something later excuses it (a tap that was marked late).
final class LiveJudge: Sendable {
    /// One thing to show.
    enum Output: Sendable {
        /// Lines of the timeline, newline at their end.
        case timeline(String)
        /// A rule is violated so far.
        case violated(RuleResult)
        /// A rule that was violated no longer is.
        case excused(RuleResult)
    }

    private struct State {
        var judge: SessionJudge
        /// Nil when nobody is to see it.
        var timeline: Timeline?
        /// The revision of what was last made known.
        var knownRevision = 0
        /// Violations that were shown, by rule.
        var shown: [String: Set<String>] = [:]
        var hasNews = false
        /// Whether anything but the file itself was seen: of an empty trace there is nothing to show.
        var hasContent = false
        var lastLook = Instant.distantPast
        /// How long the last look took, nanoseconds.
        var lookCost: Int64 = 0
    }

    /// Least time between two looks at the verdict so far.
    private static let lookInterval: Int64 = 500_000_000
    /// While there is more to read, looking takes one part of the time in so many: what a look costs grows with the session.
    private static let lookShare: Int64 = 8

    /// The trace.
    let path: String
    /// The word by which the recorder tells how far the file has grown.
    let growth: TraceGrowth
    private let state: Mutex<State>
    /// What the judge knows, for connections on their way: the lock of `state` is held by a thread of low priority while
    /// it works, and the relay must not wait for that.
    private let known = Mutex(JourneyKnowledge())
    private let verdict = Mutex<Judged?>(nil)
    private let hasEnded = DispatchSemaphore(value: 0)
    private let show: @Sendable (Output) -> Void

    /// Makes a judge for the trace at `path`; nil when the process has no descriptor left for the word between them.
    ///
    /// Without a `style` no timeline is made.
    init?(
        path: String, policy: Policy, options: JudgeOptions, style: TextStyle?,
        show: @escaping @Sendable (Output) -> Void
    ) {
        guard let growth = TraceGrowth() else { return nil }
        self.path = path
        self.growth = growth
        self.show = show
        let redactor = Redactor(installationKey: options.installationKey)
        state = Mutex(
            State(
                judge: SessionJudge(policy: policy, options: options),
                timeline: style.map { style in
                    Timeline(style: style, redactor: redactor) { policy.roleName(of: $0) }
                }))
    }

    /// Begins to read, on a thread of its own.
    func start() -> Bool {
        growth.whenIdle { [weak self] in self?.look(isIdle: true) }
        return BackgroundThread.start { self.read() }
    }

    /// What the judge knows by now of handoff and neutral URLs.
    var knowledge: JourneyKnowledge {
        known.withLock { $0 }
    }

    /// Makes the judge read on at once, up to byte `offset` of the file, unless it is too far behind to be there in time.
    func hurry(upTo offset: UInt64) {
        growth.hurry(upTo: offset)
    }

    /// What the judge knows once it has read everything up to byte `offset` of the file.
    func ask<Answer: Sendable>(
        after offset: UInt64, _ question: @escaping @Sendable (borrowing SessionJudge) -> Answer
    ) async -> Answer {
        await withCheckedContinuation { continuation in
            growth.whenRead(upTo: offset) {
                continuation.resume(returning: self.state.withLock { question($0.judge) })
            }
        }
    }

    /// The verdict. Waits until the file has been read to its end, which `growth.end()` announces.
    func finish() -> Judged {
        hasEnded.wait()
        defer { hasEnded.signal() }
        return verdict.withLock { $0 } ?? Judged(trace: JudgedTrace(path: path, error: "\(path): was not judged"))
    }

    private func read() {
        defer { hasEnded.signal() }
        var options = TraceOptions()
        options.growth = growth
        do {
            _ = try TraceReader.read(path: path, options: options) { receive($0) }
            look(isIdle: false, isLast: true)
            let judged = state.withLock { state in
                Judged(trace: JudgedTrace(path: path, verdict: state.judge.finish()), tokens: state.judge.tokens)
            }
            verdict.withLock { $0 = judged }
        } catch {
            verdict.withLock { $0 = Judged(trace: JudgedTrace(path: path, error: "\(error)")) }
            // Who asked of what is read later gets the answer of now: connections wait for it.
            growth.giveUpReading()
        }
    }

    private func receive(_ event: SessionEvent) {
        let isDue = state.withLock { state in
            state.judge.receive(event)
            state.timeline?.receive(event)
            let revision = state.judge.journeyKnowledgeRevision
            if revision != state.knownRevision {
                state.knownRevision = revision
                let knowledge = state.judge.journeyKnowledge
                known.withLock { $0 = knowledge }
            }
            switch event {
            case .connectionOpened, .mark: state.hasContent = true
            default: break
            }
            switch event {
            case .exchange, .message, .mark, .activityStarted, .blindSpot, .proxyEvent, .nameLookup, .clientHello:
                state.hasNews = true
                return true
            case .connectionOpened, .processIdentified, .requestStarted, .delivery, .secureSession,
                .connectionClosed, .traceEnded:
                return false
            }
        }
        if isDue { look(isIdle: false) }
    }

    /// Shows the timeline so far, and what the verdict would be now: at once when nothing more is there to read, else from
    /// time to time.
    private func look(isIdle: Bool, isLast: Bool = false) {
        let now = WallClock.now
        let (lines, judge) = state.withLock { state -> (String, SessionJudge?) in
            let sinceLast = now.nanoseconds(since: state.lastLook)
            guard isIdle || isLast || sinceLast >= Self.lookInterval else { return ("", nil) }
            let lines = state.hasContent ? state.timeline?.takeText() ?? "" : ""
            let pause = max(Self.lookInterval, isIdle ? 0 : state.lookCost * Self.lookShare)
            guard !isLast, state.hasNews, sinceLast >= pause else { return (lines, nil) }
            state.lastLook = now
            state.hasNews = false
            state.judge.settle()
            return (lines, state.judge)
        }
        if !lines.isEmpty { show(.timeline(lines)) }
        guard let judge else { return }
        // It is a copy that ends here; the judge itself goes on.
        tell(judge.resultsSoFar())
        state.withLock { $0.lookCost = WallClock.now.nanoseconds(since: now) }
    }

    private func tell(_ rules: [RuleResult]) {
        var outputs: [Output] = []
        state.withLock { state in
            for rule in rules {
                let known = state.shown[rule.id] ?? []
                let found = Set(rule.verdict == .fail ? rule.findings.map(\.fingerprint) : [])
                if !found.subtracting(known).isEmpty { outputs.append(.violated(rule)) }
                if !known.isEmpty, found.isEmpty { outputs.append(.excused(rule)) }
                state.shown[rule.id] = found
            }
        }
        for output in outputs { show(output) }
    }
}
