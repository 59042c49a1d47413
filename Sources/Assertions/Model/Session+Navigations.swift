internal import SessionTrace

/// What the browser opened, and why an opening that is missing may merely not have been seen.
extension Session {
    /// The browser's own openings of neutral URLs, in order of time: no reload, and nothing that a page of Chia did.
    var neutralNavigations: [RequestRecord] {
        index.requestsForNeutral.lazy.map { chiaRequests[$0] }.filter { record in
            record.actor.actor == .browser && record.isNavigation && !index.isReload(at: record.started.time)
                && record.fetchSite != "same-origin" && record.fetchSite != "same-site"
                && !(record.refererHost.map { roles.isChia($0) } ?? false)
        }
    }

    /// Hosts of the neutral URLs that projections named.
    var neutralHosts: Set<HostName> { Set(neutralURLs.map(\.address.host)) }

    /// Unread traffic to a neutral URL's host at or after an instant: the navigation may be in it.
    func darkNeutralTraffic(since instant: Instant) -> InconclusiveReason? {
        let hosts = neutralHosts
        let unread = dark.filter { name, traffic in
            traffic.lastData.map { $0 >= instant } ?? false && hosts.contains(name)
        }
        guard let name = unread.keys.min(by: { $0.text < $1.text }), let traffic = unread[name] else { return nil }
        return InconclusiveReason(
            code: traffic.reason.rawValue,
            sentence:
                "\(counted(traffic.connections, "unread connection")) to \(name) may be the navigation to the neutral URL (navigation-candidate)",
            remedy: Self.remedy(traffic.reason))
    }

    /// Why no opening of the neutral URL within `window` of an instant was seen, other than that there was none.
    func unseenNeutralNavigation(since instant: Instant, within window: Nanoseconds) -> InconclusiveReason? {
        if let reason = darkNeutralTraffic(since: instant) { return reason }
        if let flow = namelessTraffic(since: instant) {
            return Self.unnamed(flow, "may be the navigation to the neutral URL")
        }
        let hosts = neutralHosts
        if let failure = failure(
            from: instant, to: .distantFuture,
            where: { $0.map { roles.isChia($0) || hosts.contains($0) } ?? false })
        {
            return InconclusiveReason(
                code: failure.kind.rawValue, sentence: failure.sentence, remedy: failure.remedy)
        }
        if observed(after: instant) < window {
            return stoppedEarly != nil
                ? InconclusiveReason(
                    code: BlindSpot.Reason.recordingStopped.rawValue,
                    sentence: "the recorder stopped before the session did", remedy: Self.remedy(.recordingStopped))
                : InconclusiveReason(
                    code: "trace-ended", sentence: "the trace ends within \(window) of it",
                    remedy: "record until the page has opened")
        }
        if !summary.watchedForBypass {
            return InconclusiveReason(
                code: "bypass-not-watched",
                sentence: "nobody watched whether the browser went around the proxy",
                remedy: "let the browser use the proxy too, or capture at a gateway that sees all traffic of the device"
            )
        }
        if browserRequests == 0, !contacts.contains(where: { $0.actor.actor == .browser }) {
            return InconclusiveReason(
                code: "browser-not-seen", sentence: "nothing of any browser is in the trace",
                remedy: "capture the whole device, not the app alone, and give the browser's keys")
        }
        return nil
    }

    /// The requests by which the browser was sent on to a navigation, the last one first, back to an instant.
    func hops(to navigation: RequestRecord, since instant: Instant) -> [RequestRecord] {
        var hops: [RequestRecord] = []
        var target = navigation
        while hops.count < Self.hopLimit, let hop = redirects.hop(to: target),
            hop.started.time >= instant, hop.ended.time <= target.started.time
        {
            hops.append(hop)
            target = hop
        }
        return hops
    }

    /// Redirects followed back from one navigation.
    static let hopLimit = 20
}
