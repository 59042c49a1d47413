internal import SessionTrace

/// **HR-04 no-preconnect.** Nothing is connected or looked up ahead of the opening: no connection to Chia that carries no
/// request, and no lookup of its name, comes before the tap (of a double tap the first) or well before the navigation's own
/// connection.
///
/// The contract (CONTRACT.md, "Forbidden") rules out preconnecting; a connection that was there before the tap and used only
/// after it was one. A browser opens spare connections right at its
/// navigation, races address families and QUIC against TCP: what lies within two seconds of the navigation's own
/// connection is its own. An unused connection of the app is a violation at any time. A lookup counts from its last
/// answer, since a slow resolver is no preconnect. What comes after a page of Chia was opened may be that page's.
///
/// Inconclusive: something unused that no navigation follows; a contact within the clock's bound of the tap, or by a
/// browser that was not clean; connections without any name; a bypass.
enum NoPreconnect: Rule {
    static let description = RuleDescription(
        id: "HR-04", name: "no-preconnect", severity: .error,
        sentence: "Nothing connects to Chia or looks its name up ahead of the tap and of the page that it opens.",
        heading: "Forbidden", matrix: ["M-05"],
        inconclusiveWhen:
            "an unused connection has no navigation after it, the tap's time is not known well enough, or hosts stayed unnamed",
        example:
            "When the card is shown the app opens a connection to Chia and leaves it unused. Fail: an unused connection, 3 s before the tap."
    )

    /// What is opened this long before the navigation's own connection, at most, is the browser's spare.
    private static let window = ContactBook.spareWindow

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "nothing happened that could be judged"
        if !session.taps.isEmpty || !session.attempts.isEmpty || !session.contacts.isEmpty { judgement.exercised() }
        var uses = Uses(session)
        var spare = 0
        var first: Instant?
        for contact in session.contacts {
            if contact.isAssociation || contact.actor.actor == .os { continue }
            switch contact.kind {
            case .request: continue
            case .connection:
                guard contact.beganInTrace, uses.isAhead(contact, session) else { continue }
                if contact.isIdle == true { spare += 1 }
                judge(contact, seen: contact.time, &uses, session, &judgement)
            case .lookup:
                guard let seen = uses.idleLookup(contact, session) else { continue }
                judge(contact, seen: seen, &uses, session, &judgement)
            }
            first = first ?? contact.time
        }
        judgement.passSentence =
            "\(counted(session.contacts.count, "contact")) with Chia, \(spare) of them unused connections, none ahead of its page"
        doubts(session, &judgement)
    }

    private static func doubts(_ session: Session, _ judgement: inout Judgement) {
        let first = session.marks.actions.first?.span.earliest ?? session.attempts.map(\.started).min()
        if let first { session.doubtNames(before: first, &judgement) }
        session.assumeNames(before: first ?? .distantFuture, &judgement)
        session.doubtMarks(&judgement)
        session.doubtBypass(&judgement)
        session.doubtCapture(&judgement)
        session.doubtChiaHost(&judgement)
    }

    private static func judge(
        _ contact: Contact, seen: Instant, _ uses: inout Uses, _ session: Session, _ judgement: inout Judgement
    ) {
        let what =
            contact.kind == .lookup
            ? "\(contact.means) of \(contact.host)"
            : "\(contact.isIdle == true ? "an unused connection" : "a connection") to \(contact.host) (\(contact.means))"
        let evidence = [contact.evidence]
        let place = [contact.role.rawValue, contact.kind == .lookup ? "lookup" : "connection"]
        func violation(_ kind: String, _ when: String) {
            judgement.violation(kind, "\(what) \(when)", place: place, evidence: evidence)
        }
        if session.isOfAnotherDevice(contact.client) { return session.doubtDevice(contact, &judgement) }
        if contact.actor.actor.isApp { return violation("app-owned", "is the app's (\(contact.actor.reason))") }
        let navigation =
            uses.navigation(on: contact.host, after: contact.time)
            ?? (contact.actor.actor == .browser ? uses.navigation(after: contact.time) : nil)
        let isVisited = uses.visited.map { $0 <= contact.time } ?? false
        if isVisited {
            let message = "\(what), after a page of Chia had been opened"
            guard contact.actor.actor == .unknown,
                navigation.map({ $0.opened.nanoseconds(since: seen) > window.count }) ?? true
            else {
                return judgement.information("not-the-app", message, place: place, evidence: evidence)
            }
            judgement.doubt(
                "actor-unknown", "\(message), and nothing tells whether that page's or the app's",
                remedy: "give the keys of the browser too, or capture with process names (PKTAP, PCAPdroid)")
            return
        }
        if let tap = uses.tap(for: navigation?.asked, after: contact.time) {
            switch tap.order(of: contact.time) {
            case .before(let gap):
                if contact.actor.actor == .browser,
                    !session.hasMark([.browserClean], from: .distantPast, to: contact.time)
                {
                    judgement.doubt(
                        "browser-not-clean",
                        "\(what) \(gap) before the tap is the browser's, perhaps from an earlier visit",
                        remedy: "clear the browser before the test and say so with a browser-clean mark")
                    return
                }
                if let tap = session.unsureTap(before: contact.time) {
                    return session.doubtUnsureTap(tap, "\(what) was seen", at: contact.time, &judgement)
                }
                return violation("before-tap", "\(gap) before the tap")
            case .tooClose(let gap, let bound, let code):
                judgement.doubt(
                    code, "\(what) was seen \(gap) before the tap, which is known to ±\(bound)",
                    remedy: "send the marks through the trace's own clock (UDP datagrams in the capture)")
                return
            case .within, .after: break
            }
        } else if session.taps.isEmpty, let start = session.attempts.map(\.started).min(), contact.time < start {
            if let tap = session.unsureTap(before: contact.time) {
                return session.doubtUnsureTap(tap, "\(what) was seen", at: contact.time, &judgement)
            }
            return violation(
                "before-request", "\(Nanoseconds(start.nanoseconds(since: contact.time))) before the session request")
        }
        guard let navigation else {
            judgement.doubt(
                "navigation-not-seen",
                "\(what) is followed by no navigation, so that nothing tells what it was made for",
                remedy: "record until the page has opened, and give the browser's keys")
            return
        }
        let gap = Nanoseconds(navigation.opened.nanoseconds(since: seen))
        if gap > window { violation("early", "\(gap) before the navigation's own connection") }
    }
}

/// What connections and lookups were made for: requests of the browser, by host.
private struct Uses {
    /// A request, and when its connection was opened.
    struct Use {
        var asked: Instant
        var opened: Instant
    }

    private var requests: [HostName: [Use]] = [:]
    private var connections: [HostName: [Instant]] = [:]
    /// When anybody asked for something, by host.
    private var asked: [HostName: [Instant]] = [:]
    private var answers: [HostName: [Instant]] = [:]
    /// When something was first asked on a connection.
    private var firstAsked: [ConnectionID: Instant] = [:]
    private let actions: [Tap]
    /// When the browser first opened a page of Chia.
    let visited: Instant?

    init(_ session: Session) {
        var opened: [ConnectionID: Instant] = [:]
        for contact in session.contacts {
            switch contact.kind {
            case .connection:
                if let id = contact.connection { opened[id] = contact.time }
                connections[contact.host, default: []].append(contact.time)
            case .lookup:
                if contact.means == "DNS answer" { answers[contact.host, default: []].append(contact.time) }
            case .request(let record):
                asked[contact.host, default: []].append(contact.time)
                if let id = contact.connection, firstAsked[id] == nil { firstAsked[id] = contact.time }
                guard !contact.isAssociation, !contact.actor.actor.isApp, record.method != "CONNECT" else { continue }
                let connection = contact.connection.flatMap { opened[$0] } ?? contact.time
                requests[contact.host, default: []].append(Use(asked: contact.time, opened: connection))
            }
        }
        actions = session.leadingTaps
        visited = session.chiaRequests.first { $0.actor.actor == .browser && $0.isNavigation }?.started.time
    }

    /// The first request to a host at or after an instant, whose connection is the navigation's own.
    func navigation(on host: HostName, after instant: Instant) -> Use? {
        guard let all = requests[host] else { return nil }
        let next = all.partitioningIndex { $0.asked >= instant }
        return next < all.count ? all[next] : nil
    }

    /// The first request to any host of Chia's at or after an instant: a browser opens connections ahead to all of a site.
    func navigation(after instant: Instant) -> Use? {
        requests.keys.compactMap { navigation(on: $0, after: instant) }.min { $0.asked < $1.asked }
    }

    /// The tap that a navigation followed; without a navigation, one shortly before, else the next one.
    func tap(for navigation: Instant?, after instant: Instant) -> Tap? {
        guard let navigation else {
            let next = actions.partitioningIndex { $0.span.latest >= instant }
            if next > 0, instant.nanoseconds(since: actions[next - 1].span.latest) <= ContactBook.lookupWindow.count {
                return actions[next - 1]
            }
            return next < actions.count ? actions[next] : nil
        }
        let next = actions.partitioningIndex { $0.reach > navigation }
        return next > 0 ? actions[next - 1] : nil
    }

    /// Whether a connection was made ahead: nothing was asked on it, or not before a tap that came after it. In a trace
    /// that was cut short nothing says what would have been asked on one that was open.
    func isAhead(_ contact: Contact, _ session: Session) -> Bool {
        if contact.isIdle == true { return session.isWhole || !contact.isOpenAtEnd }
        guard let asked = contact.connection.flatMap({ firstAsked[$0] }) else { return false }
        return isTapped(from: contact.time, to: asked)
    }

    /// Whether a tap lies between two moments: what was there before it was not made for what came after.
    private func isTapped(from: Instant, to: Instant) -> Bool {
        let next = actions.partitioningIndex { $0.span.earliest > from }
        return next < actions.count && actions[next].span.earliest <= to
    }

    /// When a lookup was over, if nothing was connected or asked for within the window after that and before a further
    /// tap; nil for a lookup that was used, for an answer whose question is in the trace, and where the trace was cut
    /// before its use can have come.
    func idleLookup(_ contact: Contact, _ session: Session) -> Instant? {
        guard contact.means != "DNS answer" || !contact.beganInTrace else { return nil }
        let limit = contact.time.advanced(byNanoseconds: ContactBook.lookupWindow.count)
        guard session.isWhole || session.span.latest > limit else { return nil }
        let next = [
            Self.first(in: connections[contact.host], from: contact.time),
            Self.first(in: asked[contact.host], from: contact.time),
        ].compactMap(\.self).min()
        // The last answer before its use counts: a resolver may be slow.
        let end = min(next ?? limit, limit)
        let over =
            answers[contact.host].flatMap { all -> Instant? in
                let place = all.partitioningIndex { $0 > end }
                return place > 0 && all[place - 1] >= contact.time ? all[place - 1] : nil
            } ?? contact.time
        guard let next, next.nanoseconds(since: over) <= ContactBook.spareWindow.count,
            !isTapped(from: contact.time, to: next)
        else { return over }
        return nil
    }

    private static func first(in times: [Instant]?, from instant: Instant) -> Instant? {
        guard let times else { return nil }
        let next = times.partitioningIndex { $0 >= instant }
        return next < times.count ? times[next] : nil
    }
}
