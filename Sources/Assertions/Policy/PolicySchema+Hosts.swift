internal import SessionTrace

/// `hosts:` of `handoff.yml`: patterns that mean one site, each where it can count.
extension PolicyReader {
    mutating func readHosts(_ node: YAMLNode, into hosts: inout Policy.Hosts) {
        var read = hosts
        var places: [(node: YAMLNode, name: String, pattern: HostPattern)] = []
        /// A list of hosts; nothing behind the key leaves the default.
        func member(_ name: String, _ path: WritableKeyPath<Policy.Hosts, [HostPattern]>) -> Member {
            (
                name,
                { reader, node in
                    guard !node.isNull else { return }
                    let entries = reader.hosts(node, name)
                    read[keyPath: path] = entries.map(\.pattern)
                    places += entries.map { ($0.node, name, $0.pattern) }
                }
            )
        }
        mapping(
            node, at: "hosts",
            [
                (
                    "chia",
                    { reader, node in
                        member("chia", \.chia).read(&reader, node)
                        if case .sequence(let items) = node.content, items.isEmpty {
                            reader.fault(
                                node,
                                "\"chia\" names no host, and no rule about Chia would find one; leave it out for chia.health"
                            )
                        }
                    }
                ),
                member("chia-api", \.chiaAPI), member("chia-assets", \.chiaAssets), member("partner", \.partner),
                member("partner-assets", \.partnerAssets), member("return", \.returnHosts),
                (
                    "telemetry",
                    { places += $0.readTelemetry($1, into: &read).map { ($0.node, "telemetry", $0.pattern) } }
                ),
                ("opaque-ok", { read.opaqueOK = $0.readOpaque($1) }),
            ])
        let ofChia = read.chiaAPI + read.chiaAssets + read.chia
        // Rules ask for a return host by itself, whoever's it is besides.
        for place in places where !place.name.hasPrefix("chia") && place.name != "return" {
            guard let first = ofChia.first(where: { $0.coversAll(of: place.pattern) }) else { continue }
            fault(
                place.node,
                "\"\(place.name)\" names \(place.pattern), which \(first) makes Chia's: that goes first, and this entry would never count; name Chia's hosts more narrowly, or leave it out"
            )
        }
        hosts = read
    }

    private mutating func readTelemetry(
        _ node: YAMLNode, into hosts: inout Policy.Hosts
    ) -> [(node: YAMLNode, pattern: HostPattern)] {
        guard !node.isNull else { return [] }
        hosts.usesBuiltinTelemetry = false
        var entries: [(node: YAMLNode, pattern: HostPattern)] = []
        for item in list(node, "telemetry") {
            if item.text == "builtin" {
                hosts.usesBuiltinTelemetry = true
            } else if let pattern = host(item, "telemetry", words: ["builtin"]) {
                entries.append((item, pattern))
            }
        }
        hosts.telemetry = entries.map(\.pattern)
        if !hosts.usesBuiltinTelemetry {
            remark(node, "\"telemetry\" leaves the built-in list out; write builtin into it to keep it")
        }
        return entries
    }

    private mutating func readOpaque(_ node: YAMLNode) -> [Policy.OpaqueAllowance] {
        var allowances: [Policy.OpaqueAllowance] = []
        for item in list(node, "opaque-ok") {
            var pattern: HostPattern?
            var reason: String?
            var expires: CalendarDay?
            mapping(
                item, at: "opaque-ok",
                [
                    ("host", { pattern = $0.host($1, "host") }),
                    ("reason", { reason = $0.text($1, "reason") }),
                    ("expires", { expires = $0.day($1, "expires") }),
                ])
            guard case .mapping(let pairs) = item.content else { continue }
            for name in ["host", "reason"] where !pairs.contains(where: { $0.key.text == name }) {
                fault(item, "an entry of \"opaque-ok\" needs \"\(name)\"")
            }
            if let pattern, let reason {
                allowances.append(.init(host: pattern, reason: reason, expires: expires, line: item.place.line))
            }
        }
        return allowances
    }

    /// One host. `words` are what may stand in its place in such a list.
    private mutating func host(_ node: YAMLNode, _ name: String, words: [String] = []) -> HostPattern? {
        guard let text = text(node, name) else { return nil }
        guard let pattern = HostPattern(text) else {
            fault(
                node,
                "\"\(name)\" must hold host names such as api.partner.example or *.partner.example (no scheme, port or "
                    + "path), not \"\(text)\"")
            return nil
        }
        let breadth = HostBreadth(of: pattern)
        if breadth == .singleLabel, !pattern.subdomainsOnly, let word = NearestWord.to(text, among: words) {
            fault(node, "\"\(name)\" must hold names of one site, and not \"\(text)\"; did you mean \"\(word)\"?")
            return nil
        }
        switch breadth {
        case .oneSite: break
        case .registry:
            fault(
                node,
                "\"\(name)\" must hold names of one site, and \"\(text)\" stands for every site below it; "
                    + "write a name below it, such as partner.example; a lab's host may be an address, localhost or *.test"
            )
            return nil
        case .singleLabel:
            remark(
                node,
                "\"\(name)\" names \(text), and only a lab has hosts of one label; a name in public has a dot")
        case .sector:
            remark(
                node,
                "\"\(name)\" names \(text), below which a whole sector has its names; name the one that is meant")
        case .platform where name != "telemetry":
            remark(
                node,
                "\"\(name)\" names \(text), below which a platform gives every customer names; name the one that is meant"
            )
        case .platform: break
        }
        return pattern
    }

    private mutating func hosts(_ node: YAMLNode, _ name: String) -> [(node: YAMLNode, pattern: HostPattern)] {
        list(node, name).compactMap { item in host(item, name).map { (item, $0) } }
    }
}
