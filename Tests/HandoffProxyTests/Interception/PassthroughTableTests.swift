import SessionTrace
import Testing

@testable import HandoffProxy

@Suite struct PassthroughTableTests {
    static let start = Instant(nanoseconds: 1_000_000_000_000)

    static func key(_ client: UInt32 = 0x0A00_0001, _ name: String = "pinned.example", _ ja4: String = "t13d") throws
        -> PassthroughTable.Key
    {
        .init(client: IPAddress(ipv4: client), name: try #require(HostName(name)), ja4: ja4)
    }

    @Test func anEntryLastsTenMinutes() throws {
        let table = PassthroughTable()
        let key = try Self.key()
        #expect(table.expiry(of: key, at: Self.start) == nil)
        let until = table.add(key, at: Self.start)
        #expect(until.nanoseconds(since: Self.start) == 600_000_000_000)
        #expect(table.expiry(of: key, at: until.advanced(byNanoseconds: -1)) == until)
        #expect(table.expiry(of: key, at: until) == nil)
        #expect(table.count == 0)
    }

    @Test func clientNameAndFingerprintAllCount() throws {
        let table = PassthroughTable()
        table.add(try Self.key(), at: Self.start)
        #expect(table.expiry(of: try Self.key(0x0A00_0002), at: Self.start) == nil)
        #expect(table.expiry(of: try Self.key(0x0A00_0001, "other.example"), at: Self.start) == nil)
        #expect(table.expiry(of: try Self.key(0x0A00_0001, "pinned.example", "t12d"), at: Self.start) == nil)
    }

    @Test func theTableIsBounded() throws {
        let table = PassthroughTable()
        for number in 0..<UInt32(PassthroughTable.capacity) {
            table.add(try Self.key(number), at: Self.start.advanced(byNanoseconds: Int64(number)))
        }
        #expect(table.count == PassthroughTable.capacity)
        table.add(try Self.key(0xFFFF_FFFF), at: Self.start.advanced(byNanoseconds: 1_000_000))
        #expect(table.count == PassthroughTable.capacity)
        #expect(table.expiry(of: try Self.key(0), at: Self.start) == nil)
        #expect(table.expiry(of: try Self.key(1), at: Self.start) != nil)
    }
}
