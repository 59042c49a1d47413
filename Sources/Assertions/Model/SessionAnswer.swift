internal import ContentCodings
internal import SessionTrace

/// What a session response holds that rules need: the handoff URL, and strings that name the session.
struct SessionAnswer: Hashable, Sendable {
    /// The handoff URL; nil when there is none.
    var url: String?
    /// Its token, prefix included.
    var token: String?
    /// Strings of eight characters or more whose field name ends in `id`, with that name.
    var identifiers: [(name: String, value: String)] = []

    /// URLs with a token that begin with `http://`.
    var plainURLs = 0
    /// Without a handoff URL: whether there is an https URL on a host where one may be, but with no token in it.
    var hasURLWithoutToken = false
    /// How long the URL lives, where the response says so.
    var lifetime: SessionLifetime?

    /// Bytes of a response that are decoded.
    static let limit = 1 << 20
    /// Identifiers kept.
    static let identifierLimit = 32

    static func == (lhs: SessionAnswer, rhs: SessionAnswer) -> Bool {
        lhs.url == rhs.url && lhs.token == rhs.token
            && lhs.identifiers.map(\.value) == rhs.identifiers.map(\.value)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(url) }

    init() {}

    /// Reads a response's body. `isChia` says which hosts a handoff URL may be on: such a URL is preferred.
    init(_ response: Response, isChia: (HostName) -> Bool) {
        let bytes = MessageContent.decoded(response.body.bytes, response.fields, limit: Self.limit)
        guard let value = try? JSONValue.parse(bytes, limits: JSONLimits(bytes: Self.limit, depth: 64, values: 50_000))
        else { return }
        var urls: [(url: String, token: String)] = []
        var others: [String] = []
        walk(value, name: "", urls: &urls, others: &others)
        let chosen = urls.first { WebAddress($0.url).map { isChia($0.host) } ?? false } ?? urls.first
        url = chosen?.url
        token = chosen?.token
        if url != nil { lifetime = SessionLifetime(value, response.fields) }
        hasURLWithoutToken =
            url == nil && others.contains { WebAddress($0).map { isChia($0.host) } ?? false }
        identifiers.removeAll { $0.value == chosen?.url || $0.value == chosen?.token }
    }

    private mutating func walk(
        _ value: JSONValue, name: String, urls: inout [(url: String, token: String)], others: inout [String]
    ) {
        switch value {
        case .object(let members):
            for member in members { walk(member.value, name: member.name, urls: &urls, others: &others) }
        case .array(let elements):
            for element in elements { walk(element, name: name, urls: &urls, others: &others) }
        case .string(let text):
            if text.prefix(8).lowercased() == "https://" {
                if let token = Token.first(in: text) {
                    if urls.count < 16 { urls.append((text, token)) }
                } else if others.count < 16 {
                    others.append(text)
                }
            } else if text.prefix(7).lowercased() == "http://", Token.first(in: text) != nil, plainURLs < 16 {
                plainURLs += 1
            }
            if name.lowercased().hasSuffix("id"), text.utf8.count >= 8, identifiers.count < Self.identifierLimit {
                identifiers.append((name, text))
            }
        case .null, .bool, .number:
            return
        }
    }
}

/// The content of a message with its content codings undone.
enum MessageContent {
    /// Decodes what can be decoded, at most `limit` bytes.
    static func decoded(_ bytes: [UInt8], _ fields: FieldSection, limit: Int) -> [UInt8] {
        let codings = ContentCodings.tokens(fields.values("content-encoding"))
        guard !codings.isEmpty else { return Array(bytes.prefix(limit)) }
        return ContentCodings.decodeAll(bytes, codings: codings, limit: limit).bytes
    }

    /// Whether the content is JSON by its media type (`application/json`, `application/problem+json`).
    static func isJSON(_ fields: FieldSection) -> Bool {
        guard let field = fields.fields.first(where: { $0.isKnown && fields.hasName($0, "content-type") }) else {
            return false
        }
        let value = fields.valueBytes(field).prefix { $0 != 0x3B }
        let word = Array("json".utf8)
        return value.indices.dropLast(3).contains { start in
            (0..<4).allSatisfy { value[start + $0] | 0x20 == word[$0] }
        }
    }

    /// Whether the content is a stream of events (WHATWG HTML §9.2).
    static func isEventStream(_ fields: FieldSection) -> Bool {
        BodyFacts.mediaType(fields) == "text/event-stream"
    }

    /// Whether content that is not said to be JSON begins with an object or a list: at once, behind space, or in the line
    /// below one that keeps pages from running it as a script (`)]}',`). In the second line of a page, a style sheet or a
    /// script of their own, such a character begins a block of code.
    static func beginsJSON(_ bytes: [UInt8], mediaType: String) -> Bool {
        let isCode = ["html", "css", "javascript", "ecmascript"].contains { mediaType.contains($0) }
        let lines = bytes.prefix(64).split(separator: 0x0A).prefix(isCode ? 1 : 2)
        return lines.contains { line in line.first { $0 > 0x20 }.map { $0 == 0x7B || $0 == 0x5B } ?? false }
    }

    /// Whether decoded content is one JSON text, as far as projections are read.
    static func isReadableJSON(_ bytes: [UInt8]) -> Bool {
        (try? JSONValue.parse(bytes, limits: Projection.jsonLimits)) != nil
    }

    /// Whether a path holds one of the words by which status and order calls are called, anywhere and in any case.
    static func mayNameStatus(_ path: String) -> Bool {
        let words = [Array("status".utf8), Array("order".utf8)]
        var path = path
        return path.withUTF8 { bytes in
            words.contains { word in
                bytes.count >= word.count
                    && (0...bytes.count - word.count).contains { start in
                        bytes[start] | 0x20 == word[0]
                            && word.indices.allSatisfy { bytes[start + $0] | 0x20 == word[$0] }
                    }
            }
        }
    }

    /// Whether `bytes` hold `needle`.
    static func contains(_ bytes: [UInt8], _ needle: StaticString) -> Bool {
        needle.withUTF8Buffer { needle in
            bytes.withUnsafeBytes { ByteSearch.contains(UnsafeRawBufferPointer(needle), in: $0) }
        }
    }
}
