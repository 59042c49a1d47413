internal import SessionTrace

/// What a request to a proxy becomes on its way to the origin. Everything that is not named here stays byte for byte:
/// case, order, duplicates, white space, the version.
///
/// | part | becomes |
/// |---|---|
/// | the target | origin form |
/// | `Host` that names the target's origin | stays |
/// | `Host` that names another | its value becomes the target's (RFC 9112 §3.2.2: a proxy must ignore what it got) |
/// | no `Host` | one is put first, of HTTP/1.0 too: the target was the only place that named the host |
/// | `Proxy-…` fields | go: they are between client and proxy |
/// | fields that `Proxy-Connection` names | go, unless the request can't be read without them: that is refused |
enum ProxyFormRequest {
    /// Fields that decide where a request ends and whom it is for; no client may ask for their removal.
    private static let essential: [StaticString] = [
        "host", "content-length", "transfer-encoding", "trailer", "expect", "upgrade", "connection",
    ]

    /// The head as the origin gets it.
    static func head(_ head: RequestHead, to target: ProxyFormTarget) throws(RequestRefusal) -> [UInt8] {
        let hopByHop = try named(head)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(head.bytes.count)
        bytes.append(contentsOf: head.bytes[..<head.target.lowerBound])
        bytes.append(contentsOf: target.originForm)
        bytes.append(contentsOf: head.bytes[head.target.upperBound..<head.requestLineEnd])
        if !head.has("host") {
            bytes.append(contentsOf: "Host: ".utf8)
            bytes.append(contentsOf: target.authority)
            bytes.append(contentsOf: [0x0D, 0x0A])
        }
        for field in head.fields {
            let name = head.bytes[field.name]
            if isProxyField(name) || hopByHop.contains(where: { equalIgnoringCase($0, name) }) { continue }
            if RequestHead.equal(name, "host"), !target.isNamed(by: head.bytes[field.value]) {
                bytes.append(contentsOf: head.bytes[field.line.lowerBound..<field.value.lowerBound])
                bytes.append(contentsOf: target.authority)
                bytes.append(contentsOf: head.bytes[field.value.upperBound..<field.line.upperBound])
                continue
            }
            bytes.append(contentsOf: head.bytes[field.line])
        }
        bytes.append(contentsOf: [0x0D, 0x0A])
        return bytes
    }

    /// The names in `Proxy-Connection`.
    private static func named(_ head: RequestHead) throws(RequestRefusal) -> [ArraySlice<UInt8>] {
        var names: [ArraySlice<UInt8>] = []
        for field in head.fields where RequestHead.equal(head.bytes[field.name], "proxy-connection") {
            for member in head.members(of: field) {
                let name = head.bytes[member]
                guard !essential.contains(where: { RequestHead.equal(name, $0) }) else {
                    throw RequestRefusal(
                        sentence: "Proxy-Connection names a field that the request can't do without.")
                }
                names.append(name)
            }
        }
        return names
    }

    private static func isProxyField(_ name: ArraySlice<UInt8>) -> Bool {
        name.count > 6 && RequestHead.equal(name.prefix(6), "proxy-")
    }

    private static func equalIgnoringCase(_ one: ArraySlice<UInt8>, _ other: ArraySlice<UInt8>) -> Bool {
        one.count == other.count
            && zip(one, other).allSatisfy { ($0 &- 0x41 < 26 ? $0 | 0x20 : $0) == ($1 &- 0x41 < 26 ? $1 | 0x20 : $1) }
    }
}
