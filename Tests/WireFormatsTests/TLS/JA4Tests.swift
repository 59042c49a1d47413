import Testing
import WireFormats

@Suite struct JA4Tests {
    /// A hello with the given parts, as bytes of its body.
    private func hello(suites: [UInt16], extensions: [(UInt16, [UInt8])], version: UInt16 = 0x0303)
        -> ClientHelloMessage?
    {
        func be(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xFF)] }
        var body = be(version) + [UInt8](repeating: 7, count: 32) + [0]
        body += be(UInt16(suites.count * 2)) + suites.flatMap(be) + [1, 0]
        let list = extensions.flatMap { be($0.0) + be(UInt16($0.1.count)) + $0.1 }
        body += be(UInt16(list.count)) + list
        return body.withUnsafeBytes { ClientHelloMessage($0) }
    }

    /// The worked example of the public specification.
    @Test func exampleOfTheSpecification() throws {
        let suites: [UInt16] = [
            0x0A0A, 0x1301, 0x1302, 0x1303, 0xC02B, 0xC02F, 0xC02C, 0xC030, 0xCCA9, 0xCCA8, 0xC013, 0xC014, 0x009C,
            0x009D, 0x002F, 0x0035,
        ]
        let extensions: [(UInt16, [UInt8])] = [
            (0x1A1A, []), (0x001B, []), (0x0000, []), (0x0033, []), (0x0010, [0, 3, 2, 0x68, 0x32]), (0x4469, []),
            (0x0017, []), (0x002D, []), (0x000D, unhex("0010 0403 0804 0401 0503 0805 0501 0806 0601")), (0x0005, []),
            (0x0023, []), (0x0012, []), (0x002B, unhex("06 0a0a 0304 0303")), (0xFF01, []), (0x000B, []),
            (0x000A, []), (0x0015, []), (0xAAAA, []),
        ]
        let parsed = try #require(hello(suites: suites, extensions: extensions))
        #expect(JA4.fingerprint(of: parsed, over: .tcp) == "t13d1516h2_8daaf6152771_e5627efa2ab1")
    }

    @Test func edges() throws {
        let bare = try #require(hello(suites: [], extensions: []))
        #expect(JA4.fingerprint(of: bare, over: .quic) == "q12i000000_000000000000_000000000000")
        let odd = try #require(hello(suites: [0x1301], extensions: [(0x0010, [0, 3, 2, 0xAB, 0x30])], version: 0x0301))
        #expect(JA4.fingerprint(of: odd, over: .tcp).hasPrefix("t10i0101a0_"))
        let many = try #require(hello(suites: [UInt16](repeating: 0x1301, count: 120), extensions: []))
        #expect(JA4.fingerprint(of: many, over: .tcp).hasPrefix("t12i990000_"))
    }

    @Test func anyCutIsNilOrMarked() {
        let parsed = QUICVectors.clientInitial
        for length in 0..<parsed.count {
            _ = parsed.prefix(length).withUnsafeBytes { ClientHelloMessage($0, allowingCut: true) }
            _ = parsed.suffix(length).withUnsafeBytes { ClientHelloMessage($0, allowingCut: true) }
            _ = parsed.suffix(length).withUnsafeBytes { ServerHelloMessage($0) }
            _ = parsed.suffix(length).withUnsafeBytes { EncryptedExtensionsMessage($0) }
        }
    }
}
