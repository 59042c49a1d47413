import Assertions
import SessionTrace
import Testing

/// A device has an address of each family, and a proxy an address of its own: of two requests with one key, nested in
/// time, only the second case is one request seen twice.
@Suite struct TwoFamiliesTests {
    private func judge(inner: IPAddress) throws -> TraceVerdict {
        var session = ScriptedSession.upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1, took: 1)
        session.clientAddress = inner
        session.share(at: 4.2, took: 0.5)
        session.browse(ScriptedSession.url, at: 5.5)
        session.mark(.end, at: 90)
        return try session.judge()
    }

    @Test func bothFamiliesOfADeviceAreTwoRequests() throws {
        let verdict = try judge(inner: IPAddress(ipv6High: 0xFD00_0000_0000_0000, low: 2))
        #expect(verdict["HR-08"].violations == ["overlap"], "\(verdict["HR-08"])")
        #expect(verdict["HR-07"].violations == ["second-request"], "\(verdict["HR-07"])")
    }

    @Test func theProxysOtherSideIsOne() throws {
        let verdict = try judge(inner: IPAddress(ipv4: 0x0A00_0009))
        #expect(verdict["HR-08"].verdict == .pass, "\(verdict["HR-08"])")
    }
}
