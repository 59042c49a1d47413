/// A request of the lab's device, or as one of its servers reads it. Bodies are framed by Content-Length alone.
public struct LabRequest: Sendable {
    /// `GET`, `POST` …
    public var method: String
    /// Path and query; the whole URL in proxy form.
    public var target: String
    /// Fields in order.
    public var fields: [(name: String, value: String)]
    /// The body.
    public var body: [UInt8]

    /// Makes a request.
    public init(_ method: String, _ target: String, fields: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.method = method
        self.target = target
        self.fields = fields
        self.body = body
    }

    /// The first field of that name, whatever its case.
    public func field(_ name: String) -> String? { fields.first(named: name) }

    /// The request as HTTP/1.1 writes it.
    var bytes: [UInt8] {
        var fields = fields
        if !body.isEmpty || method == "POST" { fields.append(("Content-Length", String(body.count))) }
        return head("\(method) \(target) HTTP/1.1", fields) + body
    }
}

/// A response of one of the lab's servers.
public struct LabResponse: Sendable {
    /// Its status code.
    public var status: Int
    /// Fields in order.
    public var fields: [(name: String, value: String)]
    /// The body.
    public var body: [UInt8]

    /// Makes a response.
    public init(_ status: Int, fields: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// A response with JSON in it.
    public static func json(_ status: Int, _ text: String) -> LabResponse {
        LabResponse(
            status, fields: [("Content-Type", "application/json"), ("Cache-Control", "no-store")],
            body: Array(text.utf8))
    }

    /// The first field of that name, whatever its case.
    public func field(_ name: String) -> String? { fields.first(named: name) }

    /// The body as text.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// The response as HTTP/1.1 writes it.
    var bytes: [UInt8] {
        let reason = [200: "OK", 201: "Created", 204: "No Content", 404: "Not Found"][status] ?? "Answer"
        return head("HTTP/1.1 \(status) \(reason)", fields + [("Content-Length", String(body.count))]) + body
    }
}

extension [(name: String, value: String)] {
    fileprivate func first(named name: String) -> String? {
        first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

private func head(_ line: String, _ fields: [(name: String, value: String)]) -> [UInt8] {
    Array((line + "\r\n" + fields.map { "\($0.name): \($0.value)\r\n" }.joined() + "\r\n").utf8)
}

/// A message whose parts have not been given their meaning yet.
struct LabMessage {
    /// Most bytes of a message: what the lab sends is far smaller.
    static let limit = 4 << 20

    var startLine: [String]
    var fields: [(name: String, value: String)]
    var body: [UInt8]

    /// The first whole message in `buffer`, taken out of it; nil while it is not whole.
    static func take(from buffer: inout [UInt8], bodyless: Bool = false) throws(LabError) -> LabMessage? {
        guard buffer.count <= limit else { throw LabError("a message of more than \(limit) bytes") }
        let end: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A]
        guard let headEnd = buffer.indices.dropLast(3).first(where: { buffer[$0..<$0 + 4].elementsEqual(end) }) else {
            return nil
        }
        let lines = String(decoding: buffer[..<headEnd], as: UTF8.self).split(separator: "\r\n")
        guard let first = lines.first else { throw LabError("an empty head") }
        var message = LabMessage(startLine: first.split(separator: " ").map(String.init), fields: [], body: [])
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { throw LabError("a field line without a colon: \(line)") }
            message.fields.append(
                (String(line[..<colon]), String(line[line.index(after: colon)...].drop { $0 == " " })))
        }
        let length = bodyless ? 0 : message.fields.first(named: "content-length").flatMap { Int($0) } ?? 0
        guard (0...limit).contains(length) else { throw LabError("a body of \(length) bytes") }
        guard buffer.count >= headEnd + 4 + length else { return nil }
        message.body = Array(buffer[headEnd + 4..<headEnd + 4 + length])
        buffer.removeFirst(headEnd + 4 + length)
        return message
    }
}

/// What went wrong in the lab itself, in words.
public struct LabError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One line.
    public var description: String

    /// Makes an error.
    public init(_ description: String) {
        self.description = description
    }
}
