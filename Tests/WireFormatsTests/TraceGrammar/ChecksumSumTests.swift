import Testing

@testable import WireFormats

@Suite struct ChecksumSumTests {
    /// RFC 1071 §1 word for word: 16 bits at a time, carries added at the end.
    private static func plain(_ bytes: [UInt8]) -> UInt16 {
        var sum: UInt32 = 0
        for index in stride(from: 0, to: bytes.count, by: 2) {
            sum += UInt32(bytes[index]) << 8 + (index + 1 < bytes.count ? UInt32(bytes[index + 1]) : 0)
            sum = sum & 0xFFFF + sum >> 16
        }
        return ~UInt16(truncatingIfNeeded: sum)
    }

    private static func fast(_ pieces: [[UInt8]]) -> UInt16 {
        var sum = ChecksumSum()
        for piece in pieces { piece.withUnsafeBytes { sum.add($0) } }
        return sum.value
    }

    @Test("the example of RFC 1071")
    func example() {
        #expect(Self.fast([[0x00, 0x01, 0xF2, 0x03, 0xF4, 0xF5, 0xF6, 0xF7]]) == ~0xDDF2)
    }

    @Test("any bytes, any length, in any pieces of even length")
    func random() {
        for length in Array(0...70) + [1_447, 1_448, 60_000, 65_535] {
            let bytes = (0..<length).map { _ in UInt8.random(in: 0...255) }
            #expect(Self.fast([bytes]) == Self.plain(bytes))
            let cut = Int.random(in: 0...length) & ~1
            #expect(Self.fast([Array(bytes[..<cut]), Array(bytes[cut...])]) == Self.plain(bytes))
            let ones = [UInt8](repeating: 0xFF, count: length)
            #expect(Self.fast([ones]) == Self.plain(ones))
        }
    }

    @Test("a number counts as it would in a header")
    func number() {
        var sum = ChecksumSum()
        sum.add(number: 0x1234_5678)
        #expect(sum.value == Self.plain([0x12, 0x34, 0x56, 0x78]))
    }
}
