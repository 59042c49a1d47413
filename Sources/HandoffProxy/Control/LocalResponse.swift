internal import SessionTrace

/// A response of one of our own services.
struct LocalResponse: Hashable, Sendable {
    /// The status code.
    var status: Int
    /// The fields besides those that `bytes` adds.
    var fields: [Field] = []
    /// The content.
    var body: [UInt8] = []

    /// A field line.
    struct Field: Hashable, Sendable {
        var name: String
        var value: String
    }

    /// A response with content of a media type.
    init(_ status: Int = 200, type: String, _ body: [UInt8], _ fields: [Field] = []) {
        self.status = status
        self.fields = [Field(name: "Content-Type", value: type)] + fields
        self.body = body
    }

    /// A response without content.
    init(_ status: Int, _ fields: [Field] = []) {
        self.status = status
        self.fields = fields
    }

    /// JSON, with a line end for people at a terminal.
    static func json(_ status: Int, _ value: JSONValue, _ fields: [Field] = []) -> LocalResponse {
        LocalResponse(status, type: "application/json", Array("\(value)\n".utf8), fields)
    }

    /// A refusal: one sentence, as JSON.
    static func refusal(_ status: Int, _ sentence: String, _ fields: [Field] = []) -> LocalResponse {
        json(status, .object([JSONMember(name: "error", value: .string(sentence))]), fields)
    }

    /// The response as it is sent. Nothing of ours is ever cached, sniffed or framed.
    ///
    /// - Parameters:
    ///   - isHead: the request was HEAD, so that the content is left out and its length told.
    ///   - keepsAlive: another request may follow on the connection.
    func bytes(isHead: Bool = false, keepsAlive: Bool, at now: Instant) -> [UInt8] {
        var head = head(at: now)
        // RFC 9110 §8.6: no length with 204.
        if status != 204 { head += "Content-Length: \(body.count)\r\n" }
        head += "Connection: \(keepsAlive ? "keep-alive" : "close")\r\n\r\n"
        return Array(head.utf8) + (isHead || status == 204 ? [] : body)
    }

    /// The head of a response whose content runs until the connection closes, as server-sent events do.
    func openHead(at now: Instant) -> [UInt8] {
        Array((head(at: now) + "Connection: close\r\n\r\n").utf8)
    }

    private func head(at now: Instant) -> String {
        var head = "HTTP/1.1 \(status) \(Self.reason(status))\r\nDate: \(now.httpDate)\r\n"
        for field in fields { head += "\(field.name): \(Self.oneLine(field.value))\r\n" }
        if !fields.contains(where: { $0.name == "Cache-Control" }) { head += "Cache-Control: no-store\r\n" }
        return head + "X-Content-Type-Options: nosniff\r\n"
    }

    /// A value can't end its line, whatever it was made of.
    private static func oneLine(_ value: String) -> String {
        String(value.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F })
    }

    private static func reason(_ status: Int) -> String {
        switch status {
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 204: "No Content"
        case 303: "See Other"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 413: "Content Too Large"
        case 415: "Unsupported Media Type"
        case 417: "Expectation Failed"
        case 421: "Misdirected Request"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 501: "Not Implemented"
        case 503: "Service Unavailable"
        case 505: "HTTP Version Not Supported"
        case 507: "Insufficient Storage"
        default: status < 400 ? "OK" : "Error"
        }
    }
}

extension Instant {
    /// The instant as an HTTP date (RFC 9110 §5.6.7): `Sun, 29 Nov 2026 12:00:00 GMT`.
    var httpDate: String {
        let text = rfc3339
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        let seconds = nanoseconds / 1_000_000_000 - (nanoseconds % 1_000_000_000 < 0 ? 1 : 0)
        let dayNumber = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
        let weekday = days[Int((dayNumber % 7 + 7) % 7)]
        let parts = text.split(whereSeparator: { $0 == "-" || $0 == "T" || $0 == "." })
        let month = parts.count > 3 ? months[max(0, min(11, (Int(parts[1]) ?? 1) - 1))] : ""
        return parts.count > 3 ? "\(weekday), \(parts[2]) \(month) \(parts[0]) \(parts[3]) GMT" : text
    }
}
