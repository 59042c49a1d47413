internal import SessionTrace

/// **HR-09 one-external-navigation-per-burst.** A burst leads to exactly one navigation of the browser: to the handoff
/// URL that its operation brought, or, after the neutral action, to the neutral URL.
///
/// The contract (CONTRACT.md, "The tap sequence" 5) has the URL opened once. Navigations are the browser's document
/// requests. Two of which the first got no byte back are one (the browser's own retry), as are redirects that Chia issued
/// and what a Chia page starts itself, and one that met a fault of the recorder's own and its repeat; those after a
/// `reload` mark are not counted. A share burst that brought no URL must lead to none, and after one that did the neutral URL
/// is not opened too.
///
/// Inconclusive: no tap marks; a second navigation that may be the browser's own return to the page (Back, a tab brought
/// back), since it had gone elsewhere, or a mark says that the app was left, and the app did nothing between;
/// connections to Chia that could not be read; a trace that ends too soon, or around which traffic may have gone, when no
/// navigation was seen.
enum OneExternalNavigationPerBurst: Rule {
    static let description = RuleDescription(
        id: "HR-09", name: "one-external-navigation-per-burst", severity: .error,
        sentence: "A burst of taps opens exactly one page in the browser: the URL that came back, or the neutral URL.",
        heading: "The tap sequence", matrix: ["M-10"],
        inconclusiveWhen:
            "taps are not marked, connections to Chia could not be read, or the trace ends before a navigation can be missed"
    )

    /// A navigation that does not come within this time of its URL is missing.
    static let patience = Nanoseconds.seconds(10)

    static func judge(_ session: Session, _ judgement: inout Judgement) {
        judgement.idleSentence = "no share or neutral tap, and no handoff URL"
        var counts: [String] = []
        let delivered = session.urls.filter { session.attempts[$0.attempt - 1].outcome == .success }
        let owners = delivered.map { session.burstIndex(of: session.attempts[$0.attempt - 1]) }
        let groups = Dictionary(grouping: delivered.indices) { owners[$0] }
        for (index, burst) in owners.enumerated() {
            guard let burst else {
                judge([delivered[index]], of: nil, session, &judgement, &counts)
                continue
            }
            guard let group = groups[burst], group.first == index else { continue }
            judge(group.map { delivered[$0] }, of: session.shareBursts[burst], session, &judgement, &counts)
        }
        for burst in session.shareBursts { judgeWithoutURL(burst, session, &judgement) }
        for burst in session.neutralBursts { judge(neutral: burst, session, &judgement, &counts) }
        judgement.passSentence =
            counts.isEmpty ? "no navigation, and none was due" : counts.joined(separator: "; ")
        if session.urls.isEmpty { session.doubtMissingAttempts(&judgement) }
        if session.taps.isEmpty, !session.attempts.isEmpty {
            judgement.doubt(
                "no-tap-mark", "\(counts.first ?? "no navigation"), but no tap is marked to count it against",
                remedy: "mark each tap: {\"kind\":\"tap\",\"target\":\"share\"}")
        }
        session.doubtPolicy(&judgement)
        session.doubtUnnamedAnswer(&judgement)
        if judgement.isExercised { session.doubtHiddenOpenings(&judgement) }
        session.assumeBrowserByHeaders(&judgement)
        session.doubtMarks(&judgement)
        session.doubtBypass(&judgement)
        session.doubtCapture(&judgement)
    }

    // MARK: a share burst with its URL

    /// The URLs of one burst: one page is opened, whichever of them it is.
    private static func judge(
        _ urls: [HandoffURL], of burst: Burst?, _ session: Session, _ judgement: inout Judgement,
        _ counts: inout [String]
    ) {
        for url in urls { judgement.looked(at: url.evidence) }
        for evidence in burst?.evidence ?? [] { judgement.looked(at: evidence) }
        guard let due = urls.map(\.since).min() else { return }
        let labels = Set(urls.map(\.label))
        let asking = session.urls.indices.filter { labels.contains(session.urls[$0].label) }
            .flatMap { session.index.requestsByURL[$0] ?? [] }.sorted()
        let opened = session.navigations(among: asking, from: due)
        let inside = session.navigations(among: asking, by: [.webview]).filter { $0.started >= due }
        report(
            opened, inside, target: "the handoff URL \(urls.map(\.label).joined(separator: " or "))", burst: burst,
            due: due,
            host: urls[0].address?.host, because: urls.map(\.evidence), session, &judgement, &counts)
        if let burst, !burst.isGeneric {
            judgeNeutral(beside: urls, of: burst, due: due, after: opened.first?.first, session, &judgement)
        }
    }

    /// After a share tap the neutral URL is not opened too.
    private static func judgeNeutral(
        beside urls: [HandoffURL], of burst: Burst, due: Instant, after page: RequestRecord?, _ session: Session,
        _ judgement: inout Judgement
    ) {
        let asking = session.index.requestsForNeutral
        let opened = session.navigations(among: asking, from: due, before: session.reach(after: burst))
        let wasOpened = session.navigations(among: asking, before: due).last != nil
        guard
            let further = opened.first(where: { navigation in
                !session.isStartedByChia(navigation.first) && session.handoffURL(askedBy: navigation.first) == nil
                    && !session.isOfAnotherDevice(navigation.first.client?.address)
            })
        else { return }
        let what =
            "\(burst.words) on share brought the handoff URL \(urls[0].label), and the neutral URL was opened too"
        // Only to a page that it had shown before does the browser return.
        if wasOpened, let page, let why = session.perhapsReturn(further.first, after: page) {
            judgement.doubt(
                "perhaps-back", "\(what), but it may be the browser's own return to the page: \(why)",
                remedy: "leave the page alone, or mark what is tapped")
        } else if session.initiator(of: further.first) == .outside {
            judgement.violation(
                "neutral-beside", "\(what), \(Nanoseconds(further.started.nanoseconds(since: due))) after the answer",
                place: [further.first.pathTemplate],
                evidence: burst.evidence + urls.map(\.evidence) + [further.evidence()])
        } else {
            judgement.doubt(
                "initiator-unknown", "\(what): \(session.initiator(of: further.first).words)",
                remedy: "mark every tap, on the neutral action too; or leave the page alone")
        }
    }

    private static func judge(
        neutral burst: Burst, _ session: Session, _ judgement: inout Judgement, _ counts: inout [String]
    ) {
        for evidence in burst.evidence { judgement.looked(at: evidence) }
        guard !session.neutralURLs.isEmpty else {
            judgement.doubt(
                "neutral-url-unknown",
                "\(burst.words) on the neutral action, but no projection in the trace names the neutral URL",
                remedy: "start the trace before the projection is fetched, and give the keys for it")
            return
        }
        let limit = session.reach(after: burst)
        let opened = session.navigations(among: session.index.requestsForNeutral, from: burst.reach, before: limit)
        // While a session request is under way both actions are disabled: a tap then leads to nothing (HR-10).
        let taps = burst.lastTap.span
        guard
            !opened.isEmpty
                || !session.attempts.contains(where: { $0.started <= burst.started && taps.latest <= $0.ended })
        else {
            counts.append("\(burst.words) on the neutral action while a session request was under way: no navigation")
            return
        }
        let inside = session.navigations(among: session.index.requestsForNeutral, by: [.webview])
            .filter { $0.started >= burst.reach && $0.started < limit }
        report(
            opened, inside, target: "the neutral URL", burst: burst, due: burst.lastTap.span.latest,
            host: session.neutralURLs[0].address.host, because: [], session, &judgement, &counts)
    }

    private static func report(
        _ opened: [Navigation], _ inside: [Navigation], target: String, burst: Burst?, due: Instant, host: HostName?,
        because: [Evidence],
        _ session: Session, _ judgement: inout Judgement, _ counts: inout [String]
    ) {
        let taps = burst.map { "\($0.words): " } ?? ""
        for navigation in opened { judgement.looked(at: navigation.evidence()) }
        counts.append("\(taps)\(opened.count) \(opened.count == 1 ? "navigation" : "navigations") to \(target)")
        let returns = zip(opened, opened.dropFirst()).compactMap { before, after in
            session.perhapsReload(after.first) != nil
                ? nil : session.perhapsReturn(after.first, after: before.first).map { (id: after.first.id, why: $0) }
        }
        let further = opened.dropFirst().filter { navigation in
            session.perhapsReload(navigation.first) == nil && !returns.contains { $0.id == navigation.first.id }
        }
        if let second = further.first {
            let gap = Nanoseconds(second.started.nanoseconds(since: opened[0].started))
            judgement.violation(
                "second-navigation",
                "\(taps)\(opened.count) navigations to \(target), the second \(gap) after the first",
                place: [opened[0].first.pathTemplate],
                evidence: (burst?.evidence ?? []) + because + opened.map { $0.evidence() })
        } else if let back = returns.first {
            judgement.doubt(
                "perhaps-back",
                "\(taps)\(opened.count) navigations to \(target), but a further one may be the browser's own return to the page: \(back.why)",
                remedy: "mark reloads ({\"kind\":\"reload\"}), or leave the page alone")
        } else if let why = opened.dropFirst().lazy.compactMap({ session.perhapsReload($0.first) }).first {
            judgement.doubt(
                "perhaps-reload", "\(taps)\(opened.count) navigations to \(target), but a further one \(why)",
                remedy: "mark reloads ({\"kind\":\"reload\"}), or leave the page alone")
        } else if opened.isEmpty {
            judgeMissing(
                target, taps, due: due, host: host, (burst?.evidence ?? []) + because, inside, session, &judgement)
        }
        doubtUnknown(session, target, due, &judgement)
    }

    private static func judgeMissing(
        _ target: String, _ taps: String, due: Instant, host: HostName?, _ evidence: [Evidence], _ inside: [Navigation],
        _ session: Session, _ judgement: inout Judgement
    ) {
        if let view = inside.first {
            // What was opened inside the app was not opened in the browser, whatever else was not seen.
            judgement.violation(
                "no-navigation",
                "\(taps)no navigation of the browser to \(target): it was opened in a web view of the app",
                evidence: evidence + [view.evidence("opening in a web view")])
            return
        }
        let unread = session.dark.filter { name, traffic in
            traffic.lastData.map { $0 >= due } ?? false && (session.roles.isChia(name) || name == host)
        }
        if let name = unread.keys.min(by: { $0.text < $1.text }), let traffic = unread[name] {
            judgement.doubt(
                traffic.reason.rawValue,
                "\(taps)\(traffic.connections) unread \(traffic.connections == 1 ? "connection" : "connections") to \(name) "
                    + "may be the navigation to \(target) (navigation-candidate)",
                remedy: Session.remedy(traffic.reason))
        } else if let failure = session.failure(
            from: due, to: .distantFuture,
            where: { name in name.map { session.roles.isChia($0) || $0 == host } ?? false })
        {
            judgement.doubt(
                failure.kind.rawValue, "\(taps)no navigation to \(target) was seen, but \(failure.sentence)",
                remedy: failure.remedy)
        } else if session.span.latest.nanoseconds(since: due) < patience.count,
            session.doubtEnd("\(taps)no navigation to \(target) was seen", &judgement)
        {
            return
        } else if !session.isWhole || session.span.latest.nanoseconds(since: due) < patience.count {
            judgement.doubt(
                "trace-ended",
                "\(taps)no navigation to \(target) was seen, but the trace ends within \(patience) of it",
                remedy: "record until the page has opened")
        } else if !session.summary.watchedForBypass {
            judgement.doubt(
                "bypass-not-watched",
                "\(taps)no navigation to \(target) was seen, and nobody watched whether the browser went around the proxy",
                remedy: "let the browser use the proxy too, or capture at a gateway that sees all traffic of the device"
            )
        } else if session.browserRequests == 0, !session.contacts.contains(where: { $0.actor.actor == .browser }) {
            judgement.doubt(
                "browser-not-seen",
                "\(taps)no navigation to \(target) was seen, but nothing of any browser is in the trace",
                remedy: "capture the whole device, not the app alone, and give the browser's keys")
        } else {
            judgement.violation(
                "no-navigation",
                "\(taps)no navigation to \(target) within \(Nanoseconds(session.span.latest.nanoseconds(since: due)))",
                evidence: evidence, restsOnSilence: true)
        }
    }

    /// A request for the URL of which nothing tells the sender may be a navigation too.
    private static func doubtUnknown(_ session: Session, _ target: String, _ due: Instant, _ judgement: inout Judgement)
    {
        let asking = session.index.unknownRequests
        let place = asking.partitioningIndex { session.chiaRequests[$0].started.time >= due }
        guard place < asking.count else { return }
        let unknown = session.chiaRequests[asking[place]]
        judgement.doubt(
            "actor-unknown", "a request for \(target) may be a navigation: \(unknown.actor.reason)",
            remedy: "capture with process names (PKTAP, PCAPdroid), or give the browser's keys")
    }

    // MARK: a share burst without a URL

    private static func judgeWithoutURL(_ burst: Burst, _ session: Session, _ judgement: inout Judgement) {
        let own = session.attempts.filter { $0.started >= burst.reach && $0.started < burst.end }
        // A tap without a target may have been on the neutral action.
        guard !burst.isGeneric, !own.contains(where: { $0.outcome == .success }) else { return }
        for evidence in burst.evidence { judgement.looked(at: evidence) }
        // What the next burst, of either kind, opens is its own; so is what an operation before brought late.
        let end = session.reach(after: burst)
        let late = session.urls.contains { $0.since >= burst.started && $0.since < end }
        guard !late, !own.contains(where: { $0.outcome == .notSeen }) else { return }
        let opened = session.navigations(among: session.index.requestsForURLs, from: burst.started, before: end)
            .filter { !isFirst($0.first, before: burst, session) }
        guard let navigation = opened.first else { return }
        let what = own.last.map { "whose request ended as \($0.outcome.word)" } ?? "which brought no URL"
        judgement.violation(
            "navigation-without-url", "\(burst.words) on share, \(what), and yet the browser opened a page",
            place: [navigation.first.pathTemplate],
            evidence: burst.evidence + own.map { $0.evidence() } + [navigation.evidence()])
    }

    /// The first opening of a URL that the device had before the burst: late, but its own operation's.
    private static func isFirst(_ record: RequestRecord, before burst: Burst, _ session: Session) -> Bool {
        guard let url = session.index.handoffURL(askedBy: record)?.index, session.urls[url].since < burst.started else {
            return false
        }
        let first = session.index.requestsByURL[url]?.first { place in
            session.chiaRequests[place].actor.actor == .browser && session.chiaRequests[place].isNavigation
        }
        return first.map { session.chiaRequests[$0].started.time >= record.started.time } ?? true
    }
}
