internal import SessionTrace
internal import WireFormats

/// Why a request can't be passed on: what a proxy answers, and one plain sentence.
struct RequestRefusal: Error, Hashable, Sendable {
    /// The status to answer: 400, 431 or 501.
    var status = 400
    /// One sentence that names the fault.
    var sentence: String
}

/// The head of an HTTP/1 request whose reading is the only one possible (RFC 9112 §2 to §6), with all its bytes as they
/// came.
///
/// A capture reader has to make the best of every head. Whoever *passes on* a head must not: where a recipient could read
/// it in another way, the connection's next bytes would belong to somebody else's request. So bare line feeds, folds,
/// white space around names, a second Content-Length or Host, and codings without an end are refused here.
struct RequestHead: Hashable, Sendable {
    /// One field line.
    struct Field: Hashable, Sendable {
        /// The whole line with its CRLF.
        var line: Range<Int>
        /// The name.
        var name: Range<Int>
        /// The value without white space around it.
        var value: Range<Int>
    }

    /// How the end of the content is found.
    enum Framing: Hashable, Sendable {
        case none
        /// So many bytes; may be 0.
        case length(Int)
        case chunked
    }

    /// From the first byte of the request line to the end of the empty line.
    let bytes: [UInt8]
    /// Where the method lies; the line begins with it.
    let method: Range<Int>
    /// Where the target lies.
    let target: Range<Int>
    /// Whether the version is HTTP/1.0; any other is 1.1 or a later minor version (RFC 9110 §2.5).
    let isHTTP10: Bool
    /// The field lines in order.
    let fields: [Field]
    /// How the end of the content is found.
    let framing: Framing

    /// Most field lines of one head.
    static let fieldLimit = 4_096

    /// The request line ends here: the offset after its CRLF.
    var requestLineEnd: Int { fields.first?.line.lowerBound ?? bytes.count - 2 }

    /// The method as text; it is ASCII.
    var methodText: String { text(method) }

    /// Bytes of the head as text; what is not UTF-8 is replaced.
    func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    /// Reads a whole head, from the first byte of the request line to the end of the empty line.
    init(_ bytes: [UInt8]) throws(RequestRefusal) {
        var lines: [Range<Int>] = []
        var start = 0
        while start < bytes.count {
            let lineFeed = bytes[start...].firstIndex(of: 0x0A) ?? bytes.count
            guard lineFeed < bytes.count, lineFeed > start, bytes[lineFeed - 1] == 0x0D else {
                throw RequestRefusal(sentence: "A line of the request's head does not end with CR LF.")
            }
            lines.append(start..<lineFeed - 1)
            start = lineFeed + 1
        }
        guard let first = lines.first, lines.count >= 2, lines.last?.isEmpty == true else {
            throw RequestRefusal(sentence: "The request's head has no end.")
        }
        let line = try Self.requestLine(bytes[first])
        guard lines.count - 2 <= Self.fieldLimit else {
            throw RequestRefusal(status: 431, sentence: "The request has more than \(Self.fieldLimit) header fields.")
        }
        var fields: [Field] = []
        fields.reserveCapacity(lines.count - 2)
        var framing = FramingFields()
        var transferFields = 0
        for range in lines.dropFirst().dropLast() {
            let field = try Self.field(bytes, range)
            fields.append(field)
            if field.name.count == 17, Self.equal(bytes[field.name], "transfer-encoding") { transferFields += 1 }
            bytes.withUnsafeBytes {
                framing.note(
                    name: UnsafeRawBufferPointer(rebasing: $0[field.name]),
                    value: UnsafeRawBufferPointer(rebasing: $0[field.value]))
            }
        }
        guard framing.hostCount <= 1 else {
            throw RequestRefusal(sentence: "The request has more than one Host field.")
        }
        self.bytes = bytes
        method = line.method
        target = line.target
        isHTTP10 = line.isHTTP10
        self.fields = fields
        self.framing = try Self.framing(framing, transferFields: transferFields, isHTTP10: line.isHTTP10)
    }

    /// Whether some field has this name, which is given in lower case.
    func has(_ name: StaticString) -> Bool { fields.contains { Self.equal(bytes[$0.name], name) } }

    /// Whether a field of this name, given in lower case, has `token` in its comma-separated list.
    func has(_ name: StaticString, token: StaticString) -> Bool {
        fields.contains { field in
            Self.equal(bytes[field.name], name) && members(of: field).contains { Self.equal(bytes[$0], token) }
        }
    }

    /// The members of a field's comma-separated list, without white space around them and without empty ones.
    func members(of field: Field) -> [Range<Int>] {
        bytes[field.value].split(separator: 0x2C).compactMap { member in
            let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
            guard let first = member.firstIndex(where: { !isSpace($0) }),
                let last = member.lastIndex(where: { !isSpace($0) })
            else { return nil }
            return first..<last + 1
        }
    }

    /// Whether `bytes` equals `name`, which is lower case, without regard to ASCII case.
    static func equal(_ bytes: ArraySlice<UInt8>, _ name: StaticString) -> Bool {
        bytes.withUnsafeBytes { ByteSearch.equalsIgnoringCase($0, name) }
    }
}

extension RequestHead {
    struct RequestLine {
        var method: Range<Int>
        var target: Range<Int>
        var isHTTP10: Bool
    }

    /// Reads a request line without its CRLF: `method SP target SP HTTP/1.x` and nothing else (RFC 9112 §3).
    static func requestLine(_ line: ArraySlice<UInt8>) throws(RequestRefusal) -> RequestLine {
        let notALine = RequestRefusal(sentence: "The request line is not METHOD, target and HTTP version.")
        let parts = line.split(separator: 0x20, omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[0].isEmpty, parts[0].allSatisfy(ByteSearch.isTokenByte), !parts[1].isEmpty else {
            throw notALine
        }
        guard parts[1].allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw RequestRefusal(sentence: "The request target holds a control character.")
        }
        let version = Array(parts[2])
        guard version.count == 8, version[..<7].elementsEqual("HTTP/1.".utf8), version[7] &- 0x30 < 10 else {
            throw version.starts(with: "HTTP/".utf8)
                ? RequestRefusal(sentence: "This proxy speaks HTTP/1.0 and HTTP/1.1 only.") : notALine
        }
        return RequestLine(method: parts[0].indices, target: parts[1].indices, isHTTP10: version[7] == 0x30)
    }

    /// Reads a field line without its CRLF (RFC 9112 §5).
    static func field(_ bytes: [UInt8], _ range: Range<Int>) throws(RequestRefusal) -> Field {
        let line = bytes[range]
        if line.first == 0x20 || line.first == 0x09 {
            throw RequestRefusal(sentence: "A header field is folded over two lines.")
        }
        guard let colon = line.firstIndex(of: 0x3A), colon > range.lowerBound else {
            throw RequestRefusal(sentence: "A line of the request's head is no header field.")
        }
        let name = range.lowerBound..<colon
        guard bytes[name].allSatisfy(ByteSearch.isTokenByte) else {
            let last = bytes[colon - 1]
            throw RequestRefusal(
                sentence: last == 0x20 || last == 0x09
                    ? "A header field has white space before its colon."
                    : "The name of a header field holds a character that is not allowed there.")
        }
        var value = colon + 1..<range.upperBound
        guard !bytes[value].contains(where: { $0 == 0 || $0 == 0x0D }) else {
            throw RequestRefusal(sentence: "The value of a header field holds a NUL or a bare CR.")
        }
        while let first = bytes[value].first, first == 0x20 || first == 0x09 {
            value = value.lowerBound + 1..<value.upperBound
        }
        while let last = bytes[value].last, last == 0x20 || last == 0x09 {
            value = value.lowerBound..<value.upperBound - 1
        }
        return Field(line: range.lowerBound..<range.upperBound + 2, name: name, value: value)
    }

    /// RFC 9112 §6.3, where it is not ambiguous.
    private static func framing(
        _ fields: FramingFields, transferFields: Int, isHTTP10: Bool
    ) throws(RequestRefusal) -> Framing {
        switch (fields.transfer, fields.length) {
        case (.absent, .absent): return .none
        case (.absent, .one(let count)): return .length(count)
        case (.absent, .repeated), (.absent, .conflicting):
            throw RequestRefusal(sentence: "The request gives its Content-Length more than once.")
        case (.absent, .invalid): throw RequestRefusal(sentence: "The request's Content-Length is no number.")
        case (.chunked, .absent):
            guard transferFields == 1 else {
                throw RequestRefusal(sentence: "The request has more than one Transfer-Encoding field.")
            }
            guard !isHTTP10 else {
                throw RequestRefusal(sentence: "An HTTP/1.0 request can't have a Transfer-Encoding.")
            }
            return .chunked
        case (.other, .absent):
            throw RequestRefusal(sentence: "The request's Transfer-Encoding does not end in chunked.")
        case (.chunked, _), (.other, _):
            throw RequestRefusal(sentence: "The request has both a Content-Length and a Transfer-Encoding.")
        }
    }
}
