public import SessionTrace

/// How a trace is to be judged, beside its policy.
public struct JudgeOptions: Sendable {
    /// Which rules run.
    public enum Profile: String, Hashable, Sendable, CaseIterable {
        case headline, full
    }

    /// Which rules run; coverage rules always do.
    public var profile = Profile.full
    /// Whether assumptions make a rule inconclusive.
    public var strict = false
    /// Today, for the expiry of exceptions; nil takes the trace's own time.
    public var now: Instant?
    /// Tokens of other traces of the set: needles in this one too.
    public var foreignTokens: [Secret] = []
    /// All tokens of the set, this trace's own included, for a search that only asks which of them the trace holds.
    public var foreign: ForeignTokens?
    /// The installation's secret, which keys the digests that stand for secrets in evidence.
    public var installationKey: [UInt8] = []
    /// How much a session may hold.
    public var limits = ModelLimits()

    /// The default options.
    public init() {}
}

/// How much the model of one trace may hold; what is beyond is counted, and a blind spot.
public struct ModelLimits: Hashable, Sendable {
    /// Connections that are open at one time.
    public var openConnections = 200_000
    /// Requests to Chia hosts and to the addresses of U and N.
    public var chiaRequests = 10_000
    /// Lookups of, and connections to, Chia hosts.
    public var contacts = 10_000
    /// Requests that may be session attempts, with bodies.
    public var attempts = 500
    /// Bytes of an attempt's body.
    public var attemptBody = 256 << 10
    /// Bytes of all bodies of attempts.
    public var attemptBytes = 64 << 20
    /// Projection responses.
    public var projections = 5_000
    /// What projection responses say of items, one by one.
    public var projectionSightings = 50_000
    /// Requests of any kind, in a few words each; what is beyond leaves rules open that ask about every request.
    public var loggedRequests = 50_000
    /// WebSocket messages of the app's, in as few.
    public var loggedMessages = 20_000
    /// Things in the contents of the app's messages that must not be there.
    public var contentFindings = 5_000
    /// Leaks.
    public var hits = 5_000
    /// Names and addresses learnt from DNS answers.
    public var names = 100_000
    /// Hosts whose traffic stayed dark.
    public var darkHosts = 10_000
    /// Connections whose host has no name.
    public var namelessConnections = 20_000
    /// Blind spots kept one by one.
    public var blindSpots = 20_000
    /// Marks.
    public var marks = 10_000
    /// Documents that the browser opened on hosts other than Chia's.
    public var documents = 5_000
    /// Times of one kind that rules look at one by one: handoffs, returns, times in the background.
    public var windows = 1_000
    /// Activity starts.
    public var activities = 10_000
    /// Bytes of recent requests kept to be searched again when a new needle is learnt.
    public var backlogBytes = 4 << 20

    /// The default limits.
    public init() {}
}

/// Events of one trace in, the verdict over it out.
public struct SessionJudge {
    private var model: SessionModel
    private let options: JudgeOptions

    /// Begins with a policy.
    public init(policy: Policy, options: JudgeOptions) {
        model = SessionModel(policy: policy, options: options)
        self.options = options
    }

    /// Takes the next event of the trace.
    public mutating func receive(_ event: SessionEvent) {
        model.receive(event)
    }

    /// Tokens that this trace showed, in session responses and in navigations to Chia: needles for the other traces of
    /// the set (`JudgeOptions.foreignTokens`).
    public var tokens: [Secret] { model.tokens.map { Secret($0) } }

    /// Which of `JudgeOptions.foreign` were found in this trace, in some form; to be asked after `finish`.
    public var foreignTokensSeen: [Secret] {
        guard let foreign = options.foreign else { return [] }
        let inPieces = model.splits.found.map(\.needle.number)
        return model.foreignSeen.union(inPieces).sorted().compactMap { foreign.tokens[$0] }
    }

    /// What the trace has shown so far of handoff and neutral URLs: what the requests of a withheld connection are held
    /// against (`JourneySorter`). Costs a pass over the session requests and projections.
    public var journeyKnowledge: JourneyKnowledge { model.journeyKnowledge }

    /// A number that is another one whenever `journeyKnowledge` may be, and costs nothing.
    public var journeyKnowledgeRevision: Int { model.requests.count &+ model.projections.count }

    /// How a URL relates to the handoff and neutral URLs seen so far.
    public func relation(of url: String) -> JourneyRelation { model.journeyKnowledge.relation(of: url) }

    /// Whether the browser has asked a Chia host for anything so far.
    public var hasOpenedChia: Bool { model.chiaRequests.contains { $0.actor.actor == .browser } }

    /// Brings what was kept into the order that `finish` needs, so that copies that are finished share it with this judge
    /// instead of each making an order of its own.
    public mutating func settle() {
        model.requestLog.sort()
        model.messageLog.sort()
    }

    /// Judges what was seen. Call it once, after `traceEnded`.
    public mutating func finish() -> TraceVerdict {
        let session = model.finish()
        return Verdicts.judge(session, options: options)
    }

    /// What each rule would come to if the trace ended here, without what it looked at: to show violations while a trace
    /// grows, of a copy of its judge.
    public consuming func resultsSoFar() -> [RuleResult] {
        receive(.traceEnded(TraceSummary()))
        let session = model.finish()
        var exceptions = ExceptionBook(session.policy, now: options.now ?? session.span.latest)
        let results = Verdicts.results(session, options: options, exceptions: &exceptions, keepsLookedAt: false)
        return results.map(\.printable)
    }
}
