internal import SessionTrace

/// **HR-51 no-shortener-or-preview-service.** The app hands no link of the handoff to a shortener, a redirector or a
/// service of link previews, and does not even contact one during the handoff.
///
/// The contract (CONTRACT.md, "Forbidden") rules out shorteners, redirectors and link expansion. A request of the app to such
/// a host that holds the handoff URL, its token or the neutral URL, in any encoding, is an error; any other contact of the
/// app between the tap on the call to action and the end is a warning. What the browser does there is not the app's.
///
/// Inconclusive: a contact of which nothing tells the sender; connections to such hosts, or to hosts without a name, that
/// stayed unread or came to nothing since a link was known.
enum NoShortenerOrPreview: Rule {
    static let description = RuleDescription(
        id: "HR-51", name: "no-shortener-or-preview-service", severity: .error,
        sentence: "The app gives no link of the handoff to a shortener, redirector or link preview service.",
        heading: "Forbidden",
        inconclusiveWhen: "nothing tells who contacted such a service, or its connection stayed unread",
        example:
            "The app posts {\"long_url\": …} with the neutral URL to a shortener. Fail, error: link-shortened, with the field and the vendor."
    )

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no tap on an item, no session request and no neutral URL"
        let times = session.handoffTimes(until: [.end])
        if !times.isEmpty || !session.urls.isEmpty { judgement.exercised() }
        var told: Set<ExchangeID> = []
        var neutral: Set<ExchangeID> = []
        for leak in session.leaks {
            guard let host = leak.host, session.roles.vendorKind(of: host)?.isAboutLinks ?? false else { continue }
            for hit in leak.hits where hit.isHandoffToken {
                if let request = leak.request { told.insert(request.id) }
                judgeLeak(leak, hit, session, &judgement)
            }
            if let request = leak.request, leak.hits.contains(where: { $0.needle?.kind == .neutralURL }) {
                neutral.insert(request.id)
            }
        }
        var contacts = 0
        var kinds = VendorKinds(session.roles)
        for request in session.requests.requests {
            guard let kind = kinds.kind(of: request.host), kind.isAboutLinks,
                !session.isOfAnotherDevice(request.client?.address)
            else { continue }
            contacts += 1
            judge(
                request, kind, times, isTold: told.contains(request.id), holdsNeutral: neutral.contains(request.id),
                session, &judgement)
        }
        for time in times.prefix(session.windowLimit) {
            for contact in session.vendorContacts(in: time, where: \.isAboutLinks) where !contact.hasRequests {
                contacts += 1
                judge(contact, session, &judgement)
            }
        }
        judgement.passSentence =
            contacts == 0
            ? "no contact with a shortener, redirector or link preview service"
            : "\(counted(contacts, "contact")) with shorteners, redirectors and link preview services, none by the app with a link or during the handoff"
        session.doubtLeftOut(times.count, "handoffs", &judgement)
        if contacts > 0, session.hasMoreNeutralURLs {
            judgement.doubt(
                BlindSpot.Reason.stateGivenUp.rawValue,
                "there were more neutral URLs than are looked for (\(SessionModel.neutralURLs))",
                remedy: Session.remedy(.stateGivenUp))
        }
        // A neutral URL can be given away as soon as a projection names it.
        let since = (times.map(\.earliest) + session.urls.map(\.since) + session.neutralURLs.map(\.since)).min()
        guard let since else { return }
        session.doubtUnread(from: since, until: .distantFuture, &judgement) { host in
            host.map { session.roles.vendorKind(of: $0)?.isAboutLinks ?? false } ?? true
        }
    }

    private static func judgeLeak(_ leak: LeakRecord, _ hit: LeakHit, _ session: Session, _ judgement: inout Judgement)
    {
        let sentence =
            "\(LeakRules.name(hit, session)) was sent to \(LeakRules.receiver(leak, session)) in \(hit.place)"
        let place = LeakRules.place(leak, hit, session)
        let named = [leak.evidence("token-like name", hit)]
        if LeakRules.settleName(hit, sentence, place: place, evidence: named, session, &judgement) { return }
        let blame = LeakRules.blame(leak, session)
        let excused = [leak.evidence("not the app's", hit)]
        if LeakRules.settle(blame, sentence, place: place, evidence: excused, &judgement) { return }
        if blame == .system {
            judgement.information("not-the-app", sentence, place: place, evidence: excused)
        } else if !leak.actor.actor.isElsewhere {
            // The browser going there is another rule's matter: the app's own request is this one's.
            judgement.violation("link-shortened", sentence, place: place, evidence: [leak.evidence("leak", hit)])
        }
    }

    private static func judge(
        _ request: LoggedRequest, _ kind: VendorKind, _ times: [TimeSpan], isTold: Bool, holdsNeutral: Bool,
        _ session: Session, _ judgement: inout Judgement
    ) {
        let subject = request.subject(session.redactor)
        let isDuring = times.contains { $0.earliest <= request.started.time && request.started.time <= $0.latest }
        guard isDuring || holdsNeutral else { return }
        switch request.actor.actor {
        case .browser, .os:
            judgement.information(
                "not-the-app", "\(subject) (\(kind.rawValue)) by the \(request.actor.actor.rawValue)",
                place: [kind.rawValue, request.template(session.redactor)],
                evidence: [request.evidence("not the app's", session.redactor)])
        case .unknown: if !isTold { session.doubtSender(request, &judgement) }
        case .app, .webview:
            if holdsNeutral {
                judgement.violation(
                    "link-shortened", "\(subject) gives the neutral URL to \(withArticle(kind.rawValue)) service",
                    place: [kind.rawValue, request.template(session.redactor)],
                    evidence: [request.evidence("leak", session.redactor)])
            } else if !isTold {
                judgement.violation(
                    "contact", severity: .warning,
                    "\(subject), \(withArticle(kind.rawValue)) service, by the app during the handoff",
                    place: [kind.rawValue, request.template(session.redactor)],
                    evidence: [request.evidence("contact", session.redactor)])
            }
        }
    }

    /// A connection or lookup without a request that was read.
    private static func judge(_ contact: VendorContact, _ session: Session, _ judgement: inout Judgement) {
        let host = session.redactor.host(contact.host.text)
        let what =
            "\(contact.isLookup ? "a lookup of" : "a connection to") \(host), \(withArticle(contact.kind.rawValue)) service"
        if contact.actor.actor.isApp {
            judgement.violation(
                "contact", severity: .warning, "\(what), by the app during the handoff",
                place: [contact.kind.rawValue, contact.isLookup ? "lookup" : "connection"], evidence: [contact.evidence]
            )
            return
        }
        // A lookup belongs to the connection that follows it, which is judged by itself.
        if contact.isLookup, session.tallies[contact.host] != nil { return }
        judgement.doubt(
            contact.darkness?.rawValue ?? "actor-unknown", "\(what), during the handoff: \(contact.actor.reason)",
            remedy: contact.darkness.map { Session.remedy($0) }
                ?? "capture with process names (PKTAP, PCAPdroid), or give the keys of the browser too")
    }
}
