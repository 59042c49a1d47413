import Testing

@testable import HandoffProxy

/// Requests that have more than one reading, or none: none of their bytes may reach an origin.
///
/// The kinds are those of the request-smuggling literature: RFC 9112 §11.2, and the variants by which Transfer-Encoding or
/// Content-Length is hidden from one of two readers.
@Suite struct RefusalTests {
    static let fields: [String] = [
        "Content-Length: 4\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 4",
        "Content-Length: 4\r\nContent-Length: 5",
        "Content-Length: 4\r\nContent-Length: 4",
        "Content-Length: 4, 4",
        "Content-Length: 4,",
        "Content-Length: +4",
        "Content-Length: -4",
        "Content-Length: 0x4",
        "Content-Length: 4 4",
        "Content-Length: 4;",
        "Content-Length:",
        "Content-Length: 99999999999999999999",
        "Content-Length : 4",
        "Content-Length\t: 4",
        " Content-Length: 4",
        "X: y\r\n Content-Length: 4",
        "X: y\r\n\tTransfer-Encoding: chunked",
        "Content-Length: 4\nX: y",
        "X: y\n",
        "X: y\rContent-Length: 4",
        "X: y\u{0}",
        "X\u{0}: y",
        ": y",
        "no colon",
        "Na me: y",
        "Na\"me: y",
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding: identity",
        "Transfer-Encoding: gzip",
        "Transfer-Encoding: \u{b}chunked",
        "Transfer-Encoding: chunked;q=1",
        "Transfer-Encoding: \"chunked\"",
        "Transfer-Encoding:",
        "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding : chunked",
        "Transfer-Encoding\r\n : chunked",
        "Host: b",
        "Proxy-Connection: Content-Length\r\nContent-Length: 4",
        "Proxy-Connection: close, transfer-encoding\r\nTransfer-Encoding: chunked",
        "Proxy-Connection: host",
    ]

    @Test(arguments: fields)
    func ambiguousFieldsGoNowhere(fields: String) {
        expectRefusal("POST http://a/ HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\nGET http://a/smuggled HTTP/1.1\r\n\r\n")
    }

    /// Request line, status.
    static let lines: [(String, Int)] = [
        ("GET http://a/", 400), ("GET http://a/ HTTP/2.0", 400), ("GET http://a/ http/1.1", 400),
        ("GET http://a/ HTTP/1.1 ", 400), ("GET  http://a/ HTTP/1.1", 400), ("GET http://a/ x HTTP/1.1", 400),
        ("GET http://a/\t HTTP/1.1", 400), ("GET\thttp://a/\tHTTP/1.1", 400), ("G@T http://a/ HTTP/1.1", 400),
        ("GET / HTTP/1.1", 400), ("GET * HTTP/1.1", 400), ("GET a:80 HTTP/1.1", 400), ("CONNECT a:443 HTTP/1.1", 400),
        ("GET https://a/ HTTP/1.1", 400), ("GET ftp://a/ HTTP/1.1", 501), ("GET ws://a/ HTTP/1.1", 501),
        ("GET http:///p HTTP/1.1", 400), ("GET http://user:pw@a/ HTTP/1.1", 400), ("GET http://a:0/ HTTP/1.1", 400),
        ("GET http://a:65536/ HTTP/1.1", 400), ("GET http://a:b/ HTTP/1.1", 400), ("GET http://[::1/ HTTP/1.1", 400),
        ("GET http://::1/ HTTP/1.1", 400), ("GET http://[fe80::1%25eth0]/ HTTP/1.1", 400),
        ("GET http://[a]/ HTTP/1.1", 400), ("GET http://a\\b/ HTTP/1.1", 400), ("GET http://a b/ HTTP/1.1", 400),
        ("GET http://\u{e9}/ HTTP/1.1", 400), ("PRI * HTTP/2.0", 400),
    ]

    @Test(arguments: lines)
    func requestsThatNoOriginCanGet(line: String, status: Int) {
        expectRefusal("\(line)\r\nHost: a\r\n\r\n", status: status)
    }

    @Test func transferEncodingOfHTTP10() {
        expectRefusal("POST http://a/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
    }

    /// Chunked contents with a fault → what of them may be forwarded.
    static let chunks: [(String, String)] = [
        ("5\nhello", ""), ("5\r\nhello\n", "5\r\nhello"), ("5\r\nhelloX", "5\r\nhello"), ("\r\n", ""), (";x\r\n", ""),
        ("5 5\r\n", ""), ("0x5\r\n", ""), ("-1\r\n", ""), ("5 \r\n", ""), ("5;a\rb\r\n", ""), ("5;a\u{0}\r\n", ""),
        ("ffffffffffffffffff\r\n", ""), ("1\r\na\r\n0\r\nX : y\r\n", "1\r\na\r\n0\r\n"),
        ("0\r\nno colon\r\n", "0\r\n"), ("0\r\nX: y\n\r\n", "0\r\n"), ("0\r\n\n", "0\r\n"),
        ("0\r\nX: y\r\n folded\r\n", "0\r\nX: y\r\n"),
    ]

    @Test(arguments: chunks)
    func badChunksEndTheRequest(content: String, forwarded: String) {
        let head = "POST http://a/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        for split in [TextSplit.whole, .bytes] {
            let actions = RelayScript(steps: [.client(head + content + "GET http://a/ HTTP/1.1\r\n\r\n")]).run(split)
            #expect(
                FaultStageTests.bySide(actions)[0]
                    == "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + forwarded)
            #expect(actions.contains("reset origin"))
            #expect(actions.contains { $0.hasPrefix("< HTTP/1.1 400 Bad Request\r\n") }, "\(actions)")
            #expect(actions.last == "close client")
        }
    }

    @Test func limitsHold() {
        let long = String(repeating: "x", count: RequestReader.headLimit)
        expectRefusal("GET http://a/ HTTP/1.1\r\nX: \(long)\r\n\r\n", status: 431)
        let many = String(repeating: "X: y\r\n", count: RequestHead.fieldLimit + 1)
        expectRefusal("GET http://a/ HTTP/1.1\r\nHost: a\r\n\(many)\r\n", status: 431)
        let head = "POST http://a/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        let extensions = head + "1;" + String(repeating: "x", count: RequestChunks.sizeLineLimit)
        #expect(RelayScript(steps: [.client(extensions)]).run().last == "close client")
        let trailers = head + "0\r\n" + String(repeating: "X: y\r\n", count: RequestChunks.trailerLimit / 6 + 1)
        #expect(RelayScript(steps: [.client(trailers)]).run().last == "close client")
    }

    private func expectRefusal(_ request: String, status: Int = 400) {
        let shown = String(request.prefix(200))
        for split in [TextSplit.whole, .bytes] {
            let actions = RelayScript(steps: [.client(request), .clientFinished]).run(split)
            #expect(!actions.contains { $0.hasPrefix("dial") || $0.hasPrefix("> ") }, "\(shown): \(actions)")
            #expect(actions.contains { $0.hasPrefix("< HTTP/1.1 \(status) ") }, "\(shown): \(actions)")
            #expect(actions.last == "close client", "\(shown)")
            if case .whole = split, request.utf8.count > 4_096 { return }
        }
    }
}
