import SessionTrace
import Testing

@testable import HandoffProxy

@Suite struct NeighbourTableTests {
    private static func number<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
        withUnsafeBytes(of: value) { Array($0) }
    }

    /// A message of type RTM_NEWNEIGH (linux/rtnetlink.h), as the kernel writes it.
    private static func message(
        _ address: [UInt8], _ card: [UInt8], state: UInt16 = 0x02, type: UInt16 = 28
    ) -> [UInt8] {
        var attributes: [UInt8] = []
        for (type, value) in [(UInt16(1), address), (2, card)] where !value.isEmpty {
            attributes += number(UInt16(4 + value.count)) + number(type) + value
            while attributes.count % 4 != 0 { attributes.append(0) }
        }
        let body = [2, 0, 0, 0] + number(Int32(3)) + number(state) + [0, 1] + attributes
        return number(UInt32(16 + body.count)) + number(type) + number(UInt16(2)) + [UInt8](repeating: 0, count: 8)
            + body
    }

    private static func table(_ messages: [[UInt8]]) -> NeighbourTable {
        var table = NeighbourTable()
        _ = Array(messages.joined()).withUnsafeBytes { table.take($0) }
        return table
    }

    private static let four: [UInt8] = [192, 0, 2, 10]
    private static let six: [UInt8] = [0x20, 1, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [0x0A]
    private static let card: [UInt8] = [2, 0, 0x5E, 0x10, 0, 1]
    private static let addressFour = Endpoint.of("192.0.2.10", 0).address
    private static let addressSix = Endpoint.of("2001:db8::a", 0).address

    @Test("both addresses of a device have its card")
    func bothFamilies() {
        let table = Self.table([Self.message(Self.four, Self.card), Self.message(Self.six, Self.card)])
        #expect(table.hardwareAddress(of: Self.addressFour) == 0x0200_5E10_0001)
        #expect(table.hardwareAddress(of: Self.addressSix) == 0x0200_5E10_0001)
        #expect(table.hardwareAddress(of: Endpoint.of("192.0.2.11", 0).address) == nil)
    }

    @Test("a card that answers for several addresses is a router, one that did before is not")
    func router() {
        let other: [UInt8] = [192, 0, 2, 11]
        let router = Self.table([
            Self.message(Self.four, Self.card), Self.message(other, Self.card), Self.message(Self.six, Self.card),
        ])
        #expect(router.hardwareAddress(of: Self.addressFour) == nil)
        #expect(router.hardwareAddress(of: Self.addressSix) == nil)
        let renewed = Self.table([Self.message(Self.four, Self.card), Self.message(other, Self.card, state: 0x04)])
        #expect(renewed.hardwareAddress(of: Self.addressFour) == 0x0200_5E10_0001)
    }

    @Test("failed entries, entries without a card and other messages tell nothing")
    func nothing() {
        let table = Self.table([
            Self.message(Self.four, Self.card, state: 0x20), Self.message(Self.six, []),
            Self.message(Self.six, [0, 0, 0, 0, 0, 0]), Self.message(Self.six, Self.card, type: 29),
        ])
        #expect(table.entries.isEmpty)
    }

    @Test("an address with two cards is nobody's")
    func ambiguous() {
        let table = Self.table([Self.message(Self.six, Self.card), Self.message(Self.six, [2, 0, 0, 0, 0, 9])])
        #expect(table.hardwareAddress(of: Self.addressSix) == nil)
    }

    @Test("bytes cut anywhere or changed anywhere are survived; the end of a dump is known")
    func damage() {
        let bytes = Self.message(Self.six, Self.card)
        for index in bytes.indices {
            _ = Self.table([Array(bytes[..<index])])
            for value in [0, 1, 3, 0x7F, 0xFF] as [UInt8] {
                var changed = bytes
                changed[index] = value
                _ = Self.table([changed, bytes])
            }
        }
        var table = NeighbourTable()
        let isOver = Self.message([], [], type: 3).withUnsafeBytes { table.take($0) }
        #expect(isOver)
    }

    @Test("entries are bounded")
    func limit() {
        let messages = (0..<NeighbourTable.entryLimit + 10).map { number in
            Self.message([10, 0, UInt8(number >> 8), UInt8(number & 0xFF)], Self.card)
        }
        #expect(Self.table(messages).entries.count == NeighbourTable.entryLimit)
    }
}
