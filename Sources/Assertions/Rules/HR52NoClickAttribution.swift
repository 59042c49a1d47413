internal import SessionTrace

/// **HR-52 no-click-attribution.** The action tap is reported to no attribution or deep link service.
///
/// The contract (CONTRACT.md, "Forbidden") rules out attribution of the selection. From one second before each action tap to
/// five seconds after the page is opened, a request of the app to such a service with a body, or with a query that names
/// an event, is a warning; with the handoff URL, the neutral URL or the item's id in it, at any time, an error.
///
/// Inconclusive: an unread connection to such a service, or to a host without a name, that sent something in that time, or
/// would have if the host had been in reach; a sender that is not known.
/// Traps: the service's own start of session at launch; a deep link that the browser opens.
enum NoClickAttribution: Rule {
    static let description = RuleDescription(
        id: "HR-52", name: "no-click-attribution", severity: .warning,
        sentence: "No attribution or deep link service is told of the action tap.", heading: "Forbidden",
        inconclusiveWhen: "a connection to an attribution service stayed unread around the tap",
        options: ["hosts: {opaque-ok}"],
        example:
            "300 ms after the share tap the app posts an event to an attribution service. Fail, warning: click-event; with the item's id in it, error."
    )

    /// How long before the tap, and after the page was opened, is looked at.
    static let before = Nanoseconds.seconds(1)
    static let after = Nanoseconds.seconds(5)

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no action tap and no navigation to Chia"
        let all = times(session)
        session.doubtLeftOut(all.count, "action taps and openings", &judgement)
        let times = all.prefix(session.windowLimit)
        if !times.isEmpty { judgement.exercised() }
        var leaking: [ExchangeID: String] = [:]
        for leak in session.leaks {
            guard let host = leak.host, session.roles.vendorKind(of: host)?.isAboutClicks ?? false,
                let request = leak.request
            else { continue }
            if let hit = leak.hits.first(where: { $0.isHandoffToken && !$0.readsAsName }) {
                leaking[request.id] = "\(LeakRules.name(hit, session)) in \(hit.place)"
            } else if let hit = leak.hits.first(where: { $0.needle?.kind == .neutralURL }) {
                leaking[request.id] = "the neutral URL in \(hit.place)"
            }
        }
        // In whatever encoding; what names it outright is found below.
        for entry in session.selections.all where entry.hit.needle?.kind == .catalogID {
            for request in entry.leaks.compactMap(\.request) where leaking[request.id] == nil {
                leaking[request.id] = "the item's id in \(entry.hit.place)"
            }
        }
        let items = Array(session.selectionIDs.filter { $0.utf8.count >= 8 }.prefix(VendorLog.itemLimit))
        var requests = 0
        var kinds = VendorKinds(session.roles)
        for request in session.requests.requests {
            guard let kind = kinds.kind(of: request.host), kind.isAboutClicks,
                !session.isOfAnotherDevice(request.client?.address)
            else { continue }
            requests += 1
            let isDuring = times.contains { $0.earliest <= request.started.time && request.started.time <= $0.latest }
            let carried =
                leaking[request.id]
                ?? (holdsItem(request, items, session) ? "the item's id" : nil)
            guard carried != nil || (isDuring && isEvent(request)) else { continue }
            report(request, kind, carried, session, &judgement)
        }
        if requests > 0, session.hasMoreNeutralURLs {
            judgement.doubt(
                BlindSpot.Reason.stateGivenUp.rawValue,
                "there were more neutral URLs than are looked for (\(SessionModel.neutralURLs))",
                remedy: Session.remedy(.stateGivenUp))
        }
        for time in times {
            session.doubtUnread(from: time.earliest, until: time.latest, &judgement) { host in
                host.map { session.roles.vendorKind(of: $0)?.isAboutClicks ?? false } ?? true
            }
        }
        judgement.passSentence =
            "\(counted(requests, "request")) to attribution and deep link services, none of them an event around \(counted(times.count, "action tap"))"
    }

    private static func times(_ session: Session) -> [TimeSpan] {
        let navigations = session.chiaRequests.filter { $0.actor.actor == .browser && $0.isNavigation }
            .map(\.started.time)
        let bursts = session.bursts
        var times = bursts.indices.map { index in
            let burst = bursts[index]
            let last = burst.lastTap.span.latest
            let next = index + 1 < bursts.count ? bursts[index + 1].started : .distantFuture
            let place = navigations.partitioningIndex { $0 >= burst.reach }
            let opened = place < navigations.count && navigations[place] < next ? navigations[place] : nil
            let end = opened ?? last.advanced(byNanoseconds: session.policy.timing.tapToRequest.count)
            return TimeSpan(
                burst.reach.advanced(byNanoseconds: -before.count), max(last, end).advanced(byNanoseconds: after.count))
        }
        if times.isEmpty {
            times = navigations.map {
                TimeSpan($0.advanced(byNanoseconds: -before.count), $0.advanced(byNanoseconds: after.count))
            }
        }
        return times
    }

    private static let eventNames: Set<String> = [
        "event", "event_name", "eventname", "ev", "action", "click", "click_id", "clickid", "campaign", "event_token",
    ]

    /// Whether a request tells of something that happened.
    private static func isEvent(_ request: LoggedRequest) -> Bool {
        request.body.bytes > 0 || request.queryNames.contains { eventNames.contains($0.lowercased()) }
    }

    private static func holdsItem(_ request: LoggedRequest, _ items: [String], _ session: Session) -> Bool {
        guard !items.isEmpty else { return false }
        let body = session.vendors.contents[request.id].map { String(decoding: $0, as: UTF8.self) } ?? ""
        return items.contains { request.target.holds($0) || body.holds($0) }
    }

    private static func report(
        _ request: LoggedRequest, _ kind: VendorKind, _ carried: String?, _ session: Session,
        _ judgement: inout Judgement
    ) {
        let vendor = request.host.flatMap { session.roles.vendor(of: $0) }.map { " (\($0))" } ?? ""
        let what =
            carried.map { "carries \($0)" } ?? "tells of something that happened, \(request.body.bytes) bytes of body"
        let sentence = "\(request.subject(session.redactor))\(vendor) \(what)"
        let place = [kind.rawValue, request.template(session.redactor), carried == nil ? "event" : "selection"]
        switch request.actor.actor {
        case .browser, .os:
            judgement.information(
                "not-the-app", "\(sentence), by the \(request.actor.actor.rawValue)", place: place,
                evidence: [request.evidence("not the app's", session.redactor)])
        case .unknown: session.doubtSender(request, &judgement)
        case .app, .webview:
            judgement.violation(
                carried == nil ? "click-event" : "attributed-selection", severity: carried == nil ? .warning : .error,
                carried == nil ? "\(sentence), around the action tap" : sentence, place: place,
                evidence: [request.evidence("attribution", session.redactor)])
        }
    }
}
