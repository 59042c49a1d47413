internal import SessionTrace

/// **HR-66 return-host-registered.** A link on a host that is not registered does not bring the app to life.
///
/// The contract (CONTRACT.md, "Generic return") has the handler check the registered host. The tester opens a link on another
/// host, and says so with a `link-opened` mark whose `host` or `url` names it; for `timing: foreign-link` (5 s) the app must
/// send nothing. Whoever opens a link is in another app. A link on a return host is no test of this rule.
///
/// Inconclusive: what the app sent so near the mark that the link may have been opened later; the network was cut; a sender that is not known; traffic in that time that stayed unread or
/// came to nothing, or a trace that ends in it. Traps: services of the system; the browser that opens the foreign link.
enum ReturnHostRegistered: Rule {
    static let description = RuleDescription(
        id: "HR-66", name: "return-host-registered", severity: .warning,
        sentence: "A link on a host that is not registered does not make the app send anything.",
        heading: "Generic return", matrix: ["M-08"],
        inconclusiveWhen: "nothing tells who sent something after the link, or traffic stayed unread",
        options: ["hosts: {return}", "return-link", "timing: {foreign-link}"],
        example:
            "A link on a look-alike host opens the app, which asks for its home 800 ms later. Fail, warning: foreign-link, with the distance."
    )

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no link on a foreign host was opened"
        let links = session.marks([.linkOpened]).filter { mark in
            link(mark).map { !isRegistered($0, session.policy) } ?? false
        }
        session.doubtLeftOut(links.count, "links on foreign hosts", &judgement)
        for mark in links.prefix(session.windowLimit) {
            judgement.looked(at: session.evidence(mark))
            judge(mark, session, &judgement)
        }
        let window = session.policy.timing.foreignLink
        judgement.passSentence =
            "\(counted(links.count, "link")) on a foreign host opened, and nothing of the app within \(window)"
    }

    /// The link that a mark names, or its host.
    private static func link(_ mark: Mark) -> String? { mark.attributes["url"] ?? mark.attributes["host"] }

    private static func isRegistered(_ link: String, _ policy: Policy) -> Bool {
        if let registered = policy.returnLink {
            let scheme = registered.firstRange(of: "://").map { registered[..<$0.upperBound] } ?? ""
            if !registered.lowercased().hasPrefix("http"), link.hasPrefix(scheme) { return true }
            if let one = WebAddress(registered)?.host, one == (WebAddress(link)?.host ?? HostName(link)) { return true }
        }
        guard let host = WebAddress(link)?.host ?? HostName(link) else { return false }
        return policy.hosts.returnHosts.covers(host)
    }

    private static func judge(_ mark: Mark, _ session: Session, _ judgement: inout Judgement) {
        let window = session.policy.timing.foreignLink
        guard !session.policy.hosts.returnHosts.isEmpty || session.policy.returnLink != nil else {
            return judgement.doubt(
                "policy-mismatch", "a link was opened, but the policy does not name the registered host",
                remedy: "add to \(session.policyLine):  hosts: {return: [www.partner.example]}")
        }
        // What a tap in the app or another link starts has another cause.
        let next = session.marks([.tap, .linkOpened]).first {
            $0.span.earliest > mark.span.earliest && $0.target != .other && ($0.kind == .linkOpened || $0.target != nil)
        }
        let watch = Watch(after: mark, for: window, until: next, session)
        let start = watch.from
        let end = watch.surelyFrom.advanced(byNanoseconds: window.count)
        let requests = session.appRequests(from: start, until: watch.until)
        let ofApp = requests.filter(\.actor.actor.isApp)
        if let request = ofApp.first(where: { watch.holds($0.started.time) }) {
            let delay = Nanoseconds(max(0, request.started.time.nanoseconds(since: mark.span.earliest)))
            let sentence = "\(request.subject(session.redactor)) \(delay) after a link on a foreign host was opened"
            return judgement.violation(
                "foreign-link", "\(sentence): the app came to life", place: [request.template(session.redactor)],
                evidence: [session.evidence(mark), request.evidence("after the link", session.redactor)])
        }
        if let request = ofApp.first {
            return watch.leaveOpen(
                "\(request.subject(session.redactor)) was sent about when a link on a foreign host was opened",
                &judgement)
        }
        if let request = requests.first { return session.doubtSender(request, &judgement) }
        if session.isOffline(from: start, until: end) {
            return judgement.doubt(
                "offline", "the network was cut when the link was opened", remedy: "open the link with the network on")
        }
        if let next, next.span.earliest < end {
            return judgement.doubt(
                "window-cut-short",
                "\(next.kind.rawValue) comes \(Nanoseconds(next.span.earliest.nanoseconds(since: mark.span.earliest))) after the link was opened, sooner than \(window)",
                remedy: "leave the app alone for \(window) after opening the link")
        }
        if session.ended < end {
            return judgement.doubt(
                "trace-ended", "the trace ends within \(window) of opening the link",
                remedy: "record for some seconds after opening the link")
        }
        session.doubtUnread(from: start, until: end, &judgement)
    }
}
