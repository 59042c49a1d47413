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

    private mutating func readHosts(_ node: YAMLNode, into hosts: inout Policy.Hosts) {
        var read = hosts
        mapping(
            node, at: "hosts",
            [
                ("chia", { read.chia = $0.hosts($1, "chia") }),
                ("chia-api", { read.chiaAPI = $0.hosts($1, "chia-api") }),
                ("chia-assets", { read.chiaAssets = $0.hosts($1, "chia-assets") }),
                ("partner", { read.partner = $0.hosts($1, "partner") }),
                ("partner-assets", { read.partnerAssets = $0.hosts($1, "partner-assets") }),
                ("return", { read.returnHosts = $0.hosts($1, "return") }),
                ("telemetry", { $0.readTelemetry($1, into: &read) }),
                ("opaque-ok", { read.opaqueOK = $0.readOpaque($1) }),
            ])
        hosts = read
    }

    private mutating func readTelemetry(_ node: YAMLNode, into hosts: inout Policy.Hosts) {
        hosts.usesBuiltinTelemetry = false
        for item in list(node, "telemetry") {
            if item.text == "builtin" {
                hosts.usesBuiltinTelemetry = true
            } else if let pattern = host(item, "telemetry") {
                hosts.telemetry.append(pattern)
            }
        }
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
    }

    private mutating func readSession(_ node: YAMLNode, into requests: inout Policy.Requests) {
        var key = requests.key
        var abandonOn = requests.abandonOn
        var credential = requests.credential
        readRequest(
            node, "session", into: &requests.session,
            more: [
                ("key", { if let read = $0.readKey($1) { key = read } }),
                ("credential", { credential = $0.readCredential($1) }),
                (
                    "abandon-on",
                    { reader, node in
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

    private mutating func readOutcomes(_ node: YAMLNode, into either: inout Set<Int>) {
        var read = either
        mapping(
            node, at: "outcomes",
            [
                (
                    "either",
                    { reader, node in
                        read = []
                        for (item, text) in reader.texts(node, "either") {
                            if let status = Int(text), (400...599).contains(status) {
                                read.insert(status)
                            } else {
                                reader.fault(item, "\"either\" must hold statuses from 400 to 599, not \"\(text)\"")
                            }
                        }
                    }
                )
            ])
        either = read
    }

    private mutating func readForbidden(_ node: YAMLNode, into forbidden: inout Policy.Forbidden) {
        var read = forbidden
        mapping(
            node, at: "forbidden",
            [
                (
                    "response-keys",
                    {
                        read.responseKeys = $0.texts($1, "response-keys").map(\.1)
                        read.namesResponseKeys = true
                    }
                ),
                ("catalog-keys", { read.catalogKeys = $0.texts($1, "catalog-keys").map(\.1) }),
                (
                    "secrets",
                    {
                        read.secrets = []
                        $0.readSecrets($1, "secrets", shapes: true, into: &read)
                    }
                ),
                ("canaries", { $0.readSecrets($1, "canaries", shapes: false, into: &read) }),
                ("digest-keys", { read.digestKeys = $0.texts($1, "digest-keys").map(\.1) }),
            ])
        forbidden = read
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

    private mutating func readTiming(_ node: YAMLNode, into timing: inout Policy.Timing) {
        var read = timing
        func member(_ name: String, _ path: WritableKeyPath<Policy.Timing, Nanoseconds>) -> Member {
            (name, { reader, node in reader.duration(node, name).map { read[keyPath: path] = $0 } })
        }
        mapping(
            node, at: "timing",
            [
                member("double-tap", \.doubleTap), member("tap-to-request", \.tapToRequest),
                member("url-lifetime", \.urlLifetime), member("clock-error", \.clockError),
                member("observe-after", \.observeAfter), member("hand-mark", \.handMark),
                member("retry-horizon", \.retryHorizon), member("url-margin", \.urlMargin),
                member("refresh", \.refresh),
                member("after-return", \.afterReturn), member("away", \.away), member("foreign-link", \.foreignLink),
                member("quiet-start", \.quietStart),
                member("projection-max-age", \.projectionMaxAge),
            ])
        timing = read
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

    private mutating func isRule(_ id: String, _ node: YAMLNode) -> Bool {
        if RuleNumbers.all.contains(id) { return true }
        unknown(
            node, "rule", id, "", among: NearestWord.to(id, among: RuleNumbers.all).map { [$0] } ?? ["HR-01 … HR-66"])
        return false
    }

    private mutating func readMustExercise(_ node: YAMLNode, into items: inout [String]) {
        let rows = (1...13).map { $0 < 10 ? "M-0\($0)" : "M-\($0)" }
        for (item, word) in texts(node, "must-exercise") {
            if rows.contains(word) || Policy.exercises.contains(word) || RuleNumbers.all.contains(word) {
                items.append(word)
            } else {
                unknown(item, "item", word, " for \"must-exercise\"", among: Policy.exercises + rows)
            }
        }
    }

    private mutating func readExceptions(_ node: YAMLNode, into exceptions: inout [Policy.Exception]) {
        for item in list(node, "exceptions") {
            var texts: [String: String] = [:]
            var expires: CalendarDay?
            func member(_ name: String) -> Member { (name, { reader, node in texts[name] = reader.text(node, name) }) }
            mapping(
                item, at: "exceptions",
                [
                    (
                        "rule",
                        { reader, node in
                            guard let id = reader.text(node, "rule"), reader.isRule(id, node) else { return }
                            texts["rule"] = id
                        }
                    ),
                    member("fingerprint"), member("scope"), member("reason"), member("owner"),
                    ("expires", { expires = $0.day($1, "expires") }),
                ])
            guard case .mapping(let pairs) = item.content else { continue }
            let present = Set(pairs.compactMap(\.key.text))
            for name in ["rule", "reason", "owner", "expires"] where !present.contains(name) {
                fault(item, "an exception needs \"\(name)\"")
            }
            if present.isDisjoint(with: ["fingerprint", "scope"]) {
                fault(item, "an exception needs a \"fingerprint\" (printed with each finding) or a \"scope\"")
            }
            if let fingerprint = texts["fingerprint"], fingerprint.count < 4 {
                fault(item, "a fingerprint needs at least 4 digits, \"\(fingerprint)\" has \(fingerprint.count)")
            }
            guard let rule = texts["rule"], let reason = texts["reason"], let owner = texts["owner"], let expires else {
                continue
            }
            exceptions.append(
                .init(
                    rule: rule, fingerprint: texts["fingerprint"], scope: texts["scope"], reason: reason,
                    owner: owner, expires: expires, line: item.place.line))
        }
    }
}

/// Every rule number of the catalogue, judged by this version or not.
enum RuleNumbers {
    static let all: [String] =
        (1...66).map { $0 < 10 ? "HR-0\($0)" : "HR-\($0)" } + (1...10).map { $0 < 10 ? "HC-0\($0)" : "HC-\($0)" }
}
