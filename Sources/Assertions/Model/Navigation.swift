internal import SessionTrace

/// One opening of a page: the requests that count as one, since the first ones got no byte back (the browser's own
/// retry), since a fault of the recorder's own spoilt them, or since the answer led to the next one (a redirect of Chia's).
struct Navigation: Hashable, Sendable {
    /// In order; never empty.
    var records: [RequestRecord]

    var first: RequestRecord { records[0] }
    var last: RequestRecord { records[records.count - 1] }
    var started: Instant { first.started.time }
    var actor: ActorReading { first.actor }

    /// The evidence that names it, with who sent it and what started it.
    func evidence(_ label: String = "navigation") -> Evidence {
        let count = records.count > 1 ? "\(records.count) requests count as one; " : ""
        var evidence = first.evidence(label, place: "\(count)\(actor.words), \(first.ownInitiator.words)")
        for record in records.dropFirst() { evidence.packets += record.evidence("").packets }
        return evidence
    }
}

extension ActorReading {
    /// `browser: a browser's User-Agent and fetch metadata`.
    var words: String { "\(actor.rawValue): \(reason)" }
}

extension Session {
    /// How soon after a request that got no byte back the same one is the browser's retry.
    static let retryWindow = Nanoseconds.seconds(1)

    /// Openings among some requests to Chia (their places, in order of time) by some actors. Left out are those that a
    /// page started itself, and reloads that are marked.
    func navigations(
        among places: [Int], from: Instant = .distantPast, before end: Instant = .distantFuture,
        by actors: Set<Actor> = [.browser]
    ) -> [Navigation] {
        var found: [Navigation] = []
        for place in places[places.partitioningIndex { chiaRequests[$0].started.time >= from }...] {
            let record = chiaRequests[place]
            guard actors.contains(record.actor.actor), record.isNavigation, !isStartedByPage(record),
                !index.isReload(at: record.started.time)
            else { continue }
            if let previous = found.last?.last {
                let isRetry =
                    !previous.wasAnswered && previous.actor.actor == record.actor.actor
                    && (previous.address.flatMap { known in record.address.map { known.relation(of: $0) != .other } }
                        ?? true)
                    && previous.ended.time
                        <= record.started.time.advanced(byNanoseconds: Self.retryWindow.count)
                let isRedirect = previous.location.map { $0 == record.address } ?? false
                let isRepeat = (isRetry || metFault(previous)) && !mayOpenAnew(between: previous, record)
                if isRepeat || isRedirect || isSentBack(record, after: previous) {
                    found[found.count - 1].records.append(record)
                    continue
                }
            }
            // What begins later belongs to another burst.
            guard record.started.time < end else { break }
            found.append(Navigation(records: [record]))
        }
        return found
    }

    /// Whether the app came to act again between two requests, so that the second one need not repeat the first.
    private func mayOpenAnew(between first: RequestRecord, _ second: RequestRecord) -> Bool {
        let isBetween = { (instant: Instant) in instant > first.started.time && instant <= second.started.time }
        return bursts.contains { isBetween($0.started) }
            || marks(SessionIndex.starts).contains { isBetween($0.span.earliest) }
    }

    /// Chia sent the browser on a detour (a cookie, a consent) that leads back to the same address.
    private func isSentBack(_ record: RequestRecord, after previous: RequestRecord) -> Bool {
        guard previous.location != nil, let hop = redirects.hop(to: record) else { return false }
        return role(of: hop.host).isChia && hop.started.time >= previous.started.time
            && hop.ended.time <= record.started.time
    }

    /// Openings of one handoff URL, its variants included, by a browser or a view inside the app.
    func openings(of url: Int) -> [Navigation] {
        navigations(among: index.requestsByURL[url] ?? [], by: Self.openers)
    }

    /// Openings of neutral URLs, their variants included.
    func neutralOpenings() -> [Navigation] { navigations(among: index.requestsForNeutral, by: Self.openers) }

    /// Openings of handoff URLs that no answer in the trace brought: of an earlier session, made up, or brought unread.
    func foreignOpenings() -> [Navigation] {
        let places = chiaRequests.indices.filter { place in
            chiaRequests[place].address?.token != nil && handoffURL(askedBy: chiaRequests[place]) == nil
        }
        return navigations(among: Array(places), by: Self.openers).filter { !isStartedByChia($0.first) }
    }

    /// What a rule that holds an opening against its answer can't judge.
    func doubtForeignOpenings(_ judgement: inout Judgement) {
        guard let opening = foreignOpenings().first else { return }
        judgement.doubt(
            "url-of-another-session",
            "packet \(opening.first.started.number) opens a handoff URL that no answer in the trace brought: there is nothing to hold it against",
            remedy:
                "start with a clean browser and the capture before the app, and give the keys of all session traffic")
    }

    /// Who opens pages. The app's own requests are probes (HR-05).
    static let openers: Set<Actor> = [.browser, .webview]

    /// What a rule about openings can't see: requests for a handoff or neutral URL of which nothing tells the sender,
    /// connections to Chia that could not be read, traffic around the place of capture.
    func doubtOpenings(neutral: Bool = false, _ judgement: inout Judgement) {
        if let place = index.unknownRequests.first(where: {
            neutral || handoffURL(askedBy: chiaRequests[$0]) != nil
        }) {
            let record = chiaRequests[place]
            judgement.doubt(
                "actor-unknown",
                "packet \(record.started.number) asks for a handoff or neutral URL, and may be an opening: \(record.actor.reason)",
                remedy: "capture with process names (PKTAP, PCAPdroid), or give the browser's keys")
        }
        doubtHiddenOpenings(&judgement)
        doubtUnnamedAnswer(&judgement)
        // Which URL there was to open is not known, and it may be on a host that no policy names.
        if urls.isEmpty { doubtSessionTraffic(&judgement) }
        doubtChiaHost(&judgement)
        doubtCapture(&judgement)
        if judgement.isExercised {
            doubtBypass(&judgement)
            assumeBrowserByHeaders(&judgement)
        }
    }

    /// Openings are taken for the browser's by what they say themselves.
    func assumeBrowserByHeaders(_ judgement: inout Judgement) {
        guard chiaRequests.contains(where: { $0.isNavigation && $0.actor.actor == .browser && !$0.actor.isDefinite })
        else { return }
        judgement.assume(
            "browser-by-headers", "navigations are taken for the browser's by their headers, not by a recorded process")
    }
}
