internal import SessionTrace

/// **HR-25 neutral-path-direct.** After the neutral tap the browser is given the neutral URL itself, and no session request
/// is made.
///
/// The contract (CONTRACT.md, "The tap sequence" 4) hands the URL of the projection straight to the system browser. From a
/// neutral tap to the next tap on share there is no session request; the browser's first page is the neutral URL to the
/// byte, and no host but Chia's sends the browser on to it. Where the policy's `must-exercise` names `neutral` (or this
/// rule) the URL is reached within five seconds, also after a share that failed.
///
/// Inconclusive: the neutral URL is not known; no navigation was seen, and it may be in what was not read, or must not be
/// asked for; the order of tap and request can't be told. Traps: Chia's own redirects; a neutral tap while a share request
/// is in flight (HR-10); a page of Chia that asks for the URL again.
enum NeutralPathDirect: Rule {
    static let description = RuleDescription(
        id: "HR-25", name: "neutral-path-direct", severity: .error,
        sentence: "The neutral action opens the projection's URL itself in the browser, without a session request.",
        heading: "The tap sequence",
        inconclusiveWhen: "the neutral URL is not known, or no navigation to it was seen and none can be excluded",
        options: ["must-exercise: [neutral]", "hosts: {partner, telemetry}"],
        example:
            "The neutral action opens partner.example/out?to=chia, which redirects to the neutral URL. The verdict names the hop, "
            + "its role and the navigation that it led to.")

    /// By when the neutral URL is reached where it must be.
    static let patience = Nanoseconds.seconds(5)

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no neutral tap"
        let navigations = session.neutralNavigations
        var reached: [Nanoseconds] = []
        for burst in session.neutralBursts where !isInFlight(burst, session) {
            for evidence in burst.evidence { judgement.looked(at: evidence) }
            judgeRequests(after: burst, session, &judgement)
            if let time = judgeNavigation(of: burst, navigations, session, &judgement) { reached.append(time) }
        }
        judgement.passSentence =
            "\(counted(reached.count, "neutral tap")), the neutral URL opened directly, at most \(reached.max() ?? Nanoseconds(0)) after"
        guard judgement.isExercised else { return }
        session.doubtSessionTraffic(&judgement)
        session.doubtMarks(&judgement)
        session.doubtUnlistedRequests(&judgement)
        session.doubtBypass(&judgement)
    }

    /// Whether a share request was on its way when the action was tapped.
    private static func isInFlight(_ burst: Burst, _ session: Session) -> Bool {
        session.attempts.contains { $0.started <= burst.started && $0.ended >= burst.started }
    }

    private static func judgeRequests(after burst: Burst, _ session: Session, _ judgement: inout Judgement) {
        let next = session.marks.shares.first { $0.span.earliest > burst.started }
        let isSharedAtOnce = session.taps.contains { $0.target == .share && $0.span.earliest == burst.started }
        for attempt in session.attempts where attempt.started >= burst.reach {
            if let next, attempt.started >= next.reach { break }
            let tap = burst.taps[0]
            let gap = Nanoseconds(attempt.started.nanoseconds(since: tap.span.earliest))
            switch tap.order(of: attempt.started) {
            case .before: continue
            case .tooClose, .within:
                judgement.doubt(
                    "clock-bound",
                    "attempt \(attempt.number) began \(gap) after the earliest moment of the neutral tap, and which came first can't be told",
                    remedy: "send the marks through the trace's own clock, from the test script")
            case .after where isSharedAtOnce:
                judgement.doubt(
                    "clock-bound",
                    "attempt \(attempt.number) was sent \(gap) after a neutral tap and a share tap in one moment, and which came first can't be told",
                    remedy: "mark each tap at its own moment, from the test script")
            case .after:
                if let tap = session.unsureTap(before: attempt.started) {
                    session.doubtUnsureTap(
                        tap, "attempt \(attempt.number) follows a neutral tap, and was sent", at: attempt.started,
                        &judgement)
                    continue
                }
                judgement.violation(
                    "session-after-neutral",
                    "attempt \(attempt.number) was sent \(gap) after a neutral tap, without a share tap between",
                    place: [attempt.first.record.pathTemplate],
                    evidence: burst.evidence + [attempt.evidence("session request after the neutral tap")])
            }
        }
    }

    /// How long after the tap the neutral URL was opened; nil when it was not.
    private static func judgeNavigation(
        of burst: Burst, _ navigations: [RequestRecord], _ session: Session, _ judgement: inout Judgement
    ) -> Nanoseconds? {
        guard !session.neutralURLs.isEmpty else {
            judgement.doubt(
                "neutral-url-unknown", "no projection in the trace names the neutral URL",
                remedy: "start the trace before the projection is fetched, and give the keys for it")
            return nil
        }
        let end = session.reach(after: burst)
        let start = navigations.partitioningIndex { $0.started.time >= burst.reach }
        let opened = start < navigations.count ? navigations[start] : nil
        guard let opened, opened.started.time < end else {
            judgeMissing(burst, session, &judgement)
            return nil
        }
        judgement.looked(at: opened.evidence("navigation"))
        judgeWay(to: opened, of: burst, session, &judgement)
        let time = Nanoseconds(max(0, opened.started.time.nanoseconds(since: burst.lastTap.span.latest)))
        if time > patience, mustReach(session) {
            judgement.violation(
                "neutral-late", "the neutral URL was opened \(time) after the neutral tap, not within \(patience)",
                place: [opened.pathTemplate], evidence: burst.evidence + [opened.evidence("navigation")])
        }
        return time
    }

    private static func mustReach(_ session: Session) -> Bool {
        !Set(session.policy.mustExercise).isDisjoint(with: ["neutral", description.id])
    }

    private static func judgeWay(
        to opened: RequestRecord, of burst: Burst, _ session: Session, _ judgement: inout Judgement
    ) {
        let hops = session.hops(to: opened, since: burst.reach)
        if let hop = hops.first(where: { !session.role(of: $0.host).isChia && !isNeutralHost($0.host, session) }) {
            let role = session.role(of: hop.host).rawValue
            judgement.violation(
                "redirect-hop",
                "the neutral URL was reached by a redirect (\(hop.status)) of \(hop.host.map { session.redactor.host($0.text) } ?? "?") (\(role))",
                place: [role, hop.pathTemplate],
                evidence: burst.evidence + [hop.evidence("redirect"), opened.evidence("navigation")])
            return
        }
        if let page = page(before: opened, of: burst, session) {
            let role = session.role(of: page.host).rawValue
            judgement.violation(
                "page-between",
                "between the neutral tap and the neutral URL the browser opened a page of \(page.host.map { session.redactor.host($0.text) } ?? "?") (\(role)), which led there",
                place: [role, session.redactor.path(page.path)],
                evidence: burst.evidence + [page.evidence("page", session.redactor), opened.evidence("navigation")])
            return
        }
        guard let match = session.neutralURL(askedBy: opened), !match.isExact else { return }
        // What a browser normalises before it asks is not the app's change.
        guard opened.address != match.url.address.normalised else { return }
        judgement.violation(
            "neutral-url-changed",
            "the browser opened \(opened.subject), which is not the neutral URL of the projection to the byte",
            place: [opened.pathTemplate], evidence: burst.evidence + [opened.evidence("navigation")])
    }

    private static func isNeutralHost(_ host: HostName?, _ session: Session) -> Bool {
        host.map { session.neutralHosts.contains($0) } ?? false
    }

    /// A page of the partner or of a telemetry host that the browser opened before, and that led to the neutral URL: the
    /// browser itself says that a page asked for it.
    private static func page(before opened: RequestRecord, of burst: Burst, _ session: Session) -> LoggedRequest? {
        guard opened.fetchSite == "cross-site" || opened.refererHost != nil else { return nil }
        return session.requests.requests(from: burst.reach, until: opened.started.time).first { request in
            guard request.actor.actor == .browser, request.page?.isNavigation == true else { return false }
            switch session.role(of: request.host) {
            case .partner, .partnerAssets, .returnHost, .telemetry: return true
            case .chia, .chiaAPI, .chiaAssets, .osNoise, .mark, .thirdParty:
                return opened.refererHost != nil && request.host == opened.refererHost
                    && !session.role(of: request.host).isChia
            }
        }
    }

    private static func judgeMissing(_ burst: Burst, _ session: Session, _ judgement: inout Judgement) {
        let since = burst.lastTap.span.latest
        let what = "\(burst.words) on the neutral action, and no navigation to the neutral URL was seen"
        if let reason = session.unseenNeutralNavigation(since: since, within: patience) {
            judgement.doubt(reason.code, "\(what), but \(reason.sentence)", remedy: reason.remedy)
        } else if mustReach(session) {
            judgement.violation(
                "neutral-not-reached", "\(what) in \(session.observed(after: since))", evidence: burst.evidence,
                restsOnSilence: true)
        } else {
            judgement.doubt(
                "navigation-not-seen", what,
                remedy: "see HR-09; with must-exercise: [neutral] in \(session.policyLine) this is a violation")
        }
    }
}
