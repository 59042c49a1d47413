/// What the `Sec-WebSocket-Extensions` of a 101 response agreed on (RFC 6455 §9.1, RFC 7692 §7.1).
struct WebSocketExtensions: Hashable {
    /// The parameters of permessage-deflate.
    struct Deflate: Hashable {
        /// `client_no_context_takeover`: each of the client's messages is compressed on its own.
        var clientForgetsContext = false
        /// `server_no_context_takeover`.
        var serverForgetsContext = false
    }

    /// permessage-deflate, when it was agreed on.
    private(set) var deflate: Deflate?
    /// Other extensions, which are not read.
    private(set) var unknown: [String] = []

    /// Reads the field's values. Window sizes (`*_max_window_bits`) need no notice: a 32 KiB window reads them all.
    init(_ fieldValues: [String]) {
        for item in fieldValues.flatMap({ $0.split(separator: ",") }) {
            let parts = item.split(separator: ";").map(Self.trimmed)
            guard let name = parts.first, !name.isEmpty else { continue }
            guard name == "permessage-deflate" else {
                unknown.append(name)
                continue
            }
            var agreed = Deflate()
            for parameter in parts.dropFirst() {
                switch parameter.split(separator: "=").first.map(Self.trimmed) {
                case "client_no_context_takeover": agreed.clientForgetsContext = true
                case "server_no_context_takeover": agreed.serverForgetsContext = true
                default: break
                }
            }
            deflate = deflate ?? agreed
        }
    }

    private static func trimmed(_ text: Substring) -> String {
        var rest = text.drop { $0 == " " || $0 == "\t" }
        while let last = rest.last, last == " " || last == "\t" { rest.removeLast() }
        return rest.lowercased()
    }
}
