internal import SessionTrace

/// A link back to the partner that an answer of Chia's gave the browser: in a `Location` or on a page.
struct ReturnLink: Hashable, Sendable {
    /// The link as written, fragment included. Holds secrets.
    var text: String
    /// Whether the browser was sent there, and not only shown the link.
    var isRedirect: Bool
    var at: Instant
    var exchange: ExchangeID
    var evidence: Evidence

    /// Links kept.
    static let limit = 1_000
    /// Bytes of a page that are looked at.
    static let pageLength = 512 << 10

    /// Scheme, host and path, without query and fragment.
    var bare: Substring { text.prefix { $0 != "?" && $0 != "#" } }
    /// What follows, with its `?` or `#`.
    var rest: Substring { text[bare.endIndex...] }
}

extension SessionModel {
    /// Whether a link leads back to the partner: to a return host, or to what the policy registers.
    private func isReturn(_ link: some StringProtocol) -> Bool {
        if let registered = policy.returnLink {
            let bare = registered.prefix { $0 != "?" && $0 != "#" }
            if link.hasPrefix(bare) { return true }
            // An app's own scheme names the app, whatever follows.
            if let scheme = registered.firstRange(of: "://"), !registered.hasPrefix("http"),
                link.hasPrefix(registered[..<scheme.upperBound])
            {
                return true
            }
        }
        guard let address = WebAddress(link) else { return false }
        return policy.hosts.returnHosts.covers(address.host)
    }

    /// Keeps the return links in an answer that Chia gave the browser.
    mutating func keepReturnLinks(_ exchange: Exchange, _ request: Request, _ record: RequestRecord) {
        guard policy.returnLink != nil || !policy.hosts.returnHosts.isEmpty, let response = exchange.response else {
            return
        }
        if (300..<400).contains(response.status), let location = response.fields.first("location"), isReturn(location) {
            keep(location, isRedirect: true, request, record)
        }
        guard BodyFacts.mediaType(response.fields) == "text/html" else { return }
        let page = MessageContent.content(of: response, limit: ReturnLink.pageLength)
        if !page.isWhole, exchange.end == .complete || exchange.end == .notSeen {
            let reason: BlindSpot.Reason =
                response.body.isCut
                ? .bodyOverLimit
                : response.body.missing > 0 || exchange.end == .notSeen
                    ? .tcpHole : page.isOverBudget ? .decodeBudget : .undecodableContent
            if !contents.keep(ContentGap(record: record, reason: reason)) { giveUp("return links") }
        }
        for link in Self.links(in: page.bytes) where isReturn(link) {
            keep(link, isRedirect: false, request, record)
        }
    }

    private mutating func keep(_ link: String, isRedirect: Bool, _ request: Request, _ record: RequestRecord) {
        guard returnLinks.count < ReturnLink.limit else { return giveUp("return links") }
        returnLinks.append(
            ReturnLink(
                text: link, isRedirect: isRedirect, at: request.started.time, exchange: record.id,
                evidence: record.evidence(isRedirect ? "redirect to the partner" : "page with a return link")))
    }

    /// The values of `href` attributes, character references for `&` undone.
    private static func links(in page: [UInt8]) -> [String] {
        let pattern = Array("href=".utf8)
        var links: [String] = []
        page.withUnsafeBytes { bytes in
            var index = 0
            while let start = ByteSearch.first(0x68, in: bytes, from: index), links.count < 1_000 {
                index = start + 1
                guard bytes[start...].starts(with: pattern), start + pattern.count < bytes.count else { continue }
                let quote = bytes[start + pattern.count]
                guard quote == 0x22 || quote == 0x27,
                    let end = ByteSearch.first(quote, in: bytes, from: start + pattern.count + 1)
                else { continue }
                let value = bytes[(start + pattern.count + 1)..<end]
                if value.count <= 4_096 {
                    links.append(String(decoding: value, as: UTF8.self).replacing("&amp;", with: "&"))
                }
                index = end + 1
            }
        }
        return links
    }
}
