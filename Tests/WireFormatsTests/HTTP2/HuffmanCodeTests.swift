import Testing

@testable import WireFormats

@Suite struct HuffmanCodeTests {
    /// RFC 7541 Appendix C.4 to C.6.
    @Test(arguments: [
        ("f1e3c2e5f23a6ba0ab90f4ff", "www.example.com"), ("a8eb10649cbf", "no-cache"),
        ("25a849e95ba97d7f", "custom-key"), ("25a849e95bb8e8b4bf", "custom-value"),
        ("d07abe941054d444a8200595040b8166e082a62d1bff", "Mon, 21 Oct 2013 20:13:21 GMT"),
        ("9d29ad171863c78f0b97c8e9ae82ae43d3", "https://www.example.com"), ("6402", "302"), ("640eff", "307"),
    ])
    func publishedStrings(hex: String, text: String) {
        #expect(decode(HTTP2Fixtures.bytes(hex)) == Array(text.utf8))
    }

    @Test func brokenPadding() {
        #expect(decode([]) == [])
        #expect(decode([0x07]) == Array("0".utf8))  // 00000 and three bits of padding
        #expect(decode([0x00]) == nil)  // '0', then 000: not the start of EOS
        #expect(decode([0xFF]) == nil)  // eight bits of padding
        #expect(decode([0x07, 0xFF]) == nil)  // eleven
        #expect(decode([0xFF, 0xFF, 0xFF, 0xFF]) == nil)  // EOS itself
    }

    @Test func everyOctetHasACanonicalCode() {
        // The Kraft sum of a complete code is one.
        let sum = HuffmanCode.lengths.reduce(0) { $0 + (1 << (30 - Int($1))) }
        #expect(sum == 1 << 30)
        #expect(HuffmanCode.lengths.count == 257)
    }

    private func decode(_ bytes: [UInt8]) -> [UInt8]? { bytes.withUnsafeBytes { HuffmanCode.decode($0) } }
}
