internal import SessionTrace

/// A whole session as the rules see it: taps and bursts, attempts and operations, contacts with Chia, what was opened,
/// what leaked, and what could not be seen. Made once, by `SessionModel.finish`; rules read it and change nothing.
struct Session {
    let policy: Policy
    let roles: HostRoles
    let redactor: Redactor
    let summary: TraceSummary
    /// Whether the trace was read to a proper end.
    let isWhole: Bool
    /// From the first to the last thing seen.
    let span: TimeSpan

    let marks: MarkBook.Reading
    /// Times of one kind that a rule looks at, each for all that stayed unread in it; that there are more is a doubt.
    let windowLimit: Int
    let attempts: [Attempt]
    /// Requests that say what a session request says, on a path that the policy does not name, without a handoff URL in
    /// their answer.
    let unlistedRequests: [SessionRequest]
    let bursts: [Burst]
    /// Set when the host names no partner and the session's host was taken for it.
    let inferredPartner: [HostName]
    let projections: [Projection]
    /// Every request, with what its body looks like.
    let requests: RequestLog
    /// WebSocket messages that the app sent, each as a request.
    let messages: RequestLog
    /// Whose pages the browser opened.
    let pages: PageBook
    /// Contacts with hosts that shorten, preview, attribute or replay.
    let vendors: VendorLog
    /// Whether the device used a proxy that is not the one that recorded the trace.
    let usesForeignProxy: Bool
    /// Links back to the partner in answers that Chia gave the browser.
    let returnLinks: [ReturnLink]
    /// What governs an item at a moment.
    let projectionBook: ProjectionBook
    let urls: [HandoffURL]
    let neutralURLs: [NeutralURL]
    let contacts: [Contact]
    let hasSpareConnections: Bool
    let chiaRequests: [RequestRecord]
    let leaks: [LeakRecord]
    /// Tokens that were sent in pieces.
    let splits: [SplitLeak]
    /// Where the items and disclosure versions were named.
    let selections: SelectionBook
    /// Whether the id of any item is known.
    let knowsSelection: Bool
    /// Items that were shown, and are not looked for.
    let unsearchedItems: Set<String>
    /// Whether there were more neutral URLs than are looked for.
    let hasMoreNeutralURLs: Bool
    let scanGaps: [ScanGapRecord]
    /// What stands in the app's messages that must not.
    let contents: ContentLog
    let redirects: Redirects
    /// Where views inside the app were redirected to, and by which request.
    let viewRedirects: Redirects
    let statusLike: [RequestRecord]
    /// Which TLS stacks came with which User-Agents.
    let stacks: StackBook
    /// What the rules about openings need beside the requests to Chia: documents and flows in order of time.
    let browsing: Browsing
    /// Activities that were started, in order of time.
    let activities: [ActivityStart]
    let appRequests: Int
    let browserRequests: Int
    /// When a connection was first seen that had been open before the trace began.
    let midway: Instant?

    let tallies: [HostName: HostTally]
    let dark: [HostName: DarkTraffic.Host]
    let nameless: [FlowSummary]
    /// When the first unread connection was opened whose ClientHello may hide another name than it shows.
    let hiddenName: Instant?
    let lookupsSeen: Bool
    let blindSpots: [BlindRecord]
    let givenUp: [String: Int]
    let proxyFaults: [ProxyEvent]
    let proxyFailures: [ProxyFailure]
    /// Requests of which only the heads were recorded, and whose unseen part would have to be searched.
    let withheldRequests: [WithheldRequest]
    /// Connections withheld by policy, told by their heads.
    let withheldConnections: Int
    /// Look-ups into all of this.
    let index: SessionIndex
    /// Bursts on the share action (or on an unnamed target, when no tap names the share action).
    let shareBursts: [Burst]
    /// Bursts on the neutral action.
    let neutralBursts: [Burst]
    /// Attempts with one key, in order of their first attempt; attempts without exactly one key are in none.
    let operations: [Operation]
    /// Moments at which the app came to the front again, in order of time.
    let foregrounds: [Foreground]

    var taps: [Tap] { marks.taps }
    var policyLine: String { policy.file ?? "handoff.yml" }

    /// Marks of some kinds, in order of time.
    func marks(_ kinds: Set<Mark.Kind>) -> [Mark] { marks.marks.filter { kinds.contains($0.kind) } }

    /// Whether some mark of `kinds` lies between two instants.
    func hasMark(_ kinds: Set<Mark.Kind>, from: Instant, to: Instant) -> Bool {
        marks.marks.contains { kinds.contains($0.kind) && $0.span.earliest >= from && $0.span.earliest <= to }
    }

    /// The role of a host that may be unknown.
    func role(of host: HostName?) -> HostRole { host.map { roles.role(of: $0) } ?? .thirdParty }

    /// The handoff URL that a request asks for, and whether exactly.
    func handoffURL(askedBy record: RequestRecord) -> (url: HandoffURL, isExact: Bool)? {
        index.handoffURL(askedBy: record).map { (urls[$0.index], $0.isExact) }
    }

    /// The neutral URL that a request asks for, and whether exactly.
    func neutralURL(askedBy record: RequestRecord) -> (url: NeutralURL, isExact: Bool)? {
        index.neutralURL(askedBy: record).map { (neutralURLs[$0.index], $0.isExact) }
    }

    /// The share burst that an attempt belongs to; none when the burst's URL had come and the app had been left since.
    func burst(of attempt: Attempt) -> Burst? { burstIndex(of: attempt).map { shareBursts[$0] } }

    /// The place in `shareBursts` of the burst that an attempt belongs to; see `burst(of:)`.
    func burstIndex(of attempt: Attempt) -> Int? {
        guard let index = shareBursts.lastIndex(where: { $0.reach <= attempt.started }) else { return nil }
        // Who left the app after any earlier answer of the burst left it after the first one.
        let answered = attempts.lazy.filter {
            $0.started >= shareBursts[index].reach && $0.number < attempt.number && $0.outcome == .success
        }.map(\.ended).min()
        return answered.map { isLeft(from: $0, to: attempt.started) } ?? false ? nil : index
    }

    /// From when on what happens may be of the burst after one, of either kind. A share tap opens no neutral page, however
    /// late its mark is.
    func reach(after burst: Burst) -> Instant {
        bursts.lazy.filter { $0.started > burst.lastTap.span.earliest }
            .map { burst.target == .neutral && $0.target == .share ? $0.started : $0.reach }.min() ?? .distantFuture
    }

    /// Taps that act, in order, without those that join an earlier one: the further taps of a double tap, and those on share
    /// while a session request is under way.
    var leadingTaps: [Tap] {
        var leading: [Tap] = []
        var last: Tap?
        for tap in marks.actions {
            let isFurther = last.map { tap.repeats($0, within: policy.timing.doubleTap) } ?? false
            let joins =
                (tap.target == .share || tap.target == nil)
                && attempts.contains { attempt in
                    attempt.started < tap.span.earliest && tap.span.earliest <= attempt.ended
                        && leading.contains { $0.target == tap.target && $0.reach <= attempt.started }
                }
            if !isFurther, !joins { leading.append(tap) }
            last = tap
        }
        return leading
    }

    /// Whether the trace began midway, and nothing in it before an instant says that the app waited for a tap.
    func mayHaveBegun(before instant: Instant) -> Bool {
        !hasMark([.launch, .foreground, .restore], from: .distantPast, to: instant)
            && !projections.contains { $0.record.started.time <= instant }
    }

    /// Whether the app was left between two instants: a mark says so, or the browser opened a page of Chia.
    func isLeft(from: Instant, to: Instant) -> Bool {
        hasMark([.opened, .background, .foreground, .launch, .kill, .return, .restore], from: from, to: to)
            || chiaRequests.contains {
                $0.actor.actor == .browser && $0.isNavigation && $0.started.time >= from && $0.started.time <= to
            }
    }
}

/// A handoff URL that came back to a session request.
struct HandoffURL: Hashable, Sendable {
    /// `U#1`.
    var label: String
    /// The URL itself: never printed.
    var text: String
    var token: String
    /// Nil when it is no address that can be compared.
    var address: WebAddress?
    /// The attempt that brought it.
    var attempt: Int
    /// When the device can have known it first.
    var since: Instant
    var evidence: Evidence
}

/// A neutral URL that a projection named.
struct NeutralURL: Hashable, Sendable {
    var address: WebAddress
    /// The URL itself, as the projection gave it.
    var text: String
    var since: Instant
}

/// Taps that belong together (RULES 0.2): on one target, each within the double-tap time of the one before, and further
/// ones until the app was left or the operation ended.
struct Burst: Hashable, Sendable {
    var target: Mark.Target
    var taps: [Tap]
    /// Whether its taps name no target.
    var isGeneric: Bool
    /// The earliest moment that may belong to it.
    var reach: Instant
    /// The earliest moment of the next burst on this target, or the end of time.
    var end: Instant

    var started: Instant { taps[0].span.earliest }
    var lastTap: Tap { taps[taps.count - 1] }
    /// From the first to the last tap.
    var length: Nanoseconds { Nanoseconds(max(0, lastTap.span.earliest.nanoseconds(since: started))) }
    var evidence: [Evidence] { taps.map(\.evidence) }

    /// Whether somebody tapped twice: two sources of marks may tell of one tap, on two clocks, or one with an interval around
    /// the other's moment.
    var isDoubled: Bool {
        Dictionary(grouping: taps, by: \.clockBound).values.contains { taps in
            zip(taps, taps.dropFirst()).contains { one, other in
                one.isByHand || one.span == other.span || one.span.latest < other.span.earliest
            }
        }
    }

    /// `2 taps within 180 ms`.
    var words: String { taps.count == 1 ? "1 tap" : "\(taps.count) taps within \(length)" }
}
