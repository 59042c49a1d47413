import Testing

@testable import Assertions

@Suite struct BrowserFormTests {
    private func likeness(_ url: String, _ authority: String, _ target: String) -> BrowserForm.Likeness {
        BrowserForm.likeness(of: url, toSent: "https", authority: authority, target: target)
    }

    @Test(arguments: [
        ("https://chia.health/h/\\x", "/h//x"), ("https://chia.health\\h", "/h"), ("https://chia.health", "/"),
        ("https://chia.health?q=1", "/?q=1"), ("https://chia.health/a/..", "/"), ("https://chia.health/a/.", "/a/"),
        ("https://chia.health/../../x", "/x"), ("https://chia.health/a\tb\nc", "/abc"),
        ("https://chia.health/<a>\"", "/%3Ca%3E%22"), ("HTTPS://chia.health/x", "/x"),
        ("https://chia.health/{a}^`", "/%7Ba%7D%5E%60"), ("https://chia.health/?q='[]", "/?q=%27%5B%5D"),
    ]) func whatABrowserSends(url: String, target: String) {
        #expect(likeness(url, "chia.health", target) == .normalised, "\(url)")
    }

    @Test(arguments: [
        ("https://CHIA.health/x", "chia.health"), ("https://b\u{FC}cher.example/x", "xn--bcher-kva.example"),
        ("https://user:pw@chia.health/x", "chia.health"), ("https://%63hia.health/x", "chia.health"),
        ("https://chia.health:443/x", "chia.health"), ("https://chia.health:/x", "chia.health"),
        ("https://m\u{E4}nner\u{3002}example/x", "xn--mnner-gra.example"),
    ]) func hostsAreInOneForm(url: String, authority: String) {
        #expect(likeness(url, authority, "/x") == .normalised, "\(url)")
    }

    @Test func ports() {
        #expect(likeness("https://chia.health:8443/x", "chia.health:8443", "/x") == .exact)
        #expect(likeness("https://CHIA.health:8443/x", "chia.health:8443", "/x") == .normalised)
        #expect(likeness("https://chia.health:8443/x", "chia.health", "/x") == .other(.port))
        #expect(likeness("https://chia.health/x", "chia.health:443", "/x") == .other(.port))
        #expect(likeness("https://[2001:db8::1]/x", "[2001:db8::1]", "/x") == .exact)
        #expect(likeness("http://chia.health/x", "chia.health", "/x") == .other(.scheme))
        #expect(
            BrowserForm.likeness(of: "http://chia.health:80/x", toSent: "http", authority: "chia.health", target: "/x")
                == .normalised)
    }

    @Test func unsettledCharactersTakeOneFormEach() {
        #expect(likeness("https://chia.health/a|b|c", "chia.health", "/a%7Cb|c") == .normalised)
        #expect(likeness("https://chia.health/a|b", "chia.health", "/a%7cb") == .other(.encoding))
        #expect(likeness("https://chia.health/a%7Cb", "chia.health", "/a|b") == .other(.encoding))
        #expect(likeness("https://chia.health/a|", "chia.health", "/a") == .other(.path))
        #expect(likeness("https://chia.health/a", "chia.health", "/ab") == .other(.path))
    }

    /// Samples of RFC 3492 §7.1 (A Arabic, B Chinese, L Japanese), and long input.
    @Test func punycode() {
        #expect(
            Punycode.encoded(
                "\u{644}\u{64A}\u{647}\u{645}\u{627}\u{628}\u{62A}\u{643}\u{644}\u{645}\u{648}\u{634}\u{639}\u{631}\u{628}\u{64A}\u{61F}"
            )
                == "egbpdaj6bu4bxfgehfvwxn")
        #expect(
            Punycode.encoded("\u{4ED6}\u{4EEC}\u{4E3A}\u{4EC0}\u{4E48}\u{4E0D}\u{8BF4}\u{4E2D}\u{6587}")
                == "ihqwcrb4cv8a8dqg056pqjye")
        #expect(Punycode.encoded("3\u{5E74}B\u{7D44}\u{91D1}\u{516B}\u{5148}\u{751F}") == "3B-ww4c5e180e575a65lsy2b")
        #expect(!Punycode.encoded(String(repeating: "\u{10FFFF}", count: 100_000)).isEmpty)
    }
}
