/// HTTP/1 messages in datagrams (SSDP).
public enum HTTPDatagram {
    /// Whether a datagram is an HTTP/1 request or response: its first line is a start line with a version. Its messages
    /// can then be read with a `ConversationObserver` of their own.
    public static func isMessage(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let lineFeed = ByteSearch.first(0x0A, in: bytes, from: 0) else { return false }
        let end = lineFeed > 0 && bytes[lineFeed &- 1] == 0x0D ? lineFeed &- 1 : lineFeed
        let line = bytes.slice(0..<end)
        return StartLine.request(line)?.version != nil || StartLine.status(line) != nil
    }
}

/// Tells HTTP/1 and HTTP/2 by a connection's first bytes.
enum ProtocolRecognition {
    /// What the bytes are.
    enum Verdict: Hashable {
        case http1, http2, neither, needsMore
    }

    /// RFC 9113 §3.4.
    static let http2Preface: [UInt8] = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    /// Judges the first bytes that a client sent on a connection that was seen from its start.
    static func client(_ bytes: UnsafeRawBufferPointer, lineLimit: Int) -> Verdict {
        let common = min(bytes.count, http2Preface.count)
        var matches = true
        for index in 0..<common where bytes[index] != http2Preface[index] { matches = false }
        if matches, common > 0 { return common == http2Preface.count ? .http2 : .needsMore }

        // Empty lines before a request are passed over (RFC 9112 §2.2).
        var start = 0
        while start < bytes.count, bytes[start] == 0x0D || bytes[start] == 0x0A { start &+= 1 }
        let rest = bytes.slice(start..<bytes.count)
        if rest.isEmpty { return bytes.count < lineLimit ? .needsMore : .neither }
        guard StartLine.mayBeginRequest(rest) else { return .neither }
        guard let lineFeed = ByteSearch.first(0x0A, in: rest, from: 0) else {
            return rest.count < lineLimit ? .needsMore : .neither
        }
        let end = lineFeed > 0 && rest[lineFeed &- 1] == 0x0D ? lineFeed &- 1 : lineFeed
        return StartLine.request(rest.slice(0..<end)) == nil ? .neither : .http1
    }

    /// Judges the first bytes that a server sent, when the client's say nothing yet.
    static func server(_ bytes: UnsafeRawBufferPointer) -> Verdict {
        guard StartLine.mayBeginStatus(bytes) else { return .neither }
        // `HTTP/1.x NNN` is twelve bytes.
        guard bytes.count >= 12 else { return .needsMore }
        return StartLine.status(bytes.slice(0..<12)) == nil ? .neither : .http1
    }

    /// Whether bytes from the middle of a stream are HTTP/2 frames: every frame head in them is one that RFC 9113 allows.
    static func areHTTP2Frames(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var at = 0
        var heads = 0
        while at &+ 9 <= bytes.count {
            let length = Int(bytes[at]) << 16 | Int(bytes[at &+ 1]) << 8 | Int(bytes[at &+ 2])
            let stream = bytes[(at &+ 5)..<(at &+ 9)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            guard stream >> 31 == 0 else { return false }
            let isAllowed =
                switch bytes[at &+ 3] {
                case 0, 1, 9: stream != 0 && length <= 16_384
                case 2: stream != 0 && length == 5
                case 3: stream != 0 && length == 4
                case 4: stream == 0 && length % 6 == 0 && length <= 600
                case 5: stream != 0 && length >= 4 && length <= 16_384
                case 6: stream == 0 && length == 8
                case 7: stream == 0 && length >= 8 && length <= 16_384
                case 8: length == 4
                default: false
                }
            guard isAllowed else { return false }
            heads &+= 1
            at &+= 9 &+ length
        }
        return heads > 0
    }
}
