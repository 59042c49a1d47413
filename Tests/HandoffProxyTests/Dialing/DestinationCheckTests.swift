import SessionTrace
import Testing

@testable import HandoffProxy

@Suite struct DestinationCheckTests {
    static let client = IPAddress("192.168.1.20") ?? IPAddress(ipv4: 0)
    static let check = DestinationCheck(
        allowed: [], own: [.of("0.0.0.0", 4773), .of("127.0.0.1", 4775)], local: [.init(ipv4: 0xC0A8_0101)])

    @Test(arguments: [
        "127.0.0.1", "127.9.9.9", "::1", "0.0.0.0", "0.1.2.3", "::", "169.254.1.1", "fe80::1", "224.0.0.1", "ff02::1",
        "255.255.255.255", "::ffff:127.0.0.1", "::127.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b::7f00:1",
        "64:ff9b::a9fe:101",
        "64:ff9b:1::7f00:1", "64:ff9b:1:7f00:0:100::", "2002:7f00:1::1", "2001:0:1:2:3:4:80ff:fffe",
        "fe80::5efe:10.0.0.1",
        "2001:db8::5efe:127.0.0.1", "2001:db8::200:5efe:169.254.1.1",
    ])
    func refused(text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(Self.check.refusal(of: Endpoint(address: address, port: 80), for: Self.client) != nil)
        #expect(
            Self.check.refusal(of: Endpoint(address: address, port: 80), for: .init(ipv4: 0x7F00_0001)) == nil,
            "who is on this host reaches it anyway")
    }

    @Test(arguments: [
        "192.168.1.7", "10.0.0.1", "8.8.8.8", "2001:db8::1", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1",
        "fd00::1",
    ])
    func allowed(text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(Self.check.refusal(of: Endpoint(address: address, port: 80), for: Self.client) == nil)
    }

    @Test func theProxyItself() {
        #expect(Self.check.refusal(of: .of("192.168.1.1", 4773), for: Self.client) == "the proxy itself")
        #expect(Self.check.refusal(of: .of("192.168.1.1", 80), for: Self.client) == "an address of this host")
        #expect(Self.check.refusal(of: .of("::ffff:192.168.1.1", 80), for: Self.client) == "an address of this host")
        #expect(Self.check.refusal(of: .of("192.168.1.1", 80), for: .init(ipv4: 0xC0A8_0101)) == nil)
        #expect(Self.check.refusal(of: .of("::ffff:192.168.1.1", 4773), for: Self.client) == "the proxy itself")
        #expect(Self.check.isOwn(.of("127.0.0.1", 4775)))
        #expect(!Self.check.isOwn(.of("192.168.1.1", 4775)))
    }

    @Test func whatIsAllowedInSoManyWords() throws {
        var check = Self.check
        check.allowed = [try #require(AddressRange("127.0.0.0/8"))]
        #expect(check.refusal(of: .of("127.0.0.1", 80), for: Self.client) == nil)
        #expect(check.refusal(of: .of("::ffff:127.0.0.1", 80), for: Self.client) == nil)
        #expect(check.refusal(of: .of("169.254.1.1", 80), for: Self.client) != nil)
    }
}
