internal import SessionTrace

/// One HTTP/1.1 request to a service of our own: the set-up page, a mark, the control API.
struct LocalRequest: Hashable, Sendable {
    /// The method as sent; methods are case-sensitive (RFC 9110 §9.1).
    var method: String
    /// Path and query as sent; of an absolute-form target the part behind the authority, `/` at least.
    var target: String
    /// Host and port of the target in absolute form, else the Host field; nil when there is neither.
    var authority: String?
    /// Whether the target came in absolute form, as clients send it to a proxy (RFC 9112 §3.2.2).
    var isAbsoluteForm = false
    /// The fields in wire order.
    var fields = FieldSection()
    /// The whole content.
    var body: [UInt8] = []
    /// Whether the connection may carry another request afterwards (RFC 9112 §9.3).
    var keepsAlive = true

    /// The path as sent, without the query.
    var path: String { String(target.prefix { $0 != "?" }) }

    /// The query without its question mark; nil when there is none.
    var query: String? {
        guard let mark = target.firstIndex(of: "?") else { return nil }
        return String(target[target.index(after: mark)...])
    }

    /// The name and port that the request is for.
    var host: (name: HostName, port: UInt16?)? {
        guard let parts = authority.flatMap({ HostName.parse(authority: $0) }) else { return nil }
        return (parts.host, parts.port)
    }

    /// Whether `Accept` asks for HTML before anything else is known, as a browser's navigation does.
    var wantsHTML: Bool { fields.values("accept").contains { $0.lowercased().contains("text/html") } }

    /// The media type of the content, lower case and without parameters; nil when none is given.
    var contentType: String? {
        fields.first("content-type").map { value in
            String(value.prefix { $0 != ";" }).split(separator: " ").joined().lowercased()
        }
    }
}

/// Names and values of a query or of a form (application/x-www-form-urlencoded, WHATWG URL §5.1).
enum FormText {
    /// Most pairs that are read; the rest is left out.
    static let pairLimit = 64

    /// The pairs in order, `+` read as a space, percent escapes undone. Nil when an escape is broken or the text is no UTF-8.
    static func pairs(_ text: String) -> [(name: String, value: String)]? {
        var pairs: [(name: String, value: String)] = []
        for piece in text.utf8.split(separator: UInt8(ascii: "&")).prefix(pairLimit) {
            let halves = piece.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = decoded(halves[0]) else { return nil }
            guard let value = halves.count > 1 ? decoded(halves[1]) : "" else { return nil }
            pairs.append((name, value))
        }
        return pairs
    }

    private static func decoded(_ text: Substring.UTF8View.SubSequence) -> String? {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(nibble), let low = rest.popFirst().flatMap(nibble) else {
                    return nil
                }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func nibble(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }
}
