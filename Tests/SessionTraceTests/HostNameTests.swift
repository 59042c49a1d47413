import SessionTrace
import Testing

@Suite struct HostNameTests {
    @Test(arguments: [
        ("chia.health", true), ("WWW.Chia.Health.", true), ("a.b.chia.health", true),
        ("notchia.health", false), ("chia.health.example", false), ("health", false),
    ])
    func matchesAtLabelBoundaries(name: String, within: Bool) throws {
        let domain = try #require(HostName("chia.health"))
        #expect(try #require(HostName(name)).isWithin(domain) == within)
    }

    @Test func splitsAuthorities() throws {
        let ipv6 = try #require(HostName.parse(authority: "[2001:DB8::1]:8443"))
        #expect(ipv6.host.text == "2001:db8::1")
        #expect(ipv6.port == 8443)
        let plain = try #require(HostName.parse(authority: "user@Host.Example"))
        #expect(plain.host.text == "host.example")
        #expect(plain.port == nil)
        #expect(HostName.parse(authority: "host:99999") == nil)
        #expect(HostName.parse(authority: "") == nil)
    }

    @Test(arguments: ["192.0.2.1", "2001:db8::1", "::", "::1", "fe80::1:0:0:1", "1:2:3:4:5:6:7:8"])
    func addressesRoundTrip(text: String) throws {
        #expect(try #require(IPAddress(text)).description == text)
    }

    @Test(arguments: [("127.0.0.1", true), ("::1", true), ("::ffff:127.0.0.1", true), ("::ffff:10.0.0.1", false)])
    func knowsLoopback(text: String, isLoopback: Bool) throws {
        #expect(try #require(IPAddress(text)).isLoopback == isLoopback)
    }

    @Test(arguments: ["1.2.3", "1.2.3.256", "1::2::3", "12345::", "1:2:3:4:5:6:7:8:9", "g::", ""])
    func refusesWhatIsNoAddress(text: String) {
        #expect(IPAddress(text) == nil)
    }
}
