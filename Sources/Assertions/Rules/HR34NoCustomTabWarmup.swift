internal import SessionTrace

/// **HR-34 no-custom-tab-warmup.** The browser is not warmed up: it neither connects to Chia nor prefetches a page of it
/// before the app hands the URL over.
///
/// The contract (CONTRACT.md, "Forbidden") rules out prefetch, preconnect and Custom Tab bridges; `warmup()` and
/// `mayLaunchUrl()` of a Custom Tab cause exactly that, and the browser, not the app, is seen to do it. What the browser
/// sends to Chia is held against the next action tap (of a double tap the first), and against the next `opened` mark, before the page that it leads
/// to: a contact before one of them was made ahead. HR-01 judges the same before the tap, as an error; this says what it
/// looks like. A connection of nobody's is taken for the browser's where its TLS stack (JA4) is the browser's and not the
/// app's. What follows an opened page of Chia, a policy page among them, is that page's.
///
/// Inconclusive: no mark tells when the app acted; a browser that was not clean; a connection that nothing tells the
/// owner of, or that could not be read and may hold a prefetch; one without a name before the app acted, unless it is the
/// app's or the system's; a bypass.
enum NoCustomTabWarmup: Rule {
    static let description = RuleDescription(
        id: "HR-34", name: "no-custom-tab-warmup", severity: .warning,
        sentence: "The browser does not connect to Chia, nor prefetch from it, before the app hands it the URL.",
        heading: "Forbidden", matrix: ["M-04"],
        inconclusiveWhen:
            "nothing marks when the app acted, the browser was not clean, or connections to Chia could not be read",
        example:
            "The app calls mayLaunchUrl() when the disclosure is shown: the browser connects to Chia 3 s before the tap. Warning: the browser was warmed up."
    )

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "the browser did not contact Chia"
        let actions = session.leadingTaps
        let handovers = session.marks([.opened])
        let visited = session.chiaRequests.first { $0.actor.actor == .browser && $0.isNavigation }?.started.time
        var count = 0
        for contact in session.contacts {
            guard let owner = owner(of: contact, session) else { continue }
            judgement.exercised()
            count += 1
            let isOpening = contact.request.map { $0.isNavigation } ?? false
            // From the first page on, what the browser does is that page's.
            if isOpening || visited.map({ $0 <= contact.time }) ?? false { continue }
            if session.isOfAnotherDevice(contact.client) {
                session.doubtDevice(contact, &judgement)
                continue
            }
            guard let when = ahead(contact, of: visited ?? .distantFuture, actions, handovers, session, &judgement)
            else { continue }
            report(contact, owner, when, session, &judgement)
        }
        judgement.passSentence =
            "\(counted(count, "contact")) of the browser with Chia, none of them before the app acted"
        // A prefetch may be in what was not read.
        session.doubtChiaHoles(exceptBrowser: false, &judgement)
        doubtNames(before: visited ?? .distantFuture, actions, handovers, session, &judgement)
        guard judgement.isExercised else { return }
        if actions.isEmpty, handovers.isEmpty {
            judgement.doubt(
                "no-tap-mark", "no tap and no handover to the browser is marked, so that nothing tells what came ahead",
                remedy: "mark the taps, and opened when the app hands the URL over")
        }
        session.doubtMarks(&judgement)
        session.doubtBypass(&judgement)
        session.doubtCapture(&judgement)
    }

    /// A connection without a name, before an act of the app that led to a page, may have been the browser's to Chia.
    private static func doubtNames(
        before page: Instant, _ actions: [Tap], _ handovers: [Mark], _ session: Session, _ judgement: inout Judgement
    ) {
        let acts = actions.map(\.span.earliest) + handovers.map(\.span.earliest)
        guard let act = acts.filter({ $0 <= page }).max() else { return }
        session.doubtNames(before: act, act: "the app acted", &judgement) { flow in
            !flow.actor.actor.isApp && flow.actor.actor != .os && !(flow.ja4.map(session.stacks.isOnlyOfApp) ?? false)
        }
    }

    private enum Owner { case browser(String), unknown(String) }

    /// Whose a contact is, if it may be the browser's.
    private static func owner(of contact: Contact, _ session: Session) -> Owner? {
        guard !contact.isAssociation else { return nil }
        switch contact.actor.actor {
        case .browser: return .browser(contact.actor.reason)
        case .app, .webview, .os: return nil
        case .unknown:
            guard contact.kind == .connection, let ja4 = contact.ja4 else { return nil }
            if session.stacks.isOnlyOfBrowser(ja4) {
                return .browser("its TLS stack is the browser's, JA4 \(ja4)")
            }
            return session.stacks.isOnlyOfApp(ja4) ? nil : .unknown(contact.actor.reason)
        }
    }

    /// How long a contact came ahead of an act that lies between it and the page; nil when none does.
    private static func ahead(
        _ contact: Contact, of page: Instant, _ actions: [Tap], _ handovers: [Mark], _ session: Session,
        _ judgement: inout Judgement
    ) -> String? {
        let place = actions.partitioningIndex { $0.span.latest >= contact.time }
        if place < actions.count, actions[place].span.earliest <= page {
            switch actions[place].order(of: contact.time) {
            case .before(let gap):
                guard let tap = session.unsureTap(before: contact.time) else { return "\(gap) before the tap" }
                session.doubtUnsureTap(
                    tap, "\(contact.means) of \(contact.host) was seen", at: contact.time, &judgement)
                return nil
            case .tooClose(let gap, let bound, let code):
                judgement.doubt(
                    code,
                    "\(contact.means) of \(contact.host) was seen \(gap) before the tap, which is known to ±\(bound)",
                    remedy: "send the marks through the trace's own clock (UDP datagrams in the capture)")
                return nil
            case .within, .after: break
            }
        }
        // What comes in the moment of a handover, as of a tap, is its own and not ahead of the next one.
        guard let mark = handovers.first(where: { $0.span.earliest >= contact.time }), mark.span.earliest <= page else {
            return nil
        }
        let gap = Nanoseconds(mark.span.earliest.nanoseconds(since: contact.time))
        // The mark may be sent a little after the call, and a browser opens spare connections then; it prefetches nothing.
        let allowed = contact.request?.speculation != nil ? Nanoseconds(0) : ContactBook.spareWindow
        guard gap > allowed else { return nil }
        if Nanoseconds(session.reach(of: mark).earliest.nanoseconds(since: contact.time)) > allowed {
            return "\(gap) before the app handed the URL over"
        }
        let isByHand = mark.by == .person
        judgement.doubt(
            isByHand ? "late-mark" : "clock-bound",
            "\(contact.means) of \(contact.host) was seen \(gap) before opened was marked, \(isByHand ? "by hand and perhaps late" : "on a clock that is known to ±\(session.bound(of: mark))")",
            remedy: "let the app or the test script send the mark, through the trace's own clock")
        return nil
    }

    private static func report(
        _ contact: Contact, _ owner: Owner, _ when: String, _ session: Session, _ judgement: inout Judgement
    ) {
        let isPrefetch = contact.request?.speculation != nil
        let what = "\(isPrefetch ? "a prefetch from" : contact.means + " of") \(contact.host) \(when)"
        var evidence = contact.evidence
        evidence.place = contact.actor.words
        switch owner {
        case .unknown(let why):
            judgement.doubt(
                "actor-unknown", "\(what) may be the browser's: \(why)",
                remedy: "capture with process names (PKTAP, PCAPdroid), or open another page in the browser first")
        case .browser where !session.hasMark([.browserClean], from: .distantPast, to: contact.time):
            judgement.doubt(
                "browser-not-clean", "\(what) is the browser's, perhaps from an earlier visit",
                remedy: "clear the browser before the test and say so with a browser-clean mark")
        case .browser(let why):
            judgement.violation(
                isPrefetch ? "prefetch" : "warmup",
                "the browser was warmed up: \(what) (\(why)), as warmup() and mayLaunchUrl() of a Custom Tab do",
                place: [
                    contact.role.rawValue,
                    contact.kind == .lookup ? "lookup" : contact.request?.pathTemplate ?? "connection",
                ],
                evidence: [evidence])
        }
    }
}
