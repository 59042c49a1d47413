import HandoffProxy
import SessionTrace
import Testing

@Suite struct TrustLedgerTests {
    static let phone = IPAddress(ipv4: 0xC0A8_0107)

    private static func at(_ seconds: Int64) -> Instant { Instant(nanoseconds: seconds * 1_000_000_000) }

    @Test func appsAreSeenOrNotYet() {
        let ledger = TrustLedger()
        #expect(ledger.trust(of: Self.phone).browser == .unknown && ledger.trust(of: Self.phone).apps == .notYet)
        ledger.refused(device: Self.phone, ja4: "app", name: "api.partner.example", at: Self.at(1))
        #expect(ledger.trust(of: Self.phone).apps == .refused(at: Self.at(1)))
        #expect(ledger.trust(of: Self.phone).lastRefusedName == "api.partner.example")
        // The same client accepted later: it has learnt to trust.
        ledger.finished(device: Self.phone, ja4: "app", name: "api.partner.example", at: Self.at(2))
        #expect(ledger.trust(of: Self.phone).apps == .seen(at: Self.at(2)))
        ledger.refused(device: Self.phone, ja4: "pinned", name: "bank.example", at: Self.at(3))
        #expect(ledger.trust(of: Self.phone).apps == .mixed(seen: Self.at(2), refused: Self.at(3)))
        #expect(ledger.trust(of: IPAddress(ipv4: 1)).apps == .notYet)
    }

    @Test func aBrowserIsToldByTheTrustHost() {
        let ledger = TrustLedger()
        ledger.finished(device: Self.phone, ja4: "safari", name: "shop.example", at: Self.at(1))
        #expect(ledger.trust(of: Self.phone).apps == .seen(at: Self.at(1)))
        ledger.finished(device: Self.phone, ja4: "safari", name: TrustLedger.trustHost, at: Self.at(2))
        #expect(ledger.trust(of: Self.phone).apps == .notYet)
        #expect(ledger.trust(of: Self.phone).browser == .unknown)
        ledger.pageFetched(device: Self.phone, at: Self.at(3))
        #expect(ledger.trust(of: Self.phone).browser == .trusted(at: Self.at(3)))
        ledger.refused(device: Self.phone, ja4: "safari", name: TrustLedger.trustHost, at: Self.at(4))
        #expect(ledger.trust(of: Self.phone).browser == .refused(at: Self.at(4)))
    }

    @Test func tablesAreBounded() {
        let ledger = TrustLedger()
        for index in 0..<TrustLedger.deviceLimit + 10 {
            ledger.finished(
                device: IPAddress(ipv4: UInt32(index)), ja4: "a", isBrowser: false, at: Self.at(Int64(index)))
        }
        #expect(ledger.all.count == TrustLedger.deviceLimit)
        #expect(ledger.trust(of: IPAddress(ipv4: 0)).apps == .notYet)
        for index in 0..<TrustLedger.clientLimit + 1 {
            ledger.refused(device: Self.phone, ja4: "\(index)", isBrowser: true, at: Self.at(1_000))
        }
        // The one client too many is left out.
        ledger.finished(device: Self.phone, ja4: "one more", isBrowser: false, at: Self.at(2_000))
        #expect(ledger.trust(of: Self.phone).apps == .notYet)
        let long = String(repeating: "a", count: 1_000)
        ledger.refused(device: Self.phone, ja4: "0", name: long, at: Self.at(2_001))
        #expect(ledger.trust(of: Self.phone).lastRefusedName?.utf8.count == 255)
    }
}
