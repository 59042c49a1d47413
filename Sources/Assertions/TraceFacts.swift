internal import SessionTrace

/// What one trace contributes to rules over several: digests under the installation's key, never values.
public struct TraceFacts: Hashable, Sendable {
    /// One use of an idempotency key.
    struct KeyUse: Hashable, Sendable {
        var key: String
        var body: String
        /// The key's bits under a pad of the installation: equal bits stay equal.
        var paddedHigh: UInt64
        var paddedLow: UInt64
        var isRandomForm: Bool
        var at: Instant
        /// Whether the app was right to send it again: its end was uncertain, or is not known.
        var isOpenEnded: Bool
        /// Whether the body is whole in the trace.
        var bodyIsWhole: Bool
        var evidence: Evidence
    }

    /// One navigation of the browser to a handoff URL.
    struct Opening: Hashable, Sendable {
        var token: String
        var at: Instant
        /// Whether a tap, or the app's word that it opened something, comes shortly before.
        var isTapped: Bool
        var evidence: Evidence
    }

    /// What the app sent in the half minute after a moment.
    struct Traffic: Hashable, Sendable {
        /// How often each kind of request was sent: method, masked path, host role and names in the body.
        var counts: [String: Int]
        /// Kinds of requests to telemetry, of which the number says nothing.
        var telemetry: Set<String>
        /// Why something may be missing; nil when all could be seen.
        var gap: InconclusiveReason?
        /// How long the app had been left before.
        var absence: Nanoseconds?
        var evidence: Evidence
    }

    /// Equal for copies of one trace, however the file is written.
    var identity = ""
    /// What a `scenario` mark calls the trace, the device, how the session ended.
    var name: String?
    var device: String?
    var outcome: String?
    var scenario: String?
    var keys: [KeyUse] = []
    var openings: [Opening] = []
    /// After the first coming back from a handoff.
    var foreground: Traffic?
    /// After the first generic return.
    var afterReturn: Traffic?
    /// Digests of the return links that Chia gave.
    var returnLinks: [String: Evidence] = [:]
    /// Why some of it may be missing: session requests or pages of Chia that could not be read, or were not captured.
    var sessionGap: InconclusiveReason?
    var browserGap: InconclusiveReason?
    /// The policy's exceptions for rules over several traces, and the day that counts for them.
    var exceptions: [Policy.Exception] = []
    var policyFile: String?
    var now = Instant.distantPast

    /// Nothing.
    public init() {}
}

/// Makes the facts of a finished session.
struct TraceFactsMaker {
    let session: Session

    /// A tap this long before a navigation of the browser made it.
    static let tapWindow = Nanoseconds.seconds(10)
    /// Key uses and openings kept of one trace.
    var limit = 1_000

    func facts(now: Instant?) -> TraceFacts {
        var facts = TraceFacts()
        let attributes = session.marks.attributes
        facts.name = attributes["trace"]
        facts.device = attributes["device"]
        facts.outcome = attributes["outcome"]
        facts.scenario = attributes["scenario"]
        facts.keys = keys
        facts.openings = openings
        facts.foreground = foreground
        facts.afterReturn = afterReturn
        for link in session.returnLinks {
            facts.returnLinks[session.redactor.digest(link.text)] = link.evidence
        }
        let unseen = gap {
            session.doubtBypass(&$0)
            session.doubtCapture(&$0)
        }
        facts.sessionGap =
            gap { session.doubtSessionTraffic(&$0) } ?? unseen ?? cut(session.attempts.count, "session requests")
        facts.browserGap =
            gap { session.doubtHiddenOpenings(&$0) } ?? darkChia ?? unseen
            ?? cut(facts.openings.count, "openings of a handoff URL")
        facts.identity = identity(of: facts)
        facts.exceptions = session.policy.exceptions.filter { SetRuleCatalogue.ids.contains($0.rule) }
        facts.policyFile = session.policy.file
        facts.now = now ?? session.span.latest
        return facts
    }

    /// Copies of a trace have the same packets at the same times.
    private func identity(of facts: TraceFacts) -> String {
        let span = session.span
        var parts = [
            "\(span.earliest.nanoseconds)", "\(span.latest.nanoseconds)", "\(session.requests.requests.count)",
        ]
        parts += session.marks.attributes.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        parts += facts.keys.map { "\($0.at.nanoseconds) \($0.key)" }
        return session.redactor.digest(parts.joined(separator: "\n"))
    }

    private func gap(_ ask: (inout Judgement) -> Void) -> InconclusiveReason? {
        var judgement = Judgement(KeyUniqueAndRandom.description)
        ask(&judgement)
        return judgement.doubts.first
    }

    /// Why there may be more than what is kept of `count` things.
    private func cut(_ count: Int, _ things: String) -> InconclusiveReason? {
        guard count > limit else { return nil }
        return InconclusiveReason(
            code: "state-given-up", sentence: "there were more than \(limit) \(things), and the rest was not kept",
            remedy: "record shorter sessions, or narrow the capture with --filter to the device")
    }

    private var darkChia: InconclusiveReason? {
        guard let host = session.index.darkHosts.first(where: { session.roles.isChia($0) }),
            let traffic = session.dark[host], traffic.lastData != nil
        else { return nil }
        return InconclusiveReason(
            code: traffic.reason.rawValue, sentence: Session.unread(traffic, host),
            remedy: Session.remedy(traffic.reason))
    }

    private var keys: [TraceFacts.KeyUse] {
        let pad = KeyBits.number(String(session.redactor.digest("pad of idempotency keys").prefix(32))) ?? (0, 0)
        return session.attempts.prefix(limit).compactMap { attempt in
            guard let key = attempt.key else { return nil }
            let bits = KeyBits.number(key) ?? (0, 0)
            let isOpen: Bool =
                switch attempt.outcome {
                case .uncertain, .either, .notSeen, .authChallenge, .redirect: true
                case .success, .definitive, .unnamed: attempt.delivered != true
                }
            return TraceFacts.KeyUse(
                key: session.redactor.digest(key), body: session.redactor.digest(attempt.first.body),
                paddedHigh: bits.0 ^ pad.0, paddedLow: bits.1 ^ pad.1,
                isRandomForm: UUIDText.check(key) == .version4, at: attempt.started, isOpenEnded: isOpen,
                bodyIsWhole: attempt.first.bodyIsWhole, evidence: attempt.evidence())
        }
    }

    private var openings: [TraceFacts.Opening] {
        let acts = session.marks([.tap, .opened]).map(\.span.latest).sorted()
        // One more than is allowed tells that there are more.
        var openings: [TraceFacts.Opening] = []
        for record in session.chiaRequests
        where record.actor.actor == .browser && record.isNavigation && openings.count <= limit {
            guard let token = record.address?.token, !session.index.isReload(at: record.started.time),
                // A redirect of Chia's within its own address is the same navigation.
                record.address.map({ session.redirects[$0] == nil }) ?? true
            else { continue }
            let next = acts.partitioningIndex { $0 > record.started.time }
            let isTapped =
                next > 0 && record.started.time.nanoseconds(since: acts[next - 1]) <= Self.tapWindow.count
            openings.append(
                TraceFacts.Opening(
                    token: session.redactor.digest(token), at: record.started.time, isTapped: isTapped,
                    evidence: record.evidence("navigation")))
        }
        return openings
    }

    private var foreground: TraceFacts.Traffic? {
        guard let first = session.foregrounds.first(where: \.isAfterHandoff) else { return nil }
        let left = session.marks([.opened, .background]).last { $0.span.earliest <= first.mark.span.earliest }
        return traffic(
            first.mark, next: first.next,
            absence: left.map { Nanoseconds(max(0, first.mark.span.earliest.nanoseconds(since: $0.span.latest))) })
    }

    private var afterReturn: TraceFacts.Traffic? {
        guard let window = session.returnWindows.first else { return nil }
        let next = session.marks([.tap, .background, .kill, .launch, .opened, .linkOpened])
            .first { $0.span.earliest > window.mark.span.earliest }
        return traffic(window.mark, next: next, absence: nil)
    }

    /// What the app sent in the half minute after a mark; the mark that ends it sooner makes it incomparable.
    private func traffic(_ mark: Mark, next: Mark?, absence: Nanoseconds?) -> TraceFacts.Traffic {
        let start = mark.span.earliest
        let window = session.policy.timing.afterReturn
        let end = mark.span.latest.advanced(byNanoseconds: window.count)
        var traffic = TraceFacts.Traffic(
            counts: [:], telemetry: [], gap: nil, absence: absence, evidence: session.evidence(mark))
        for request in session.appRequests(from: start, until: end) {
            let names = request.body.keys.map { session.redactor.name($0) }
            let kind = session.template(request) + (names.isEmpty ? "" : " {\(names.joined(separator: ","))}")
            switch session.purpose(of: request) {
            case .image: continue
            case .telemetry: traffic.telemetry.insert(kind)
            case .projection, .session, .home, .homeElsewhere, .allowed, .other: traffic.counts[kind, default: 0] += 1
            }
        }
        let watch = Watch(
            after: mark, for: window,
            sign: session.firstRequest(after: mark) { [.projection, .home].contains(session.purpose(of: $0)) }, session)
        let unsure = session.appRequests(from: watch.from, until: watch.until).first {
            !watch.holds($0.started.time) && session.purpose(of: $0) != .image
        }
        traffic.gap = gap { judgement in
            if let next, next.span.earliest < end {
                judgement.doubt(
                    "window-cut-short",
                    "\(next.kind.rawValue) comes \(Nanoseconds(next.span.earliest.nanoseconds(since: start))) after \(mark.kind.rawValue), sooner than \(window)",
                    remedy: "leave the app alone for \(window) after \(mark.kind.rawValue), in every run")
            } else if session.ended < end {
                judgement.doubt(
                    "trace-ended", "the trace ends within \(window) of \(mark.kind.rawValue)",
                    remedy: "record for \(window) after \(mark.kind.rawValue), in every run")
            }
            if let unsure {
                watch.leaveOpen(
                    "\(unsure.subject(session.redactor)) was sent about when the time after \(mark.kind.rawValue) began or ended",
                    &judgement)
            }
            session.doubtUnread(from: start, until: end, &judgement)
        }
        return traffic
    }
}
