internal import SessionTrace

/// What is kept of the heads of one exchange on a withheld connection, as attributes of an `exchange` event; nothing else
/// of it goes into the recording. `WithheldExchange` reads them back.
///
/// | attribute | what |
/// |---|---|
/// | `index`, `version`, `method`, `status`, `started`, `ended`, `end`, `interim` | the exchange |
/// | `role`, `url`, `to-u`, `u`, `to-n`, `n`, `token-in` | host role, keyed digest of the URL, relation to U and N |
/// | `change` | of a variant of U: what was done to it (`BrowserForm.Difference`) |
/// | `fields` | names of all request header fields, in order |
/// | `h.NAME` | values of the fields that tell sender and purpose |
/// | `referer`, `origin` | host roles; `android-app://PACKAGE` for a program; `null`, `app` or `extension` for what is no page of the web |
/// | `range`, `wants-page`, `revalidates` | said by Range, Accept and Cache-Control |
/// | `cookies`, `set-cookies` | names with keyed digests of values |
/// | `location-…` | host, query, fragment, digest and relation of a redirect's target |
struct KeptHead {
    let redactor: Redactor
    let roles: HostRoles
    var attributes: [String: String] = [:]

    init(redactor: Redactor, roles: HostRoles) {
        self.redactor = redactor
        self.roles = roles
    }

    /// Fields whose values are kept; those that begin with `sec-fetch-` and `sec-ch-ua` too.
    static let keptFields: Set<String> = [
        "sec-purpose", "purpose", "x-purpose", "x-moz", "x-requested-with", "user-agent",
    ]
    /// Bytes kept of one value.
    static let valueLimit = 512
    /// Field names, and cookies, kept of one head: the comment of a packet holds 65,000 bytes.
    static let nameLimit = 256

    static func isKept(_ name: String) -> Bool {
        keptFields.contains(name) || name.hasPrefix("sec-fetch-") || name.hasPrefix("sec-ch-ua")
    }

    mutating func add(_ exchange: Exchange, _ request: Request) {
        attributes["index"] = String(exchange.id.index)
        attributes["version"] = exchange.version.rawValue
        attributes["method"] = Self.word(request.method)
        attributes["started"] = request.started.time.rfc3339
        attributes["ended"] = exchange.ended.time.rfc3339
        attributes["end"] = Self.word(for: exchange.end)
        if let response = exchange.response { attributes["status"] = String(response.status) }
        if !exchange.informational.isEmpty { attributes["interim"] = String(exchange.informational.count) }

        let fields = request.fields
        var names: [String] = []
        for field in fields.fields.prefix(Self.nameLimit) {
            let name = Self.fieldName(fields.name(field))
            names.append(name)
            guard Self.isKept(name) else { continue }
            let key = "h.\(name)"
            let value = Self.value(fields.value(field))
            attributes[key] = attributes[key].map { "\($0), \(value)" } ?? value
        }
        attributes["fields"] = names.joined(separator: ",")
        for name in ["referer", "origin"] {
            guard let value = fields.first(name) else { continue }
            if let program = RequestHead.program(value) {
                attributes[name] = RequestHead.programScheme + redactor.name(program)
                continue
            }
            attributes[name] =
                PageOrigin(value)?.rawValue ?? WebAddress(value).map { roles.role(of: $0.host).rawValue } ?? "none"
        }
        if fields.first("range") != nil { attributes["range"] = "true" }
        if fields.first("accept")?.holds("text/html") == true { attributes["wants-page"] = "true" }
        if fields.values("cache-control").contains(where: { $0.holds("max-age=0") || $0.holds("no-cache") }) {
            attributes["revalidates"] = "true"
        }
        let cookies = fields.values("cookie").flatMap { $0.split(separator: ";") }
        attributes["cookies"] = self.cookies(cookies)
        let given = (exchange.response?.fields.values("set-cookie") ?? []).map { $0.prefix { $0 != ";" } }
        attributes["set-cookies"] = self.cookies(given)
    }

    mutating func add(_ address: WebAddress, _ relation: JourneyRelation, prefix: String) {
        attributes["\(prefix)url"] = redactor.digest(address.text)
        attributes["\(prefix)to-u"] = relation.toHandoff.rawValue
        attributes["\(prefix)to-n"] = relation.toNeutral.rawValue
        if let packet = relation.handoff { attributes["\(prefix)u"] = String(packet) }
        if let reference = relation.neutral { attributes["\(prefix)n"] = reference }
        if relation.toHandoff == .containsToken {
            attributes["\(prefix)token-in"] = Token.first(in: address.path) != nil ? "path" : "query"
        }
    }

    /// What was done to a handoff URL of which a variant was asked for, or redirected to.
    mutating func add(changeOf url: String, to address: WebAddress, authority: String?, prefix: String) {
        let likeness = BrowserForm.likeness(
            of: url, toSent: address.scheme, authority: authority ?? address.host.text,
            target: address.path + (address.query.map { "?\($0)" } ?? ""))
        if case .other(let difference) = likeness { attributes["\(prefix)change"] = difference.rawValue }
    }

    private func cookies(_ pairs: [Substring]) -> String? {
        let shown = pairs.prefix(Self.nameLimit).map { pair -> String in
            let name = pair.prefix { $0 != "=" }.filter { $0 != " " }
            let value = pair[pair.prefix { $0 != "=" }.endIndex...].dropFirst()
            return "\(redactor.name(name.prefix(64)))=\(redactor.digest(String(value)))"
        }
        return shown.isEmpty ? nil : shown.joined(separator: "; ")
    }

    /// A value as it is, but for what has the shape of a token.
    private static func value(_ text: String) -> String {
        let cut = String(text.prefix(valueLimit))
        return Token.first(in: cut) == nil ? cut : "withheld"
    }

    /// A field's name in lower case; one that is no name, or longer than any known one, is not kept.
    private static func fieldName(_ name: String) -> String {
        let isName =
            !name.isEmpty && name.utf8.count <= 64 && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x2C }
        return isName && Token.first(in: name) == nil ? name.lowercased() : "withheld"
    }

    private static func word(_ method: String) -> String {
        method.utf8.count <= 32 && method.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } ? method : "withheld"
    }

    static func word(for end: ExchangeEnd) -> String {
        switch end {
        case .complete: "complete"
        case .closed(let side): "closed-by-\(side == .client ? "client" : "server")"
        case .reset(let side, _): "reset-by-\(side == .client ? "client" : "server")"
        case .unprocessed: "unprocessed"
        case .notSeen: "not-seen"
        case .traceEnded: "trace-ended"
        }
    }

    static func end(of word: String?) -> ExchangeEnd {
        switch word {
        case "complete": .complete
        case "closed-by-client": .closed(by: .client)
        case "closed-by-server": .closed(by: .server)
        case "reset-by-client": .reset(by: .client, code: nil)
        case "reset-by-server": .reset(by: .server, code: nil)
        case "unprocessed": .unprocessed
        case "trace-ended": .traceEnded
        default: .notSeen
        }
    }
}
