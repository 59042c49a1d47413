internal import SessionTrace

/// **HR-59 no-status-call.** The app asks nobody what became of a handoff.
///
/// The contract (CONTRACT.md, "Who talks to whom" and "Forbidden") gives the device no status, lifecycle or order call.
/// Any request of the app to Chia is one. So is a request to a host of the partner's, other than a session attempt, that
/// carries the token, the key, or another opaque string of the session response whose field name ends in `id`, which the
/// app had not sent or been answered before; and any that a template under `requests: status` matches. A bare `/status` or `/orders` is only mentioned: shops have order pages of
/// their own, which `requests: allow` names.
///
/// Inconclusive: nothing tells who sent a request to Chia; a host that the policy does not name was told the key or such a
/// string; traffic of the partner's host stayed unread after the session.
enum NoStatusCall: Rule {
    static let description = RuleDescription(
        id: "HR-59", name: "no-status-call", severity: .error,
        sentence: "The app makes no status or lifecycle call, to Chia or with what the session response gave it.",
        heading: "Forbidden", matrix: ["M-13"],
        inconclusiveWhen: "the sender of a request to Chia is unknown, or the partner's traffic stayed unread")

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no traffic of an app was seen"
        if session.appRequests > 0 || !session.taps.isEmpty || !session.attempts.isEmpty { judgement.exercised() }
        for contact in session.contacts where !contact.isAssociation { judge(contact, session, &judgement) }
        for leak in session.leaks { judge(leak, session, &judgement) }
        for record in session.statusLike { judge(record, session, &judgement) }
        for url in session.urls { judgement.looked(at: url.evidence) }
        judgement.passSentence =
            "none of \(session.appRequests) requests of the app goes to Chia or carries what the session response gave"
        doubtPartner(session, &judgement)
        session.doubtUnnamedAnswer(&judgement)
        session.doubtChiaHoles(exceptBrowser: true, &judgement)
        session.doubtNames(before: nil, &judgement)
        session.doubtBypass(&judgement)
        session.doubtCapture(&judgement)
        session.doubtChiaHost(&judgement)
        session.assumePartner(&judgement)
    }

    private static func judge(_ contact: Contact, _ session: Session, _ judgement: inout Judgement) {
        guard let record = contact.request, record.method != "CONNECT" else { return }
        if contact.actor.actor.isApp, session.isOfAnotherDevice(contact.client) {
            return session.doubtDevice(contact, &judgement)
        }
        switch contact.actor.actor {
        case .app, .webview:
            judgement.violation(
                "chia-request", "\(record.subject) by the app (\(contact.actor.reason))",
                place: [contact.role.rawValue, record.method, record.pathTemplate], evidence: [contact.evidence])
        case .unknown:
            judgement.doubt(
                "actor-unknown", "\(record.subject): \(contact.actor.reason)",
                remedy: "capture with process names (PKTAP, PCAPdroid), or let the client send its own User-Agent")
        case .browser, .os: return
        }
    }

    /// A request that carries something of the session.
    private static func judge(_ leak: LeakRecord, _ session: Session, _ judgement: inout Judgement) {
        let role = session.role(of: leak.host)
        let isPartners = role.isPartners
        // What telemetry is told is other rules' matter.
        guard isPartners || (role == .thirdParty && !LeakRules.isTelemetry(leak.host, session)),
            !leak.actor.actor.isElsewhere
        else { return }
        if let record = leak.request {
            if isAttempt(record, session) { return }
            if isAllowed(record, session) { return }
        }
        for hit in leak.hits {
            let what: String
            switch hit.needle?.kind {
            case .idempotencyKey: what = "the idempotency key"
            case .sessionIdentifier: what = "an id of the session response"
            case .handoffURL, .token: what = "the handoff token"
            case nil where !hit.readsAsName: what = "the handoff token"
            default: continue
            }
            if let value = hit.needle?.value, isItem(value, session) { continue }
            if let needle = hit.needle, needle.kind == .sessionIdentifier, wasKnown(needle, session) { continue }
            let sentence = "\(leak.evidence("", hit).subject) carries \(what) in \(hit.place)"
            if !isPartners {
                // A token there is HR-47's matter.
                if !hit.isHandoffToken { doubtHost(sentence, leak, session, &judgement) }
                continue
            }
            if let reason = doubt(of: leak, hit, role, session) {
                judgement.doubt(reason.code, "\(sentence)\(reason.why)", remedy: reason.remedy)
                continue
            }
            judgement.violation(
                "session-lookup", sentence,
                place: [
                    role.rawValue, leak.request?.method ?? "message",
                    leak.request?.pathTemplate ?? "", hit.fieldTemplate, hit.kindName,
                ],
                evidence: [leak.evidence("status call", hit)])
        }
    }

    /// Why a request that carries something of the session may not be the app's call; nil when it is.
    private static func doubt(
        of leak: LeakRecord, _ hit: LeakHit, _ role: HostRole, _ session: Session
    ) -> (code: String, why: String, remedy: String)? {
        if session.isOfAnotherDevice(leak.client) {
            return (
                "several-devices",
                ", from \(leak.client?.description ?? "another device"), which sent no session request",
                "judge one device at a time: --filter 'host ADDRESS'"
            )
        }
        if role == .returnHost, leak.actor.actor == .unknown {
            return (
                "actor-unknown", ", and nothing tells whether the browser sent it: \(leak.actor.reason)",
                "capture with process names (PKTAP, PCAPdroid), or let the client send its own User-Agent"
            )
        }
        if let needle = hit.needle, needle.kind == .sessionIdentifier,
            session.contents.knownIdentifiers.isIncomplete, !isNamedAsSessions(needle.value, session)
        {
            return (
                BlindSpot.Reason.stateGivenUp.rawValue, "; the app may have known it before the session request",
                Session.remedy(.stateGivenUp)
            )
        }
        return nil
    }

    /// Whether the session response itself says that an id is the session's, by its field's name.
    private static func isNamedAsSessions(_ value: Secret, _ session: Session) -> Bool {
        let names = session.attempts.flatMap(\.messages).flatMap { message in
            message.answer.identifiers.filter { Secret($0.value) == value }.map(\.name)
        }
        return names.contains { name in
            let words = KeyWords(name).words
            return words == ["id"] || words.contains("session") || words.contains("handoff")
        }
    }

    private static func doubtHost(
        _ sentence: String, _ leak: LeakRecord, _ session: Session, _ judgement: inout Judgement
    ) {
        let host = leak.host.map { session.redactor.host($0.text) } ?? "HOST"
        let path = leak.request.map { ["\($0.method) \($0.pathTemplate)"] } ?? []
        let allowed = path.map { "; or, if it is no status call,  requests: {allow: [\"\($0)\"]}" }.joined()
        judgement.doubt(
            "policy-mismatch", "\(sentence), and the policy does not say whose host that is",
            remedy:
                "add to \(session.policyLine):  hosts: {partner: [\(host)]}, if it is the partner's, or {telemetry: [\(host)]}\(allowed)"
        )
    }

    /// A session request, be it the same one on the proxy's other side.
    private static func isAttempt(_ record: RequestRecord, _ session: Session) -> Bool {
        session.attempts.contains { attempt in
            attempt.messages.contains {
                $0.record.id == record.id
                    || ($0.record.method == record.method && $0.record.host == record.host
                        && $0.record.address?.path == record.address?.path)
            }
        }
    }

    /// An account's or a device's id, which the app sent, or was answered, before any session request.
    private static func wasKnown(_ needle: Needle, _ session: Session) -> Bool {
        guard let first = session.attempts.map(\.started).min() else { return false }
        let wasAnswered = session.contents.knownIdentifiers.answers.contains {
            $0.value == needle.value && $0.ended < first && !session.isOfAnotherDevice($0.client)
        }
        return wasAnswered
            || session.leaks.contains { leak in
                leak.started < first && !leak.actor.actor.isElsewhere && !session.isOfAnotherDevice(leak.client)
                    && leak.hits.contains { $0.needle?.value == needle.value }
            }
    }

    /// A catalog id is the app's own, though the session response may repeat it.
    private static func isItem(_ value: Secret, _ session: Session) -> Bool {
        session.projections.contains { projection in
            projection.item.map { Secret($0) == value } ?? false
                || projection.decisions.contains { decision in
                    [decision.item, decision.disclosureVersion].contains { $0.map { Secret($0) == value } ?? false }
                }
        }
    }

    private static func isAllowed(_ record: RequestRecord, _ session: Session) -> Bool {
        let path = record.address?.path ?? ""
        return session.policy.requests.allow.contains { $0.matches(method: record.method, path: path) }
    }

    private static func judge(_ record: RequestRecord, _ session: Session, _ judgement: inout Judgement) {
        guard !isAllowed(record, session), !session.role(of: record.host).isChia else { return }
        let path = record.address?.path ?? ""
        if let template = session.policy.requests.status.first(where: { $0.matches(method: record.method, path: path) })
        {
            judgement.violation(
                "status-template", "\(record.subject) is a status call: the policy names \(template)",
                place: [record.method, template.path.text], evidence: [record.evidence("status call")])
        } else if session.role(of: record.host) == .partner {
            judgement.information(
                "maybe-status",
                "\(record.subject) may be a status call; name it under requests: status or requests: allow in \(session.policyLine)",
                place: [record.method, record.pathTemplate], evidence: [record.evidence("perhaps a status call")])
        }
    }

    /// Polling may hide in what was not read of the partner's host after the session.
    private static func doubtPartner(_ session: Session, _ judgement: inout Judgement) {
        guard let since = LeakRules.knownSince(session) else {
            LeakRules.doubtUnknownURL(session, &judgement)
            return
        }
        let host = session.dark.keys.sorted { $0.text < $1.text }.first { host in
            session.mayServeSessions(host) && (session.dark[host]?.lastData ?? .distantPast) >= since
        }
        if let host, let traffic = session.dark[host] {
            judgement.doubt(
                traffic.reason.rawValue,
                "\(traffic.connections) unread \(traffic.connections == 1 ? "connection" : "connections") to \(host) may hold a status call",
                remedy: Session.remedy(traffic.reason))
        }
        session.doubtUnsentCall(since: since, "perhaps a status call", where: session.mayServeSessions, &judgement)
        if let hidden = session.withheldRequests.first(where: { request in
            request.record.started.time >= since && !request.isOfBrowser
                && (session.role(of: request) == .partner || request.record.host.map(session.mayServeSessions) ?? false)
        }) {
            judgement.doubt(
                BlindSpot.Reason.withheld.rawValue,
                "\(withArticle(hidden.record.method)) to \(session.name(of: hidden)) (packet \(hidden.record.started.number)) came on a withheld connection, and may be a status call",
                remedy: Session.remedy(.withheld))
        }
    }
}
