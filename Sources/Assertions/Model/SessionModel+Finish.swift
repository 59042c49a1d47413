internal import SessionTrace

/// The end of the trace: roles, attempts, bursts and contacts are made of what was kept.
extension SessionModel {
    mutating func finish() -> Session {
        for id in ended[endedHead...] { retire(id) }
        ended = []
        endedHead = 0
        for id in flows.ids { retire(id) }

        for (id, delivery) in deliveries {
            if let index = requestIndex[id] { requests[index].delivery = delivery }
        }
        inferDelivery()
        let attempts = AttemptCounter(policy: policy).attempts(of: requests)
        settleRefusals()
        var roles = roles
        roles.aliases = names.aliases
        roles.systemHosts = systemHosts
        var inferred: [HostName] = []
        if policy.hosts.partner.isEmpty {
            let served = attempts.filter { $0.outcome == .success }
            let hosts = Set((served.isEmpty ? attempts : served).compactMap(\.host)).filter {
                !roles.role(of: $0).isChia
            }
            roles.inferredPartner = hosts
            inferred = hosts.sorted { $0.text < $1.text }
        }
        resolveNameless(roles)
        nameBypasses()
        let contacts = ContactBook(
            roles: roles, flows: allChiaFlows(roles), lookups: lookups, requests: chiaRequests,
            taps: marks.tapTimes(doubleTap: policy.timing.doubleTap))
        let urls = handoffURLs(attempts)
        let reactions = (attempts.map(\.started) + contacts.contacts.map(\.time)).sorted()
        let reading = marks.read(timing: policy.timing, trace: summary.span) { instant in
            let index = reactions.partitioningIndex { $0 >= instant }
            return index < reactions.count ? reactions[index] : nil
        }
        let projections = projections.sorted {
            ($0.record.started.time, $0.record.id) < ($1.record.started.time, $1.record.id)
        }
        let book = ProjectionBook(projections, limit: limits.projectionSightings)
        let opened = chiaRequests.filter { $0.actor.actor == .browser && $0.isNavigation }.map(\.started.time)
            .sorted()
        let bursts = BurstFinder(
            timing: policy.timing, attempts: attempts, marks: reading.marks, navigations: opened
        ).bursts(of: reading.taps)
        for (table, isFull) in [
            ("names", names.isFull), ("marks", marks.isFull), ("unread hosts", dark.isFull),
            ("needles", needles.isFull), ("projections by item", book.isFull), ("pieces of tokens", splits.isFull),
            ("contacts with vendors", vendors.isFull),
        ] where isFull {
            giveUp(table)
        }
        var leaks =
            self.leaks.values.sorted {
                ($0.started, $0.request?.id ?? Self.noExchange) < ($1.started, $1.request?.id ?? Self.noExchange)
            }
            + otherLeaks.sorted { ($0.started, $0.host?.text ?? "") < ($1.started, $1.host?.text ?? "") }
        for index in leaks.indices { leaks[index].hits = Self.merged(leaks[index].hits) }
        let neutralURLs = neutralURLs()
        if neutralURLs.count >= Self.neutralURLLimit { giveUp("neutral URLs") }
        requestLog.sort()
        messageLog.sort()
        vendors.sort()
        let chiaRequests = chiaRequests.sorted { ($0.started.time, $0.id) < ($1.started.time, $1.id) }
        return Session(
            policy: policy, roles: roles, redactor: redactor, summary: summary,
            isWhole: hasEnded && summary.isComplete, span: span(attempts), marks: reading, windowLimit: limits.windows,
            attempts: attempts,
            unlistedRequests: unlistedRequests(beside: attempts),
            bursts: bursts, inferredPartner: inferred,
            projections: projections, requests: requestLog, messages: messageLog,
            pages: PageBook(requestLog.requests, redirects: redirects, roles: roles), vendors: vendors,
            usesForeignProxy: usesProxy && !summary.isOwnRecording,
            returnLinks: returnLinks.sorted { ($0.at, $0.text) < ($1.at, $1.text) }, projectionBook: book, urls: urls,
            neutralURLs: neutralURLs, contacts: contacts.contacts, hasSpareConnections: contacts.hasSpares,
            chiaRequests: chiaRequests, leaks: leaks, splits: splits.found, selections: selections,
            knowsSelection: knowsSelection, unsearchedItems: unsearchedItems, hasMoreNeutralURLs: hasMoreNeutralURLs,
            scanGaps: scanGaps.sorted { ($0.started, $0.evidence.subject) < ($1.started, $1.evidence.subject) },
            contents: contents, redirects: redirects, viewRedirects: viewRedirects,
            statusLike: statusLike.sorted { ($0.started.time, $0.id) < ($1.started.time, $1.id) },
            stacks: stacks, browsing: sortedBrowsing(),
            activities: activities.sorted { $0.span.earliest < $1.span.earliest },
            appRequests: appRequests, browserRequests: browserRequests, midway: midway, tallies: tallies,
            dark: dark.hosts, nameless: nameless, hiddenName: hiddenName,
            lookupsSeen: !names.addresses.isEmpty || !names.aliases.isEmpty || !lookups.isEmpty,
            blindSpots: blindSpots.sorted {
                ($0.spot.span.earliest, $0.spot.noticed.number) < ($1.spot.span.earliest, $1.spot.noticed.number)
            },
            givenUp: givenUp, proxyFaults: proxyFaults, proxyFailures: proxyFailures,
            withheldRequests: withheldRequests, withheldConnections: withheldConnections,
            index: SessionIndex(
                urls: urls, neutralURLs: neutralURLs, attempts: attempts, projections: projections, nameless: nameless,
                dark: dark.hosts, chiaRequests: chiaRequests, marks: reading),
            shareBursts: bursts.filter { $0.target == .share }, neutralBursts: bursts.filter { $0.target == .neutral },
            operations: Operation.all(of: attempts),
            foregrounds: ForegroundFinder.foregrounds(
                marks: reading.marks, projections: projections,
                handoffs: reading.actions.map(\.span.earliest) + attempts.map(\.started) + opened,
                limit: limits.windows))
    }

    /// What says that it is a session request, and counts as none: its path is neither the policy's nor an attempt's.
    private func unlistedRequests(beside attempts: [Attempt]) -> [SessionRequest] {
        let counted = attempts.flatMap(\.messages).map(\.record)
        let ids = Set(counted.map(\.id))
        let paths = Set(counted.map(\.pathTemplate))
        return requests.filter {
            $0.saysItIsOne && !ids.contains($0.record.id) && !paths.contains($0.record.pathTemplate)
        }
    }

    /// A URL that the browser opened was delivered, whatever acknowledgement is missing from the capture; unless another
    /// answer brought it too.
    private mutating func inferDelivery() {
        for index in requests.indices where requests[index].delivery == .no || requests[index].delivery == .unknown {
            let request = requests[index]
            guard let url = request.answer.url, let address = WebAddress(url), request.record.end == .complete,
                let opened = chiaRequests.first(where: {
                    $0.actor.actor == .browser && $0.address == address
                        && $0.started.time >= request.record.started.time
                }),
                !requests.contains(where: {
                    $0.record.id != request.record.id && $0.answer.url == url
                        && $0.record.started.time <= opened.started.time
                })
            else { continue }
            requests[index].delivery = .yes
        }
    }

    private static let noExchange = ExchangeID(connection: ConnectionID(.max), index: 0)

    /// Connections without a name whose address was the answer for exactly one name are named by it.
    private mutating func resolveNameless(_ roles: HostRoles) {
        var unresolved: [FlowSummary] = []
        for var flow in nameless.sorted(by: { $0.id < $1.id }) {
            guard let name = names.name(of: flow.server.address) else {
                // Several names share the address: which one was meant can't be told.
                flow.names = names.names(of: flow.server.address)
                unresolved.append(flow)
                continue
            }
            flow.names = [name]
            flow.nameSource = "DNS answer"
            keepVendorContact(flow)
            if roles.isChia(name) {
                if chiaFlows.count < limits.contacts { chiaFlows.append(flow) } else { giveUp("connections to Chia") }
            }
            if let darkness = flow.darkness { dark.add(flow, reason: darkness, to: name) }
        }
        nameless = unresolved
    }

    /// Connections to Chia, those to names among them that only a later answer showed to be aliases of Chia's.
    private func allChiaFlows(_ roles: HostRoles) -> [FlowSummary] {
        var flows = chiaFlows
        var known = Set(flows.map(\.id))
        for (host, tally) in tallies where roles.isChia(host) {
            for sample in tally.samples where known.insert(sample.id).inserted { flows.append(sample) }
        }
        return flows.sorted { ($0.opened.time, $0.id) < ($1.opened.time, $1.id) }
    }

    private func sortedBrowsing() -> Browsing {
        var browsing = browsing
        browsing.documents.sort { ($0.started.time, $0.id) < ($1.started.time, $1.id) }
        browsing.cleartext.sort { ($0.started.time, $0.id) < ($1.started.time, $1.id) }
        browsing.oldConnections.sort { ($0.opened.time, $0.id) < ($1.opened.time, $1.id) }
        browsing.redirectorFlows.sort { ($0.opened.time, $0.id) < ($1.opened.time, $1.id) }
        return browsing
    }

    private func handoffURLs(_ attempts: [Attempt]) -> [HandoffURL] {
        var urls: [HandoffURL] = []
        var places: [String: Int] = [:]
        for attempt in attempts {
            // A lost response holds a URL too, though the device never had it.
            guard let url = attempt.last.answer.url, let token = attempt.last.answer.token else { continue }
            if let known = places[url] {
                // A replay of one operation brings the same URL; what counts is when the device had it first.
                if attempt.outcome == .success, attempts[urls[known].attempt - 1].outcome != .success {
                    urls[known].attempt = attempt.number
                    urls[known].since = attempt.ended
                }
                continue
            }
            places[url] = urls.count
            let label = "U#\(urls.count + 1)"
            var evidence = attempt.evidence("session response")
            evidence.place = redactor.redact(url, label: label)
            urls.append(
                HandoffURL(
                    label: label, text: url, token: token, address: WebAddress(url), attempt: attempt.number,
                    since: attempt.ended, evidence: evidence))
        }
        return urls
    }

    /// Neutral URLs that are told apart.
    private static let neutralURLLimit = 1_000

    private func neutralURLs() -> [NeutralURL] {
        var urls: [NeutralURL] = []
        for projection in projections.sorted(by: { $0.record.ended.time < $1.record.ended.time }) {
            for decision in projection.decisions {
                guard let text = decision.neutralURL, let address = WebAddress(text),
                    !urls.contains(where: { $0.address == address }), urls.count < Self.neutralURLLimit
                else { continue }
                urls.append(NeutralURL(address: address, text: text, since: projection.record.ended.time))
            }
        }
        return urls
    }

    private func span(_ attempts: [Attempt]) -> TimeSpan {
        if let span = summary.span {
            return TimeSpan(span.earliest, max(span.latest, summary.ended ?? span.latest))
        }
        let times =
            attempts.flatMap { [$0.started, $0.ended] } + chiaFlows.flatMap { [$0.opened.time, $0.closed.time] }
        return TimeSpan(times.min() ?? Instant(nanoseconds: 0), times.max() ?? Instant(nanoseconds: 0))
    }
}

extension RandomAccessCollection where Index == Int {
    /// The first index whose element satisfies `belongs`, when all that satisfy it come last.
    func partitioningIndex(where belongs: (Element) -> Bool) -> Int {
        var low = startIndex
        var high = endIndex
        while low < high {
            let middle = low + (high - low) / 2
            if belongs(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
