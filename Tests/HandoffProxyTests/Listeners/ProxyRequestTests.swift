import SessionTrace
import Testing

@testable import HandoffProxy

@Suite struct ProxyRequestTests {
    private func aim(_ line: String) -> ProxyRequest.Aim? {
        ProxyRequest(Array("\(line)\r\nHost: h.test\r\n\r\n".utf8))?.aim
    }

    @Test func targets() throws {
        let host = try #require(HostName("a.test"))
        #expect(aim("CONNECT a.test:443 HTTP/1.1") == .tunnel(Destination(host: host, port: 443, kind: .connect)))
        #expect(
            aim("CONNECT [2001:db8::1]:443 HTTP/1.1") == .tunnel(Destination(.of("2001:db8::1", 443), kind: .connect)))
        #expect(aim("GET http://a.test/x HTTP/1.1") == .relay)
        #expect(aim("GET / HTTP/1.0") == .local(host: "h.test"))
        #expect(aim("OPTIONS * HTTP/1.1") == .local(host: "h.test"))
    }

    @Test(arguments: [
        "CONNECT a.test HTTP/1.1", "CONNECT a.test:0 HTTP/1.1", "CONNECT a.test:99999 HTTP/1.1", "CONNECT / HTTP/1.1",
        "CONNECT u@a.test:1 HTTP/1.1", "CONNECT [fe80::1%25eth0]:1 HTTP/1.1", "GET a.test HTTP/1.1", "GET / HTTP/2",
        "PRI * HTTP/2.0", "nonsense",
    ])
    func refused(line: String) {
        guard case .refused(400, _) = aim(line) else {
            Issue.record("not refused: \(line)")
            return
        }
    }

    @Test func theEndIsFoundWhereverItIsSplit() {
        let bytes = Array("\r\nCONNECT a.test:1 HTTP/1.1\r\nProxy-Authorization:  Basic x \r\n\r\nmore".utf8)
        #expect(ProxyRequest(bytes)?.byteCount == bytes.count - 4)
        #expect(ProxyRequest(bytes)?.authorization == "Basic x")
        for count in 0..<bytes.count - 4 { #expect(ProxyRequest(Array(bytes[..<count])) == nil) }
        for start in bytes.indices.dropLast(8) {
            #expect(ProxyRequest.end(of: bytes, searchedFrom: start) == bytes.count - 4)
        }
        #expect(ProxyRequest(Array("GET / HTTP/1.1\n\n".utf8))?.byteCount == 16)
    }

    @Test func basicCredentials() throws {
        for text in ["ann:secret", "a:", "é:pässwörd:x", "ann:s"] {
            let credential = try #require(ProxyCredential(text))
            let (user, password) = try #require(BasicCredential.read(BasicCredential.text(credential)))
            #expect(credential.matches(user: user, password: password))
            #expect(!credential.matches(user: user, password: password + [0]))
        }
        #expect(
            BasicCredential.text(ProxyCredential(user: "Aladdin", password: "open sesame")).hasSuffix(
                "QWxhZGRpbjpvcGVuIHNlc2FtZQ=="))
        for text in ["", "Basic", "Bearer QQ==", "Basic !!", "Basic QQ==", "Basic QT==x"] {
            #expect(BasicCredential.read(text) == nil, "\(text)")
        }
    }
}
