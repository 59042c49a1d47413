internal import SessionTrace

/// The target of a request in absolute form (RFC 9112 §3.2.2): where it goes, and what the origin is asked for.
struct ProxyFormTarget: Hashable, Sendable {
    /// The host.
    let host: HostName
    /// The TCP port.
    let port: UInt16
    /// Host and port as the client wrote them: what belongs into `Host`.
    let authority: [UInt8]
    /// The target for the origin: path and query byte for byte, `/` for an empty path, `*` for OPTIONS without a path
    /// (RFC 9112 §3.2.1, §3.2.4).
    let originForm: [UInt8]

    /// Whether both name the same origin: one connection can serve both.
    func isSameOrigin(as other: ProxyFormTarget) -> Bool { host == other.host && port == other.port }

    /// Reads the target of a request to a proxy.
    init(_ head: RequestHead) throws(RequestRefusal) {
        let target = head.bytes[head.target]
        let isConnect = RequestHead.equal(head.bytes[head.method], "connect")
        guard !isConnect else {
            throw RequestRefusal(sentence: "CONNECT must be the first request of a connection.")
        }
        guard target.first != 0x2F, let colon = target.firstIndex(of: 0x3A),
            target[colon...].starts(with: [0x3A, 0x2F, 0x2F])
        else {
            throw RequestRefusal(sentence: "A proxy needs the whole URL in the request line.")
        }
        let scheme = target[..<colon]
        guard RequestHead.equal(scheme, "http") else {
            throw RequestHead.equal(scheme, "https")
                ? RequestRefusal(sentence: "An https URL needs CONNECT to its host first.")
                : RequestRefusal(status: 501, sentence: "Only http URLs are relayed in clear text.")
        }
        let rest = target[(colon + 3)...]
        let end = rest.firstIndex { $0 == 0x2F || $0 == 0x3F || $0 == 0x23 } ?? rest.endIndex
        let authority = rest[..<end]
        guard authority.allSatisfy({ $0 < 0x80 && $0 != 0x40 && $0 != 0x25 && $0 != 0x5C }),
            let place = HostName.parse(authority: String(decoding: authority, as: UTF8.self)),
            place.port != 0, Self.isBracketed(authority, place.host)
        else {
            throw RequestRefusal(sentence: "The URL in the request line has no host and port that can be used.")
        }
        host = place.host
        port = place.port ?? 80
        self.authority = Array(authority)
        let path = rest[end...]
        if path.first == 0x2F {
            originForm = Array(path)
        } else if path.isEmpty, RequestHead.equal(head.bytes[head.method], "options") {
            originForm = [0x2A]
        } else {
            originForm = [0x2F] + path
        }
    }

    /// Brackets stand around IPv6 addresses, around them always and around nothing else (RFC 3986 §3.2.2).
    private static func isBracketed(_ authority: ArraySlice<UInt8>, _ host: HostName) -> Bool {
        let isIPv6 = host.address.map { !$0.isIPv4 } ?? false
        return isIPv6 == (authority.first == 0x5B) && (isIPv6 || !host.text.utf8.contains { $0 == 0x3A || $0 == 0x5B })
    }

    /// Whether a value of `Host` means this origin: the same host, and the same port or the default left out.
    func isNamed(by value: ArraySlice<UInt8>) -> Bool {
        guard let named = HostName.parse(authority: String(decoding: value, as: UTF8.self)), !value.contains(0x40)
        else { return false }
        return named.host == host && (named.port ?? 80) == port
    }
}
