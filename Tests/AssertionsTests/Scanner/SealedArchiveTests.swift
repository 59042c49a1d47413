import Assertions
import Testing

/// What the scanner does not open is no clean body.
@Suite struct SealedArchiveTests {
    private func scan(_ body: [UInt8], fields: [(String, String)] = []) -> ScanResult {
        var scanner = ScannerSamples.scanner(limits: ScanLimits())
        return scanner.scan(ScannerSamples.request(fields: fields, body: body))
    }

    @Test(arguments: [
        ("zip", [0x50, 0x4B, 0x03, 0x04, 20, 0, 0, 0, 8, 0] as [UInt8]),
        ("bzip2", Array("BZh91AY&SY".utf8)), ("xz", [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00, 0x00, 0x04]),
    ])
    func anArchiveIsAGap(name: String, head: [UInt8]) {
        let result = scan(head + Array(repeating: 0xA5, count: 64))
        #expect(result.gaps.map(\.reason) == [.undecodable(name)])
    }

    @Test func anArchiveInAPartIsAGap() {
        let head = "--b\r\nContent-Disposition: form-data; name=\"upload_file_minidump\"; filename=\"d.zip\"\r\n\r\n"
        let zip = [0x50, 0x4B, 0x03, 0x04] + Array(repeating: 0xA5, count: 64) as [UInt8]
        let result = scan(
            Array(head.utf8) + zip + Array("\r\n--b--\r\n".utf8),
            fields: [("Content-Type", "multipart/form-data; boundary=b")])
        #expect(result.gaps.map(\.reason) == [.undecodable("zip")])
    }

    @Test func whatMerelyBeginsAlikeIsNone() {
        #expect(scan(Array("BZh, said the bee".utf8)).gaps.isEmpty)
        #expect(scan(Array("PK\u{3}".utf8)).gaps.isEmpty)
    }
}
