import SessionTrace
import Testing

@testable import HandoffProxy

@Suite struct DeviceSiteTests {
    static let secret = "s3cret"
    static let site = DeviceSite(
        downloads: CertificateDownloads(
            name: "handoff <lab> & 'co'", fingerprint: "AB:CD", pem: Array("pem".utf8), der: [0x30, 0x80, 0xFF],
            mobileconfig: Array("profile".utf8), android: Array("android".utf8), androidName: "1a2b3c4d.0"),
        markSecret: ControlSecret(text: secret),
        listeners: [
            Endpoint(address: IPAddress(ipv4: 0x7F00_0001), port: 4773),
            Endpoint(address: IPAddress(ipv4: 0xC0A8_0101), port: 4773),
        ])
    static let context = LocalContext(
        client: Endpoint(address: IPAddress(ipv4: 0xC0A8_0107), port: 40_000),
        local: Endpoint(address: IPAddress(ipv4: 0xC0A8_0101), port: 4773), isSecure: false,
        arrival: Instant(nanoseconds: 0))

    static func request(
        _ target: String, method: String = "GET", host: String = "mark.handoff.test",
        _ fields: [String: String] = [:], body: String = ""
    ) -> LocalRequest {
        var request = LocalRequest(method: method, target: target, authority: host)
        for (name, value) in fields { request.fields.append(name, value) }
        request.body = Array(body.utf8)
        return request
    }

    static func answer(_ request: LocalRequest, isSecure: Bool = false, nonce: String = "n0nce") -> DeviceSite.Answer {
        var context = context
        context.isSecure = isSecure
        let trust = DeviceTrust(browser: .unknown, apps: .notYet, lastRefusedName: "<b>\"evil\"</b>")
        return site.answer(request, in: context, DeviceSite.Moment(trust: trust, nonce: nonce))
    }

    static func response(_ request: LocalRequest, isSecure: Bool = false) throws -> LocalResponse {
        guard case .response(let response) = answer(request, isSecure: isSecure) else {
            throw NoResponse()
        }
        return response
    }

    private struct NoResponse: Error {}

    private static func field(_ response: LocalResponse, _ name: String) -> String? {
        response.fields.first { $0.name == name }?.value
    }

    @Test(arguments: [
        ("/ca.mobileconfig", "application/x-apple-aspen-config", "profile"),
        ("/ca.pem", "application/x-pem-file", "pem"), ("/ca.0", "application/octet-stream", "android"),
    ]) func certificatesHaveTheTypesThatSystemsAskFor(path: String, type: String, content: String) throws {
        let response = try Self.response(Self.request(path))
        #expect(response.status == 200 && response.body == Array(content.utf8))
        #expect(Self.field(response, "Content-Type") == type)
    }

    @Test func androidGetsDER() throws {
        let response = try Self.response(Self.request("/ca.crt", host: "192.168.1.1:4773"))
        #expect(Self.field(response, "Content-Type") == "application/x-x509-ca-cert")
        #expect(response.body == [0x30, 0x80, 0xFF])
        #expect(Self.field(response, "Content-Disposition") == "attachment; filename=\"handoff-ca.crt\"")
    }

    @Test func thePACFileNamesTheListenerThatTheDeviceUsed() throws {
        let response = try Self.response(Self.request("/proxy.pac"))
        #expect(Self.field(response, "Content-Type") == "application/x-ns-proxy-autoconfig")
        let text = String(decoding: response.body, as: UTF8.self)
        #expect(text.contains("PROXY 192.168.1.1:4773") && !text.contains("DIRECT"))
        func named(_ listeners: [Endpoint], _ local: Endpoint) -> String? {
            var site = Self.site
            site.listeners = listeners
            var context = Self.context
            context.local = local
            let moment = DeviceSite.Moment(trust: DeviceTrust(browser: .unknown, apps: .notYet), nonce: "n")
            guard case .response(let response) = site.answer(Self.request("/wpad.dat"), in: context, moment),
                response.status == 200
            else { return nil }
            let text = String(decoding: response.body, as: UTF8.self)
            return text.split(separator: "\"").first { $0.hasPrefix("PROXY ") }.map { String($0.dropFirst(6)) }
        }
        // A listener on all addresses is named by the one that the device reached.
        let reached = Endpoint(address: IPAddress(ipv6High: 0x2001_0db8 << 32, low: 1), port: 4773)
        let everywhere = Endpoint(address: IPAddress(ipv6High: 0, low: 0), port: 4773)
        #expect(named([everywhere], reached) == "[2001:db8::1]:4773")
        // A redirected device is told of no listener that it can't reach.
        let origin = Endpoint(address: IPAddress(ipv4: 0xC633_6401), port: 80)
        #expect(named(Self.site.listeners, origin) == "192.168.1.1:4773")
        #expect(named([everywhere], origin) == nil)
        #expect(named([], origin) == nil)
    }

    @Test func thePageLetsNothingIn() throws {
        let response = try Self.response(Self.request("/?marked=12"))
        let html = String(decoding: response.body, as: UTF8.self)
        #expect(html.contains("handoff &lt;lab&gt; &amp; &#39;co&#39;"))
        #expect(html.contains("&lt;b&gt;&quot;evil&quot;&lt;/b&gt;") && !html.contains("<b>\"evil"))
        #expect(html.contains("Mark number 12 was taken"))
        let crafted = try Self.response(Self.request("/?marked=%3Cb%3E"))
        #expect(!String(decoding: crafted.body, as: UTF8.self).contains("Mark number"))
        let policy = try #require(Self.field(response, "Content-Security-Policy"))
        #expect(policy.contains("default-src 'none'") && policy.contains("script-src 'nonce-n0nce'"))
        #expect(policy.contains("frame-ancestors 'none'"))
        // Nothing is loaded from elsewhere.
        #expect(!html.contains("src=\"http") && !html.contains("<link") && !html.contains("@import"))
    }

    @Test func aNameThatIsNotOursIsRefused() throws {
        for host in ["evil.example", "mark.handoff.test.evil.example", "x.mark.handoff.test"] {
            #expect(try Self.response(Self.request("/", host: host)).status == 421, "\(host)")
        }
        for host in ["mark.handoff.test:80", "MARK.handoff.test.", "192.168.1.1:4773", "[::1]:4773", "localhost"] {
            #expect(try Self.response(Self.request("/", host: host)).status == 200, "\(host)")
        }
        #expect(try Self.response(Self.request("/nothing")).status == 404)
        #expect(try Self.response(Self.request("/", method: "POST")).status == 405)
    }

    // MARK: - Marks

    private static func mark(_ request: LocalRequest) -> String? {
        guard case .mark(let object, _) = answer(request) else { return nil }
        return String(decoding: object, as: UTF8.self)
    }

    @Test func aMarkIsInTheQueryOrTheContent() {
        #expect(Self.mark(Self.request("/m/s3cret/?kind=tap&target=share")) == #"{"kind":"tap","target":"share"}"#)
        #expect(Self.mark(Self.request("/m/s3cret?kind=end")) == #"{"kind":"end"}"#)
        let form = ["Content-Type": "application/x-www-form-urlencoded"]
        #expect(
            Self.mark(Self.request("/m/s3cret/", method: "POST", form, body: "kind=tap&by=person"))
                == #"{"kind":"tap","by":"person"}"#)
        let json = ["Content-Type": "application/json; charset=utf-8"]
        #expect(Self.mark(Self.request("/m/s3cret/", method: "POST", json, body: "{}")) == "{}")
        // At the listener's own address too.
        #expect(Self.mark(Self.request("/m/s3cret/?kind=tap", host: "192.168.1.1:4773")) != nil)
    }

    @Test func onlyWhoKnowsTheSecretMarks() throws {
        for path in ["/m/", "/m/wrong/?kind=tap", "/m/s3cre/?kind=tap", "/m/s3crett/?kind=tap", "/m/s3cret/x?kind=tap"]
        {
            #expect(try Self.response(Self.request(path)).status == 404, "\(path)")
        }
    }

    @Test(arguments: [
        (["Referer": "https://evil.example/"], 403), (["Referer": "http://mark.handoff.test.evil.example/"], 403),
        (["Sec-Fetch-Site": "cross-site"], 403), (["Sec-Purpose": "prefetch"], 403),
        (["Sec-Purpose": "prefetch;prerender"], 403), (["Purpose": "prefetch"], 403), (["X-Moz": "prefetch"], 403),
        (["X-Purpose": "preview"], 403), (["Origin": "http://evil.example"], 403), (["Origin": "null"], 403),
        (["Origin": "http://mark.handoff.test.evil.example"], 403),
    ]) func pagesAndPrefetchesMakeNoMark(fields: [String: String], status: Int) throws {
        #expect(try Self.response(Self.request("/m/s3cret/?kind=tap", fields)).status == status)
    }

    @Test func ourOwnPageMarks() {
        for fields in [
            ["Origin": "http://mark.handoff.test"], ["Sec-Fetch-Site": "same-origin"], ["Sec-Fetch-Site": "none"],
        ] {
            #expect(Self.mark(Self.request("/m/s3cret/?kind=tap", fields)) != nil, "\(fields)")
        }
    }

    @Test func headAndOddContentMakeNoMark() throws {
        #expect(try Self.response(Self.request("/m/s3cret/?kind=tap", method: "HEAD")).status == 405)
        #expect(try Self.response(Self.request("/m/s3cret/?kind=tap", method: "PUT")).status == 405)
        let text = ["Content-Type": "text/plain"]
        #expect(try Self.response(Self.request("/m/s3cret/", method: "POST", text, body: "{}")).status == 415)
        #expect(try Self.response(Self.request("/m/s3cret/?kind=%zz")).status == 400)
        #expect(try Self.response(Self.request("/m/s3cret/?colour=red")).status == 400)
    }

    // MARK: - Trust

    @Test func onlyOurPageReadsTheTrustHost() throws {
        func ask(_ fields: [String: String], method: String = "GET") -> DeviceSite.Answer {
            Self.answer(Self.request("/", method: method, host: "trust.handoff.test", fields), isSecure: true)
        }
        for origin in ["http://mark.handoff.test", "https://mark.handoff.test", "http://192.168.1.1:4773"] {
            guard case .pageFetchedTrustHost(let response) = ask(["Origin": origin]) else {
                Issue.record("\(origin) is not known")
                continue
            }
            #expect(Self.field(response, "Access-Control-Allow-Origin") == origin)
            #expect(Self.field(response, "Vary") == "Origin")
        }
        for origin in ["http://evil.example", "null", "http://192.168.1.9", "https://mark.handoff.test.evil.example"] {
            guard case .response(let response) = ask(["Origin": origin]) else {
                Issue.record("\(origin) counts as ours")
                continue
            }
            #expect(Self.field(response, "Access-Control-Allow-Origin") == nil)
        }
        // A navigation proves nothing: the person may have clicked a warning away.
        guard case .response = ask(["Accept": "text/html", "Origin": "http://mark.handoff.test"]) else {
            Issue.record("a navigation counts as proof")
            return
        }
        guard case .response(let preflight) = ask(["Origin": "http://mark.handoff.test"], method: "OPTIONS") else {
            Issue.record("no preflight")
            return
        }
        #expect(Self.field(preflight, "Access-Control-Allow-Private-Network") == "true")
        let plain = try Self.response(
            Self.request("/", host: "trust.handoff.test", ["Origin": "http://mark.handoff.test"]))
        #expect(plain.status == 421)
    }
}
