import Assertions
import Testing

/// What the scanner does not open is no clean body.
@Suite struct SealedArchiveTests {
    private func scan(_ body: [UInt8]) -> ScanResult {
        var scanner = ScannerSamples.scanner(limits: ScanLimits())
        return scanner.scan(ScannerSamples.request(body: body))
    }

    @Test(arguments: [
        ("zip", [0x50, 0x4B, 0x03, 0x04, 20, 0, 0, 0, 8, 0] as [UInt8]),
        ("bzip2", Array("BZh91AY&SY".utf8)),
    ])
    func anArchiveIsAGap(name: String, head: [UInt8]) {
        let result = scan(head + Array(repeating: 0xA5, count: 64))
        #expect(result.gaps.map(\.reason) == [.undecodable(name)])
    }

    @Test func whatMerelyBeginsAlikeIsNone() {
        #expect(scan(Array("BZh, said the bee".utf8)).gaps.isEmpty)
        #expect(scan(Array("PK\u{3}".utf8)).gaps.isEmpty)
    }
}
