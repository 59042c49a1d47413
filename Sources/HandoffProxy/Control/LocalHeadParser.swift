internal import SessionTrace

/// Reads the lines of one request head, strictly (RFC 9112 §3, §5, §6).
struct LocalHeadParser {
    /// Why a head is refused.
    struct Fault: Error, Equatable {
        var status: Int
        var sentence: String
    }

    /// How the content's end is found.
    enum Framing: Equatable {
        case length(Int)
        case chunked
    }

    /// A head as read.
    struct Head: Equatable {
        var request: LocalRequest
        var framing: Framing
        var expectsContinue: Bool
    }

    let fieldLimit: Int

    /// Parses the lines without their ends.
    func parse(_ lines: [ArraySlice<UInt8>]) throws(Fault) -> Head {
        guard let first = lines.first else { throw Fault(status: 400, sentence: "an empty request") }
        var (request, isHTTP10) = try requestLine(first)
        guard lines.count <= fieldLimit + 1 else {
            throw Fault(status: 431, sentence: "more than \(fieldLimit) fields")
        }
        for line in lines.dropFirst() {
            let (name, value) = try fieldLine(line)
            request.fields.append(name: name, value: value)
        }
        let hosts = request.fields.values("host")
        guard hosts.count <= 1 else { throw Fault(status: 400, sentence: "more than one Host field") }
        if !isHTTP10, hosts.isEmpty { throw Fault(status: 400, sentence: "no Host field") }
        if request.authority == nil { request.authority = hosts.first }
        let connection = request.fields.values("connection").joined(separator: ",").lowercased()
        let options = connection.split(whereSeparator: { $0 == "," || $0 == " " || $0 == "\t" })
        request.keepsAlive = isHTTP10 ? options.contains("keep-alive") : !options.contains("close")
        let framing = try framing(of: request, isHTTP10: isHTTP10)
        let expectation = request.fields.first("expect")?.lowercased()
        if let expectation, expectation != "100-continue" {
            throw Fault(status: 417, sentence: "an expectation other than 100-continue")
        }
        return Head(request: request, framing: framing, expectsContinue: expectation != nil && !isHTTP10)
    }

    private func requestLine(_ line: ArraySlice<UInt8>) throws(Fault) -> (LocalRequest, isHTTP10: Bool) {
        let parts = line.split(separator: 0x20, omittingEmptySubsequences: false)
        let malformed = Fault(status: 400, sentence: "a malformed request line")
        guard parts.count == 3, !parts[0].isEmpty, parts[0].allSatisfy(Self.isTokenByte) else { throw malformed }
        let target = parts[1]
        guard !target.isEmpty, target.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { throw malformed }
        let version = String(decoding: parts[2], as: UTF8.self)
        guard version.hasPrefix("HTTP/"), version.utf8.count == 8 else { throw malformed }
        guard version == "HTTP/1.1" || version == "HTTP/1.0" else {
            throw Fault(status: 505, sentence: "only HTTP/1.0 and HTTP/1.1 are spoken here")
        }
        let method = String(decoding: parts[0], as: UTF8.self)
        let text = String(decoding: target, as: UTF8.self)
        let isHTTP10 = version == "HTTP/1.0"
        if text.hasPrefix("/") || text == "*" {
            return (LocalRequest(method: method, target: text, authority: nil), isHTTP10)
        }
        let lower = text.lowercased()
        for scheme in ["http://", "https://"] where lower.hasPrefix(scheme) {
            let rest = text.dropFirst(scheme.count)
            let authority = rest.prefix { $0 != "/" && $0 != "?" }
            let path = rest.dropFirst(authority.count)
            guard HostName.parse(authority: authority) != nil else { throw malformed }
            let target = path.hasPrefix("/") ? String(path) : "/" + path
            return (
                LocalRequest(method: method, target: target, authority: String(authority), isAbsoluteForm: true),
                isHTTP10
            )
        }
        throw malformed
    }

    private func fieldLine(_ line: ArraySlice<UInt8>) throws(Fault) -> (ArraySlice<UInt8>, ArraySlice<UInt8>) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
            line[..<colon].allSatisfy(Self.isTokenByte)
        else { throw Fault(status: 400, sentence: "a malformed field line") }
        var value = line[(colon + 1)...]
        while let first = value.first, first == 0x20 || first == 0x09 { value = value.dropFirst() }
        while let last = value.last, last == 0x20 || last == 0x09 { value = value.dropLast() }
        guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
            throw Fault(status: 400, sentence: "a control character in a field")
        }
        return (line[..<colon], value)
    }

    private func framing(of request: LocalRequest, isHTTP10: Bool) throws(Fault) -> Framing {
        let lengths = request.fields.values("content-length")
        let codings = request.fields.values("transfer-encoding")
        guard codings.isEmpty else {
            guard lengths.isEmpty else { throw Fault(status: 400, sentence: "a length and a transfer coding") }
            guard !isHTTP10, codings.count == 1, codings[0].lowercased() == "chunked" else {
                throw Fault(status: 501, sentence: "no transfer coding but chunked is known here")
            }
            return .chunked
        }
        guard let length = lengths.first else { return .length(0) }
        guard lengths.count == 1, (1...18).contains(length.utf8.count),
            length.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = Int(length)
        else { throw Fault(status: 400, sentence: "a Content-Length that is not one number") }
        return .length(count)
    }

    /// RFC 9110 §5.6.2.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
