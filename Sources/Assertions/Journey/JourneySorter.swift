public import SessionTrace

/// Sorts the device's connections into those that are recorded whole and those of the person's journey on Chia, which are
/// not ours to read (`--chia-journey=heads`), and says what is kept of the latter.
///
/// | first request | to a Chia host (or one of a handoff URL) | to any other host but the partner's |
/// |---|---|---|
/// | the app's, a web view's, the system's | recorded | recorded |
/// | the browser's | withheld | withheld once Chia has been opened on that device |
/// | nobody's that can be told, or no request | withheld | recorded, unless a browser's User-Agent comes with a Chia page as its origin |
///
/// Where nothing tells the sender, the safe side is the person's towards Chia, since a head tells rules as much of the
/// sender as the whole would; elsewhere it is the evidence's, since a leak hides in bodies.
///
/// A value with the state of one run; whoever shares it between threads puts a lock around it.
public struct JourneySorter: Sendable {
    private let policy: Policy
    private let redactor: Redactor
    private var roles: HostRoles
    private var agents = UserAgent()
    /// Devices on which the browser has asked a Chia host for something.
    private var visited: Set<IPAddress> = []
    private var scanner: LeakScanner
    /// The handoff URLs that the scanner knows, of all devices.
    private var needles: Set<Secret> = []

    /// Devices remembered; beyond it, Chia counts as opened on all of them.
    public static let deviceLimit = 4_096

    /// Begins a run.
    ///
    /// - Parameter installationKey: keys the digests, as `JudgeOptions.installationKey` does.
    public init(policy: Policy, installationKey: [UInt8]) {
        self.policy = policy
        redactor = Redactor(installationKey: installationKey)
        roles = HostRoles(policy.hosts)
        scanner = LeakScanner(redactor: redactor)
    }

    /// Whether the browser has opened Chia on a device.
    public func hasOpenedChia(on device: IPAddress) -> Bool {
        visited.count >= Self.deviceLimit || visited.contains(device)
    }

    /// Whether a connection may have to be withheld: it goes to a Chia host; or Chia was opened, and it does not go to the
    /// partner. Until its first head has been looked at, its recording has to wait.
    public func mayWithhold(_ connection: JourneyConnection, knowing knowledge: JourneyKnowledge) -> Bool {
        let names = connection.names
        if names.contains(where: { isChia($0, knowledge) }) { return true }
        guard hasOpenedChia(on: connection.client.address) else { return false }
        return names.isEmpty || names.contains { !isOfPartner($0, knowledge) }
    }

    /// Sorts a connection by its first request head; nil when there is none, or its bytes are no request.
    public mutating func decide(
        _ connection: JourneyConnection, first request: Request?, knowing knowledge: JourneyKnowledge
    ) -> JourneyDecision {
        let hosts = [request?.host].compactMap(\.self) + connection.names
        let actor = request.map { agents.read($0) } ?? .nothing
        let host = hosts.first
        if hosts.contains(where: { isChia($0, knowledge) }) {
            switch actor.actor {
            case .app, .webview, .os: return .record
            case .browser:
                visit(connection.client.address)
                return withhold(host, actor, "the browser's visit to Chia")
            case .unknown: return withhold(host, actor, "nothing tells who sent it, and it goes to Chia")
            }
        }
        if let host, isOfPartner(host, knowledge) || roles.role(of: host) == .mark { return .record }
        guard hasOpenedChia(on: connection.client.address) else { return .record }
        let isOfBrowser =
            actor.actor == .browser || (actor.isBareBrowser && request.map { isOfChiaPage($0, knowledge) } ?? false)
        return isOfBrowser ? withhold(host, actor, "the browser's, after Chia was opened") : .record
    }

    private mutating func visit(_ device: IPAddress) {
        if visited.count < Self.deviceLimit { visited.insert(device) }
    }

    private func withhold(_ host: HostName?, _ actor: ActorReading, _ why: String) -> JourneyDecision {
        var attributes = ["actor": actor.actor.rawValue, "why": why]
        if let host { attributes["host"] = host.text }
        return .withhold(attributes: attributes)
    }

    private func isChia(_ host: HostName, _ knowledge: JourneyKnowledge) -> Bool {
        roles.isChia(host)
            || (roles.role(of: host) == .thirdParty && knowledge.handoffs.contains { $0.address?.host == host })
    }

    private func isOfPartner(_ host: HostName, _ knowledge: JourneyKnowledge) -> Bool {
        switch roles.role(of: host) {
        case .partner, .partnerAssets, .returnHost, .mark: true
        case .chia, .chiaAPI, .chiaAssets, .telemetry, .osNoise, .thirdParty: knowledge.partnerHosts.contains(host)
        }
    }

    private func isOfChiaPage(_ request: Request, _ knowledge: JourneyKnowledge) -> Bool {
        ["origin", "referer"].compactMap { request.fields.first($0).flatMap { WebAddress($0)?.host } }
            .contains { isChia($0, knowledge) }
    }

    // MARK: what is kept of a request

    /// The attributes of the `exchange` event of one request on a withheld connection, and its answer.
    ///
    /// Knowledge must be that of a trace read up to the request: what was opened is what a session response, recorded
    /// before, had brought.
    public mutating func attributes(
        of exchange: Exchange, on connection: JourneyConnection, knowing knowledge: JourneyKnowledge
    ) -> [String: String] {
        guard let request = exchange.request else { return [:] }
        for known in knowledge.handoffs
        where needles.count < JourneyKnowledge.limit && needles.insert(Secret(known.text)).inserted {
            scanner.learn(
                needle: Needle(
                    number: needles.count, kind: .handoffURL, label: "U#\(needles.count)", value: known.text))
        }
        var kept = KeptHead(redactor: redactor, roles: roles)
        kept.add(exchange, request)
        let address =
            WebAddress(request) ?? connection.names.first.flatMap { WebAddress("https://\($0)\(request.pathAndQuery)") }
        if let address {
            let closeness = relation(of: address, knowledge)
            kept.add(address, closeness, prefix: "")
            if closeness.toHandoff == .variant,
                let known = knowledge.handoffs.first(where: { $0.packet == closeness.handoff })
            {
                kept.add(changeOf: known.text, to: address, authority: request.authority, prefix: "")
            }
            let status = exchange.response?.status ?? 0
            if (300..<400).contains(status), let location = exchange.response?.fields.first("location"),
                let target = address.resolve(location) ?? WebAddress(location)
            {
                let closeness = relation(of: target, knowledge)
                kept.add(target, closeness, prefix: "location-")
                if closeness.toHandoff == .variant,
                    let known = knowledge.handoffs.first(where: { $0.packet == closeness.handoff })
                {
                    kept.add(changeOf: known.text, to: target, authority: nil, prefix: "location-")
                }
                kept.attributes["location-host"] = target.host.text
                kept.attributes["location-query"] = String(target.query != nil)
                kept.attributes["location-fragment"] = String(location.contains("#"))
            }
        }
        kept.attributes["role"] = roles.role(of: request.host ?? connection.names.first).rawValue
        return kept.attributes
    }

    /// The relation, with tokens in any encoding.
    private mutating func relation(of address: WebAddress, _ knowledge: JourneyKnowledge) -> JourneyRelation {
        var relation = knowledge.relation(of: address)
        guard relation.toHandoff == .other || (relation.toHandoff == .containsToken && relation.handoff == nil) else {
            return relation
        }
        let place = PacketReference(number: 0, time: .distantPast)
        let hits = scanner.scan(
            Request(
                method: "GET", target: address.path + (address.query.map { "?\($0)" } ?? ""), scheme: address.scheme,
                authority: address.host.text, fields: FieldSection(), started: place, ended: place)
        ).hits.filter(\.isHandoffToken)
        guard !hits.isEmpty else { return relation }
        relation.toHandoff = .containsToken
        // The packet is one of this device's own recording; another device's URL has none in it.
        let found = Set(hits.compactMap(\.needle?.value))
        relation.handoff = knowledge.handoffs.first { found.contains(Secret($0.text)) }?.packet ?? relation.handoff
        return relation
    }
}

extension HostRoles {
    /// The role of a host that may be unknown.
    func role(of host: HostName?) -> HostRole { host.map { role(of: $0) } ?? .thirdParty }
}
