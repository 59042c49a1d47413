import Assertions
import Testing

@Suite("Redactor")
struct RedactorTests {
    static let redactor = Redactor(installationKey: Array("another key for tests only".utf8))

    static let secrets = [
        "phs_Zk3vQ9xT1bLr7_MwYc2-HdNs8uEj5PaG", "phs_zk3vq9xt1blr7mwyc2hdns8uej5pag", "phs_short",
        "0b2f6a0e-3c58-4b52-9d0c-9f0e8a4f1c77", "0B2F6A0E-3C58-4B52-9D0C-9F0E8A4F1C77",
        "0b2f6a0e3c584b529d0c9f0e8a4f1c77",
        "ana.lopez@mail.example", "eyJhbGciOiJIUzI1NiJ9", "sk_live_51HxQ2eZvKYlo2C", "4915112345678", "20481234",
        "whsec_9xT1bLr7MwYc2HdNs8uEj5", "Zm9vYmFyYmF6cXV4", "a8f5f167f44f4964e6c998dee827110c",
    ]

    @Test("no secret survives in a path, query, host, name, header value or sentence", arguments: secrets)
    func nothingSurvives(secret: String) {
        let redactor = Self.redactor
        let outputs = [
            redactor.path("/a/\(secret)/b"), redactor.path("/a?x=\(secret)&y"), redactor.path("/a?\(secret)=1"),
            redactor.path("/a?\(secret)"), redactor.path("/a#\(secret)"),
            redactor.path("https://\(secret)@h.example/\(secret)"),
            redactor.path("/a/%70\(secret)"), redactor.host("\(secret).sink.example:443"), redactor.name(secret),
            redactor.fieldValue("Bearer \(secret)", of: "Authorization"), redactor.fieldValue(secret, of: "X-Api-Key"),
            redactor.fieldValue("sid=\(secret)", of: "Cookie"),
            redactor.fieldValue("a/\(secret); b=\(secret)", of: "Content-Type"),
            redactor.fieldValue("https://a.example/\(secret)", of: "Referer"),
            redactor.fieldValue("App/1.0 (\(secret); U) \(secret)/\(secret)", of: "User-Agent"),
            redactor.fieldValue("/p/\(secret)?q=\(secret)", of: ":path"),
            redactor.fieldValue(secret, of: "Sec-Fetch-Site"),
            redactor.text("opened https://h.example/\(secret) for \(secret), then"),
            redactor.redact(secret, label: "U#1"),
            String(describing: Secret(secret)), String(reflecting: [Secret(secret)]),
        ]
        for output in outputs {
            #expect(!output.lowercased().contains(secret.lowercased()), "\(output)")
            // Nor a part that would do; the domain of a mail address may stay.
            if secret.contains("@") { continue }
            #expect(!output.lowercased().contains(secret.lowercased().suffix(9)), "\(output)")
        }
    }

    @Test(
        "what evidence needs stays readable",
        arguments: [
            ("/handoff-session", "/handoff-session"), ("/catalog/42/handoff", "/catalog/42/handoff"),
            ("/v1/batch?dropped=1&e=", "/v1/batch?dropped=‹…›&e="), ("/", "/"), ("*", "*"),
            ("/.well-known/apple-app-site-association", "/.well-known/apple-app-site-association"),
            ("/continue/phs_Zk3vQ9xT1bLr7MwYc2HdNs8u", "/continue/‹token›"),
            ("/u/0b2f6a0e-3c58-4b52-9d0c-9f0e8a4f1c77/x", "/u/‹uuid›/x"), ("/orders/20481234", "/orders/‹number›"),
            ("https://api.partner.example:8443/a?b=c#d", "https://api.partner.example:8443/a?b=‹…›#‹…›"),
        ])
    func readable(input: String, output: String) {
        #expect(Self.redactor.path(input) == output)
    }

    @Test("header values")
    func fieldValues() {
        let redactor = Self.redactor
        #expect(redactor.fieldValue("api.partner.example", of: "host") == "api.partner.example")
        #expect(redactor.fieldValue("application/json; charset=utf-8", of: "Content-Type") == "application/json")
        #expect(redactor.fieldValue("18234", of: "Content-Length") == "18234")
        #expect(redactor.fieldValue("okhttp/4.12.0", of: "User-Agent") == "okhttp/4.12.0")
        #expect(
            redactor.fieldValue(
                "Mozilla/5.0 (Linux; Android 14; Pixel 8 Build/UD1A.230803.041; wv) AppleWebKit/537.36 Chrome/119.0.0.0",
                of: "User-Agent") == "Mozilla/5.0 (wv) AppleWebKit/537.36 Chrome/119.0.0.0")
        #expect(redactor.fieldValue("x", of: "Cookie").hasPrefix("‹value "))
    }

    @Test("digests are keyed, equal for equal secrets, and as long as said")
    func digests() {
        let other = Redactor(installationKey: Array("a second key".utf8))
        #expect(Self.redactor.digest("a") == Self.redactor.digest("a"))
        #expect(Self.redactor.digest("a") != other.digest("a"))
        #expect(Self.redactor.digest("a").count == 32)
        let shown = Self.redactor.redact("phs_x", label: "U#1")
        #expect(shown == "‹U#1 \(Self.redactor.digest("phs_x").prefix(8)), 5 B›")
    }
}
