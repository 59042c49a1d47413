internal import SessionTrace

/// The head of a request to the proxy, as far as the proxy itself must read it: what is asked, and by whom.
///
/// It is lenient: what is not its business, it leaves alone. RFC 9112 §3.2 has the four forms of the target.
struct ProxyRequest: Hashable, Sendable {
    /// What the client wants.
    enum Aim: Hashable, Sendable {
        /// `CONNECT host:port`.
        case tunnel(Destination)
        /// `GET http://host/…`: to be relayed in clear text.
        case relay
        /// `GET /…`, with the host of its Host field: for the proxy itself.
        case local(host: String?)
        /// Something that can't be answered but with this status and sentence.
        case refused(status: Int, sentence: String)

        /// Whether the proxy itself answers: such a request needs no credential, which a browser that opens the set-up
        /// page at the listener's address could not give. (Marks have a secret of their own.)
        var isForUs: Bool {
            switch self {
            case .tunnel(let destination): destination.isLocal
            case .local: true
            case .relay, .refused: false
            }
        }
    }

    /// What the client wants.
    var aim: Aim
    /// The value of `Proxy-Authorization`; nil when there is none.
    var authorization: String?
    /// Bytes of the head, its empty line included.
    var byteCount: Int
    /// Whether it asks the proxy itself to take a mark (`/m/…`).
    var isMark: Bool

    /// Reads a whole head from the start of `bytes`; nil while its end has not come.
    init?(_ bytes: [UInt8]) {
        guard let end = Self.end(of: bytes) else { return nil }
        byteCount = end
        let lines = bytes[..<end].split(separator: 0x0A, omittingEmptySubsequences: false).map { line in
            line.last == 0x0D ? line.dropLast() : line
        }
        // RFC 9112 §2.2: empty lines before the request line are passed over.
        let first = lines.firstIndex { !$0.isEmpty } ?? 0
        var host: String?
        for line in lines.dropFirst(first + 1) {
            guard let colon = line.firstIndex(of: 0x3A) else { continue }
            let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
            switch name {
            case "host": host = host ?? Self.value(line[(colon + 1)...])
            case "proxy-authorization": authorization = authorization ?? Self.value(line[(colon + 1)...])
            default: break
            }
        }
        aim = Self.aim(of: lines[first], host: host)
        let target = lines[first].split(separator: 0x20, maxSplits: 2).dropFirst().first
        isMark = target?.starts(with: "/m/".utf8) ?? false
    }

    private static func value(_ bytes: ArraySlice<UInt8>) -> String {
        var bytes = bytes
        while let first = bytes.first, first == 0x20 || first == 0x09 { bytes.removeFirst() }
        while let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The offset after the empty line that ends the head.
    static func end(of bytes: [UInt8], searchedFrom start: Int = 0) -> Int? {
        var index = max(0, start)
        var isInHead = false
        // An empty line before the request line is no end.
        if let first = bytes.firstIndex(where: { $0 != 0x0D && $0 != 0x0A }) {
            index = max(index, first)
            isInHead = true
        }
        guard isInHead else { return nil }
        while let lineFeed = bytes[index...].firstIndex(of: 0x0A) {
            let next = lineFeed + 1
            guard next < bytes.count else { return nil }
            if bytes[next] == 0x0A { return next + 1 }
            if bytes[next] == 0x0D, next + 1 < bytes.count, bytes[next + 1] == 0x0A { return next + 2 }
            index = next
        }
        return nil
    }

    private static func aim(of line: ArraySlice<UInt8>, host: String?) -> Aim {
        let parts = line.split(separator: 0x20, maxSplits: 2)
        guard parts.count == 3, parts[2].starts(with: "HTTP/1.".utf8) else {
            return .refused(status: 400, sentence: "This is a proxy for HTTP/1, SOCKS5 and TLS.")
        }
        let method = String(decoding: parts[0], as: UTF8.self)
        let target = String(decoding: parts[1], as: UTF8.self)
        if method == "CONNECT" {
            guard let destination = Self.authority(target) else {
                return .refused(status: 400, sentence: "CONNECT needs a host and a port, such as example.com:443.")
            }
            return .tunnel(destination)
        }
        if target.hasPrefix("/") || target == "*" { return .local(host: host) }
        guard target.contains("://") else {
            return .refused(status: 400, sentence: "The request's target is neither a URL nor a path.")
        }
        return .relay
    }

    /// `host:port`, IPv6 in brackets, no user, no zone; the port can't be left out (RFC 9112 §3.2.3).
    static func authority(_ text: String) -> Destination? {
        guard !text.contains("@"), !text.contains("%"), let (host, port) = HostName.parse(authority: text),
            let port, port > 0
        else { return nil }
        return Destination(host: host, port: port, kind: .connect)
    }
}
