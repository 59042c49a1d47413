internal import SessionTrace

/// **HR-64 return-goes-home.** After a generic return the app asks for the marketplace's home, and for nothing else until the
/// next tap.
///
/// The contract (CONTRACT.md, "Generic return") leads every return to the marketplace's home. From each `return` mark (else each
/// tap on the return link) to the next tap or until the app is left, requests of the app must match a template under
/// `requests: home`, be images, or be what `requests: foreground-allow` names. A projection of an item that had been on
/// the screen is the refresh that HR-42 asks for; one of another item is not. Events to telemetry are mentioned.
///
/// Inconclusive: what was sent so near the return's mark that it may have come before; the policy names no home; a sender that is not known; traffic of the app that stayed
/// unread or came to nothing. Traps: the refresh of the item
/// behind the home; images; services of the system; what the next tap starts.
enum ReturnGoesHome: Rule {
    static let description = RuleDescription(
        id: "HR-64", name: "return-goes-home", severity: .error,
        sentence: "After a generic return the app asks for the marketplace's home and nothing else.",
        heading: "Generic return", matrix: ["M-08"],
        inconclusiveWhen: "the policy names no home, or traffic of the app stayed unread after the return",
        options: [
            "requests: {home, foreground-allow, projection}", "hosts: {partner-assets}", "timing: {after-return}",
        ],
        example:
            "The return link names an order, and the app opens it: GET /orders/{id} follows. Fail: not-home, with the request."
    )

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no generic return"
        let windows = session.returnWindows
        session.doubtLeftOut(windows.count, "returns", &judgement)
        var home = 0
        var requests = 0
        // Projections that had been asked for before.
        var known: Set<Substring> = []
        var seen = Instant.distantPast
        for window in windows.prefix(session.windowLimit) {
            judgement.looked(at: session.evidence(window.mark))
            let start = window.mark.span.earliest
            for request in session.requests.requests(from: seen, until: start)
            where session.purpose(of: request) == .projection {
                known.insert(request.path)
            }
            seen = start
            let watch = window.watch
            for request in session.appRequests(from: watch.from, until: watch.until) {
                requests += 1
                if session.purpose(of: request) == .home { home += 1 }
                judge(request, window, known, session, &judgement)
            }
            session.doubtUnread(from: watch.from, until: watch.until, &judgement)
            if window.isOpen {
                session.assumeWatched(
                    session.policy.timing.afterReturn, since: window.mark.span.latest, "the return", &judgement)
            }
        }
        guard !windows.isEmpty else { return }
        if home == 0, !session.policy.requests.home.isEmpty {
            judgement.assume(
                "home-not-asked-for", "no request of the app after the return is one of the policy's requests: home")
        }
        judgement.passSentence =
            "\(counted(requests, "request")) of the app after \(counted(windows.count, "return")), \(home) for the home, none for anything but it and images"
        session.doubtMarks(&judgement)
    }

    private static func judge(
        _ request: LoggedRequest, _ window: ReturnWindow, _ known: Set<Substring>, _ session: Session,
        _ judgement: inout Judgement
    ) {
        let subject = request.subject(session.redactor)
        let delay = Nanoseconds(max(0, request.started.time.nanoseconds(since: window.mark.span.earliest)))
        let place = [session.role(of: request.host).rawValue, request.template(session.redactor)]
        let evidence = [
            session.evidence(window.mark), request.evidence("after the return", session.redactor),
        ]
        switch session.purpose(of: request) {
        case .home, .image, .allowed, .session: return
        case .homeElsewhere: session.doubtHomeElsewhere(request, &judgement)
        case .projection where known.contains(request.path):
            judgement.information(
                "refresh", "\(subject), \(delay) after the return, refreshes an item that had been on the screen",
                place: place, evidence: evidence)
        case .telemetry:
            judgement.information(
                "telemetry", "\(subject), \(delay) after the return, goes to telemetry", place: place,
                evidence: evidence)
        case .projection, .other:
            if request.actor.actor == .unknown { return session.doubtSender(request, &judgement) }
            guard !session.policy.requests.home.isEmpty else {
                return judgement.doubt(
                    "policy-mismatch",
                    "\(subject) follows the return, and the policy does not say what the marketplace's home asks for",
                    remedy:
                        "add to \(session.policyLine), if it is the home's:  requests: {home: [\"\(request.template(session.redactor))\"]}"
                )
            }
            guard window.watch.holds(request.started.time) else {
                return window.watch.leaveOpen("\(subject) was sent about when the return was", &judgement)
            }
            let role = session.role(of: request.host)
            judgement.violation(
                session.purpose(of: request) == .projection ? "item-opened" : "not-home",
                severity: role == .partner || role.isChia || role == .returnHost ? .error : .warning,
                "\(subject), \(delay) after the return, is none of the \(session.policy.requests.home.count) requests of the home",
                place: place, evidence: evidence)
        }
    }
}

/// The time after a generic return in which the app does nothing but go home.
struct ReturnWindow {
    var mark: Mark
    var watch: Watch
    /// Whether nothing but the end of the trace ends it.
    var isOpen: Bool
}

extension Session {
    /// Says that a rule did not look at all times of one kind.
    func doubtLeftOut(_ count: Int, _ nouns: String, _ judgement: inout Judgement) {
        guard count > windowLimit else { return }
        judgement.doubt(
            "state-given-up", "there are \(count) \(nouns), and only the first \(windowLimit) were looked at",
            remedy: "record fewer of them at a time")
    }

    /// The times after generic returns: from each `return` mark, else each tap on the return link, until the next tap or
    /// until the app is left.
    var returnWindows: [ReturnWindow] {
        let ends: Set<Mark.Kind> = [.tap, .background, .kill, .launch, .opened, .linkOpened, .return]
        let all = marks(ends)
        let hasReturns = all.contains { $0.kind == .return }
        var windows: [ReturnWindow] = []
        for (place, mark) in all.enumerated() {
            guard mark.kind == .return || (!hasReturns && mark.kind == .tap && mark.target == .return) else { continue }
            let next = all[(place + 1)...].first { ends.contains($0.kind) }
            let home = firstRequest(after: mark) { purpose(of: $0) == .home }
            windows.append(
                ReturnWindow(
                    mark: mark, watch: Watch(after: mark, for: Nanoseconds(.max), until: next, sign: home, self),
                    isOpen: next == nil))
        }
        return windows
    }
}
