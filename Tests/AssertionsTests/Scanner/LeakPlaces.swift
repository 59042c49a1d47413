import Assertions
import Foundation
import SessionTrace

/// A place of what a device sends, and how a value gets there.
struct LeakPlace: Sendable, CustomStringConvertible {
    /// What a place can carry.
    enum Capacity: Sendable, Equatable {
        /// A name: letters, digits, `-` and `_`, whose case is lost, up to so many.
        case name(Int)
        /// A word in a head: letters, digits, and few signs.
        case word
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
        case serverName(String)
        case protocols([String])
    }

    /// As a hit tells it; what follows a final `*` is not compared (names that look like secrets are masked).
    var location: String
    var structure: [String] = []
    var capacity: Capacity
    var name: String
    var carry: @Sendable ([UInt8]) -> Carrier

    var description: String { ([location] + structure + [name]).joined(separator: " ") }

    /// Why `bytes` under these layers can't stand there; nil when they can.
    func refusal(of bytes: [UInt8], under chain: [SampleEncoding]) -> String? {
        if case .name(let longest) = capacity {
            if bytes.count > longest { return "longer than the \(longest) characters that fit" }
            if !bytes.allSatisfy(ScannerSamples.isNameByte) { return "only letters, digits, - and _ make a name" }
            let isCaseless = chain.allSatisfy {
                [.base32, .base32Lower, .base32Hex, .hexLower, .hexUpper].contains($0)
            }
            return isCaseless ? nil : "a name's case is lost, and with it what the encoding says"
        }
        if capacity == .binary { return nil }
        if let longest = Self.longest[name], bytes.count > longest { return "longer than \(longest) bytes" }
        if let outer = chain.first {
            if !outer.isText { return "the place holds text" }
            if capacity != .text, outer.hasLines { return "the place holds one line" }
        }
        // A cookie ends at a semicolon, and a name at what separates it from its value.
        if location.hasPrefix("cookie"), bytes.contains(0x3B) { return "a cookie ends at a semicolon" }
        if capacity == .word, !bytes.allSatisfy({ ScannerSamples.isNameByte($0) || $0 == 0x25 || $0 == 0x2E }) {
            return "only letters, digits and a few signs make a name"
        }
        if name == "file name", chain.contains(.reversed) { return "what was turned round is no escape" }
        return nil
    }

    private static let codings: Set<String> = ["gzip", "deflate", "zstd", "br"]

    /// Bytes that fit where a length is written before a value in one byte.
    private static let longest = ["protocol": 255]

    func isTold(by hit: LeakHit) -> Bool {
        let isThere =
            location.hasSuffix("*") ? hit.location.hasPrefix(location.dropLast()) : hit.location == location
        // What a coding stores as it is shows without being undone, too.
        let steps = hit.chain.drop { Self.codings.contains($0) && !structure.contains($0) }
        return isThere && Array(steps.prefix(structure.count)) == structure
    }

    func scan(_ bytes: [UInt8], with scanner: inout LeakScanner) -> (result: ScanResult, root: [UInt8]) {
        switch carry(bytes) {
        case .request(let request): (scanner.scan(request), Self.root(of: request, at: location))
        case .message(let payload): (scanner.scan(bytes: payload, location: "message"), payload)
        case .serverName(let name):
            (
                HostName(name).map { scanner.scan(serverName: $0) } ?? .clean,
                Array(name.utf8).filter { $0 != 0x2E }
            )
        case .protocols(let names): (scanner.scan(applicationProtocols: names), Array(names[1].utf8))
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
        case "header::authority": Array((request.fields.first(":authority") ?? "").utf8)
        case "connect-target": Array(request.target.utf8)
        case "fragment": Array(request.target.utf8)
        case "query:*": Array(request.target.utf8.dropFirst(3))
        case "header-name:*": request.fields.fields.last.map { Array(request.fields.nameBytes($0)) } ?? []
        case "cookie:*": Array((request.fields.first("cookie") ?? "").utf8)
        case "trailer:x-note": Array((request.trailers.first("x-note") ?? "").utf8)
        default: request.body.bytes
        }
    }

    static func body(_ name: String, _ capacity: Capacity, _ body: @escaping @Sendable ([UInt8]) -> [UInt8])
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
        LeakPlace(location: "dns-name", capacity: .name(180), name: "labels") {
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

    static func body(_ name: String, _ body: @escaping @Sendable ([UInt8]) -> [UInt8]) -> LeakPlace {
        Self.body(name, .binary, body)
    }

    static func varint(_ value: Int) -> [UInt8] {
        value < 128 ? [UInt8(value)] : [UInt8(value & 127 | 128), UInt8(value >> 7 & 127)]
    }

    /// Percent-encoded where a URL needs it.
    static func text(inURL bytes: [UInt8]) -> String {
        bytes.map { byte -> String in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E, 0x25, 0x2F, 0x3A:
                String(UnicodeScalar(byte))
            default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }.joined()
    }
}
