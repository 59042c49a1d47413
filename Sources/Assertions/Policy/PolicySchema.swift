internal import SessionTrace

/// The schema of `handoff.yml`: one function a mapping, one line a key.
extension PolicyReader {
    /// The version of the schema that this reader knows.
    static let version = "1"

    mutating func readRoot(_ node: YAMLNode, into policy: inout Policy) {
        var read = policy
        mapping(
            node, at: "",
            [
                ("version", { $0.readVersion($1) }),
                ("hosts", { $0.readHosts($1, into: &read.hosts) }),
                (
                    "requests",
                    {
                        $0.readRequests($1, into: &read.requests)
                        read.namesProjection = $1.hasKey("projection")
                    }
                ),
                ("return-link", { $0.readReturnLink($1, into: &read.returnLink) }),
                ("eligibility", { $0.word($1, "eligibility", Policy.Eligibility.self).map { read.eligibility = $0 } }),
                ("strict-selection", { $0.flag($1, "strict-selection").map { read.strictSelection = $0 } }),
                ("fields", { $0.readFields($1, into: &read.fields) }),
                ("outcomes", { $0.readOutcomes($1, into: &read.either) }),
                ("forbidden", { $0.readForbidden($1, into: &read.forbidden) }),
                ("timing", { $0.readTiming($1, into: &read.timing) }),
                ("gate", { $0.readGate($1, into: &read.gate) }),
                ("must-exercise", { $0.readMustExercise($1, into: &read.mustExercise) }),
                ("exceptions", { $0.readExceptions($1, into: &read.exceptions) }),
            ])
        policy = read
    }

    private mutating func readVersion(_ node: YAMLNode) {
        guard let text = text(node, "version") else { return }
        if text != Self.version {
            fault(node, "version \(text) is not known; this program reads version \(Self.version)")
        }
    }

    private mutating func readReturnLink(_ node: YAMLNode, into link: inout String?) {
        guard let text = text(node, "return-link") else { return }
        let scheme = text.firstRange(of: "://").map { text[..<$0.lowerBound] } ?? ""
        guard scheme.first?.isLetter ?? false,
            scheme.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) })
        else {
            return fault(
                node,
                "\"return-link\" must be a link such as https://www.partner.example/home or shop://home, not \"\(text)\""
            )
        }
        link = text
    }

    private mutating func readRequests(_ node: YAMLNode, into requests: inout Policy.Requests) {
        var read = requests
        mapping(
            node, at: "requests",
            [
                ("session", { $0.readSession($1, into: &read) }),
                ("projection", { $0.readRequest($1, "projection", into: &read.projection, more: []) }),
                ("status", { read.status = $0.templates($1, "status") }),
                ("allow", { read.allow = $0.templates($1, "allow") }),
                ("home", { read.home = $0.templates($1, "home") }),
                ("foreground-allow", { read.foregroundAllow = $0.templates($1, "foreground-allow") }),
                ("catalog", { read.catalog = $0.templates($1, "catalog") }),
            ])
        requests = read
        if case .mapping(let pairs) = node.content {
            for pair in pairs { checkBreadth(pair.value, pair.key.text ?? "", read) }
        }
    }

    /// A template of holes alone has no path of its own, and one of `allow` must leave the requests that rules are about.
    private mutating func checkBreadth(_ node: YAMLNode, _ name: String, _ requests: Policy.Requests) {
        guard case .sequence(let items) = node.content, name == "allow" || name == "home" || name == "foreground-allow"
        else { return }
        let kept =
            name == "allow"
            ? [("session", requests.session), ("projection", requests.projection)]
                + requests.status.map { ("status", $0) } + requests.catalog.map { ("catalog", $0) } : []
        for item in items {
            guard let text = item.text, let template = RequestTemplate(text) else { continue }
            let parts = template.path.text.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
            if let (other, request) = kept.first(where: { template.covers($0.1) }) {
                fault(
                    item,
                    "\"allow\" takes out \(text), and with it the request of \"\(other)\" (\(request)), about which rules ask; name only what is none"
                )
            } else if parts.allSatisfy({ $0.hasPrefix("{") }) {
                remark(
                    item,
                    "\"\(name)\" names \(text), which is every path of \(counted(parts.count, "segment")); write a segment of its own"
                )
            }
        }
    }

    private mutating func readSession(_ node: YAMLNode, into requests: inout Policy.Requests) {
        var key = requests.key
        var abandonOn = requests.abandonOn
        var credential = requests.credential
        readRequest(
            node, "session", into: &requests.session,
            more: [
                ("key", { if let read = $0.readKey($1) { key = read } }),
                ("credential", { if !$1.isNull { credential = $0.readCredential($1) } }),
                (
                    "abandon-on",
                    { reader, node in
                        guard !node.isNull else { return }
                        abandonOn = Set(
                            reader.list(node, "abandon-on").compactMap {
                                reader.word($0, "abandon-on", Policy.Abandonment.self)
                            })
                    }
                ),
            ])
        requests.key = key
        requests.abandonOn = abandonOn
        requests.credential = credential
    }

    private mutating func readCredential(_ node: YAMLNode) -> Set<Policy.Credential> {
        var places: Set<Policy.Credential> = []
        for (item, text) in texts(node, "credential") {
            let words = text.split(separator: " ")
            if words.count == 2, words[0] == "header" {
                places.insert(.header(String(words[1])))
            } else if text == "cookie" {
                places.insert(.cookie)
            } else if text == "mtls" {
                places.insert(.clientCertificate)
            } else {
                fault(item, "\"credential\" must hold \"header NAME\", \"cookie\" or \"mtls\", not \"\(text)\"")
            }
        }
        if places.isEmpty, case .sequence(let items) = node.content, items.isEmpty {
            fault(
                node,
                "\"credential\" names no place, and no session request could have one; leave it out for its default")
        }
        return places
    }

    private mutating func readRequest(
        _ node: YAMLNode, _ name: String, into template: inout RequestTemplate, more: [Member]
    ) {
        var read = template
        mapping(
            node, at: name,
            [
                ("method", { read.method = $0.text($1, "method")?.uppercased() ?? read.method }),
                ("path", { read.path = $0.path($1, "path") ?? read.path }),
            ] + more)
        template = read
    }

    private mutating func readKey(_ node: YAMLNode) -> Policy.KeyPlace? {
        guard let text = text(node, "key") else { return nil }
        let words = text.split(separator: " ")
        if words.count == 2, words[0] == "header" { return .header(String(words[1])) }
        if words.count == 2, words[0] == "body", words[1].hasPrefix("/") { return .body(String(words[1])) }
        fault(node, "\"key\" must be \"header NAME\" or \"body /pointer\", not \"\(text)\"")
        return nil
    }

    private mutating func readFields(_ node: YAMLNode, into fields: inout Policy.Fields) {
        var read = fields
        mapping(
            node, at: "fields",
            [
                ("catalog-id", { read.catalogID = $0.pointer($1, "catalog-id") ?? read.catalogID }),
                (
                    "disclosure-version",
                    { read.disclosureVersion = $0.pointer($1, "disclosure-version") ?? read.disclosureVersion }
                ),
                ("affirmed", { read.affirmed = $0.pointer($1, "affirmed") ?? read.affirmed }),
                ("affirmed-at", { read.affirmedAt = $0.pointer($1, "affirmed-at") ?? read.affirmedAt }),
                ("projection", { if $1.text != "auto" { read.projection = $0.pointer($1, "projection") } }),
                ("image", { read.image = $0.pointer($1, "image") ?? read.image }),
                ("evidence", { if $1.text != "auto" { read.evidence = $0.pointer($1, "evidence") } }),
                ("hidden", { read.hidden = $0.texts($1, "hidden").map(\.1) }),
            ])
        if case .mapping(let pairs) = node.content {
            let session: Set<String> = ["catalog-id", "disclosure-version", "affirmed", "affirmed-at"]
            read.areConfigured = pairs.contains { session.contains($0.key.text ?? "") }
        }
        fields = read
    }

    private mutating func readForbidden(_ node: YAMLNode, into forbidden: inout Policy.Forbidden) {
        var read = forbidden
        mapping(
            node, at: "forbidden",
            [
                (
                    "response-keys",
                    {
                        guard !$1.isNull else { return }
                        read.responseKeys = $0.texts($1, "response-keys").map(\.1)
                        read.namesResponseKeys = true
                        $0.remarkIfEmpty($1, "response-keys", "HR-60 then knows no name of a status")
                    }
                ),
                ("catalog-keys", { read.catalogKeys = $0.texts($1, "catalog-keys").map(\.1) }),
                (
                    "secrets",
                    {
                        guard !$1.isNull else { return }
                        read.secrets = []
                        $0.readSecrets($1, "secrets", shapes: true, into: &read)
                        $0.remarkIfEmpty($1, "secrets", "HR-55 then knows no secret by its beginning")
                    }
                ),
                ("canaries", { $0.readSecrets($1, "canaries", shapes: false, into: &read) }),
                ("digest-keys", { read.digestKeys = $0.texts($1, "digest-keys").map(\.1) }),
            ])
        forbidden = read
    }

    /// An empty list where there is a default takes the default away.
    private mutating func remarkIfEmpty(_ node: YAMLNode, _ name: String, _ effect: String) {
        guard case .sequence(let items) = node.content, items.isEmpty else { return }
        remark(node, "\"\(name)\" is an empty list: \(effect); leave it out for its default")
    }

    /// Secrets by shape or hash. What is wrong is not repeated: it may be the secret itself.
    private mutating func readSecrets(
        _ node: YAMLNode, _ name: String, shapes: Bool, into forbidden: inout Policy.Forbidden
    ) {
        for (item, text) in texts(node, name) {
            if let hash = SecretHash(text) {
                forbidden.hashes.append(hash)
            } else if shapes, text.hasSuffix("*"), text.utf8.count >= 5, !text.dropLast().contains("*") {
                forbidden.secrets.append(text)
            } else {
                fault(
                    item,
                    "\"\(name)\" must hold \(shapes ? "beginnings of four characters or more such as \"whsec_*\", or " : "")"
                        + "salted hashes, \(SecretHash.form), and never a secret itself")
            }
        }
    }

    private mutating func readGate(_ node: YAMLNode, into gate: inout Policy.Gate) {
        switch node.content {
        case .scalar("headline", _): gate = .headline
        case .scalar("full", _): gate = .full
        case .scalar(let word, _):
            unknown(node, "profile", word, " for \"gate\"", among: ["headline", "full"])
        case .sequence:
            var rules: Set<String> = []
            for (item, id) in texts(node, "gate") where isRule(id, item) { rules.insert(id) }
            if rules.isEmpty {
                fault(
                    node, "\"gate\" names no rule, and would let everything pass; leave it out for the headline rules")
            }
            gate = .rules(rules)
        case .mapping:
            fault(node, "\"gate\" must be a profile's name or a list of rule ids, not a mapping")
        }
    }

    mutating func isRule(_ id: String, _ node: YAMLNode) -> Bool {
        if RuleNumbers.all.contains(id) { return true }
        unknown(
            node, "rule", id, "", among: NearestWord.to(id, among: RuleNumbers.all).map { [$0] } ?? ["HR-01 … HR-66"])
        return false
    }
}

extension RequestTemplate {
    /// Whether every request of `other` is one of this template.
    fileprivate func covers(_ other: RequestTemplate) -> Bool {
        let sample = other.path.text.split(separator: "/", omittingEmptySubsequences: false)
            .map { $0.hasPrefix("{") ? "x" : String($0) }.joined(separator: "/")
        return (method == nil || method == other.method) && path.matches(sample)
    }
}
