internal import SessionTrace

/// **HR-32 https-only.** Every URL of the handoff is https, nothing goes to Chia or the partner in the clear, and no
/// connection to them speaks less than TLS 1.2.
///
/// The contract (CONTRACT.md, "The tap sequence" 5 and "The decision") opens HTTPS. Looked at are the handoff URL in the
/// session response; neutral, policy and image URLs in projections; requests with the scheme `http` to hosts of Chia and
/// the partner; and the version that each of their connections agreed on. What the browser asks for by itself (a typed
/// address, a page's own link) is not the app's, unless it is a handoff or neutral URL.
///
/// Inconclusive: nothing tells who sent a request in the clear or spoke an old version; no handoff URL was seen and the
/// partner's traffic could not be read; a bypass.
enum HTTPSOnly: Rule {
    static let description = RuleDescription(
        id: "HR-32", name: "https-only", severity: .error,
        sentence:
            "URLs of the handoff are https, and nothing goes to Chia or the partner in the clear or below TLS 1.2.",
        heading: "Forbidden",
        inconclusiveWhen: "nothing tells who sent something in the clear, or traffic went around the place of capture",
        options: ["hosts: {chia, partner, partner-assets}", "fields: {image}"],
        example: "The projection's neutral URL begins with http://. Fail: the neutral URL in a projection is not https."
    )

    /// TLS 1.2.
    private static let leastVersion: UInt16 = 0x0303

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "neither a URL of the handoff nor traffic to Chia or the partner was seen"
        judgeURLs(session, &judgement)
        let requests = session.browsing.cleartext.filter { concerns($0.host, session) }
        for record in requests { judge(cleartext: record, session, &judgement) }
        for flow in session.browsing.oldConnections where flow.names.contains(where: { concerns($0, session) }) {
            judge(old: flow, session, &judgement)
        }
        let connections = session.tallies.filter { concerns($0.key, session) }.map(\.value.secure).reduce(0, +)
        if connections > 0 { judgement.exercised() }
        judgement.passSentence =
            "\(counted(session.urls.count + session.neutralURLs.count, "URL")), all https; "
            + "\(counted(connections, "TLS connection")) to Chia and the partner, none below TLS 1.2"
        if judgement.isExercised {
            session.assumePartner(&judgement)
            // The handoff's URLs may stand in what was not read.
            if session.urls.isEmpty { session.doubtSessionTraffic(&judgement) }
            session.doubtBypass(&judgement)
        }
        session.doubtCapture(&judgement)
    }

    private static func concerns(_ host: HostName?, _ session: Session) -> Bool {
        guard let host else { return false }
        let role = session.roles.role(of: host)
        return session.roles.isChia(host) || role == .partner || role == .partnerAssets
    }

    // MARK: URLs

    private static func judgeURLs(_ session: Session, _ judgement: inout Judgement) {
        for url in session.urls { judgement.looked(at: url.evidence) }
        for attempt in session.attempts where attempt.last.answer.plainURLs > 0 {
            judgement.violation(
                "plain-handoff-url",
                "the answer to attempt \(attempt.number) names a handoff URL that begins with http://",
                place: ["session-response"], evidence: [attempt.evidence("session response")])
        }
        for projection in session.projections {
            if !projection.decisions.isEmpty { judgement.looked(at: projection.record.evidence("projection")) }
            for place in projection.plainURLs {
                judgement.violation(
                    "plain-url", "\(place) in a projection is not https", place: [place],
                    evidence: [projection.record.evidence("projection", place: place)])
            }
        }
    }

    // MARK: traffic

    private static func judge(cleartext record: RequestRecord, _ session: Session, _ judgement: inout Judgement) {
        let sentence = "\(record.subject) was sent in the clear (packet \(record.started.number))"
        let place = [session.role(of: record.host).rawValue, record.method, record.pathTemplate]
        let evidence = [record.evidence("request in the clear", place: record.actor.words)]
        let isOfHandoff =
            session.handoffURL(askedBy: record) != nil || session.neutralURL(askedBy: record) != nil
        if session.isOfAnotherDevice(record.client?.address) {
            judgement.doubt(
                "several-devices", "\(sentence), but by another device than the session's",
                remedy: "judge one device at a time: --filter 'host ADDRESS'")
            return
        }
        switch record.actor.actor {
        case .app, .webview:
            judgement.violation(
                "cleartext", "\(sentence) by the app (\(record.actor.reason))", place: place, evidence: evidence)
        case .browser where isOfHandoff && !session.isStartedByChia(record):
            judgement.violation(
                "cleartext", "\(sentence): the handoff led the browser there", place: place, evidence: evidence)
        case .browser, .os:
            judgement.information(
                "not-the-app", "\(sentence) by the \(record.actor.actor.rawValue) itself (\(record.actor.reason))",
                place: place, evidence: evidence)
        case .unknown:
            judgement.doubt(
                "actor-unknown", "\(sentence), and nothing tells by whom: \(record.actor.reason)",
                remedy: "capture with process names, or let the client send its own User-Agent")
        }
    }

    private static func judge(old flow: FlowSummary, _ session: Session, _ judgement: inout Judgement) {
        let version = Self.name(flow.version ?? 0)
        let host = flow.names[0]
        let sentence = "a connection to \(host) spoke \(version) (packet \(flow.opened.number)), less than TLS 1.2"
        let place = [session.role(of: host).rawValue, version]
        let evidence = [
            Evidence(
                label: "old connection", packets: [flow.opened.number], span: flow.span, connection: flow.id,
                endpoints: flow.endpoints, subject: "connection to \(host), \(version)", place: flow.actor.words)
        ]
        switch flow.actor.actor {
        case .app, .webview: judgement.violation("old-tls", sentence, place: place, evidence: evidence)
        case .browser, .os:
            judgement.information(
                "not-the-app", "\(sentence), by the \(flow.actor.actor.rawValue) (\(flow.actor.reason))", place: place,
                evidence: evidence)
        case .unknown:
            judgement.doubt(
                "actor-unknown", "\(sentence), and nothing tells whose it is",
                remedy: "give the keys, or capture with process names")
        }
    }

    static func isOld(_ version: UInt16?) -> Bool { version.map { $0 > 0 && $0 < leastVersion } ?? false }

    private static func name(_ version: UInt16) -> String {
        switch version {
        case 0x0302: "TLS 1.1"
        case 0x0301: "TLS 1.0"
        case 0x0300: "SSL 3.0"
        default: "SSL"
        }
    }
}
