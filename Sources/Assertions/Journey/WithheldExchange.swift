internal import SessionTrace

/// Makes an exchange of an `exchange` event again, so that rules judge it like any other: the heads as far as they were
/// kept, with addresses in place of digests.
///
/// A URL that was equal to a handoff or neutral URL is that URL again; a variant of one is its path with another query;
/// one with the token holds it; any other has a path made of its digest, so that equal URLs are equal. Values that were
/// not kept read `withheld`.
struct WithheldExchange {
    /// Names of the connection.
    var names: [HostName]
    var roles: HostRoles
    var knowledge: JourneyKnowledge

    /// A host of whose name nothing was kept.
    static let unnamedHost = "withheld.invalid"
    /// What the path of an address begins with that was not kept.
    static let unnamedPath = "/withheld/"

    /// Nil when the event lacks what every exchange has.
    func read(_ event: ProxyEvent, on connection: ConnectionID) -> Exchange? {
        let kept = event.attributes
        guard let method = kept["method"], let index = kept["index"].flatMap({ Int($0) }), index >= 0 else {
            return nil
        }
        let number = event.packet?.number ?? 0
        let started = PacketReference(
            number: number, time: kept["started"].flatMap { Instant(rfc3339: $0) } ?? event.at)
        let ended = PacketReference(
            number: number, time: max(started.time, kept["ended"].flatMap { Instant(rfc3339: $0) } ?? started.time))
        let host = host(role: kept["role"])
        guard let address = address(kept, prefix: "", host: host) else { return nil }
        let target = address.path + (address.query.map { "?\($0)" } ?? "")
        let request = Request(
            method: method, target: target, scheme: address.scheme, authority: Self.authority(address),
            fields: fields(kept, address, target, method), started: started, ended: started)
        var response: Response?
        if let status = kept["status"].flatMap({ Int($0) }), (100...999).contains(status) {
            var fields = FieldSection()
            if let host = kept["location-host"], let target = self.address(kept, prefix: "location-", host: host) {
                fields.append("location", target.text)
            }
            response = Response(status: status, reason: "", fields: fields, started: ended, ended: ended)
        }
        let interim = kept["interim"].flatMap { Int($0) } ?? 0
        let informational = Array(
            repeating: Response(status: 103, reason: "", fields: FieldSection(), started: ended, ended: ended),
            count: min(max(interim, 0), 1))
        return Exchange(
            id: ExchangeID(connection: connection, index: index),
            version: kept["version"].flatMap { HTTPVersion(rawValue: $0) } ?? .http11, request: request,
            informational: informational, response: response, end: KeptHead.end(of: kept["end"]), ended: ended)
    }

    /// The connection's name with this role.
    private func host(role: String?) -> String {
        let own = names.first { roles.role(of: $0).rawValue == role }
        if let own { return own.text }
        guard let first = names.first else { return Self.unnamedHost }
        // Another policy may call the same host something else; another host of Chia's is Chia's.
        let isChiaThen = role.flatMap { HostRole(rawValue: $0) }?.isChia ?? false
        return isChiaThen == roles.isChia(first) ? first.text : Self.unnamedHost
    }

    private func address(_ kept: [String: String], prefix: String, host: String) -> WebAddress? {
        let digest = kept["\(prefix)url"].flatMap(Self.digest) ?? "unknown"
        let toHandoff = kept["\(prefix)to-u"].flatMap { JourneyCloseness(rawValue: $0) } ?? .other
        let toNeutral = kept["\(prefix)to-n"].flatMap { JourneyCloseness(rawValue: $0) } ?? .other
        let handoff = kept["\(prefix)u"].flatMap { Int($0) }
            .flatMap { packet in knowledge.handoffs.first { $0.packet == packet } }
        let neutral = kept["\(prefix)n"].flatMap { reference in
            knowledge.neutrals.first { $0.reference == reference }
        }
        func variant(of address: WebAddress) -> WebAddress {
            var variant = address
            switch kept["\(prefix)change"].flatMap({ BrowserForm.Difference(rawValue: $0) }) {
            case .queryAdded:
                variant.query = (address.query.map { "\($0)&" } ?? "") + "added=\(digest)"
            case .queryRemoved where address.query != nil: variant.query = nil
            case .trailingSlash:
                variant.path = address.path.hasSuffix("/") ? String(address.barePath) : address.path + "/"
            default: variant.query = "withheld=\(digest)"
            }
            return variant
        }
        if toHandoff == .equal, let known = handoff?.address { return known }
        if toNeutral == .equal, let known = neutral?.address { return known }
        // What a browser made of it is the same for every browser but for a few escapes.
        if toHandoff == .equalNormalised, let known = handoff?.address, known != known.normalised {
            return known.normalised
        }
        if toNeutral == .equalNormalised, let known = neutral?.address, known != known.normalised {
            return known.normalised
        }
        if toHandoff == .equalNormalised || toHandoff == .variant, let known = handoff?.address {
            return variant(of: known)
        }
        if toNeutral == .equalNormalised || toNeutral == .variant, let known = neutral?.address {
            return variant(of: known)
        }
        var path = Self.unnamedPath + digest
        if toHandoff != .other {
            // A token of another session is one of which only the shape matters.
            let token = handoff?.token ?? Token.prefix + "withheld\(digest)"
            path += kept["\(prefix)token-in"] == "query" ? "?t=\(token)" : "/\(token)"
        }
        return WebAddress("https://\(host)\(path)")
    }

    private static func digest(_ text: String) -> String? {
        text.utf8.count <= 64 && text.utf8.allSatisfy { Hex.value($0) != nil } ? text : nil
    }

    private static func authority(_ address: WebAddress) -> String {
        String(address.text.dropFirst(address.scheme.utf8.count + 3).prefix { $0 != "/" })
    }

    private func fields(
        _ kept: [String: String], _ address: WebAddress, _ target: String, _ method: String
    ) -> FieldSection {
        var fields = FieldSection()
        var told: Set<String> = []
        for name in (kept["fields"] ?? "").split(separator: ",").prefix(KeptHead.nameLimit).map(String.init) {
            if KeptHead.isKept(name) {
                if told.insert(name).inserted { fields.append(name, kept["h.\(name)"] ?? "withheld") }
                continue
            }
            switch name {
            case ":method": fields.append(name, method)
            case ":scheme": fields.append(name, address.scheme)
            case ":authority", "host": fields.append(name, Self.authority(address))
            case ":path": fields.append(name, target)
            case "referer", "origin": fields.append(name, origin(role: kept[name]))
            case "cookie":
                if told.insert(name).inserted { fields.append(name, kept["cookies"] ?? "withheld") }
            case "accept": fields.append(name, kept["wants-page"] == "true" ? "text/html" : "*/*")
            case "cache-control": fields.append(name, kept["revalidates"] == "true" ? "max-age=0" : "withheld")
            default: fields.append(name, "withheld")
            }
        }
        return fields
    }

    /// An address of a host with this role.
    private func origin(role: String?) -> String {
        if let role, RequestHead.program(role) != nil { return role }
        if let page = role.flatMap({ PageOrigin(rawValue: $0) }) { return page.example }
        guard let role = role.flatMap({ HostRole(rawValue: $0) }) else { return "about:blank" }
        var host: HostName?
        if role.isChia {
            host = names.first { roles.isChia($0) } ?? roles.hosts.chia.first?.domain
        } else if role == .partner || role == .partnerAssets || role == .returnHost {
            host = (roles.hosts.partner + roles.hosts.partnerAssets + roles.hosts.returnHosts).first?.domain
        }
        return "https://\(host?.text ?? Self.unnamedHost)/"
    }
}
