import SessionTrace
import Testing

@testable import HandoffProxy

/// Options as they are written.
@Suite struct ConfigurationTextTests {
    @Test(arguments: [
        ("127.0.0.1:4773", "127.0.0.1:4773"), ("192.0.2.1", "192.0.2.1:4773"), ("4800", "127.0.0.1:4800"),
        (":4800", "127.0.0.1:4800"), ("[2001:db8::1]:80", "[2001:db8::1]:80"), ("2001:db8::1", "[2001:db8::1]:4773"),
        ("lan", "10.1.2.3:4773"), ("lan:9", "10.1.2.3:9"), ("tproxy:0.0.0.0:81", "tproxy:0.0.0.0:81"),
    ])
    func listenAddresses(text: String, expected: String) {
        let address = ListenAddress(text) { IPAddress("10.1.2.3") }
        #expect(address?.description == expected)
    }

    @Test(arguments: ["", "example.com:80", "70000", "1.2.3.4:x", "a@1.2.3.4:80", "[::1%eth0]:80", "lan:x"])
    func notAListenAddress(text: String) {
        #expect(ListenAddress(text) { IPAddress("10.1.2.3") } == nil)
        #expect(ListenAddress("lan") { nil } == nil)
    }

    @Test(
        arguments: [
            ("a.example:443:192.0.2.1", "a.example", 443, "192.0.2.1:443"),
            ("a.example:*:192.0.2.1:8443", "a.example", 443, "192.0.2.1:8443"),
            ("*:80:[2001:db8::1]:81", "b.example", 80, "[2001:db8::1]:81"),
            ("*.example:80:2001:db8::1", "b.example", 80, "[2001:db8::1]:80"),
        ] as [(String, String, UInt16, String)])
    func resolveOverrides(text: String, host: String, port: UInt16, goal: String) throws {
        let override = try #require(ResolveOverride(text))
        #expect(override.target(for: try #require(HostName(host)), port: port)?.description == goal)
        #expect(override.target(for: try #require(HostName("other.test")), port: port) == nil || text.hasPrefix("*:"))
    }

    @Test(arguments: ["a.example", "a.example:443", "a.example:443:b.example", "a.example:x:192.0.2.1", ":1:192.0.2.1"])
    func notAnOverride(text: String) {
        #expect(ResolveOverride(text) == nil)
    }

    @Test func upstreamProxies() throws {
        let http = try #require(UpstreamProxy("http://us%3Aer:p%40ss@proxy.example:3128/"))
        #expect(http.scheme == .http && http.host.text == "proxy.example" && http.port == 3128)
        #expect(http.credential == ProxyCredential(user: "us:er", password: "p@ss"))
        let socks = try #require(UpstreamProxy("socks5h://[::1]"))
        #expect(socks.scheme == .socks5 && socks.host.text == "::1" && socks.port == 1080 && socks.credential == nil)
        for text in ["https://proxy.example", "proxy.example:80", "http://", "http://u%zz@h:1", "http://h:x"] {
            #expect(UpstreamProxy(text) == nil, "\(text)")
        }
    }

    @Test func patterns() throws {
        let below = try #require(HostNamePattern("*.Example.com"))
        #expect(below.matches(try #require(HostName("a.b.example.com"))))
        #expect(!below.matches(try #require(HostName("example.com"))))
        #expect(!below.matches(try #require(HostName("notexample.com"))))
        #expect(try #require(HostNamePattern("*")).matches(try #require(HostName("x"))))
        #expect(HostNamePattern("a*b") == nil)
        #expect(HostNamePattern("*.*") == nil)
    }

    @Test(arguments: [
        ("10.0.0.0/8", "10.255.1.2", true), ("10.0.0.0/8", "11.0.0.1", false), ("192.0.2.7", "192.0.2.7", true),
        ("192.0.2.7", "192.0.2.8", false), ("fd00::/8", "fd12::1", true), ("fd00::/8", "fe80::1", false),
        ("0.0.0.0/0", "::ffff:1.2.3.4", true), ("0.0.0.0/0", "2001:db8::1", false), ("::/0", "2001:db8::1", true),
        ("2001:db8:0:8000::/49", "2001:db8:0:8001::", true), ("2001:db8:0:8000::/49", "2001:db8:0:7001::", false),
        ("2001:db8::4/126", "2001:db8::7", true), ("2001:db8::4/126", "2001:db8::8", false),
    ])
    func ranges(range: String, address: String, isIn: Bool) throws {
        #expect(try #require(AddressRange(range)).contains(try #require(IPAddress(address))) == isIn)
    }

    @Test(arguments: ["10.0.0.0/33", "10.0.0.0/-1", "::/129", "10.0.0.0/", "10.0.0/8", "x", "10.0.0.0/8/8"])
    func notARange(text: String) {
        #expect(AddressRange(text) == nil)
    }

    /// Where marks are taken, for listeners as they are written.
    @Test(arguments: [
        (["127.0.0.1:4773"], ["127.0.0.1:4774"]),
        (["127.0.0.1:4773", "192.0.2.1:80", "192.0.2.1:81"], ["127.0.0.1:4774", "192.0.2.1:4774"]),
        (["0.0.0.0:4773", "192.0.2.1:80", "[2001:db8::1]:80"], ["0.0.0.0:4774", "[2001:db8::1]:4774"]),
        (["[::]:4773", "192.0.2.1:80"], ["[::]:4774"]),
    ])
    func markAddresses(listeners: [String], expected: [String]) {
        var configuration = ProxyConfiguration()
        configuration.listeners = listeners.compactMap { ListenAddress($0) { nil } }
        #expect(configuration.listeners.count == listeners.count)
        #expect(configuration.markAddresses.map(\.description) == expected)
        configuration.takesMarksAtListeners = false
        #expect(configuration.markAddresses.map(\.description) == ["127.0.0.1:4774"])
        configuration.markAddress = nil
        #expect(configuration.markAddresses.isEmpty)
    }
}
