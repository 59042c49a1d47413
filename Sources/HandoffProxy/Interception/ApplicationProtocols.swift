/// The list of an ALPN extension (RFC 7301 §3.1) as it stands on the wire: names, each after its length byte.
struct ApplicationProtocols: Hashable, Sendable {
    /// The list's bytes, without the two bytes of its own length.
    let list: [UInt8]

    /// Takes a list as it stood in a hello.
    init(list: [UInt8]) {
        self.list = list
    }

    /// Whether the list can be offered: every name has a length from 1 up and is whole. An empty list stands for "no
    /// extension".
    var isWellFormed: Bool {
        var rest = list[...]
        while let length = rest.first {
            guard length > 0, rest.count > Int(length) else { return false }
            rest = rest.dropFirst(1 + Int(length))
        }
        return true
    }

    /// The names, bytes outside UTF-8 replaced. Stops at the first that is cut.
    var names: [String] {
        var names: [String] = []
        var rest = list[...]
        while let length = rest.first, rest.count > Int(length) {
            names.append(String(decoding: rest.dropFirst().prefix(Int(length)), as: UTF8.self))
            rest = rest.dropFirst(1 + Int(length))
        }
        return names
    }

    /// The list without what is not HTTP/1, for a host whose exchanges are to be tampered with in HTTP/1 alone. Nil when
    /// names were offered and none is left: such a client can't be held to HTTP/1.
    var restrictedToHTTP1: ApplicationProtocols? {
        var kept: [UInt8] = []
        var rest = list[...]
        while let length = rest.first, rest.count > Int(length) {
            let name = rest.dropFirst().prefix(Int(length))
            if name.elementsEqual("http/1.1".utf8) || name.elementsEqual("http/1.0".utf8) {
                kept.append(length)
                kept += name
            }
            rest = rest.dropFirst(1 + Int(length))
        }
        return kept.isEmpty && !list.isEmpty ? nil : ApplicationProtocols(list: kept)
    }
}
