internal import SessionTrace

/// What could hide a violation: each function writes the doubts and assumptions of one scope into a judgement.
extension Session {
    /// Reasons for which a device's bytes may hold a request that was not read.
    static let hidesRequests: Set<BlindSpot.Reason> = [
        .noKeys, .keysDoNotFit, .handshakeNotSeen, .unsupportedEncryption, .quic, .passthrough, .tcpHole,
        .truncatedPacket, .fragmentMissing, .oneSided, .headerTableUnknown, .unknownProtocol, .unreadableMessage,
        .stateGivenUp, .leafRefused, .leafSuspected, .withheld,
    ]

    /// Packets that are missing anywhere, and tables that were full.
    func doubtCapture(_ judgement: inout Judgement) {
        if let dropped = summary.droppedPackets, dropped > 0 {
            judgement.doubt(
                "capture-drops",
                "the capturing system dropped \(counted(Int(clamping: dropped), "packet")), and \(dropped == 1 ? "it" : "any of them") may matter",
                remedy: "capture with a larger buffer (tcpdump -B), or fewer other programs on the host")
        }
        let global: Set<BlindSpot.Reason> = [.captureDrops, .unreadablePackets, .stateGivenUp, .fragmentMissing]
        if let record = blindSpots.first(where: { $0.spot.connection == nil && global.contains($0.spot.reason) }) {
            judgement.doubt(
                record.spot.reason.rawValue, "part of the trace could not be read\(Self.detail(record.spot))",
                remedy: Self.remedy(record.spot.reason))
        }
        if let (table, count) = givenUp.min(by: { $0.key < $1.key }) {
            judgement.doubt(
                "state-given-up", "the table of \(table) was full: \(count) could not be kept",
                remedy: "split the capture, or narrow it with --filter to the device")
        }
    }

    /// Traffic that may have gone around the place of capture.
    func doubtBypass(_ judgement: inout Judgement) {
        let bypasses = blindSpots.filter { $0.spot.reason == .bypass }
        let ofSystem = bypasses.filter(isOfSystem)
        if !ofSystem.isEmpty {
            // Push and time services never use a proxy; what they carry is no app's.
            let hosts = Set(ofSystem.map { $0.names.first?.text ?? $0.server?.address.description ?? "?" })
            judgement.assume(
                "os-services-beside", "services of the system went around the proxy: \(counted(hosts.count, "host"))")
        }
        if let record = bypasses.first(where: { !isOfSystem($0) }) {
            let name = record.names.first.map { " to \($0)" } ?? ""
            judgement.doubt(
                "bypass", "traffic of the device\(name) went around the proxy\(Self.detail(record.spot))",
                remedy: Self.remedy(.bypass))
        } else if let relay = relayHost {
            judgement.doubt(
                "private-relay", "the device used a relay (\(relay)) that carries other hosts unseen",
                remedy: "switch Private Relay or the VPN off on the device, and record again")
        } else if !summary.watchedForBypass {
            judgement.assume("bypass-not-watched", "nobody watched for traffic that went around the proxy")
        }
    }

    /// Whether what went around the proxy is the phone's own system's, by its name or port.
    private func isOfSystem(_ record: BlindRecord) -> Bool {
        if let name = record.names.first {
            return roles.role(of: name) == .osNoise && OSNoiseHosts.builtin.service(of: name) != .privateRelay
        }
        return record.server.map { OSNoiseHosts.service(ofPort: $0.port) != nil } ?? false
    }

    /// The recorder stopped before the session did: what would have come after is not known (rules about the end).
    var stoppedEarly: BlindRecord? { blindSpots.first { $0.spot.reason == .recordingStopped } }

    /// Says that something may be missing only because the recorder had stopped; true then.
    func doubtEnd(_ sentence: String, _ judgement: inout Judgement) -> Bool {
        guard stoppedEarly != nil else { return false }
        judgement.doubt(
            BlindSpot.Reason.recordingStopped.rawValue, "\(sentence), but the recorder stopped before the session did",
            remedy: Self.remedy(.recordingStopped))
        return true
    }

    /// Something is missing because a connection failed at the proxy or beyond it, which is not the app's doing: the
    /// failure to one of `hosts` between two moments.
    func failure(from: Instant, to: Instant, where isConcerned: (HostName?) -> Bool) -> ProxyFailure? {
        proxyFailures.first { $0.at >= from && $0.at <= to && isConcerned($0.host) }
    }

    /// What stayed unread of a host, in words.
    static func unread(_ traffic: DarkTraffic.Host, _ host: HostName) -> String {
        let count = counted(traffic.connections, "connection")
        return switch traffic.reason {
        case .leafRefused:
            "the client refused the proxy's certificate for \(host) (\(count)), so that its requests were neither sent nor seen"
        case .leafSuspected:
            "\(count) to \(host) \(traffic.connections == 1 ? "was" : "were") closed by the client right after the handshake, as an app does that pins, and nothing was sent"
        case .passthrough: "\(count) to \(host) passed through the proxy unread"
        case .bypass: "\(count) to \(host) went around the proxy unread"
        default: "\(count) to \(host) could not be read (\(traffic.reason.rawValue))"
        }
    }

    /// A relay that the device contacted, if any.
    var relayHost: HostName? {
        tallies.keys.filter { OSNoiseHosts.builtin.service(of: $0) == .privateRelay }.min { $0.text < $1.text }
    }

    /// Whether the device resolved names out of sight (DNS over HTTPS or TLS).
    var usesEncryptedResolver: Bool {
        tallies.keys.contains { OSNoiseHosts.builtin.service(of: $0) == .encryptedDNS }
            || nameless.contains { OSNoiseHosts.service(ofPort: $0.server.port) == .encryptedDNS }
    }

    /// Hosts to which a session request may go unread: the partner's, those that served attempts, and any host while
    /// nothing tells which is the partner's.
    func mayServeSessions(_ host: HostName) -> Bool {
        let role = roles.role(of: host)
        if role == .partner { return true }
        if index.attemptHosts.contains(host) { return true }
        return attempts.isEmpty && policy.hosts.partner.isEmpty && role == .thirdParty
    }

    /// What may hold session requests that nobody saw: unread bytes of the device towards hosts that take them, requests
    /// that were withheld, and connections that came to nothing.
    func doubtSessionTraffic(_ judgement: inout Judgement) {
        doubtUnsentSessions(&judgement)
        doubtWithheldSessions(&judgement)
        doubtUnreadSessions(&judgement)
    }

    /// Unread bytes of the device towards hosts that take session requests.
    func doubtUnreadSessions(_ judgement: inout Judgement) {
        let darkHosts = dark.filter { mayServeSessions($0.key) && $0.value.lastData != nil }.keys.sorted {
            $0.text < $1.text
        }
        if let host = darkHosts.first, let traffic = dark[host] {
            judgement.doubt(
                traffic.reason.rawValue,
                traffic.reason == .leafRefused || traffic.reason == .leafSuspected
                    ? Self.unread(traffic, host) : "\(Self.unread(traffic, host)), and may hold session requests",
                remedy: Self.remedy(traffic.reason))
        }
        if let flow = nameless.first(where: { flow in
            flow.darkness != nil && flow.lastDarkData != nil
                && OSNoiseHosts.service(ofPort: flow.server.port) == nil && !flow.isOfSystemOrBrowser
                && (flow.names.isEmpty || flow.names.contains { mayServeSessions($0) })
        }), let reason = flow.darkness {
            judgement.doubt(
                reason.rawValue, "a connection to \(flow.server) without a name could not be read (\(reason.rawValue))",
                remedy: Self.remedy(reason))
        }
        if let record = blindSpots.first(where: { record in
            record.spot.connection != nil && record.spot.from != .server
                && Self.hidesRequests.contains(record.spot.reason)
                && record.spot.reason != .startNotSeen && record.names.contains { mayServeSessions($0) }
                && !darkHosts.contains { record.names.contains($0) }
        }) {
            judgement.doubt(
                record.spot.reason.rawValue,
                "bytes of the device to \(record.names[0]) are missing (packet \(record.spot.noticed.number)"
                    + "\(record.spot.bytes.map { ", \($0) bytes" } ?? "")), and may hold a session request",
                remedy: Self.remedy(record.spot.reason))
        }
        doubtCapture(&judgement)
    }

    /// What it rests on that no name before an instant is Chia's.
    func assumeNames(before instant: Instant, _ judgement: inout Judgement) {
        if usesEncryptedResolver {
            judgement.assume("encrypted-dns", "the device resolved names out of sight; lookups were not seen")
        }
        assumeShownNames(before: instant, &judgement)
    }

    /// A ClientHello that is encrypted within another one hides the name that is asked for; browsers send what looks like
    /// one, too (RFC 9849 §6.2), and nothing tells the two apart.
    func assumeShownNames(before instant: Instant, _ judgement: inout Judgement) {
        guard let hiddenName, hiddenName < instant else { return }
        judgement.assume(
            "ech-or-grease",
            "unread connections offer encrypted_client_hello; the names that they show are taken for the ones asked for"
        )
    }

    /// Unread connections of which no name is known, before an instant or at any time, may have been to Chia.
    ///
    /// - Parameters:
    ///   - act: what happened then, for the sentences.
    ///   - mayConcern: which of them the rule asks about.
    func doubtNames(
        before tap: Instant?, act: String = "the tap", _ judgement: inout Judgement,
        where mayConcern: (FlowSummary) -> Bool = { !$0.isOfSystemOrBrowser }
    ) {
        let limit = tap ?? .distantFuture
        let unnamed = nameless.filter {
            $0.darkness != nil && OSNoiseHosts.service(ofPort: $0.server.port) == nil && $0.opened.time < limit
                && mayConcern($0)
        }
        let when = tap == nil ? "" : " before \(act)"
        if let shared = unnamed.first(where: { $0.names.contains { roles.isChia($0) } }) {
            judgement.doubt(
                "shared-address",
                "a connection to \(shared.server)\(when) has no name, and its address is that of a Chia host and of others",
                remedy: "start the capture before the app and with plain DNS, so that names are seen")
        } else if let flow = unnamed.first(where: { $0.names.isEmpty }) {
            judgement.doubt(
                "host-unknown",
                "\(unnamed.count) unread \(unnamed.count == 1 ? "connection" : "connections")\(when), the first to "
                    + "\(flow.server), \(unnamed.count == 1 ? "has" : "have") no name (packet \(flow.opened.number))",
                remedy: "start the capture before the app and with plain DNS")
        }
    }

    /// An unread connection that carried something at or after an instant, and may have been to Chia or to a neutral URL's
    /// host, since no name of it is known or its address is theirs too.
    func namelessTraffic(since instant: Instant, where mayConcern: (FlowSummary) -> Bool = { _ in true })
        -> FlowSummary?
    {
        nameless.first { flow in
            flow.darkness != nil && (flow.lastDarkData ?? .distantPast) >= instant && flow.actor.actor != .os
                && OSNoiseHosts.service(ofPort: flow.server.port) == nil && mayConcern(flow)
                && (flow.names.isEmpty
                    || flow.names.contains { name in
                        roles.isChia(name) || neutralURLs.contains { $0.address.host == name }
                    })
        }
    }

    /// Why such a connection leaves something open.
    static func unnamed(_ flow: FlowSummary, _ consequence: String) -> InconclusiveReason {
        let what = "an unread connection to \(flow.server) has no name (packet \(flow.opened.number))"
        return InconclusiveReason(
            code: flow.names.isEmpty ? "host-unknown" : "shared-address",
            sentence: flow.names.isEmpty
                ? "\(what), and \(consequence)"
                : "\(what), its address is that of a host of Chia's too, and \(consequence)",
            remedy: "start the capture before the app and with plain DNS")
    }

    /// What may hold a request for U or N that nobody saw: connections without a name, and missing bytes.
    func doubtHiddenOpenings(exceptSafari: Bool = false, _ judgement: inout Judgement) {
        if let since = (urls.map(\.since) + neutralURLs.map(\.since)).min(),
            let flow = namelessTraffic(since: since, where: { !(exceptSafari && $0.actor.isSafari) })
        {
            let reason = Self.unnamed(flow, "may hold a request for a handoff or neutral URL")
            judgement.doubt(reason.code, reason.sentence, remedy: reason.remedy)
        }
        doubtChiaHoles(exceptBrowser: false, exceptSafari: exceptSafari, &judgement)
    }

    /// Missing bytes of the device towards Chia, or towards a neutral URL's host, may hold a request for U or N.
    /// `exceptBrowser` leaves out connections that are known to be the browser's; `exceptSafari` takes those that a
    /// recorded process says are Safari's for its own navigation, since no app can make it fetch anything.
    func doubtChiaHoles(exceptBrowser: Bool, exceptSafari: Bool = false, _ judgement: inout Judgement) {
        var owners: [ConnectionID: ActorReading] = [:]
        if exceptBrowser || exceptSafari {
            for contact in contacts where contact.kind == .connection {
                if let id = contact.connection { owners[id] = contact.actor }
            }
        }
        var ofSafari: Set<ConnectionID> = []
        let hole = blindSpots.first { record in
            guard let id = record.spot.connection, record.spot.from != .server,
                Self.hidesRequests.contains(record.spot.reason),
                record.names.contains(where: { name in
                    roles.isChia(name) || neutralURLs.contains { $0.address.host == name }
                })
            else { return false }
            if exceptBrowser, owners[id]?.actor == .browser { return false }
            guard exceptSafari, owners[id]?.isSafari ?? false else { return true }
            ofSafari.insert(id)
            return false
        }
        if let hole {
            judgement.doubt(
                hole.spot.reason.rawValue,
                "bytes of the device to \(hole.names[0]) could not be read (packet \(hole.spot.noticed.number)), and may hold a request",
                remedy: Self.remedy(hole.spot.reason))
        } else if !ofSafari.isEmpty {
            judgement.assume(
                "safari-unread",
                "\(counted(ofSafari.count, "connection")) to Chia stayed unread, by process Safari's: taken for its navigation, since no app can make it fetch anything"
            )
        }
    }

    /// Whether an address is another device's than the one that the session is of. One device may have an address of
    /// each family.
    func isOfAnotherDevice(_ client: IPAddress?) -> Bool {
        client.map(index.isOfAnotherDevice) ?? false
    }

    /// What another device did is not held against the one that the session is of.
    func doubtDevice(_ contact: Contact, _ judgement: inout Judgement) {
        let client = contact.client?.description ?? "another device"
        judgement.doubt(
            "several-devices",
            "\(contact.means) of \(contact.host) came from \(client), which sent no session request",
            remedy: "judge one device at a time: --filter 'host ADDRESS'")
    }

    /// An answer of success in which no handoff URL was found: rules about the URL look for something else.
    func doubtUnnamedAnswer(_ judgement: inout Judgement) {
        guard let attempt = attempts.first(where: { $0.outcome == .unnamed }) else { return }
        judgement.doubt(
            "handoff-url-unknown",
            "attempt \(attempt.number) succeeded (\(attempt.last.record.status)), but its answer holds no https URL with a phs_ token",
            remedy:
                "let the answer hold, in JSON, an https URL with a phs_ token in it; or name the session request's path in \(policyLine), if this is another one"
        )
    }

    /// An attempt was found by its shape alone, or there are share taps without any attempt.
    func doubtPolicy(_ judgement: inout Judgement) {
        if let attempt = attempts.first(where: \.isFoundByShape) {
            let path = attempt.first.record.address?.path ?? attempt.first.record.pathTemplate
            judgement.doubt(
                "policy-mismatch",
                "\(attempt.first.record.method) \(attempt.first.record.pathTemplate) looks like the session request, "
                    + "but the policy says \(policy.requests.session)",
                remedy:
                    "add to \(policyLine):  requests: {session: {method: \(attempt.first.record.method), path: \(redactor.path(path))}}"
            )
        } else {
            doubtUnlistedRequests(&judgement)
        }
        doubtChiaHost(&judgement)
    }

    /// A share tap, but no attempt anywhere: was it unread, or does the policy name another path?
    func doubtMissingAttempts(_ judgement: inout Judgement) {
        guard attempts.isEmpty, let burst = shareBursts.first else { return }
        let before = judgement.doubts.count
        doubtSessionTraffic(&judgement)
        if judgement.doubts.count > before { return }
        if !isWhole || span.latest.nanoseconds(since: burst.started) < policy.timing.tapToRequest.count {
            judgement.doubt(
                "trace-ended", "the trace ends within \(policy.timing.tapToRequest) of the share tap",
                remedy: "record until the flow is over")
            return
        }
        judgement.doubt(
            "policy-mismatch",
            "\(burst.words) on share, but no request is \(policy.requests.session) or looks like a session request",
            remedy: "add to \(policyLine) the path that the app posts to:  requests: {session: {path: /…}}"
                + (likelyPath.map { "  (seen: \($0))" } ?? ""))
    }

    /// A path of the partner that was seen; a hint only.
    private var likelyPath: String? {
        projections.first.flatMap { $0.record.host }.map { "\($0)" }
    }

    /// The partner's host was taken from who served the session.
    func assumePartner(_ judgement: inout Judgement) {
        guard !inferredPartner.isEmpty else { return }
        judgement.assume(
            "partner-inferred",
            "\(inferredPartner.map(\.text).joined(separator: ", ")) is taken for the partner, since it served the session request"
        )
    }

    /// Marks that contradict each other, and marks whose clock is not the trace's.
    func doubtMarks(_ judgement: inout Judgement) {
        if let conflict = marks.conflicts.first {
            judgement.doubt(
                "marks-inconsistent", conflict, remedy: "give each tap an id of its own, and each pre its post")
        }
    }

    static func detail(_ spot: BlindSpot) -> String {
        let place = spot.noticed.number > 0 ? " (packet \(spot.noticed.number))" : ""
        return spot.detail.isEmpty ? place : "\(place): \(spot.detail)"
    }

    /// What makes a reason go away.
    static func remedy(_ reason: BlindSpot.Reason) -> String {
        switch reason {
        case .noKeys: "give the key log of the device: --keylog FILE, or NAME.keys beside the trace"
        case .keysDoNotFit: "give the key log of this very session; the keys given belong to other connections"
        case .handshakeNotSeen, .startNotSeen: "start the capture before the app"
        case .unsupportedEncryption: "let the test servers offer TLS 1.2 or 1.3 with a usual suite"
        case .quic: "block UDP/443 on the test network, so that the device falls back to TCP"
        case .leafRefused, .leafSuspected:
            "install and trust the proxy's CA (iOS: Certificate Trust Settings too; Android: a debug build whose "
                + "network_security_config trusts user CAs; Flutter: SecurityContext.setTrustedCertificates behind a "
                + "build flag), or use a build without pinning"
        case .passthrough:
            "let the proxy read the host: take it off --passthrough, or make the app take the proxy's certificate"
        case .bypass: "make the device use the proxy for everything (transparent mode), and record again"
        case .tcpHole, .captureDrops, .oneSided, .fragmentMissing:
            "capture again, nearer to the device and with a larger buffer, so that no packet is missing"
        case .truncatedPacket: "capture with the full snapshot length (tcpdump -s 0)"
        case .headerTableUnknown: "start the capture before the connection, so that its header table is known"
        case .conflictingBytes:
            "capture on one interface only; bytes sent twice with other content were read as first seen"
        case .unknownProtocol, .unreadableMessage: "say which protocol the host speaks, or leave it out with --filter"
        case .bodyOverLimit: "use smaller bodies in the test"
        case .undecodableContent:
            "switch the content coding off in the test build; have what it sends as an archive (zip, bzip2, 7z, rar, lz4, xz) sent "
                + "unpacked, or as gzip, or not at all"
        case .decodeBudget: "use smaller bodies in the test"
        case .stateGivenUp: "narrow the capture with --filter to the device"
        case .unreadablePackets: "capture with a link type that is read (see the notes on the trace)"
        case .fileCutShort, .recordingStopped: "let the recording end in order (Ctrl-C, not a kill), and record again"
        case .withheld: "record a synthetic persona with --chia-journey=record"
        }
    }
}
