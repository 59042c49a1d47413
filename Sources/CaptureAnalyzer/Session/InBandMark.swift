internal import SessionTrace
internal import WireFormats

/// A mark that a device made in band, `http://mark.handoff.test/m/SECRET/?kind=tap&target=share` through the proxy, as a
/// capture of the device's side shows it: the query of an exchange in, the object of the mark out.
///
/// Our own recordings hold each such mark as a datagram too; there the exchange says nothing new and is not asked. Only
/// what the proxy took counts (a response 2xx): it alone knows the secret, and refuses what a page forges.
enum InBandMark {
    /// Where such marks go (DESIGN "Marks").
    static let host = HostName("mark.handoff.test")
    /// Longest query that is read, in bytes.
    static let queryLimit = 8_192

    /// The text of the mark's object; nil when the exchange is no mark that the proxy took.
    static func object(of exchange: Exchange) -> [UInt8]? {
        guard let request = exchange.request, let status = exchange.response?.status, (200..<300).contains(status),
            request.method == "GET" || request.method == "POST", let query = query(of: request),
            query.utf8.count <= queryLimit
        else { return nil }
        var members: [JSONMember] = []
        var attributes: [JSONMember] = []
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = parts.first.map(decoded), parts.count == 2 else { continue }
            let value = decoded(parts[1])
            if name.hasPrefix("attrs.") {
                attributes.append(JSONMember(name: String(name.dropFirst(6)), value: .string(value)))
            } else if !value.isEmpty {
                let isNumber = name == "count" && value.utf8.allSatisfy { (0x30...0x39).contains($0) }
                members.append(JSONMember(name: name, value: isNumber ? .number(value) : .string(value)))
            }
        }
        guard members.contains(where: { $0.name == "kind" }) else { return nil }
        if !attributes.isEmpty { members.append(JSONMember(name: "attrs", value: .object(attributes))) }
        return Array(JSONValue.object(members).description.utf8)
    }

    /// The query of a request for `/m/SECRET/` at the mark host; nil for any other request.
    private static func query(of request: Request) -> Substring? {
        // In absolute-form the target names the host, whatever Host says (RFC 9112 §3.2.2).
        var named = request.authority.map { $0[...] }
        if let scheme = request.target.firstRange(of: "://"), !request.target.hasPrefix("/") {
            named = request.target[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" }
        }
        let target = request.pathAndQuery[...]
        guard let named, HostName.parse(authority: named)?.host == host, target.hasPrefix("/m/"),
            let mark = target.firstIndex(of: "?")
        else { return nil }
        return target[target.index(after: mark)...]
    }

    /// A name or value of `application/x-www-form-urlencoded` (URL Standard §5.1).
    private static func decoded(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "+") {
                bytes.append(UInt8(ascii: " "))
            } else if byte == UInt8(ascii: "%"), rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
