internal import SessionTrace

/// A request's surroundings.
struct LocalContext: Hashable, Sendable {
    /// Who asks.
    var client: Endpoint
    /// Where the client's connection arrived: the listener's own address, or what a redirected device had dialled.
    var local: Endpoint
    /// Whether it came inside TLS of ours.
    var isSecure: Bool
    /// When the request's first byte arrived.
    var arrival: Instant
}

/// What a device is shown at `mark.handoff.test`, `trust.handoff.test` and the listener's own address: a request in, an
/// answer out.
///
/// | path | what |
/// |---|---|
/// | `/` | the set-up page |
/// | `/ca.mobileconfig` `/ca.crt` `/ca.pem` `/ca.0` | the certificate |
/// | `/proxy.pac` `/wpad.dat` | the PAC file |
/// | `/qr.svg` | the page's address as a QR code |
/// | `/trust` | what is known about the device's trust, as JSON |
/// | `/m/SECRET/` | a mark, in the query or in the content |
struct DeviceSite: Sendable {
    /// What is to be done for a request.
    enum Answer: Hashable, Sendable {
        case response(LocalResponse)
        /// Take this mark, and acknowledge it; with `returnsToPage` by going back to the page, for a form without script.
        case mark(object: [UInt8], returnsToPage: Bool)
        /// A page in the device's browser has reached the trust host: the browser trusts us.
        case pageFetchedTrustHost(LocalResponse)
    }

    /// The certificate.
    var downloads: CertificateDownloads
    /// The word in the path of marks.
    var markSecret: ControlSecret
    /// The proxy's listeners, in the order of their binding.
    var listeners: [Endpoint] = []

    /// What is known about the trust of the device that asks, and the nonce of this response.
    struct Moment {
        var trust: DeviceTrust
        var nonce: String
    }

    /// Answers a request.
    func answer(_ request: LocalRequest, in context: LocalContext, _ moment: Moment) -> Answer {
        guard let host = request.host?.name else {
            return .response(.refusal(400, "a request without a host"))
        }
        if host.text == TrustLedger.trustHost { return trustAnswer(request, in: context) }
        // A page of another name that points here (DNS rebinding) must not be able to read the secret.
        guard host.text == TrustLedger.markHost || host.address != nil || host.text == "localhost" else {
            return .response(.refusal(421, "nothing is served here under that name"))
        }
        if request.path.hasPrefix("/m/") { return markAnswer(request) }
        guard request.method == "GET" || request.method == "HEAD" else {
            return .response(Self.wrongMethod("GET, HEAD"))
        }
        return .response(page(request, host: host, in: context, moment))
    }

    // MARK: - Pages

    private func page(
        _ request: LocalRequest, host: HostName, in context: LocalContext, _ moment: Moment
    ) -> LocalResponse {
        let proxy = proxy(for: context)
        switch request.path {
        case "/":
            return setUp(request, isThroughProxy: host.text == TrustLedger.markHost, proxy: proxy, in: context, moment)
        case "/ca.mobileconfig":
            return download(downloads.mobileconfig, "application/x-apple-aspen-config", "handoff-ca.mobileconfig")
        case "/ca.crt", "/ca.der", "/ca.cer":
            return download(downloads.der, "application/x-x509-ca-cert", "handoff-ca.crt")
        case "/ca.pem":
            return download(downloads.pem, "application/x-pem-file", "handoff-ca.pem")
        case "/ca.0":
            return download(downloads.android, "application/octet-stream", downloads.androidName)
        case "/proxy.pac", "/wpad.dat":
            guard let proxy else { return .refusal(503, "where this device finds the proxy is not known") }
            return LocalResponse(
                type: ProxyAutoConfiguration.mediaType, Array(ProxyAutoConfiguration.script(proxy: proxy).utf8))
        case "/qr.svg":
            guard let proxy, let code = QRCode("http://\(proxy)/") else {
                return .refusal(503, "where this device finds the proxy is not known")
            }
            return LocalResponse(type: "image/svg+xml", Array(code.svg.utf8))
        case "/trust":
            return .json(200, moment.trust.json)
        case "/favicon.ico":
            return LocalResponse(204)
        default:
            return .refusal(404, "there is no such page")
        }
    }

    private func download(_ bytes: [UInt8], _ type: String, _ name: String) -> LocalResponse {
        let safe = String(
            name.unicodeScalars.filter {
                $0.isASCII && ($0.properties.isAlphabetic || "0123456789.-_".unicodeScalars.contains($0))
            })
        return LocalResponse(
            type: type, bytes, [.init(name: "Content-Disposition", value: "attachment; filename=\"\(safe)\"")])
    }

    /// Where this device finds the proxy: where it came in, when that is a listener of ours. A redirected device came in
    /// somewhere else and needs no setting; it is told of a listener that other hosts can reach, if one is known.
    private func proxy(for context: LocalContext) -> Endpoint? {
        let isListener = listeners.contains { listener in
            listener.port == context.local.port
                && (listener.address == context.local.address || listener.address.isUnspecified)
        }
        if isListener { return context.local }
        let named = listeners.filter { !$0.address.isUnspecified }
        return named.first { !$0.address.isLoopback } ?? named.first
    }

    private func setUp(
        _ request: LocalRequest, isThroughProxy: Bool, proxy: Endpoint?, in context: LocalContext, _ moment: Moment
    ) -> LocalResponse {
        let number = FormText.pairs(request.query ?? "")?.first { $0.name == "marked" }.flatMap { Int($0.value) }
        let page = SetupPage(
            device: context.client.address, isThroughProxy: isThroughProxy, proxy: proxy,
            address: proxy.map { "http://\($0)/" }, certificateName: downloads.name,
            certificateFingerprint: downloads.fingerprint, markPath: "/m/\(markSecret.text)/",
            platform: SetupPage.Platform(userAgent: request.fields.first("user-agent") ?? ""), trust: moment.trust,
            notice: number.map { "Mark number \($0) was taken. Now touch it in the app." }, nonce: moment.nonce)
        let policy =
            "default-src 'none'; style-src 'nonce-\(moment.nonce)'; script-src 'nonce-\(moment.nonce)'; img-src 'self'; "
            + "connect-src 'self' https://\(TrustLedger.trustHost); form-action 'self'; base-uri 'none'; "
            + "frame-ancestors 'none'"
        return LocalResponse(
            type: "text/html; charset=utf-8", Array(page.html.markup.utf8),
            [
                .init(name: "Content-Security-Policy", value: policy), .init(name: "X-Frame-Options", value: "DENY"),
                // The page's address never goes elsewhere; its own forms keep their Origin.
                .init(name: "Referrer-Policy", value: "same-origin"),
            ])
    }

    // MARK: - Marks in band

    private func markAnswer(_ request: LocalRequest) -> Answer {
        let parts = request.path.split(separator: "/", omittingEmptySubsequences: false)
        let isMark = parts.count >= 3 && parts.count <= 4 && (parts.count == 3 || parts[3].isEmpty)
        guard isMark, markSecret.matches(parts[2]) else { return .response(.refusal(404, "there is no such page")) }
        guard request.method == "GET" || request.method == "POST" else {
            return .response(Self.wrongMethod("GET, POST"))
        }
        if Self.isAhead(request) { return .response(.refusal(403, "a request made ahead of time is no mark")) }
        if let why = Self.foreignPage(request) { return .response(.refusal(403, why)) }
        do throws(MarkRefusal) {
            return .mark(
                object: try markObject(request), returnsToPage: request.method == "POST" && request.wantsHTML)
        } catch {
            return .response(.refusal(error.status, error.sentence))
        }
    }

    private func markObject(_ request: LocalRequest) throws(MarkRefusal) -> [UInt8] {
        var text = request.query ?? ""
        switch (request.method, request.contentType) {
        case ("POST", "application/json"):
            return request.body
        case ("POST", "application/x-www-form-urlencoded"):
            text += (text.isEmpty ? "" : "&") + String(decoding: request.body, as: UTF8.self)
        case ("POST", _) where !request.body.isEmpty:
            throw MarkRefusal(status: 415, sentence: "a mark is a form or JSON")
        default: break
        }
        guard let pairs = FormText.pairs(text) else {
            throw MarkRefusal(status: 400, sentence: "a percent escape that can't be read")
        }
        return try MarkForm.object(pairs)
    }

    /// Whether a browser asks ahead of the person: a prefetch or a prerender is not a tap.
    static func isAhead(_ request: LocalRequest) -> Bool {
        ["sec-purpose", "purpose", "x-purpose", "x-moz"].contains { name in
            request.fields.values(name).contains { value in
                let value = value.lowercased()
                return value.contains("prefetch") || value.contains("prerender") || value.contains("preview")
            }
        }
    }

    /// Why the request comes from a page that is not ours; nil when it does not.
    static func foreignPage(_ request: LocalRequest) -> String? {
        if request.fields.values("sec-fetch-site").contains(where: { $0.lowercased() == "cross-site" }) {
            return "a page of another site can't mark a tap"
        }
        guard let own = request.authority?.lowercased() else {
            return request.fields.first("origin") == nil ? nil : "a page of another origin can't mark a tap"
        }
        let ours = ["http://\(own)", "https://\(own)"]
        if let origin = request.fields.first("origin"), !ours.contains(origin.lowercased()) {
            return "a page of another origin can't mark a tap"
        }
        // An older browser says no more than where the link stood.
        if let referer = request.fields.first("referer")?.lowercased(),
            !ours.contains(where: { referer == $0 || referer.hasPrefix($0 + "/") })
        {
            return "a link on another page can't mark a tap"
        }
        return nil
    }

    // MARK: - The trust host

    /// Reached over TLS, the answer itself is the proof. Only our own page may read it.
    private func trustAnswer(_ request: LocalRequest, in context: LocalContext) -> Answer {
        guard context.isSecure else {
            return .response(.refusal(421, "this host proves trust, so it is asked over https"))
        }
        let origin = request.fields.first("origin").flatMap { isOwnOrigin($0, in: context) ? $0 : nil }
        var fields: [LocalResponse.Field] = [.init(name: "Vary", value: "Origin")]
        if let origin { fields.append(.init(name: "Access-Control-Allow-Origin", value: origin)) }
        switch request.method {
        case "GET", "HEAD":
            if request.wantsHTML {
                let html: HTMLText = """
                    <!DOCTYPE html>
                    <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>handoff: trust</title></head>
                    <body><p>If there was no warning before this page, the browser trusts the certificate. <a href="http://\(TrustLedger.markHost)/">Back</a></p></body></html>

                    """
                return .response(LocalResponse(type: "text/html; charset=utf-8", Array(html.markup.utf8), fields))
            }
            let answer = LocalResponse.json(
                200, .object([JSONMember(name: "trusted", value: .bool(true))]), fields)
            return origin == nil ? .response(answer) : .pageFetchedTrustHost(answer)
        case "OPTIONS" where origin != nil:
            fields.append(.init(name: "Access-Control-Allow-Methods", value: "GET"))
            // A page from a public address asks before it may call a private one (Private Network Access).
            fields.append(.init(name: "Access-Control-Allow-Private-Network", value: "true"))
            return .response(LocalResponse(204, fields))
        default:
            return .response(Self.wrongMethod("GET, HEAD"))
        }
    }

    private func isOwnOrigin(_ origin: String, in context: LocalContext) -> Bool {
        for scheme in ["http://", "https://"] where origin.lowercased().hasPrefix(scheme) {
            guard let host = HostName.parse(authority: origin.dropFirst(scheme.count))?.host else { return false }
            if host.text == TrustLedger.markHost { return true }
            guard let address = host.address else { return false }
            return address == context.local.address || listeners.contains { $0.address == address }
        }
        return false
    }

    private static func wrongMethod(_ allowed: String) -> LocalResponse {
        .refusal(405, "only \(allowed) can be done here", [.init(name: "Allow", value: allowed)])
    }
}
