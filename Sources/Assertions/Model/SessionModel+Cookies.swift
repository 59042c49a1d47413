internal import SessionTrace

/// Whose cookies go where.
extension SessionModel {
    mutating func readCookies(_ record: inout PendingRecord, isChiaHost: Bool) {
        let request = record.request
        let isApp = record.actor.actor != .browser && record.actor.actor != .os
        guard isApp || isChiaHost else { return }
        var sent = Self.pairs(request.fields.values("cookie").flatMap { $0.split(separator: ";") }, redactor)
        for name in CookieBook.credentialFields {
            // `Bearer abc`: the scheme is no part of the credential.
            for value in request.fields.values(name) {
                sent.append((name, String(value.split(separator: " ").last ?? "")))
            }
        }
        if !sent.isEmpty { contents.cookies.keepSent(sent, record.made(), toChia: isChiaHost, byApp: isApp) }
        let set = record.exchange.response?.fields.values("set-cookie") ?? []
        guard !set.isEmpty else { return }
        let given = Self.pairs(set.map { $0.prefix { $0 != ";" } }, redactor)
        contents.cookies.keepGiven(given, record.made(), byChia: isChiaHost)
        if isChiaHost { learnCookies(given.map(\.value), since: request.started.time) }
    }

    /// Cookies of Chia's are looked for in whatever the app sends from then on.
    private mutating func learnCookies(_ values: [String], since: Instant) {
        for value in values {
            let bytes = Array(value.utf8)
            // A token is looked for as one; and what came to the app in the answer to its session request is its own.
            guard bytes.count <= CookieBook.longest, NeedleForms.isTelling(bytes), CookieMake(bytes) == .identifier,
                TokenShape.first(in: bytes) == nil,
                !needles.contains(
                    value, as: [.cookie, .token, .idempotencyKey, .catalogID, .disclosureVersion, .neutralURL])
            else { continue }
            guard needles.count(of: .cookie) < CookieBook.searched else {
                contents.cookies.hasMore = true
                return
            }
            learn(.cookie, value, since: since, neededSince: since, isNested: false)
        }
    }

    private static func pairs(_ pairs: [Substring], _ redactor: Redactor) -> [(name: String, value: String)] {
        pairs.prefix(100).map { pair in
            let name = pair.prefix { $0 != "=" }
            return (redactor.name(name.filter { $0 != " " }), String(pair[name.endIndex...].dropFirst()))
        }
    }

    /// Cookies of a request on a withheld connection, which are kept as digests.
    mutating func readWithheldCookies(_ event: ProxyEvent, _ exchange: Exchange, _ flow: Flow?) {
        guard let request = exchange.request, let host = request.host, isChia(host) else { return }
        let kept = event.attributes
        var record = PendingRecord(
            exchange: exchange, request: request, flow: flow, host: host, actor: actor(of: request, flow),
            redactor: redactor)
        let isKnown = [kept["to-u"], kept["to-n"]].contains(JourneyCloseness.equal.rawValue)
        if isKnown, let address = WebAddress(request), let digest = kept["url"] {
            contents.cookies.learnDigest(isOwn: redactor.digest(address.text) == digest)
        }
        if let sent = kept["cookies"] { contents.cookies.keepWithheld(sent, record.made(), areGiven: false) }
        if let given = kept["set-cookies"] { contents.cookies.keepWithheld(given, record.made(), areGiven: true) }
    }
}
