internal import SessionTrace

/// What the rules about the contents of the app's messages share.
enum ContentRules {
    /// Whose message a finding was in, as far as a rule may hold it against the app; writes down why not.
    static func isOfApp(
        _ finding: ContentFinding, _ sentence: String, _ session: Session, _ judgement: inout Judgement
    ) -> Bool {
        let record = finding.record
        if session.isOfAnotherDevice(record.client?.address) {
            judgement.doubt(
                "several-devices",
                "\(sentence), to \(record.client?.address.description ?? "another device"), which sent no session request",
                remedy: "judge one device at a time: --filter 'host ADDRESS'")
            return false
        }
        switch record.actor.actor {
        case .app, .webview: return true
        case .browser, .os: return false
        case .unknown:
            // To Chia an unknown sender may as well be the browser; elsewhere a browser says more of itself.
            guard session.role(of: record.host).isChia || record.actor.isBareBrowser else { return true }
            judgement.doubt(
                "actor-unknown", "\(sentence), and nothing tells who it was: \(record.actor.reason)",
                remedy: "capture with process names (PKTAP, PCAPdroid), or let the client send its own User-Agent")
            return false
        }
    }

    /// `the answer to GET api.partner.example/home`, `GET api.partner.example/home`.
    static func carrier(_ finding: ContentFinding) -> String {
        carrier(finding.record, isInRequest: finding.isInRequest)
    }

    private static func carrier(_ record: RequestRecord, isInRequest: Bool) -> String {
        if isInRequest { return record.subject }
        return record.method == Upgrade.method ? "a message of \(record.subject)" : "the answer to \(record.subject)"
    }

    /// How often a finding was seen, where more than once.
    static func times(_ finding: ContentFinding) -> String { finding.count > 1 ? " (\(finding.count) times)" : "" }

    /// The place for a fingerprint: role, path template, field.
    static func place(_ finding: ContentFinding, _ session: Session) -> [String] {
        [
            session.role(of: finding.record.host).rawValue, finding.record.method, finding.record.pathTemplate,
            finding.template,
        ]
    }

    /// Hosts whose answers to the app may be the partner's, be it under another name.
    static func mayBePartner(_ host: HostName, _ session: Session) -> Bool {
        let role = session.roles.role(of: host)
        return session.mayServeSessions(host) || role == .partnerAssets || role == .returnHost
    }

    /// Answers that could not be looked into, and hosts whose answers stayed unread.
    static func doubtAnswers(
        _ what: String, _ session: Session, _ judgement: inout Judgement, from isConcerned: (HostName) -> Bool
    ) {
        doubtGaps(inRequests: false, what, session, &judgement, isConcerned)
        session.doubtAnswers(what, isConcerned, &judgement)
    }

    /// Requests of the app that could not be looked into.
    static func doubtQuestions(
        _ what: String, _ session: Session, _ judgement: inout Judgement, to isConcerned: (HostName) -> Bool
    ) {
        doubtGaps(inRequests: true, what, session, &judgement, isConcerned)
    }

    private static func doubtGaps(
        inRequests: Bool, _ what: String, _ session: Session, _ judgement: inout Judgement,
        _ isConcerned: (HostName) -> Bool
    ) {
        guard
            let gap = session.contents.gaps.first(where: { gap in
                gap.isInRequest == inRequests && gap.record.actor.actor != .browser
                    && (gap.record.host.map(isConcerned) ?? true)
            })
        else { return }
        let carrier = carrier(gap.record, isInRequest: inRequests)
        judgement.doubt(
            gap.reason == .tcpHole ? "body-not-whole" : gap.reason.rawValue,
            "\(carrier) (packet \(gap.record.started.number)) could not be looked into in full, and may hold \(what)",
            remedy: Session.remedy(gap.reason))
    }

    /// Judges a contact that the app must not make, by who made it.
    static func judge(
        _ contact: Contact, _ kind: String, _ sentence: String, _ session: Session, _ judgement: inout Judgement
    ) {
        switch contact.actor.actor {
        case .app, .webview:
            if session.isOfAnotherDevice(contact.client) { return session.doubtDevice(contact, &judgement) }
            judgement.violation(
                kind, "\(sentence), by the app (\(contact.actor.reason))",
                place: [
                    contact.role.rawValue, contact.means, contact.request?.method ?? "",
                    contact.request?.pathTemplate ?? "",
                ], evidence: [contact.evidence])
        case .unknown:
            judgement.doubt(
                "actor-unknown", "\(sentence): \(contact.actor.reason)",
                remedy: "capture with process names (PKTAP, PCAPdroid), or give the keys of the browser too")
        case .browser, .os: return
        }
    }
}
