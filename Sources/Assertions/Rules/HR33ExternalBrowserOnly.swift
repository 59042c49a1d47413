internal import SessionTrace

/// **HR-33 external-browser-only.** What is opened is opened in the phone's own browser, not in a view inside the app.
///
/// The contract (CONTRACT.md, "Forbidden" and "The tap sequence" 6) rules out web views, Custom Tab bridges and embedded
/// browsers. One sign of an embedded view is enough: an Android WebView's User-Agent or client hints, a package in
/// `X-Requested-With`, an iOS User-Agent without `Version/… Safari/…`, an in-app browser's word, a process that is the
/// app or SafariViewService, an activity that is a Custom Tab, or the TLS stack of an app's HTTP library.
///
/// A pass needs as much: a recorded process that tells the browser from its embedded views, an activity start, or a
/// browser that lends no views (Chrome, Firefox, Edge on iOS) on a JA4 that it used elsewhere too. SFSafariViewController
/// sends Safari's User-Agent, and a Custom Tab is a window of the browser's own process: without such evidence they are
/// not to be told from the browser, and the rule is inconclusive. The absence of `X-Requested-With` proves nothing; an
/// unknown JA4 says nothing. An HTTP library of the app that asks for the URL is HR-05's matter.
enum ExternalBrowserOnly: Rule {
    static let description = RuleDescription(
        id: "HR-33", name: "external-browser-only", severity: .error,
        sentence:
            "Pages of Chia and neutral URLs are opened in the phone's own browser, never in a view inside the app.",
        heading: "Forbidden", matrix: ["M-04"],
        inconclusiveWhen:
            "nothing but a User-Agent says that it was the browser: SFSafariViewController and Custom Tabs send the same",
        options: ["hosts: {chia}"],
        example:
            "The app shows the handoff URL in a WebView: its User-Agent holds \"; wv)\". Fail: opened in a view inside the app."
    )

    /// Where a page was opened, by the best evidence there is.
    private enum Place {
        case embedded(kind: String, why: String)
        case external(why: String)
        /// By a browser's own words alone, where that is enough.
        case byHeaders(why: String)
        case open(code: String, why: String, remedy: String)
        case ofNobody
    }

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no page of Chia's and no neutral URL was opened"
        let places = Array(session.chiaRequests.indices)
        var external = 0
        var reported: Set<ConnectionID> = []
        for navigation in session.navigations(among: places, by: Set(Actor.allCases))
        where !session.isStartedByChia(navigation.first) {
            let record = navigation.first
            var evidence = navigation.evidence("opening")
            evidence.place = StackSigns.words(record, session).joined(separator: "; ")
            let what = "packet \(record.started.number), \(record.subject),"
            if session.isOfAnotherDevice(record.client?.address) {
                judgement.doubt(
                    "several-devices", "\(what) came from another device than the session's",
                    remedy: "judge one device at a time: --filter 'host ADDRESS'")
                continue
            }
            switch place(of: record, session) {
            case .embedded(let kind, let why):
                reported.insert(record.id.connection)
                judgement.violation(
                    kind, "\(what) was opened in a view inside an app: \(why)", place: [record.pathTemplate],
                    evidence: [evidence])
            case .external(let why):
                judgement.looked(at: evidence)
                judgement.passSentence = why
                external += 1
            case .byHeaders(let why):
                judgement.looked(at: evidence)
                judgement.assume("browser-by-headers", why)
                judgement.passSentence = why
                external += 1
            case .open(let code, let why, let remedy):
                guard isOfHandoff(record, session) else { continue }
                judgement.looked(at: evidence)
                judgement.doubt(code, "\(what) \(why)", remedy: remedy)
            case .ofNobody: continue
            }
        }
        judgeUnread(session, reported, &judgement)
        judgement.passSentence =
            "\(counted(external, "page")) opened in the phone's own browser, the last one told by: \(judgement.passSentence)"
        session.doubtHiddenOpenings(&judgement)
        session.doubtUnnamedAnswer(&judgement)
        session.doubtCapture(&judgement)
        if judgement.isExercised { session.doubtBypass(&judgement) }
    }

    /// Whether the handoff led to it: a handoff or neutral URL, any token, or a policy page that a projection names.
    private static func isOfHandoff(_ record: RequestRecord, _ session: Session) -> Bool {
        if session.handoffURL(askedBy: record) != nil || session.neutralURL(askedBy: record) != nil { return true }
        guard let address = record.address else { return true }
        return address.token != nil
    }

    private static func place(of record: RequestRecord, _ session: Session) -> Place {
        let head = record.head
        // One sign of a view inside the app is enough, whatever else was started.
        switch record.actor.actor {
        case .webview: return .embedded(kind: "web-view", why: record.actor.reason)
        case .app where head?.userAgent.hasPrefix("Mozilla/") ?? false:
            // A web view of Android runs in its app's process.
            return .embedded(kind: "web-view", why: "\(record.actor.reason), with a browser's User-Agent")
        case .unknown where head?.userAgent.hasPrefix("Mozilla/") ?? false:
            if let stack = AppStacks.name(ofJA4: head?.ja4) {
                return .embedded(
                    kind: "app-stack", why: "its TLS stack (JA4) is that of \(stack), which no browser has")
            }
        case .app, .os, .browser, .unknown: break
        }
        if let (start, kind) = session.activity(showing: record) {
            let gap = Nanoseconds(record.started.time.nanoseconds(since: start.span.earliest))
            let why = "\(start.component) was started \(gap) before (\(start.origin))"
            switch kind {
            case .customTab: return .embedded(kind: "custom-tab", why: why)
            case .browser: return .external(why: why)
            case .other where start.host == record.host: return .embedded(kind: "other-app", why: why)
            case .other, .dispatcher: break
            }
        }
        switch record.actor.actor {
        case .webview, .app, .os: return .ofNobody
        case .unknown:
            return .open(code: "actor-unknown", why: "is nobody's: \(record.actor.reason)", remedy: Self.remedy)
        case .browser: return placeOfBrowser(record, session)
        }
    }

    private static func placeOfBrowser(_ record: RequestRecord, _ session: Session) -> Place {
        if record.actor.isDefinite {
            switch record.head?.process?.source {
            case .pktap, .pcapd: return .external(why: record.actor.reason)
            case .pcapdroid, .socketTable, .listener, nil:
                return .open(
                    code: "embedded-browser-possible",
                    why: "is the browser's (\(record.actor.reason)), but a Custom Tab is a window of the same process",
                    remedy: Self.remedy)
            }
        }
        let agent = record.head?.userAgent ?? ""
        let name = UserAgentFamily.of(.browser, in: agent)?.name ?? "a browser"
        if name.hasSuffix("on iOS") {
            if session.stacks.isSeenElsewhere(record) {
                return .byHeaders(
                    why: "\(name) lends no views to apps, and used the same TLS stack (JA4) for another host")
            }
            return .open(
                code: "embedded-browser-possible",
                why: "has the User-Agent of \(name), but nothing else in the trace shows that browser",
                remedy: "open another page in that browser first, so that its TLS stack is known; or \(Self.remedy)")
        }
        let double =
            agent.contains("Android") ? "a Custom Tab" : "SFSafariViewController, like a Custom Tab on Android,"
        return .open(
            code: "embedded-browser-possible",
            why: "has the User-Agent of \(name), and \(double) sends the same",
            remedy: Self.remedy)
    }

    /// A connection that nobody can read still has its process.
    private static func judgeUnread(
        _ session: Session, _ reported: Set<ConnectionID>, _ judgement: inout Judgement
    ) {
        for contact in session.contacts
        where contact.kind == .connection && contact.actor.actor == .webview && contact.actor.isDefinite {
            guard let id = contact.connection, !reported.contains(id), !session.isOfAnotherDevice(contact.client) else {
                continue
            }
            judgement.violation(
                "web-view", "a connection to \(contact.host) is a view's inside an app: \(contact.actor.reason)",
                place: [contact.role.rawValue], evidence: [contact.evidence])
        }
    }

    private static let remedy =
        "give process evidence: on iOS capture with rvictl on a Mac, or relay the phone's pcapd; on Android give the log of activity starts (adb logcat -s ActivityTaskManager) with --actors FILE (docs/actors.md)"
}
