import Assertions
import Foundation
import SessionTrace

/// A place of what a device sends, and how a value gets there.
struct LeakPlace: Sendable, CustomStringConvertible {
    /// What a place can carry.
    enum Capacity: Sendable {
        /// A name: up to 63 letters, digits, `-` and `_`, whose case is lost.
        case name
        /// One line of text.
        case line
        /// Text in lines.
        case text
        /// Any bytes.
        case binary
    }

    /// What is scanned.
    enum Carrier: Sendable {
        case request(Request)
        case message([UInt8])
        case lookup([UInt8])
    }

    var location: String
    var structure: [String] = []
    var capacity: Capacity
    var name: String
    var carry: @Sendable ([UInt8]) -> Carrier

    var description: String { ([location] + structure + [name]).joined(separator: " ") }

    /// Whether `bytes` under these layers can stand there.
    func canCarry(_ bytes: [UInt8], _ chain: [SampleEncoding]) -> Bool {
        switch capacity {
        case .binary: return true
        case .text: return chain.first?.isText ?? true
        case .line:
            // A cookie ends at a semicolon, and what was turned round is no escape that a file name could carry.
            if location.hasPrefix("cookie"), bytes.contains(0x3B) { return false }
            if name == "file name", chain.contains(.reversed) { return false }
            return chain.first.map { $0.isText && !$0.hasLines } ?? true
        case .name:
            return bytes.count <= 180
                && chain.allSatisfy { [.base32, .base32Lower, .base32Hex, .hexLower, .hexUpper].contains($0) }
                && bytes.allSatisfy { ScannerSamples.isNameByte($0) }
        }
    }

    func scan(_ bytes: [UInt8], with scanner: inout LeakScanner) -> (result: ScanResult, root: [UInt8]) {
        switch carry(bytes) {
        case .request(let request): (scanner.scan(request), Self.root(of: request, at: location))
        case .message(let payload): (scanner.scan(bytes: payload, location: "message"), payload)
        case .lookup(let name):
            (
                scanner.scan(
                    NameLookup(
                        connection: ConnectionID(0), seen: ScannerSamples.at, isResponse: false, isMulticast: false,
                        name: nil, rawName: name, type: 1)), name.filter { $0 != 0x2E }
            )
        }
    }

    private static func root(of request: Request, at location: String) -> [UInt8] {
        switch location {
        case "path": Array(request.path.utf8)
        case "query:u": Array(request.pathAndQuery.split(separator: "&")[1].utf8)
        case "header:referer": Array((request.fields.first("referer") ?? "").utf8)
        case "header:authorization": Array((request.fields.first("authorization") ?? "").utf8)
        case "cookie:last": Array((request.fields.first("cookie") ?? "").split(separator: ";")[1].utf8)
        case "trailer:x-note": Array((request.trailers.first("x-note") ?? "").utf8)
        default: request.body.bytes
        }
    }

    private static func body(_ name: String, _ capacity: Capacity, _ body: @escaping @Sendable ([UInt8]) -> [UInt8])
        -> LeakPlace
    {
        LeakPlace(location: "body", capacity: capacity, name: name) {
            .request(ScannerSamples.request(body: body($0)))
        }
    }

    /// Places of RULES 2.2 whose structure a report names.
    static let structured: [LeakPlace] = [
        LeakPlace(location: "path", capacity: .line, name: "") {
            .request(ScannerSamples.request("/a/" + text(inURL: $0) + "/b?x=1"))
        },
        LeakPlace(location: "query:u", capacity: .line, name: "") {
            .request(ScannerSamples.request("/a?k=1&u=" + text(inURL: $0) + "&z=2"))
        },
        LeakPlace(location: "header:referer", capacity: .line, name: "") {
            .request(
                ScannerSamples.request(fields: [("Referer", String(decoding: $0, as: UTF8.self)), ("Accept", "*/*")]))
        },
        LeakPlace(location: "cookie:last", capacity: .line, name: "") {
            .request(
                ScannerSamples.request(fields: [
                    ("Cookie", "sid=1; last=" + String(decoding: $0, as: UTF8.self) + "; c=3")
                ]
                ))
        },
        LeakPlace(location: "trailer:x-note", capacity: .line, name: "") {
            .request(ScannerSamples.request(trailers: [("X-Note", String(decoding: $0, as: UTF8.self))]))
        },
        body("whole", .binary) { $0 },
        LeakPlace(
            location: "body", structure: ["json:/events/1/props/link"], capacity: .text, name: ""
        ) {
            .request(
                ScannerSamples.request(
                    fields: [("Content-Type", "application/json")],
                    body: Array("{\"events\":[{\"n\":1},{\"props\":{\"kind\":\"nav\",\"link\":".utf8)
                        + SampleEncoding.jsonEscaped($0) + Array("}}],\"sent\":true}".utf8)))
        },
        LeakPlace(location: "body", structure: ["form:data"], capacity: .text, name: "") {
            .request(
                ScannerSamples.request(
                    fields: [("Content-Type", "application/x-www-form-urlencoded")],
                    body: Array("v=1&data=\(text(inURL: $0))&tid=UA-1".utf8)))
        },
        LeakPlace(location: "body", structure: ["multipart:report"], capacity: .binary, name: "") {
            .request(
                ScannerSamples.request(
                    fields: [("Content-Type", "multipart/form-data; boundary=\"b0unDary\"")],
                    body: Array(
                        ("--b0unDary\r\nContent-Disposition: form-data; name=\"kind\"\r\n\r\ncrash\r\n--b0unDary\r\n"
                            + "Content-Disposition: form-data; name=\"report\"; filename=\"r.bin\"\r\n\r\n").utf8) + $0
                        + Array("\r\n--b0unDary--\r\n".utf8)))
        },
        LeakPlace(location: "body", structure: ["line:3", "json:/message"], capacity: .text, name: "") {
            .request(
                ScannerSamples.request(
                    body: Array("{\"event_id\":\"9\"}\n{\"type\":\"event\"}\n{\"level\":\"error\",\"message\":".utf8)
                        + SampleEncoding.jsonEscaped($0) + Array("}\n".utf8)))
        },
    ]

    /// The others: containers that hold a value as it is, among their own bytes.
    static let containers: [LeakPlace] = [
        LeakPlace(location: "message", capacity: .binary, name: "WebSocket") {
            .message([0x01] + $0 + [0x02])
        },
        LeakPlace(location: "dns-name", capacity: .name, name: "labels") {
            let labels = stride(from: 0, to: $0.count, by: 60).map { [bytes = $0] start in
                String(decoding: bytes[start..<min(start + 60, bytes.count)], as: UTF8.self)
            }
            return .lookup(Array((labels + ["x", "sink", "example"]).joined(separator: ".").utf8))
        },
        body("protobuf") { [0x08, 0x96, 0x01] + [0x32] + varint($0.count) + $0 + [0x42, 0x01, 0x41] },
        body("gRPC") {
            let message = [0x0A] + varint($0.count) + $0 + [0x10, 0x01]
            return [0, 0, 0, UInt8(message.count >> 8 & 255), UInt8(message.count & 255)] + message
        },
        body("MessagePack") {
            [0x82, 0xA1, 0x61, 0x01, 0xA1, 0x75, 0xDA, UInt8($0.count >> 8 & 255), UInt8($0.count & 255)] + $0
        },
        body("CBOR") {
            [0xA2, 0x61, 0x61, 0x01, 0x61, 0x75, 0x79, UInt8($0.count >> 8 & 255), UInt8($0.count & 255)] + $0
        },
        body("CBOR in chunks") { value in
            [0xA1, 0x61, 0x75, 0x5F]
                + stride(from: 0, to: value.count, by: 30).flatMap { start -> [UInt8] in
                    let chunk = value[start..<min(start + 30, value.count)]
                    return [0x58, UInt8(chunk.count)] + chunk
                } + [0xFF]
        },
        body("binary property list") {
            Array("bplist00".utf8) + [0xD1, 0x01, 0x02, 0x53, 0x75, 0x72, 0x6C, 0x5F, 0x11]
                + [UInt8($0.count >> 8 & 255), UInt8($0.count & 255)] + $0 + [0x08, 0x0B, 0x0F, 0, 0, 0, 0, 0, 0, 1, 1]
        },
        body("SQLite page") { SQLitePages.database(holding: $0) },
        LeakPlace(location: "body", capacity: .text, name: "XML") {
            .request(
                ScannerSamples.request(
                    body: Array("<?xml version=\"1.0\"?><plist><dict><key>u</key><string>".utf8)
                        + $0.flatMap { byte -> [UInt8] in
                            switch byte {
                            case 0x26: Array("&amp;".utf8)
                            case 0x3C: Array("&lt;".utf8)
                            default: [byte]
                            }
                        } + Array("</string></dict></plist>".utf8)))
        },
        LeakPlace(location: "body", capacity: .line, name: "file name") {
            .request(
                ScannerSamples.request(
                    fields: [("Content-Type", "multipart/form-data; boundary=b0unDary")],
                    body: Array(
                        ("--b0unDary\r\nContent-Disposition: form-data; name=\"f\"; filename*=UTF-8''"
                            + text(inURL: $0) + "\r\n\r\nhello\r\n--b0unDary--\r\n").utf8)))
        },
        LeakPlace(location: "header:authorization", capacity: .line, name: "JWT") {
            let claims = Array("{\"sub\":\"1\",\"link\":".utf8) + SampleEncoding.jsonEscaped($0) + Array("}".utf8)
            let text = "Bearer eyJhbGciOiJIUzI1NiJ9.".utf8 + SampleEncoding.base64URL.encode(claims) + ".c2ln".utf8
            return .request(
                ScannerSamples.request(fields: [("Authorization", String(decoding: text, as: UTF8.self))]))
        },
        LeakPlace(location: "body", capacity: .text, name: "JSON in a string") {
            let inner = Array("{\"a\":[1,".utf8) + SampleEncoding.jsonEscaped($0) + Array("]}".utf8)
            return .request(
                ScannerSamples.request(
                    body: Array("{\"payload\":".utf8) + SampleEncoding.jsonEscaped(inner) + Array("}".utf8)))
        },
        body("data: URL", .text) {
            Array("{\"img\":\"data:text/plain;base64,".utf8) + SampleEncoding.base64.encode($0) + Array("\"}".utf8)
        },
        body("UTF-16 JSON", .text) {
            SampleEncoding.utf16LittleEndian.encode(
                Array("{\"u\":".utf8) + SampleEncoding.jsonEscaped($0) + Array("}".utf8))
        },
        body("Sentry envelope with an attachment") {
            let head =
                "{\"event_id\":\"9ec7\"}\n{\"type\":\"attachment\",\"length\":\($0.count),\"filename\":\"log.txt\"}\n"
            return Array(head.utf8) + $0 + Array("\n".utf8)
        },
    ]

    private static func body(_ name: String, _ body: @escaping @Sendable ([UInt8]) -> [UInt8]) -> LeakPlace {
        Self.body(name, .binary, body)
    }

    private static func varint(_ value: Int) -> [UInt8] {
        value < 128 ? [UInt8(value)] : [UInt8(value & 127 | 128), UInt8(value >> 7 & 127)]
    }

    /// Percent-encoded where a URL needs it.
    private static func text(inURL bytes: [UInt8]) -> String {
        bytes.map { byte -> String in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E, 0x25, 0x2F, 0x3A:
                String(UnicodeScalar(byte))
            default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }.joined()
    }
}

/// Just enough of SQLite's file format (sqlite.org/fileformat2.html) for one row that spills into overflow pages.
enum SQLitePages {
    static func database(holding value: [UInt8]) -> [UInt8] {
        let pageSize = 512
        var pages = [[UInt8](repeating: 0, count: pageSize), [UInt8](repeating: 0, count: pageSize)]
        pages[0].replaceSubrange(0..<18, with: Array("SQLite format 3\0".utf8) + [0x02, 0x00])
        pages[0][18] = 1
        pages[0][19] = 1
        pages[0][21] = 64
        pages[0][22] = 32
        pages[0][23] = 32
        // The schema page is left empty: a leaf without cells.
        pages[0][100] = 0x0D
        // A record of one text column.
        let type = varint(13 + 2 * value.count)
        let record = [UInt8(1 + type.count)] + type + value
        let usable = pageSize
        let largest = usable - 35
        let smallest = (usable - 12) * 32 / 255 - 23
        var local = record.count
        if record.count > largest {
            let kept = smallest + (record.count - smallest) % (usable - 4)
            local = kept <= largest ? kept : smallest
        }
        var cell = varint(record.count) + [1] + record[..<local]
        var rest = Array(record[local...])
        if !rest.isEmpty { cell += [0, 0, 0, 3] }
        let start = pageSize - cell.count
        pages[1].replaceSubrange(
            0..<10,
            with: [0x0D, 0, 0, 0, 1, UInt8(start >> 8), UInt8(start & 255), 0, UInt8(start >> 8), UInt8(start & 255)])
        pages[1].replaceSubrange(start..<pageSize, with: cell)
        while !rest.isEmpty {
            let part = Array(rest.prefix(usable - 4))
            rest.removeFirst(part.count)
            let next = rest.isEmpty ? 0 : pages.count + 2
            pages.append(
                [0, 0, UInt8(next >> 8), UInt8(next & 255)] + part
                    + [UInt8](repeating: 0, count: usable - 4 - part.count))
        }
        return pages.flatMap(\.self)
    }

    private static func varint(_ value: Int) -> [UInt8] {
        value < 128 ? [UInt8(value)] : [UInt8(value >> 7 & 127 | 128), UInt8(value & 127)]
    }
}
