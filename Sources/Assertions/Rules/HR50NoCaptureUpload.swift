internal import SessionTrace

/// **HR-50 no-capture-upload-during-flow.** Nothing that records the screen is uploaded between the call to action and
/// the browser.
///
/// The contract (CONTRACT.md, "Forbidden") rules out screenshot tooling around a selection. From the tap on the call to
/// action until the app is left, requests of the app are looked at: bodies of 8 KiB or more to hosts of session replay,
/// and pictures, films or replay events (by media type, first bytes or the names that rrweb uses) to any telemetry host.
/// What a picture shows is not read.
///
/// Inconclusive: unread connections to session replay or telemetry hosts, or to a host without a name, in that time that
/// sent something, or would have if the host had been in reach. Traps: a small settings request to a replay host; a picture that the app uploads to its own backend; a replay by Chia's own page.
enum NoCaptureUpload: Rule {
    static let description = RuleDescription(
        id: "HR-50", name: "no-capture-upload-during-flow", severity: .warning,
        sentence: "Nothing that records the screen is uploaded between the call to action and the browser.",
        heading: "Forbidden",
        inconclusiveWhen: "connections to session replay or telemetry hosts stayed unread in that time",
        options: ["hosts: {telemetry, opaque-ok}"],
        example:
            "Between the call to action and the browser the app posts 31 KiB to a session replay host. Fail, warning: capture-upload, with the size and the vendor."
    )

    /// Bodies as large as this to a session replay host are recordings, not settings.
    static let smallest = 8 << 10

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no tap on an item and no session request"
        // Where nobody marks that the app went to the background, the browser's opening does it.
        let ends: Set<Mark.Kind> =
            session.marks([.background]).isEmpty
            ? [.opened, .kill, .launch, .end] : [.background, .kill, .launch, .end]
        let times = session.handoffTimes(until: ends)
        var looked = 0
        for time in times.prefix(session.windowLimit) {
            judgement.exercised()
            let end = time.latest.advanced(byNanoseconds: 1)
            let messages = session.messages.requests(from: time.earliest, until: end)
            for request in Array(session.requests.requests(from: time.earliest, until: end)) + messages {
                guard !session.isOfAnotherDevice(request.client?.address) else { continue }
                let isReplayHost = request.host.map { session.roles.vendorKind(of: $0) == .sessionReplay } ?? false
                guard isReplayHost || LeakRules.isTelemetry(request.host, session) else { continue }
                looked += 1
                judge(request, isReplayHost: isReplayHost, session, &judgement)
            }
            session.doubtMessageLog(until: end, &judgement)
            session.doubtUnread(from: time.earliest, until: time.latest, &judgement) { host in
                // Of a connection without a name nothing tells that it went elsewhere.
                guard let host else { return true }
                let isSmall = session.dark[host].map { $0.bytes < smallest } ?? false
                let isReplayHost = session.roles.vendorKind(of: host) == .sessionReplay
                return LeakRules.isTelemetry(host, session) && !(isReplayHost && isSmall)
            }
        }
        session.doubtLeftOut(times.count, "handoffs", &judgement)
        judgement.passSentence =
            "\(counted(looked, "request")) to telemetry between call to action and browser, none uploads a picture, a film or \(smallest >> 10) KiB to session replay; what pictures show is not read"
    }

    private static func judge(
        _ request: LoggedRequest, isReplayHost: Bool, _ session: Session, _ judgement: inout Judgement
    ) {
        let what: String
        switch request.body.kind {
        case .image: what = "a picture"
        case .video: what = "a film"
        case .replay: what = "events of a screen recorder"
        case .none, .json, .form, .text, .binary:
            guard isReplayHost, request.body.bytes >= smallest else { return }
            what = "a body"
        }
        let vendor = request.host.flatMap { session.roles.vendor(of: $0) }.map { " (\($0))" } ?? ""
        let sentence =
            "\(request.subject(session.redactor))\(vendor) uploads \(what) of \(request.body.bytes) bytes between the call to action and the browser"
        switch request.actor.actor {
        case .browser, .os:
            judgement.information(
                "not-the-app", "\(sentence), by the \(request.actor.actor == .os ? "system" : "browser")",
                place: [request.template(session.redactor)],
                evidence: [request.evidence("not the app's", session.redactor)])
        case .unknown: session.doubtSender(request, &judgement)
        case .app, .webview:
            judgement.violation(
                "capture-upload", sentence,
                place: [
                    session.role(of: request.host).rawValue, request.template(session.redactor),
                    "\(request.body.kind)",
                ],
                evidence: [request.evidence("upload", session.redactor)])
        }
    }
}
