internal import SessionTrace

/// **HR-36 url-only-in-session-response.** The app gets a handoff URL in one way: as the answer to its session request.
///
/// The contract (CONTRACT.md, "The tap sequence" 5) lets only that answer bring the URL. The URL or its token, in any
/// encoding, or anything of a token's shape, in another answer is a violation: in a projection, a configuration, a pushed
/// answer, a message of a WebSocket, also when it came before the session request and the value became known only then.
/// An answer to a session request that brings an earlier operation's URL beside its own is one, too. A resend of one
/// operation may bring its URL again.
///
/// What Chia answers is not the app's, and the browser's answers are its own. Pictures, sound and fonts are not searched.
///
/// Inconclusive: no session request is known, and another request was answered with a token; nothing tells who asked;
/// answers stayed unread.
enum URLOnlyInSessionResponse: Rule {
    static let description = RuleDescription(
        id: "HR-36", name: "url-only-in-session-response", severity: .error,
        sentence: "A handoff URL comes to the app in the answer to its session request, and in no other.",
        heading: "The tap sequence",
        inconclusiveWhen:
            "the session request is not named by the policy, nothing tells who was answered, or answers stayed unread",
        options: ["requests: {session}", "hosts: {opaque-ok}"],
        example:
            "The projection already holds the handoff URL, so that the app needs no session request. Fail: the handoff URL U#1 stands in the answer to GET /catalog/…/handoff (url-in-answer)."
    )

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no handoff URL or token was seen"
        let attempts = Dictionary(
            session.attempts.flatMap { attempt in attempt.messages.map { ($0.record.id, attempt) } }
        ) { first, _ in first }
        let leaks =
            session.contents.leaks.values.sorted {
                ($0.evidence.span.earliest, $0.evidence.packets.first ?? 0)
                    < ($1.evidence.span.earliest, $1.evidence.packets.first ?? 0)
            }
            + session.contents.messageLeaks
        for leak in leaks {
            for hit in SessionModel.merged(leak.hits) {
                if !leak.isMessage, let attempt = leak.record.flatMap({ attempts[$0.id] }) {
                    judge(attempt, leak, hit, session, &judgement)
                } else {
                    report(leak, hit, session, &judgement)
                }
            }
        }
        session.doubtUnnamedAnswer(&judgement)
        guard LeakRules.knownSince(session) != nil else {
            LeakRules.doubtUnknownURL(session, &judgement)
            return
        }
        judgement.exercised()
        for url in session.urls { judgement.looked(at: url.evidence) }
        judgement.passSentence =
            "\(counted(session.urls.count, "handoff URL")), in no other of \(counted(session.contents.answers, "answer")) to the app"
        ContentRules.doubtAnswers("a handoff URL", session, &judgement) { host in
            let role = session.roles.role(of: host)
            return !role.isChia && role != .telemetry && role != .osNoise && role != .mark
        }
        let systemHosts = session.dark.keys.filter { session.roles.role(of: $0) == .osNoise }
        if !systemHosts.isEmpty {
            judgement.assume(
                "os-services", "OS services (push among them) not inspected: \(counted(systemHosts.count, "host"))")
        }
        session.assumePartner(&judgement)
    }

    /// An answer to a session request may hold its own operation's URL.
    private static func judge(
        _ attempt: Attempt, _ leak: AnswerLeak, _ hit: LeakHit, _ session: Session, _ judgement: inout Judgement
    ) {
        guard let needle = hit.needle,
            let url = session.urls.first(where: { Secret($0.text) == needle.value }),
            attempt.last.answer.token != url.token
        else { return }
        let owner = session.attempts[url.attempt - 1]
        guard owner.key != attempt.key || attempt.key == nil, owner.number < attempt.number else { return }
        judgement.violation(
            "older-url",
            "the answer to attempt \(attempt.number) brings \(url.label) of attempt \(owner.number) too, in \(hit.place)",
            place: ["session", hit.fieldTemplate], evidence: [leak.evidence, url.evidence])
    }

    private static func report(_ leak: AnswerLeak, _ hit: LeakHit, _ session: Session, _ judgement: inout Judgement) {
        let role = session.role(of: leak.host)
        guard leak.actor.actor != .browser, !role.isChia else { return }
        let subject =
            leak.record.map { leak.isMessage ? leak.evidence.subject : "the answer to \($0.subject)" }
            ?? leak.evidence.subject
        let sentence = "\(LeakRules.name(hit, session)) stands in \(subject) (\(role.rawValue)), in \(hit.place)"
        var evidence = leak.evidence
        evidence.place = hit.place
        let place = [role.rawValue, leak.record?.pathTemplate ?? "", hit.fieldTemplate, hit.kindName]
        if LeakRules.settleName(hit, sentence, place: place, evidence: [evidence], session, &judgement) { return }
        if leak.record == nil, !leak.isPushed, !leak.isMessage {
            return judgement.doubt(
                BlindSpot.Reason.startNotSeen.rawValue,
                "\(sentence), to a request that is not in the trace: it may be the session request",
                remedy: Session.remedy(.startNotSeen))
        }
        if leak.actor.actor == .unknown, leak.actor.isBareBrowser || leak.record == nil {
            return judgement.doubt(
                "actor-unknown", "\(sentence), and nothing tells who was answered: \(leak.actor.reason)",
                remedy: "capture with process names (PKTAP, PCAPdroid), or let the client send its own User-Agent")
        }
        if session.isOfAnotherDevice(leak.record?.client?.address) {
            return judgement.doubt(
                "several-devices", "\(sentence), to a device that sent no session request",
                remedy: "judge one device at a time: --filter 'host ADDRESS'")
        }
        // With no session request known, this may be it under a name that the policy does not give.
        if let record = leak.record, !leak.isMessage, session.urls.isEmpty, record.method != "GET",
            record.method != "HEAD",
            (200..<300).contains(record.status)
        {
            return judgement.doubt(
                "policy-mismatch",
                "\(sentence); no request is \(session.policy.requests.session), so that this may be the session request",
                remedy:
                    "add to \(session.policyLine):  requests: {session: {method: \(record.method), path: \(record.pathTemplate)}}"
            )
        }
        judgement.violation(
            "url-in-answer",
            "\(sentence), to \(leak.actor.actor == .os ? "the system" : "the app") (\(leak.actor.reason))",
            place: place, evidence: [evidence])
    }
}
