/// An answer of the proxy itself, in HTTP/1.1: one plain sentence.
enum PlainAnswer {
    /// The answer to a CONNECT whose destination has been reached (RFC 9110 §9.3.6: no length, no content).
    static let established = Array("HTTP/1.1 200 Connection established\r\n\r\n".utf8)

    /// An answer with `sentence` as text; the connection ends after it.
    static func bytes(status: Int, sentence: String, fields: [String] = []) -> [UInt8] {
        let text = Array((sentence + "\n").utf8)
        var head = "HTTP/1.1 \(status) \(ReasonPhrase.of(status))\r\n"
        head += "Content-Type: text/plain; charset=utf-8\r\nContent-Length: \(text.count)\r\n"
        for field in fields { head += field + "\r\n" }
        head += "Connection: close\r\n\r\n"
        return Array(head.utf8) + text
    }
}
