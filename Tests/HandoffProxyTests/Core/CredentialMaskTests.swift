import Testing

@testable import HandoffProxy

@Suite struct CredentialMaskTests {
    static let head =
        "CONNECT a:1 HTTP/1.1\r\nHost: a\r\nproxy-Authorization: Basic dTpw\r\n more\r\nX-Proxy-Authorization: no\r\n\r\nrest"
    static let masked =
        "CONNECT a:1 HTTP/1.1\r\nHost: a\r\nproxy-Authorization: ***** ****\r\n ****\r\nX-Proxy-Authorization: no\r\n\r\nrest"

    private func mask(_ pieces: [[UInt8]]) -> String {
        var mask = CredentialMask()
        var output: [UInt8] = []
        for var piece in pieces {
            mask.mask(&piece)
            output += piece
        }
        return String(decoding: output, as: UTF8.self)
    }

    @Test func valuesAreBlottedOutWithEqualLength() {
        #expect(mask([Array(Self.head.utf8)]) == Self.masked)
        #expect(mask([Array("GET / HTTP/1.1\r\n\r\n".utf8)]) == "GET / HTTP/1.1\r\n\r\n")
    }

    @Test func piecesMakeNoDifference() {
        let bytes = Array(Self.head.utf8)
        #expect(mask(bytes.map { [$0] }) == Self.masked)
        for split in bytes.indices { #expect(mask([Array(bytes[..<split]), Array(bytes[split...])]) == Self.masked) }
    }
}
